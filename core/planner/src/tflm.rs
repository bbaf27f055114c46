//! TensorFlow Lite Micro (TFLM): the arena that it makes for a file, and the order of operators and
//! the offsets with which it would need the least, for a file that is written anew.
//!
//! The runtime knows tensors as plain blocks. Operators overwrite nothing in place but for one: a
//! reshape whose output lies where its input lies copies nothing. Tensors lie at multiples of
//! [`ALIGNMENT`] and are rounded up to it. What kernels ask for besides (scratch) is placed by the
//! runtime around the offsets that the file prescribes, and counted nowhere here.

mod greedy;
mod lives;
mod problem;
mod rearrange;
#[cfg(test)]
mod tests;

use thiserror::Error;

use tilewright_allocate::ProblemError;
use tilewright_order::{ArrangeError, GraphError, OrderError};

pub use greedy::arena;
pub use rearrange::{Rearranged, Report, rearrange};

/// Bytes to which the runtime aligns tensors and rounds their sizes.
pub const ALIGNMENT: u64 = 16;

/// Most tensors in an arena: the runtime's planner compares each with each.
pub const MOST_TENSORS: usize = 20_000;

/// Most operators that are looked at, those of a called graph once for each call.
const MOST_CALLED: usize = 1 << 20;

/// Deepest nesting of graphs in graphs.
const DEEPEST: usize = 16;

/// Why a file cannot be rearranged.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TflmError {
    /// More tensors than the runtime's planner can handle.
    #[error("{tensors} tensors in the arena, at most {MOST_TENSORS} can be planned")]
    TooMany {
        /// How many there are.
        tensors: usize,
    },
    /// A tensor beyond the runtime's 32-bit sizes.
    #[error("tensor '{tensor}' of {bytes} bytes makes the arena larger than 2 GiB")]
    TooLarge {
        /// The tensor.
        tensor: String,
        /// Its size.
        bytes: u64,
    },
    /// A graph that calls itself, or calls without end.
    #[error("graph {subgraph} is called by itself, too deeply or too often")]
    Calls {
        /// Index of the graph.
        subgraph: usize,
    },
    /// A tensor or graph that does not exist, or a list of the wrong length.
    #[error("{0}")]
    Mismatch(String),
    /// The operators are no graph that can be put in order.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// The file's own order is none.
    #[error(transparent)]
    Order(#[from] OrderError),
    /// The tensors cannot be placed.
    #[error("the tensor arena: {0}")]
    Arena(#[from] ProblemError),
    /// The search was ended.
    #[error("cancelled")]
    Cancelled,
    /// The offsets found are wrong: a fault of the solver.
    #[error("the offsets found are wrong: {0}")]
    Wrong(String),
}

impl From<ArrangeError> for TflmError {
    fn from(error: ArrangeError) -> Self {
        match error {
            ArrangeError::Buffers(error) => Self::Arena(error),
            ArrangeError::Order(error) => Self::Order(error),
        }
    }
}
