//! The order of least peak: first answers, bounds, cuts, and a search between the cuts.

use std::sync::Arc;

use super::bisection::Bisection;
use super::cuts::{self, Finder};
use super::greedy;
use super::net::Net;
use super::problem::Problem;
use super::search::{Outcome, Search};
use super::series_parallel::{self, Relaxed};
use tilewright_plan::Bytes;

/// How much may be spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Units of work in all; one is about ten nanoseconds.
    pub work: u64,
    /// Bytes of memory that a search may take.
    pub memory: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self { work: 400_000_000, memory: 256 << 20 }
    }
}

/// An order and what is known of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ordered {
    /// The operators, as indices into the graph's.
    pub order: Vec<usize>,
    /// Its peak.
    pub peak: Bytes,
    /// No order has a lower peak than this.
    pub lower_bound: Bytes,
}

impl Ordered {
    /// Whether no order is better.
    #[must_use]
    pub fn is_proved(&self) -> bool {
        self.peak == self.lower_bound
    }
}

/// A stretch of the order between two cuts.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    from: usize,
    to: usize,
    /// No order of it is better than this.
    bound: u64,
    /// Whether nothing more can be found out about it with the memory there is.
    given_up: bool,
}

/// A search forwards and one backwards over the same stretch; whichever ends first has solved it.
struct Pair {
    stretch: usize,
    searches: [Option<Search>; 2],
    turn: usize,
}

/// Units of work until the other search of a pair has its turn.
const TURN: u64 = 100_000;

/// Operators around the peak that are put in order anew, from the first width on whenever that has
/// helped.
const WINDOWS: [usize; 5] = [32, 64, 128, 256, 512];

/// Operators from which on an order is made anew around states in which little lives, if cuts leave
/// something open.
const LARGE: usize = 512;

/// Operators from which on that is done before bounds and cuts are looked for, which profit from it.
const MANY: usize = 2048;

/// Times that the series-parallel part is solved, each for the order that the last gave.
const ROUNDS: usize = 4;

enum Stage {
    Greedy(usize),
    Series(usize),
    Bound(Vec<u32>),
    Cut(Finder),
    Bisection(usize, Option<Bisection>),
    Windows(usize),
    Search(Option<Pair>),
    Done,
}

/// Finds the order of least peak, step by step.
pub struct Solver {
    problem: Arc<Problem>,
    mirror: Net,
    budget: Budget,
    spent: u64,
    order: Vec<u32>,
    peak: u64,
    bound: u64,
    /// The operator that needs as much as the bound whatever the order, if that is what it is from.
    needs: Option<u32>,
    stretches: Vec<Stretch>,
    stage: Stage,
}

impl Solver {
    /// A solver of `problem`.
    #[must_use]
    pub fn new(problem: impl Into<Arc<Problem>>, budget: Budget) -> Self {
        let problem = problem.into();
        let net = &problem.net;
        let order: Vec<u32> = problem.default_order().into_iter().map(|o| o as u32).collect();
        let (start, profile) = net.profile(&order);
        let end = profile.last().map_or(start, |[_, live]| *live);
        let peak = net.peak(&order);
        Self {
            mirror: net.mirrored(),
            problem: Arc::clone(&problem),
            budget,
            spent: 0,
            order,
            peak,
            bound: start.max(end),
            needs: None,
            stretches: Vec::new(),
            stage: Stage::Greedy(0),
        }
    }

    /// The best order found, and the best bound.
    #[must_use]
    pub fn answer(&self) -> Ordered {
        Ordered {
            order: self.order.iter().map(|o| *o as usize).collect(),
            peak: Bytes(self.peak),
            lower_bound: Bytes(self.bound.min(self.peak)),
        }
    }

    /// Peak of the best order found, and the best bound.
    #[must_use]
    pub fn standing(&self) -> (Bytes, Bytes) {
        (Bytes(self.peak), Bytes(self.bound.min(self.peak)))
    }

    /// The operator, an index into the graph's, that needs as many bytes as the bound at once
    /// whatever runs before it; nothing if the bound comes from many together.
    #[must_use]
    pub fn witness(&self) -> Option<usize> {
        self.needs.map(|op| op as usize)
    }

