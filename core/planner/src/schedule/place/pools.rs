//! Buffers of one size in SRAM: a quarter of them for inputs, half for weights, a quarter for outputs
//! (SwapNN, 4.1). Each pool is used in turn.

use crate::schedule::work::{Class, Residence, Work};
use serde::{Deserialize, Serialize};

/// Where the buffers lie in the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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

    /// The pool of a class: of inputs, of weights and second inputs, of outputs.
    const fn pool(class: Class) -> usize {
        match class {
            Class::Input => 0,
            Class::Second | Class::Weights | Class::Parameters => 1,
            Class::Output => 2,
        }
    }

    /// Buffers of a class.
    pub const fn count(&self, class: Class) -> u64 {
        self.counts[Self::pool(class)]
    }

    /// All numbers that say where they lie.
    pub const fn numbers(&self) -> [u64; 5] {
        let [inputs, weights, outputs] = self.counts;
        [self.first, self.buffer, inputs, weights, outputs]
    }

    /// Where the pools end.
    pub fn end(&self) -> u64 {
        self.first.saturating_add(self.buffer.saturating_mul(self.counts.iter().sum()))
    }
}

/// Where residences lie: in the buffers of their pools by turns; nothing if one is larger than a buffer.
pub fn pools(work: &Work, pools: &Pools) -> Option<Vec<u64>> {
    let mut turns = [0; 3];
    let place = |residence: &Residence| {
        let pool = Pools::pool(residence.class);
        let before: u64 = pools.counts.iter().take(pool).sum();
        let turn = before + turns[pool] % pools.counts[pool].max(1);
        turns[pool] += 1;
        (residence.bytes <= pools.buffer).then_some(pools.first + pools.buffer * turn)
    };
    work.residences.iter().map(place).collect()
}
