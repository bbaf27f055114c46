//! The built command-line program.

use std::env;
use std::path::PathBuf;
use std::process::{Command, Output};

use crate::emulated::project;

/// The `tilewright` program: what `TILEWRIGHT_PROGRAM` names, else the release build.
#[must_use]
pub fn program() -> Command {
    let path = env::var_os("TILEWRIGHT_PROGRAM")
        .map_or_else(|| project().join("target/release/tilewright"), PathBuf::from);
    let mut command = Command::new(path);
    command.current_dir(project());
    command
}

/// Runs the program to its end.
///
/// # Panics
/// If it is not there.
#[must_use]
pub fn run(arguments: &[&str]) -> Output {
    program().args(arguments).output().unwrap_or_else(|e| {
        panic!("the tilewright program does not start: {e}; run `cargo xtask build`")
    })
}

/// Runs the program and reads the JSON that it prints.
///
/// # Panics
/// If it prints none, or exits with another code than `code`.
#[must_use]
pub fn json(arguments: &[&str], code: i32) -> serde_json::Value {
    let output = run(arguments);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {complaint}");
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{arguments:?}: {e}: {complaint}"))
}