    /// Units of work spent, and those that may be spent.
    #[must_use]
    pub const fn spent(&self) -> (u64, u64) {
        (self.spent, self.budget.work)
    }

    /// Takes an order if it is better; whether it was.
    fn take(&mut self, order: Vec<u32>) -> bool {
        let peak = self.problem.net.peak(&order);
        if peak < self.peak {
            (self.order, self.peak) = (order, peak);
            return true;
        }
        false
    }

    /// Raises the bound; whether it is new.
    fn raise(&mut self, bound: u64, needs: Option<u32>) -> bool {
        if bound > self.bound {
            (self.bound, self.needs) = (bound, needs);
            return true;
        }
        false
    }

    /// The operators, those last that need most in the order that there is.
    fn by_need(&self) -> Vec<u32> {
        let (_, profile) = self.problem.net.profile(&self.order);
        let needs = profile.iter().map(|[first, _]| *first);
        let mut ops: Vec<(u64, u32)> = needs.zip(self.order.iter().copied()).collect();
        ops.sort_unstable();
        ops.into_iter().map(|(_, op)| op).collect()
    }

    /// Another order whose peak is that of the answer, or lower: the operators between two cuts
    /// are searched in another sequence for each `seed`. Nothing if none is found with a hundredth
    /// of the budget. The work done is added to `work`.
    #[must_use]
    pub fn another(&self, seed: u64, work: &mut u64) -> Option<Vec<usize>> {
        let net = &self.problem.net;
        let whole = [0, self.order.len()];
        let cuts = self.stretches.iter().flat_map(|s| [s.from, s.to]);
        let mut cuts: Vec<usize> = whole.into_iter().chain(cuts).collect();
        cuts.sort_unstable();
        cuts.dedup();
        let mut order = Vec::with_capacity(net.len());
        let mut run = vec![false; net.len()];
        let mut units = self.budget.work / 100;
        let mut state = seed;
        for pair in cuts.windows(2) {
            let mut ops = self.order[pair[0]..pair[1]].to_vec();
            for last in (1..ops.len()).rev() {
                // Knuth's linear congruential generator.
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                ops.swap(last, ((state >> 33) % (last as u64 + 1)) as usize);
            }
            let part = net.part(&run, None, &ops);
            let mut search = Search::new(part, self.peak, self.peak + 1, self.budget.memory / 16);
            let before = units;
            let outcome = search.advance(&mut units);
            *work += before - units + 4 * net.len() as u64;
            let Some(Outcome::Best(local, _)) = outcome else { return None };
            order.extend(local.into_iter().map(|op| ops[op as usize]));
            for op in &ops {
                run[*op as usize] = true;
            }
        }
        Some(order.into_iter().map(|op| op as usize).collect())
    }

    /// Works for about `units`; whether it is done: the order is proved, or the budget is used up.
    pub fn advance(&mut self, units: u64) -> bool {
        let until = self.spent.saturating_add(units).min(self.budget.work);
        while self.spent < until && !matches!(self.stage, Stage::Done) {
            self.step();
            if self.bound >= self.peak {
                self.stage = Stage::Done;
            }
        }
        matches!(self.stage, Stage::Done) || self.spent >= self.budget.work
    }

