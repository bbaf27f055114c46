//! The `tilewright` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    tilewright_cli::run(None)
}
