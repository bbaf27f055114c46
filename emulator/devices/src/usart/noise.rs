//! Noise on the line to a USART: a byte whose samples differ within a bit, which is as it was sent, and one without
//! its stop bit, which is not (RM0385, 31.5.3 and 31.8.8; RM0386, 31.3.3 and 31.6.1).

/// Flags of a byte, in either layout of registers: its stop bit was missing (FE), its bits were noisy (NF).
const BROKEN: u32 = 1 << 1;
const NOISY: u32 = 1 << 2;
/// Both.
pub(super) const FLAGS: u32 = BROKEN | NOISY;

/// What disturbs bytes, at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Noise {
    state: u64,
    noisy_in: u32,
    broken_in: u32,
}

impl Noise {
    /// Of `noisy_in` bytes one is noisy and of `broken_in` one is broken, on average; 0: none.
    #[must_use]
    pub const fn new(seed: u64, noisy_in: u32, broken_in: u32) -> Self {
        Self { state: seed, noisy_in, broken_in }
    }

    /// A number without a pattern (Steele, Lea and Flood, 2014: SplitMix).
    const fn next(&mut self) -> u32 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) >> 32) as u32
    }

    /// Whether it happens to one of so many.
    const fn hits(&mut self, one_in: u32) -> bool {
        let drawn = self.next();
        one_in != 0 && drawn.is_multiple_of(one_in)
    }

    /// What is heard of a byte, with its flags.
    pub(super) const fn hear(&mut self, byte: u8) -> (u8, u32) {
        if self.hits(self.broken_in) {
            let bit = self.next() % 8;
            return (byte ^ 1 << bit, BROKEN);
        }
        let flags = if self.hits(self.noisy_in) { NOISY } else { 0 };
        (byte, flags)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_leaves_bytes_as_they_were_and_a_missing_stop_bit_does_not() {
        let mut noise = Noise::new(7, 10, 100);
        let heard: Vec<(u8, u32)> = (0..10_000).map(|_| noise.hear(0x55)).collect();
        let count = |flag| heard.iter().filter(|(_, flags)| *flags == flag).count();
        assert!((900..1100).contains(&count(NOISY)), "{}", count(NOISY));
        assert!((70..130).contains(&count(BROKEN)), "{}", count(BROKEN));
        assert!(heard.iter().all(|(byte, flags)| (*byte == 0x55) == (*flags != BROKEN)));
        let mut silent = Noise::new(7, 0, 0);
        assert!((0..100).all(|byte| silent.hear(byte) == (byte, 0)));
    }
}
