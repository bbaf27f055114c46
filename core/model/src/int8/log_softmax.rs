//! Logarithm of the softmax in fixed point, as TensorFlow Lite's int8 reference.

use super::fixed::{exp_of_negative, log_of_sum};
use crate::integer::{LogSoftmaxParams, SOFTMAX_INTEGER_BITS, rounding_divide_by_power_of_two};

/// Integer bits of the sum of exponentials, which saturates where TensorFlow Lite's overflows (4096
/// equal values), and of results.
const SUM_BITS: u32 = 12;
const RESULT_BITS: u32 = 4;

/// Log-softmax of each row of `row` values; results have scale 1/16 and zero point 127.
pub(super) fn log_softmax(input: &[i8], row: usize, params: LogSoftmaxParams) -> Vec<i8> {
    let mut result = Vec::with_capacity(input.len());
    for values in input.chunks_exact(row.max(1)) {
        let largest = values.iter().copied().max().map_or(0, i32::from);
        let differences = values.iter().map(|value| i32::from(*value) - largest);
        let sum = differences
            .clone()
            .filter(|difference| *difference >= params.diff_min)
            .map(|difference| exp_of_negative(params.scale.apply(difference)))
            .fold(0i32, |sum, e| sum.saturating_add(rounding_divide_by_power_of_two(e, SUM_BITS)));
        let logarithm = log_of_sum(sum);
        // Differences that, scaled and less the logarithm, leave the range of 32 bits.
        let limit = params.reverse.apply(logarithm.wrapping_add(i32::MIN));
        let limit = limit.max(params.diff_min - 1);
        result.extend(differences.map(|difference| {
            if difference <= limit {
                return i8::MIN;
            }
            let value = params.scale.apply(difference).wrapping_sub(logarithm);
            let bits = 31 - SOFTMAX_INTEGER_BITS - RESULT_BITS;
            let rounded = rounding_divide_by_power_of_two(value, bits);
            rounded.saturating_add(127).clamp(-128, 127) as i8
        }));
    }
    result
}
