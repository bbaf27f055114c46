//! Order and offsets together: an order of least peak whose arena is no larger than that peak.
//!
//! Not every order of least peak can be placed without loss. When the allocator leaves a gap for
//! the order that the solver found, other orders of the same peak are tried.

use super::problem::{OrderError, Placed, Problem};
use super::solve::{Budget, Ordered, Solver};
use crate::allocate::{self, Goal, ProblemError, Progress, Search};
use thiserror::Error;
use tilewright_plan::Bytes;

/// Shares of the budget for offsets: the first order gets four, every other order one.
const SHARES: u64 = 16;
/// Orders tried besides the first.
const TRIES: u64 = 48;

/// An order with offsets for all buffers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arranged {
    /// The order and what is known of its peak.
    pub ordered: Ordered,
    /// The buffers.
    pub placed: Vec<Placed>,
    /// Their offsets; its height is the arena's.
    pub solution: allocate::Solution,
}

/// Why there is no arrangement.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ArrangeError {
    /// The allocator refuses the buffers.
    #[error(transparent)]
    Buffers(#[from] ProblemError),
    /// The order is none: a fault of the solver.
    #[error(transparent)]
    Order(#[from] OrderError),
}

/// The search for an order of least peak and for offsets, advanced in units of work.
pub struct Joint<'p> {
    problem: &'p Problem,
    solver: Solver<'p>,
    alignment: u64,
    /// Units left for offsets in all, a share of them, and those left for the order under way.
    budget: u64,
    share: u64,
    left: u64,
    under_way: Option<(Vec<usize>, Vec<Placed>, Search)>,
    best: Option<Arranged>,
    tried: u64,
    ordered: bool,
}

impl<'p> Joint<'p> {
    /// A search for an order and offsets at multiples of `alignment`, with `budget` for the order
    /// and as much again for the offsets.
    #[must_use]
    pub fn new(problem: &'p Problem, alignment: u64, budget: Budget) -> Self {
        Self {
            problem,
            solver: Solver::new(problem, budget),
            alignment,
            budget: budget.work,
            share: budget.work / SHARES,
            left: 0,
            under_way: None,
            best: None,
            tried: 0,
            ordered: false,
        }
    }

    /// Works for about `units`; whether it is done.
    ///
    /// # Errors
    /// [`ArrangeError`] if the buffers cannot be placed at all.
    pub fn advance(&mut self, units: u64) -> Result<bool, ArrangeError> {
        if !self.ordered {
            self.ordered = self.solver.advance(units);
            return Ok(false);
        }
        if self.is_done() {
            return Ok(true);
        }
        let Some((_, _, search)) = &mut self.under_way else {
            return self.next();
        };
        let slice = units.min(self.left);
        let progress = search.advance(slice);
        self.left -= slice;
        self.budget = self.budget.saturating_sub(slice);
        if progress == Progress::Done || self.left == 0 {
            self.keep();
        }
        Ok(self.is_done())
    }

    fn is_done(&self) -> bool {
        let peak = self.solver.answer().peak;
        self.under_way.is_none()
            && self.best.as_ref().is_some_and(|best| {
                best.solution.height <= peak.align_up(self.alignment)
                    || self.tried > TRIES
                    || self.budget == 0
            })
    }

    fn next(&mut self) -> Result<bool, ArrangeError> {
        let order = match self.tried {
            0 => Some(self.solver.answer().order),
            seed => self.solver.another(seed),
        };
        self.tried += 1;
        if let Some(order) = order {
            let placed = self.problem.placed(&order)?;
            let buffers = placed.iter().map(|p| p.buffer.clone().aligned(self.alignment)).collect();
            self.left = if self.tried == 1 { 4 * self.share } else { self.share };
            self.left = self.left.clamp(1, self.budget.max(1));
            self.under_way = Some((order, placed, Search::new(buffers, Goal::Least)?));
        }
        Ok(false)
    }

    fn keep(&mut self) {
        let Some((order, placed, search)) = self.under_way.take() else { return };
        let lower =
            |height: Bytes| self.best.as_ref().is_none_or(|best| height < best.solution.height);
        if let Some(solution) = search.best().filter(|solution| lower(solution.height)) {
            let ordered = Ordered { order, ..self.solver.answer() };
            self.best = Some(Arranged { ordered, placed, solution });
        }
    }

    /// The best arrangement so far; nothing before an order has been placed.
    #[must_use]
    pub fn best(&self) -> Option<&Arranged> {
        self.best.as_ref()
    }
}

/// Searches until the budget is used up.
///
/// # Errors
/// [`ArrangeError`] if the buffers cannot be placed at all.
pub fn arrange(
    problem: &Problem,
    alignment: u64,
    budget: Budget,
) -> Result<Arranged, ArrangeError> {
    let mut joint = Joint::new(problem, alignment, budget);
    while !joint.advance(1_000_000)? {}
    joint.best.ok_or(ArrangeError::Buffers(ProblemError::NoRoom))
}
