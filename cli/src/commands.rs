//! The commands.

use tilewright_app::Diagnostic;

pub mod allocate;
pub mod board;
pub mod boards;
pub mod check;
pub mod explore;
pub mod export;
mod float;
pub mod image;
pub mod inspect;
mod intensity;
pub mod order;
pub mod overlay;
pub mod papers;
pub mod plan;
pub mod prune;
mod quantisation;
mod reorder;
pub mod run;
pub mod serve;
pub mod tile;
pub mod train;
pub mod verify;
pub mod zoo;

/// Exit code of a solver whose budget did not do to know whether there is a solution.
pub const UNDECIDED: u8 = 4;

/// Text of a value as JSON.
///
/// # Errors
/// Reports hold text and numbers only, so an error is ours.
pub fn json(value: &impl serde::Serialize) -> Result<String, Diagnostic> {
    let mut text = serde_json::to_string_pretty(value)
        .map_err(|error| Diagnostic::ours(format!("{error}."), "JSON"))?;
    text.push('\n');
    Ok(text)
}
