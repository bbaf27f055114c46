//! Numbers in other types, where what that does to them is known.

/// A size or index as files write it: none comes near the largest `i64`.
#[inline]
pub(crate) fn signed(size: usize) -> i64 {
    i64::try_from(size).unwrap_or(i64::MAX)
}

/// A size or index as flat buffers write it: files end before the largest, or are refused for it.
#[inline]
pub(crate) fn word(size: usize) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX)
}

/// The nearest of the floats of 32 bits; an infinity beyond the largest.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "rounding is what is asked for")]
pub(crate) const fn single(value: f64) -> f32 {
    value as f32
}

/// What is before the point: 0 of what is below it and of NaN, the largest of what is beyond it.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "floats are cut to the range of the integer, never wrapped"
)]
pub(crate) const fn whole(value: f64) -> usize {
    value as usize
}

/// What is before the point; the least or the largest of what is beyond it, 0 of NaN.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    reason = "floats are cut to the range of the integer, never wrapped"
)]
pub(crate) const fn integer(value: f32) -> i64 {
    value as i64
}
