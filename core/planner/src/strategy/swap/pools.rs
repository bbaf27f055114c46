//! Buffers of one size in SRAM: a quarter of them for inputs, half for weights, a quarter for outputs
//! (SwapNN, 4.1). Each pool is used in turn.

use crate::schedule::work::{Class, Residence};

/// Where the buffers lie in the arena.
#[derive(Clone, Copy, Debug)]
pub struct Pools {
    first: u64,
    /// Bytes of a buffer.
    pub buffer: u64,
    counts: [u64; 3],
}

impl Pools {
    /// Fewest buffers: one for input, two for weights, one for output.
    pub const FEWEST: u64 = 4;

    /// So many buffers from an offset on.
    pub const fn new(first: u64, buffer: u64, count: u64) -> Self {
        let quarter = count / 4;
        Self { first, buffer, counts: [quarter, count - 2 * quarter, quarter] }
    }

    /// Buffers of a pool.
    pub const fn count(&self, class: Class) -> u64 {
        self.counts[class as usize]
    }

    /// Where the pools end.
    pub fn end(&self) -> u64 {
        self.first + self.buffer * self.counts.iter().sum::<u64>()
    }

    /// Where residences lie: in the buffers of their pools by turns.
    pub fn places(&self, residences: &[Residence]) -> Vec<u64> {
        let mut turns = [0; 3];
        let place = |residence: &Residence| {
            let class = residence.class;
            let before: u64 = self.counts.iter().take(class as usize).sum();
            let turn = &mut turns[class as usize];
            let at = self.first + self.buffer * (before + *turn % self.count(class).max(1));
            *turn += 1;
            at
        };
        residences.iter().map(place).collect()
    }
}
