//! The exact solver: whether the items fit below a ceiling.
//!
//! Only canonical placements are looked at: each item lies at its least offset or rests on
//! another (Moffitt, "MiniMalloc", ASPLOS 2023, section 4). Each decision takes an item that no
//! other can get below: it lies as low as it can, or it does not, and then it must rest on an item
//! that is not yet placed. So no placement is met twice.
//!
//! Placed items lie below all neighbours that are not placed yet, so the state is a floor. A
//! section's items that remain must fit one after the other between their least offsets and the
//! ceiling. Parts of time that no remaining item joins are independent: a decision's parent is
//! the decision before it in its own part, and that is where a failure leads back to.

use super::branching::{Heuristic, Walk};
use super::instance::{Instance, Lists};
use super::refuted::{Refuted, State};
use tilewright_plan::Bytes;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Run {
    /// The items are placed.
    Placed,
    /// They fit in no way.
    Exhausted,
    /// Not known yet.
    Unfinished,
}

#[derive(Clone, Copy, Debug)]
enum Change {
    Least(u32, u64),
    Floor(u32, u64),
    Need(u32, u64, u64),
    Parts(u32),
    Part(u32, u32),
    Last(u32, u32),
    Placed(u32),
}

#[derive(Clone, Copy, Debug)]
struct Decision {
    item: u32,
    mark: u32,
    parent: u32,
    delayed: bool,
    state: State,
}

const NONE: u32 = u32::MAX;

/// A search for a placement below a ceiling.
#[derive(Debug)]
pub struct Exact {
    heuristic: Heuristic,
    ceiling: u64,
    /// Largest offset of each item.
    latest: Vec<u64>,
    /// Least offset of each item; its offset if it is placed.
    least: Vec<u64>,
    /// Top of what is placed below each item.
    floor: Vec<u64>,
    placed: Vec<bool>,
    /// Items of each section, the remaining ones first.
    lists: Lists<u32>,
    remaining: Vec<u32>,
    /// Where the remaining items of each section end at least.
    need: Vec<u64>,
    /// Least offset of the remaining items of each section.
    lowest: Vec<u64>,
    /// Remaining items that join a section with the next.
    joins: Vec<u32>,
    /// Part of time of each section, and the last decision of each part.
    part: Vec<u32>,
    last: Vec<u32>,
    stack: Vec<Decision>,
    trail: Vec<Change>,
    dirty: Vec<u32>,
    is_dirty: Vec<bool>,
    held: Vec<(u32, u64)>,
    failed: bool,
    /// Units of work spent.
    pub work: u64,
    /// Failures met.
    pub failures: u64,
    /// How often each item stood in a section that failed.
    pub blame: Vec<u64>,
}

impl Exact {
    /// A search for a placement of `instance` at most `height` high.
    #[must_use]
    pub fn new(instance: &Instance, height: Bytes, heuristic: Heuristic) -> Self {
        let items = instance.items.len();
        let sections = instance.sections;
        let mut joins = vec![0; sections];
        for item in 0..items {
            let (from, to) = hull(instance, item);
            for section in from..to - 1 {
                joins[section as usize] += 1;
            }
        }
        let least: Vec<u64> = instance.items.iter().map(|item| item.least).collect();
        let latest: Option<Vec<u64>> = (0..items).map(|i| instance.latest(i, height)).collect();
        let too_low = latest.is_none();
        let mut search = Self {
            heuristic,
            ceiling: instance.ceiling(height),
            latest: latest.unwrap_or_default(),
            floor: least.clone(),
            least,
            placed: vec![false; items],
            lists: instance.live.clone(),
            remaining: (0..sections).map(|s| instance.live.get(s).len() as u32).collect(),
            need: vec![0; sections],
            lowest: vec![0; sections],
            joins,
            part: vec![0; sections],
            last: vec![NONE],
            stack: Vec::new(),
            trail: Vec::new(),
            dirty: Vec::new(),
            is_dirty: vec![false; sections],
            held: Vec::new(),
            failed: too_low,
            // Making this costs about as much.
            work: 16 * (items + sections) as u64,
            failures: 0,
            blame: vec![0; items],
        };
        if too_low {
            return search;
        }
        search.divide(0, sections as u32, NONE);
        for section in 0..sections as u32 {
            search.soil(section);
        }
        for item in 0..items {
            search.failed |= search.least[item] > search.latest[item];
        }
        search.failed |= !search.settle(instance);
        search
    }

    /// Offsets, once [`Run::Placed`].
    #[must_use]
    pub fn offsets(&self) -> &[u64] {
        &self.least
    }

