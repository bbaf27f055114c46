//! Shifts to the right, and values that stay within a byte.

use super::instruction;

instruction! {
    /// `SSAT`: the nearest value within −128..=127.
    saturate(value: i32) -> i32, lateout "ssat {result}, #8, {value}";
    value.clamp(-128, 127)
}

instruction! {
    /// `ASR`: `value / 2^by`, rounded down; `by` in 0..=31.
    shift_right(value: i32, by: i32) -> i32, lateout "asr {result}, {value}, {by}", preserves_flags;
    value.wrapping_shr(by as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_end_at_the_range_of_a_byte() {
        let values = [i32::MIN, -129, -128, -1, 0, 127, 128, i32::MAX];
        assert_eq!(values.map(saturate), [-128, -128, -128, -1, 0, 127, 127, 127]);
    }

    #[test]
    fn shifts_round_down() {
        assert_eq!([-5, -4, -1, 3, 4].map(|value| shift_right(value, 2)), [-2, -1, -1, 0, 1]);
        assert_eq!([shift_right(i32::MIN, 31), shift_right(7, 0)], [-1, 7]);
    }
}
