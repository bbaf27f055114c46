//! Clocks: what registers make of a board's oscillator, and what a board would not stand.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{Board, CFGR, CR, FLASH, PLLCFGR, PWR, RCC, full_speed, stm32f};
use tilewright_devices::{AccessError, ClockError};

const DISCO: &str = "stm32f746g-disco";

/// What a board answers to the writes of its firmware, one of which is changed: the first error.
fn changed(id: &str, at: u32, change: impl Fn(u32) -> u32) -> Option<ClockError> {
    written(
        id,
        full_speed(id)
            .into_iter()
            .map(|(address, value)| (address, if address == at { change(value) } else { value })),
    )
}

fn written(id: &str, writes: impl IntoIterator<Item = (u32, u32)>) -> Option<ClockError> {
    let mut board = Board::of(id);
    writes.into_iter().find_map(|(address, value)| match board.try_write(address, value) {
        Err(AccessError::Clock { error, .. }) => Some(error),
        other => {
            other.unwrap();
            None
        }
    })
}

#[test]
fn the_clocks_of_each_firmware_are_right() {
    for id in &stm32f() {
        let mut board = Board::clocked(id);
        assert_eq!(board.read(CFGR) & 0xf, 0xa, "{id}: by the PLL");
    }
}

#[test]
fn the_core_runs_at_what_oscillator_and_pll_make() {
    // N of 400: 200 MHz. By HSI: 16/25 MHz is no input; 16/16 MHz is one.
    let made = |change: &dyn Fn(u32) -> u32| changed(DISCO, PLLCFGR, change).unwrap();
    let slow = made(&|pll| pll & !(0x1ff << 6) | 400 << 6);
    assert_eq!(slow, ClockError::Core { made: 200_000_000, told: 216_000_000 });
    let told = slow.to_string();
    assert!(told.contains("200000000 Hz") && told.contains("216000000 Hz"), "{told}");
    assert_eq!(made(&|pll| pll & !(1 << 22)), ClockError::Input { hertz: 640_000 });
    assert_eq!(changed(DISCO, PLLCFGR, |pll| pll & !(1 << 22 | 0x3f) | 16), None);
    // The oscillator of another board: 25 MHz divided by 8.
    assert_eq!(made(&|pll| pll & !0x3f | 8), ClockError::Input { hertz: 3_125_000 });
    assert_eq!(made(&|pll| pll & !0x3f), ClockError::Input { hertz: 0 });
}

#[test]
fn a_pll_has_its_limits() {
    let made = |change: &dyn Fn(u32) -> u32| changed(DISCO, PLLCFGR, change).unwrap();
    let fast = made(&|pll| pll & !(0x1ff << 6 | 0x3f) | 432 << 6 | 13);
    assert_eq!(fast, ClockError::Oscillates { factor: 432, hertz: 25_000_000 * 432 / 13 });
    let many = made(&|pll| pll | 0x1ff << 6);
    assert_eq!(many, ClockError::Oscillates { factor: 511, hertz: 511_000_000 });
    for wrong in [15 << 24, 14 << 24, 7 << 28, 6 << 28] {
        let left = 0x2900_0000 & !wrong;
        if left >> 24 & 15 < 2 || left >> 28 < 2 {
            assert_eq!(made(&|pll| pll & !0x7f00_0000 | left), ClockError::Divides);
        }
    }
    // The other PLLs too: N of 20.
    let audio = changed("stm32f469i-disco", RCC + 0x88, |pll| pll & !(0x1ff << 6) | 20 << 6);
    assert_eq!(audio, Some(ClockError::Oscillates { factor: 20, hertz: 40_000_000 }));
    // Factors are locked while it is on.
    let again = full_speed(DISCO).into_iter().chain([(PLLCFGR, 0x2440_3010)]);
    assert_eq!(written(DISCO, again), Some(ClockError::Locked { register: "RCC_PLLCFGR" }));
}

#[test]
fn flash_waits_before_the_core_is_fast() {
    for id in &stm32f() {
        let needed = if id == "stm32f469i-disco" { 5 } else { 7 };
        let hertz = if needed == 5 { 180_000_000 } else { 216_000_000 };
        let few = ClockError::WaitStates { hertz, states: needed - 1, needed };
        assert_eq!(changed(id, FLASH, |states| states - 1), Some(few), "{id}");
        // Behind the switch it is too late, and so it is to take them away.
        let mut late = full_speed(id);
        late.retain(|(address, _)| *address != FLASH);
        let none = ClockError::WaitStates { hertz, states: 0, needed };
        assert_eq!(written(id, late), Some(none), "{id}");
        let less = full_speed(id).into_iter().chain([(FLASH, 0)]);
        assert_eq!(written(id, less), Some(none), "{id}");
    }
}

