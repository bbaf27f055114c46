//! Emulation speed.

use crate::engine::JobError;

/// Runs the benchmark.
///
/// # Errors
/// If the emulator cannot be set up.
pub fn bench() -> Result<String, JobError> {
    Ok(String::new())
}
