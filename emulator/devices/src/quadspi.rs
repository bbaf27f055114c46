//! QUADSPI (RM0385, 14; RM0386, 13) with a serial flash behind it: its identification, and whether the controller
//! is set up so that the core can read the flash like memory. Commands take no time; writing to the
//! flash is left out, as firmware only reads it.

use std::collections::VecDeque;

use crate::access::{Device, Moment, Write};

const CR: u32 = 0x00;
const DCR: u32 = 0x04;
const SR: u32 = 0x08;
const FCR: u32 = 0x0c;
const DLR: u32 = 0x10;
const CCR: u32 = 0x14;
const AR: u32 = 0x18;
const DR: u32 = 0x20;
const LPTR: u32 = 0x30;
/// SR: a command is complete; there are bytes to read.
const TCF: u32 = 1 << 1;
const FTF: u32 = 1 << 2;

/// READ ID, RESET ENABLE, RESET MEMORY, QUAD INPUT/OUTPUT FAST READ (N25Q128A datasheet, table 18).
const READ_ID: u32 = 0x9f;
const RESET_ENABLE: u32 = 0x66;
const RESET_MEMORY: u32 = 0x99;
const QUAD_READ: u32 = 0xeb;
/// What the flash says of itself: Micron, serial NOR at 3 V, 128 Mbit.
const IDENTIFICATION: [u8; 3] = [0x20, 0xba, 0x18];
/// Clocks that QUAD READ waits after power-up (N25Q128A datasheet, table 11).
const DUMMY_CLOCKS: u32 = 10;

/// The registers.
#[derive(Clone, Debug, Default)]
pub struct QuadSpi {
    registers: [u32; 13],
    complete: bool,
    fifo: VecDeque<u8>,
    /// The command that came last, for those that only count behind another.
    last: u32,
}

impl QuadSpi {
    fn get(&self, offset: u32) -> u32 {
        self.registers.get((offset / 4) as usize).copied().unwrap_or(0)
    }

    /// Bytes of flash that the core can read like memory; 0 if the controller is not set up for it, or
    /// sends what the flash does not understand.
    pub fn mapped_bytes(&self) -> u64 {
        let command = self.get(CCR);
        let field = |shift: u32, bits: u32| command >> shift & ((1 << bits) - 1);
        let on = self.get(CR) & 1 != 0 && field(26, 2) == 3;
        // One line for the instruction, four for 24 bits of address and for data.
        let understood = field(0, 8) == QUAD_READ
            && (field(8, 2), field(10, 2), field(12, 2), field(24, 2)) == (1, 3, 2, 3)
            && field(14, 2) == 0
            && field(18, 5) == DUMMY_CLOCKS;
        if on && understood { 2 << (self.get(DCR) >> 16 & 0x1f) } else { 0 }
    }

    /// A command whose address, if it has one, is there.
    fn execute(&mut self) {
        let command = self.get(CCR);
        let instruction = command & 0xff;
        let (mode, has_data) = (command >> 26 & 3, command >> 24 & 3 != 0);
        self.complete = true;
        if mode == 1 && has_data {
            let length = self.get(DLR).saturating_add(1).min(32);
            let answer = if instruction == READ_ID { &IDENTIFICATION[..] } else { &[] };
            let padded = answer.iter().copied().chain(std::iter::repeat(0xff));
            self.fifo = padded.take(length as usize).collect();
        }
        if instruction == RESET_MEMORY && self.last == RESET_ENABLE {
            self.fifo.clear();
        }
        self.last = instruction;
    }
}

impl Device for QuadSpi {
    fn read(&mut self, offset: u32, _: Moment) -> Option<u32> {
        Some(match offset {
            SR => {
                let level = self.fifo.len() as u32;
                let flags = if self.complete { TCF } else { 0 };
                let waiting = if level > self.get(CR) >> 8 & 0x1f { FTF } else { 0 };
                flags | waiting | level << 8
            }
            DR => u32::from(self.fifo.pop_front().unwrap_or(0)),
            0..=LPTR => self.get(offset),
            _ => return None,
        })
    }

    fn write(&mut self, offset: u32, write: Write, _: Moment) -> bool {
        if offset > LPTR {
            return false;
        }
        let value = write.over(self.get(offset));
        match offset {
            SR | DR => return true,
            FCR => {
                if write.value & TCF != 0 {
                    self.complete = false;
                }
                return true;
            }
            _ => {}
        }
        if let Some(register) = self.registers.get_mut((offset / 4) as usize) {
            *register = value;
        }
        let command = self.get(CCR);
        let (has_address, indirect) = (command >> 10 & 3 != 0, command >> 26 & 3 <= 1);
        // A write of data starts with the data.
        let writes_data = command >> 26 & 3 == 0 && command >> 24 & 3 != 0;
        let starts = offset == if has_address { AR } else { CCR };
        if self.get(CR) & 1 != 0 && starts && indirect && !writes_data {
            self.execute();
        }
        true
    }
}
