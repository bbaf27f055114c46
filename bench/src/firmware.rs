//! Firmware of others on an emulated board: what it says, and what it takes.

use std::fs;
use std::path::Path;

use serde::Serialize;
use tilewright_protocol::{Job, Limits};
use tilewright_tests::emulated;

/// Longer than any network of a microcontroller takes.
const INSTRUCTIONS: u64 = 20_000_000_000;
const CONSOLE_BYTES: u64 = 1 << 20;

/// What was counted from reset until the core slept for ever, or a fault.
#[derive(Serialize)]
struct Counted {
    console: String,
    instructions: u64,
    cycles: u64,
    cycles_asleep: u64,
    fault: Option<String>,
    /// Uses of registers that no model answers: address and count.
    unknown_registers: Vec<(u32, u64)>,
}

/// Runs an ELF file on an emulated board and prints what its console said.
///
/// # Errors
/// If the file cannot be read, the board is not known, or the emulator refuses it.
pub fn firmware(file: &Path, board: &str, json: bool) -> Result<(), String> {
    let elf = fs::read(file).map_err(|e| format!("{}: {e}", file.display()))?;
    let board = tilewright_board::find(board).map_err(|e| e.to_string())?;
    let outcome = emulated::run_job(Job {
        strict: false,
        ..Job::new(
            board.id,
            elf,
            Limits { instructions: INSTRUCTIONS, console_bytes: CONSOLE_BYTES },
        )
    })?;
    let counts = outcome.finish.boot;
    let counted = Counted {
        console: String::from_utf8_lossy(&outcome.console).into_owned(),
        instructions: counts.instructions(),
        cycles: counts.cycles().0,
        cycles_asleep: counts.wait_cycles.0,
        fault: outcome.finish.fault.map(|fault| fault.message),
        unknown_registers: outcome.finish.unknown_registers,
    };
    if json {
        let text = serde_json::to_string_pretty(&counted).map_err(|e| e.to_string())?;
        println!("{text}");
        return Ok(());
    }
    println!("{}", counted.console.trim_end());
    println!(
        "{} instructions (counted), {} cycles (modelled), {} of them asleep",
        counted.instructions, counted.cycles, counted.cycles_asleep
    );
    for (address, count) in counted.unknown_registers {
        println!("no model answers 0x{address:08x}, which was used {count} times");
    }
    if let Some(fault) = counted.fault {
        println!("it ended so: {fault}");
    }
    Ok(())
}
