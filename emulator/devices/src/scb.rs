//! SCB and its neighbours in the system control space: DDI 0403E, B3.2, PM0253, 4.3 and PM0214,
//! 4.4.

use std::collections::BTreeMap;

use crate::access::Write;
use crate::chip::CoreIdentity;
use crate::maintenance::Maintenance;
use crate::nvic::Nvic;

const CPUID: u32 = 0xd00;
const ICSR: u32 = 0xd04;
const VTOR: u32 = 0xd08;
const AIRCR: u32 = 0xd0c;
const SCR: u32 = 0xd10;
const CCR: u32 = 0xd14;
const SHPR1: u32 = 0xd18;
const SHPR3: u32 = 0xd20;
const CFSR: u32 = 0xd28;
const HFSR: u32 = 0xd2c;
const DFSR: u32 = 0xd30;
const BFAR: u32 = 0xd38;
/// CFSR.BFARVALID.
const BFAR_VALID: u32 = 1 << 15;
/// HFSR.FORCED: a fault whose own exception is off.
const FORCED: u32 = 1 << 30;
const CCSIDR: u32 = 0xd80;
const CSSELR: u32 = 0xd84;
const CPACR: u32 = 0xd88;
const DEMCR: u32 = 0xdfc;
const STIR: u32 = 0xf00;

const AIRCR_KEY: u32 = 0x05fa;

/// Of the Cortex-M7: its tightly coupled memories, and FPCCR.
const RESET: &[(u32, u32)] = &[(0xf34, 0xc000_0000), (0xf90, 0x0000_0001), (0xf94, 0x0000_0001)];

/// What a write to the system control block asks of the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    None,
    /// There is no such register.
    Unknown,
    /// A system reset.
    Reset,
    /// DEMCR.TRCENA has this value.
    Trace(bool),
}

/// The registers, at offsets from 0xE000E000.
#[derive(Clone, Debug)]
pub struct Scb {
    registers: BTreeMap<u32, u32>,
    core: CoreIdentity,
}

impl Scb {
    /// After reset, with the vector table at `vectors`.
    pub fn new(core: CoreIdentity, vectors: u32) -> Self {
        let mut registers: BTreeMap<u32, u32> = RESET.iter().copied().collect();
        registers.insert(VTOR, vectors);
        registers.insert(CCR, core.ccr);
        Self { registers, core }
    }

    pub fn get(&self, offset: u32) -> u32 {
        self.registers.get(&offset).copied().unwrap_or(0)
    }

    /// Address of the vector table.
    pub fn vectors(&self) -> u32 {
        self.get(VTOR)
    }

    /// Whether CPACR gives full access to the floating-point unit.
    pub fn float_enabled(&self) -> bool {
        self.get(CPACR) >> 20 & 15 == 15
    }

    /// Whether CCR switches the data cache on.
    pub fn data_cache_on(&self) -> bool {
        self.get(CCR) >> 16 & 1 != 0
    }

    /// SCR.SEVONPEND.
    pub fn send_event_on_pend(&self) -> bool {
        self.get(SCR) & 1 << 4 != 0
    }

    /// SCR.SLEEPONEXIT.
    pub fn sleep_on_exit(&self) -> bool {
        self.get(SCR) & 1 << 1 != 0
    }

    /// A fault became a HardFault: bits for CFSR, and the address for BFAR if it is known.
    pub fn record_fault(&mut self, status: u32, address: Option<u32>) {
        let valid = if address.is_some() { BFAR_VALID } else { 0 };
        *self.registers.entry(CFSR).or_insert(0) |= status | valid;
        *self.registers.entry(HFSR).or_insert(0) |= FORCED;
        if let Some(address) = address {
            self.registers.insert(BFAR, address);
        }
    }

