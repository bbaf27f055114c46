//! Buffers of one size in SRAM: a quarter of them for inputs, half for weights, a quarter for outputs
//! (SwapNN, 4.1). Each pool is used in turn.

/// What a buffer is for. Second operands lie where weights would.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pool {
    /// Tiles of inputs.
    Input,
    /// Tiles of weights, and of second operands.
    Weights,
    /// Tiles of outputs.
    Output,
}

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
    pub const fn count(&self, pool: Pool) -> u64 {
        self.counts[pool as usize]
    }

    /// Where the pools end.
    pub fn end(&self) -> u64 {
        self.first + self.buffer * self.counts.iter().sum::<u64>()
    }

    /// The buffer that tile `turn` of a pool uses.
    pub fn place(&self, pool: Pool, turn: u64) -> u64 {
        let before: u64 = self.counts.iter().take(pool as usize).sum();
        self.first + self.buffer * (before + turn % self.count(pool).max(1))
    }
}
