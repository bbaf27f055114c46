//! The fast buffers in SRAM: the thesis' table 4.4.

use std::ops::Range;

use super::Overlaid;
use super::partition::Partition;
use crate::schedule::operator::Operator;
use crate::strategy::external::LINE;
use tilewright_plan::Role;

/// Where the fast buffers lie in the arena. B0 to B3 hold tiles of inputs, two of an operator with
/// two inputs by turns; B2 and B3 filters of operators with one input; B4 to B6 biases and
/// quantisation parameters, which are one block here.
#[derive(Clone, Debug, Default)]
pub struct Buffers {
    /// What lies below.
    base: u64,
    tiny: u64,
    /// Bytes of B2.
    third: u64,
    /// Bytes of B3.
    fourth: u64,
    parameters: u64,
    output: u64,
    has_filters: bool,
    has_parts: bool,
    /// Which end of B2 and B3, and of B4 to B6, was used last.
    filter_at_end: bool,
    parameters_at_end: bool,
}

impl Buffers {
    /// Buffers from `base` on, up to the budget, for the tiles of a partition; B2 takes of the rest of
    /// the budget what lets filters lie side by side.
    pub fn new(
        operators: &[Operator<'_>],
        partition: &Partition,
        [base, budget]: [u64; 2],
        overlaid: Overlaid,
    ) -> Self {
        let has_filters = overlaid.filters;
        let Partition { tiny, inputs, output, parameters, .. } = *partition;
        let fourth = if inputs > 2 { tiny } else { 0 };
        let rest =
            budget.saturating_sub(base + inputs * tiny + 2 * output + parameters) / LINE * LINE;
        let mut this = Self {
            base,
            tiny,
            third: fourth + rest,
            fourth,
            parameters,
            output,
            has_filters,
            has_parts: overlaid.filters && overlaid.parts,
            filter_at_end: false,
            parameters_at_end: false,
        };
        let room = this.third + fourth;
        let taken = match (has_filters, overlaid.parts) {
            (false, _) => 0,
            (true, true) => together(operators, room),
            (true, false) => together_of(operators, |bytes| if bytes > room { 0 } else { bytes }),
        };
        this.third = taken.saturating_sub(fourth).clamp(fourth, this.third);
        this
    }

    /// Where all buffers end; 0 if there are none.
    pub const fn end(&self) -> u64 {
        let end = self.filters_end() + self.parameters + 2 * self.output;
        if end == self.base { 0 } else { end }
    }

    /// Where B3 ends.
    const fn filters_end(&self) -> u64 {
        self.base + 2 * self.tiny + self.third + self.fourth
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
        self.base + start..self.base + start + self.tiny
    }

    /// The buffer of a tile of the output of every second tile.
    pub const fn output(&self, odd: bool) -> Range<u64> {
        let start = self.filters_end() + self.parameters;
        let start = if odd { start + self.output } else { start };
        start..start + self.output
    }

    /// Bytes of a part of a filter beside which another has room, if filters of so many bytes come in
    /// parts.
    pub const fn part(&self, bytes: u64) -> Option<u64> {
        let room = self.third + self.fourth;
        if self.has_parts && bytes > room { Some(room / 2 / LINE * LINE) } else { None }
    }

    /// A place for the filter of an operator with one input; nothing if it does not fit.
    pub fn filter(&mut self, bytes: u64) -> Option<u64> {
        let room = self.base + 2 * self.tiny..self.filters_end();
        self.has_filters.then(|| end_of(room, bytes, &mut self.filter_at_end)).flatten()
    }

    /// A place for an operator's biases and quantisation parameters; nothing if they do not fit.
    pub fn parameters(&mut self, bytes: u64) -> Option<u64> {
        let start = self.filters_end();
        end_of(start..start + self.parameters, bytes, &mut self.parameters_at_end)
    }
}

/// The most bytes of filters of two operators that follow each other, of each at most `room`.
pub fn together(operators: &[Operator<'_>], room: u64) -> u64 {
    together_of(operators, |bytes| bytes.min(room))
}

fn together_of(operators: &[Operator<'_>], taken: impl Fn(u64) -> u64) -> u64 {
    let filters = operators.iter().map(|operator| match operator.inputs().nth(1) {
        Some(_) => 0,
        None => taken(operator.bytes(Role::Weights)),
    });
    let filters: Vec<u64> = filters.collect();
    let largest = filters.iter().copied().max().unwrap_or(0);
    let pairs = filters.windows(2).map(|pair| pair.iter().sum());
    largest.max(pairs.max().unwrap_or(0))
}

/// A place at one end of a buffer, the other the next time.
fn end_of(room: Range<u64>, bytes: u64, at_end: &mut bool) -> Option<u64> {
    if bytes == 0 || bytes > room.end - room.start {
        return None;
    }
    *at_end = !*at_end;
    Some(if *at_end { room.start } else { (room.end - bytes) / LINE * LINE })
}