    /// Reads a register; `exception` is the one that the core executes.
    pub fn read(&self, offset: u32, nvic: &Nvic, exception: u32) -> Option<u32> {
        let fixed = self.core.fixed;
        if let Ok(index) = fixed.binary_search_by_key(&offset, |(at, _)| *at) {
            return fixed.get(index).map(|(_, value)| *value);
        }
        if self.core.caches.is_none() && is_of_caches(offset) {
            return None;
        }
        Some(match offset {
            ICSR => {
                exception & 0x1ff
                    | u32::from(nvic.at_base()) << 11
                    | nvic.pending_number() << 12
                    | u32::from(nvic.interrupt_pending()) << 22
                    | u32::from(nvic.is_pending(15)) << 26
                    | u32::from(nvic.is_pending(14)) << 28
            }
            AIRCR => 0xfa05_0000 | self.get(AIRCR) & 0x700,
            SHPR1..=SHPR3 => nvic.priorities(4 + (offset - SHPR1)),
            CCSIDR => {
                let caches = self.core.caches?;
                if self.get(CSSELR) & 1 == 0 { caches.data } else { caches.instructions }
            }
            0x008 | SCR..=0xd3c | CSSELR | CPACR | 0xdf4..=DEMCR => self.get(offset),
            VTOR | 0xf34..=0xf3c | 0xf90..=0xfa8 => self.get(offset),
            // Cache maintenance reads as 0.
            0xf50..=0xf78 => 0,
            _ => return None,
        })
    }

    /// What a write to a register asks of the data cache; nothing if there is none, or if the register
    /// is for something else.
    pub const fn maintenance(&self, offset: u32, value: u32) -> Option<Maintenance> {
        if self.core.caches.is_some() { Maintenance::of(offset, value) } else { None }
    }

    /// Writes a register.
    pub fn write(&mut self, offset: u32, write: Write, nvic: &mut Nvic) -> Effect {
        let value = write.over(self.get(offset));
        if self.core.caches.is_none() && is_of_caches(offset) {
            return Effect::Unknown;
        }
        match offset {
            CPUID | CCSIDR => {}
            ICSR => {
                for (bit, exception) in [(31, 2), (28, 14), (26, 15)] {
                    if write.value >> bit & 1 != 0 {
                        nvic.pend(exception);
                    }
                }
                for (bit, exception) in [(27, 14), (25, 15)] {
                    if write.value >> bit & 1 != 0 {
                        nvic.unpend(exception);
                    }
                }
            }
            AIRCR => {
                if write.value >> 16 == AIRCR_KEY {
                    self.registers.insert(AIRCR, write.value & 0x700);
                    nvic.set_group(write.value >> 8);
                    if write.value & 4 != 0 {
                        return Effect::Reset;
                    }
                }
            }
            VTOR => {
                self.registers.insert(VTOR, value & 0xffff_ff80);
            }
            SHPR1..=SHPR3 => nvic.set_priorities(4 + (offset - SHPR1), write),
            // Status bits are cleared by writing 1.
            CFSR | HFSR | DFSR => {
                let left = self.get(offset) & !write.value;
                self.registers.insert(offset, left);
            }
            STIR => nvic.pend(16 + (write.value & 0x1ff)),
            DEMCR => {
                self.registers.insert(DEMCR, value);
                return Effect::Trace(value & 1 << 24 != 0);
            }
            // Whoever holds the cache asks for it: `maintenance`.
            0xf50..=0xf78 => {}
            0x008 | SCR..=0xd3c | CSSELR | CPACR | 0xdf0..=0xdf8 => {
                self.registers.insert(offset, value);
            }
            0xf34..=0xf3c | 0xf90..=0xfa8 => {
                self.registers.insert(offset, value);
            }
            0x004 | 0xd40..=0xd7c | 0xf40..=0xf48 => {}
            _ => return Effect::Unknown,
        }
        Effect::None
    }
}

/// Whether a register describes, maintains or controls caches and tightly coupled memories.
const fn is_of_caches(offset: u32) -> bool {
    matches!(offset, 0xd78..=CSSELR | 0xf50..=0xf78 | 0xf90..=0xfa8)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn a_reset_needs_the_key() {
        let (mut scb, mut nvic) = (
            Scb::new(crate::chip::find("stm32f746xg").unwrap().core, 0x0800_0000),
            Nvic::default(),
        );
        let mut write = |value| scb.write(AIRCR, Write { value, mask: u32::MAX }, &mut nvic);
        assert_eq!(write(0x0000_0004), Effect::None);
        assert_eq!(write(0x05fa_0004), Effect::Reset);
    }
}
