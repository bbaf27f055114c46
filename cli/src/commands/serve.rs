//! `tilewright serve`: starts the server, a program of its own beside this one.

use std::process::Command;

use tilewright_app::{Blame, Diagnostic};

use crate::Said;
use crate::args::Serve;

/// The server's program.
const PROGRAM: &str = "tilewright-server";

/// Becomes the server; where that is impossible, waits for its end.
pub fn serve(options: &Serve) -> Result<Said, Diagnostic> {
    let own = std::env::current_exe()
        .map_err(|error| Diagnostic::ours(format!("{error}."), "this program"))?;
    let program = own.with_file_name(format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX));
    let error = start(Command::new(&program).args(&options.options))?;
    Err(Diagnostic::new(
        Blame::NotBuilt,
        format!("The server cannot be started: {error}."),
        program.display().to_string(),
        "Run `cargo xtask serve`, or `cargo build --release -p tilewright-server`.",
    ))
}

#[cfg(unix)]
fn start(command: &mut Command) -> Result<std::io::Error, Diagnostic> {
    use std::os::unix::process::CommandExt;
    Ok(command.exec())
}

#[cfg(not(unix))]
fn start(command: &mut Command) -> Result<std::io::Error, Diagnostic> {
    match command.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(3)),
        Err(error) => Ok(error),
    }
}
