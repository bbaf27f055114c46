//! QUADSPI (RM0385, 14; RM0386, 13) with a serial flash behind it: its identification, its status, and whether the
//! controller is set up so that the core can read the flash like memory. Commands take no time; writing to the
//! flash is left out, as firmware only reads it.

use std::collections::VecDeque;

use crate::access::{Device, Moment, Write};

const CR: u32 = 0x00;
const DCR: u32 = 0x04;
const SR: u32 = 0x08;
const FCR: u32 = 0x0c;
const DLR: u32 = 0x10;
/// The command.
pub const CCR: u32 = 0x14;
const AR: u32 = 0x18;
const ABR: u32 = 0x1c;
const DR: u32 = 0x20;
const LPTR: u32 = 0x30;
/// CR: ends what goes on; the hardware clears it.
const ABORT: u32 = 1 << 1;
/// SR: a command is complete; there are bytes to read, or room for bytes to write.
const TCF: u32 = 1 << 1;
const FTF: u32 = 1 << 2;

/// READ ID, RESET ENABLE, RESET MEMORY, QUAD INPUT/OUTPUT FAST READ (N25Q128A datasheet, table 18; W25Q128JV
/// datasheet, instruction set).
const READ_ID: u32 = 0x9f;
const RESET_ENABLE: u32 = 0x66;
const RESET_MEMORY: u32 = 0x99;
const QUAD_READ: u32 = 0xeb;
/// Of the W25Q128JV: WRITE ENABLE FOR VOLATILE STATUS REGISTER, READ and WRITE STATUS REGISTER-2.
const ENABLE_VOLATILE: u32 = 0x50;
const READ_STATUS_2: u32 = 0x35;
const WRITE_STATUS_2: u32 = 0x31;
/// Status register 2: four lines carry data.
const FOUR_LINES: u8 = 1 << 1;

/// What a serial flash says it is and how it wants to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SerialFlash {
    /// Its answer to READ ID.
    pub identification: [u8; 3],
    /// Whether a byte of mode follows the address of QUAD READ, on four lines.
    pub has_mode: bool,
    /// Clocks that QUAD READ waits behind that.
    pub dummies: u32,
    /// Bits of status register 2 at power-up, and whether the one for four lines can be changed.
    pub status: u8,
}

impl SerialFlash {
    /// Micron's N25Q128A and MT25QL128: no mode, 10 clocks (N25Q128A datasheet, table 11).
    pub const N25Q128A: Self = Self {
        identification: [0x20, 0xba, 0x18],
        has_mode: false,
        dummies: 10,
        status: FOUR_LINES,
    };
    /// Winbond's W25Q128JV-IQ, whose four lines are fixed: a mode, 4 clocks (datasheet, fast read quad I/O).
    pub const W25Q128JV_IQ: Self =
        Self { identification: [0xef, 0x40, 0x18], has_mode: true, dummies: 4, status: FOUR_LINES };
    /// Winbond's W25Q128JV-IM, which uses four lines when it is told to.
    pub const W25Q128JV_IM: Self =
        Self { identification: [0xef, 0x70, 0x18], status: 0, ..Self::W25Q128JV_IQ };
}

/// The registers.
#[derive(Clone, Debug)]
pub struct QuadSpi {
    flash: SerialFlash,
    /// The flash's status register 2.
    status: u8,
    registers: [u32; 13],
    complete: bool,
    fifo: VecDeque<u8>,
    /// Bytes that were written for the command that waits for them.
    written: Vec<u8>,
    /// The command that came last, for those that only count behind another.
    last: u32,
    /// Whether the address register held a part of a word when reading like memory began.
    begun_askew: bool,
}

impl Default for QuadSpi {
    fn default() -> Self {
        Self::with(SerialFlash::N25Q128A)
    }
}

impl QuadSpi {
    /// With a flash on its pins.
    pub fn with(flash: SerialFlash) -> Self {
        Self {
            flash,
            status: flash.status,
            registers: [0; 13],
            complete: false,
            fifo: VecDeque::new(),
            written: Vec::new(),
            last: 0,
            begun_askew: false,
        }
    }

    fn get(&self, offset: u32) -> u32 {
        self.registers.get((offset / 4) as usize).copied().unwrap_or(0)
    }

    fn field(&self, shift: u32, bits: u32) -> u32 {
        self.get(CCR) >> shift & ((1 << bits) - 1)
    }

