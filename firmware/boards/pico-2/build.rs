//! What this board's file says, for the linker and the code.

#[path = "../board_file.rs"]
mod board_file;

use std::path::Path;
use std::{env, fs};

/// The block that the boot ROM looks for, behind the vector table and so within the first 4 KB (RP2350 datasheet,
/// bootrom, image definitions).
const IMAGE_DEFINITION: &str = "SECTIONS {
  .start_block : ALIGN(4) {
    KEEP(*(.start_block));
  } > FLASH
} INSERT AFTER .vector_table;
_stext = ADDR(.start_block) + SIZEOF(.start_block);
";

fn main() {
    board_file::write("pico-2", "UART0");
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let path = Path::new(&out).join("memory.x");
    let memory = fs::read_to_string(&path).expect("it was written above");
    fs::write(path, memory + IMAGE_DEFINITION).expect("OUT_DIR can be written");
}
