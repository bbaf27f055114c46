//! `overlay`: operands are brought from external memory into fast buffers in SRAM, one tile ahead of
//! the core (TinyOps; Sadiq's thesis, chapter 4).
//!
//! Activations lie in external RAM and weights in external flash, as in [`external`]. Operators are
//! cut along the rows of their output (algorithm 3, in `partition`), a tile of input comes with the
//! rows that its windows share with the next, and DMA fetches the next tile, across the borders of
//! operators, while the core computes (algorithm 4, in `cuts`). Filters are overlaid where they
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
//! Where some activations lie in SRAM ([`spilled`](super::spill)), the buffers lie above those that
//! live, at the same places for a phase of operators that leave about as much.
//!
//! [`external`]: super::external

mod buffers;
mod cuts;
pub mod partition;

use crate::narrow::narrow;
use std::ops::Range;

use tilewright_board::Board;
use tilewright_plan::{Bytes, LaneKind, Plan, PlannedTensor, Role, Space};
use tilewright_report::Outputs;

use super::aliasing_search::Candidate;
use super::external::{self, LINE};
use super::{Asked, Brings, Technique};
use crate::recipe::Made;
use crate::schedule::cut::Group;
use crate::schedule::operator::Operator;
use crate::schedule::{Layout, Schedule, place};
use crate::{PlanError, Stop};
use buffers::buffers;
use cuts::{Phase, cuts, given};
use partition::TileSizes;

/// The strategy.
pub const TECHNIQUE: Technique = Technique {
    name: "overlay",
    brings_weights: Brings::From(Space::ExternalFlash),
    missing,
    write,
    ..external::TECHNIQUE
};

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
    /// Nothing: all is used where it is.
    pub const NOTHING: Self = Self {
        inputs: false,
        filters: false,
        parameters: false,
        outputs: Outputs::Direct,
        parts: false,
    };
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

/// What the strategy needs that a board does not have; nothing if the board has all.
#[must_use]
pub fn missing(board: &Board) -> Option<&'static str> {
    let is_there = board.engine(LaneKind::Dma).is_some();
    external::missing(board).or((!is_there).then_some("a DMA engine that moves memory"))
}

/// The recipe of tensors in external RAM, with what fits SRAM overlaid.
fn write(asked: &Asked<'_>, found: Candidate) -> Result<Made, PlanError> {
    let Asked { model, board, options } = *asked;
    let external = external::plan(model, board, found)?;
    let budget = options.arena_on(board);
    overlay_within(external, board, budget, options.overlaid, &options.stop)
}

/// A plan with what fits `budget` bytes of SRAM overlaid.
///
/// # Errors
/// [`PlanError::Stopped`] if nobody waits any more.
pub fn overlay_within(
    external: Made,
    board: &Board,
    budget: Bytes,
    overlaid: Overlaid,
    stop: &Stop,
) -> Result<Made, PlanError> {
    let Some(alignment) = alignment(board) else { return Ok(external) };
    let operators = Operator::of(&external.plan);
    // Filters of operators with one input lie where the second input of others does.
    let partition = partition::partition(
        &operators,
        [budget.0, 4],
        alignment,
        overlaid,
        &mut TileSizes::default(),
    );
    let slots = buffers(&operators, &partition, [0, budget.0], overlaid);
    let phase = Phase { operators: 0..operators.len(), partition, slots, early: false };
    overlaid_with(&external, &operators, (&[phase], overlaid), (board, stop))
}

/// What DMA's copies begin and end at multiples of; nothing on a board without it.
fn alignment(board: &Board) -> Option<u64> {
    board.engine(LaneKind::Dma).map(|engine| u64::from(engine.alignment.max(1)))
}

/// The plan with what these phases bring and take; as it is if their buffers do not hold that.
fn overlaid_with(
    external: &Made,
    operators: &[Operator<'_>],
    (phases, overlaid): (&[Phase], Overlaid),
    (board, stop): (&Board, &Stop),
) -> Result<Made, PlanError> {
    let Made { recipe, plan: lowered } = external;
    let (given, unit) = (given(lowered), alignment(board).unwrap_or(1));
    let (mut groups, mut places, mut tiles) = (Vec::new(), Vec::new(), 0);
    for phase in phases {
        places.push(place::Phase { first: tiles, slots: phase.slots });
        let cuts = cuts(operators, phase, overlaid, (&given, unit));
        tiles += cuts.iter().map(|cut| narrow::<u32>(cut.rows.len())).sum::<u32>();
        groups.extend(cuts.into_iter().map(Group::from));
    }
    let schedule = Schedule { groups, layout: Layout::Slots(places), frames: None };
    let work = schedule.work(lowered, operators);
    Ok(match schedule.plan(lowered, &work, board, stop)? {
        Some(plan) => Made::scheduled(recipe.static_layout.clone(), schedule, plan),
        None => external.clone(),
    })
}

/// How SRAM is divided where activations lie in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beside {
    /// The part of what they leave that filters may take, if they need it; eighths.
    pub filters: u64,
    /// Operators that follow each other have their buffers at the same places as long as what they
    /// leave differs by no more than this part of the budget; eighths. 0: each has its own.
    pub apart: u64,
    /// Whether the first tile is cut once more, so that the core begins early.
    pub early: bool,
    /// Of the first operators that take or give something outside of the chip those, a bit each, where buffers
    /// move though they need not, or stay though they would move.
    pub turned: u64,
}

