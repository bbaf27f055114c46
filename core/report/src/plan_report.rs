//! What `plan` says.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use serde::{Deserialize, Serialize};
use tilewright_plan::{Bytes, Micros};

use crate::figure::Kind;
use crate::occupancy::Pool;
use crate::remedy::Remedy;

/// A layer of a plan, with its predicted cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LayerRow {
    /// Name.
    pub name: String,
    /// Kernel, or the operator if no kernel computes it.
    pub op: String,
    /// Why no kernel computes it; nothing if one does.
    pub no_kernel: Option<String>,
    /// Input shapes, height × width × channels.
    pub inputs: Vec<[u32; 3]>,
    /// Output shape, height × width × channels.
    pub output: [u32; 3],
    /// Multiply-accumulates, nominal.
    pub macs: u64,
    /// Weights and biases.
    pub parameters: u64,
    /// Bytes of weights and constants in flash.
    pub flash_bytes: Bytes,
    /// Predicted instructions of a frame; of several that one program computes the mean (modelled).
    pub instructions: u64,
    /// Predicted cycles, likewise (modelled).
    pub cycles: u64,
    /// What a wider and faster packing of its weights changes; nothing if they lie in the plain one.
    pub packing: Option<WiderPacking>,
}

/// What a wider and faster packing of weights changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WiderPacking {
    /// Its name.
    pub name: String,
    /// Flash that it takes more (counted).
    pub more_flash_bytes: Bytes,
    /// Cycles that it saves by the cost tables (modelled); below zero: more.
    pub saved_cycles: i64,
}

/// Why a plan does not fit, and what would help.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DoesNotFit {
    /// The memory that is too small, as people call it: `SRAM`, `flash`, `external RAM`,
    /// `external flash`.
    pub memory: String,
    /// The operator that needs most; empty if no single one does.
    pub operator: String,
    /// Bytes needed.
    pub needed_bytes: Bytes,
    /// Bytes had.
    pub available_bytes: Bytes,
    /// What the bytes are; they add up to those needed.
    pub parts: Vec<Part>,
    /// What would help, each really planned, cheapest first; empty as long as nobody has tried.
    pub remedies: Vec<Remedy>,
    /// Changes that might help, but would have taken too long to plan, or to plan to the end.
    pub untried: u32,
}

/// A part of the bytes that do not fit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// A tensor or a layer; empty for bytes that belong to none.
    pub name: String,
    /// What the bytes are for.
    pub role: PartRole,
    /// Bytes that no part before counts.
    pub bytes: Bytes,
}

/// What bytes are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartRole {
    /// A tensor that the operator reads.
    Input,
    /// A tensor that the operator writes.
    Output,
    /// A tensor that a later operator needs.
    Later,
    /// The operator's own buffers.
    Scratch,
    /// Bytes between tensors that nothing uses.
    Gap,
    /// A layer's weights and constants.
    Weights,
    /// The rest of the plan image: its tables, and all layers that are not named.
    Rest,
}

impl PartRole {
    /// For people.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Output => "output",
            Self::Later => "needed later",
            Self::Scratch => "scratch",
            Self::Gap => "gaps between tensors",
            Self::Weights => "weights",
            Self::Rest => "everything else",
        }
    }
}

/// A step on the way to a strategy's memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stage {
    /// What is done up to here.
    pub what: String,
    /// Bytes of activations that it takes (counted).
    pub bytes: Bytes,
}

/// What `plan` says of one strategy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanReport {
    /// Model.
    pub model: String,
    /// Board id.
    pub board: String,
    /// Strategy.
    pub strategy: String,
    /// Where the input lives.
    pub input: String,
    /// What activations and weights are counted as: `int8`, or `float32`, of which memory alone is
    /// planned; flash is that of the parameters then.
    pub elements: String,
    /// Whether the plan fits the board.
    pub fits: bool,
    /// Why not.
    pub does_not_fit: Option<DoesNotFit>,
    /// Whether the plan has a program, and so an image. Without one it is a plan of memory alone if a
    /// layer has no kernel, else one that is simulated only.
    pub runnable: bool,
    /// SRAM that the plan uses for tensors and scratch.
    pub peak_sram_bytes: Bytes,
    /// SRAM that it may use: the board's arena, or the budget if that is less.
    pub sram_limit_bytes: Bytes,
    /// No plan of this strategy's kind needs less.
    pub lower_bound_bytes: Bytes,
    /// Whether the peak is proved least.
    pub proved: bool,
    /// Memory with each part of the strategy in turn, the last being the strategy's own; empty if
    /// it has no parts.
    pub stages: Vec<Stage>,
    /// Flash for the plan image.
    pub flash_bytes: Bytes,
    /// Of that what wider and faster packings of weights take more.
    pub packing_flash_bytes: Bytes,
    /// Cycles of a frame that they save; below zero: more.
    pub packing_saved_cycles: i64,
    /// Flash that the firmware leaves.
    pub flash_limit_bytes: Bytes,
    /// External memory used.
    pub external_bytes: Bytes,
    /// Multiply-accumulates, recomputed ones included.
    pub macs: u64,
    /// Predicted latency of all frames; no time is predicted of what cannot run.
    pub latency_us: Option<Micros>,
    /// Core busy.
    pub compute_us: Option<Micros>,
    /// Transfers busy.
    pub transfer_us: Option<Micros>,
    /// Core waiting for transfers.
    pub stall_us: Option<Micros>,
    /// No schedule is faster.
    pub bound_us: Option<Micros>,
    /// Bytes read from outside of the chip: those of copies, and of operands that the core reads
    /// there, each once a step.
    pub read_bytes: Bytes,
    /// Bytes written outside of the chip, likewise.
    pub written_bytes: Bytes,
    /// Frames that times and transfers are of, one after the other.
    pub frames: u32,
    /// Reads and writes of the card by tasks; nothing of strategies without them.
    pub io_tasks: Option<u64>,
    /// Of the bytes written outside those that the card takes.
    pub card_written_bytes: Bytes,
    /// Commands that write to the card.
    pub card_writes: u64,
    /// Size of the buffers for tiles, of strategies with buffers of one size.
    pub buffer_bytes: Option<Bytes>,
    /// The pools that SRAM is split into, in the order of their addresses; empty of other strategies.
    pub pools: Vec<Pool>,
    /// Energy of one frame, the middle of its range; nothing if no source says what the board draws.
    pub energy_uj: Option<f64>,
    /// Layers.
    pub layers: Vec<LayerRow>,
    /// How each figure came to be, by its key.
    pub kinds: BTreeMap<String, Kind>,
}

