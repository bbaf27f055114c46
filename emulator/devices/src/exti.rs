//! EXTI: external interrupt controller, RM0385, 11.9. No edges come from outside; software
//! interrupts work.

use crate::access::{Device, Moment, Write};

/// The registers: IMR, EMR, RTSR, FTSR, SWIER, PR.
#[derive(Clone, Debug, Default)]
pub struct Exti {
    registers: [u32; 6],
}

const IMR: usize = 0;
const SWIER: usize = 4;
const PR: usize = 5;

impl Exti {
    /// Lines that are pending and not masked.
    pub fn pending(&self) -> u32 {
        self.registers[PR] & self.registers[IMR]
    }
}

impl Device for Exti {
    fn read(&mut self, offset: u32, _: Moment) -> Option<u32> {
        self.registers.get((offset / 4) as usize).copied()
    }

    fn write(&mut self, offset: u32, write: Write, _: Moment) -> bool {
        let index = (offset / 4) as usize;
        match index {
            PR => {
                self.registers[PR] &= !write.value;
                self.registers[SWIER] &= !write.value;
            }
            SWIER => {
                let rising = write.value & !self.registers[SWIER];
                self.registers[SWIER] |= write.value;
                self.registers[PR] |= rising & self.registers[IMR];
            }
            _ => match self.registers.get_mut(index) {
                Some(register) => *register = write.over(*register),
                None => return false,
            },
        }
        true
    }
}