#[test]
fn regulator_and_over_drive_carry_the_clock() {
    for (id, hertz, limit) in [
        ("stm32f746g-disco", 216_000_000, 180_000_000),
        ("nucleo-f767zi", 216_000_000, 180_000_000),
        ("stm32f469i-disco", 180_000_000, 168_000_000),
    ] {
        let error = Some(ClockError::Voltage { hertz, limit });
        assert_eq!(changed(id, PWR, |power| power & !(1 << 16)), error, "{id}: off");
        assert_eq!(changed(id, PWR, |power| power & !(1 << 17)), error, "{id}: not switched to");
        let scale2 = changed(id, PWR, |power| power & !(1 << 14));
        assert!(matches!(scale2, Some(ClockError::Voltage { .. })), "{id}: {scale2:?}");
        // The scale counts once the PLL is on: it is locked then.
        let late = full_speed(id).into_iter().chain([(PWR, 0x0003_8000)]);
        assert_eq!(written(id, late), Some(ClockError::Locked { register: "PWR_CR.VOS" }));
    }
}

#[test]
fn peripheral_buses_have_their_limits() {
    for (id, hertz) in [("stm32f746g-disco", 216_000_000), ("stm32f469i-disco", 180_000_000)] {
        let apb1 = changed(id, CFGR, |cfgr| cfgr & !(7 << 10) | 4 << 10);
        let limit = hertz / 4;
        assert_eq!(apb1, Some(ClockError::Apb { bus: 1, hertz: hertz / 2, limit }));
        let apb2 = changed(id, CFGR, |cfgr| cfgr & !(7 << 13));
        assert_eq!(apb2, Some(ClockError::Apb { bus: 2, hertz, limit: hertz / 2 }));
    }
}

#[test]
fn an_oscillator_that_is_not_there_never_gets_ready() {
    let ready = |board: &mut Board, control: u32| {
        board.write(CR, control);
        board.read(CR) >> 16 & 1 << 1
    };
    for id in &stm32f() {
        let is_crystal = tilewright_board::find(id).unwrap().oscillator.unwrap().is_crystal;
        let bypass = u32::from(!is_crystal) << 18;
        assert_eq!(ready(&mut Board::of(id), 0x0001_0083 | bypass), 2, "{id}");
        assert_eq!(ready(&mut Board::of(id), 0x0001_0083 | bypass ^ 1 << 18), 0, "{id}");
        let mut dead = Board::of(id);
        dead.bus.stop_oscillator();
        assert_eq!(ready(&mut dead, 0x0001_0083 | bypass), 0, "{id}");
        // A PLL of it does not lock, and the core stays with HSI.
        dead.write(PLLCFGR, 0x2940_6c19);
        let pll = dead.try_write(CR, 0x0101_0083 | bypass);
        assert!(matches!(pll, Err(AccessError::Clock { error: ClockError::Input { .. }, .. })));
        assert_eq!(dead.read(CR) >> 24 & 2, 0);
        dead.write(CR, 0x0001_0083 | bypass);
        dead.write(CFGR, 1);
        assert_eq!(dead.read(CFGR), 1, "{id}: SWS stays HSI");
    }
}

#[test]
fn card_and_random_numbers_have_48_megahertz() {
    const RNG: u32 = 0x5006_0800;
    const SDMMC: u32 = 0x4001_2c00;
    for id in &stm32f() {
        for right in [true, false] {
            let mut board = Board::of(id);
            for (address, value) in full_speed(id) {
                // Q of 8, P of 6.
                let wrong = match address {
                    PLLCFGR if id != "stm32f469i-disco" => value ^ 1 << 24,
                    0x4002_3888 => value ^ 1 << 16,
                    _ => value,
                };
                board.write(address, if right { value } else { wrong });
            }
            board.write(RCC + 0x34, 1 << 6);
            board.write(RCC + 0x44, 1 << 11);
            let numbers = board.try_write(RNG, 4);
            board.write(SDMMC, 3);
            let card = board.try_write(SDMMC + 4, 1 << 8 | 118);
            for used in [numbers, card] {
                let told = used.map_err(|error| error.to_string());
                assert_eq!(told.is_ok(), right, "{id}: {told:?}");
                assert!(right || told.unwrap_err().contains("48 MHz, give or take 0.25 %"));
            }
        }
    }
}
