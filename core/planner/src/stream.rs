//! Networks streamed from a card: our own schedule, in contrast to the published one ([`crate::swap`]).
//!
//! Weights come from the card in the order of their use, as far ahead as SRAM has room, across the
//! borders of layers and frames. Layers are taken in groups (`groups`): a layer on its own with input
//! and output in SRAM reads its weights once; several layers go through their rows together, strip by
//! strip, so that of the activations between them a few rows are in SRAM; their weights stay there, or
//! come again for each strip. Which groups, strips and weights is chosen by dynamic programming
//! (`choose`), for the least time, then the fewest bytes written and read. Activations leave for the
//! card only between groups where SRAM cannot hold them. The last fully connected layers may take
//! several frames at once, with weights read once for all.
//!
//! Each buffer has a place for as long as its steps need it ([`crate::schedule::room`]); the order of both lanes
//! is fixed while planning, from the durations as they are predicted (`emit`). A step waits only for
//! steps that were planned before it, so that no durations whatever lead to a deadlock.
//!
//! The card's data lie in the order of their reads. A read that goes on where the one before ended
//! belongs to the same open command; all others pay for a command of their own. Kernels are taken to
//! cost for a part of a layer its part of the layer's cycles.

mod batch;
mod choose;
mod emit;
mod groups;
mod held;
mod network;
mod outcome;

use crate::costs::Costs;
use crate::simulate::Transfers;
use crate::swap::bound;
use crate::swap::layers::{self, SwapLayer};
use crate::{Options, PlanError, Stop, lower, share};
use tilewright_board::Board;
use tilewright_model::Model;
use tilewright_plan::{Bytes, Cycles, LaneKind, Plan, Program};
use tilewright_report::{LayerHeld, Occupancy, Slice};

pub(crate) use outcome::planned;

use batch::Batch;
use emit::{Emitted, Emitter};
use groups::Border;
use network::Network;

/// Most steps of both lanes that are scheduled: more would fill memory.
const MOST_STEPS: u64 = 2_000_000;
/// Most frames that the last layers take at once.
const MOST_TOGETHER: u32 = 32;
/// Most schedules that are made of those that seem cheapest.
const TRIED: usize = 3;
/// Steps that are scheduled in all tries, after which the best schedule so far will do.
const MOST_TRIED: u64 = 1_000_000;

/// A schedule of all frames.
#[derive(Clone, Debug)]
pub struct Streamed {
    /// The steps: lane 0 is the core's, lane 1 the card's. Their operands are those of no table.
    pub program: Program,
    /// What core and card do, and when.
    pub slices: Vec<Slice>,
    /// Bytes of SRAM that are used.
    pub peak: Bytes,
    /// Commands of the card.
    pub commands: u64,
    /// Bytes that all frames read.
    pub read: Bytes,
    /// Bytes that all frames write.
    pub written: Bytes,
    /// Commands that write them.
    pub writes: u64,
    /// What the core computes for all frames.
    pub compute: Cycles,
    /// When all frames are complete.
    pub end: Cycles,
    /// No schedule of these frames on this board ends earlier.
    pub bound: Cycles,
    /// No schedule of this kind needs less SRAM.
    pub least: Bytes,
    /// Frames that the last layers take at once.
    pub together: u32,
    /// Bytes on the card: weights, inputs, activations.
    pub card: Bytes,
    /// Which bytes of SRAM are in use when.
    pub uses: Vec<Use>,
    /// What of SRAM is kept for what meanwhile.
    pub occupancy: Occupancy,
    /// For each layer of the plan what is kept when most is while it is computed.
    pub held: Vec<LayerHeld>,
    /// Each read's step of the card's lane, with the first step of the core's lane that needs it.
    pub arrivals: Vec<[u32; 2]>,
}

/// A place in SRAM that is used between two steps of the core's lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    /// First byte.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
    /// The step of the core's lane before which the place is free for it.
    pub from: u32,
    /// The last step of the core's lane that needs it.
    pub last: u32,
    /// The step of the card's lane that fills it, if it is filled at once.
    pub load: Option<u32>,
    /// The layer, in the plan's order, and what of it lies there.
    pub of: (u16, Part),
}

/// What a place in SRAM is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Rows of an operand that come from the card.
    Operand,
    /// Weights.
    Weights,
    /// Output that a later step reads.
    Output,
    /// Output that leaves, or that nothing but the host reads.
    Result,
}

