//! What `plan` says.

use serde::{Deserialize, Serialize};
use tilewright_plan::{Bytes, Micros};

use crate::figure::{Counted, Modelled, Proved, as_proved};
use crate::remedy::Remedy;
use crate::unsupported::Unsupported;

/// A layer of a plan, with its predicted cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct LayerRow {
    /// Name.
    pub name: String,
    /// Kernel, or the operator if no kernel computes it.
    pub op: String,
    /// Why no kernel computes it; nothing if one does.
    pub no_kernel: Option<String>,
    /// Whether that is only since the model is one of floats: int8, a kernel would compute it.
    pub awaits_int8: bool,
    /// Input shapes, height × width × channels.
    pub inputs: Vec<[u32; 3]>,
    /// Output shape, height × width × channels.
    pub output: [u32; 3],
    /// Multiply-accumulates, nominal.
    pub macs: Counted<u64>,
    /// Weights and biases.
    pub parameters: Counted<u64>,
    /// Bytes of weights and constants in flash.
    pub flash_bytes: Counted<Bytes>,
    /// Predicted cycles of a frame; of several that one program computes the mean.
    pub cycles: Modelled<u64>,
    /// What a wider and faster packing of its weights changes; nothing if they lie in the plain one.
    pub packing: Option<WeightPacking>,
}

impl LayerRow {
    /// Why no kernel computes an operator that nothing here knows.
    pub const NONE: &str = "no kernel computes this operator";
}

/// What another packing of weights than pairs of output channels changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct WeightPacking {
    /// Its name: `transformed`, or `sparse` for weights without their zeros.
    pub name: String,
    /// Flash that it takes more; below zero: less. Nothing where the weights are those of another layer, as
    /// tiles' are.
    pub more_flash_bytes: Counted<i64>,
    /// Cycles that it saves by the cost tables; below zero: more.
    pub saved_cycles: Modelled<i64>,
}

/// Why a plan does not fit, and what would help.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct DoesNotFit {
    /// The memory that is too small, as people call it: `SRAM`, `flash`, `external RAM`,
    /// `external flash`.
    pub memory: String,
    /// The operator that needs most; empty if no single one does.
    pub operator: String,
    /// Bytes needed.
    pub needed_bytes: Counted<Bytes>,
    /// Bytes had.
    pub available_bytes: Counted<Bytes>,
    /// What the bytes are; they add up to those needed.
    pub parts: Vec<Part>,
    /// What would help, each really planned, cheapest first; empty as long as nobody has tried.
    pub remedies: Vec<Remedy>,
    /// Changes that might help, but would have taken too long to plan, or to plan to the end.
    pub untried: u32,
}

/// A part of the bytes that do not fit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Part {
    /// A tensor or a layer; empty for bytes that belong to none.
    pub name: String,
    /// What the bytes are for.
    pub role: PartRole,
    /// Bytes that no part before counts.
    pub bytes: Counted<Bytes>,
}

/// What bytes are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
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
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Stage {
    /// What is done up to here.
    pub what: String,
    /// Bytes of activations that it takes.
    pub bytes: Counted<Bytes>,
}

/// A technique that a search compared, by the best plan that it found with it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Alternative {
    /// Where operands lie, and how they come.
    pub technique: String,
    /// Whether weights are copied to SRAM at boot.
    pub weights_in_sram: bool,
    /// SRAM for tensors and scratch.
    pub sram_bytes: Counted<Bytes>,
    /// Predicted latency of a frame.
    pub latency_us: Modelled<Micros>,
    /// Energy of a frame, the middle of its range, where energy is the objective; nothing too if no source says what
    /// all of it draws.
    pub energy_uj: Option<Modelled<f64>>,
    /// Bytes that a frame writes to the card, where wear is the objective.
    pub card_written_bytes: Option<Counted<f64>>,
    /// Whether SRAM and flash hold it.
    pub fits: bool,
}

/// An output with which a run may end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ExitRow {
    /// The output's name, and that of the program that makes it alone.
    pub output: String,
    /// Multiply-accumulates of that program; nothing if there is none.
    pub macs: Option<Counted<u64>>,
    /// Its predicted latency.
    pub latency_us: Option<Modelled<Micros>>,
    /// Predicted latency of the main program if its run ends here: with earlier exits, which were not taken. Nothing
    /// if exits are not taken by confidence.
    pub exit_us: Option<Modelled<Micros>>,
}

