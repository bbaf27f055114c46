//! The order of operators that needs the least memory, proved or with the gap to a bound.
//!
//! Problem: operators read and write tensors; a tensor takes its bytes from the operator that
//! writes it to the last that reads it. Which topological order has the least peak? Sudharsan et
//! al., section 3, ask the same question; [`published`] is their algorithm, [`Solver`] ours.

mod bisection;
mod cursor;
mod cuts;
mod flow;
mod graph;
mod greedy;
mod joint;
mod merge;
mod net;
mod of_model;
mod problem;
mod published_algorithm;
mod search;
mod series_parallel;
mod solve;
#[cfg(test)]
mod tests;

pub use graph::{Effect, Graph, GraphError, LARGEST_SUM, Operator, Rules, Tensor};
pub use joint::{ArrangeError, Arranged, Joint, arrange};
pub use problem::{Measured, OrderError, Placed, Problem};
pub use published_algorithm::published;
pub use solve::{Budget, Ordered, Solver};
