//! This computer as a host of the application: finds what was built, and starts, limits and kills
//! workers, one process for each job.
//!
//! The worker is a program of its own, for its licence and because it may crash. Nothing of it
//! is linked; [`Runner::run`] starts it, speaks [`tilewright_protocol`] with it, and leaves no
//! process behind, however the job ends.

mod dist;
mod error;
mod locate;
mod native;
mod process;
mod run;
mod talk;
mod workers;

pub use dist::Dist;
pub use error::RunnerError;
pub use locate::WorkerMissing;
pub use native::{Emulator, Native};
pub use run::{Runner, WorkerLimits};
pub use talk::Talk;
pub use workers::{Execute, Workers};
