//! Benchmarks and calibration, both parts of the `bench` package. They emulate real firmware, so
//! everything is built first.

use anyhow::Result;

use crate::build::{self, Selection};
use crate::process;
use crate::project::{Project, Workspace};

/// Runs the benchmark program with these arguments; whether it succeeded.
///
/// # Errors
/// When the build fails or the program cannot start.
pub fn bench(project: &Project, args: &[String]) -> Result<bool> {
    build::build(project, None, Selection::Product)?;
    let mut command = project.cargo(Workspace::Main, "run");
    command.args(["--quiet", "--release", "--package", "tilewright-bench", "--"]).args(args);
    process::succeeds(&mut command)
}
