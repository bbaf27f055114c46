//! Order and offsets together: an order of least peak whose arena is no larger than that peak.
//!
//! Not every order of least peak can be placed without loss. When the allocator leaves a gap for
//! the order that the solver found, other orders of the same peak are tried.

use std::sync::Arc;

use super::problem::{OrderError, Placed, Problem};
use super::solve::{Budget, Ordered, Solver};
use thiserror::Error;
use tilewright_allocate::{Goal, MANY, ProblemError, Progress, SLICE, Search};
use tilewright_plan::Bytes;

/// Shares of the budget for offsets: the first order gets four, every other order one.
const SHARES: u64 = 16;
/// Shares for the first order of thousands of buffers: others seldom come nearer.
const SHARES_OF_MANY: u64 = 12;
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
    pub solution: tilewright_allocate::Solution,
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
pub struct Joint {
    problem: Arc<Problem>,
    solver: Solver,
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

impl Joint {
    /// A search for an order and offsets at multiples of `alignment`, with `budget` for the order
    /// and as much again for the offsets.
    #[must_use]
    pub fn new(problem: impl Into<Arc<Problem>>, alignment: u64, budget: Budget) -> Self {
        let problem = problem.into();
        Self {
            solver: Solver::new(Arc::clone(&problem), budget),
            problem,
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
        let (before, _) = self.spent();
        while self.spent().0 - before < units && !(self.ordered && self.is_done()) {
            self.step(units)?;
        }
        Ok(self.ordered && self.is_done())
    }

    fn step(&mut self, units: u64) -> Result<(), ArrangeError> {
        if !self.ordered {
            self.ordered = self.solver.advance(units);
            return Ok(());
        }
        let Some((_, _, search)) = &mut self.under_way else {
            return self.next();
        };
        let slice = SLICE.min(self.left);
        let before = search.units();
        let progress = search.advance(slice);
        // With many buffers one order takes more than a slice.
        let spent = slice.max(search.units() - before);
        self.left = self.left.saturating_sub(spent);
        self.budget = self.budget.saturating_sub(spent);
        if progress == Progress::Done || self.left == 0 {
            self.keep();
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        let (peak, _) = self.solver.standing();
        self.under_way.is_none()
            && self.best.as_ref().is_some_and(|best| {
                best.solution.height <= peak.align_up(self.alignment)
                    || self.tried > TRIES
                    || self.budget == 0
            })
    }

    fn next(&mut self) -> Result<(), ArrangeError> {
        let mut work = 0;
        let order = match self.tried {
            0 => Some(self.solver.answer().order),
            seed => self.solver.another(seed, &mut work),
        };
        self.budget = self.budget.saturating_sub(work);
        self.tried += 1;
        if let Some(order) = order {
            let placed = self.problem.placed(&order)?;
            let buffers = placed.iter().map(|p| p.buffer.clone().aligned(self.alignment)).collect();
            let shares = match self.tried {
                1 if placed.len() > MANY => SHARES_OF_MANY,
                1 => 4,
                _ => 1,
            };
            self.left = shares * self.share;
            self.left = self.left.clamp(1, self.budget.max(1));
            self.under_way = Some((order, placed, Search::new(buffers, Goal::Least)?));
        }
        Ok(())
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

    /// The best arrangement so far; before an order has been placed, the best order with places
    /// that take little work to find.
    ///
    /// # Errors
    /// [`ArrangeError`] if the buffers cannot be placed at all.
    pub fn settled(&self) -> Result<Arranged, ArrangeError> {
        if let Some(best) = &self.best {
            return Ok(best.clone());
        }
        let ordered = self.solver.answer();
        let placed = self.problem.placed(&ordered.order)?;
        let buffers = placed.iter().map(|p| p.buffer.clone().aligned(self.alignment)).collect();
        let solution = tilewright_allocate::least(buffers, 1)?.solution;
        Ok(Arranged { ordered, placed, solution })
    }

    /// The solver of the order.
    #[must_use]
    pub const fn solver(&self) -> &Solver {
        &self.solver
    }

    /// Units of work spent, and those that may be spent, on order and offsets.
    #[must_use]
    pub fn spent(&self) -> (u64, u64) {
        let (spent, work) = self.solver.spent();
        (spent + (work - self.budget), 2 * work)
    }
}

/// Searches until the budget is used up.
///
/// # Errors
/// [`ArrangeError`] if the buffers cannot be placed at all.
pub fn arrange(
    problem: impl Into<Arc<Problem>>,
    alignment: u64,
    budget: Budget,
) -> Result<Arranged, ArrangeError> {
    let mut joint = Joint::new(problem, alignment, budget);
    while !joint.advance(1_000_000)? {}
    joint.settled()
}
