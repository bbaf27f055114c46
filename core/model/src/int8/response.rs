//! Local response normalisation in int8.

use super::clamp;
use crate::integer::ResponseParams;

/// Normalises rows of `channels` values.
pub(super) fn local_response(
    input: &[i8],
    channels: usize,
    params: &ResponseParams,
    [input_zero, output_zero]: [i32; 2],
) -> Vec<i8> {
    let [before, behind] = params.around;
    let mut result = Vec::with_capacity(input.len());
    for row in input.chunks_exact(channels.max(1)) {
        let difference = |value: &i8| i32::from(*value) - input_zero;
        for (channel, value) in row.iter().enumerate() {
            let end = channel.saturating_add(behind).saturating_add(1).min(channels);
            let near = &row[channel.saturating_sub(before)..end];
            let sum = near.iter().map(|value| difference(value).pow(2) as u32).sum();
            let scaled = params.factor(sum).apply(difference(value));
            result.push(clamp(scaled.wrapping_add(output_zero), (i8::MIN, i8::MAX)));
        }
    }
    result
}
