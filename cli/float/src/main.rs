//! The `tilewright` program with tract in it. `tilewright verify --float` becomes this one, with the
//! same words, so that all other commands are built without tract.

use std::process::ExitCode;

fn main() -> ExitCode {
    tilewright_cli::run(Some(tilewright_float::compare_for))
}
