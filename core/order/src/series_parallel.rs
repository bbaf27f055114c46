//! A bound and an order from the series-parallel part of a graph.
//!
//! Two things are let go, so that the rest can be solved exactly ([`super::merge`]): a buffer that
//! several operators read lives until one of them alone, the last of a known order; and where
//! operators wait for each other in no series-parallel way, some waiting is given up. Both only
//! lower the bytes that live, so the least peak of what is left is a bound; its order, put right
//! where waiting was given up, is often better than the known one, and for trees and what is made
//! of them in series and parallel it is best.

use std::collections::BinaryHeap;

use super::cursor::Bits;
use super::merge::{self, Segment, Segments};
use super::net::{Event, Net};

/// Times that waiting is given up one by one; then all that makes no forest is.
const MOST_GIVEN_UP: usize = 200;

/// What came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relaxed {
    /// No order has a lower peak.
    pub bound: u64,
    /// An order of all operators.
    pub order: Vec<u32>,
}

/// Bytes of memory that [`relax`] takes for the waiting of so many operators.
pub fn memory(operators: usize) -> usize {
    operators.saturating_mul(operators) / 8
}

/// The bound and the order that follow from `known`, an order of `net`.
pub fn relax(net: &Net, known: &[u32], work: &mut u64) -> Relaxed {
    let segments = segments_of(net, known);
    *work += 8 * net.len() as u64;
    let mut poset = Poset::new(net, known, segments, work);
    poset.reduce(work);
    let sequence = poset.sequence();
    let start = super::net::Memory::new(net).live;
    let bound = start.saturating_add_signed(merge::peak(&sequence));
    let mut place = vec![0u32; net.len()];
    for (position, op) in (0u32..).zip(sequence.iter().flat_map(|segment| &segment.ops)) {
        place[*op as usize] = position;
    }
    *work += 16 * net.len() as u64;
    Relaxed { bound, order: by_place(net, &place) }
}

/// Each operator with the bytes that it adds, if each buffer lives from the first operator of
/// `known` that makes it to the last that lets it go.
fn segments_of(net: &Net, known: &[u32]) -> Vec<Segment> {
    let mut made = vec![false; net.buffers.len()];
    let mut left: Vec<u32> = net.buffers.iter().map(|buffer| buffer.releases).collect();
    let mut segments = vec![Segment::default(); net.len()];
    for op in known {
        let halves = &net.halves[*op as usize];
        let [first, second] = [&halves.first, &halves.second].map(|events| {
            let mut change = 0i64;
            for event in events {
                let (Event::Alloc(b) | Event::Release(b)) = *event;
                let bytes = net.buffers[b as usize].bytes as i64;
                match event {
                    Event::Alloc(_) if net.buffers[b as usize].born => {}
                    Event::Alloc(_) => {
                        change += if made[b as usize] { 0 } else { bytes };
                        made[b as usize] = true;
                    }
                    Event::Release(_) if left[b as usize] == 0 => {}
                    Event::Release(_) => {
                        left[b as usize] -= 1;
                        change -= if left[b as usize] == 0 { bytes } else { 0 };
                    }
                }
            }
            change
        });
        segments[*op as usize] = Segment::of(*op, first, second);
    }
    segments
}

/// The order that runs, of the operators that can run, always the one with the lowest place.
fn by_place(net: &Net, place: &[u32]) -> Vec<u32> {
    let mut waits: Vec<usize> = net.before.iter().map(Vec::len).collect();
    let entry = |op: u32| std::cmp::Reverse((place[op as usize], op));
    let mut ready: BinaryHeap<_> =
        (0..net.len() as u32).filter(|op| waits[*op as usize] == 0).map(entry).collect();
    let mut order = Vec::with_capacity(net.len());
    while let Some(std::cmp::Reverse((_, op))) = ready.pop() {
        order.push(op);
        for next in &net.after[op as usize] {
            waits[*next as usize] -= 1;
            if waits[*next as usize] == 0 {
                ready.push(entry(*next));
            }
        }
    }
    order
}

/// Sequences that wait for each other: those right before and right after each, ascending.
struct Poset {
    segments: Vec<Segments>,
    before: Vec<Vec<u32>>,
    after: Vec<Vec<u32>>,
    alive: Vec<bool>,
    /// Nodes to look at anew.
    queue: Vec<u32>,
    queued: Vec<bool>,
}

fn insert(list: &mut Vec<u32>, node: u32) {
    if let Err(at) = list.binary_search(&node) {
        list.insert(at, node);
    }
}

fn remove(list: &mut Vec<u32>, node: u32) {
    if let Ok(at) = list.binary_search(&node) {
        list.remove(at);
    }
}

impl Poset {
    /// Each operator by itself; waiting that follows from other waiting is left out.
    fn new(net: &Net, known: &[u32], segments: Vec<Segment>, work: &mut u64) -> Self {
        let count = net.len();
        let mut place = vec![0usize; count];
        for (position, op) in known.iter().enumerate() {
            place[*op as usize] = position;
        }
        let mut after: Vec<Vec<u32>> = vec![Vec::new(); count];
        let mut before: Vec<Vec<u32>> = vec![Vec::new(); count];
        let mut reach: Vec<Bits> = vec![Bits(Vec::new()); count];
        for op in known.iter().rev() {
            let mut next = net.after[*op as usize].clone();
            next.sort_unstable_by_key(|other| place[*other as usize]);
            let mut all = Bits::new(count);
            for other in next {
                *work += 2 + count as u64 / 128;
                if all.0[other as usize / 64] >> (other % 64) & 1 == 1 {
                    continue;
                }
                for (word, more) in all.0.iter_mut().zip(&reach[other as usize].0) {
                    *word |= more;
                }
                all.insert(other);
                insert(&mut after[*op as usize], other);
                insert(&mut before[other as usize], *op);
            }
            reach[*op as usize] = all;
        }
        Self {
            segments: segments.into_iter().map(|segment| Segments::from([segment])).collect(),
            before,
            after,
            alive: vec![true; count],
            queue: (0..count as u32).collect(),
            queued: vec![true; count],
        }
    }

