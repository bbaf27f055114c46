//! Softmax in fixed point, as TensorFlow Lite's int8 reference with gemmlowp's functions.

use super::fixed::{exp_of_negative, one_over_one_plus};
use crate::integer::{
    SoftmaxParams, multiply_by_quantised_multiplier, rounding_divide_by_power_of_two,
    saturating_rounding_doubling_high_mul as product,
};

/// Integer bits of the sum of exponentials, which saturates.
const SUM_BITS: u32 = 12;

/// Softmax of each row of `row` values; results have scale 1/256 and zero point −128.
pub(super) fn softmax(input: &[i8], row: usize, params: SoftmaxParams) -> Vec<i8> {
    let mut result = Vec::with_capacity(input.len());
    for values in input.chunks_exact(row.max(1)) {
        let largest = values.iter().copied().max().map_or(0, i32::from);
        let exponential = |value: i8| {
            let difference = i32::from(value) - largest;
            (difference >= params.diff_min).then(|| {
                let scaled = multiply_by_quantised_multiplier(
                    difference,
                    params.multiplier,
                    params.left_shift,
                );
                exp_of_negative(scaled)
            })
        };
        let sum = values
            .iter()
            .filter_map(|value| exponential(*value))
            .fold(0i32, |sum, e| sum.saturating_add(rounding_divide_by_power_of_two(e, SUM_BITS)));
        let (reciprocal, integer_bits) = reciprocal(sum);
        result.extend(values.iter().map(|value| {
            exponential(*value).map_or(i8::MIN, |e| {
                // Of sums from 512 on nothing remains. TensorFlow Lite's reference shifts 32 bits by 32
                // and more there, which is undefined; its optimised kernels give 0 too.
                let share = match u32::try_from(integer_bits + 31 - 8) {
                    Ok(bits @ 0..=31) => {
                        rounding_divide_by_power_of_two(product(reciprocal, e), bits)
                    }
                    _ => 0,
                };
                share.saturating_add(i32::from(i8::MIN)).clamp(-128, 127) as i8
            })
        }));
    }
    result
}

/// 1 / `sum` for a sum in Q12 of at least one: the significand in Q0 and how many bits the sum
/// has above its unit.
fn reciprocal(sum: i32) -> (i32, i32) {
    let headroom = sum.leading_zeros();
    let above_unit = SUM_BITS as i32 - headroom as i32;
    let fraction = (sum as u32).wrapping_shl(headroom).wrapping_sub(1 << 31) as i32;
    (one_over_one_plus(fraction), above_unit)
}
