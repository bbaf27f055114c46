//! From the board file: the linker's memory regions, and the addresses that the firmware uses. The
//! build scripts of all boards share this file.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

use tilewright_board::{Board, MemoryKind};
use tilewright_plan::{LaneKind, Space};

/// Bytes for statics: at the end of the memory that is coupled to the core for code, if the board has any,
/// else of the firmware's SRAM. All else of that SRAM is the stack, so that one that grows too deep leaves RAM
/// and faults instead of overwriting them.
const STATICS_BYTES: u64 = 3808;

/// What runs from memory coupled to the core, if the board has any: what the core does between kernels, by
/// the beginnings of the names of its functions' sections. While a kernel runs it takes the code cache for
/// itself, so that from flash each of these instructions would be waited for anew at each step and copy.
const COUPLED: [&str; 24] = [
    "tilewright_mark",
    "tilewright_compute",
    "DMA2_STREAM0",
    "*18tilewright_runtime7program",
    "*18tilewright_runtime8dispatch4Step3run",
    "*18tilewright_runtime8dispatch4Step12with_weights",
    "*18tilewright_runtime6memory",
    "*18tilewright_runtime7convert6output",
    "*18tilewright_runtime7convert6window",
    "*18tilewright_runtime7convert13conv_max_pool",
    "*18tilewright_runtime8schedule",
    "*18tilewright_runtime6pieces",
    "*15tilewright_plan5image6packed*Cursor",
    "*15tilewright_plan5image5steps",
    "*16tilewright_stm327engines5State",
    "*16tilewright_stm327engines9memory_of",
    "*16tilewright_stm325cache",
    "*16tilewright_stm323dma",
    "*tilewright_stm32..engines..Engines*LaneDriver*4wait",
    "*tilewright_stm32..engines..Engines*LaneDriver*14core_completed",
    "*15tilewright_plan4view4View6extent",
    "*15tilewright_plan4step11Instruction11from_record",
    "*15tilewright_plan6kernel6Kernel5roles",
    "*15tilewright_plan7filters",
];
/// Bytes of coupled memory that stay free at its start: no function has the address zero. Code ends before the
/// statics.
const COUPLED_START: u64 = 64;

/// Coupled memory of so many bytes holds kernels too.
const KERNELS_BYTES: u64 = 65_536;

/// Code whose functions each begin at a line of flash, by the beginnings of the names of its functions'
/// sections: kernels, and what copies for them. What a loop waits for code depends on which lines it lies in;
/// so it stays what it is, and what calibration knows of it too, where other code grows. Small firmware has no
/// bytes for that.
const AT_LINES: [&str; 3] =
    ["*18tilewright_kernels", "*18tilewright_runtime8dispatch", "*compiler_builtins3mem"];
/// Bytes of the longest line of flash that a core fetches code by (STM32F7: 256 bits).
const LINE: usize = 32;

/// Writes all that [`write_all`] does for a board whose code drives the port `console`.
#[allow(dead_code, reason = "a crate for several boards takes any port")]
pub fn write(id: &str, console: &str) {
    let board = tilewright_board::find(id).expect("the board's file is well-formed");
    let firmware = board.firmware.as_ref().expect("the board's file has a firmware section");
    // The code names the port's registers, pins and interrupt.
    assert_eq!(firmware.console, console, "src/uart.rs drives {console}");
    write_all(&board);
}

/// Writes `memory.x`, `board.rs` and `bring_up.rs` for a board; of its firmware with small kernels if the feature says
/// so.
pub fn write_all(board: &Board) {
    let is_small = env::var_os("CARGO_FEATURE_SMALL").is_some();
    let board = if is_small {
        board.small().expect("the board's file says where small firmware ends")
    } else {
        board.clone()
    };
    let firmware = board.firmware.as_ref().expect("the board's file has a firmware section");
    let plan_address = board.plan_address().expect("the plan lies within 32-bit addresses");
    let sram_end = u64::from(firmware.sram_address) + firmware.sram_bytes.0;
    let (statics_address, stack_start) = match coupled_memory(&board) {
        Some(memory) => (memory.end - STATICS_BYTES, sram_end),
        None => (sram_end - STATICS_BYTES, sram_end - STATICS_BYTES),
    };

    let memory = format!(
        "MEMORY {{\n  FLASH : ORIGIN = {:#010x}, LENGTH = {:#x}\n  RAM : ORIGIN = {:#010x}, LENGTH = {:#x}\n}}\n\
         /* The stack grows down to the start of SRAM. */\n\
         _stack_start = {:#010x};\n_stack_end = {:#010x};\n",
        firmware.flash_address,
        firmware.flash_bytes.0,
        statics_address,
        STATICS_BYTES,
        stack_start,
        firmware.sram_address,
    );
    let at_lines = if is_small || keeps_kernels(&board) { String::new() } else { at_lines() };
    let memory = memory + &coupled(&board) + &at_lines;
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

    let served = |space| board.external(space).filter(|_| firmware.serves.contains(&space));
    for (space, name, what) in [
        (Space::ExternalRam, "EXTERNAL_RAM", "external RAM"),
        (Space::ExternalFlash, "EXTERNAL_FLASH", "external flash"),
    ] {
        let memory = served(space);
        assert!(memory.is_some() || !firmware.serves.contains(&space), "the board has no {what}");
        let place = memory.map_or("None".to_owned(), |memory| {
            let address = memory.address.expect("the core addresses it");
            format!("Some(({address:#010x}, {:#x}))", memory.bytes.0)
        });
        writeln!(
            constants,
            "/// Address and bytes of {what} that the firmware sets up.\n\
             pub const {name}: Option<(usize, usize)> = {place};"
        )
        .expect("a string takes whatever is written");
    }

    let slot =
        board.slot.as_ref().map(|slot| slot.bytes_per_second * 8 / u64::from(slot.data_lines));
    writeln!(
        constants,
        "/// Bytes of a card that plans may use.\npub const CARD_BYTES: u64 = {:#x};\n\
         /// The fastest clock that the way to it carries.\npub const CARD_HERTZ: u32 = {};\n\
         /// Whether a read may wait for room with its command open.\npub const OPEN_READS: bool = {};",
        served(Space::Card).map_or(0, |card| card.bytes.0),
        slot.unwrap_or(0),
        board.engine(LaneKind::Card).is_some_and(|engine| engine.open_reads)
    )
    .expect("a string takes whatever is written");

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
    fs::write(Path::new(&out).join("bring_up.rs"), for_bring_up(&board))
        .expect("OUT_DIR can be written");
    println!("cargo::rustc-link-search={out}");
    println!("cargo::rustc-link-arg-bins=--nmagic");
    println!("cargo::rustc-link-arg-bins=-Tlink.x");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../board_file.rs");
}

