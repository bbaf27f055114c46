//! What a run of a plan image gave, and how it compares with the reference.

use serde::{Deserialize, Serialize, Serializer};
use tilewright_plan::{Cycles, Micros};

use crate::figure::{Counted, Modelled, as_counted};
use crate::kinds::with_kinds;
use crate::plan_report::PlanReport;
use crate::run_report::{Difference, Fault, LayerCount, StackUse};
use crate::timeline::{Counts, Timeline};

/// How much of the steps is executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum Mode {
    /// All of every step.
    #[default]
    Full,
    /// Of compute steps that run alike the first: the others pass in the time that it took, with as
    /// many instructions, and what they should compute is missing.
    Sampled,
}

/// A mode that there is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownMode;

impl std::fmt::Display for UnknownMode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("modes are `full` and `sampled`")
    }
}

impl std::error::Error for UnknownMode {}

impl std::str::FromStr for Mode {
    type Err = UnknownMode;

    fn from_str(name: &str) -> Result<Self, UnknownMode> {
        match name {
            "full" => Ok(Self::Full),
            "sampled" => Ok(Self::Sampled),
            _ => Err(UnknownMode),
        }
    }
}

/// What executes the firmware's instructions. Counts and cycles are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    /// Unicorn, an independent emulator.
    #[default]
    Unicorn,
    /// The core of this project.
    Own,
    /// Both, compared block by block; the result is Unicorn's.
    Both,
}

/// An output of the model as the board computed it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct OutputValues {
    /// Name of the tensor.
    pub name: String,
    /// Height, width, channels.
    pub shape: [u32; 3],
    /// Real value = scale × (value − zero).
    pub scale: f32,
    /// Zero point.
    pub zero: i16,
    /// Values in the order height, width, channels.
    pub values: Vec<i8>,
    /// The same bytes as 32-bit integers where they are such: the result of an ArgMax.
    pub indices: Option<Vec<i32>>,
    /// Class names; empty if the model has none.
    pub labels: Vec<String>,
}

/// Result of a run. Instructions are counted; cycles and times are modelled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RunResult {
    /// Board id.
    pub board: String,
    /// What emulated: name and version.
    pub engine: String,
    /// SHA-256 over the plan image's sections, in hexadecimal.
    pub plan_id: String,
    /// Whether the outputs and every compared layer are bit-equal to the reference interpreter; null
    /// if that was not compared (a plan image alone holds no reference).
    #[serde(serialize_with = "as_counted")]
    pub verified: Option<bool>,
    /// Layers whose output was compared: all but those without steps of their own and those of whose
    /// output engines move a part.
    pub compared_layers: Counted<usize>,
    /// Whether each step was executed, or of those that run alike the first: then there are no
    /// outputs.
    pub mode: Mode,
    /// Compute steps that were not executed, since one like them had been.
    pub passed_steps: u64,
    /// First difference from the reference.
    pub difference: Option<Difference>,
    /// What went wrong on the board.
    pub fault: Option<Fault>,
    /// How deep the firmware's stack grew; null if that is not known.
    pub stack: Option<Counted<StackUse>>,
    /// Frames that the invoke worked on.
    pub frames: u16,
    /// The number of the output at whose exit the invoke ended; null if it went to its end.
    pub exit: Option<Counted<usize>>,
    /// What the limits of latency came to, one row for each, of which the last is told here; empty without limits.
    pub invokes: Vec<InvokeRow>,
    /// Executed instructions of the last invoke.
    pub instructions: Counted<u64>,
    /// Its cycles.
    pub cycles: Modelled<Cycles>,
    /// Its time at the board's clock in microseconds.
    pub latency_us: Modelled<Micros>,
    /// How often the frame was begun again before, since something that it wrote to a card was lost.
    pub given_up: Counted<usize>,
    /// The time of what was computed for nothing then, in microseconds.
    pub given_up_us: Modelled<Micros>,
    /// What instructions and cycles of the invoke were for.
    pub counts: Counts,
    /// The same from reset to the start of the invoke.
    pub boot: Counts,
    /// Of that, boot programs: what is brought into memory once.
    pub load: Counts,
    /// Index of the largest value of the first output, of the first frame.
    pub top1: Option<Counted<usize>>,
    /// Its class name.
    pub top1_label: Option<String>,
    /// Outputs, frame by frame.
    pub outputs: Counted<Vec<OutputValues>>,
    /// Counts of each layer, in the order of execution; of several frames the mean.
    pub layers: Vec<LayerCount>,
    /// Register accesses that no device model answered: address and count.
    pub unknown_registers: Vec<(u32, u64)>,
    /// What the board wrote to its console.
    pub console: String,
    /// What core and engines did when, in cycles since the invoke began.
    pub timeline: Timeline,
    /// Wall-clock time of the emulation in nanoseconds (measured here, of this computer).
    pub emulation_wall_ns: u64,
    /// The plan with its predictions; null for an uploaded plan image.
    #[serde(serialize_with = "of_plan")]
    pub plan: Option<PlanReport>,
}

fn of_plan<S: Serializer>(plan: &Option<PlanReport>, serializer: S) -> Result<S::Ok, S::Error> {
    with_kinds(plan.as_ref(), serializer)
}

/// A run under a limit of latency.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct InvokeRow {
    /// The limit, in microseconds; nothing if the program was named.
    pub limit_us: Option<u32>,
    /// The program that was chosen, which has the name of its output.
    pub program: String,
    /// Instructions that choosing it took.
    pub select_instructions: Counted<u64>,
    /// Executed instructions of the invoke.
    pub instructions: Counted<u64>,
    /// Its time.
    pub latency_us: Modelled<Micros>,
    /// Whether that is within the limit.
    pub is_met: Modelled<bool>,
    /// Whether its outputs are bit-equal to the reference's; null if that was not compared.
    #[serde(serialize_with = "as_counted")]
    pub verified: Option<bool>,
}

/// How a run's layers compare with the reference.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comparison {
    /// One entry for each compared tensor, in the order of execution.
    pub layers: Vec<LayerCheck>,
    /// The first difference.
    pub difference: Option<Difference>,
}

/// How a layer's output compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayerCheck {
    /// Layer (position in the plan's order; those of later frames behind all of the first).
    pub layer: u32,
    /// Number of elements compared.
    pub elements: u64,
    /// How many differ.
    pub differing: u64,
}
