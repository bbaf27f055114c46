//! The solver as a state machine: whoever runs it decides how long, in units of work.

use super::fit;
use super::live;
use super::problem::{self, Buffer, ProblemError, Solution};
use tilewright_plan::Bytes;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Any placement that is at most this high.
    Fit(Bytes),
    /// The lowest placement, with proof.
    Least,
}

/// Why no placement is as low as asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Witness {
    /// At `time`, `bytes` are live: those of `buffers`.
    Live {
        /// The point in time.
        time: u64,
        /// Sum of the live bytes.
        bytes: Bytes,
        /// The live buffers, ascending.
        buffers: Vec<usize>,
    },
    /// The regions, alignments and sizes force something higher than asked.
    Forced {
        /// No placement is lower.
        bytes: Bytes,
    },
    /// Every placement was excluded.
    Exhausted {
        /// Units of work that this took.
        units: u64,
    },
}

/// What a search says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A placement as asked.
    Solved {
        /// The placement.
        solution: Solution,
        /// No placement is lower.
        lower_bound: Bytes,
    },
    /// There is no such placement.
    Infeasible(Witness),
    /// The budget is spent.
    Spent {
        /// The lowest placement found; higher than asked.
        best: Option<Solution>,
        /// No placement is lower.
        lower_bound: Bytes,
    },
    /// Cancelled by whoever ran it.
    Cancelled {
        /// The lowest placement found; higher than asked.
        best: Option<Solution>,
        /// No placement is lower.
        lower_bound: Bytes,
    },
}

/// Whether to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// More work may change the answer.
    Working,
    /// It is final.
    Done,
}

/// Why a search is ended before it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// No more units of work.
    Spent,
    /// Nobody wants the answer any more.
    Cancelled,
}

/// A search under way. Its state depends on the problem and the units spent only.
#[derive(Debug)]
pub struct Search {
    buffers: Vec<Buffer>,
    goal: Goal,
    next_order: usize,
    best: Option<Solution>,
    lower_bound: Bytes,
    witness: Option<Witness>,
}

impl Search {
    /// A search for a placement of `buffers`.
    ///
    /// # Errors
    /// [`ProblemError`] if the problem makes no sense.
    pub fn new(buffers: Vec<Buffer>, goal: Goal) -> Result<Self, ProblemError> {
        problem::check(&buffers)?;
        let peak = live::peak(&buffers);
        let lower_bound = live::lower_bound(&buffers);
        let witness = match goal {
            Goal::Fit(capacity) if peak.bytes > capacity => {
                Some(Witness::Live { time: peak.time, bytes: peak.bytes, buffers: peak.buffers })
            }
            Goal::Fit(capacity) if lower_bound > capacity => {
                Some(Witness::Forced { bytes: lower_bound })
            }
            _ => None,
        };
        Ok(Self { buffers, goal, next_order: 0, best: None, lower_bound, witness })
    }

    /// Spends about `units` units of work: a unit is one comparison in an inner loop, some
    /// nanoseconds natively.
    pub fn advance(&mut self, units: u64) -> Progress {
        let mut spent = 0;
        while spent < units {
            if self.is_done() {
                return Progress::Done;
            }
            let Some((key, fit)) = fit::ORDERS.get(self.next_order) else {
                return Progress::Done;
            };
            self.next_order += 1;
            let order = fit::order(&self.buffers, *key);
            if let Some(found) = fit::place(&self.buffers, &order, *fit, &mut spent) {
                self.offer(found);
            }
        }
        if self.is_done() { Progress::Done } else { Progress::Working }
    }

    fn offer(&mut self, found: Solution) {
        if self.best.as_ref().is_none_or(|best| found.height < best.height) {
            self.best = Some(found);
        }
    }

    fn is_done(&self) -> bool {
        let good = |best: &Solution| match self.goal {
            Goal::Fit(capacity) => best.height <= capacity,
            Goal::Least => best.height <= self.lower_bound,
        };
        self.witness.is_some() || self.best.as_ref().is_some_and(good)
    }

    /// The lowest placement so far.
    #[must_use]
    pub const fn best(&self) -> Option<&Solution> {
        self.best.as_ref()
    }

    /// No placement is lower.
    #[must_use]
    pub const fn lower_bound(&self) -> Bytes {
        self.lower_bound
    }

    /// The answer; `stop` says why if the search is not done.
    #[must_use]
    pub fn answer(self, stop: Stop) -> Answer {
        let done = self.is_done();
        let Self { best, lower_bound, witness, .. } = self;
        match (witness, best) {
            (Some(witness), _) => Answer::Infeasible(witness),
            (None, Some(solution)) if done => Answer::Solved { solution, lower_bound },
            (None, best) => match stop {
                Stop::Spent => Answer::Spent { best, lower_bound },
                Stop::Cancelled => Answer::Cancelled { best, lower_bound },
            },
        }
    }
}

/// Searches for at most about `budget` units of work.
///
/// # Errors
/// [`ProblemError`] if the problem makes no sense.
pub fn solve(buffers: Vec<Buffer>, goal: Goal, budget: u64) -> Result<Answer, ProblemError> {
    let mut search = Search::new(buffers, goal)?;
    search.advance(budget);
    Ok(search.answer(Stop::Spent))
}