/// An operator that no kernel computes.
struct Cause<'r> {
    op: &'r str,
    /// The first node with it, and why no kernel computes that.
    first: &'r str,
    reason: &'r str,
    /// How many such nodes there are.
    count: usize,
}

impl Cause<'_> {
    fn in_words(&self) -> String {
        let Self { op, first, reason, count } = self;
        match count {
            1 => format!("{op} (node '{first}': {reason})"),
            _ => format!("{count} {op} (the first is node '{first}': {reason})"),
        }
    }
}

impl PlanReport {
    /// The layers that no kernel computes, in words: the operators that are the cause, each with how often
    /// it stands there and its first node, then how many layers stay in floats only since one of
    /// those keeps the model from being quantised. Nothing if each has a kernel.
    #[must_use]
    pub fn without_kernel(&self) -> Option<String> {
        const NAMED: usize = 5;
        let mut causes: Vec<Cause<'_>> = Vec::new();
        let mut known: BTreeMap<&str, usize> = BTreeMap::new();
        let without = || self.layers.iter().filter_map(|row| Some((row, row.no_kernel.as_ref()?)));
        let follows = |reason: &str| reason.contains(" is float32, kernels compute on ");
        let only_floats = without().all(|(_, reason)| follows(reason));
        for (row, reason) in without().filter(|(_, reason)| only_floats || !follows(reason)) {
            match known.entry(row.op.as_str()) {
                Entry::Occupied(at) => causes[*at.get()].count += 1,
                Entry::Vacant(place) => {
                    place.insert(causes.len());
                    causes.push(Cause { op: &row.op, first: &row.name, reason, count: 1 });
                }
            }
        }
        let words: Vec<String> = causes.iter().map(Cause::in_words).collect();
        let mut named = words.get(..NAMED).unwrap_or(&words).join(", ");
        if let Some(more) = words.len().checked_sub(NAMED).filter(|more| *more > 0) {
            named.push_str(&format!(" and {more} more operators"));
        }
        let behind = without().count() - causes.iter().map(|cause| cause.count).sum::<usize>();
        if behind > 0 {
            named.push_str(&format!("; {behind} other layers stay float32 for that"));
        }
        (!words.is_empty()).then_some(named)
    }
}

#[cfg(test)]
mod tests {
    use super::LayerRow;
    use crate::fixture;

    #[test]
    fn what_no_kernel_computes_is_counted_with_the_cause_first() {
        let memory = crate::MemoryMap::of(&fixture::plan());
        let mut report = fixture::report(&memory);
        assert_eq!(report.without_kernel(), None);
        let floats = "tensor 'x' is float32, kernels compute on int8";
        let unknown = "no kernel computes this operator";
        let row = |op: &str, name: &str, reason: &str| LayerRow {
            name: name.to_owned(),
            op: op.to_owned(),
            no_kernel: Some(reason.to_owned()),
            ..report.layers[0].clone()
        };
        let layers = vec![
            row("Conv2D", "first", floats),
            row("LayerNorm", "a", unknown),
            row("Conv2D", "second", floats),
            row("LayerNorm", "b", unknown),
            row("LSTM", "c", unknown),
        ];
        report.layers = layers;
        let expected = "2 LayerNorm (the first is node 'a': no kernel computes this operator), \
                        LSTM (node 'c': no kernel computes this operator); \
                        2 other layers stay float32 for that";
        assert_eq!(report.without_kernel().as_deref(), Some(expected));
        report.layers.retain(|layer| layer.op == "Conv2D");
        let expected = "2 Conv2D (the first is node 'first': tensor 'x' is float32, kernels \
                        compute on int8)";
        assert_eq!(report.without_kernel().as_deref(), Some(expected));
    }
}
