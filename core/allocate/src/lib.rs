//! Offsets for blocks of memory with lifetimes: fast heuristics, exact search, proofs.
//!
//! A [`Search`] is advanced in units of work; [`solve`] runs one to the end of a budget. Every
//! solution can be checked with [`validate`], which shares nothing with the solvers.
//!
//! Exact search restarts instead of going deep: it decides near its last decision and begins anew after few failures with drawn
//! ranks, since a run that starts badly seldom recovers. Refuted states stay known. Work units, never time, decide what is found.

mod branching;
mod co_located;
pub mod csv;
mod exact;
mod fit;
mod instance;
mod live;
mod part;
mod problem;
mod refuted;
mod repair;
mod search;
mod sweep;
mod validate;

pub use live::{Peak, lower_bound, lower_bound_sharing, peak};
pub use problem::{
    Buffer, Gap, Overlap, ProblemError, Region, Solution, TENSOR_ALIGNMENT, check, check_overlaps,
};
pub use search::{Answer, Goal, MANY, Progress, Search, Stop, Witness, solve};
pub use validate::{Fault, validate, validate_sharing};

/// Units of work that planning spends on an arena unless told otherwise: some ten
/// milliseconds at worst. Most networks take less than a tenth of it.
pub const PLANNING_BUDGET: u64 = 8_000_000;

/// Units of work that planning spends on a search at a time: it is interrupted at the same places
/// however long the caller's slices are, and so finds the same.
pub const SLICE: u64 = 250_000;

/// A low placement with the bound it was held against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// The placement.
    pub solution: Solution,
    /// No placement is lower; equal to the height if that is proved least.
    pub lower_bound: tilewright_plan::Bytes,
}

/// Places `buffers` as low as `budget` units of work allow.
///
/// # Errors
/// [`ProblemError`] if the problem makes no sense, or if its regions leave no room.
pub fn least(buffers: Vec<Buffer>, budget: u64) -> Result<Placement, ProblemError> {
    least_sharing(buffers, Vec::new(), budget)
}

/// Places `buffers`, of which some may overlap, as low as `budget` units of work allow.
///
/// # Errors
/// [`ProblemError`] if the problem makes no sense, or if its regions leave no room.
pub fn least_sharing(
    buffers: Vec<Buffer>,
    overlaps: Vec<Overlap>,
    budget: u64,
) -> Result<Placement, ProblemError> {
    let lowest = |answer| match answer {
        Answer::Solved { solution, lower_bound }
        | Answer::Spent { best: Some(solution), lower_bound }
        | Answer::Cancelled { best: Some(solution), lower_bound } => {
            Some(Placement { solution, lower_bound })
        }
        _ => None,
    };
    let mut search = Search::sharing(buffers, overlaps, Goal::Least)?;
    search.advance(budget);
    lowest(search.answer(Stop::Spent)).ok_or(ProblemError::NoRoom)
}

#[cfg(test)]
mod tests;