    fn look_at(&mut self, node: u32) {
        if !std::mem::replace(&mut self.queued[node as usize], true) {
            self.queue.push(node);
        }
    }

    /// Joins nodes in series and in parallel until none is left that waits, giving up waiting where
    /// nothing can be joined.
    fn reduce(&mut self, work: &mut u64) {
        let mut given_up = 0;
        loop {
            while let Some(node) = self.queue.pop() {
                self.queued[node as usize] = false;
                *work += 10;
                while self.alive[node as usize] && self.joined(node, work) {}
            }
            given_up += 1;
            if !self.give_up(work) {
                return;
            }
            if given_up > MOST_GIVEN_UP {
                self.become_forest();
            }
        }
    }

    /// Lets each node be waited for by one other at most.
    fn become_forest(&mut self) {
        for node in 0..self.after.len() as u32 {
            let after = &mut self.after[node as usize];
            for other in after.split_off(after.len().min(1)) {
                remove(&mut self.before[other as usize], node);
            }
            if self.alive[node as usize] {
                self.look_at(node);
            }
        }
    }

    /// Joins a node with another, or with several; whether there was any.
    fn joined(&mut self, node: u32, work: &mut u64) -> bool {
        if let [next] = *self.after[node as usize]
            && self.before[next as usize].len() == 1
        {
            self.join_series(node, next, work);
            return true;
        }
        if let [last] = *self.before[node as usize]
            && self.after[last as usize].len() == 1
        {
            self.join_series(last, node, work);
            // The node lives on under the other's number.
            self.look_at(last);
            return false;
        }
        self.join_twins(node, work)
    }

    fn join_series(&mut self, first: u32, second: u32, work: &mut u64) {
        self.alive[second as usize] = false;
        let segments =
            [first, second].map(|node| std::mem::take(&mut self.segments[node as usize]));
        let [one, two] = segments;
        *work += one.len().min(two.len()) as u64;
        self.segments[first as usize] = merge::series(one, two);
        let after = std::mem::take(&mut self.after[second as usize]);
        for other in &after {
            let before = &mut self.before[*other as usize];
            remove(before, second);
            insert(before, first);
            *work += 10;
        }
        self.after[first as usize] = after;
    }

    /// Joins a node with all that wait for the same and are waited for by the same.
    fn join_twins(&mut self, node: u32, work: &mut u64) -> bool {
        let (before, after) = (&self.before[node as usize], &self.after[node as usize]);
        let around = match (before.first(), after.first()) {
            (Some(one), None) => &self.after[*one as usize],
            (None, Some(one)) => &self.before[*one as usize],
            (Some(one), Some(other)) => {
                let [from, to] = [&self.after[*one as usize], &self.before[*other as usize]];
                if from.len() < to.len() { from } else { to }
            }
            (None, None) => return false,
        };
        *work += around.len() as u64;
        let same = |other: &u32| {
            *other != node
                && self.before[*other as usize] == *before
                && self.after[*other as usize] == *after
        };
        let twins: Vec<u32> = around.iter().copied().filter(same).collect();
        if twins.is_empty() {
            return false;
        }
        let (before, after) = (before.clone(), after.clone());
        let mut all = vec![std::mem::take(&mut self.segments[node as usize])];
        for twin in &twins {
            self.alive[*twin as usize] = false;
            all.push(std::mem::take(&mut self.segments[*twin as usize]));
            for other in &before {
                remove(&mut self.after[*other as usize], *twin);
            }
            for other in &after {
                remove(&mut self.before[*other as usize], *twin);
            }
            *work += 10 * (before.len() + after.len()) as u64;
        }
        *work += 10 * all.iter().map(|segments| segments.len() as u64).sum::<u64>();
        self.segments[node as usize] = merge::parallel(all);
        for other in before.into_iter().chain(after) {
            self.look_at(other);
        }
        true
    }

    /// Gives up that one node waits for another; whether any still does. The node with the fewest
    /// others around it is set free of one of them.
    fn give_up(&mut self, work: &mut u64) -> bool {
        let around = |node: usize| self.before[node].len() + self.after[node].len();
        *work += self.alive.len() as u64;
        let stuck = (0..self.alive.len()).filter(|node| self.alive[*node] && around(*node) > 0);
        let Some(node) = stuck.min_by_key(|node| (around(*node), *node)) else { return false };
        let node = node as u32;
        let (from, to) = match (&*self.before[node as usize], &*self.after[node as usize]) {
            ([.., last], after) if after.len() < 2 => (*last, node),
            (_, [.., next]) => (node, *next),
            ([last, ..], []) => (*last, node),
            ([], []) => return false,
        };
        remove(&mut self.after[from as usize], to);
        remove(&mut self.before[to as usize], from);
        self.look_at(from);
        self.look_at(to);
        let others = self.after[from as usize].clone().into_iter();
        for other in others.chain(self.before[to as usize].clone()) {
            self.look_at(other);
        }
        true
    }

    /// All nodes, none of which waits, as one sequence.
    fn sequence(&mut self) -> Segments {
        let alive = (0..self.alive.len()).filter(|node| self.alive[*node]);
        let all: Vec<Segments> =
            alive.map(|node| std::mem::take(&mut self.segments[node])).collect();
        merge::parallel(all)
    }
}
