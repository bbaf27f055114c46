//! From the board file: the linker's memory regions, and the addresses that the firmware uses.

use std::path::Path;
use std::{env, fs};

use tilewright_plan::Space;

/// Bytes of SRAM for the stack. Statics follow behind it, so that a stack that grows too deep
/// leaves RAM and faults instead of overwriting them.
const STACK_BYTES: u64 = 12 * 1024;

fn main() {
    let board =
        tilewright_board::find("stm32f746g-disco").expect("the board's file is well-formed");
    let firmware = board.firmware.as_ref().expect("the board's file has a firmware section");
    // The code names the port's registers, pins and interrupt.
    assert_eq!(firmware.console, "USART1", "src/uart.rs drives USART1");
    let plan_address = board.plan_address().expect("the plan lies within 32-bit addresses");
    let statics_address = u64::from(firmware.sram_address) + STACK_BYTES;
    let statics_bytes = firmware.sram_bytes.0 - STACK_BYTES;

    let memory = format!(
        "MEMORY {{\n  FLASH : ORIGIN = {:#010x}, LENGTH = {:#x}\n  RAM : ORIGIN = {:#010x}, LENGTH = {:#x}\n}}\n\
         /* The stack grows down from the statics to the start of SRAM. */\n\
         _stack_start = ORIGIN(RAM);\n_stack_end = {:#010x};\n",
        firmware.flash_address,
        firmware.flash_bytes.0,
        statics_address,
        statics_bytes,
        firmware.sram_address,
    );
    let external = |space| {
        let memory = board.external(space).expect("the board has external RAM and flash");
        (memory.address.expect("the core addresses them"), memory.bytes.0)
    };
    let (ram_address, ram_bytes) = external(Space::ExternalRam);
    let (external_flash_address, external_flash_bytes) = external(Space::ExternalFlash);
    let constants = format!(
        "/// Id of the board.\npub const BOARD: &str = \"{}\";\n\
         /// Address of the plan image.\npub const PLAN_ADDRESS: usize = {:#010x};\n\
         /// Bytes of flash for the plan image.\npub const PLAN_BYTES: usize = {:#x};\n\
         /// Address of the tensor arena.\npub const ARENA_ADDRESS: usize = {:#010x};\n\
         /// Bytes of the tensor arena.\npub const ARENA_BYTES: usize = {:#x};\n\
         /// First and one past the last address of the stack.\n\
         pub const STACK: core::ops::Range<u32> = {:#010x}..{:#010x};\n\
         /// Baud rate of the console.\npub const BAUD: u32 = {};\n\
         /// Frequency of the core's clock.\npub const CLOCK_HERTZ: u32 = {};\n\
         /// Address of external RAM.\npub const EXTERNAL_RAM_ADDRESS: usize = {ram_address:#010x};\n\
         /// Bytes of external RAM.\npub const EXTERNAL_RAM_BYTES: usize = {ram_bytes:#x};\n\
         /// Address of external flash.\n\
         pub const EXTERNAL_FLASH_ADDRESS: usize = {external_flash_address:#010x};\n\
         /// Bytes of external flash.\n\
         pub const EXTERNAL_FLASH_BYTES: usize = {external_flash_bytes:#x};\n",
        board.id,
        plan_address,
        board.plan_bytes().0,
        firmware.arena_address,
        firmware.arena_bytes.0,
        firmware.sram_address,
        statics_address,
        firmware.console_baud,
        board.core.clock.hertz.0,
    );

    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    fs::write(Path::new(&out).join("memory.x"), memory).expect("OUT_DIR can be written");
    fs::write(Path::new(&out).join("board.rs"), constants).expect("OUT_DIR can be written");
    println!("cargo::rustc-link-search={out}");
    println!("cargo::rustc-link-arg-bins=--nmagic");
    println!("cargo::rustc-link-arg-bins=-Tlink.x");
    println!("cargo::rerun-if-changed=build.rs");
}
