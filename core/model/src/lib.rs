//! Graph IR, passes, quantiser and the two reference interpreters.
//!
//! A [`Model`] is a directed acyclic graph of [`Node`]s over [`Tensor`]s, stored in an order in
//! which it can be executed. Activations are NHWC. The same IR holds float and int8 models.

pub mod data;
pub mod graph;
pub mod integer;
pub mod op;
pub mod shape;
pub mod tensor;
pub mod verify;

pub use data::{Data, Source};
pub use graph::{Model, Node, NodeId, TensorId};
pub use op::{Activation, Op, Padding, Window};
pub use shape::Shape;
pub use tensor::{DType, Quantisation, Tensor};
pub use verify::VerifyError;