impl Alternative {
    /// For people.
    #[must_use]
    pub fn words(&self) -> String {
        let more = if self.weights_in_sram { ", weights copied to SRAM at boot" } else { "" };
        format!("{}{more}", self.technique)
    }
}

/// What `plan` says of one strategy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
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
    #[serde(serialize_with = "as_proved")]
    pub fits: bool,
    /// Why not.
    pub does_not_fit: Option<DoesNotFit>,
    /// Whether the plan has a program, and so an image. Without one it is a plan of memory alone if a
    /// layer has no kernel, else one that is simulated only.
    #[serde(serialize_with = "as_proved")]
    pub runnable: bool,
    /// SRAM that the plan uses for tensors and scratch.
    pub peak_sram_bytes: Counted<Bytes>,
    /// SRAM that it may use: the board's arena, or the budget if that is less.
    pub sram_limit_bytes: Counted<Bytes>,
    /// No plan of this strategy's kind needs less.
    pub lower_bound_bytes: Proved<Bytes>,
    /// Whether the peak is proved least.
    #[serde(serialize_with = "as_proved")]
    pub proved: bool,
    /// Memory with each part of the strategy in turn, the last being the strategy's own; empty if
    /// it has no parts.
    pub stages: Vec<Stage>,
    /// Techniques that strategy `auto` compared: the chosen one, then the others, the best first. Empty if the strategy
    /// compares none.
    pub alternatives: Vec<Alternative>,
    /// Early exits, one row for each output in order; empty if none were asked for.
    pub exits: Vec<ExitRow>,
    /// Flash for the plan image.
    pub flash_bytes: Counted<Bytes>,
    /// Of that what other packings of weights than pairs take more; below zero: less.
    pub packing_flash_bytes: Counted<i64>,
    /// Cycles of a frame that they save; below zero: more.
    pub packing_saved_cycles: Modelled<i64>,
    /// Flash that the firmware leaves.
    pub flash_limit_bytes: Counted<Bytes>,
    /// External memory used.
    pub external_bytes: Counted<Bytes>,
    /// Multiply-accumulates, recomputed ones included.
    pub macs: Counted<u64>,
    /// The grid of tiles that layers are made in, such as `2x2`; nothing: whole.
    pub tiles: Option<String>,
    /// Multiply-accumulates that tiles make again, where windows reach over their edges.
    pub recomputed_macs: Counted<u64>,
    /// Predicted latency of all frames; no time is predicted of what cannot run.
    pub latency_us: Option<Modelled<Micros>>,
    /// Core busy.
    pub compute_us: Option<Modelled<Micros>>,
    /// Transfers busy.
    pub transfer_us: Option<Modelled<Micros>>,
    /// Core waiting for transfers.
    pub stall_us: Option<Modelled<Micros>>,
    /// No schedule is faster.
    pub bound_us: Option<Modelled<Micros>>,
    /// Bytes read from outside of the chip: those of copies, and of operands that the core reads
    /// there, each once a step.
    pub read_bytes: Counted<Bytes>,
    /// Bytes written outside of the chip, likewise.
    pub written_bytes: Counted<Bytes>,
    /// Frames that times and transfers are of, one after the other.
    pub frames: u32,
    /// Of the bytes written outside those that the card takes.
    pub card_written_bytes: Counted<Bytes>,
    /// Commands that write to the card.
    pub card_writes: Counted<u64>,
    /// Energy of one frame, the middle of its range; nothing if no source says what the board draws.
    pub energy_uj: Option<Modelled<f64>>,
    /// Layers.
    pub layers: Vec<LayerRow>,
}

impl PlanReport {
    /// Why there is no program: operators that no kernel computes, or none that computes anything. Nothing if
    /// there is one.
    #[must_use]
    pub fn no_program(&self) -> Option<Unsupported> {
        if self.layers.is_empty() {
            return Some(Unsupported::new(
                "there is nothing to run: no operator of the model computes anything",
                &self.model,
                "Give a model with operators other than reshapes.",
            ));
        }
        Some(Unsupported::new(
            format!("the model cannot run: no kernel computes {}", self.without_kernel()?),
            &self.model,
            "Replace these operators in the model by others that compute the same; its memory is planned as it \
             is.",
        ))
    }

