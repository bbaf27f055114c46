//! Bytes to halves, and halves to words.

use super::instruction;

/// The signed halves of a word, low and high.
#[cfg(not(armv7e_m))]
#[inline(always)]
pub(super) fn halves(word: u32) -> [i32; 2] {
    [i32::from(word as i16), word as i32 >> 16]
}

/// A word of two halves' low 16 bits.
#[cfg(not(armv7e_m))]
#[inline(always)]
fn pair(low: u32, high: u32) -> u32 {
    high << 16 | (low & 0xffff)
}

instruction! {
    /// `SXTB16`: bytes 0 and 2 as signed halves.
    even_bytes(word: u32) -> u32, lateout "sxtb16 {result}, {word}", preserves_flags;
    {
        let [first, _, third, _] = word.to_le_bytes().map(|byte| i32::from(byte as i8) as u32);
        pair(first, third)
    }
}

instruction! {
    /// `SXTB16` of the word turned by eight bits: bytes 1 and 3 as signed halves.
    odd_bytes(word: u32) -> u32, lateout "sxtb16 {result}, {word}, ror #8", preserves_flags;
    {
        let [_, second, _, fourth] = word.to_le_bytes().map(|byte| i32::from(byte as i8) as u32);
        pair(second, fourth)
    }
}

instruction! {
    /// `PKHBT`: the low halves of two words, that of the first low.
    low_halves(first: u32, second: u32) -> u32,
    lateout "pkhbt {result}, {first}, {second}, lsl #16", preserves_flags;
    pair(first, second)
}

instruction! {
    /// `PKHTB`: the high halves of two words, that of the first low.
    high_halves(first: u32, second: u32) -> u32,
    lateout "pkhtb {result}, {second}, {first}, asr #16", preserves_flags;
    pair(first >> 16, second >> 16)
}

instruction! {
    /// `SADD16`: the sums of the words' low halves and of their high ones, each wrapping.
    add_halves(a: u32, b: u32) -> u32, lateout "sadd16 {result}, {a}, {b}";
    pair(a.wrapping_add(b), (a >> 16).wrapping_add(b >> 16))
}

/// `SSUB16`: the differences of the words' low halves and of their high ones, each wrapping.
#[cfg(not(armv7e_m))]
#[inline(always)]
pub(super) fn subtract_halves(a: u32, b: u32) -> u32 {
    pair(a.wrapping_sub(b), (a >> 16).wrapping_sub(b >> 16))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn word([low, high]: [i8; 2]) -> u32 {
        let half = |byte: i8| u32::from(i16::from(byte) as u16);
        half(high) << 16 | half(low)
    }

    proptest! {
        #[test]
        fn bytes_keep_their_signs(bytes in any::<[i8; 4]>()) {
            let [a, b, c, d] = bytes;
            let packed = u32::from_le_bytes(bytes.map(|byte| byte as u8));
            prop_assert_eq!(even_bytes(packed), word([a, c]));
            prop_assert_eq!(odd_bytes(packed), word([b, d]));
        }

        #[test]
        fn halves_go_where_they_belong(a in any::<[u16; 2]>(), b in any::<[u16; 2]>()) {
            let join = |low: u16, high: u16| u32::from(low) + (u32::from(high) * 65536);
            let (x, y) = (join(a[0], a[1]), join(b[0], b[1]));
            prop_assert_eq!(low_halves(x, y), join(a[0], b[0]));
            prop_assert_eq!(high_halves(x, y), join(a[1], b[1]));
            let sums = join(a[0].wrapping_add(b[0]), a[1].wrapping_add(b[1]));
            prop_assert_eq!(add_halves(x, y), sums);
            let differences = join(a[0].wrapping_sub(b[0]), a[1].wrapping_sub(b[1]));
            prop_assert_eq!(subtract_halves(x, y), differences);
        }
    }
}
