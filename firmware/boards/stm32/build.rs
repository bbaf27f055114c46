//! What the file of the board says that this build is for, for the linker and the code.

#[path = "../board_file.rs"]
mod board_file;

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

use tilewright_board::{Board, Wires};
use tilewright_plan::Space;

fn main() {
    let is_asked_for = |board: &Board| {
        let feature = board.id.to_uppercase().replace('-', "_");
        env::var_os(format!("CARGO_FEATURE_{feature}")).is_some()
    };
    let boards: Vec<Board> = tilewright_board::all().into_iter().filter(is_asked_for).collect();
    let [board] = boards.as_slice() else {
        println!("cargo::error=name one board: --features <id of the board>");
        return;
    };
    board_file::write_all(board);
    match wired(board) {
        Ok(text) => {
            let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
            fs::write(Path::new(&out).join("wired.rs"), text).expect("OUT_DIR can be written");
        }
        Err(reason) => println!("cargo::error=boards/{}.toml: {reason}", board.id),
    }
}

/// Names of pins for `src/wired.rs`, in the order in which `embassy-stm32` takes them.
///
/// # Errors
/// What is missing in the board's file.
fn wired(board: &Board) -> Result<String, String> {
    let oscillator = board.oscillator.as_ref().ok_or("the board has no oscillator")?;
    let firmware = board.firmware.as_ref().ok_or("the board has no firmware")?;
    let wires = |names: &[&str]| {
        let wires = names.iter().find_map(|name| board.wires_of(name));
        wires.ok_or_else(|| format!("nothing is wired to {}", names.join(" or ")))
    };
    let mode = if oscillator.is_crystal { "Oscillator" } else { "Bypass" };
    let port = &firmware.console;
    let bus = if matches!(port.as_str(), "USART1" | "USART6") { 2 } else { 1 };
    let mut text = format!(
        "wired! {{\n    oscillator {} {mode};\n    console {port} {} apb{bus}enr {}en;\n",
        oscillator.hertz.0,
        listed(wires(&[port])?, &["RX", "TX"])?,
        port.to_lowercase(),
    );
    let mut add = |name: &str, pins: String| {
        writeln!(text, "    {name} {pins};").expect("a string takes whatever is written");
    };
    if firmware.serves.contains(&Space::ExternalRam) {
        let wires = wires(&["FMC"])?;
        let [rows, lines, banks] = ["A", "D", "BA"].map(|signal| wires.pins_of(signal).count());
        let signals =
            ["A", "BA", "D", "NBL", "SDCKE0", "SDCLK", "SDNCAS", "SDNE0", "SDNRAS", "SDNWE"];
        let pins = listed(wires, &signals)?;
        let new = format!("sdram_a{rows}bits_d{lines}bits_{}banks_bank1", 1 << banks);
        add(&format!("sdram {new} {lines}"), pins);
    }
    if firmware.serves.contains(&Space::ExternalFlash) {
        let wires = wires(&["QUADSPI"])?;
        add("serial_flash", listed(wires, &["BK1_IO", "CLK", "BK1_NCS"])?);
    }
    if firmware.serves.contains(&Space::Card) {
        add("card", listed(wires(&["SDMMC1", "SDIO"])?, &["CK", "CMD", "D"])?);
    }
    Ok(text + "}\n")
}

/// The pins of these signals.
///
/// # Errors
/// If one has no pin.
fn listed(wires: &Wires, signals: &[&str]) -> Result<String, String> {
    let missing = |signal| format!("no pin carries {signal} of {}", wires.peripheral);
    let pins = signals.iter().map(|signal| {
        let pins: Vec<&str> = wires.pins_of(signal).collect();
        if pins.is_empty() { Err(missing(signal)) } else { Ok(pins.join(" ")) }
    });
    Ok(format!("[{}]", pins.collect::<Result<Vec<_>, _>>()?.join(" ")))
}