    /// Goes on for about `units` of work, or until `failures` more failures.
    pub fn run(
        &mut self,
        instance: &Instance,
        units: u64,
        failures: u64,
        refuted: &mut Refuted,
    ) -> Run {
        let (until, most) =
            (self.work.saturating_add(units), self.failures.saturating_add(failures));
        while !self.failed {
            if self.work >= until || self.failures >= most {
                return Run::Unfinished;
            }
            let Some(item) = self.choose(instance) else {
                return Run::Placed;
            };
            let part = self.part[instance.ranges.get(item)[0].0 as usize];
            let parent = self.last[part as usize];
            let mark = self.trail.len() as u32;
            let state = self.state(instance, part);
            let known = refuted.holds(state);
            self.stack.push(Decision { item: item as u32, mark, parent, delayed: known, state });
            if known || !self.place(instance, item) {
                self.failed = !self.back(instance, known, refuted);
            }
        }
        Run::Exhausted
    }

    /// Leads back from a failure of the last decision; false if nothing is left to try.
    fn back(&mut self, instance: &Instance, mut known: bool, refuted: &mut Refuted) -> bool {
        self.failures += 1;
        self.clean();
        let mut at = self.stack.len() as u32 - 1;
        loop {
            let decision = self.stack[at as usize];
            self.undo(instance, decision.mark as usize);
            self.stack.truncate(at as usize + 1);
            if !decision.delayed {
                self.stack[at as usize].delayed = true;
                if self.delay(instance, decision.item as usize) {
                    return true;
                }
                self.clean();
                self.undo(instance, decision.mark as usize);
            }
            if !known {
                refuted.note(decision.state);
            }
            known = false;
            if decision.parent == NONE {
                return false;
            }
            at = decision.parent;
        }
    }

    /// What remains of a part of time.
    fn state(&mut self, instance: &Instance, part: u32) -> State {
        let mut state = State::default();
        for item in 0..self.placed.len() {
            if !self.placed[item] && self.part[instance.ranges.get(item)[0].0 as usize] == part {
                state.add(item as u32, self.least[item], self.least[item] > self.floor[item]);
            }
        }
        self.work += self.placed.len() as u64 / 2;
        state
    }

    /// The item to decide next; nothing if all are placed.
    fn choose(&mut self, instance: &Instance) -> Option<usize> {
        let (from, to) = self.stack.last().map_or((0, 1), |d| hull(instance, d.item as usize));
        let mut best: Option<((u32, u64, u64), usize)> = None;
        self.work += self.need.len() as u64;
        for section in 0..self.need.len() {
            if self.remaining[section] == 0 {
                continue;
            }
            // The part decided last is finished first: what fails then leads back least far.
            let part = self.last[self.part[section] as usize].wrapping_add(1);
            let (at, low) = (section as u32, !self.lowest[section]);
            let outside = u64::from(from.saturating_sub(at).max((at + 1).saturating_sub(to)));
            let key = match self.heuristic.walk {
                Walk::Near => (part, low, !u64::from(at.abs_diff(from))),
                Walk::Adjacent => (part, low, !outside),
                Walk::Local => (part, !outside, low),
            };
            if best.is_none_or(|(most, _)| key > most) {
                best = Some((key, section));
            }
        }
        let (_, section) = best?;
        let remaining = self.remaining[section] as usize;
        let list = self.lists.get(section);
        let lowest = self.lowest[section];
        let same = list[..remaining].iter().filter(|i| self.least[**i as usize] == lowest);
        let mut item = same.map(|i| *i as usize).max_by_key(|i| (self.heuristic.ranks[*i], !*i))?;
        // Go down to an item that no other can get below.
        loop {
            let list = instance.neighbours.get(item);
            self.work += list.len() as u64;
            let below = list.iter().map(|other| *other as usize).find(|other| {
                !self.placed[*other]
                    && self.least[*other] + instance.apart(*other, item) <= self.least[item]
            });
            match below {
                Some(other) => item = other,
                None => return Some(item),
            }
        }
    }

