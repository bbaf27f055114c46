//! Products of four pixels with two output channels at a time: eight sums stay in registers, and
//! thirteen instructions make sixteen products.
//!
//! Activations lie as halves: for four values x₀..x₃ of a filter's run eight words, (x₀, x₂) of each
//! of four pixels, then (x₁, x₃) of each. Weights lie as bytes: for two channels v and w, for four
//! values v₀ w₀ v₂ w₂, then v₁ w₁ v₃ w₃, so that SXTB16 of a word and of the word turned by eight
//! bits gives what SMLAD takes with either. A filter's length is padded with zeros to a multiple of
//! four.

#[cfg(armv7e_m)]
use core::mem::MaybeUninit;

use super::are_at_words;
#[cfg(not(armv7e_m))]
use super::{even_bytes, high_product_sum, odd_bytes, products, saturate, shift_right};

/// Pixels that are computed together.
pub const PIXELS: usize = 4;

/// A word of activations. On Armv7E-M none is set before it is written: nothing but the loops
/// below reads it, and making a buffer of them costs nothing.
#[cfg(armv7e_m)]
pub type Word = MaybeUninit<u32>;
/// A word of activations.
#[cfg(not(armv7e_m))]
pub type Word = u32;

/// Activations of four pixels: (x₀, x₂) of each, then (x₁, x₃) of each.
pub type Quad = [[Word; PIXELS]; 2];

/// Activations of four pixels before they are written.
#[cfg(armv7e_m)]
pub const EMPTY: Quad = [[MaybeUninit::uninit(); PIXELS]; 2];
/// Activations of four pixels before they are written.
#[cfg(not(armv7e_m))]
pub const EMPTY: Quad = [[0; PIXELS]; 2];

/// A word of activations with this value.
#[inline(always)]
#[must_use]
pub const fn activations(word: u32) -> Word {
    #[cfg(armv7e_m)]
    {
        MaybeUninit::new(word)
    }
    #[cfg(not(armv7e_m))]
    word
}

/// Weights of two channels for four values.
pub type PairWeights = [u8; 8];

/// Constants of a channel: bias, multiplier, and the right shift less one, 32 bits each,
/// little-endian, within [`super::Fast`]'s domain.
pub type Constants = [u8; 12];

/// Sums of four pixels for a channel, then for the next.
pub type Sums = [[i32; PIXELS]; 2];

/// Adds the products of `activations` with the weights of as many pairs of channels as there are
/// sums. Each pair's weights begin `stride` entries behind the last pair's. Gives whether there were
/// enough weights; computes nothing if not.
#[inline]
#[must_use]
pub fn add_products(
    weights: &[PairWeights],
    stride: usize,
    activations: &[Quad],
    sums: &mut [Sums],
) -> bool {
    let Some(last) = sums.len().checked_sub(1) else { return true };
    let needed = last.checked_mul(stride).and_then(|skip| skip.checked_add(activations.len()));
    if needed.is_none_or(|needed| needed > weights.len())
        || activations.is_empty()
        || stride < activations.len()
    {
        return false;
    }
    #[cfg(armv7e_m)]
    {
        let sums = sums.as_mut_ptr_range();
        let activations = activations.as_ptr_range();
        let skip = (stride - activations_len(&activations)) * size_of::<PairWeights>();
        // SAFETY: for each pair `activations.len()` entries of weights are read, `stride` apart:
        // checked above. The activations and sums are slices; the activations may be words that
        // were never written, of which the instructions read whatever memory holds.
        #[expect(unsafe_code, reason = "a loop whose registers are chosen by hand")]
        unsafe {
            arm::add_products(
                weights.as_ptr(),
                activations.start,
                sums.start,
                sums.end,
                activations.end,
                skip,
            );
        }
    }
    #[cfg(not(armv7e_m))]
    for (weights, sums) in weights.chunks(stride).zip(sums) {
        add_pair(weights, activations, sums);
    }
    true
}

#[cfg(armv7e_m)]
fn activations_len(range: &core::ops::Range<*const Quad>) -> usize {
    (range.end as usize - range.start as usize) / size_of::<Quad>()
}

/// Weights and constants of pairs of channels, as many as belong to each other.
#[derive(Clone, Copy, Debug)]
pub struct Pairs<'a> {
    weights: &'a [PairWeights],
    constants: &'a [[Constants; 2]],
    quads: usize,
    /// Rounds a shift by one, and adds the zero point.
    rounding: i32,
}

