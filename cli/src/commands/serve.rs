//! `tilewright serve`: starts the server, a program of its own beside this one.

use tilewright_app::Diagnostic;

use crate::Said;
use crate::args::Serve;
use crate::beside::become_program;

/// Becomes the server.
pub fn serve(options: &Serve) -> Result<Said, Diagnostic> {
    let how = "Run `cargo xtask serve`, or `cargo build --release -p tilewright-server`.";
    Err(become_program("tilewright-server", &options.options, "The server", how))
}
