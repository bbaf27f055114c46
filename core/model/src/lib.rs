//! Graph IR, passes, quantiser and the two reference interpreters.
//!
//! A [`Model`] is a directed acyclic graph of [`Node`]s over [`Tensor`]s, stored in an order in
//! which it can be executed. Activations are NHWC. The same IR holds float and int8 models.

mod alone;
pub mod data;
pub mod file_graph;
#[cfg(test)]
mod fixtures;
pub mod float;
pub mod graph;
pub mod infer;
pub mod int8;
pub mod integer;
pub mod interpret;
mod joined;
pub mod op;
pub mod passes;
pub mod prune;
pub mod quantise;
pub mod ranged;
pub mod seeded;
pub mod shape;
pub mod summary;
pub mod tensor;
pub mod tiling;
pub mod verify;

pub use data::{Data, Source};
pub use graph::{
    FileType, FileTypes, Model, Node, NodeId, SparseBlocks, State, TensorId, may_name,
};
pub use interpret::RunError;
pub use op::{Activation, Op, Padding, Places, ResizeMode, Unary, Window};
pub use ranged::{Ranged, Store};
pub use seeded::Seeded;
pub use shape::Shape;
pub use summary::{OperatorKind, Summary};
pub use tensor::{DType, Quantisation, Tensor};
pub use verify::VerifyError;
