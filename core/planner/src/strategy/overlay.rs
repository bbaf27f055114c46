//! `overlay`: operands are brought from external memory into fast buffers in SRAM, one tile ahead of
//! the core (TinyOps; Sadiq's thesis, chapter 4).
//!
//! Activations lie in external RAM and weights in external flash, as in [`external`]. Operators are
//! cut along the rows of their output (algorithm 3, in `partition`), a tile of input comes with the
//! rows that its windows share with the next, and DMA fetches the next tile, across the borders of
//! operators, while the core computes (algorithm 4, in `pipeline`). Filters are overlaid where they
//! fit, biases and quantisation parameters always.
//!
//! The thesis read as the project reads it:
//! * Factors start at 1, not at 2: operators that need no cut are not cut.
//! * Line 18 of algorithm 4 means `op`, not `op + 1`.
//! * A filter is fetched at the end of its buffer that the filter before does not use; where the
//!   two do not fit side by side, DMA waits for the core, instead of writing over what it reads.
//!   So it does where the next operator's first tile is not made yet.
//! * Rows of the output are cut evenly, which cuts those of the input up to a row.
//! * B3 holds the im2col buffer of the thesis' kernels, which the project's do not need: with
//!   operators of one input B2 and B3 hold filters together.
//! * Operators that cannot be cut are taken whole. What does not fit its buffer then stays where it
//!   is, as the thesis' large filters do; there such networks had no plan.
//!
//! As in the thesis the core writes outputs to external RAM itself. With [`Outputs::Staged`] they
//! are made in two more buffers and moved by DMA. With [`Overlaid::parts`] filters that fit no buffer
//! come in parts, some output channels each, of which one is fetched while another is used.
//!
//! [`external`]: super::external

mod buffers;
pub mod hazards;
mod partition;
mod pipeline;

use tilewright_board::Board;
use tilewright_plan::{Bytes, LaneKind, Plan};

use buffers::Buffers;
use partition::Operator;

/// How outputs come to external RAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outputs {
    /// The core writes them there.
    Direct,
    /// The core makes them in SRAM, DMA moves them.
    Staged,
}

/// What is overlaid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overlaid {
    /// Tiles of inputs.
    pub inputs: bool,
    /// Filters, where they fit.
    pub filters: bool,
    /// Biases and quantisation parameters.
    pub parameters: bool,
    /// How outputs come to external RAM.
    pub outputs: Outputs,
    /// Whether filters that do not fit come in parts, some output channels each.
    pub parts: bool,
}

impl Overlaid {
    /// All that the thesis overlays.
    pub const THESIS: Self = Self {
        inputs: true,
        filters: true,
        parameters: true,
        outputs: Outputs::Direct,
        parts: false,
    };
    /// All.
    pub const ALL: Self = Self { outputs: Outputs::Staged, ..Self::THESIS };
    /// As [`Self::THESIS`], with filters in parts where they do not fit.
    pub const IN_PARTS: Self = Self { parts: true, ..Self::THESIS };
    /// As [`Self::ALL`], with filters in parts where they do not fit.
    pub const ALL_IN_PARTS: Self = Self { parts: true, ..Self::ALL };
}

/// Why the strategy has no plans for a board; nothing if it has.
#[must_use]
pub fn obstacle(board: &Board) -> Option<String> {
    super::external::obstacle(board).or_else(|| {
        let none = board.engine(LaneKind::Dma).is_none();
        none.then(|| format!("board '{}' has no DMA engine that moves memory", board.id))
    })
}

/// The plan `external`, with what fits `budget` bytes of SRAM overlaid.
#[must_use]
pub fn overlay(external: Plan, board: &Board, budget: Bytes, overlaid: Overlaid) -> Plan {
    overlay_within(external, board, [budget; 2], overlaid)
}

/// As [`overlay`], with tiles of inputs and outputs within the second of these sizes, so that more of
/// the first is left for filters.
#[must_use]
pub fn overlay_within(
    external: Plan,
    board: &Board,
    [budget, of_tiles]: [Bytes; 2],
    overlaid: Overlaid,
) -> Plan {
    let Some(engine) = board.engine(LaneKind::Dma) else { return external };
    let operators = Operator::of(&external);
    let alignment = u64::from(engine.alignment.max(1));
    let partition = partition::partition(&operators, of_tiles.0, alignment, overlaid);
    let buffers = Buffers::new(&operators, &partition, budget.0, overlaid);
    let steps = pipeline::Pipeline::new(&external, buffers, alignment, engine.largest_bytes.0);
    steps.plan(&operators, &partition)
}