/// What tests of a new board name: memories that DMA reaches, and the first border within the arena.
fn for_bring_up(board: &Board) -> String {
    /// Bytes at a memory's end that are copied.
    const COPIED: u64 = 256;
    let Some(firmware) = &board.firmware else { return String::new() };
    let mut text = String::from(
        "use crate::bring_up;\n\
         /// Memories that DMA reaches.\npub const REACHED: &[bring_up::Reached] = &[\n",
    );
    let mut starts = Vec::new();
    for memory in &board.memory {
        let (Some(timing), Some(address)) = (&memory.timing, memory.address) else { continue };
        if timing.dma_read.is_none() {
            continue;
        }
        let is_written = timing.dma_write.is_some();
        let space = firmware.serves.iter().find(|space| {
            board.external(**space).is_some_and(|outside| outside.address == memory.address)
        });
        let at =
            if is_written { u64::from(address) + memory.bytes.0 - COPIED } else { address.into() };
        let space =
            space.map_or("None".to_owned(), |space| format!("Some(bring_up::Space::{space:?})"));
        writeln!(
            text,
            "    bring_up::Reached {{ name: {:?}, address: {at:#010x}, is_written: {is_written}, \
             outside: {space} }},",
            memory.name
        )
        .expect("a string takes whatever is written");
        starts.push(address);
    }
    let arena = firmware.arena_address + 1..firmware.arena_address + firmware.arena_bytes.0 as u32;
    let border = starts.into_iter().filter(|start| arena.contains(start)).min().unwrap_or(0);
    writeln!(
        text,
        "];\n/// Where one memory of the arena ends and the next begins; 0 if it is one.\n\
         pub const BORDER: u32 = {border:#010x};"
    )
    .expect("a string takes whatever is written");
    text
}

/// Memory that is coupled to the core for code (ITCM), but for its first bytes.
fn coupled_memory(board: &Board) -> Option<std::ops::Range<u64>> {
    let memory = board.memory.iter().find(|memory| memory.kind == MemoryKind::Itcm)?;
    let start = u64::from(memory.address.expect("the core addresses it"));
    Some(start + COUPLED_START..start + memory.bytes.0)
}

/// Whether that holds kernels too, and what copies for them.
fn keeps_kernels(board: &Board) -> bool {
    coupled_memory(board).is_some_and(|memory| memory.end - memory.start >= KERNELS_BYTES)
}

/// The linker's view of memory for code that is coupled to the core: a section behind all others in flash,
/// which start-up copies; nothing if the board has none.
fn coupled(board: &Board) -> String {
    let Some(memory) = coupled_memory(board) else { return String::new() };
    let bytes = memory.end - STATICS_BYTES - memory.start;
    let kernels: &[&str] = if keeps_kernels(board) { &AT_LINES } else { &[] };
    let sections: String =
        COUPLED.iter().chain(kernels).map(|name| format!("    *(.text.{name}*);\n")).collect();
    format!(
        "MEMORY {{ COUPLED : ORIGIN = {:#010x}, LENGTH = {bytes:#x} }}\n\
         SECTIONS {{\n  .coupled : ALIGN(8) {{\n    __scoupled = .;\n{sections}    . = ALIGN(8);\n    \
         __ecoupled = .;\n  }} > COUPLED AT > FLASH\n  __sicoupled = LOADADDR(.coupled);\n}} INSERT AFTER \
         .uninit;\n",
        memory.start
    )
}

/// The linker's view of code that begins at lines of flash: a section behind all other code. It stands behind what
/// is coupled to the core, which takes what it names first.
fn at_lines() -> String {
    let sections: String = AT_LINES.iter().map(|name| format!("    *(.text.{name}*);\n")).collect();
    format!(
        "SECTIONS {{\n  .kernels : ALIGN({LINE}) SUBALIGN({LINE}) {{\n{sections}  }} > FLASH\n}} INSERT AFTER .text;\n"
    )
}
