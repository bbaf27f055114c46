//! The program that tests a new board: a sound board passes, and what is broken on one is found and named.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;

use tilewright_protocol::{BrokenUnit, CardJob, Hardware, SdramFault, SerialFlash};
use tilewright_tests::bring_up::{Line, boards, emulate};

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
    let boards = boards();
    assert!(boards.len() >= 3, "{boards:?}");
    for board in boards {
        let lines = lines(&board.id, Hardware::default(), Some(card()));
        assert_eq!(failed(&lines), [], "{}: {lines:#?}", board.id);
    }
}

/// What is broken, and the parts that say so: the one whose unit it is, and those that need it.
fn faults() -> Vec<(Hardware, &'static [&'static str])> {
    let sound = Hardware::default();
    let sdram = |fault| Hardware { sdram: Some(fault), ..sound };
    let broken = |unit| Hardware { broken: Some(unit), ..sound };
    let unknown = SerialFlash::Other([0xc8, 0x40, 0x18]);
    vec![
        (sdram(SdramFault::Dead), &["SDRAM"]),
        (sdram(SdramFault::StuckLow(1 << 9)), &["SDRAM"]),
        (sdram(SdramFault::AddressLine(20)), &["SDRAM"]),
        (Hardware { serial_flash: unknown, ..sound }, &["serial flash"]),
        (broken(BrokenUnit::SerialFlash), &["serial flash"]),
        (broken(BrokenUnit::Checksums), &["checksum unit"]),
        (broken(BrokenUnit::RandomNumbers), &["random numbers"]),
        (broken(BrokenUnit::Copies), &["DMA", "data cache"]),
        (Hardware { crystal_dead: true, ..sound }, &["clock"]),
        (Hardware { card_fastest_hertz: Some(12_000_000), ..sound }, &["card"]),
    ]
}

#[test]
fn what_is_broken_is_found_and_named() {
    // What both boards have is broken on the one, and the rest on each.
    let faster = faults();
    let other: Vec<_> =
        faults().into_iter().filter(|(hardware, _)| hardware.sdram.is_none()).collect();
    for (board, faults) in [("stm32f746g-disco", faster), ("stm32f469i-disco", other)] {
        for (hardware, parts) in faults {
            let lines = lines(board, hardware, Some(card()));
            let failed = failed(&lines);
            let named = |(part, _): &(&str, &str)| parts.contains(part);
            assert!(
                !failed.is_empty() && failed.iter().all(named) && failed[0].0 == parts[0],
                "{board}, {hardware:?}: {lines:#?}"
            );
        }
        let lines = lines(board, Hardware::default(), None);
        let why = failed(&lines);
        assert!(
            matches!(why.as_slice(), [("card", why)] if why.contains("slot is empty")),
            "{why:?}"
        );
    }
}

/// What the STM32F746 alone has: a card at 48 MHz, and reads whose command stays open.
#[test]
fn what_a_card_cannot_do_on_the_faster_board_is_found() {
    let slow = Hardware { card_fastest_hertz: Some(25_000_000), ..Hardware::default() };
    let silent = Hardware { full_flag_missing: true, ..Hardware::default() };
    for (hardware, text) in [(slow, "48 MHz"), (silent, "a piece")] {
        let lines = lines("stm32f746g-disco", hardware, Some(card()));
        let failed = failed(&lines);
        assert!(matches!(failed.as_slice(), [("card", _)]), "{lines:#?}");
        let told = format!("{} {}", lines.last().unwrap().found, failed[0].1);
        assert!(told.contains(text), "{told}");
    }
}
