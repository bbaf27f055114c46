//! A board's devices, and the clocks that its firmware sets.
#![allow(dead_code, reason = "each file of tests uses a part of this")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use tilewright_board::Oscillator;
use tilewright_devices::{AccessError, Bus, Size, Time};

pub const RCC: u32 = 0x4002_3800;
pub const PWR: u32 = 0x4000_7000;
pub const FLASH: u32 = 0x4002_3c00;
/// Registers of RCC.
pub const CR: u32 = RCC;
pub const PLLCFGR: u32 = RCC + 0x04;
pub const CFGR: u32 = RCC + 0x08;

/// Devices at a point in time.
pub struct Board {
    pub bus: Bus,
    pub now: Time,
}

impl Board {
    /// After reset.
    pub fn of(id: &str) -> Self {
        let board = tilewright_board::find(id).unwrap();
        Self { bus: Bus::new(&board).unwrap(), now: Time(0) }
    }

    /// With the clocks that the board's firmware sets: 216 or 180 MHz, and 48 MHz for card and random numbers.
    pub fn clocked(id: &str) -> Self {
        let mut board = Self::of(id);
        for (address, value) in full_speed(id) {
            board.write(address, value);
        }
        board
    }

    pub fn read(&mut self, address: u32) -> u32 {
        self.bus.read(address, Size::Word, self.now, 0).unwrap()
    }

    /// Writes, and waits as DSB does.
    pub fn try_write(&mut self, address: u32, value: u32) -> Result<(), AccessError> {
        self.bus.write(address, Size::Word, value, self.now)?;
        if (RCC + 0x30..=RCC + 0x44).contains(&address) {
            self.bus.settle();
        }
        Ok(())
    }

    pub fn write(&mut self, address: u32, value: u32) {
        self.try_write(address, value).unwrap();
    }

    pub fn pass(&mut self, cycles: u64) {
        self.now = self.now.after(cycles);
        self.bus.advance(self.now);
    }
}

/// Boards with an STM32F4 or STM32F7.
pub fn stm32f() -> Vec<String> {
    let boards = tilewright_board::all().into_iter();
    let is_one = |chip: &String| chip.starts_with("stm32f");
    boards.filter(|board| board.chip.as_ref().is_some_and(is_one)).map(|board| board.id).collect()
}

/// Writes that set a board's clocks: oscillator, PLLs, over-drive, wait states, then the switch.
pub fn full_speed(id: &str) -> Vec<(u32, u32)> {
    let f7 = vec![(RCC + 0x40, 1 << 28), (PWR, 0x0003_c000)];
    // R 2, Q 9, HSE, P 2, N 432, M so that it makes 1 MHz.
    let board = tilewright_board::find(id).unwrap();
    let by = |oscillator: &Oscillator| {
        let bypass = u32::from(!oscillator.is_crystal) << 18;
        let m = (oscillator.hertz.0 / 1_000_000) as u32;
        vec![
            (CR, 0x0001_0083 | bypass),
            (PLLCFGR, 2 << 28 | 9 << 24 | 1 << 22 | 432 << 6 | m),
            (CR, 0x0101_0083 | bypass),
            (FLASH, 7),
            (CFGR, 4 << 13 | 5 << 10 | 2),
        ]
    };
    let own = match (board.chip.as_deref(), &board.oscillator) {
        (Some(chip), Some(oscillator)) if chip.starts_with("stm32f7") => by(oscillator),
        (Some("stm32f469ni"), _) => vec![
            (CR, 0x0001_0083),
            (PLLCFGR, 2 << 28 | 8 << 24 | 1 << 22 | 180 << 6 | 4),
            (RCC + 0x88, 2 << 28 | 4 << 24 | 3 << 16 | 192 << 6),
            (CR, 0x1101_0083),
            (RCC + 0x8c, 1 << 27),
            (FLASH, 5),
            (CFGR, 4 << 13 | 5 << 10 | 2),
        ],
        _ => Vec::new(),
    };
    [f7, own].concat()
}