    fn place(&mut self, instance: &Instance, item: usize) -> bool {
        let decision = self.stack.len() as u32 - 1;
        self.placed[item] = true;
        self.trail.push(Change::Placed(item as u32));
        let top = self.least[item] + instance.items[item].size;
        for (from, to) in instance.ranges.get(item) {
            for section in *from..*to {
                self.take(section as usize, item as u32);
                self.soil(section);
            }
        }
        let (from, to) = hull(instance, item);
        let mut parted = false;
        for section in from..to - 1 {
            self.joins[section as usize] -= 1;
            parted |= self.joins[section as usize] == 0;
        }
        let part = self.part[from as usize];
        self.trail.push(Change::Last(part, self.last[part as usize]));
        self.last[part as usize] = decision;
        if parted {
            self.divide_part(from, part, decision);
        }
        let neighbours = instance.neighbours.get(item);
        self.work += neighbours.len() as u64;
        for other in neighbours {
            let other = *other as usize;
            if self.placed[other] || self.floor[other] >= top {
                continue;
            }
            let top = if instance.has_close {
                self.least[item] + instance.apart(item, other)
            } else {
                top
            };
            let alignment = instance.items[other].alignment;
            let floor = if alignment == 1 { top } else { top.div_ceil(alignment) * alignment };
            if self.floor[other] < floor {
                self.trail.push(Change::Floor(other as u32, self.floor[other]));
                self.floor[other] = floor;
                if self.least[other] < floor && !self.raise(instance, other, floor) {
                    return false;
                }
            }
        }
        self.settle(instance)
    }

    fn delay(&mut self, instance: &Instance, item: usize) -> bool {
        let part = self.part[instance.ranges.get(item)[0].0 as usize];
        self.trail.push(Change::Last(part, self.last[part as usize]));
        self.last[part as usize] = self.stack.len() as u32 - 1;
        self.raise(instance, item, self.least[item] + 1) && self.settle(instance)
    }

    /// Raises the least offset of an item; false if that is too high.
    fn raise(&mut self, instance: &Instance, item: usize, least: u64) -> bool {
        self.trail.push(Change::Least(item as u32, self.least[item]));
        self.least[item] = least;
        for (from, to) in instance.ranges.get(item) {
            for section in *from..*to {
                self.soil(section);
            }
        }
        least <= self.latest[item]
    }

    fn soil(&mut self, section: u32) {
        if !self.is_dirty[section as usize] {
            self.is_dirty[section as usize] = true;
            self.dirty.push(section);
        }
    }

    /// Draws the consequences of raised offsets; false if they contradict.
    fn settle(&mut self, instance: &Instance) -> bool {
        let fine = self.support(instance) && self.check_sections(instance);
        self.clean();
        fine
    }

    fn clean(&mut self) {
        for section in self.dirty.drain(..) {
            self.is_dirty[section as usize] = false;
        }
    }

    /// Raises items that lie above their floor until they can rest on an item not yet placed.
    fn support(&mut self, instance: &Instance) -> bool {
        let mut held = std::mem::take(&mut self.held);
        held.clear();
        for item in 0..self.least.len() {
            if !self.placed[item] && self.least[item] > self.floor[item] {
                held.push((item as u32, u64::MAX));
            }
        }
        self.work += self.least.len() as u64 / 8;
        for (item, rest) in &mut held {
            let neighbours = instance.neighbours.get(*item as usize);
            self.work += neighbours.len() as u64;
            for other in neighbours {
                let other = *other as usize;
                if !self.placed[other] && self.least[other] <= self.floor[other] {
                    let lag = instance.apart(other, *item as usize);
                    *rest = (*rest).min(self.least[other] + lag);
                }
            }
        }
        let mut fine = true;
        while !held.is_empty() {
            // Whichever can lie lowest is settled: the others cannot make it lower.
            let at = |(item, rest): (u32, u64)| {
                if rest == u64::MAX {
                    return u64::MAX;
                }
                let alignment = instance.items[item as usize].alignment;
                self.least[item as usize].max(rest.div_ceil(alignment) * alignment)
            };
            let top = |h: &(u32, u64)| {
                // With items that overlap, what rests on one lies above its offset at least.
                let size = if instance.has_close { 0 } else { instance.items[h.0 as usize].size };
                at(*h).saturating_add(size)
            };
            let tops = held.iter().map(top);
            let Some((index, _)) = tops.enumerate().min_by_key(|(_, top)| *top) else { break };
            let (item, rest) = held.swap_remove(index);
            let offset = at((item, rest));
            let item = item as usize;
            if offset == u64::MAX {
                fine = false;
                break;
            }
            if offset > self.least[item] && !self.raise(instance, item, offset) {
                fine = false;
                break;
            }
            if held.is_empty() {
                break;
            }
            self.work += held.len() as u64;
            for (other, rest) in &mut held {
                let top = offset + instance.apart(item, *other as usize);
                if *rest > top && meet(instance, item, *other as usize) {
                    *rest = top;
                }
            }
        }
        self.held = held;
        fine
    }

