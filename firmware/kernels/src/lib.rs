//! int8 kernels with the semantics of TFLite's reference kernels, bit for bit.
//!
//! A kernel computes one [`Tile`] of a layer: it reads boxes of NHWC tensors (batch 1) through
//! [`Source`]s, writes one through a [`Target`], and knows nothing of memories or plans. Boxes may
//! be pitched (a part of the channels or columns of a larger tensor) and their rows may wrap
//! (ring buffers). Bytes are int8 in two's complement.
//!
//! Convolutions compute `Σ (x − x_zero) · w + bias` in 32 bits (wrapping), then requantise as
//! [`requantise`] describes, clamp and add the output's zero point. Input outside of the tile's
//! valid box is padding: it counts as zero point in convolutions, and not at all in pools.
//!
//! No kernel allocates or panics: what does not fit its operands is a [`KernelError`].
//!
//! [`portable`] holds kernels that read weights in their natural order, [`paired`] those for weights
//! in pairs of channels, made of [`dsp`]'s instructions, which hold the only `unsafe` code here.
//! [`words`] holds those that take four channels at a time; [`select`] names what runs on this processor.
//! The `pack` feature adds the host's side: [`pack`] makes the bytes that kernels read.
//!
//! One build per core has loops for dual issue or for few loads (feature `dual-issue`); `small` has one loop each, under a board id of
//! its own, so that neither firmware takes the other's plan images. Kernels are compiled for size (`opt-level = "z"`): what runs for each
//! value is assembly, and loops for each four pixels take operands by reference, since structures above 16 bytes are copied there.
#![cfg_attr(not(test), no_std)]

#[cfg(feature = "pack")]
extern crate alloc;

mod channels;
mod clamp;
pub mod dsp;
mod error;
mod geometry;
#[cfg(feature = "pack")]
pub mod pack;
pub mod paired;
pub mod portable;
pub mod requantise;
pub mod select;
pub mod words;

pub use channels::{Channel, Channels};
pub use error::KernelError;
pub use geometry::{Layout, Output, Source, Taps, Target, Tile, Window};
pub use requantise::{Factor, Multiplier};
pub use select::*;
