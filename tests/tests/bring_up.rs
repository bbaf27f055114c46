//! The program that tests a new board: a sound board passes, and what is broken on one is found and named.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;

use tilewright_protocol::{CardJob, Hardware, SdramFault, SerialFlash};
use tilewright_tests::bring_up::{BOARDS, Line, emulate};

/// A card with bytes that differ from sector to sector.
fn card() -> CardJob {
    let image = (0..1 << 20).map(|at: u32| (at.wrapping_mul(0x9e37_79b1) >> 24) as u8).collect();
    CardJob {
        class: "sd-class10".to_owned(),
        image: Arc::new(image),
        bytes: 32_000_000_000,
        faults: Vec::new(),
    }
}

fn lines(board: &str, hardware: Hardware, card: Option<CardJob>) -> Vec<Line> {
    let board = tilewright_board::find(board).unwrap();
    emulate(&board, hardware, card).unwrap_or_else(|error| panic!("{}: {error}", board.id))
}

/// The parts that failed.
fn failed(lines: &[Line]) -> Vec<(&str, &str)> {
    let failed = lines.iter().filter_map(|line| Some((line, line.failed.as_deref()?)));
    failed.map(|(line, why)| (line.part.as_str(), why)).collect()
}

#[test]
fn a_sound_board_passes() {
    for board in BOARDS {
        let lines = lines(board, Hardware::default(), Some(card()));
        assert_eq!(failed(&lines), [], "{board}: {lines:#?}");
        println!("{lines:#?}");
    }
}

#[test]
fn what_is_broken_is_found_and_named() {
    let sound = Hardware::default();
    let sdram = |fault| Hardware { sdram: Some(fault), ..sound };
    let faults = [
        ("SDRAM", sdram(SdramFault::Dead)),
        ("SDRAM", sdram(SdramFault::StuckLow(1 << 9))),
        ("SDRAM", sdram(SdramFault::AddressLine(20))),
        (
            "serial flash",
            Hardware { serial_flash: SerialFlash::Other([0xc8, 0x40, 0x18]), ..sound },
        ),
    ];
    for board in ["stm32f746g-disco", "stm32f469i-disco"] {
        for (part, hardware) in &faults {
            let lines = lines(board, hardware.clone(), Some(card()));
            let parts: Vec<_> = failed(&lines).into_iter().map(|(part, _)| part).collect();
            assert_eq!(parts, [*part], "{board}, {hardware:?}: {lines:#?}");
        }
        let lines = lines(board, sound, None);
        let why = failed(&lines);
        assert!(
            matches!(why.as_slice(), [("card", why)] if why.contains("slot is empty")),
            "{why:?}"
        );
    }
}
