//! Strategies and the event simulation.
//!
//! [`plan`], or [`Planning`] step by step, takes an int8 model and a board to a [`Planned`]: the plan, its predicted timeline,
//! its memory map and its report. A plan that does not fit is still a plan, so that it can be
//! looked at; its report says what is missing. So is one of a model with operators that no kernel
//! computes, or that is no int8 model: tensors have their places, but there is no program.

#![warn(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_possible_wrap)]

mod aliasing;
pub mod costs;
mod does_not_fit;
mod exits;
mod floats;
mod joined;
mod lower;
mod narrow;
mod packing;
mod planned_model;
mod planning;
mod recipe;
mod report;
mod schedule;
pub mod simulate;
mod sparse;
mod static_layout;
mod stop;
mod strategy;
pub mod tflm;
mod tiles;

use std::num::NonZeroU32;
use std::sync::Arc;

use thiserror::Error;
use tilewright_board::{Board, Card};
use tilewright_model::Model;
use tilewright_model::integer::IntegerError;
use tilewright_model::tiling::{Tiled, Tiling};
use tilewright_order::{ArrangeError, GraphError};
use tilewright_plan::{Bytes, LaneKind, Plan, Space};
use tilewright_report::{MemoryMap, Occupancy, PlanReport, Timeline, Traffic, Unsupported};

pub use exits::{Confidence, ExitError, Exits};
pub use joined::{JoinError, joined};
pub use planning::{Planning, Progress};
pub use recipe::{Recipe, RecipeError};
pub use stop::Stop;
pub use strategy::Strategy;
pub use strategy::overlay::{Beside, Overlaid};
pub use strategy::spill::{First, spilled};
pub use strategy::stream::bound::bound as card_bound;
pub use tiles::tilings;
pub use tilewright_report::{Integrity, Objective, Outputs, Packing};

/// Choices that the user makes beside board and strategy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Largest tensor arena; the board's if nothing is given. Never more than the board's.
    pub sram: Option<Bytes>,
    /// Bytes of a buffer for tiles, of strategies with buffers of one size; nothing: the largest of
    /// which there is one for input, two for weights and one for output.
    pub buffer: Option<Bytes>,
    /// Frames that are computed one after the other.
    pub frames: NonZeroU32,
    /// The card in the board's slot; nothing: the one that the board names.
    pub card: Option<Card>,
    /// What `auto` makes least.
    pub objective: Objective,
    /// Whether `auto` uses no memory outside of the chip.
    pub is_inside: bool,
    /// What is done about wrong bytes from the card.
    pub integrity: Integrity,
    /// How weights lie.
    pub packing: Packing,
    /// The recipe of the plan, instead of one that a strategy writes.
    pub recipe: Option<Recipe>,
    /// In which tiles layers are made; nothing: whole.
    pub tiling: Option<Tiling>,
    /// Whether the input may arrive in rows, from a camera or a host, while others are used: a plan that needs no more
    /// than some of them at once holds these alone.
    pub streams_input: bool,
    /// What strategy `overlay` overlays.
    pub overlaid: Overlaid,
    /// Which early exits the plan has.
    pub exits: Exits,
    /// Whom work asks that takes long between two calls of [`Planning::advance`].
    pub stop: Stop,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            sram: None,
            buffer: None,
            frames: NonZeroU32::MIN,
            card: None,
            objective: Objective::default(),
            is_inside: false,
            integrity: Integrity::Trusted,
            packing: Packing::default(),
            recipe: None,
            tiling: None,
            streams_input: false,
            overlaid: Overlaid::THESIS,
            exits: Exits::default(),
            stop: Stop::default(),
        }
    }
}

impl Options {
    /// Bytes of a buffer, if some are asked for: of four, no more than an address has room for, so that they can be
    /// summed up.
    pub(crate) fn buffer(&self) -> Option<Bytes> {
        self.buffer.map(|buffer| buffer.min(Bytes(1 << 30)))
    }

    /// Largest tensor arena on `board`.
    #[must_use]
    pub fn arena_on(&self, board: &Board) -> Bytes {
        self.sram.map_or(board.arena(), |sram| sram.min(board.arena()))
    }

    /// The same for as few frames as tell which of two plans is faster: behind these each frame takes as
    /// long as the one before it. Exits, which tell nothing, are left out.
    #[must_use]
    pub fn of_few_frames(&self) -> Self {
        const FEW: NonZeroU32 = NonZeroU32::new(3).unwrap();
        Self { frames: self.frames.min(FEW), exits: Exits::default(), ..self.clone() }
    }

    /// The card in the board's slot; nothing if it has none.
    #[must_use]
    pub fn card_in(&self, board: &Board) -> Option<Card> {
        let slot = board.slot.as_ref()?;
        self.card.clone().or_else(|| tilewright_board::find_card(&slot.card).ok())
    }
}

/// A plan with all that is said of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    /// The plan.
    pub plan: Plan,
    /// What it is made of.
    pub recipe: Recipe,
    /// The model in tiles that the plan is of; nothing: it is of the model as it was given.
    pub tiled: Option<Arc<Tiled>>,
    /// Which tensors live when and where.
    pub memory: MemoryMap,
    /// The predicted run.
    pub timeline: Timeline,
    /// What of SRAM is held during it.
    pub occupancy: Occupancy,
    /// What its layers move.
    pub traffic: Traffic,
    /// The figures.
    pub report: PlanReport,
}

