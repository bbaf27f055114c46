//! The fast buffers in SRAM: the thesis' table 4.4.

use std::ops::Range;

use super::Overlaid;
use super::partition::{Operator, Partition};
use crate::strategy::external::LINE;
use tilewright_plan::Role;

/// Where the fast buffers lie in the arena. B0 to B3 hold tiles of inputs, two of an operator with
/// two inputs by turns; B2 and B3 filters of operators with one input; B4 to B6 biases and
/// quantisation parameters, which are one block here.
#[derive(Clone, Debug)]
pub struct Buffers {
    tiny: u64,
    /// Bytes of B2.
    third: u64,
    parameters: u64,
    output: u64,
    has_filters: bool,
    has_parts: bool,
    /// Which end of B2 and B3, and of B4 to B6, was used last.
    filter_at_end: bool,
    parameters_at_end: bool,
}

impl Buffers {
    /// Buffers for the tiles of a partition; B2 takes of the rest of the budget what lets filters
    /// lie side by side.
    pub fn new(
        operators: &[Operator<'_>],
        partition: &Partition,
        budget: u64,
        overlaid: Overlaid,
    ) -> Self {
        let has_filters = overlaid.filters;
        let Partition { tiny, output, parameters, .. } = *partition;
        let rest = budget.saturating_sub(4 * tiny + 2 * output + parameters) / LINE * LINE;
        let mut this = Self {
            tiny,
            third: tiny + rest,
            parameters,
            output,
            has_filters,
            has_parts: overlaid.filters && overlaid.parts,
            filter_at_end: false,
            parameters_at_end: false,
        };
        let room = this.third + tiny;
        let fits = |bytes: u64| match has_filters && (overlaid.parts || bytes <= room) {
            true => bytes.min(room),
            false => 0,
        };
        let filters: Vec<u64> = operators
            .iter()
            .map(|operator| match operator.inputs().nth(1) {
                Some(_) => 0,
                None => fits(operator.bytes(Role::Weights)),
            })
            .collect();
        let largest = filters.iter().copied().max().unwrap_or(0);
        let together = filters.windows(2).map(|pair| pair.iter().sum()).max().unwrap_or(0);
        this.third = largest.max(together).saturating_sub(tiny).clamp(tiny, this.third);
        this
    }

    /// Bytes of all buffers.
    pub const fn bytes(&self) -> u64 {
        3 * self.tiny + self.third + self.parameters + 2 * self.output
    }

    /// The buffer of a tile of an input (the first or the second of its operator) of every second
    /// tile.
    pub const fn input(&self, second: bool, odd: bool) -> Range<u64> {
        let start = match (second, odd) {
            (false, false) => 0,
            (false, true) => self.tiny,
            (true, false) => 2 * self.tiny,
            (true, true) => 2 * self.tiny + self.third,
        };
        start..start + self.tiny
    }

    /// The buffer of a tile of the output of every second tile.
    pub const fn output(&self, odd: bool) -> Range<u64> {
        let start = 3 * self.tiny + self.third + self.parameters;
        let start = if odd { start + self.output } else { start };
        start..start + self.output
    }

    /// Bytes of a part of a filter beside which another has room, if filters of so many bytes come in
    /// parts.
    pub const fn part(&self, bytes: u64) -> Option<u64> {
        let room = self.third + self.tiny;
        if self.has_parts && bytes > room { Some(room / 2 / LINE * LINE) } else { None }
    }

    /// A place for the filter of an operator with one input; nothing if it does not fit.
    pub fn filter(&mut self, bytes: u64) -> Option<u64> {
        let room = 2 * self.tiny..3 * self.tiny + self.third;
        self.has_filters.then(|| end_of(room, bytes, &mut self.filter_at_end)).flatten()
    }

    /// A place for an operator's biases and quantisation parameters; nothing if they do not fit.
    pub fn parameters(&mut self, bytes: u64) -> Option<u64> {
        let start = 3 * self.tiny + self.third;
        end_of(start..start + self.parameters, bytes, &mut self.parameters_at_end)
    }
}

/// A place at one end of a buffer, the other the next time.
fn end_of(room: Range<u64>, bytes: u64, at_end: &mut bool) -> Option<u64> {
    if bytes == 0 || bytes > room.end - room.start {
        return None;
    }
    *at_end = !*at_end;
    Some(if *at_end { room.start } else { (room.end - bytes) / LINE * LINE })
}
