//! Swapping to an SD card as published: Miao and Lin, "Enabling Large Neural Networks on Tiny
//! Microcontrollers with Swapping" (SwapNN).
//!
//! SRAM is split into buffers of one size: a quarter of them for inputs, half for weights, a quarter
//! for outputs ([`Pools`]). Each layer is cut into tiles that fit a buffer; each output tile reads its
//! input tile, then all weight tiles, and is written back: IO tasks of the card, compute tasks of the
//! core. Two schedulers, one for each, take ready tasks by frame, then layer, as buffers become free
//! (their algorithm 1).
//!
//! Where the paper leaves room, the reading is the one that fits its figures best: tiles are squares
//! with all channels; halo and padding count in the input tile, also where a tile lies at a border;
//! weight tiles are as few as fit, and read again for every output tile; a fully connected layer is
//! one output tile; a layer is read once all of the layer before it is written. One slip is mended: the
//! algorithm as printed frees the input tile after its first weight tile; here it stays until its
//! last. Layers that turn elements into elements are computed with the layer
//! before them, and biases and multipliers stay in flash, as the paper moves neither.

use super::graph::Graph;
use super::layers::{self, Depthwise, SwapLayer};
use super::schedule;
use super::tiles::{self, Tiling};
use tilewright_board::Board;
use tilewright_model::Model;
use tilewright_plan::{Bytes, Cycles, Plan};
use tilewright_planner::costs::Costs;
use tilewright_planner::simulate::Transfers;
use tilewright_planner::{Options, card_bound};
use tilewright_report::Slice;

/// Most tasks that are scheduled: more would fill memory.
const MOST_TASKS: u64 = 8_000_000;

/// Buffers of one size, divided among inputs, weights and outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pools {
    /// Bytes of a buffer.
    pub buffer: Bytes,
    /// Buffers for inputs: a quarter.
    pub inputs: u32,
    /// Buffers for weights: the rest.
    pub weights: u32,
    /// Buffers for outputs: a quarter.
    pub outputs: u32,
}

impl Pools {
    /// Fewest buffers: one for input, two for weights, one for output.
    pub const FEWEST: u64 = 4;

    /// As many buffers of this size as `sram` holds; nothing if they are too few.
    #[must_use]
    pub fn new(sram: Bytes, buffer: Bytes) -> Option<Self> {
        let count = sram.0.checked_div(buffer.0).filter(|count| *count >= Self::FEWEST)?;
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        let quarter = count / 4;
        Some(Self { buffer, inputs: quarter, weights: count - 2 * quarter, outputs: quarter })
    }
}

/// A model swapped to a card.
#[derive(Clone, Debug)]
pub struct Swapped {
    /// Reads and writes of one frame.
    pub io_tasks: u64,
    /// Bytes that one frame writes.
    pub written: Bytes,
    /// Commands that write them.
    pub writes: u64,
    /// What the card does for one frame.
    pub io: Cycles,
    /// What the core does for one frame.
    pub compute: Cycles,
    /// When all frames are complete.
    pub end: Cycles,
    /// No schedule of these frames on this board ends earlier.
    pub bound: Cycles,
    /// What core (lane 0) and card (lane 1) do.
    pub slices: Vec<Slice>,
}

/// Swaps a model, whose layers `plan` has in SRAM, on `board` with buffers of so many bytes.
///
/// # Errors
/// If the board has no card, the tasks are too many, or the buffers are too small for a layer.
pub fn swap(
    (model, plan): (&Model, &Plan),
    board: &Board,
    [buffer, frames]: [u32; 2],
    depthwise: Depthwise,
) -> Result<Swapped, String> {
    let options = Options::default();
    let card = options.card_in(board).ok_or("the board has no card")?;
    let (sram, buffer) = (options.arena_on(board), Bytes(buffer.into()));
    let pools = Pools::new(sram, buffer).ok_or("SRAM holds too few buffers")?;
    let layers = layers::layers(plan, model, &Costs::on(board), depthwise);
    let tilings = layers.iter().map(|layer| Tiling::of(layer, buffer.0));
    let tilings = tilings.collect::<Result<Vec<Tiling>, _>>().map_err(|_| {
        // Told of the layer that needs most.
        let least = tiles::least(&layers);
        format!("{}: buffers of {} bytes are needed", least.layer, least.buffer.0)
    })?;
    let [io_tasks, compute_tasks] = tasks(&layers, &tilings, buffer.0);
    let all = io_tasks.saturating_add(compute_tasks).saturating_mul(frames.into());
    if all > MOST_TASKS {
        return Err(format!("{all} tasks are too many to schedule: {MOST_TASKS} at most"));
    }
    let graph = Graph::of(&layers, &tilings, &pools);
    let transfers = Transfers::new(board, Some(&card));
    let run = schedule::schedule(&graph, &pools, &transfers, frames);
    let of_layers: Vec<[u64; 2]> = layers.iter().map(|l| [l.weights, l.cycles]).collect();
    let input = layers.iter().flat_map(|layer| &layer.operands);
    let input = input.filter(|operand| operand.producer.is_none());
    let input = input.map(|o| o.shape.map(u64::from).iter().product::<u64>()).sum();
    let bound = card_bound(&of_layers, input, board, &card, sram, frames);
    let of_frame = |all: u64| all / u64::from(frames);
    Ok(Swapped {
        io_tasks,
        written: Bytes(of_frame(run.written)),
        writes: of_frame(run.writes),
        io: Cycles(of_frame(run.io)),
        compute: Cycles(of_frame(run.compute)),
        end: Cycles(run.end),
        bound,
        slices: run.slices,
    })
}

/// IO tasks and compute tasks of one frame.
pub fn tasks(layers: &[SwapLayer], tilings: &[Tiling], buffer: u64) -> [u64; 2] {
    layers.iter().zip(tilings).fold([0u64; 2], |[io, compute], (layer, tiling)| {
        let weights = layer.weights.div_ceil(buffer);
        let tiles = tiling.tiles();
        let of_tile = tiling.reads().saturating_add(1).saturating_add(weights);
        [
            io.saturating_add(tiles.saturating_mul(of_tile)),
            compute.saturating_add(tiles.saturating_mul(weights.max(1))),
        ]
    })
}

#[cfg(test)]
mod tests;
