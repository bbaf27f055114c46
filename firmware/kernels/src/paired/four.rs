//! Output channels of four pixels.

use super::constants::finish;
use super::filters::Filters;
use super::patch::{Activations, Input, Seen};
use super::{BLOCK, CHUNK};
use crate::clamp::clamp;
use crate::dsp::{PIXELS, Quad, Sums, add_products, outputs};
use crate::error::KernelError;

/// Where the bytes of four pixels go: each one's place in the bytes.
pub struct Places<'b> {
    pub bytes: &'b mut [u8],
    pub places: &'b [usize; PIXELS],
}

/// Computes output channels `first..first + count` of four pixels, whose activations are there;
/// `first` is even.
#[inline(never)]
pub fn compute_fast(
    input: &Input<'_, '_>,
    filters: &Filters<'_>,
    activations: &[Quad],
    [first, count]: [usize; 2],
    to: Places<'_>,
) -> Result<(), KernelError> {
    let Places { bytes, places } = to;
    let output = &input.op.output;
    let (pairs, single) = filters.constants(first);
    let whole = pairs.len().min(count / 2);
    let pairs = pairs.get(..whole).unwrap_or(&[]);
    let weights = filters.of_pairs(first);
    let mut fits = outputs(weights, activations, pairs, output.zero, bytes, places);
    if count % 2 == 1 {
        let mut last = [0; 2 * PIXELS];
        let single = [[*single.ok_or(KernelError::ConstantsTooShort)?; 2]];
        let weights = weights.get(whole * filters.entries..).unwrap_or(&[]);
        fits &= outputs(weights, activations, &single, output.zero, &mut last, &[0, 2, 4, 6]);
        for ([byte, _], place) in last.as_chunks().0.iter().zip(places) {
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
