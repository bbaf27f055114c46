//! `tilewright serve` and `tilewright worker`: start the server, a program of its own beside this one.

use std::ffi::OsStr;
use std::iter;

use tilewright_app::Diagnostic;

use crate::Said;
use crate::args::Serve;
use crate::beside::become_program;

/// Becomes the server.
pub fn serve(options: &Serve) -> Result<Said, Diagnostic> {
    become_server(options.options.iter().map(AsRef::as_ref), "The server")
}

/// Becomes a worker.
pub fn worker(options: &Serve) -> Result<Said, Diagnostic> {
    let words = iter::once(OsStr::new("worker"));
    become_server(words.chain(options.options.iter().map(AsRef::as_ref)), "The worker")
}

fn become_server<'w>(
    words: impl Iterator<Item = &'w OsStr>,
    what: &str,
) -> Result<Said, Diagnostic> {
    let how = "Run `cargo xtask serve`, or `cargo build --release -p tilewright-server`.";
    Err(become_program("tilewright-server", words, what, how))
}