/// Operators of [`Beside::turned`].
pub const MOST_TURNED: usize = u64::BITS as usize;

/// As [`overlay_within`], for a plan some of whose activations lie in SRAM: the buffers lie above those that
/// live.
///
/// # Errors
/// As [`overlay_within`].
pub fn overlay_beside(
    spilled: Made,
    board: &Board,
    budget: Bytes,
    (beside, overlaid): (Beside, Overlaid),
    known: &mut TileSizes,
    stop: &Stop,
) -> Result<Made, PlanError> {
    let Some(alignment) = alignment(board) else { return Ok(spilled) };
    let plan = &spilled.plan;
    let operators = Operator::of(plan);
    let tops: Vec<u64> = operators.iter().map(|operator| top(plan, operator)).collect();
    let runs = match beside.apart {
        0 => (0..operators.len()).map(|index| index..index + 1).collect(),
        apart => alike(&tops, budget.0 / 8 * apart),
    };
    let moving = (0..operators.len()).filter(|index| moves(&operators[*index]));
    let runs = turned(runs, operators.len(), moving, beside.turned);
    let phases = runs.into_iter().map(|range| {
        let (own, tops) = (&operators[range.clone()], &tops[range.clone()]);
        let base = tops.iter().copied().max().unwrap_or(0);
        let pool = budget.0.saturating_sub(base);
        let filters = buffers::together(own, pool).min(pool / 8 * beside.filters);
        let two = own.iter().any(|operator| operator.inputs().nth(1).is_some());
        let inputs = if two { 4 } else { 2 };
        let partition =
            partition::partition(own, [pool - filters, inputs], alignment, overlaid, known);
        let slots = buffers(own, &partition, [base, budget.0], overlaid);
        let early = beside.early && range.start == 0;
        Phase { operators: range, partition, slots, early }
    });
    let phases: Vec<Phase> = phases.collect();
    overlaid_with(&spilled, &operators, (&phases, overlaid), (board, stop))
}

/// Where the activations in SRAM end that live with an operator.
fn top(plan: &Plan, operator: &Operator<'_>) -> u64 {
    let layer = u32::from(operator.step.layer);
    let lives = |tensor: &&PlannedTensor| {
        tensor.space == Space::Arena && tensor.first <= layer && layer < tensor.end
    };
    let ends = plan.tensors.iter().filter(lives).map(|tensor| tensor.offset + tensor.bytes.0);
    ends.max().unwrap_or(0).next_multiple_of(LINE)
}

/// Whether tiles of an operator are fetched or stored.
fn moves(operator: &Operator<'_>) -> bool {
    operator.operands(Role::Input).chain(operator.operands(Role::Output)).next().is_some()
}

/// How many operators of a plan take or give something outside of the chip.
#[must_use]
pub fn moving(plan: &Plan) -> usize {
    Operator::of(plan).iter().filter(|operator| moves(operator)).count()
}

/// Runs of `count` operators of which those in `moving` that `turned` has a bit of begin one where they did not,
/// and the reverse.
fn turned(
    runs: Vec<Range<usize>>,
    count: usize,
    moving: impl Iterator<Item = usize>,
    turned: u64,
) -> Vec<Range<usize>> {
    let mut begins = vec![false; count];
    for run in runs {
        begins[run.start] = true;
    }
    let chosen = moving.take(MOST_TURNED).enumerate();
    for (_, index) in chosen.filter(|(bit, index)| turned >> bit & 1 == 1 && *index > 0) {
        begins[index] = !begins[index];
    }
    let starts: Vec<usize> = (0..count).filter(|index| begins[*index]).collect();
    let ends = starts.iter().skip(1).copied().chain([count]);
    starts.iter().zip(ends).map(|(start, end)| *start..end).collect()
}

/// Runs of numbers that differ by at most `most`.
fn alike(numbers: &[u64], most: u64) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    let [mut least, mut largest] = [0; 2];
    for (index, number) in numbers.iter().enumerate() {
        let with = [least.min(*number), largest.max(*number)];
        match runs.last_mut() {
            Some(run) if with[1] - with[0] <= most => {
                run.end = index + 1;
                [least, largest] = with;
            }
            _ => {
                runs.push(index..index + 1);
                [least, largest] = [*number; 2];
            }
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::{alike, turned};

    #[test]
    fn a_phase_ends_where_numbers_differ_too_much() {
        assert_eq!(alike(&[0, 10, 5, 16, 12, 0], 10), [0..3, 3..5, 5..6]);
        assert_eq!(alike(&[3, 9, 0, 10], 9), [0..3, 3..4]);
        assert_eq!(alike(&[], 9), []);
    }

    #[test]
    fn buffers_move_where_they_are_told_to_and_stay_where_they_would_move() {
        let runs = || vec![0..3, 3..5, 5..6];
        let moved = |mask| turned(runs(), 6, [0, 1, 3, 5].into_iter(), mask);
        assert_eq!(moved(0), runs());
        assert_eq!(moved(0b0010), [0..1, 1..3, 3..5, 5..6]);
        assert_eq!(moved(0b0100), [0..5, 5..6]);
        assert_eq!(
            moved(0b1101),
            std::iter::once(0..6).collect::<Vec<_>>(),
            "the first begins one always"
        );
        assert_eq!(turned(Vec::new(), 0, std::iter::empty(), 7), []);
    }
}
