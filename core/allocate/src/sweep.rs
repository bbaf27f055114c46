//! Placement along time: each buffer takes a hole that is free when its life begins. A sweep looks
//! at the holes of one moment only, so that tens of thousands of buffers take milliseconds.
//!
//! Sweeps go forwards and backwards in time, then look ahead, beside what dies at the same time (`co_located.rs`); exact search
//! places anew what reaches too high, some hundred buffers at a time (`repair.rs`).

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::fit::Fit;
use super::problem::{Buffer, Solution};

/// The sweeps: whether from the end of time to its beginning, and which hole is taken.
pub const SWEEPS: [(bool, Fit); 4] =
    [(false, Fit::Best), (true, Fit::Best), (false, Fit::First), (true, Fit::First)];

/// Whether buffers can be placed along time: they lie anywhere and live without gaps.
#[must_use]
pub fn suits(buffers: &[Buffer]) -> bool {
    buffers.iter().all(|buffer| buffer.region.is_none() && buffer.gaps.is_empty())
}

/// When a buffer lives, in time that runs as a sweep does.
pub fn life(buffer: &Buffer, is_backwards: bool) -> (u64, u64) {
    match is_backwards {
        true => (u64::MAX - buffer.end, u64::MAX - buffer.first),
        false => (buffer.first, buffer.end),
    }
}

/// The buffers that are used, as they begin; of those that begin together, what stays longest
/// first.
pub fn begins(buffers: &[Buffer], is_backwards: bool) -> Vec<usize> {
    let is_used = |buffer: &Buffer| buffer.bytes.0 > 0 && buffer.first < buffer.end;
    let mut order: Vec<usize> =
        (0..buffers.len()).filter(|index| is_used(&buffers[*index])).collect();
    order.sort_by_key(|index| {
        let (first, end) = life(&buffers[*index], is_backwards);
        (first, Reverse(end), Reverse(buffers[*index].bytes), *index)
    });
    order
}

/// Places `buffers`, for which [`suits`] says yes. Adds the holes looked at to `work`.
#[must_use]
pub fn place(buffers: &[Buffer], (is_backwards, fit): (bool, Fit), work: &mut u64) -> Solution {
    let mut offsets = vec![0; buffers.len()];
    let mut holes = Holes(BTreeMap::from([(0, u64::MAX)]));
    let mut ends: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
    for index in begins(buffers, is_backwards) {
        let buffer = &buffers[index];
        let (first, end) = life(buffer, is_backwards);
        while let Some(Reverse((_, over))) =
            ends.peek().copied().filter(|Reverse((end, _))| *end <= first)
        {
            ends.pop();
            holes.free(offsets[over], offsets[over] + buffers[over].bytes.0);
        }
        offsets[index] = holes.take(buffer, fit, work);
        ends.push(Reverse((end, index)));
    }
    Solution::of(buffers, offsets)
}

/// What is free, from each start to its end; above everything there is always a hole.
struct Holes(BTreeMap<u64, u64>);

impl Holes {
    fn take(&mut self, buffer: &Buffer, fit: Fit, work: &mut u64) -> u64 {
        let (bytes, alignment) = (buffer.bytes.0, buffer.alignment);
        let mut best: Option<(u64, u64, u64)> = None;
        for (start, end) in &self.0 {
            *work += 1;
            let offset = start.div_ceil(alignment) * alignment;
            if end.checked_sub(offset).is_none_or(|room| room < bytes) {
                continue;
            }
            let spare = end - offset - bytes;
            if best.is_none_or(|(least, ..)| spare < least) {
                best = Some((spare, *start, offset));
            }
            if fit == Fit::First {
                break;
            }
        }
        let (_, start, offset) = best.expect("the hole above everything is large enough");
        let end = self.0.remove(&start).expect("the hole was found");
        if start < offset {
            self.0.insert(start, offset);
        }
        if offset + bytes < end {
            self.0.insert(offset + bytes, end);
        }
        offset
    }

    fn free(&mut self, mut start: u64, mut end: u64) {
        if let Some(above) = self.0.remove(&end) {
            end = above;
        }
        let below = self.0.range(..start).next_back().map(|(from, to)| (*from, *to));
        if let Some((from, _)) = below.filter(|(_, to)| *to == start) {
            start = from;
        }
        self.0.insert(start, end);
    }
}
