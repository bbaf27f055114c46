//! What a run gives: counts of layers, a difference, a fault.

use serde::{Deserialize, Serialize};
use tilewright_plan::{Bytes, Cycles, Micros};

use crate::figure::{Counted, Modelled};
use crate::name::short_name;
use crate::profile::LayerProfile;

/// Counted instructions of one layer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct LayerCount {
    /// Name.
    pub name: String,
    /// Kernel.
    pub op: String,
    /// Multiply-accumulates, nominal.
    pub macs: Counted<u64>,
    /// Executed instructions inside kernels.
    pub instructions: Counted<u64>,
    /// Cycles.
    pub cycles: Modelled<Cycles>,
    /// Where its cycles went, and its hottest blocks; nothing if that was not looked at.
    #[serde(default)]
    pub profile: Option<LayerProfile>,
}

/// The first byte at which a run differs from the reference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Difference {
    /// Layer.
    pub layer: String,
    /// Tensor.
    pub tensor: String,
    /// Index of the first differing element.
    pub element: u64,
    /// What the reference interpreter gives.
    pub expected: i8,
    /// What the run gave.
    pub found: i8,
    /// Number of differing elements in that tensor.
    pub differing: u64,
}

/// What went wrong in an emulated run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum FaultKind {
    /// The core took a fault.
    HardFault,
    /// The firmware panicked or reported an error.
    Firmware,
    /// The firmware reported that the card fails, or is not the one that the plan needs.
    Card,
    /// An address that no memory or device answers.
    UnmappedAccess,
    /// The stack grew past its end.
    StackOverflow,
    /// More instructions than allowed: a run-away.
    InstructionLimit,
    /// More time than allowed.
    TimeLimit,
    /// More output than allowed.
    OutputLimit,
    /// The core sleeps and nothing will wake it.
    Deadlock,
    /// The worker itself failed.
    Worker,
}

/// Where a copy between card and memory failed for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FailedCopy {
    /// Step of the card's lane.
    pub step: u32,
    /// First sector of what was read or written last.
    pub sector: u32,
}

/// How deep the firmware's stack grew in a run, boot included (counted).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct StackUse {
    /// Outside of interrupts.
    pub thread_bytes: Bytes,
    /// Of interrupts, from where they interrupt.
    pub handler_bytes: Bytes,
    /// Both together: had the longest interrupt come when all else was deepest.
    pub used_bytes: Bytes,
    /// All that there is.
    pub limit_bytes: Bytes,
}

impl StackUse {
    /// Of these parts.
    #[must_use]
    pub fn new(thread_bytes: Bytes, handler_bytes: Bytes, limit_bytes: Bytes) -> Self {
        Self { thread_bytes, handler_bytes, used_bytes: thread_bytes + handler_bytes, limit_bytes }
    }

    /// Whether there is room whenever interrupts come.
    #[must_use]
    pub fn fits(&self) -> bool {
        self.used_bytes <= self.limit_bytes
    }
}

/// By how much of the prediction a run may take longer before its report says so.
pub const PREDICTION_MAY_BE_OFF: f64 = 0.05;

/// By which part of its prediction a run took longer, if by more than predictions may be off.
#[must_use]
pub fn over_prediction(ran: Micros, predicted: Micros) -> Option<f64> {
    let over = ran.0 / predicted.0 - 1.0;
    (over.is_finite() && over > PREDICTION_MAY_BE_OFF).then_some(over)
}

/// A fault with all that helps to find its cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Fault {
    /// What went wrong.
    pub kind: FaultKind,
    /// What, where, what to do next.
    pub message: String,
    /// Step of the core lane, if one was running or waited.
    pub step: Option<u32>,
    /// Layer, if one was running; of a copy that failed that which it is for.
    pub layer: Option<u16>,
    /// The layer's name.
    pub layer_name: Option<String>,
    /// The copy that failed, if it was one.
    pub copy: Option<FailedCopy>,
    /// Register names and values.
    pub registers: Vec<(String, u32)>,
    /// Start addresses of the last executed blocks, newest last, with the function if known.
    pub last_blocks: Vec<(u32, String)>,
}

impl Fault {
    /// Where it was: the copy with its sector, the layer with its name, the step of the core.
    #[must_use]
    pub fn place(&self) -> String {
        let name = self.layer_name.as_ref().map(|name| format!(" '{}'", short_name(name)));
        let name = name.unwrap_or_default();
        let copy = self.copy.map(|FailedCopy { step, sector }| {
            let layer = self.layer.map(|layer| format!(" for layer {layer}{name}"));
            format!("copy {step}{} at sector {sector}", layer.unwrap_or_default())
        });
        match (copy, self.layer, self.step) {
            (Some(copy), _, Some(step)) => format!("{copy}, awaited by step {step}"),
            (Some(copy), _, None) => copy,
            (None, Some(layer), Some(step)) => format!("layer {layer}{name}, step {step}"),
            (None, Some(layer), None) => format!("layer {layer}{name}"),
            (None, None, Some(step)) => format!("step {step}"),
            (None, None, None) => "outside of any step".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_fits_if_the_longest_interrupt_does_at_the_worst_moment() {
        let of = |thread, handlers| StackUse::new(Bytes(thread), Bytes(handlers), Bytes(100));
        assert!(of(60, 40).fits() && !of(61, 40).fits() && !of(60, 41).fits());
    }

    #[test]
    fn only_runs_that_took_longer_by_more_than_a_twentieth_are_told() {
        let over = |ran| over_prediction(Micros(ran), Micros(100.0));
        assert_eq!((over(90.0), over(104.9)), (None, None));
        assert!(over(106.0).is_some_and(|over| (over - 0.06).abs() < 1e-9));
        assert_eq!(over_prediction(Micros(1.0), Micros(0.0)), None, "nothing was predicted");
    }

    #[test]
    fn a_fault_is_told_with_all_that_is_known_of_its_place() {
        let mut fault = Fault {
            kind: FaultKind::Card,
            message: String::new(),
            step: Some(5),
            layer: Some(3),
            layer_name: Some("conv2".to_owned()),
            copy: Some(FailedCopy { step: 7, sector: 99 }),
            registers: Vec::new(),
            last_blocks: Vec::new(),
        };
        assert_eq!(fault.place(), "copy 7 for layer 3 'conv2' at sector 99, awaited by step 5");
        fault.step = None;
        assert_eq!(fault.place(), "copy 7 for layer 3 'conv2' at sector 99");
        fault.copy = None;
        assert_eq!(fault.place(), "layer 3 'conv2'");
        fault.step = Some(5);
        assert_eq!(fault.place(), "layer 3 'conv2', step 5");
        (fault.layer, fault.layer_name) = (None, None);
        assert_eq!(fault.place(), "step 5");
        fault.step = None;
        assert_eq!(fault.place(), "outside of any step");
    }
}
