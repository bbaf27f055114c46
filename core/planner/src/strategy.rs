//! The strategies.

pub mod auto;
pub mod beyond;
pub mod deciding;
pub mod external;
pub mod kept_weights;
pub mod overlay;
pub mod ping_pong;
pub mod reordered;
pub mod resident;
pub mod sharing;
pub mod spilled;
pub mod stream;
pub mod swap;
pub mod trading;

use std::fmt;
use std::str::FromStr;

use crate::costs::Costs;
use crate::floor::Floor;
use crate::packing;
use crate::planning::Progress;
use crate::recipe::Made;
use crate::share::Sharing;
use crate::{Options, PlanError};
use serde::{Deserialize, Serialize};
use tilewright_board::Board;
use tilewright_model::Model;
use tilewright_plan::Bytes;
use tilewright_report::Stage;

use sharing::Candidate;

/// A way to plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// Order as given, all activations in SRAM, weights in flash.
    Resident,
    /// The order that needs the smallest arena, all activations in SRAM, weights in flash;
    /// elementwise layers and concats in place where that helps.
    Reordered,
    /// Two buffers by turns, pools computed with their convolutions; for chains of layers.
    PingPong,
    /// Activations in external RAM, weights in external flash, read and written there.
    External,
    /// As `external`, with tiles of what the core reads brought to SRAM before.
    Overlay,
    /// As `overlay`, with outputs made in SRAM and moved from there.
    OverlayStaged,
    /// Weights and activations on a card, in buffers of one size, by tiles of rows.
    Swap,
    /// Activations in SRAM, weights from a card as far ahead as there is room.
    Stream,
    /// The best of all for the [`Objective`](crate::Objective): in SRAM, with layers in rows whose output
    /// overlaps their input; else from external memory; else from a card.
    Auto,
}

impl Strategy {
    /// All strategies.
    pub const ALL: [Self; 9] = [
        Self::Resident,
        Self::Reordered,
        Self::PingPong,
        Self::External,
        Self::Overlay,
        Self::OverlayStaged,
        Self::Swap,
        Self::Stream,
        Self::Auto,
    ];

    /// The name that the command line and reports use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Resident => "resident",
            Self::Reordered => "reordered",
            Self::PingPong => "ping-pong",
            Self::External => "external",
            Self::Overlay => "overlay",
            Self::OverlayStaged => "overlay-staged",
            Self::Swap => "swap",
            Self::Stream => "stream",
            Self::Auto => "auto",
        }
    }
}

impl Strategy {
    /// What a board lacks that the strategy needs; nothing if it lacks nothing.
    #[must_use]
    pub fn lacks(self, board: &Board) -> Option<String> {
        match self {
            Self::Resident | Self::Reordered | Self::PingPong | Self::Auto => None,
            Self::Swap | Self::Stream => swap::obstacle(board),
            Self::External => external::obstacle(board),
            Self::Overlay | Self::OverlayStaged => overlay::obstacle(board),
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Strategy {
    type Err = PlanError;

    fn from_str(name: &str) -> Result<Self, PlanError> {
        Self::ALL.into_iter().find(|s| s.name() == name).ok_or_else(|| PlanError::UnknownStrategy {
            name: name.to_owned(),
            known: Self::ALL.map(Self::name).join(", "),
        })
    }
}

/// What a strategy searches for, step by step.
pub trait Search {
    /// Works for about `units` on `model`, with which the search began; whether it is done.
    fn advance(&mut self, model: &Model, units: u64) -> Result<bool, PlanError>;

    /// How far it is.
    fn progress(&self) -> Progress;

    /// Memory with each part of the strategy in turn, if it has several.
    fn stages(&self) -> Vec<Stage> {
        Vec::new()
    }

    /// What was found on the way, besides the best, each with what it shares.
    fn ways(&self) -> Vec<(Candidate, Sharing)> {
        Vec::new()
    }

    /// The best that has been found for `model`, with what no plan of this strategy goes below;
    /// nothing: the order of the layers is the only one, and no placement goes below the largest
    /// sum of bytes that live at once.
    fn found(&self, model: &Model) -> Result<(Candidate, Option<Bytes>), PlanError>;
}

/// The plan of what a strategy has found; `overlaid` says what is overlaid if that is other than the
/// strategy's own.
///
/// # Errors
/// [`PlanError`] names the node that no kernel runs as it is, or what the board lacks.
pub fn plan_of(
    model: &Model,
    board: &Board,
    strategy: Strategy,
    overlaid: Option<overlay::Overlaid>,
    options: &Options,
    found: Candidate,
) -> Result<Made, PlanError> {
    if let Some(reason) = strategy.lacks(board) {
        return Err(PlanError::Board { strategy, reason });
    }
    let budget = options.arena_on(board);
    let overlay = |usual, found| {
        let external = external::plan(model, board, found)?;
        let overlaid = overlaid.unwrap_or(usual);
        overlay::overlay(external, board, budget, overlaid, &options.stop)
    };
    let mut made = match strategy {
        Strategy::External => external::plan(model, board, found)?,
        Strategy::Overlay => overlay(overlay::Overlaid::THESIS, found)?,
        Strategy::OverlayStaged => overlay(overlay::Overlaid::ALL, found)?,
        Strategy::Swap => swap::plan(model, board, options, found)?,
        Strategy::Stream => stream::plan(model, board, options)?,
        Strategy::Resident | Strategy::Reordered | Strategy::PingPong | Strategy::Auto => {
            let floor = Floor::inside(found.layers, found.arranged);
            let plan = floor.lowered(model, board)?;
            let mut made = Made::whole(floor, plan);
            packing::choose(&mut made, board, &Costs::on(board), options.packing);
            made
        }
    };
    made.plan.board = board.id.clone();
    made.plan.strategy = strategy.name().to_owned();
    Ok(made)
}
