//! The files for the board, and where they go.

use tilewright_board::Board;

use super::figures;
use crate::message::{PlanFacts, Reordered};

/// A stretch of the board's memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// What lies there.
    pub title: &'static str,
    /// First address.
    pub address: String,
    /// Bytes that are used, if that is known here.
    pub used: Option<u64>,
    /// Bytes that there are.
    pub room: u64,
}

/// Where firmware, plan and arena lie.
#[must_use]
pub fn stretches(plan: &PlanFacts, board: &Board) -> Vec<Stretch> {
    let Some(firmware) = &board.firmware else { return Vec::new() };
    let address = |value: u32| figures::address(u64::from(value));
    vec![
        Stretch {
            title: "Firmware (flash)",
            address: address(firmware.flash_address),
            used: None,
            room: firmware.flash_bytes.0,
        },
        Stretch {
            title: "Plan image (flash)",
            address: board.plan_address().map(address).unwrap_or_default(),
            used: Some(plan.report.flash_bytes.0),
            room: board.plan_bytes().0,
        },
        Stretch {
            title: "Firmware (SRAM)",
            address: address(firmware.sram_address),
            used: None,
            room: firmware.sram_bytes.0,
        },
        Stretch {
            title: "Tensor arena (SRAM)",
            address: address(firmware.arena_address),
            used: Some(plan.report.peak_sram_bytes.0),
            room: firmware.arena_bytes.0,
        },
    ]
}

/// The file with an input for firmware that runs; its ending is that of a board's image.
const INPUT: &str = "input.bin";

/// What a file is for, by its name.
#[must_use]
pub fn purpose(name: &str) -> &'static str {
    if name == INPUT {
        return "the chosen input, to be sent over the serial console to the firmware that runs; it is \
                no firmware: keep it off the board's drive";
    }
    match name.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "zip" => "everything below in one archive, with the plan image and how to place it all",
        "flash" => "what external flash holds, from its first byte on",
        "card" => "what the card holds, from its first block on",
        "txt" => "addresses, checksums, how to flash and try it",
        "elf" => "firmware and plan with symbols, for probe-rs or a debugger",
        "bin" => "raw bytes from the first flash address on; copy it to the board's drive",
        "hex" => "Intel HEX, for STM32CubeProgrammer and most other tools",
        "uf2" => "blocks with addresses; copy it to the drive that the board shows",
        "plan" => "the plan alone, for firmware that is on the board already",
        "tflite" => "the model for TensorFlow Lite Micro",
        _ => "",
    }
}

/// What a file in another order gains: "73\u{202f}728 → 55\u{202f}296 B, 25 % less".
#[must_use]
pub fn gain(reordered: &Reordered) -> String {
    let Reordered { before_bytes: before, arena_bytes: after, .. } = *reordered;
    let [from, to] = [before, after].map(figures::grouped);
    match before.checked_sub(after) {
        None | Some(0) => format!("{to} B, as before"),
        Some(less) => {
            format!("{from} → {to} B, {} less", figures::percent(less as f64, before as f64))
        }
    }
}

/// How good that is, and what was changed for it.
#[must_use]
pub fn proof(reordered: &Reordered) -> String {
    let bound = reordered.lower_bound_bytes;
    let proof = if reordered.arena_bytes == bound {
        "no order and no offsets need less (proved)".to_owned()
    } else {
        format!("nothing needs less than {} B (proved)", figures::grouped(bound))
    };
    match reordered.moved {
        0 => format!("{proof}; the operators stay in their order"),
        moved => format!("{proof}; {moved} of {} operators moved", reordered.operators),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view_model::fixture;

    #[test]
    fn the_plan_lies_behind_the_firmware() {
        let board = fixture::board();
        let stretches = stretches(&fixture::plan(), &board);
        assert_eq!(stretches[0].address, "0x0800_0000");
        assert_eq!(
            stretches[1].address,
            figures::address(u64::from(board.plan_address().unwrap()))
        );
        assert!(stretches.iter().all(|s| s.used.is_none_or(|used| used <= s.room)));
    }

    #[test]
    fn each_file_says_what_it_is_for() {
        for ending in ["zip", "elf", "bin", "hex", "uf2", "flash", "card", "txt", "plan", "tflite"]
        {
            assert!(!purpose(&format!("lenet5.{ending}")).is_empty());
        }
        let (firmware, input) = (purpose("lenet5.bin"), purpose("input.bin"));
        assert!(firmware.contains("copy it to the board's drive"), "{firmware}");
        assert!(input.contains("console") && !input.contains("copy it"), "{input}");
        assert_eq!(INPUT, tilewright_image::INPUT, "as it is named where it is made");
    }

    #[test]
    fn a_gain_is_told_with_its_proof() {
        let file = crate::message::FileFacts {
            name: "net.tflite".to_owned(),
            bytes: 1,
            sha256: String::new(),
        };
        let mut reordered = Reordered {
            file,
            operators: 31,
            moved: 0,
            before_bytes: 73_728,
            arena_bytes: 55_296,
            lower_bound_bytes: 55_296,
        };
        assert_eq!(gain(&reordered), "73\u{202f}728 → 55\u{202f}296 B, 25 % less");
        assert_eq!(
            proof(&reordered),
            "no order and no offsets need less (proved); the operators stay in their order"
        );
        reordered = Reordered { moved: 4, before_bytes: 55_296, ..reordered };
        reordered.lower_bound_bytes = 50_000;
        assert_eq!(gain(&reordered), "55\u{202f}296 B, as before");
        let words = proof(&reordered);
        assert!(
            words.contains("50\u{202f}000 B") && words.contains("4 of 31 operators"),
            "{words}"
        );
    }
}
