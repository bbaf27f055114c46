//! Why a job has no outcome.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;

/// Why a job has no outcome. A fault of the emulated board is an outcome.
#[derive(Debug, Error)]
pub enum RunnerError {
    /// The worker cannot be started.
    #[error("the emulator worker {path} cannot be started: {reason}; run `cargo xtask build`")]
    Start {
        /// The program.
        path: PathBuf,
        /// What the system says.
        reason: io::Error,
    },
    /// The worker speaks another version of the protocol.
    #[error(
        "the emulator worker speaks protocol {worker}, this program {runner}; run `cargo xtask build`"
    )]
    Version {
        /// Ours.
        runner: u32,
        /// The worker's.
        worker: u32,
    },
    /// The worker says that it cannot do the job.
    #[error("the emulator worker refused the job: {0}")]
    Refused(String),
    /// The worker ended without a result.
    #[error("the emulator worker ended without a result ({status}): {last_words}")]
    Crashed {
        /// Exit code or signal.
        status: String,
        /// The end of what it wrote to standard error.
        last_words: String,
    },
    /// The worker wrote what is no message, or not the one that is due.
    #[error("the emulator worker does not keep to the protocol: {reason}: {last_words}")]
    Protocol {
        /// What was wrong.
        reason: String,
        /// The end of what it wrote to standard error.
        last_words: String,
    },
    /// The job took longer than allowed.
    #[error("the run took longer than {} s", .0.as_secs_f32())]
    TimeLimit(Duration),
    /// The job was cancelled.
    #[error("the run was cancelled")]
    Cancelled,
}
