//! Random numbers that a seed gives, the same on every host: SplitMix64 of Steele et al. 2014.

/// A stream of numbers.
#[derive(Clone, Debug)]
pub(crate) struct Random {
    state: u64,
}

impl Random {
    /// The stream of this purpose: streams of different purposes have nothing to do with each other.
    pub fn new(seed: u64, purpose: u64) -> Self {
        let mut random = Self { state: seed };
        random.state = random.next() ^ purpose.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        random
    }

    pub fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From -`most` to `most`.
    pub fn within(&mut self, most: f32) -> f32 {
        let part = (self.next() >> 40) as f32 / (1u32 << 24) as f32;
        (2.0 * part - 1.0) * most
    }

    /// The numbers below `count` in any order.
    pub fn order(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            let other = (self.next() % (last as u64 + 1)) as usize;
            order.swap(last, other);
        }
        order
    }
}
