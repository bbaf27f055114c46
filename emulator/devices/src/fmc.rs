//! FMC: the SDRAM controller (RM0385, 13.7). Other memories on its bus are left out: their registers
//! keep what is written.

use std::collections::BTreeMap;

use crate::access::{Device, Moment, Time, Write};

/// One past the last register.
const END: u32 = 0x15c;
const SDCMR: u32 = 0x150;
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
    /// The mode register is loaded: reads and writes work.
    Ready,
}

/// The registers.
#[derive(Clone, Debug, Default)]
pub struct Fmc {
    registers: BTreeMap<u32, u32>,
    banks: [Stage; 2],
}

impl Fmc {
    /// Whether the memory of SDRAM bank 1 or 2 answers: it is initialised and refreshed.
    pub fn is_ready(&self, bank: usize) -> bool {
        let refreshed = self.get(SDRTR) >> 1 & 0x1fff != 0;
        refreshed && self.banks.get(bank.wrapping_sub(1)) == Some(&Stage::Ready)
    }

    fn get(&self, offset: u32) -> u32 {
        self.registers.get(&offset).copied().unwrap_or(0)
    }

    fn command(&mut self, value: u32, at: Moment) {
        let power_up = at.clocks.core_cycles_of_us(POWER_UP_US);
        for (bank, bit) in self.banks.iter_mut().zip([4, 3]) {
            if value >> bit & 1 == 0 {
                continue;
            }
            *bank = match (value & 7, *bank) {
                (1, _) => Stage::Clocked(at.now),
                (2, Stage::Clocked(since)) if at.now.since(since) >= power_up => Stage::Precharged,
                (3, Stage::Precharged | Stage::Refreshed) => Stage::Refreshed,
                (4, Stage::Refreshed) => Stage::Ready,
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
            }
            _ => return false,
        }
        true
    }
}
