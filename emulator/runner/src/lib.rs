//! Starts, limits and kills workers: one process for each job.
//!
//! The worker is a program of its own, for its licence and because it may crash. Nothing of it
//! is linked; [`Runner::run`] starts it, speaks [`tilewright_protocol`] with it, and leaves no
//! process behind, however the job ends.

mod error;
mod locate;
mod outcome;
mod process;
mod run;
mod talk;

pub use error::RunnerError;
pub use locate::WorkerMissing;
pub use outcome::RunOutcome;
pub use run::{Runner, WorkerLimits};
pub use talk::Talk;
