//! What runs inside the web workers. The work itself is plain Rust, tested on the host.

#[cfg(feature = "importer")]
pub mod cells;
mod checks;
#[cfg(feature = "emulator")]
pub mod emulator;
#[cfg(feature = "importer")]
mod exits;
#[cfg(feature = "float")]
pub mod float;
#[cfg(feature = "importer")]
pub mod graph;
mod host;
#[cfg(feature = "importer")]
pub mod import;
#[cfg(feature = "importer")]
pub mod judge;
mod known_classes;
#[cfg(feature = "importer")]
mod labelled;
#[cfg(feature = "importer")]
mod listen;
#[cfg(feature = "emulator")]
pub mod modules;
#[cfg(feature = "importer")]
pub mod open;
#[cfg(feature = "importer")]
mod package;
#[cfg(feature = "importer")]
mod papers;
pub mod plan;
#[cfg(feature = "importer")]
mod reorder;
#[cfg(feature = "importer")]
mod saved_files;
#[cfg(feature = "search")]
pub mod search;
#[cfg(feature = "importer")]
mod searches;
mod serve;
#[cfg(feature = "importer")]
mod sparsity;
#[cfg(feature = "importer")]
mod sweep;
mod tiles;
#[cfg(feature = "importer")]
mod what_fits;
#[cfg(feature = "importer")]
pub mod zoo;

pub use serve::{Outcome, Sliced, Tell, Turn, clock, serve, serve_in_slices, serve_news};

use tilewright_app::hexadecimal;

/// SHA-256 in hexadecimal digits.
fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&tilewright_app::sha256(bytes))
}

#[cfg(test)]
mod tests;