impl Planned {
    /// The model that the plan is of: the given one, or that in tiles.
    #[must_use]
    pub fn model<'m>(&'m self, given: &'m Model) -> &'m Model {
        Tiled::model_or(self.tiled.as_deref(), given)
    }

    /// Why it cannot run on the board that it was made for, root cause first: its operators, memory, the firmware.
    /// Nothing if it can.
    #[must_use]
    pub fn unsupported(&self, board: &Board) -> Option<Unsupported> {
        let report = &self.report;
        let why = report.no_program().or_else(|| report.no_room());
        why.or_else(|| no_firmware(&self.plan, board))
    }

    /// The plan with its recipe.
    fn made(&self) -> recipe::Made {
        recipe::Made { recipe: self.recipe.clone(), plan: self.plan.clone() }
    }
}

/// Why there is no plan at all.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PlanError {
    /// A node that no kernel can run as it is, which in a plan is a layer without kernel; a tensor with a batch
    /// other than 1, or too large to address; a model or a board that the strategy is not for.
    #[error("{}: {}", .0.place, .0.what)]
    Unsupported(Unsupported),
    /// Quantisation parameters that have no integer form.
    #[error("node '{node}': {source}")]
    Integer {
        /// The node.
        node: String,
        /// What about it.
        source: IntegerError,
    },
    /// Tensors that no arena can hold, whatever its size.
    #[error("the tensor arena: {0}")]
    Arena(#[from] tilewright_allocate::ProblemError),
    /// Nobody waits for the plan any more.
    #[error("planning was stopped")]
    Stopped,
    /// A graph of layers that is none, or an order that is none.
    #[error("the order of the layers: {0}")]
    Order(String),
    /// Buffers of one size are too small, or too few.
    #[error("{}: buffers of {} bytes are needed, four at least",
        if layer.is_empty() { "any layer" } else { layer }, needed.0)]
    Buffer {
        /// The layer that needs most; empty if it is not one layer.
        layer: String,
        /// The least buffer.
        needed: Bytes,
    },
    /// A model or a program that the exits asked for are not for.
    #[error("{0}")]
    Exits(#[from] ExitError),
    /// The strategy's name is unknown.
    #[error("no strategy '{name}'; known strategies: {known}")]
    UnknownStrategy {
        /// The name asked for.
        name: String,
        /// All names, separated by commas.
        known: String,
    },
}

/// Plans `model` on `board` with `strategy`: for memory alone unless it is int8 with batch 1 and has
/// a kernel for each operator.
///
/// # Errors
/// [`PlanError`] if no plan exists whatever the memory; a plan that does not fit is no error.
pub fn plan(
    model: &Model,
    board: &Board,
    strategy: Strategy,
    options: &Options,
) -> Result<Planned, PlanError> {
    let mut planning = Planning::new(model, board, strategy, options)?;
    while !planning.advance(model, u64::MAX)? {}
    planning.finish(model)
}

/// What the firmware of `board` does not do that `plan` needs, so that it is planned and simulated only;
/// nothing if it does all, or if there is no firmware.
fn no_firmware(plan: &Plan, board: &Board) -> Option<Unsupported> {
    let names = [
        (Space::ExternalRam, "external RAM"),
        (Space::ExternalFlash, "external flash"),
        (Space::Card, "a card"),
    ];
    let is_missing = |space: Space| plan.space(space).0 > 0 && !board.serves(space);
    let spaces = names.iter().filter(|(space, _)| is_missing(*space)).map(|(_, name)| *name);
    let lanes = plan.programs().flat_map(|program| &program.lanes);
    let is_idle = |kind: LaneKind| {
        let mut lanes = lanes.clone().filter(|lane| !lane.steps.is_empty());
        !board.drives(kind) && lanes.any(|lane| lane.kind == kind)
    };
    let engines = [(LaneKind::Dma, "DMA"), (LaneKind::Card, "the card's controller")];
    let engines = engines.iter().filter(|(kind, _)| is_idle(*kind)).map(|(_, name)| *name);
    let missing: Vec<&str> = spaces.chain(engines).collect();
    (!missing.is_empty()).then(|| {
        let (id, missing) = (&board.id, missing.join(" and "));
        Unsupported::new(
            format!("the firmware of board '{id}' does not use {missing} yet"),
            format!("strategy '{}'", plan.strategy),
            "Choose another strategy to run it; this one is planned and simulated.",
        )
    })
}

impl From<Unsupported> for PlanError {
    fn from(why: Unsupported) -> Self {
        Self::Unsupported(why)
    }
}

impl From<GraphError> for PlanError {
    fn from(error: GraphError) -> Self {
        Self::Order(error.to_string())
    }
}

impl From<ArrangeError> for PlanError {
    fn from(error: ArrangeError) -> Self {
        match error {
            ArrangeError::Buffers(error) => Self::Arena(error),
            ArrangeError::Order(error) => Self::Order(error.to_string()),
        }
    }
}
