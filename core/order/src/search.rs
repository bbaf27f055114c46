//! Best-first search for the order of least peak of one part of the graph.
//!
//! States are taken by their peak so far, lowest first, and of equals the one in which most has
//! run. The first complete state is best; until then the lowest open peak is a lower bound.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::cursor::Cursor;
use super::net::Net;

/// How a search ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The best order, and its peak, or the floor if that is higher.
    Best(Vec<u32>, u64),
    /// No order is below the ceiling.
    Nothing,
    /// More states than may be kept.
    Full,
}

struct State {
    peak: u64,
    /// The state before, and the operator that led here, with all that it brought along.
    parent: u32,
    op: u32,
}

/// A search, to be advanced step by step.
pub struct Search {
    net: Net,
    fresh: Cursor,
    cursor: Cursor,
    ceiling: u64,
    words: usize,
    sets: Vec<u64>,
    states: Vec<State>,
    /// State numbers by the hash of their sets; `EMPTY` is none. Its length is a power of two.
    table: Vec<u32>,
    open: BinaryHeap<(Reverse<u64>, u32, Reverse<u32>)>,
    most_states: usize,
    root: Vec<u32>,
}

const EMPTY: u32 = u32::MAX;

impl Search {
    /// A search for an order of `net` whose peak is below `ceiling`. Peaks below `floor` are as
    /// good as `floor`. About `memory` bytes are used at most.
    pub fn new(net: Net, floor: u64, ceiling: u64, memory: usize) -> Self {
        let fresh = Cursor::new(&net);
        let words = fresh.run.0.len();
        // A state takes its set, its record, two table entries and about two heap entries.
        let each = words * 8 + size_of::<State>() + 8 + 2 * size_of::<(u64, u32, u32)>();
        let mut search = Self {
            cursor: fresh.clone(),
            ceiling,
            words,
            sets: Vec::new(),
            states: Vec::new(),
            table: vec![EMPTY; 1024],
            open: BinaryHeap::new(),
            most_states: (memory / each).clamp(2, EMPTY as usize - 1),
            root: Vec::new(),
            net,
            fresh,
        };
        let peak = floor.max(search.cursor.memory.live);
        let mut root = Vec::new();
        search.cursor.close(&search.net, peak, &mut root, &mut 0);
        search.root = root;
        if peak < ceiling {
            search.insert(peak, EMPTY, EMPTY);
        }
        search
    }

    /// No order has a lower peak, as far as is known: the lowest open one.
    pub fn bound(&self) -> u64 {
        self.open.peek().map_or(self.ceiling, |(Reverse(peak), _, _)| *peak)
    }

    /// Searches until it is done or `units` of work are used up, which are taken off.
    pub fn advance(&mut self, units: &mut u64) -> Option<Outcome> {
        while *units > 0 {
            let Some((Reverse(peak), _, Reverse(number))) = self.open.pop() else {
                return Some(Outcome::Nothing);
            };
            if self.states[number as usize].peak < peak {
                continue;
            }
            let set = number as usize * self.words..(number as usize + 1) * self.words;
            if self.sets[set.clone()].iter().map(|w| w.count_ones() as usize).sum::<usize>()
                == self.net.len()
            {
                return Some(Outcome::Best(self.order(number), peak));
            }
            if self.states.len() >= self.most_states {
                self.open.push((Reverse(peak), 0, Reverse(number)));
                return Some(Outcome::Full);
            }
            let mut work = self.net.len() as u64 / 4 + 1;
            let set = self.sets[set].to_vec();
            self.cursor.jump(&self.net, &self.fresh, &set);
            let ready: Vec<u32> = self.cursor.ready.iter().collect();
            let mut trail = Vec::new();
            for op in ready {
                work += 1;
                // The second half needs more where a mirrored operator gives back what it wrote in
                // place of: the state after it has all of its operands.
                let [first, second] =
                    self.cursor.memory.after(&self.net, &self.net.halves[op as usize]);
                let reached = peak.max(first).max(second);
                if reached >= self.ceiling {
                    continue;
                }
                self.cursor.run(&self.net, op);
                self.cursor.close(&self.net, reached, &mut trail, &mut work);
                self.insert(reached, number, op);
                work += self.words as u64 + trail.len() as u64;
                while let Some(op) = trail.pop() {
                    self.cursor.undo(&self.net, op);
                }
                self.cursor.undo(&self.net, op);
            }
            *units = units.saturating_sub(work);
        }
        None
    }

    /// Keeps the cursor's state, if it is new or was reached with a higher peak.
    fn insert(&mut self, peak: u64, parent: u32, op: u32) {
        if self.states.len() * 2 >= self.table.len() {
            self.grow();
        }
        let set = &self.cursor.run.0;
        let count = set.iter().map(|word| word.count_ones()).sum();
        let mut slot = hash(set) as usize & (self.table.len() - 1);
        loop {
            let number = self.table[slot];
            if number == EMPTY {
                break;
            }
            let from = number as usize * self.words;
            if self.sets[from..from + self.words] == set[..] {
                let state = &mut self.states[number as usize];
                if peak < state.peak {
                    *state = State { peak, parent, op };
                    self.open.push((Reverse(peak), count, Reverse(number)));
                }
                return;
            }
            slot = (slot + 1) & (self.table.len() - 1);
        }
        let number = self.states.len() as u32;
        self.table[slot] = number;
        self.sets.extend_from_slice(set);
        self.states.push(State { peak, parent, op });
        self.open.push((Reverse(peak), count, Reverse(number)));
    }

    fn grow(&mut self) {
        let mut table = vec![EMPTY; self.table.len() * 2];
        for number in 0..self.states.len() {
            let set = &self.sets[number * self.words..(number + 1) * self.words];
            let mut slot = hash(set) as usize & (table.len() - 1);
            while table[slot] != EMPTY {
                slot = (slot + 1) & (table.len() - 1);
            }
            table[slot] = number as u32;
        }
        self.table = table;
    }

    /// The operators that lead to a state, in order.
    fn order(&mut self, number: u32) -> Vec<u32> {
        let mut chain = Vec::new();
        let mut at = number;
        while self.states[at as usize].op != EMPTY {
            chain.push(at);
            at = self.states[at as usize].parent;
        }
        let mut cursor = self.fresh.clone();
        let mut order = self.root.clone();
        for op in &order {
            cursor.run(&self.net, *op);
        }
        for number in chain.into_iter().rev() {
            let State { peak, op, .. } = self.states[number as usize];
            cursor.run(&self.net, op);
            order.push(op);
            cursor.close(&self.net, peak, &mut order, &mut 0);
        }
        order
    }
}

/// The set's words, multiplied and folded: equal sets have equal hashes, and that is all that
/// anything relies on.
fn hash(set: &[u64]) -> u64 {
    let mut hash = 0x9e37_79b9_7f4a_7c15u64;
    for word in set {
        hash = (hash ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd);
        hash ^= hash >> 32;
    }
    hash
}
