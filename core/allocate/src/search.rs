//! The solver as a state machine: whoever runs it decides how long, in units of work.

use super::co_located::{self, MANNERS, Manner};
use super::fit;
use super::live;
use super::part::{Part, UNLIMITED};
use super::problem::{self, Buffer, Overlap, ProblemError, Solution};
use super::repair::{Repair, Step};
use super::sweep::{self, SWEEPS};
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

/// Orders of [`fit::ORDERS`] tried before exact search; the others are for what is too large.
const QUICK_ORDERS: usize = 3;

/// Buffers from which on sweeps and all orders come first: a descent of exact search takes longer
/// than they together.
pub const MANY: usize = 4096;

/// A search under way. Its state depends on the problem and the units spent only.
#[derive(Debug)]
pub struct Search {
    buffers: Vec<Buffer>,
    overlaps: Vec<Overlap>,
    goal: Goal,
    /// More sweeps to try; none if there are few buffers.
    sweeps: std::slice::Iter<'static, (bool, fit::Fit)>,
    /// As many more that look ahead.
    manners: std::slice::Iter<'static, Manner>,
    /// What makes the best of them lower; nothing if there are few buffers, or at its end.
    repair: Option<Repair>,
    /// Orders to try, how many of them were, and how many come before exact search.
    orders: &'static [(fit::Key, fit::Fit)],
    next_order: usize,
    quick_orders: usize,
    parts: Vec<Part>,
    witness: Option<Witness>,
    units: u64,
}

impl Search {
    /// A search for a placement of `buffers`.
    ///
    /// # Errors
    /// [`ProblemError`] if the problem makes no sense.
    pub fn new(buffers: Vec<Buffer>, goal: Goal) -> Result<Self, ProblemError> {
        Self::sharing(buffers, Vec::new(), goal)
    }

    /// A search for a placement of `buffers`, of which some may overlap.
    ///
    /// # Errors
    /// [`ProblemError`] if the problem makes no sense.
    pub fn sharing(
        buffers: Vec<Buffer>,
        overlaps: Vec<Overlap>,
        goal: Goal,
    ) -> Result<Self, ProblemError> {
        problem::check(&buffers)?;
        // More than any placement is high, so that heights that are not known yet stay above.
        let goal = match goal {
            Goal::Fit(capacity) => Goal::Fit(capacity.min(Bytes(UNLIMITED - 1))),
            Goal::Least => goal,
        };
        problem::check_overlaps(&buffers, &overlaps)?;
        let parts = Part::all(&buffers, &overlaps);
        let are_many = buffers.len() > MANY;
        let is_swept = are_many && overlaps.is_empty() && sweep::suits(&buffers);
        let mut search = Self {
            buffers,
            overlaps,
            goal,
            sweeps: if is_swept { SWEEPS.iter() } else { [].iter() },
            manners: if is_swept { MANNERS.iter() } else { [].iter() },
            repair: None,
            orders: if are_many { &fit::ORDERS_OF_MANY } else { &fit::ORDERS },
            next_order: 0,
            quick_orders: if are_many { fit::ORDERS_OF_MANY.len() } else { QUICK_ORDERS },
            parts,
            witness: None,
            units: 0,
        };
        if let Goal::Fit(capacity) = goal {
            let peak = live::peak_sharing(&search.buffers, &search.overlaps);
            if peak.bytes > capacity {
                let live::Peak { time, bytes, buffers } = peak;
                search.witness = Some(Witness::Live { time, bytes, buffers });
            } else if search.lower_bound() > capacity {
                search.witness = Some(Witness::Forced { bytes: search.lower_bound() });
            }
        }
        Ok(search)
    }

