//! `tilewright board`: the board on the desk.

#[cfg(target_os = "linux")]
mod emulate;
mod flash;
mod list;
mod measure;
mod run;
mod talk;

use tilewright_app::Diagnostic;

use crate::Said;
use crate::args::board::Board;

/// Does what is asked for.
pub fn board(options: &Board) -> Result<Said, Diagnostic> {
    match options {
        Board::List { json } => list::list(json.json),
        Board::Flash(options) => flash::flash(options),
        Board::Run(options) => run::run(options),
        Board::Measure(options) => measure::measure(options),
        #[cfg(target_os = "linux")]
        Board::Emulate(options) => emulate::emulate(options),
        #[cfg(not(target_os = "linux"))]
        Board::Emulate(_) => Err(Diagnostic::new(
            tilewright_app::Blame::BadInput,
            "The emulated board is served at a pseudo-terminal of Linux.",
            "board emulate",
            "Use `tilewright run`, which runs the same image without a port.",
        )),
    }
}