/// Why a model is not streamed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NotStreamed {
    /// SRAM is too small for a layer: its name, and a size below which it is for certain.
    TooSmall(String, Bytes),
    /// Nothing to do with memory.
    Error(PlanError),
}

/// The plan that is streamed: max pools whose windows do not overlap are computed with their
/// convolutions.
///
/// # Errors
/// Names the node that no kernel runs as it is.
pub(crate) fn lowered(model: &Model) -> Result<Plan, PlanError> {
    let apart = |_: &tilewright_model::Node, window: &tilewright_model::Window| {
        window.size.iter().zip(&window.stride).all(|(size, stride)| size <= stride)
    };
    let layers = lower::fuse_pools_where(model, lower::layers(model), apart);
    let tensors = lower::tensors(model, &layers)?;
    let stored = lower::Stored::IMAGE;
    lower::draft_stored(model, &layers, &share::Parts::none(), tensors, stored)
}

/// What no schedule goes below of layers, with the nodes and the cycles of each, that reads the weights of
/// the nodes that `comes` names from the card once, for frames whose inputs do not come from there; nothing
/// without a card.
pub(crate) fn bound_of(
    model: &Model,
    board: &Board,
    options: &Options,
    layers: &[(&[u32], Cycles)],
    comes: impl Fn(u32) -> bool,
) -> Option<Cycles> {
    let card = options.card_in(board)?;
    let weights = |node: &u32| layers::weights(model, *node, layers::Depthwise::True);
    let cost = |(nodes, cycles): &(&[u32], Cycles)| {
        let nodes = nodes.iter().filter(|node| comes(**node));
        [nodes.map(weights).sum(), cycles.0]
    };
    let costs: Vec<[u64; 2]> = layers.iter().map(cost).collect();
    Some(bound::bound(&costs, 0, board, &card, options.arena_on(board), options.frames.get()))
}

/// Streams `model` from the card in the slot of `board`.
///
/// # Errors
/// [`PlanError`] if the board has no card, a node has no kernel, the steps are too many, or SRAM is
/// too small for a layer.
pub fn stream(model: &Model, board: &Board, options: &Options) -> Result<Streamed, PlanError> {
    of_plan(&lowered(model)?, model, board, options).map_err(|error| match error {
        NotStreamed::Error(error) => error,
        NotStreamed::TooSmall(layer, needed) => PlanError::Buffer { layer, needed },
    })
}

/// Streams the model of a lowered plan.
pub(crate) fn of_plan(
    lowered: &Plan,
    model: &Model,
    board: &Board,
    options: &Options,
) -> Result<Streamed, NotStreamed> {
    let layers = layers::layers(lowered, model, &Costs::on(board), layers::Depthwise::True);
    of_layers(layers, board, options)
}

/// Streams these layers.
fn of_layers(
    layers: Vec<SwapLayer>,
    board: &Board,
    options: &Options,
) -> Result<Streamed, NotStreamed> {
    let no_card = || NotStreamed::Error(PlanError::NoCard { board: board.id.clone() });
    let card = options.card_in(board).ok_or_else(no_card)?;
    let sram = options.arena_on(board).0;
    let network = Network::new(layers);
    let transfers = Transfers::new(board, Some(&card));
    let largest = board.engine(LaneKind::Card).map_or(u64::MAX, |engine| engine.largest_bytes.0);
    network.least(sram).map_err(|(layer, bytes)| NotStreamed::TooSmall(layer, Bytes(bytes)))?;
    let frames = options.frames.get();
    let emitter = Emitter { sram, transfers: &transfers, largest, frames };
    let costs: Vec<[u64; 2]> = network.layers.iter().map(|l| [l.weights, l.cycles]).collect();
    let bound = bound::bound(&costs, network.input(), board, &card, Bytes(sram), frames);
    let best = best(&network, &emitter, bound.0, &options.stop)?;
    let slices = emit::simulated(&best, frames, &options.stop).map_err(NotStreamed::Error)?;
    let (occupancy, held) = held::held(&best.uses, &slices, &network);
    let end = slices.iter().map(|slice| slice.end.0).max().unwrap_or(0);
    let compute: u64 = network.layers.iter().map(|layer| layer.cycles).sum();
    Ok(Streamed {
        slices,
        occupancy,
        held,
        peak: Bytes(best.peak),
        commands: best.commands,
        read: Bytes(best.read),
        written: Bytes(best.written),
        writes: best.writes,
        compute: Cycles(compute.saturating_mul(frames.into())),
        end: Cycles(end),
        bound,
        least: Bytes(network.largest().1),
        together: best.together,
        card: Bytes(best.card),
        uses: best.uses,
        arrivals: best.arrivals,
        program: best.program,
    })
}