    /// Spends about `units` units of work: a unit is one comparison in an inner loop, some
    /// nanoseconds natively.
    pub fn advance(&mut self, units: u64) -> Progress {
        let until = self.units.saturating_add(units);
        while self.units < until && !self.is_done() {
            if let Some(sweep) = self.sweeps.next() {
                self.units += self.buffers.len() as u64;
                let found = sweep::place(&self.buffers, *sweep, &mut self.units);
                self.parts.iter_mut().for_each(|part| part.offer(&found.offsets));
                continue;
            }
            if let Some(manner) = self.manners.next() {
                let least = self.lower_bound().0;
                let known = self.best().map_or(least, |best| best.height.0);
                let ceiling = least + known.saturating_sub(least) / 8 * manner.eighths;
                self.units += self.buffers.len() as u64;
                let found = co_located::place(&self.buffers, *manner, ceiling, &mut self.units);
                self.parts.iter_mut().for_each(|part| part.offer(&found.offsets));
                if self.manners.len() == 0 {
                    self.repair = self.best().map(Repair::new);
                }
                continue;
            }
            if let Some(repair) = &mut self.repair {
                let least = self.parts.iter().map(|part| part.lower_bound).max();
                let least = least.unwrap_or_default();
                match repair.advance(&self.buffers, least, &mut self.units) {
                    Step::Open => {}
                    Step::Lower => {
                        let offsets = &repair.best().offsets;
                        self.parts.iter_mut().for_each(|part| part.offer(offsets));
                    }
                    Step::Done => self.repair = None,
                }
                continue;
            }
            let (goal, only_goal) = self.aim();
            let searchable = |part: &Part| !part.closed && !part.is_done(goal, only_goal);
            if self.next_order >= self.quick_orders && self.parts.iter().any(searchable) {
                self.deepen(until);
                continue;
            }
            let Some((key, fit)) = self.orders.get(self.next_order) else { break };
            self.next_order += 1;
            let order = fit::order(&self.buffers, *key);
            let found = if self.overlaps.is_empty() {
                fit::place(&self.buffers, &order, *fit, &mut self.units)
            } else {
                fit::place_sharing(&self.buffers, &self.overlaps, &order, &mut self.units)
            };
            if let Some(found) = found {
                self.parts.iter_mut().for_each(|part| part.offer(&found.offsets));
            }
        }
        if self.is_done() { Progress::Done } else { Progress::Working }
    }

    /// Works on the part under way, or on the one that stands out most.
    fn deepen(&mut self, until: u64) {
        let (goal, only_goal) = self.aim();
        let open = |part: &&mut Part| !part.closed && !part.is_done(goal, only_goal);
        let open = self.parts.iter_mut().filter(open);
        let Some(part) = open.max_by_key(|part| (part.is_running(), part.height())) else { return };
        self.units += part.advance(goal, only_goal, until - self.units);
        if let Goal::Fit(capacity) = self.goal
            && part.lower_bound > capacity
        {
            self.witness = Some(Witness::Exhausted { units: self.units });
        }
    }

    /// The height that each part is to reach, and whether nothing above it is of use.
    fn aim(&self) -> (Bytes, bool) {
        match self.goal {
            Goal::Fit(capacity) => (capacity, true),
            Goal::Least => (self.lower_bound(), false),
        }
    }

    fn is_done(&self) -> bool {
        let (goal, only_goal) = self.aim();
        let tried = self.next_order == self.orders.len();
        let done = |part: &Part| part.is_done(goal, only_goal) || (part.closed && tried);
        self.witness.is_some() || self.parts.iter().all(done)
    }

    /// The lowest placement so far, of each part on its own.
    #[must_use]
    pub fn best(&self) -> Option<Solution> {
        let start =
            |b: &Buffer| b.region.map_or(0, |r| r.start.div_ceil(b.alignment) * b.alignment);
        let mut offsets: Vec<u64> = self.buffers.iter().map(start).collect();
        for part in &self.parts {
            for (index, offset) in part.indices.iter().zip(&part.best.as_ref()?.offsets) {
                offsets[*index] = *offset;
            }
        }
        Some(Solution::of(&self.buffers, offsets))
    }

    /// No placement is lower.
    #[must_use]
    pub fn lower_bound(&self) -> Bytes {
        self.parts.iter().map(|part| part.lower_bound).max().unwrap_or_default()
    }

    /// Units of work spent.
    #[must_use]
    pub const fn units(&self) -> u64 {
        self.units
    }

    /// The answer; `stop` says why if the search is not done.
    #[must_use]
    pub fn answer(self, stop: Stop) -> Answer {
        let (best, lower_bound) = (self.best(), self.lower_bound());
        let enough = |height: Bytes| match self.goal {
            Goal::Fit(capacity) => height <= capacity,
            Goal::Least => height <= lower_bound,
        };
        let units = self.units;
        match (self.witness, best) {
            (Some(witness), _) => Answer::Infeasible(witness),
            (None, Some(solution)) if enough(solution.height) => {
                Answer::Solved { solution, lower_bound }
            }
            (None, None) if self.parts.iter().any(|part| part.impossible) => {
                Answer::Infeasible(Witness::Exhausted { units })
            }
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