    fn step(&mut self) {
        let problem = Arc::clone(&self.problem);
        let net = &problem.net;
        let limit = self.budget.work / 16;
        match &mut self.stage {
            Stage::Greedy(number) => {
                let rule = greedy::RULES[*number / 2];
                let order = if number.is_multiple_of(2) {
                    greedy::order(net, rule, limit, &mut self.spent)
                } else {
                    greedy::order(&self.mirror, rule, limit, &mut self.spent)
                        .map(|order| order.into_iter().rev().collect())
                };
                *number += 1;
                if *number == 2 * greedy::RULES.len() {
                    self.stage = Stage::Series(0);
                }
                order.map(|order| self.take(order));
            }
            Stage::Series(round) => {
                let round = *round;
                let mut has_changed = false;
                if series_parallel::memory(net.len()) <= self.budget.memory / 2 {
                    let Relaxed { bound, order } =
                        series_parallel::relax(net, &self.order, &mut self.spent);
                    has_changed = self.raise(bound, None) | self.take(order);
                }
                self.stage = if has_changed && round + 1 < ROUNDS {
                    Stage::Series(round + 1)
                } else if net.len() > MANY {
                    Stage::Bisection(0, None)
                } else {
                    Stage::Bound(self.by_need())
                };
            }
            Stage::Bound(ops) => {
                // An operator that needs no more than the bound in some order raises no bound.
                let op = ops.pop().filter(|_| self.spent < self.budget.work / 8 * 5);
                match op {
                    Some(op) => {
                        let needed = cuts::needed(net, op, limit, &mut self.spent).unwrap_or(0);
                        let position = self.order.iter().position(|o| *o == op).unwrap_or(0);
                        let (_, profile) = net.profile(&self.order);
                        self.spent += net.len() as u64;
                        if profile[position][0] <= self.bound.max(needed) {
                            ops.clear();
                        }
                        self.raise(needed, Some(op));
                    }
                    None => self.stage = Stage::Cut(Finder::new(net, &self.order)),
                }
            }
            Stage::Cut(finder) => {
                let more = finder.advance(net, &self.order, limit / 16, &mut self.spent);
                if !more || self.spent > self.budget.work / 4 * 3 {
                    let next = if (LARGE + 1..=MANY).contains(&net.len()) {
                        Stage::Bisection(0, None)
                    } else if net.len() > WINDOWS[1] {
                        Stage::Windows(WINDOWS[0])
                    } else {
                        Stage::Search(None)
                    };
                    let Stage::Cut(finder) = std::mem::replace(&mut self.stage, next) else {
                        return;
                    };
                    let cuts = finder.into_cuts();
                    self.stretches = cuts
                        .windows(2)
                        .map(|pair| Stretch {
                            from: pair[0],
                            to: pair[1],
                            bound: self.bound,
                            given_up: false,
                        })
                        .collect();
                }
            }
            Stage::Bisection(round, None) => {
                let round = *round;
                let (at, from, to) = self.around_peak();
                // At first all, then what lies around the peak.
                let reach = if round == 0 { net.len() } else { net.len() / 8 };
                let (from, to) = (from.max(at.saturating_sub(reach)), to.min(at + reach));
                let bisection = Bisection::new(net, &self.order, from, to, &mut self.spent);
                self.stage = Stage::Bisection(round + 1, Some(bisection));
            }
            Stage::Bisection(round, Some(bisection)) => {
                let more = bisection.advance(net, self.bound, limit, &mut self.spent);
                // Before cuts are known, or after them.
                let is_first = self.stretches.is_empty();
                let share = if is_first { 4 } else { 7 };
                let is_late = self.spent > self.budget.work / 8 * share;
                if !more || is_late {
                    let (round, order) = (*round, bisection.order().to_vec());
                    self.stage = if self.take(order) && !is_late {
                        Stage::Bisection(round, None)
                    } else if is_first {
                        Stage::Bound(self.by_need())
                    } else {
                        Stage::Windows(WINDOWS[0])
                    };
                }
            }
            Stage::Windows(width) => {
                let width = *width;
                self.window(width);
            }
            Stage::Search(None) => self.next_stretch(),
            Stage::Search(Some(_)) => self.search(),
            Stage::Done => {}
        }
    }

    /// Looks for a better order of the operators around the peak: what large graphs get, and
    /// quickly, where a search of the whole stretch does not end.
    fn window(&mut self, width: usize) {
        let problem = Arc::clone(&self.problem);
        let net = &problem.net;
        let (at, from, to) = self.around_peak();
        let first = at.saturating_sub(width / 2).max(from);
        let last = (at + width / 2).min(to);
        let mut run = vec![false; net.len()];
        for op in &self.order[..first] {
            run[*op as usize] = true;
        }
        let part = net.part(&run, None, &self.order[first..last]);
        self.spent += 4 * net.len() as u64;
        let limit = (self.budget.work / 400).min(100_000 * width as u64);
        for (net, backwards) in [(part.mirrored(), true), (part, false)] {
            let mut units = limit;
            let memory = self.budget.memory / 8;
            let mut search = Search::new(net, self.bound, self.peak, memory);
            let outcome = search.advance(&mut units);
            self.spent += limit - units;
            match outcome {
                Some(Outcome::Best(mut order, _)) => {
                    if backwards {
                        order.reverse();
                    }
                    let old = self.order[first..last].to_vec();
                    for (place, op) in self.order[first..last].iter_mut().zip(order) {
                        *place = old[op as usize];
                    }
                    self.peak = self.problem.net.peak(&self.order);
                    self.stage = Stage::Windows(WINDOWS[0]);
                    return;
                }
                Some(Outcome::Nothing) => break,
                Some(Outcome::Full) | None => {}
            }
        }
        let wider = WINDOWS.iter().copied().find(|w| *w > width && width < to - from);
        self.stage = wider.map_or(Stage::Search(None), Stage::Windows);
    }

