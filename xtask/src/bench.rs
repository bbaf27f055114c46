//! Benchmarks and calibration, both parts of the `bench` package. Most emulate real firmware, so
//! what they run is built first.

use anyhow::Result;

use crate::build::{self, Part, Selection};
use crate::process;
use crate::project::{Project, Workspace};

/// Runs the benchmark program with these arguments; whether it succeeded.
///
/// # Errors
/// When the build fails or the program cannot start.
pub fn bench(project: &Project, args: &[String]) -> Result<bool> {
    let emulates_only = |name: &str| {
        [
            "calibrate",
            "campaign",
            "clock",
            "emulation",
            "faults",
            "firmware",
            "driver-overhead",
            "kernels",
            "networks",
        ]
        .contains(&name)
    };
    let needs_nothing = |name: &str| {
        ["allocate", "auto", "beyond", "peers", "plans", "queue", "reference", "results"]
            .contains(&name)
    };
    // Options of all benchmarks may stand before the name.
    let name = args.iter().find(|arg| !arg.starts_with('-'));
    if name.is_some_and(|name| needs_nothing(name)) {
        // They plan, simulate and compute within the benchmark program.
    } else if name.is_some_and(|name| emulates_only(name)) {
        build::build(project, &[Part::Firmware, Part::Worker], Selection::Product)?;
    } else {
        build::build(project, &[], Selection::Product)?;
    }
    let mut command = project.cargo(Workspace::Main, "run");
    command.args(["--quiet", "--release", "--package", "tilewright-bench", "--"]).args(args);
    process::succeeds(&mut command)
}
