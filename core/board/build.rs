//! Reads `boards/*.toml` and encodes them for the library: a malformed file fails the build.

#[allow(dead_code, reason = "the library uses the rest")]
#[path = "src/board.rs"]
mod board;
#[path = "src/file.rs"]
mod file;

use std::path::Path;
use std::{env, fs};

/// Names of the files, in the order in which boards are offered.
const BOARDS: &[&str] = &["stm32f746g-disco"];

fn main() {
    let folder = env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    let folder = Path::new(&folder).join("../../boards");
    let read = |id: &&str| {
        let path = folder.join(id).with_extension("toml");
        println!("cargo::rerun-if-changed={}", path.display());
        let text = fs::read_to_string(&path).map_err(|error| error.to_string());
        match text.and_then(|text| file::parse(id, &text)) {
            Ok(board) => Some(board),
            Err(reason) => {
                println!("cargo::error=board file '{id}': {reason}");
                None
            }
        }
    };
    let boards: Vec<board::Board> = BOARDS.iter().filter_map(read).collect();
    let bytes = postcard::to_allocvec(&boards).expect("boards are plain values");
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    fs::write(Path::new(&out).join("boards.postcard"), bytes).expect("OUT_DIR can be written");
    println!("cargo::rerun-if-changed=build.rs");
}
