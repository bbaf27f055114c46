//! Programs of their own beside this one, which it becomes when they are asked for: what they link
//! takes longer to build than all the rest.

use std::ffi::OsStr;
use std::process::Command;

use tilewright_app::{Blame, Diagnostic};

/// Becomes the program of this name; where that is impossible, waits for its end. It comes back with
/// what keeps it from that; `what` names the program to people, `how` says how to build it.
pub fn become_program(
    name: &str,
    arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
    what: &str,
    how: &str,
) -> Diagnostic {
    let own = match std::env::current_exe() {
        Ok(own) => own,
        Err(error) => return Diagnostic::ours(format!("{error}."), "this program"),
    };
    let program = own.with_file_name(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    let error = start(Command::new(&program).args(arguments));
    Diagnostic::new(
        Blame::NotBuilt,
        format!("{what} cannot be started: {error}."),
        program.display().to_string(),
        how,
    )
}

#[cfg(unix)]
fn start(command: &mut Command) -> std::io::Error {
    use std::os::unix::process::CommandExt;
    command.exec()
}

#[cfg(not(unix))]
fn start(command: &mut Command) -> std::io::Error {
    match command.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(3)),
        Err(error) => error,
    }
}
