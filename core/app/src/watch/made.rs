//! Where the output of each layer lies once all of it is there.

use std::collections::BTreeMap;
use std::ops::Range;

use tilewright_plan::image::LaneRecord;
use tilewright_plan::{Instruction, PlanImage, Role, Space, Step, View};

/// The bytes from the first to the last of a layer's output, behind its last step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// Lane of that step: the core's, or that of the engine which moves the output out of SRAM.
    pub lane: u8,
    /// Its number in the lane.
    pub step: u32,
    /// Memory that holds them.
    pub space: Space,
    /// The bytes; of what lies on a card whole sectors.
    pub range: Range<u64>,
    /// How many the steps have written so far, those twice that were written over.
    written: u64,
}

impl Made {
    /// With what another step of its layer leaves; nothing if that is in another memory or by another
    /// lane.
    fn and(self, next: Self) -> Option<Self> {
        let is_alike = (self.lane, self.space) == (next.lane, next.space);
        let start = self.range.start.min(next.range.start);
        let range = start..self.range.end.max(next.range.end);
        let written = self.written + next.written;
        is_alike.then_some(Self { range, written, ..next })
    }

    /// Whether nothing was written over: of a ring of rows the last are left.
    const fn is_whole(&self) -> bool {
        self.written <= self.range.end - self.range.start
    }
}

/// What is known of a layer so far.
#[derive(Clone, Debug, Default)]
enum Found {
    /// No step.
    #[default]
    Nothing,
    /// All steps so far left it in one memory.
    At(Made),
    /// It lies in several.
    Scattered,
}

impl Found {
    fn add(&mut self, next: Made) {
        *self = match std::mem::take(self) {
            Self::Nothing => Self::At(next),
            Self::At(made) => made.and(next).map_or(Self::Scattered, Self::At),
            Self::Scattered => Self::Scattered,
        };
    }
}

/// The outputs of an image's layers with their positions: in their order, those of later frames behind all of the first. What engines move out of SRAM lies where they move
/// it; nothing for a layer without steps, for one of whose output engines move a part, and for one of whose
/// output only some rows are held at once.
pub fn outputs(image: &PlanImage<'_>, lanes: &[LaneRecord]) -> Vec<(u32, Made)> {
    let count = image.layers().len() as u32;
    // An image may say that it has far more layers and frames than steps.
    let (mut computed, mut moved) = (BTreeMap::new(), BTreeMap::new());
    for (lane, record) in (0u8..).zip(lanes) {
        for (number, record) in (0u32..).zip(image.lane_steps(record)) {
            let Some(step) = Step::from_record(&record) else { continue };
            let layer = u32::from(step.frame) * count + u32::from(step.layer);
            let (found, written) = match step.instruction {
                Instruction::Compute { op, first_view, .. } => {
                    (&mut computed, written(image, op, first_view))
                }
                Instruction::Copy { destination, .. } => (&mut moved, brought(image, destination)),
                Instruction::Exit { .. } | Instruction::Arrive { .. } => continue,
            };
            if let Some((space, range, written)) = written {
                let found: &mut Found = found.entry(layer).or_default();
                found.add(Made { lane, step: number, space, range, written });
            }
        }
    }
    let output = |(layer, computed)| match (computed, moved.remove(&layer).unwrap_or_default()) {
        (Found::At(made), Found::Nothing) if made.is_whole() => Some((layer, made)),
        (Found::At(made), Found::At(moved)) if made.space == Space::Arena => Some((layer, moved)),
        _ => None,
    };
    computed.into_iter().filter_map(output).collect()
}

/// What a compute step writes, and how many elements.
fn written(image: &PlanImage<'_>, op: u32, first_view: u32) -> Option<(Space, Range<u64>, u64)> {
    let op = image.op(op)?;
    let (kernel, views) = (op.kernel()?, image.operands(op, first_view)?);
    let mut operands = kernel.roles().iter().zip(&*views);
    let (_, view): (_, &View) = operands.find(|(role, _)| **role == Role::Output)?;
    let start = u64::from(view.offset);
    Some((view.space()?, start..start + view.extent(), view.elements()))
}

/// What a copy writes elsewhere than to SRAM, and how many bytes.
fn brought(image: &PlanImage<'_>, destination: u32) -> Option<(Space, Range<u64>, u64)> {
    let span = image.span(destination)?;
    let space = span.space().filter(|space| *space != Space::Arena)?;
    let start = u64::from(span.offset);
    Some((space, start..start + span.extent(), span.bytes()))
}
