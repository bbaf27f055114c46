//! Offsets for blocks of memory with lifetimes: fast heuristics, exact search, proofs.
//!
//! A [`Search`] is advanced in units of work; [`solve`] runs one to the end of a budget. Every
//! solution can be checked with [`validate`], which shares nothing with the solvers.

pub mod csv;
mod exact;
mod fit;
mod instance;
mod live;
mod part;
mod problem;
mod refuted;
mod search;
mod taste;
mod validate;

pub use live::{Peak, lower_bound, peak};
pub use problem::{Buffer, Gap, ProblemError, Region, Solution, TENSOR_ALIGNMENT, check};
pub use search::{Answer, Goal, Progress, Search, Stop, Witness, solve};
pub use validate::{Fault, validate};

/// Units of work that planning spends on an arena unless told otherwise: some ten
/// milliseconds at worst. Most networks take less than a tenth of it.
pub const PLANNING_BUDGET: u64 = 8_000_000;

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
    let lowest = |answer| match answer {
        Answer::Solved { solution, lower_bound }
        | Answer::Spent { best: Some(solution), lower_bound }
        | Answer::Cancelled { best: Some(solution), lower_bound } => {
            Some(Placement { solution, lower_bound })
        }
        _ => None,
    };
    lowest(solve(buffers, Goal::Least, budget)?).ok_or(ProblemError::NoRoom)
}

#[cfg(test)]
mod tests;
