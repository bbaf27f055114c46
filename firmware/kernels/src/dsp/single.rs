//! Products of one pixel with two output channels at a time: eighteen instructions make sixteen
//! products. Weights as in [`super::four`], filters padded with zeros to a multiple of eight.

use super::are_at_words;
use super::four::{Constants, PairWeights, Word};

#[cfg(not(armv7e_m))]
use super::{even_bytes, high_product_sum, odd_bytes, products, saturate, shift_right};

/// Activations of eight values: (x₀, x₂), (x₁, x₃), (x₄, x₆), (x₅, x₇).
pub type Eight = [Word; 4];

/// Weights of two channels for eight values.
pub type EightWeights = [PairWeights; 2];

/// Adds the products of `activations` with the weights of as many pairs of channels as there are
/// `sums`, to the first word of each channel's constants. Each pair's weights begin `stride` entries
/// behind the last pair's. Gives whether there were enough weights, at an address of words where
/// there are such; computes nothing if not.
#[inline]
#[must_use]
pub fn add_products_of_one(
    weights: &[EightWeights],
    stride: usize,
    activations: &[Eight],
    sums: &mut [[Constants; 2]],
) -> bool {
    if !suffice(weights, stride, activations, sums.len()) {
        return false;
    }
    #[cfg(armv7e_m)]
    if !sums.is_empty() {
        let skip = (stride - activations.len()) * size_of::<EightWeights>();
        let (sums, activations) = (sums.as_mut_ptr_range(), activations.as_ptr_range());
        // SAFETY: for each pair `activations.len()` entries of weights are read, `stride` apart:
        // checked above, as is that they are whole words. Of constants, which are written, words
        // are read alone. The activations may be words that were never written, of which the
        // instructions read whatever memory holds.
        #[expect(unsafe_code, reason = "a loop whose registers are chosen by hand")]
        unsafe {
            arm::pairs(
                weights.as_ptr(),
                activations.start,
                sums.start,
                core::ptr::null_mut(),
                activations.end,
                0,
                sums.end,
                skip,
            );
        }
    }
    #[cfg(not(armv7e_m))]
    for (weights, pair) in weights.chunks(stride).zip(sums) {
        let sums = sums_of(weights, activations, pair);
        for (constants, sum) in pair.iter_mut().zip(sums) {
            if let Some(start) = constants.first_chunk_mut() {
                *start = sum.to_le_bytes();
            }
        }
    }
    true
}

/// The outputs for two channels for each two entries of `constants`: sums of products and bias,
/// requantised as [`super::Fast::apply`] does, `zero` added. Weights follow each other. Gives whether
/// there were enough weights and as many bytes as channels, and weights and constants at addresses of
/// words where there are such; computes nothing if not.
#[inline(never)]
#[must_use]
pub fn outputs_of_one(
    weights: &[EightWeights],
    activations: &[Eight],
    constants: &[[Constants; 2]],
    zero: i8,
    bytes: &mut [u8],
) -> bool {
    if !suffice(weights, activations.len(), activations, constants.len())
        || bytes.len() != constants.len() * 2
        || !are_at_words(constants)
    {
        return false;
    }
    let rounding = 2 * i32::from(zero) + 1;
    #[cfg(armv7e_m)]
    if !constants.is_empty() {
        let (constants, activations) = (constants.as_ptr_range(), activations.as_ptr_range());
        // SAFETY: as many weights are read and bytes written as there are: checked above, as is that
        // weights and constants are whole words. What is said of activations at
        // `add_products_of_one` holds here as well.
        #[expect(unsafe_code, reason = "a loop whose registers are chosen by hand")]
        unsafe {
            arm::pairs(
                weights.as_ptr(),
                activations.start,
                constants.start,
                bytes.as_mut_ptr(),
                activations.end,
                rounding,
                constants.end,
                0,
            );
        }
    }
    #[cfg(not(armv7e_m))]
    for ((weights, pair), bytes) in
        weights.chunks(activations.len()).zip(constants).zip(bytes.as_chunks_mut::<2>().0)
    {
        let sums = sums_of(weights, activations, pair);
        for ((constants, sum), byte) in pair.iter().zip(sums).zip(bytes) {
            let (multiplier, right) = (constant(constants, 1), constant(constants, 2));
            let rounding = rounding.wrapping_shl(right as u32).wrapping_add(sum >> 31);
            let high = high_product_sum(sum.wrapping_shl(1), multiplier, rounding);
            *byte = saturate(shift_right(high, right & 31) >> 1) as u8;
        }
    }
    true
}

/// Makes activations of values, sixteen for each two entries.
#[inline]
pub fn expand_pairs(values: &[[u8; 16]], held: &mut [[Eight; 2]]) {
    let count = values.len().min(held.len());
    #[cfg(armv7e_m)]
    if count > 0 {
        // SAFETY: there are as many values and entries.
        #[expect(unsafe_code, reason = "a loop whose values fill the registers")]
        unsafe {
            arm::expand_pairs(values.as_ptr(), held.as_mut_ptr(), count);
        }
    }
    #[cfg(not(armv7e_m))]
    for (values, held) in values.iter().zip(held).take(count) {
        let words = values.as_chunks().0.iter().map(super::word);
        for (word, held) in words.zip(held.as_flattened_mut().as_chunks_mut::<2>().0) {
            *held = [even_bytes(word), odd_bytes(word)];
        }
    }
}

/// Whether there are activations, and weights of `pairs` pairs of channels for them.
fn suffice(weights: &[EightWeights], stride: usize, activations: &[Eight], pairs: usize) -> bool {
    let skipped = pairs.saturating_sub(1).checked_mul(stride);
    let needed = skipped.and_then(|skipped| skipped.checked_add(activations.len()));
    let enough = pairs == 0 || needed.is_some_and(|needed| needed <= weights.len());
    enough && are_at_words(weights) && !activations.is_empty() && stride >= activations.len()
}

/// A word of a channel's constants.
#[cfg(not(armv7e_m))]
fn constant(constants: &Constants, at: usize) -> i32 {
    constants.as_chunks().0.get(at).map_or(0, |word| i32::from_le_bytes(*word))
}

/// The sums of a pair of channels, from where its constants say.
#[cfg(not(armv7e_m))]
fn sums_of(
    weights: &[EightWeights],
    activations: &[Eight],
    constants: &[Constants; 2],
) -> [i32; 2] {
    let [mut first, mut second] = [0, 1].map(|channel| constant(&constants[channel], 0));
    for (weights, activations) in weights.iter().zip(activations) {
        let (words, _) = weights.as_flattened().as_chunks();
        for (word, x) in words.iter().zip(activations) {
            let word = u32::from_le_bytes(*word);
            first = products(even_bytes(word), *x, first);
            second = products(odd_bytes(word), *x, second);
        }
    }
    [first, second]
}

#[cfg(armv7e_m)]
#[expect(unsafe_code, reason = "all registers are needed")]
mod arm;