    /// Which memory is too small, and what would help; nothing if the plan fits.
    #[must_use]
    pub fn no_room(&self) -> Option<Unsupported> {
        let reason = self.does_not_fit.as_ref()?;
        let place = match reason.operator.as_str() {
            "" => format!("{} of {}", reason.memory, self.board),
            operator => format!("operator '{operator}'"),
        };
        let fitting = reason.remedies.iter().filter(|remedy| remedy.fits);
        let fitting: Vec<&str> = fitting.map(|remedy| remedy.text.as_str()).collect();
        let remedy = match fitting.as_slice() {
            [] => "Choose a smaller model or a larger board.".to_owned(),
            fitting => format!("Any of these makes it fit: {}.", fitting.join("; ")),
        };
        let (needed, memory, had) =
            (reason.needed_bytes.0, &reason.memory, reason.available_bytes.0);
        let what = format!("the plan needs {needed} bytes of {memory}, {had} are there");
        Some(Unsupported { what, place, remedy })
    }

    /// What no kernel computes, in words, by operator: how many there are of each, and where the first
    /// is. Operators that wait for others, without which the model cannot become int8, are counted
    /// only. Nothing if each has a kernel.
    fn without_kernel(&self) -> Option<String> {
        const NAMED: usize = 5;
        let is_without = |layer: &&LayerRow| layer.no_kernel.is_some();
        let without: Vec<&LayerRow> = self.layers.iter().filter(is_without).collect();
        let is_cause = |layer: &&&LayerRow| !layer.awaits_int8;
        let causes: Vec<&LayerRow> = without.iter().filter(is_cause).copied().collect();
        let told = if causes.is_empty() { &without } else { &causes };
        let mut ops: Vec<(&LayerRow, usize)> = Vec::new();
        for layer in told {
            match ops.iter_mut().find(|(first, _)| first.op == layer.op) {
                Some((_, count)) => *count += 1,
                None => ops.push((layer, 1)),
            }
        }
        let words = |(first, count): &(&LayerRow, usize)| {
            let (op, name) = (&first.op, &first.name);
            // That there is none has been said.
            let reason = first.no_kernel.as_deref().filter(|reason| *reason != LayerRow::NONE);
            let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
            match count {
                1 => format!("{op} (node '{name}'{reason})"),
                _ => format!("{count} × {op} (the first is node '{name}'{reason})"),
            }
        };
        let named: Vec<String> = ops.iter().take(NAMED).map(words).collect();
        let mut text = named.join(", ");
        let more: usize = ops.iter().skip(NAMED).map(|(_, count)| count).sum();
        if more > 0 {
            text.push_str(&format!(" and {more} more"));
        }
        match without.len() - told.len() {
            0 => {}
            1 => text.push_str("; one more operator has a kernel, but stays in floats for that"),
            rest => {
                text.push_str(&format!(
                    "; {rest} more operators have kernels, but stay in floats for that"
                ));
            }
        }
        (!without.is_empty()).then_some(text)
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture;
    use crate::memory_map::MemoryMap;

    #[test]
    fn the_root_cause_comes_first_and_operators_are_counted() {
        let mut report = fixture::report(&MemoryMap::of(&fixture::plan()));
        assert_eq!(report.without_kernel(), None);
        let row = report.layers.remove(0);
        let layer = |op: &str, name: &str, awaits_int8| {
            let mut row = row.clone();
            (row.op, row.name, row.awaits_int8) = (op.to_owned(), name.to_owned(), awaits_int8);
            row.no_kernel = Some(if awaits_int8 { "floats" } else { "none" }.to_owned());
            row
        };
        let [first, second] = ["a", "b"].map(|name| layer("Conv2D", name, true));
        report.layers = vec![first, layer("Erf", "c", false), second, layer("Erf", "d", false)];
        assert_eq!(
            report.without_kernel().unwrap(),
            "2 × Erf (the first is node 'c': none); 2 more operators have kernels, but stay in floats \
             for that"
        );
        report.layers.retain(|layer| layer.awaits_int8);
        assert_eq!(
            report.without_kernel().unwrap(),
            "2 × Conv2D (the first is node 'a': floats)",
            "where nothing else is the cause"
        );
        report.layers = ["A", "B", "C", "D", "E", "F", "F"].map(|op| layer(op, "x", false)).into();
        assert!(report.without_kernel().unwrap().ends_with(" and 2 more"));
    }
}
