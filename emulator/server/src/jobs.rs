//! Runs and rows of sweeps as jobs of the queue: what a worker is told, what it does, and what it leaves.

mod doer;
mod problem;
mod request;
mod rows;

pub use doer::{Doer, Performed};
pub use problem::{problem_of, said, unreadable};
pub use request::{KIND, RunRequest};
