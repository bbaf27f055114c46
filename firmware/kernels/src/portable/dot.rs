//! Dot products over contiguous runs: the inner loops of convolutions. They are functions of their
//! own, so that their sums stay in registers.

/// Output channels computed together, so that each input is loaded once for all.
pub const BLOCK: usize = 4;

/// An input or weight byte.
pub trait Element: Copy {
    /// Its value.
    fn value(self) -> i32;
}

/// An int8 as it lies in memory.
impl Element for u8 {
    #[inline(always)]
    fn value(self) -> i32 {
        i32::from(self as i8)
    }
}

/// An int8 without its zero point.
impl Element for i16 {
    #[inline(always)]
    fn value(self) -> i32 {
        i32::from(self)
    }
}

/// Adds `Σ (x − zero) · w` to the sum, over the shorter of the two runs.
#[inline(never)]
pub fn dot<X: Element>(inputs: &[X], weights: &[u8], zero: i32, sum: i32) -> i32 {
    inputs
        .iter()
        .zip(weights)
        .fold(sum, |sum, (x, w)| sum.wrapping_add((x.value() - zero).wrapping_mul(w.value())))
}

/// The sum less `factor · Σ (x − zero)`: what a zero point `factor` of weights takes from every sum
/// of products with them.
#[inline(never)]
pub fn less_sum<X: Element>(inputs: &[X], zero: i32, factor: i32, sum: i32) -> i32 {
    let total = inputs.iter().fold(0i32, |total, x| total.wrapping_add(x.value() - zero));
    sum.wrapping_sub(total.wrapping_mul(factor))
}

/// [`dot`] for [`BLOCK`] output channels at once, over the shortest of the runs.
#[inline(never)]
pub fn dot_block<X: Element>(
    inputs: &[X],
    weights: [&[u8]; BLOCK],
    zero: i32,
    sums: &mut [i32; BLOCK],
) {
    let [mut a, mut b, mut c, mut d] = *sums;
    let [wa, wb, wc, wd] = weights;
    for ((((x, wa), wb), wc), wd) in inputs.iter().zip(wa).zip(wb).zip(wc).zip(wd) {
        let x = x.value() - zero;
        a = a.wrapping_add(x.wrapping_mul(wa.value()));
        b = b.wrapping_add(x.wrapping_mul(wb.value()));
        c = c.wrapping_add(x.wrapping_mul(wc.value()));
        d = d.wrapping_add(x.wrapping_mul(wd.value()));
    }
    *sums = [a, b, c, d];
}

/// The filters of [`BLOCK`] output channels that follow each other, `length` bytes each; short or
/// empty ones if there are fewer bytes.
#[inline(always)]
pub fn split_filters(filters: &[u8], length: usize) -> [&[u8]; BLOCK] {
    let (a, rest) = filters.split_at_checked(length).unwrap_or((filters, &[]));
    let (b, rest) = rest.split_at_checked(length).unwrap_or((rest, &[]));
    let (c, d) = rest.split_at_checked(length).unwrap_or((rest, &[]));
    [a, b, c, d]
}

/// Parts of `count` filters of `length` bytes each; at least a byte.
#[inline(always)]
pub fn parts(filters: &[u8], count: usize, length: usize) -> impl Iterator<Item = &[u8]> {
    filters.chunks_exact(count.saturating_mul(length).max(1))
}
