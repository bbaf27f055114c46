//! `swap`: activations and weights on a card, brought to buffers in SRAM tile by tile and written
//! back: SwapNN's pools and tiles (Miao and Lin, "Enabling Large Neural Networks on Tiny Microcontrollers
//! with Swapping") as a program, one frame at a time.
//!
//! It differs from the published strategy where a step program, its kernels and a card's sectors ask
//! for it:
//! * Tiles are rows of the output with all channels, as many as a buffer holds, and begin at sectors;
//!   a tile of input has the rows that its windows see. Rows may have gaps behind them, so that each
//!   begins at a sector.
//! * A convolution in groups has tiles for each group, which read its channels of one tile of input.
//! * The frame arrives on the console: program inputs and outputs stay in SRAM, beside the pools; those
//!   that would take more than a quarter of it in external RAM, where the board has some.
//! * Weight tiles are read again for every output tile, but if the pool holds all of a layer's.
//! * A card transfer waits for the bytes of its buffer alone, so that the next tiles are read while
//!   the core computes, across the borders of layers; what a layer reads has been written.
//! * Biases, multipliers and tables stay in the plan image.
//! * Checksums or tags of what is written to the card lie beside the pools, if they are asked for.
//!
//! There are 4, 8 or 16 buffers, and gaps or none: what is predicted to be fastest with a plan that fits
//! flash, unless the buffers' size is given.

mod cut;
mod lay;

use std::num::NonZeroU32;

use crate::aliasing::{Arranged, Parts};
use crate::costs::CostCache;
use crate::planning::Progress;
use crate::recipe::Made;
use crate::schedule::operator::Operator;
use crate::schedule::place::Pools;
use crate::schedule::{Layout, Schedule};
use crate::strategy::aliasing_search::Candidate;
use crate::strategy::external::LINE;
use crate::strategy::{Brings, Search, Technique};
use crate::{Options, PlanError, lower, simulate};
use tilewright_allocate::TENSOR_ALIGNMENT;
use tilewright_board::Board;
use tilewright_model::Model;
use tilewright_plan::{Bytes, LaneKind, Space};

use cut::Group;
use lay::{Laid, Laying};

/// Units of work of a program of a card's weights and activations for each layer: many ways are tried at once.
pub const CARD_WORK: u64 = 800_000;

/// The strategy.
pub const TECHNIQUE: Technique = Technique {
    brings_weights: Brings::From(Space::Card),
    name: "swap",
    missing,
    search: |_| Ok(Box::new(Placing)),
    write: |asked, found| plan(asked.model, asked.board, asked.options, found),
    work: CARD_WORK,
    ..Technique::INSIDE
};

/// Numbers of buffers that are tried.
const COUNTS: [u64; 3] = [4, 8, 16];

/// What the strategy needs that a board does not have; nothing if the board has all.
#[must_use]
pub fn missing(board: &Board) -> Option<&'static str> {
    if board.slot.is_none() {
        return Some("a place for a card");
    }
    let is_there = board.engine(LaneKind::Card).is_some();
    (!is_there).then_some("a controller that moves a card's data")
}