    /// Whether the remaining items of each changed section still fit below the ceiling.
    fn check_sections(&mut self, instance: &Instance) -> bool {
        for index in 0..self.dirty.len() {
            let section = self.dirty[index] as usize;
            let remaining = self.remaining[section] as usize;
            let list = &mut self.lists.get_mut(section)[..remaining];
            // Nearly sorted since the last time.
            for index in 1..list.len() {
                let item = list[index];
                let least = self.least[item as usize];
                let mut hole = index;
                while hole > 0 && self.least[list[hole - 1] as usize] > least {
                    list[hole] = list[hole - 1];
                    hole -= 1;
                }
                list[hole] = item;
            }
            let mut end = 0;
            for item in list.iter() {
                end = self.least[*item as usize].max(end) + instance.items[*item as usize].size;
            }
            if instance.has_close {
                end = end_sharing(instance, &self.least, list);
            }
            self.work += remaining as u64 + 1;
            let lowest = list.first().map_or(u64::MAX, |item| self.least[*item as usize]);
            if end != self.need[section] || lowest != self.lowest[section] {
                let (need, before) = (self.need[section], self.lowest[section]);
                self.trail.push(Change::Need(section as u32, need, before));
                self.need[section] = end;
                self.lowest[section] = lowest;
            }
            if end > self.ceiling {
                for item in self.lists.get(section)[..remaining].iter() {
                    self.blame[*item as usize] += 1;
                }
                return false;
            }
        }
        true
    }

    /// Moves an item behind the remaining ones of a section.
    fn take(&mut self, section: usize, item: u32) {
        let remaining = self.remaining[section] as usize;
        let list = self.lists.get_mut(section);
        if let Some(at) = list[..remaining].iter().position(|other| *other == item) {
            // Keeps the order of the others.
            list[at..remaining].rotate_left(1);
            self.remaining[section] -= 1;
        }
    }

    /// Divides the part that `section` lies in where nothing joins it any more.
    fn divide_part(&mut self, section: u32, part: u32, decision: u32) {
        let same = |s: &usize| self.part[*s] == part;
        let section = section as usize;
        let from = (0..section).rev().take_while(same).last().unwrap_or(section);
        let to = (section..self.part.len()).take_while(same).last().unwrap_or(section) + 1;
        self.divide(from as u32, to as u32, decision);
    }

    fn divide(&mut self, from: u32, to: u32, decision: u32) {
        self.trail.push(Change::Parts(self.last.len() as u32));
        let mut label = None;
        for section in from..to {
            let part = *label.get_or_insert_with(|| {
                self.last.push(decision);
                self.last.len() as u32 - 1
            });
            self.trail.push(Change::Part(section, self.part[section as usize]));
            self.part[section as usize] = part;
            if self.joins[section as usize] == 0 {
                label = None;
            }
        }
    }

    fn undo(&mut self, instance: &Instance, mark: usize) {
        while self.trail.len() > mark {
            let Some(change) = self.trail.pop() else { break };
            match change {
                Change::Least(item, least) => self.least[item as usize] = least,
                Change::Floor(item, floor) => self.floor[item as usize] = floor,
                Change::Need(section, need, lowest) => {
                    self.need[section as usize] = need;
                    self.lowest[section as usize] = lowest;
                }
                Change::Parts(parts) => self.last.truncate(parts as usize),
                Change::Part(section, part) => self.part[section as usize] = part,
                Change::Last(part, last) => self.last[part as usize] = last,
                Change::Placed(item) => {
                    self.placed[item as usize] = false;
                    for (from, to) in instance.ranges.get(item as usize) {
                        for section in *from..*to {
                            self.remaining[section as usize] += 1;
                        }
                    }
                    let (from, to) = hull(instance, item as usize);
                    for section in from..to - 1 {
                        self.joins[section as usize] += 1;
                    }
                }
            }
        }
    }
}

fn hull(instance: &Instance, item: usize) -> (u32, u32) {
    let ranges = instance.ranges.get(item);
    (ranges[0].0, ranges[ranges.len() - 1].1)
}

/// Where items, ascending by their least offsets, end at least: above each, those behind it take
/// the sum of their sizes less what they may share.
fn end_sharing(instance: &Instance, least: &[u64], list: &[u32]) -> u64 {
    let mut end = 0;
    for (index, item) in list.iter().enumerate() {
        let shared = instance.shared(*item, &list[..index]);
        let size = instance.items[*item as usize].size;
        end = (least[*item as usize] + size).max((end + size).saturating_sub(shared));
    }
    end
}

fn meet(instance: &Instance, a: usize, b: usize) -> bool {
    let (a, b) = (instance.ranges.get(a), instance.ranges.get(b));
    a.iter().any(|a| b.iter().any(|b| a.0 < b.1 && b.0 < a.1))
}
