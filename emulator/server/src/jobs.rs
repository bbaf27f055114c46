//! Runs as jobs of the queue: what a worker is told, what it does, and what it leaves.

mod doer;
mod problem;
mod request;

pub use doer::{Doer, Performed};
pub use problem::{problem_of, said};
pub use request::{KIND, RunRequest};
