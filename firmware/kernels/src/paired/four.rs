//! Output channels of four pixels.

use super::constants::finish;
use super::filters::Filters;
use super::patch::{Activations, Input, Seen};
use super::{BLOCK, CHUNK};
use crate::clamp::clamp;
use crate::dsp::{PIXELS, Pairs, Quad, Sums, add_products, outputs_of_one};
use crate::error::KernelError;

/// Where the bytes of four pixels go: each one's place in the bytes.
pub struct Places<'b> {
    pub bytes: &'b mut [u8],
    pub places: &'b [usize; PIXELS],
}

/// Computes output channels `first..first + count` of four pixels, whose activations are there, by their
/// [`Pairs`]; `first` is even.
#[inline(never)]
pub fn compute_fast(
    input: &Input<'_, '_>,
    filters: &Filters<'_>,
    pairs: &Pairs<'_>,
    activations: &[Quad],
    [first, count]: [usize; 2],
    to: Places<'_>,
) -> Result<(), KernelError> {
    let Places { bytes, places } = to;
    let output = &input.op.output;
    let mut fits = pairs.outputs(activations, bytes, places);
    if count % 2 == 1 {
        let last = first + count - 1;
        let (constants, weights) = (filters.channels.from(last), filters.of_pairs(last));
        let constants = constants.entries().first().ok_or(KernelError::ConstantsTooShort)?;
        let constants = [[*constants; 2]];
        let pair = Pairs::new(weights, &constants, filters.entries, output.zero);
        let mut two = [0; 2 * PIXELS];
        fits &= pair.is_some_and(|pair| pair.outputs(activations, &mut two, &[0, 2, 4, 6]));
        for ([byte, _], place) in two.as_chunks().0.iter().zip(places) {
            let to = bytes.get_mut(place.wrapping_add(count - 1));
            *to.ok_or(KernelError::OutOfBounds)? = *byte;
        }
    }
    if !fits {
        return Err(KernelError::OutOfBounds);
    }
    if output.is_narrow() {
        for place in *places {
            clamp(output, bytes.get_mut(place..place.wrapping_add(count)).unwrap_or(&mut []));
        }
    }
    Ok(())
}

/// Computes all output channels of the first `count` pixels, one pixel after the other, by filters that
/// [are eights](Filters::are_eights).
#[inline(never)]
pub fn compute_apart(
    input: &Input<'_, '_>,
    filters: &Filters<'_>,
    activations: &mut Activations,
    seen: &Seen<'_, '_>,
    count: usize,
    to: Places<'_>,
) -> Result<(), KernelError> {
    for (pixel, place) in to.places.iter().enumerate().take(count) {
        let held = activations.load_one(input, seen, pixel, filters)?;
        let bytes = to.bytes.get_mut(*place..place.wrapping_add(filters.outputs));
        let bytes = bytes.unwrap_or(&mut []);
        let weights = filters.weights.as_chunks().0;
        let pairs = filters.channels.entries().as_chunks().0;
        if !outputs_of_one(weights, held, pairs, input.op.output.zero, bytes) {
            return Err(KernelError::OutOfBounds);
        }
        clamp(&input.op.output, bytes);
    }
    Ok(())
}

/// Sums of no products.
const NONE: [Sums; BLOCK / 2] = [[[0; PIXELS]; 2]; BLOCK / 2];

/// Computes output channels `first..first + count` of four pixels, at most [`BLOCK`], whatever the
/// filters' length and factors; `first` is even.
#[inline(never)]
pub fn compute(
    input: &Input<'_, '_>,
    filters: &Filters<'_>,
    activations: &mut Activations,
    seen: &Seen<'_, '_>,
    [first, count]: [usize; 2],
    to: Places<'_>,
) -> Result<(), KernelError> {
    let mut sums = NONE;
    let sums = sums.get_mut(..count.div_ceil(2)).ok_or(KernelError::Shape)?;
    let mut start = 0;
    while start < filters.length {
        let end = (start + CHUNK).min(filters.length);
        let activations = activations.load(input, seen, start..end)?;
        let weights = filters.of_pairs(first).get(start / 4..).unwrap_or(&[]);
        if !add_products(weights, filters.entries, activations, sums) {
            return Err(KernelError::ConstantsTooShort);
        }
        start = end;
    }
    let output = &input.op.output;
    let channels = filters.channels.from(first);
    let sums = sums.as_flattened().iter().take(count);
    for (channel, (sums, constants)) in sums.zip(channels.iter()).enumerate() {
        let mut bytes = [0; PIXELS];
        finish(sums, &constants, output, &mut bytes);
        for (byte, place) in bytes.iter().zip(to.places) {
            let to = to.bytes.get_mut(place.wrapping_add(channel));
            *to.ok_or(KernelError::OutOfBounds)? = *byte;
        }
    }
    Ok(())
}
