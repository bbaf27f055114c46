//! A stretch of time that shares no buffer with others: placed on its own.

use super::branching::{Heuristics, luby};
use super::exact::{Exact, Run};
use super::instance::Instance;
use super::live;
use super::problem::{Buffer, Overlap, Solution};
use super::refuted::Refuted;
use tilewright_plan::Bytes;

/// Failures after which the shortest run ends.
const SHORTEST_RUN: u64 = 60;

/// Heights beyond all that a checked problem can need.
pub const UNLIMITED: u64 = 1 << 62;

/// A height to try, with what is known of it.
#[derive(Debug)]
struct Target {
    height: Bytes,
    runs: u64,
    refuted: Refuted,
    /// Its own: what fails at one height says little of another.
    heuristics: Heuristics,
}

/// The buffers of a stretch, and what is known of their placement.
#[derive(Debug)]
pub struct Part {
    /// Index of each buffer in the problem.
    pub indices: Vec<usize>,
    buffers: Vec<Buffer>,
    overlaps: Vec<Overlap>,
    /// No placement is lower.
    pub lower_bound: Bytes,
    /// The lowest placement found.
    pub best: Option<Solution>,
    /// Made when exact search begins; nothing if the stretch is too large for it.
    search: Option<Box<Deep>>,
    /// The stretch is too large for exact search.
    pub closed: bool,
    /// Nothing keeps every buffer in its region.
    pub impossible: bool,
}

/// What exact search keeps.
#[derive(Debug)]
struct Deep {
    instance: Instance,
    /// The bound, the middle, and just below the best.
    targets: [Target; 3],
    turn: usize,
    run: Option<(usize, Exact, u64)>,
}

impl Part {
    /// The parts of a problem. Buffers never in use are in none.
    #[must_use]
    pub fn all(problem: &[Buffer], overlaps: &[Overlap]) -> Vec<Self> {
        let used = |i: &usize| problem[*i].bytes.0 > 0 && problem[*i].first < problem[*i].end;
        let mut order: Vec<usize> = (0..problem.len()).filter(used).collect();
        order.sort_by_key(|index| (problem[*index].first, *index));
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut end = 0;
        for index in order {
            match groups.last_mut() {
                Some(group) if problem[index].first < end => group.push(index),
                _ => groups.push(vec![index]),
            }
            end = end.max(problem[index].end);
        }
        let part = |indices: Vec<usize>| {
            let buffers: Vec<Buffer> = indices.iter().map(|i| problem[*i].clone()).collect();
            let overlaps: Vec<Overlap> = overlaps
                .iter()
                .filter_map(|overlap| {
                    let local = |index: usize| indices.iter().position(|known| *known == index);
                    let [first, second] = overlap.buffers.map(local);
                    Some(Overlap { buffers: [first?, second?], ..*overlap })
                })
                .collect();
            let lower_bound = live::lower_bound_sharing(&buffers, &overlaps);
            Self {
                indices,
                buffers,
                overlaps,
                lower_bound,
                best: None,
                search: None,
                closed: false,
                impossible: false,
            }
        };
        groups.into_iter().map(part).collect()
    }

    /// Takes over a placement of the whole problem if it is lower here.
    pub fn offer(&mut self, offsets: &[u64]) {
        let offsets = self.indices.iter().map(|index| offsets[*index]).collect();
        self.keep(Solution::of(&self.buffers, offsets));
    }

    fn keep(&mut self, found: Solution) {
        if self.best.as_ref().is_none_or(|best| found.height < best.height) {
            self.best = Some(found);
        }
    }

    /// The height of the lowest placement found.
    #[must_use]
    pub fn height(&self) -> Bytes {
        self.best.as_ref().map_or(Bytes(UNLIMITED), |best| best.height)
    }

    /// Searches for about `units` of work for a placement at most `goal` high, or, unless
    /// `only_goal`, for one as near to it as can be; gives the work spent. It stops at the end of
    /// a run: each is short, and the next starts anew; how long they are follows Luby's sequence.
    pub fn advance(&mut self, goal: Bytes, only_goal: bool, units: u64) -> u64 {
        if self.search.is_none() {
            let Some(instance) = Instance::of(&self.buffers, &self.overlaps) else {
                self.closed = true;
                return 1;
            };
            let bound = instance.lower_bound().max(self.lower_bound);
            self.lower_bound = instance.height_from(bound);
            let targets = std::array::from_fn(|_| Target {
                height: Bytes(0),
                runs: 0,
                refuted: Refuted::default(),
                heuristics: Heuristics::new(&instance),
            });
            self.search = Some(Box::new(Deep { instance, targets, turn: 0, run: None }));
            if self.is_done(goal, only_goal) {
                return 1;
            }
        }
        self.step(goal, only_goal, units).max(1)
    }

    /// Whether a run has begun and not ended.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.search.as_ref().is_some_and(|search| search.run.is_some())
    }

    /// Whether more work cannot bring the height nearer to `goal`.
    #[must_use]
    pub fn is_done(&self, goal: Bytes, only_goal: bool) -> bool {
        let height = self.height();
        let hopeless = if only_goal { self.lower_bound > goal } else { height <= self.lower_bound };
        self.impossible || height <= goal || hopeless
    }

    /// Goes on with a run, or starts one.
    fn step(&mut self, goal: Bytes, only_goal: bool, units: u64) -> u64 {
        let height = self.height();
        let Some(search) = &mut self.search else { return units };
        let mut before = 0;
        let (turn, mut exact, failures) = match search.run.take() {
            Some(run) => {
                before = run.1.work;
                run
            }
            None => {
                let turn = if only_goal || height.0 == UNLIMITED { 2 } else { search.turn };
                search.turn = (search.turn + 1) % search.targets.len();
                let lowest = goal.max(self.lower_bound).0;
                let wanted = Bytes(match turn {
                    0 => lowest,
                    1 => lowest + (height.0 - 1 - lowest) / 2,
                    _ if only_goal => goal.0,
                    _ => height.0 - 1,
                });
                let target = &mut search.targets[turn];
                // What does not fit below a height does not fit below a lower one.
                if wanted > target.height {
                    target.refuted = Refuted::default();
                }
                target.height = wanted;
                target.runs += 1;
                let heuristic = target.heuristics.next();
                let exact = Exact::new(&search.instance, wanted, heuristic);
                (turn, exact, SHORTEST_RUN * luby(target.runs))
            }
        };
        let target = &mut search.targets[turn];
        let left = failures.saturating_sub(exact.failures);
        let ended = exact.run(&search.instance, units, left, &mut target.refuted);
        let spent = exact.work - before;
        let height = target.height;
        match ended {
            Run::Unfinished if exact.failures < failures => {
                search.run = Some((turn, exact, failures));
                return spent;
            }
            Run::Unfinished => {}
            Run::Exhausted => {
                self.lower_bound = search.instance.height_from(Bytes(height.0.saturating_add(1)));
                self.impossible = height.0 >= UNLIMITED - 1;
            }
            Run::Placed => {
                let found = search.instance.solution(&self.buffers, exact.offsets());
                self.best = Some(found);
            }
        }
        target.heuristics.learn(&exact.blame, exact.failures);
        spent
    }
}
