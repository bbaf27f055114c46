//! From the board file: the linker's memory regions, and the addresses that the firmware uses. The
//! build scripts of all boards share this file.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

use tilewright_board::MemoryKind;
use tilewright_plan::Space;

/// Bytes of the firmware's SRAM for statics. All that is before them is the stack, so that one that
/// grows too deep leaves RAM and faults instead of overwriting them.
const STATICS_BYTES: u64 = 2048;

/// Writes `memory.x` and `board.rs` for a board whose code drives the port `console`; of its firmware with
/// small kernels if the feature says so.
pub fn write(id: &str, console: &str) {
    let board = tilewright_board::find(id).expect("the board's file is well-formed");
    let board = match env::var_os("CARGO_FEATURE_SMALL") {
        Some(_) => board.small().expect("the board's file says where small firmware ends"),
        None => board,
    };
    let firmware = board.firmware.as_ref().expect("the board's file has a firmware section");
    // The code names the port's registers, pins and interrupt.
    assert_eq!(firmware.console, console, "src/uart.rs drives {console}");
    let plan_address = board.plan_address().expect("the plan lies within 32-bit addresses");
    let statics_address = u64::from(firmware.sram_address) + firmware.sram_bytes.0 - STATICS_BYTES;

    let memory = format!(
        "MEMORY {{\n  FLASH : ORIGIN = {:#010x}, LENGTH = {:#x}\n  RAM : ORIGIN = {:#010x}, LENGTH = {:#x}\n}}\n\
         /* The stack grows down from the statics to the start of SRAM. */\n\
         _stack_start = ORIGIN(RAM);\n_stack_end = {:#010x};\n",
        firmware.flash_address,
        firmware.flash_bytes.0,
        statics_address,
        STATICS_BYTES,
        firmware.sram_address,
    );
    let mut constants = format!(
        "/// Id of the board.\npub const BOARD: &str = \"{}\";\n\
         /// Address of the plan image.\npub const PLAN_ADDRESS: usize = {:#010x};\n\
         /// Bytes of flash for the plan image.\npub const PLAN_BYTES: usize = {:#x};\n\
         /// Address of the tensor arena.\npub const ARENA_ADDRESS: usize = {:#010x};\n\
         /// Bytes of the tensor arena.\npub const ARENA_BYTES: usize = {:#x};\n\
         /// Baud rate of the console.\npub const BAUD: u32 = {};\n\
         /// Frequency of the core's clock.\npub const CLOCK_HERTZ: u32 = {};\n",
        board.id,
        plan_address,
        board.plan_bytes().0,
        firmware.arena_address,
        firmware.arena_bytes.0,
        firmware.console_baud,
        board.core.clock.hertz.0,
    );

    for (space, name, what) in [
        (Space::ExternalRam, "EXTERNAL_RAM", "external RAM"),
        (Space::ExternalFlash, "EXTERNAL_FLASH", "external flash"),
    ] {
        if !firmware.serves.contains(&space) {
            continue;
        }
        let memory = board.external(space).expect("the board has what its firmware serves");
        let address = memory.address.expect("the core addresses it");
        writeln!(
            constants,
            "/// Address of {what}.\npub const {name}_ADDRESS: usize = {address:#010x};\n\
             /// Bytes of {what}.\npub const {name}_BYTES: usize = {:#x};",
            memory.bytes.0
        )
        .expect("a string takes whatever is written");
    }

    if let Some(card) =
        board.external(Space::Card).filter(|_| firmware.serves.contains(&Space::Card))
    {
        writeln!(
            constants,
            "/// Bytes of a card that plans may use.\npub const CARD_BYTES: u64 = {:#x};",
            card.bytes.0
        )
        .expect("a string takes whatever is written");
    }

    let coupled = board.memory.iter().find(|memory| memory.kind == MemoryKind::Dtcm);
    if let (Some(_), Some(memory)) = (&board.core.data_cache, coupled) {
        let start = memory.address.expect("the core addresses it");
        let end = u64::from(start) + memory.bytes.0;
        writeln!(
            constants,
            "/// Memory that the core does not cache.\n\
             pub const UNCACHED: core::ops::Range<u32> = {start:#010x}..{end:#010x};"
        )
        .expect("a string takes whatever is written");
    }

    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    fs::write(Path::new(&out).join("memory.x"), memory).expect("OUT_DIR can be written");
    fs::write(Path::new(&out).join("board.rs"), constants).expect("OUT_DIR can be written");
    println!("cargo::rustc-link-search={out}");
    println!("cargo::rustc-link-arg-bins=--nmagic");
    println!("cargo::rustc-link-arg-bins=-Tlink.x");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../board_file.rs");
}
