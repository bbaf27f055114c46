//! The private peripheral bus: 0xE0000000 to 0xE00FFFFF (DDI 0403E, table B3-2; for DBGMCU
//! RM0385, 40 and RM0386, 38).

use std::ops::RangeInclusive;

use crate::access::{AccessError, Time, Write, earlier};
use crate::chip::CoreIdentity;
use crate::dwt::Dwt;
use crate::mpu::{self, Mpu};
use crate::nvic::Nvic;
use crate::scb::{Effect, Scb};
use crate::systick::SysTick;

/// Where the registers are.
const PRIVATE_BUS: RangeInclusive<u32> = 0xe000_0000..=0xe00f_ffff;
const MPU_FIRST: u32 = 0xe000_e000 + mpu::FIRST;
const MPU_LAST: u32 = 0xe000_e000 + mpu::LAST;

/// The core's registers.
#[derive(Clone, Debug)]
pub struct CoreRegisters {
    /// Exceptions.
    pub nvic: Nvic,
    /// System control.
    pub scb: Scb,
    /// Memory protection.
    pub mpu: Mpu,
    systick: SysTick,
    dwt: Dwt,
    debug: [u32; 3],
    idcode: u32,
    reset: bool,
}

impl CoreRegisters {
    /// After reset, with the vector table at `vectors`.
    pub fn new(core: CoreIdentity, vectors: u32) -> Self {
        Self {
            nvic: Nvic::default(),
            scb: Scb::new(core, vectors),
            mpu: Mpu::default(),
            systick: SysTick::default(),
            dwt: Dwt::new(core.locked_counter),
            debug: [0; 3],
            idcode: core.idcode,
            reset: false,
        }
    }

    /// The core slept for so many cycles. Its clock stands meanwhile, and with it the cycle counter, unless
    /// DBGMCU_CR.DBG_SLEEP keeps it (RM0385, 40.16.1; RM0386, 38.16.1; DDI 0403E, C1.8).
    pub fn slept(&mut self, cycles: u64) {
        const DBG_SLEEP: u32 = 1;
        if self.idcode != 0 && self.debug[0] & DBG_SLEEP == 0 {
            self.dwt.stood(cycles);
        }
    }

    /// DBGMCU_IDCODE.
    pub const fn idcode(&self) -> u32 {
        self.idcode
    }

    /// Whether firmware asked for a system reset.
    pub const fn reset_requested(&self) -> bool {
        self.reset
    }

    /// Does what was due until now.
    pub fn advance(&mut self, now: Time) {
        self.systick.advance(now);
        if self.systick.take_pending() {
            self.nvic.pend(15);
        }
    }

    /// When something will happen by itself.
    pub fn next_event(&self) -> Option<Time> {
        earlier(self.systick.next_event(), None)
    }

    /// Reads the word at an address that is a multiple of 4; nothing if there is no register.
    pub fn read(
        &mut self,
        address: u32,
        now: Time,
        exception: u32,
    ) -> Result<Option<u32>, AccessError> {
        if !PRIVATE_BUS.contains(&address) {
            return Err(AccessError::Reserved(address));
        }
        Ok(match address {
            // ITM: nothing listens, so its FIFOs always have room.
            0xe000_0000..=0xe000_007c => Some(1),
            0xe000_0e00..=0xe000_0fff => Some(0),
            0xe000_1000..=0xe000_1fff => self.dwt.read(address & 0xfff, now),
            0xe000_e010..=0xe000_e01c => {
                let value = self.systick.read(address & 0xf, now);
                if self.systick.take_pending() {
                    self.nvic.pend(15);
                }
                value
            }
            0xe000_e100..=0xe000_e4ef => self.nvic.read(address - 0xe000_e100),
            MPU_FIRST..=MPU_LAST => self.mpu.read(address & 0xfff),
            0xe000_e000..=0xe000_efff => self.scb.read(address & 0xfff, &self.nvic, exception),
            0xe004_2000 => Some(self.idcode),
            0xe004_2004..=0xe004_200c => {
                self.debug.get(((address & 0xf) / 4 - 1) as usize).copied()
            }
            _ => None,
        })
    }

    /// Writes to the word at an address that is a multiple of 4; false if there is no register.
    pub fn write(&mut self, address: u32, write: Write, now: Time) -> Result<bool, AccessError> {
        if !PRIVATE_BUS.contains(&address) {
            return Err(AccessError::Reserved(address));
        }
        Ok(match address {
            0xe000_0000..=0xe000_007c | 0xe000_0e00..=0xe000_0fff => true,
            0xe000_1000..=0xe000_1fff => self.dwt.write(address & 0xfff, write.value, now),
            0xe000_e010..=0xe000_e01c => self.systick.write(address & 0xf, write.value, now),
            0xe000_e100..=0xe000_e4ef => self.nvic.write(address - 0xe000_e100, write),
            MPU_FIRST..=MPU_LAST => self.mpu.write(address & 0xfff, write),
            0xe000_e000..=0xe000_efff => {
                match self.scb.write(address & 0xfff, write, &mut self.nvic) {
                    Effect::None => true,
                    Effect::Unknown => false,
                    Effect::Reset => {
                        self.reset = true;
                        true
                    }
                    Effect::Trace(on) => {
                        self.dwt.set_trace(on, now);
                        true
                    }
                }
            }
            0xe004_2000 => true,
            0xe004_2004..=0xe004_200c => {
                if let Some(register) = self.debug.get_mut(((address & 0xf) / 4 - 1) as usize) {
                    *register = write.over(*register);
                }
                true
            }
            _ => false,
        })
    }
}