impl<'a> Pairs<'a> {
    /// Weights of filters of `quads` entries, and constants of as many pairs as outputs are made for; nothing
    /// if weights are not as many, or constants not at an address of words where there are such. `zero`: of
    /// the outputs.
    #[must_use]
    #[inline(never)]
    pub fn new(
        weights: &'a [PairWeights],
        constants: &'a [[Constants; 2]],
        quads: usize,
        zero: i8,
    ) -> Option<Self> {
        let needed = constants.len().checked_mul(quads)?;
        let fits = needed <= weights.len() && quads > 0 && are_at_words(constants);
        fits.then_some(Self { weights, constants, quads, rounding: 2 * i32::from(zero) + 1 })
    }

    /// The outputs of four pixels: sums of products and bias, requantised as [`super::Fast::apply`] does, the
    /// zero point added. The bytes of a pixel's channels begin at its place. Gives whether activations were as
    /// many as weights and all bytes are there; computes nothing if not.
    #[must_use]
    #[inline(never)]
    pub fn outputs(
        &self,
        activations: &[Quad],
        bytes: &mut [u8],
        places: &[usize; PIXELS],
    ) -> bool {
        let channels = self.constants.len() * 2;
        let [a, b, c, d] = *places;
        let end = a.max(b).max(c.max(d)).checked_add(channels);
        if activations.len() != self.quads || end.is_none_or(|end| end > bytes.len()) {
            return false;
        }
        if channels == 0 {
            return true;
        }
        #[cfg(armv7e_m)]
        {
            let activations = activations.as_ptr_range();
            let end = bytes.as_mut_ptr().wrapping_add(channels);
            // SAFETY: `new` has checked that for each pair there are as many entries of weights as
            // activations, and that constants are whole words; above, that `channels` bytes of each place may
            // be written. What is said of activations at `add_products` holds here as well.
            #[expect(unsafe_code, reason = "a loop whose registers are chosen by hand")]
            unsafe {
                arm::outputs(
                    self.weights.as_ptr(),
                    activations.start,
                    self.constants.as_ptr(),
                    (channels as isize).wrapping_neg(),
                    activations.end,
                    self.rounding,
                    end.wrapping_add(a),
                    end.wrapping_add(b),
                    end.wrapping_add(c),
                    end.wrapping_add(d),
                );
            }
        }
        #[cfg(not(armv7e_m))]
        for (pair, constants) in self.constants.iter().enumerate() {
            let of_pair = self.weights.get(pair * activations.len()..).unwrap_or(&[]);
            let word = |constants: &Constants, at: usize| {
                constants.as_chunks().0.get(at).map_or(0, |word| i32::from_le_bytes(*word))
            };
            let mut sums = constants.map(|constants| [word(&constants, 0); PIXELS]);
            add_pair(of_pair, activations, &mut sums);
            for (channel, (sums, constants)) in sums.iter().zip(constants).enumerate() {
                let (multiplier, right) = (word(constants, 1), word(constants, 2));
                let rounding = self.rounding.wrapping_shl(right as u32);
                for (sum, place) in sums.iter().zip(places) {
                    let rounding = rounding.wrapping_add(sum >> 31);
                    let high = high_product_sum(sum.wrapping_shl(1), multiplier, rounding);
                    let value = saturate(shift_right(high, right & 31) >> 1);
                    if let Some(byte) = bytes.get_mut(place + 2 * pair + channel) {
                        *byte = value as u8;
                    }
                }
            }
        }
        true
    }
}

#[cfg(not(armv7e_m))]
fn add_pair(weights: &[PairWeights], activations: &[Quad], sums: &mut Sums) {
    let [first, second] = sums;
    for (weights, quad) in weights.iter().zip(activations) {
        let (words, _) = weights.as_chunks();
        for (word, pixels) in words.iter().zip(quad) {
            let word = u32::from_le_bytes(*word);
            let (of_first, of_second) = (even_bytes(word), odd_bytes(word));
            for ((x, first), second) in pixels.iter().zip(&mut *first).zip(&mut *second) {
                *first = products(of_first, *x, *first);
                *second = products(of_second, *x, *second);
            }
        }
    }
}

#[cfg(armv7e_m)]
#[expect(unsafe_code, reason = "all registers are needed")]
mod arm;
