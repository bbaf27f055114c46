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

pub(crate) mod bound;
mod graph;
pub(crate) mod layers;
pub(crate) mod outcome;
mod schedule;
mod tiles;

use crate::costs::Costs;
use crate::simulate::Transfers;
use crate::{Options, PlanError};
use tilewright_board::Board;
use tilewright_model::Model;
use tilewright_plan::{Bytes, Cycles, Plan};
use tilewright_report::{Held, LayerHeld, Occupancy, Pool, Slice};

pub use layers::Depthwise;
pub(crate) use outcome::planned;

use graph::Graph;
use layers::SwapLayer;
use tiles::{NoTile, Tiling};

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

    /// Inputs, weights, results: one behind the other.
    #[must_use]
    pub fn each(&self) -> [Pool; 3] {
        let counts = [self.inputs, self.weights, self.outputs];
        std::array::from_fn(|index| Pool {
            held: Held::ALL[index],
            buffers: counts[index],
            bytes: Bytes(self.buffer.0.saturating_mul(counts[index].into())),
        })
    }

    /// All of them.
    #[must_use]
    pub fn bytes(&self) -> Bytes {
        let count = u64::from(self.inputs) + u64::from(self.weights) + u64::from(self.outputs);
        Bytes(self.buffer.0.saturating_mul(count))
    }
}

/// A model swapped to a card.
#[derive(Clone, Debug)]
pub struct Swapped {
    /// The buffers.
    pub pools: Pools,
    /// Frames that were scheduled.
    pub frames: u32,
    /// Reads and writes of one frame.
    pub io_tasks: u64,
    /// Compute tasks of one frame.
    pub compute_tasks: u64,
    /// Bytes that one frame reads.
    pub read: Bytes,
    /// Bytes that one frame writes.
    pub written: Bytes,
    /// Commands that write them.
    pub writes: u64,
    /// What the card does for one frame.
    pub io: Cycles,
    /// What the core does for one frame.
    pub compute: Cycles,
    /// When the first frame is complete.
    pub first_frame: Cycles,
    /// When all frames are.
    pub end: Cycles,
    /// No schedule of these frames on this board ends earlier.
    pub bound: Cycles,
    /// What core (lane 0) and card (lane 1) do.
    pub slices: Vec<Slice>,
    /// Which buffers are taken meanwhile.
    pub occupancy: Occupancy,
    /// For each layer of the plan what is taken when most is while it is worked on.
    pub held: Vec<LayerHeld>,
    /// No pools of buffers of one size are smaller.
    pub least: Bytes,
}

/// Why a model is not swapped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NotSwapped {
    /// SRAM does not hold the fewest buffers, or a buffer not the least tile of a layer.
    TooSmall(NoTile),
    /// Nothing to do with memory.
    Error(PlanError),
}

/// Swaps `model` on `board`, which needs a slot with a card.
///
/// # Errors
/// [`PlanError`] if the board has no card, a node has no kernel, the tasks are too many, or the
/// buffers are too small for a layer.
pub fn swap(
    model: &Model,
    board: &Board,
    options: &Options,
    depthwise: Depthwise,
) -> Result<Swapped, PlanError> {
    let layers = crate::lower::layers(model);
    let tensors = crate::lower::tensors(model, &layers)?;
    let lowered = crate::lower::draft(model, &layers, &crate::share::Parts::none(), tensors)?;
    of_plan(&lowered, model, board, options, depthwise).map_err(|error| match error {
        NotSwapped::Error(error) => error,
        NotSwapped::TooSmall(NoTile { layer, buffer }) => {
            PlanError::Buffer { layer, needed: buffer }
        }
    })
}

/// Swaps the model of a lowered plan.
pub(crate) fn of_plan(
    lowered: &Plan,
    model: &Model,
    board: &Board,
    options: &Options,
    depthwise: Depthwise,
) -> Result<Swapped, NotSwapped> {
    let no_card = || NotSwapped::Error(PlanError::NoCard { board: board.id.clone() });
    let card = options.card_in(board).ok_or_else(no_card)?;
    let sram = options.arena_on(board);
    let buffer = options.buffer().unwrap_or(Bytes(sram.0 / Pools::FEWEST)).max(Bytes(1));
    let too_few = || NotSwapped::TooSmall(NoTile { layer: String::new(), buffer });
    let pools = Pools::new(sram, buffer).ok_or_else(too_few)?;
    let costs = Costs::on(board);
    let layers = layers::layers(lowered, model, &costs, depthwise);
    let tilings = layers.iter().map(|layer| Tiling::of(layer, buffer.0));
    // What is missing is told of the layer that needs most.
    let least = tiles::least(&layers);
    let too_small = |_| NotSwapped::TooSmall(least.clone());
    let tilings: Vec<Tiling> = tilings.collect::<Result<_, _>>().map_err(too_small)?;
    let frames = options.frames.get();
    let [io_tasks, compute_tasks] = tasks(&layers, &tilings, buffer.0);
    let all = io_tasks.saturating_add(compute_tasks).saturating_mul(u64::from(frames));
    if all > MOST_TASKS {
        let error = PlanError::TooManyTasks { tasks: all, most: MOST_TASKS };
        return Err(NotSwapped::Error(error));
    }
    let graph = Graph::of(&layers, &tilings, &pools);
    let transfers = Transfers::new(board, Some(&card));
    let run = schedule::schedule(&graph, &pools, &transfers, frames, lowered.layers.len());
    let of_layers: Vec<[u64; 2]> = layers.iter().map(|l| [l.weights, l.cycles]).collect();
    let input = layers.iter().flat_map(|layer| &layer.operands);
    let input = input.filter(|operand| operand.producer.is_none());
    let input = input.map(|o| o.shape.map(u64::from).iter().product::<u64>()).sum();
    let bound = bound::bound(&of_layers, input, board, &card, sram, frames);
    Ok(Swapped {
        pools,
        frames,
        io_tasks,
        compute_tasks,
        read: Bytes(run.read / u64::from(frames)),
        written: Bytes(run.written / u64::from(frames)),
        writes: run.writes / u64::from(frames),
        io: Cycles(run.io / u64::from(frames)),
        compute: Cycles(run.compute / u64::from(frames)),
        first_frame: Cycles(run.first_frame),
        end: Cycles(run.end),
        bound,
        slices: run.slices,
        occupancy: run.occupancy,
        held: run.held,
        least: Bytes(least.buffer.0.saturating_mul(Pools::FEWEST)),
    })
}

/// IO tasks and compute tasks of one frame.
fn tasks(layers: &[SwapLayer], tilings: &[Tiling], buffer: u64) -> [u64; 2] {
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