/// A schedule that is above the bound by less than one part in this is good enough: others are not
/// tried.
const NEAR: u64 = 200;
/// One that is so near is good enough if many steps were scheduled.
const QUITE_NEAR: u64 = 50;
/// Units of work of a step, and of a layer when its groups are chosen.
const STEP: u64 = 100;
const CHOICE: u64 = 10_000;
/// How many are many.
const MANY_STEPS: u64 = 100_000;

/// Frames whose last layers are made together, the groups for them, and what all frames cost.
struct Choice {
    together: u32,
    groups: [Vec<groups::Group>; 2],
    price: choose::Price,
}

/// The schedule that ends first; of those near `bound` the first that is found, where those with the
/// least predicted price are tried first.
fn best(
    network: &Network,
    emitter: &Emitter<'_>,
    bound: u64,
    stop: &Stop,
) -> Result<Emitted, NotStreamed> {
    let frames = emitter.frames;
    let mut best: Option<Emitted> = None;
    let mut too_many = None;
    let mut tried = 0;
    let is_near = |made: &Emitted, part: u64| made.end <= bound.saturating_add(bound / part);
    // Buffers that lie badly leave no room for weights: then less is kept in SRAM.
    for room in (4..=8).rev().map(|eighths| emitter.sram / 8 * eighths) {
        for choice in choices(network, emitter, room, bound, stop)? {
            let is_enough = |best: &Emitted| {
                tried > MOST_TRIED
                    || is_near(best, NEAR)
                    || tried > MANY_STEPS && is_near(best, QUITE_NEAR)
                    || choice.price.time >= best.end
            };
            if best.as_ref().is_some_and(is_enough) {
                continue;
            }
            let [front, back] = &choice.groups;
            let batch = Batch::new(network, [front, back], [choice.together, frames]);
            let steps = batch.steps().saturating_mul(u64::from(frames / choice.together));
            if steps > MOST_STEPS {
                too_many = Some(PlanError::TooManyTasks { tasks: steps, most: MOST_STEPS });
                continue;
            }
            tried += steps;
            stop.after(STEP * steps).map_err(NotStreamed::Error)?;
            let Some(emitted) = emitter.emit(&batch, choice.together) else { continue };
            let key = |made: &Emitted| (made.end, made.written, made.read);
            if best.as_ref().is_none_or(|best| key(&emitted) < key(best)) {
                best = Some(emitted);
            }
        }
        if best.is_some() {
            break;
        }
    }
    let too_small = || {
        let (name, bytes) = network.largest();
        NotStreamed::TooSmall(name, Bytes(bytes.max(emitter.sram + 1)))
    };
    best.ok_or_else(|| too_many.map_or_else(too_small, NotStreamed::Error))
}

/// The ways within `room` bytes of SRAM that seem cheapest, the cheapest first.
fn choices(
    network: &Network,
    emitter: &Emitter<'_>,
    room: u64,
    bound: u64,
    stop: &Stop,
) -> Result<Vec<Choice>, NotStreamed> {
    let frames = emitter.frames;
    let counts = (1..=frames.min(MOST_TOGETHER)).filter(|count| frames.is_multiple_of(*count));
    let counts: Vec<u32> = match network.tail() {
        Some(_) => counts.collect(),
        None => vec![1],
    };
    let tail = network.tail().unwrap_or(network.layers.len());
    let waits = [Border::Sram, Border::Card];
    let all = counts.iter().flat_map(|together| waits.map(|waits| (*together, waits)));
    let choice = |(together, waits)| {
        let (groups, price) = choose::choose(network, emitter, room, together, (tail, waits))?;
        let price = price.times(u64::from(frames / together));
        Some(Choice { together, groups, price })
    };
    let ways = all.filter(|way| *way != (1, Border::Card));
    let mut choices = Vec::new();
    for way in ways {
        choices.extend(choice(way));
        stop.after(CHOICE * network.layers.len() as u64).map_err(NotStreamed::Error)?;
    }
    // What is about as fast may write, and then wait, less.
    let grain = bound / NEAR + 1;
    choices
        .sort_by_key(|choice| (choice.price.cost() / grain, choice.price.written, choice.together));
    choices.truncate(TRIED);
    Ok(choices)
}

#[cfg(test)]
mod tests;