    /// Where the order has its peak, and the stretch between two cuts around it.
    fn around_peak(&mut self) -> (usize, usize, usize) {
        let (_, profile) = self.problem.net.profile(&self.order);
        self.spent += self.order.len() as u64 + 1;
        let peak = |live: &[u64; 2]| live[0].max(live[1]) == self.peak;
        let at = profile.iter().position(peak).unwrap_or(0);
        let around = self.stretches.iter().find(|s| s.from <= at && at < s.to);
        around.map_or((at, 0, self.order.len()), |s| (at, s.from, s.to))
    }

    /// Peak of each stretch in the order that there is.
    fn peaks(&self) -> Vec<u64> {
        let (start, profile) = self.problem.net.profile(&self.order);
        let peak = |stretch: &Stretch| {
            let before = if stretch.from == 0 { start } else { profile[stretch.from - 1][1] };
            profile[stretch.from..stretch.to].iter().flatten().copied().fold(before, u64::max)
        };
        self.stretches.iter().map(peak).collect()
    }

    fn next_stretch(&mut self) {
        let net = &self.problem.net;
        let peaks = self.peaks();
        let worst = (0..peaks.len())
            .filter(|s| !self.stretches[*s].given_up && peaks[*s] > self.bound)
            .max_by_key(|s| (peaks[*s], std::cmp::Reverse(*s)));
        let Some(worst) = worst else {
            self.peak = peaks.iter().copied().max().unwrap_or(self.peak);
            self.stage = Stage::Done;
            return;
        };
        let Stretch { from, to, .. } = self.stretches[worst];
        let mut run = vec![false; net.len()];
        for op in &self.order[..from] {
            run[*op as usize] = true;
        }
        let part = net.part(&run, None, &self.order[from..to]);
        let memory = self.budget.memory / 2;
        let search = |net: Net| Some(Search::new(net, self.bound, peaks[worst], memory));
        let searches = [search(part.mirrored()), search(part)];
        self.stage = Stage::Search(Some(Pair { stretch: worst, searches, turn: 1 }));
    }

    fn search(&mut self) {
        let Stage::Search(Some(pair)) = &mut self.stage else { return };
        if pair.searches.iter().all(Option::is_none) {
            self.stretches[pair.stretch].given_up = true;
            self.stage = Stage::Search(None);
            return;
        }
        let turn = pair.turn;
        pair.turn = 1 - turn;
        let Some(search) = &mut pair.searches[turn] else { return };
        // Always the same slices, so that the answer does not depend on the caller's.
        let mut units = TURN;
        let outcome = search.advance(&mut units);
        self.spent += TURN - units;
        let stretch = pair.stretch;
        let bound = search.bound();
        let Stretch { from, to, .. } = self.stretches[stretch];
        let solved = match outcome {
            None => None,
            Some(Outcome::Full) => {
                pair.searches[turn] = None;
                None
            }
            Some(Outcome::Best(mut order, peak)) => {
                if turn == 0 {
                    order.reverse();
                }
                let old = self.order[from..to].to_vec();
                for (place, op) in self.order[from..to].iter_mut().zip(order) {
                    *place = old[op as usize];
                }
                Some(peak)
            }
            Some(Outcome::Nothing) => Some(self.peaks()[stretch]),
        };
        match solved {
            Some(peak) => {
                self.stretches[stretch].bound = peak;
                self.stage = Stage::Search(None);
            }
            None => {
                let stretch = &mut self.stretches[stretch];
                stretch.bound = stretch.bound.max(bound);
            }
        }
        let least = self.stretches[stretch].bound;
        self.raise(least, None);
        self.peak = self.peaks().into_iter().max().unwrap_or(self.peak);
    }
}
