//! What this board's file says, for the linker and the code.

#[path = "../board_file.rs"]
mod board_file;

use std::path::Path;
use std::{env, fs};

fn main() {
    board_file::write("bench-cortex-m33", "USART1");
    // The linker's script asks for default handlers of a microcontroller: there is one interrupt, and it
    // has a handler.
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    fs::write(Path::new(&out).join("device.x"), "").expect("OUT_DIR can be written");
}
