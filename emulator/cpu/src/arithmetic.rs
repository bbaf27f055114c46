//! Arithmetic that operations share: flags, shifts, saturation, parallel lanes.

use crate::core::Core;

/// Clamps to a signed number of so many bits; whether that changed it.
pub fn saturate(value: i64, bits: u32) -> (u32, bool) {
    let most = (1i64 << (bits - 1)) - 1;
    let clamped = value.clamp(-most - 1, most);
    (clamped as u32, clamped != value)
}

/// The low or the high half, as a signed number.
pub const fn half(value: u32, high: bool) -> i32 {
    if high { value as i32 >> 16 } else { value as i16 as i32 }
}

pub const fn pair(low: u32, high: u32) -> u32 {
    low & 0xffff | high << 16
}

impl Core {
    #[inline(always)]
    pub(crate) fn add_flags(&mut self, a: u32, b: u32) -> u32 {
        let sum = a.wrapping_add(b);
        (self.n, self.z, self.c, self.v) = (sum, sum, u32::from(sum < a), (a ^ sum) & (b ^ sum));
        sum
    }

    #[inline(always)]
    pub(crate) fn subtract_flags(&mut self, a: u32, b: u32) -> u32 {
        let rest = a.wrapping_sub(b);
        (self.n, self.z, self.c, self.v) = (rest, rest, u32::from(a >= b), (a ^ b) & (a ^ rest));
        rest
    }

    /// a + b + carry.
    pub(crate) fn carry_flags(&mut self, a: u32, b: u32) -> u32 {
        let wide = u64::from(a) + u64::from(b) + u64::from(self.c);
        let sum = wide as u32;
        (self.n, self.z, self.c, self.v) = (sum, sum, (wide >> 32) as u32, (a ^ sum) & (b ^ sum));
        sum
    }

    #[inline(always)]
    pub(crate) fn logic_flags(&mut self, value: u32) -> u32 {
        (self.n, self.z) = (value, value);
        value
    }

    /// A shift by a register's low byte, with the carry that it leaves. Kinds: LSL, LSR, ASR, ROR.
    pub(crate) fn shift(value: u32, kind: u32, by: u32, carry: u32) -> (u32, u32) {
        let (by, wide) = (by & 255, u64::from(value));
        if by == 0 {
            return (value, carry);
        }
        let low = by.min(33);
        match kind {
            0 => ((wide << low) as u32, (wide << low >> 32) as u32 & 1),
            1 => ((wide >> low) as u32, (wide << 1 >> low) as u32 & 1),
            2 => {
                let wide = i64::from(value as i32);
                ((wide >> low) as u32, (wide << 1 >> low) as u32 & 1)
            }
            _ => (value.rotate_right(by), value.rotate_right(by) >> 31),
        }
    }

    #[inline(always)]
    pub(crate) fn note_saturation(&mut self, (value, changed): (u32, bool)) -> u32 {
        if changed {
            self.q = true;
        }
        value
    }

    /// The low word of a sum, and Q if it needs more.
    #[inline(always)]
    pub(crate) fn accumulate(&mut self, sum: i64) -> u32 {
        if i64::from(sum as i32) != sum {
            self.q = true;
        }
        sum as u32
    }

    /// Parallel additions and subtractions (DDI 0403E, A5.3.13 and A5.3.14). `how`: bits 0 to 2 are the second
    /// halfword's bits 4 to 6, which say how results are made; bits 4 to 6 the first's, which say what is done.
    pub(crate) fn parallel(&mut self, a: u32, b: u32, how: u32) -> u32 {
        let unsigned = how & 4 != 0;
        let (lanes, bits) = if how >> 4 & 3 == 0 { (4, 8) } else { (2, 16) };
        let lane = |word: u32, index: u32| {
            let low = word >> (bits * index) & ((1 << bits) - 1);
            if unsigned { low as i32 } else { (low << (32 - bits)) as i32 >> (32 - bits) }
        };
        let operation = how >> 4;
        let crossed = operation & 3 == 2;
        let (mut result, mut ge) = (0, 0);
        for index in 0..lanes {
            let x = lane(a, index);
            let y = lane(b, if crossed { 1 - index } else { index });
            // ASX adds above and subtracts below, SAX the other way round.
            let subtracts = match (crossed, operation & 4 != 0) {
                (true, false) => index == 0,
                (true, true) => index == 1,
                (false, subtracts) => subtracts,
            };
            let value = if subtracts { x - y } else { x + y };
            let made = match how & 3 {
                0 => {
                    let at_least =
                        if unsigned && !subtracts { value >> bits != 0 } else { value >= 0 };
                    if at_least {
                        ge |= ((1u64 << bits) - 1) as u32 * (1 << (bits * index));
                    }
                    value
                }
                1 if unsigned => value.clamp(0, (1 << bits) - 1),
                1 => value.clamp(-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
                _ => value >> 1,
            };
            result |= (made as u32 & ((1 << bits) - 1)) << (bits * index);
        }
        if how & 3 == 0 {
            self.ge = ge;
        }
        result
    }
}
