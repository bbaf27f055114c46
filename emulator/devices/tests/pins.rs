//! A peripheral works only on pins that are set as the board wires them.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{Board, RCC};
use tilewright_devices::AccessError;

const QUADSPI: u32 = 0xa000_1000;
const FMC: u32 = 0xa000_0000;
const SDMMC: u32 = 0x4001_2c00;
const USART1: u32 = 0x4001_1000;

/// A pin of a port, 0 is A, with its function and speed.
type Pin = (u32, u32, u32, u32);

/// A board whose pins are set so, all else being clocked.
fn with_pins(id: &str, pins: &[Pin]) -> Board {
    let mut board = Board::clocked(id);
    board.bus.be_strict();
    board.write(RCC + 0x30, 0x7ff);
    board.write(RCC + 0x38, 3);
    board.write(RCC + 0x44, 1 << 11 | 1 << 4);
    for &(port, pin, function, speed) in pins {
        let port = 0x4002_0000 + port * 0x400;
        let mut set = |offset: u32, shift: u32, bits: u32, value: u32| {
            let old = board.read(port + offset) & !(((1 << bits) - 1) << shift);
            board.write(port + offset, old | value << shift);
        };
        set(0x00, pin * 2, 2, 2);
        set(0x08, pin * 2, 2, speed);
        set(0x20 + pin / 8 * 4, pin % 8 * 4, 4, function);
    }
    board
}

/// What a write answers of pins.
fn told(board: &mut Board, address: u32, value: u32) -> Option<String> {
    match board.try_write(address, value) {
        Err(error @ AccessError::Pin { .. }) => Some(error.to_string()),
        other => {
            other.unwrap();
            None
        }
    }
}

/// CLK PB2, NCS PB6, IO0 PD11, IO1 PD12, IO3 PD13, IO2 PE2.
const FLASH: [Pin; 6] =
    [(1, 2, 9, 3), (1, 6, 10, 3), (3, 11, 9, 3), (3, 12, 9, 3), (3, 13, 9, 3), (4, 2, 9, 3)];

#[test]
fn serial_flash_needs_its_six_pins() {
    let used = |pins: &[Pin]| told(&mut with_pins("stm32f746g-disco", pins), QUADSPI + 0x14, 0);
    assert_eq!(used(&FLASH), None);
    for index in 0..FLASH.len() {
        let mut pins = FLASH;
        pins[index].2 ^= 3;
        assert!(used(&pins).unwrap().contains("is used, but P"), "{index}: another function");
        let mut pins = FLASH;
        pins[index].3 = 2;
        assert!(used(&pins).unwrap().contains("speed 3 or more"), "{index}: slower");
        let pins = [&FLASH[..index], &FLASH[index + 1..]].concat();
        let missing = used(&pins).unwrap();
        assert!(missing.contains("QUADSPI_") && missing.contains("mode 0"), "{missing}");
    }
    // The pins of another board.
    assert!(told(&mut with_pins("stm32f469i-disco", &FLASH), QUADSPI + 0x14, 0).is_some());
}

#[test]
fn sdram_needs_all_of_its_pins() {
    // Ports C to H with every pin at function 12 are more than enough for 16 lines, not for 32.
    let all: Vec<Pin> =
        (2..8).flat_map(|port| (0..16).map(move |pin| (port, pin, 12, 3))).collect();
    let used = |id: &str, pins: &[Pin]| told(&mut with_pins(id, pins), FMC + 0x150, 0);
    assert_eq!(used("stm32f746g-disco", &all), None);
    let narrow = used("stm32f469i-disco", &all).unwrap();
    assert!(narrow.contains("PI0") && narrow.contains("FMC_D24"), "{narrow}");
    // SDCKE0 lies on PC3, not PH2.
    let swapped: Vec<Pin> = all.iter().copied().filter(|pin| (pin.0, pin.1) != (2, 3)).collect();
    let told = used("stm32f746g-disco", &swapped).unwrap();
    assert!(told.contains("PC3") && told.contains("FMC_SDCKE0"), "{told}");
}

#[test]
fn card_and_console_need_their_pins() {
    const CARD: [Pin; 6] = [
        (2, 8, 12, 3),
        (2, 9, 12, 3),
        (2, 10, 12, 3),
        (2, 11, 12, 3),
        (2, 12, 12, 3),
        (3, 2, 12, 3),
    ];
    for id in &common::stm32f() {
        assert_eq!(told(&mut with_pins(id, &CARD), SDMMC + 0x0c, 0), None, "{id}");
        let less = told(&mut with_pins(id, &CARD[1..]), SDMMC + 0x0c, 0).unwrap();
        assert!(less.contains("PC8") && less.contains("_D0"), "{id}: {less}");
    }
    // PA9 and PB7; the port is on.
    let console = |pins: &[Pin]| told(&mut with_pins("stm32f746g-disco", pins), USART1, 0xd);
    assert_eq!(console(&[(0, 9, 7, 0), (1, 7, 7, 0)]), None);
    assert!(console(&[(0, 9, 7, 0), (1, 6, 7, 0)]).unwrap().contains("USART1_RX"));
    assert!(console(&[(0, 9, 8, 0), (1, 7, 7, 0)]).unwrap().contains("function 8"));
}
