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

/// The sum less `factor · Σ (x − zero)`: what a zero point `factor` of weights takes from every sum
/// of products with them.
#[inline(never)]
pub fn less_sum<X: Element>(inputs: &[X], zero: i32, factor: i32, sum: i32) -> i32 {
    let total = inputs.iter().fold(0i32, |total, x| total.wrapping_add(x.value() - zero));
    sum.wrapping_sub(total.wrapping_mul(factor))
}

/// Adds `Σ (x − zero) · w` to the sums of up to [`BLOCK`] output channels, whose filters begin `length`
/// bytes apart; with `weights` begins what of the first one meets the inputs. All are met as long as the
/// last one lasts.
#[inline(never)]
pub fn add_block<X: Element>(
    inputs: &[X],
    weights: &[u8],
    length: usize,
    count: usize,
    zero: i32,
    sums: &mut [i32; BLOCK],
) {
    let [mut a, mut b, mut c, mut d] = *sums;
    let from = |filter: usize| {
        // The sums of channels that do not exist are not looked at.
        let filter = if filter < count { filter } else { 0 };
        weights.get(filter * length..).unwrap_or(&[])
    };
    let (of_a, of_b, of_c, of_d) = (from(0), from(1), from(2), from(3));
    for ((((x, wa), wb), wc), wd) in inputs.iter().zip(of_a).zip(of_b).zip(of_c).zip(of_d) {
        let x = x.value() - zero;
        a = a.wrapping_add(x.wrapping_mul(wa.value()));
        b = b.wrapping_add(x.wrapping_mul(wb.value()));
        c = c.wrapping_add(x.wrapping_mul(wc.value()));
        d = d.wrapping_add(x.wrapping_mul(wd.value()));
    }
    *sums = [a, b, c, d];
}