    /// Bytes of flash that the core can read like memory, from the first on, as the controller is told (FSIZE).
    ///
    /// # Errors
    /// Why it cannot, or would read something else than the flash holds.
    pub fn mapped_bytes(&self) -> Result<u64, &'static str> {
        let field = |shift, bits| self.field(shift, bits);
        if self.get(CR) & 1 == 0 || field(26, 2) != 3 {
            return Err("is not set up");
        }
        // One line for the instruction, four for 24 bits of address and for data.
        let lines = (field(8, 2), field(10, 2), field(12, 2), field(24, 2));
        if field(0, 8) != QUAD_READ || lines != (1, 3, 2, 3) {
            return Err("is read by a command that it does not know");
        }
        // Mode bits 5-4 of 2 keep the instruction from being sent again: reads behind the first would be none.
        let mode = match field(14, 2) {
            0 => !self.flash.has_mode,
            3 => self.flash.has_mode && field(16, 2) == 0 && self.get(ABR) >> 4 & 3 != 2,
            _ => false,
        };
        if !mode {
            return Err(
                "gives other data on a board: the byte of mode behind the address is not as it wants",
            );
        }
        if field(18, 5) != self.flash.dummies {
            return Err("gives other data on a board: it waits another number of clocks");
        }
        if self.status & FOUR_LINES == 0 {
            return Err("gives no data on a board: its status does not allow four lines (QE)");
        }
        if self.begun_askew {
            return Err(
                "gives another first word on a board: AR held no multiple of 4 when this mode began",
            );
        }
        Ok(2 << (self.get(DCR) >> 16 & 0x1f))
    }

    /// A command whose address and data, if it has any, are there.
    fn execute(&mut self) {
        let instruction = self.field(0, 8);
        let (mode, has_data) = (self.field(26, 2), self.field(24, 2) != 0);
        self.complete = true;
        if mode == 1 && has_data {
            let length = self.get(DLR).saturating_add(1).min(32);
            let status = [self.status];
            let answer = match instruction {
                READ_ID => &self.flash.identification[..],
                READ_STATUS_2 => &status[..],
                _ => &[],
            };
            let padded = answer.iter().copied().chain(std::iter::repeat(0xff));
            self.fifo = padded.take(length as usize).collect();
        }
        if instruction == RESET_MEMORY && self.last == RESET_ENABLE {
            self.fifo.clear();
            self.status = self.flash.status;
        }
        if instruction == WRITE_STATUS_2
            && self.last == ENABLE_VOLATILE
            && let Some(status) = self.written.first()
        {
            self.status = *status | self.flash.status;
        }
        self.written.clear();
        self.last = instruction;
    }

    /// Whether a command waits for data that are written.
    fn writes_data(&self) -> bool {
        self.field(26, 2) == 0 && self.field(24, 2) != 0
    }
}

impl Device for QuadSpi {
    fn read(&mut self, offset: u32, _: Moment) -> Option<u32> {
        Some(match offset {
            SR => {
                let level = self.fifo.len() as u32;
                let flags = if self.complete { TCF } else { 0 };
                let has_room = self.writes_data();
                let waiting = if has_room || level > self.get(CR) >> 8 & 0x1f { FTF } else { 0 };
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
        let mut value = write.over(self.get(offset));
        match offset {
            DR if self.get(CR) & 1 != 0 && self.writes_data() => {
                let bytes = write.mask.count_ones() as usize / 8;
                self.written.extend(&value.to_le_bytes()[..bytes]);
                if self.written.len() as u64 > u64::from(self.get(DLR)) {
                    self.execute();
                }
                return true;
            }
            SR | DR => return true,
            FCR => {
                if write.value & TCF != 0 {
                    self.complete = false;
                }
                return true;
            }
            CR if value & ABORT != 0 => {
                value &= !ABORT;
                self.fifo.clear();
                self.written.clear();
            }
            _ => {}
        }
        let was_mapped = self.field(26, 2) == 3;
        if let Some(register) = self.registers.get_mut((offset / 4) as usize) {
            *register = value;
        }
        if offset == CCR {
            self.written.clear();
            if !was_mapped {
                // Erratum "wrong data in memory-mapped mode after indirect mode".
                self.begun_askew = self.field(26, 2) == 3 && self.get(AR) & 3 != 0;
            }
        }
        let (has_address, indirect) = (self.field(10, 2) != 0, self.field(26, 2) <= 1);
        let starts = offset == if has_address { AR } else { CCR };
        if self.get(CR) & 1 != 0 && starts && indirect && !self.writes_data() {
            self.execute();
        }
        true
    }
}
