//! An independent opinion on importer and quantiser: tract runs the ONNX file itself, and its values
//! are held against those of our float interpreter and of the int8 model, tensor by tensor.
//!
//! What differs between tract and our float interpreter is the importer's fault, or tract's. What
//! differs only in int8 is the price of quantising, and the report names the first layer that loses
//! much. A TensorFlow Lite file has no such opinion: there our float interpreter is the one.

mod blame;
mod compare;
mod error;
mod heirs;
mod host;
mod layout;
mod original;
mod tally;

pub use compare::{Subject, compare};
pub use error::FloatError;
pub use host::compare_for;

#[cfg(test)]
mod tests;
