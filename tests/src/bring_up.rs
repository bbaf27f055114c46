//! The program that tests a new board (`firmware/boards/stm32/src/bring_up`), run on an emulated one.

use std::fs;

use tilewright_board::Board;
use tilewright_protocol::{CardJob, Hardware, Job, Limits};

use crate::emulated;

/// The boards that have it: those with an STM32F4 or STM32F7.
#[must_use]
pub fn boards() -> Vec<Board> {
    let mut boards = emulated::boards();
    boards.retain(|board| board.chip.as_ref().is_some_and(|chip| chip.starts_with("stm32f")));
    boards
}

/// What the program said of one part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub part: String,
    /// What was found.
    pub found: String,
    /// Why it failed, if it did.
    pub failed: Option<String>,
}

/// The lines that a console said, up to the last.
///
/// # Errors
/// If these are not the lines of this program, or not all of them.
pub fn heard(console: &str) -> Result<Vec<Line>, String> {
    let mut lines =
        console.lines().map(str::trim).skip_while(|line| !line.starts_with("bring-up "));
    lines.next().ok_or("there is no line `bring-up <board>`: it is said after a reset")?;
    let mut parts = Vec::new();
    for line in lines {
        if line.starts_with("done, ") {
            return Ok(parts);
        }
        let (part, rest) =
            line.split_once(':').ok_or_else(|| format!("'{line}' is not `part: result`"))?;
        let (found, failed) = match (rest.split_once("FAIL "), rest.strip_suffix(" ok")) {
            (Some((found, why)), _) => (found, Some(why.to_owned())),
            (None, Some(found)) => (found, None),
            (None, None) => return Err(format!("'{line}' ends neither in ok nor in FAIL")),
        };
        let (part, found) = (part.to_owned(), found.trim().to_owned());
        parts.push(Line { part, found, failed });
    }
    Err("there is no line `done`: the log ends too early".to_owned())
}

/// Runs it on an emulated board with this hardware and card.
///
/// # Errors
/// If it is not built, or says something else.
pub fn emulate(
    board: &Board,
    hardware: Hardware,
    card: Option<CardJob>,
) -> Result<Vec<Line>, String> {
    let path = emulated::dist().join("bring-up").join(&board.id).with_extension("elf");
    let elf =
        fs::read(&path).map_err(|e| format!("{}: {e}; run `cargo xtask build`", path.display()))?;
    let outcome = emulated::run_job(Job {
        card,
        hardware,
        ..Job::new(
            board.id.clone(),
            elf,
            Limits { instructions: 2_000_000_000, console_bytes: 1 << 16 },
        )
    })?;
    // The core sleeps for ever once all is said, which the worker tells as a fault.
    let console = String::from_utf8_lossy(&outcome.console);
    heard(&console).map_err(|e| {
        format!("{e}; the board said: {console}; {:?}", outcome.finish.fault.map(|f| f.message))
    })
}
