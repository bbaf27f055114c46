//! The strategies.

pub mod aliasing_search;
pub mod alternatives;
pub mod auto;
pub mod branch_and_bound;
pub mod external;
pub mod external_search;
pub mod in_tiles;
pub mod merit;
pub mod overlay;
pub mod ping_pong;
pub mod reordered;
pub mod resident;
mod sizes;
pub mod sparse_tiled;
pub mod spill;
pub mod stream;
pub mod swap;
pub mod trade_off;
pub mod weights_in_sram;

use std::fmt;
use std::str::FromStr;

use crate::aliasing::Aliasing;
use crate::costs::Costs;
use crate::packing;
use crate::planning::Progress;
use crate::recipe::Made;
use crate::static_layout::StaticLayout;
use crate::{Options, PlanError, Planned};
use serde::{Deserialize, Serialize};
use tilewright_board::Board;
use tilewright_model::Model;
use tilewright_plan::{Bytes, Space};
use tilewright_report::{Stage, Unsupported};

use aliasing_search::Candidate;

/// The strategies: each a file that writes recipes, and a line here.
macro_rules! strategies {
    ($($(#[doc = $doc:literal])+ $name:ident = $technique:expr,)+) => {
        /// A way to plan.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Strategy {
            $($(#[doc = $doc])+ $name,)+
        }

        impl Strategy {
            /// All strategies.
            pub const ALL: [Self; [$(stringify!($name),)+].len()] = [$(Self::$name,)+];

            /// What it does.
            pub(crate) const fn technique(self) -> &'static Technique {
                match self {
                    $(Self::$name => &$technique,)+
                }
            }
        }
    };
}

strategies! {
    /// Order as given, all activations in SRAM, weights in flash.
    Resident = resident::TECHNIQUE,
    /// The order that needs the smallest arena, all activations in SRAM, weights in flash;
    /// elementwise layers and concats in place where that helps.
    Reordered = reordered::TECHNIQUE,
    /// Two buffers by turns, pools computed with their convolutions; for chains of layers.
    PingPong = ping_pong::TECHNIQUE,
    /// Activations in external RAM, weights in external flash, read and written there.
    External = external::TECHNIQUE,
    /// As `external`, with tiles of what the core reads brought to SRAM before, and what else is
    /// [overlaid](Options::overlaid).
    Overlay = overlay::TECHNIQUE,
    /// Weights and activations on a card, in buffers of one size, by tiles of rows.
    Swap = swap::TECHNIQUE,
    /// Layers of most active memory in tiles, one after the other, weights without their zeros; else as `resident`.
    SparseTiled = sparse_tiled::TECHNIQUE,
    /// Activations in SRAM, weights from a card as far ahead as there is room.
    Stream = stream::TECHNIQUE,
    /// The best of all for the [`Objective`](crate::Objective): in SRAM, with layers in rows whose output
    /// overlaps their input; else from external memory; else from a card.
    Auto = auto::TECHNIQUE,
}

/// What a strategy does, and needs.
pub struct Technique {
    /// The name that the command line and reports use.
    pub name: &'static str,
    /// What it needs that a board does not have; nothing if the board has all.
    pub missing: fn(&Board) -> Option<&'static str>,
    /// What it asks for where the user chose nothing else, if it is of a model in tiles.
    pub asks: Option<fn(&Options) -> Options>,
    /// Whether copies bring weights to SRAM, and from where: always, or where the chip's flash does not hold all.
    pub brings_weights: Brings,
    /// Why it has no plans for a model, whatever the board; nothing if it has.
    pub unsupported: fn(&Model) -> Option<Unsupported>,
    /// Begins what is searched for a model whatever the board and the budget.
    pub search: fn(&Model) -> Result<Box<dyn Search>, PlanError>,
    /// Writes the recipe of what was found.
    pub write: fn(&Asked<'_>, Candidate) -> Result<Made, PlanError>,
    /// Adds what only it knows of a plan.
    pub tell: fn(&mut Planned, &Asked<'_>),
    /// Units of work of writing, for each layer.
    pub work: u64,
    /// Whether recipes are of all frames, not of each one.
    pub joins_frames: bool,
    /// Whether other recipes are tried once this one is written.
    pub goes_on: bool,
}

impl Technique {
    /// Of tensors in SRAM: what most are.
    pub const INSIDE: Self = Self {
        name: "",
        missing: |_| None,
        asks: None,
        brings_weights: Brings::Never,
        unsupported: |_| None,
        search: |_| Ok(Box::new(resident::Placing::default())),
        write: inside,
        tell: |_, _| {},
        work: 10_000,
        joins_frames: false,
        goes_on: false,
    };
}

impl Technique {
    /// What is asked for where the user chose these options.
    pub fn options(&self, chosen: &Options) -> Options {
        self.asks.map_or_else(|| chosen.clone(), |asks| asks(chosen))
    }
}

/// When copies bring weights to SRAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Brings {
    /// Never: they are read where they lie.
    Never,
    /// Where the chip's flash does not hold all: from external flash, or else from a card.
    Else,
    /// Always, from this memory.
    From(Space),
}

/// What a plan is asked for.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// The model.
    pub model: &'a Model,
    /// The board.
    pub board: &'a Board,
    /// What the user chose.
    pub options: &'a Options,
}

impl Strategy {
    /// The name that the command line and reports use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.technique().name
    }

    /// Why it has no plans for a model on a board, or on any board if none is given; nothing if it has.
    #[must_use]
    pub fn unsupported(self, model: &Model, board: Option<&Board>) -> Option<Unsupported> {
        let missing = board.and_then(|board| Some((board, (self.technique().missing)(board)?)));
        if let Some((board, missing)) = missing {
            return Some(Unsupported::new(
                format!(
                    "strategy '{self}' needs {missing}, which board '{}' does not have",
                    board.id
                ),
                format!("board '{}'", board.id),
                "Choose another strategy, or another board.",
            ));
        }
        (self.technique().unsupported)(model)
    }

    /// The plan of what its search has found.
    ///
    /// # Errors
    /// [`PlanError`] names the node that no kernel runs as it is, or what the board does not have.
    pub(crate) fn made(self, asked: &Asked<'_>, found: Candidate) -> Result<Made, PlanError> {
        let technique = self.technique();
        // What is in tiles already need not be tiled again.
        let why = match technique.asks {
            None => self.unsupported(asked.model, Some(asked.board)),
            Some(_) => None,
        };
        if let Some(why) = why {
            return Err(why.into());
        }
        let mut made = (technique.write)(asked, found)?;
        made.plan.board.clone_from(&asked.board.id);
        technique.name.clone_into(&mut made.plan.strategy);
        Ok(made)
    }
}

/// The recipe of tensors that lie in SRAM, with weights in whichever packing is faster.
fn inside(asked: &Asked<'_>, found: Candidate) -> Result<Made, PlanError> {
    let Asked { model, board, options } = *asked;
    let static_layout = StaticLayout::inside(found.layers, found.arranged);
    let plan = static_layout.lowered(model, board)?;
    let mut made = Made::whole(static_layout, plan);
    packing::choose(&mut made, board, &Costs::on(board), options.packing);
    Ok(made)
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

/// Layers in an order and a placement that a search found.
#[derive(Clone)]
pub struct Way {
    /// The technique that it is an example of.
    pub technique: &'static str,
    /// What was found.
    pub found: Candidate,
    /// What it shares.
    pub aliasing: Aliasing,
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

    /// What was found on the way, besides the best.
    fn ways(&self) -> Vec<Way> {
        Vec::new()
    }

    /// The best that has been found for `model`, with what no plan of this strategy goes below;
    /// nothing: the order of the layers is the only one, and no placement goes below the largest
    /// sum of bytes that live at once.
    fn found(&self, model: &Model) -> Result<(Candidate, Option<Bytes>), PlanError>;
}