/// The plan of layers whose tensors and weights lie on the card.
///
/// # Errors
/// [`PlanError`] names the node that no kernel runs as it is, or the layer that needs larger buffers
/// than those asked for.
pub fn plan(
    model: &Model,
    board: &Board,
    options: &Options,
    found: Candidate,
) -> Result<Made, PlanError> {
    let budget = options.arena_on(board);
    let laying = Laying::of(model, board, budget, found, options.integrity)?;
    let apart = laying.laid(&[], false)?;
    if apart.plan.main.is_none() {
        return Ok(Made::whole(apart.static_layout, apart.plan));
    }
    let pitches = lay::rows_at_sectors(&apart.plan);
    // Each sector in use has a checksum or tag, so that few are to be.
    let reuse = options.integrity.keeps();
    let mut laid = vec![if reuse { laying.laid(&[], true)? } else { apart }];
    if pitches.iter().any(Option::is_some) {
        laid.push(laying.laid(&pitches, reuse)?);
    }
    let operators: Vec<Vec<Operator<'_>>> =
        laid.iter().map(|laid| Operator::of(&laid.plan)).collect();
    let ways = laid.iter().zip(&operators);
    let ways: Vec<Way<'_>> = ways.map(|(laid, own)| Way::of(laid, own)).collect();
    let easiest = ways.iter().min_by_key(|way| way.least);
    let easiest = easiest.expect("tensors always can lie without gaps");
    if let Some(buffer) = options.buffer() {
        let buffer = buffer.0 / LINE * LINE;
        let Some(way) = ways.iter().find(|way| way.least.0 <= buffer) else {
            return Err(easiest.needs());
        };
        let count = way.room(budget).checked_div(buffer).unwrap_or(0).max(Pools::FEWEST);
        return way.made(buffer, count, board, options);
    }
    let costs = CostCache::on(board);
    let one = Options { frames: NonZeroU32::MIN, ..options.clone() };
    let mut fastest = None;
    for (way, count) in ways.iter().flat_map(|way| COUNTS.map(|count| (way, count))) {
        let buffer = way.room(budget) / count / LINE * LINE;
        if buffer < way.least.0 {
            continue;
        }
        let made = way.made(buffer, count, board, options)?;
        let end = simulate::predict(&made.plan, board, &costs, &one)?.end();
        let key = (made.plan.image_bytes() > board.plan_bytes(), end);
        if fastest.as_ref().is_none_or(|(best, _)| key < *best) {
            fastest = Some((key, made));
        }
    }
    match fastest {
        Some((_, made)) => Ok(made),
        // What does not fit says how much would.
        None => easiest.made(easiest.least.0, Pools::FEWEST, board, options),
    }
}

/// A way for tensors to lie, and its layers.
struct Way<'p> {
    laid: &'p Laid,
    operators: &'p [Operator<'p>],
    groups: Vec<Group<'p, 'p>>,
    /// The least buffer with which every layer can be cut, and the layer that needs it.
    least: (u64, usize),
}

impl<'p> Way<'p> {
    fn of(laid: &'p Laid, operators: &'p [Operator<'p>]) -> Self {
        let groups = Group::of(&laid.plan, operators);
        let least = cut::least_buffer(&groups);
        Self { laid, operators, groups, least }
    }

    /// Bytes of SRAM for buffers.
    fn room(&self, budget: Bytes) -> u64 {
        budget.0.saturating_sub(self.laid.resident)
    }

    /// The plan with so many buffers of so many bytes.
    ///
    /// # Errors
    /// [`PlanError::Buffer`] if a layer needs larger ones, [`PlanError::Stopped`] if nobody waits any more.
    fn made(
        &self,
        buffer: u64,
        count: u64,
        board: &Board,
        options: &Options,
    ) -> Result<Made, PlanError> {
        let pools = Pools::new(self.laid.resident, buffer, count);
        let groups = self.groups.iter().map(|group| group.cut(&pools).into()).collect();
        let schedule = Schedule { groups, layout: Layout::Pools(pools), frames: None };
        let lowered = &self.laid.plan;
        let work = schedule.work(lowered, self.operators);
        match schedule.plan(lowered, &work, board, &options.stop)? {
            Some(plan) => Ok(Made::scheduled(self.laid.static_layout.clone(), schedule, plan)),
            None => Err(self.needs()),
        }
    }

    /// Which layer needs the largest buffers.
    fn needs(&self) -> PlanError {
        let (needed, layer) = self.least;
        let layer = self.laid.plan.layers.get(layer);
        let layer = layer.map_or_else(String::new, |layer| layer.name.clone());
        PlanError::Buffer { layer, needed: Bytes(needed) }
    }
}

/// There is nothing to search for: tensors lie one after the other.
pub struct Placing;

impl Search for Placing {
    fn advance(&mut self, _: &Model, _: u64) -> Result<bool, PlanError> {
        Ok(true)
    }

    fn progress(&self) -> Progress {
        Progress::default()
    }

    fn found(&self, model: &Model) -> Result<(Candidate, Option<Bytes>), PlanError> {
        let layers = lower::layers(model);
        let mut tensors = lower::tensors(model, &layers)?;
        let mut height = Bytes(0);
        for tensor in &mut tensors {
            tensor.offset = height.0;
            height = (height + tensor.bytes).align_up(TENSOR_ALIGNMENT);
        }
        let arranged = Arranged { tensors, parts: Parts::none(), height };
        Ok((Candidate { layers, arranged }, None))
    }
}
