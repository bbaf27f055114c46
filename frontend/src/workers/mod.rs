//! What runs inside the web workers. The work itself is plain Rust, tested on the host.

mod checks;
#[cfg(feature = "importer")]
mod fit;
#[cfg(feature = "importer")]
pub mod graph;
mod host;
#[cfg(feature = "importer")]
pub mod import;
#[cfg(feature = "importer")]
pub mod judge;
#[cfg(feature = "importer")]
pub mod open;
#[cfg(feature = "importer")]
mod package;
pub mod plan;
#[cfg(feature = "importer")]
mod reorder;
#[cfg(feature = "importer")]
mod schedule;
mod serve;
#[cfg(feature = "importer")]
mod sparsity;
mod tiles;
#[cfg(feature = "importer")]
pub mod zoo;

pub use serve::{Outcome, Sliced, Turn, serve, serve_in_slices};

use sha2::{Digest, Sha256};

/// SHA-256 in hexadecimal digits.
fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests;
