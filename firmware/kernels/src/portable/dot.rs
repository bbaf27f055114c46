//! Dot products over contiguous runs: the inner loop of convolutions.

/// Output channels computed together, so that each input byte is loaded once for all.
pub const BLOCK: usize = 4;

#[inline(always)]
fn signed(byte: u8) -> i32 {
    i32::from(byte as i8)
}

/// Adds `Σ (x − zero) · w` to an accumulator, over the shorter of the two runs.
#[inline(always)]
pub fn dot(inputs: &[u8], weights: &[u8], zero: i32, accumulator: i32) -> i32 {
    inputs
        .iter()
        .zip(weights)
        .fold(accumulator, |sum, (x, w)| sum.wrapping_add((signed(*x) - zero) * signed(*w)))
}

/// [`dot`] for [`BLOCK`] output channels at once.
#[inline(always)]
pub fn dot_block(
    inputs: &[u8],
    weights: [&[u8]; BLOCK],
    zero: i32,
    accumulators: [i32; BLOCK],
) -> [i32; BLOCK] {
    let [mut a, mut b, mut c, mut d] = accumulators;
    let [wa, wb, wc, wd] = weights;
    for ((((x, wa), wb), wc), wd) in inputs.iter().zip(wa).zip(wb).zip(wc).zip(wd) {
        let x = signed(*x) - zero;
        a = a.wrapping_add(x * signed(*wa));
        b = b.wrapping_add(x * signed(*wb));
        c = c.wrapping_add(x * signed(*wc));
        d = d.wrapping_add(x * signed(*wd));
    }
    [a, b, c, d]
}
