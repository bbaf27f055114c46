//! FMC: the SDRAM controller (RM0385, 13.7; RM0386, 12.7). Other memories on its bus are left out: their
//! registers keep what is written.

mod rules;

use std::collections::BTreeMap;

use crate::access::{Device, Moment, Time, Write};

/// One past the last register.
const END: u32 = 0x15c;
/// Settings of bank 1, and of bank 2 behind it; clocks are set for both in the first.
const SDCR: u32 = 0x140;
/// Their value at reset: 11 bits of rows, 16 lines of data, writes refused, no clock.
const SDCR_RESET: u32 = 0x2d0;
/// Commands to SDRAM.
pub const SDCMR: u32 = 0x150;
const SDRTR: u32 = 0x154;
const SDSR: u32 = 0x158;
/// Time that the memory needs between its first clock and its first command, in microseconds
/// (JESD79C, 3.3 asks for 100 to 200; memories on the boards for 100).
const POWER_UP_US: u64 = 100;

/// How far a bank's memory has been initialised (RM0385, 13.7.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    /// Nothing was done, or something out of order.
    #[default]
    Off,
    /// The clock runs since then.
    Clocked(Time),
    /// All rows are precharged.
    Precharged,
    /// Refreshed once.
    Refreshed,
    /// The mode register is loaded, with this latency: reads and writes work.
    Ready { latency: u32 },
}

/// The registers.
#[derive(Clone, Debug, Default)]
pub struct Fmc {
    registers: BTreeMap<u32, u32>,
    banks: [Stage; 2],
    /// The fastest clock of SDRAM, if there is a limit.
    fastest: Option<u64>,
    broken: Option<&'static str>,
}

impl Fmc {
    /// Bytes of the memory of SDRAM bank 1 or 2 that the controller reads and writes: those that rows,
    /// columns, banks and lines of data give, once it is clocked, initialised with the latency that the
    /// controller waits for, and refreshed; 0 if it does not answer.
    pub fn sdram_bytes(&self, bank: u32) -> u64 {
        let index = bank.wrapping_sub(1);
        let Some(stage) = self.banks.get(index as usize) else { return 0 };
        let settings = self.get(SDCR + 4 * index);
        let (columns, rows) = (8 + (settings & 3), 11 + (settings >> 2 & 3));
        let (width, banks) = (settings >> 4 & 3, 1 + (settings >> 6 & 1));
        let refreshed = self.get(SDRTR) >> 1 & 0x1fff != 0;
        let clocked = self.get(SDCR) >> 10 & 3 >= 2;
        let writable = settings >> 9 & 1 == 0;
        let in_time = *stage == Stage::Ready { latency: settings >> 7 & 3 };
        if refreshed && clocked && writable && in_time {
            1 << (columns + rows + width + banks)
        } else {
            0
        }
    }

    fn get(&self, offset: u32) -> u32 {
        let at_reset = if offset & !4 == SDCR { SDCR_RESET } else { 0 };
        self.registers.get(&offset).copied().unwrap_or(at_reset)
    }

    fn command(&mut self, value: u32, at: Moment) {
        if value & 7 == 4 {
            let banks = [0, 1].into_iter().zip([4, 3]).filter(|(_, bit)| value >> bit & 1 != 0);
            let mut wrong = banks.filter_map(|(bank, _)| self.wrong_timing(bank, at.clocks));
            self.broken = wrong.next();
        }
        let power_up = at.clocks.core_cycles_of_us(POWER_UP_US);
        for (bank, bit) in self.banks.iter_mut().zip([4, 3]) {
            if value >> bit & 1 == 0 {
                continue;
            }
            *bank = match (value & 7, *bank) {
                (1, _) => Stage::Clocked(at.now),
                (2, Stage::Clocked(since)) if at.now.since(since) >= power_up => Stage::Precharged,
                (3, Stage::Precharged | Stage::Refreshed) => Stage::Refreshed,
                (4, Stage::Refreshed) => Stage::Ready { latency: value >> 13 & 7 },
                // Back to normal mode, or a refresh more.
                (0 | 3, stage) => stage,
                _ => Stage::Off,
            };
        }
    }
}

impl Device for Fmc {
    fn read(&mut self, offset: u32, _: Moment) -> Option<u32> {
        // The command register is written only; commands take no time here.
        (offset < END).then(|| if matches!(offset, SDCMR | SDSR) { 0 } else { self.get(offset) })
    }

    fn write(&mut self, offset: u32, write: Write, at: Moment) -> bool {
        match offset {
            SDCMR => self.command(write.value, at),
            SDSR => {}
            0..END => {
                let value = write.over(self.get(offset));
                self.registers.insert(offset, value);
                if offset == SDRTR {
                    self.broken = self.wrong_refresh(at.clocks);
                }
            }
            _ => return false,
        }
        true
    }

    fn take_broken(&mut self) -> Option<&'static str> {
        self.broken.take()
    }
}
