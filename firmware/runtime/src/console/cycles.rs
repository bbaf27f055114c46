//! Cycles of each layer.

use super::LAYER_SLOTS;
use crate::observe::Observer;

/// A moment of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum MarkKind {
    /// The run begins; value 0.
    InvokeBegin = 0,
    /// The run is over; value 0.
    InvokeEnd = 1,
    /// A compute step begins; the value is its index in the core lane.
    StepBegin = 2,
    /// A compute step is complete; the value is its index in the core lane.
    StepEnd = 3,
    /// An engine begins a copy; the value is its step, the lane in the upper eight bits.
    CopyBegin = 4,
    /// A copy is complete; the value as above.
    CopyEnd = 5,
    /// A boot program begins; the value is its entry in the image.
    BootBegin = 6,
    /// A boot program is complete; the value as above.
    BootEnd = 7,
    /// A card fails, or is not the one that the plan needs, which is said next; value 0.
    FailedCard = 8,
    /// The step of the core lane at which a program failed.
    FailedStep = 9,
    /// The layer at which a program failed.
    FailedLayer = 10,
    /// The step of the card's lane that failed.
    FailedCopy = 11,
    /// The first sector of what that copy read or wrote last.
    FailedSector = 12,
    /// The run waits for rows of its input, which is no part of it; value 0.
    Paused = 13,
    /// They have arrived; value 0.
    GoesOn = 14,
    /// A program is to be chosen; the value is the limit of its latency in microseconds.
    Selecting = 15,
    /// It is chosen; the value is its entry in the image.
    Selected = 16,
    /// The run has ended at an exit; the value is the number of its output.
    Exit = 17,
}

/// Marks moments and counts cycles.
pub trait Marker {
    /// Marks a moment and returns the cycle counter, which may wrap.
    fn mark(&mut self, kind: MarkKind, value: u32) -> u32;
}

/// Cycles of layers; the last place sums all layers that follow.
#[derive(Debug)]
pub struct LayerCycles([u64; LAYER_SLOTS]);

impl LayerCycles {
    /// No cycles.
    #[must_use]
    pub const fn new() -> Self {
        Self([0; LAYER_SLOTS])
    }
}

impl Default for LayerCycles {
    fn default() -> Self {
        Self::new()
    }
}

/// Sums the cycles of layers and of the run. A counter of 32 bits may wrap between two marks at
/// most once.
pub(super) struct Recorder<'m, M> {
    marker: &'m mut M,
    last: u32,
    total: u64,
    layers: &'m mut LayerCycles,
}

impl<'m, M: Marker> Recorder<'m, M> {
    pub fn new(marker: &'m mut M, layers: &'m mut LayerCycles) -> Self {
        Self { marker, last: 0, total: 0, layers }
    }

    /// What marks go to.
    pub fn marker(&mut self) -> &mut M {
        self.marker
    }

    pub fn begin(&mut self) {
        self.total = 0;
        self.layers.0.fill(0);
        self.last = self.marker.mark(MarkKind::InvokeBegin, 0);
    }

    pub fn end(&mut self) {
        self.mark(MarkKind::InvokeEnd, 0);
    }

    /// What passes until [`Self::go_on`] is no part of the run.
    pub fn pause(&mut self) {
        self.mark(MarkKind::Paused, 0);
    }

    pub fn go_on(&mut self) {
        self.last = self.marker.mark(MarkKind::GoesOn, 0);
    }

    /// Cycles of the run.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Cycles of the layers, and of all that follow in the last slot.
    pub fn layers(&self) -> &[u64] {
        &self.layers.0
    }

    fn mark(&mut self, kind: MarkKind, value: u32) -> u64 {
        let now = self.marker.mark(kind, value);
        let passed = u64::from(now.wrapping_sub(self.last));
        self.last = now;
        self.total += passed;
        passed
    }
}

impl<M: Marker> Observer for Recorder<'_, M> {
    fn step_begin(&mut self, step: u32, _layer: u16) {
        self.mark(MarkKind::StepBegin, step);
    }

    fn step_end(&mut self, step: u32, layer: u16) {
        let passed = self.mark(MarkKind::StepEnd, step);
        let slot = usize::from(layer).min(LAYER_SLOTS - 1);
        if let Some(cycles) = self.layers.0.get_mut(slot) {
            *cycles += passed;
        }
    }
}
