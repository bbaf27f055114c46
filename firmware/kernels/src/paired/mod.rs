//! Convolutions and fully connected layers whose weights lie in pairs of output channels: made of
//! [`crate::dsp`]'s instructions, four pixels with two channels at a time.
//!
//! Weights: for each two output channels and each four values of their filters (OHWI) eight bytes,
//! as [`crate::dsp::add_products`] takes them; an odd last channel is paired with zeros. A filter's
//! length is padded with zeros: of convolutions to a multiple of four, of fully connected layers of
//! eight. Weights have no zero point, and there is one group.
//!
//! Transformed weights of 3x3 windows, 32 bytes for each value's nine weights, as [`crate::dsp::winograd`]
//! takes them: for each two output channels, for each [`WINOGRAD_CHUNK`] input channels and what is left,
//! for each of sixteen positions, for each four values v₀ v₂ w₀ w₂ v₁ v₃ w₁ w₃, 16 bits each.
//!
//! Weights without their zeros, of filters of any length: for each block of at most [`SPARSE_BLOCK`] output
//! channels and what is left, for each [`crate::dsp::sparse::COLUMNS`] values of their filters and what is left, a row of each channel, as
//! [`crate::dsp::sparse`] takes them. An empty row has a pair of zeros.
//!
//! Constants: the bias has −input zero point · Σ weights added, so that values are taken as they are
//! and padding is the zero point. [`Entry`] says how factors stand there.
//!
//! On the stack a kernel holds at most [`STACK`] bytes.

mod constants;
mod conv;
mod conv_max_pool;
mod filters;
mod four;
mod fully_connected;
mod patch;
mod sparse;
mod winograd;

#[cfg(feature = "pack")]
pub(crate) use constants::Entry;
pub use conv::conv;
pub use conv_max_pool::conv_max_pool;
pub use fully_connected::fully_connected;
pub use sparse::{SPARSE_BLOCK, SparseWeights, sparse_conv, sparse_fully_connected};
pub use winograd::{WINOGRAD_CHUNK, WINOGRAD_INPUTS, winograd, winograd_bytes};

/// Longest filter: sums of products of bytes, with a bias within ±2^27, stay within ±2^30.
pub const LONGEST: usize = 28 * 1024;

/// Bytes of a filter of `length` values that four pixels meet.
#[must_use]
pub const fn conv_bytes(length: usize) -> usize {
    length.next_multiple_of(4)
}

/// Bytes of a fully connected layer's filter of `length` values.
#[must_use]
pub const fn vector_bytes(length: usize) -> usize {
    length.next_multiple_of(8)
}

/// Whether code is to be small: one loop then serves all lengths and factors.
const SMALL: bool = cfg!(feature = "small");

/// Values of a filter whose activations are held at once, for four pixels.
const CHUNK: usize = 576;

/// Output channels whose sums are held at once.
const BLOCK: usize = crate::portable::BLOCK;

/// Most bytes on the stack: activations, a patch, sums.
pub const STACK: usize = CHUNK * 4 * 2 + CHUNK + BLOCK * 4 * 4;
const _: () = assert!(STACK <= 8 * 1024);
