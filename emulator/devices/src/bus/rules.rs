//! Rules that several peripherals keep together.

use super::{Bus, SYSTEM_CONTROL, Slot};
use crate::access::AccessError;
use crate::chip::PresumedBits;
use crate::clocks::{ClockError, Supply};

/// FLASH_ACR and PWR_CR, which STM32F7 call PWR_CR1.
const ACR: u32 = 0x00;
const POWER_CONTROL: u32 = 0x00;

impl Bus {
    /// The board's oscillator does not oscillate.
    pub fn stop_oscillator(&mut self) {
        self.control.stop_oscillator();
    }

    /// Whether the core loses stores to memory that is cached write-through: the Cortex-M7 r0p1 of the STM32F746 does
    /// (erratum 1259864).
    #[must_use]
    pub const fn loses_writes_through(&self) -> bool {
        self.core.idcode() & 0xfff == 0x449
    }

    /// Accesses that no model answered, and those to peripherals whose clock was off: address of
    /// the word and number.
    #[must_use]
    pub fn unknown(&self) -> Vec<(u32, u64)> {
        self.unknown.iter().map(|(address, count)| (*address, *count)).collect()
    }

    /// From now on those are errors.
    pub const fn be_strict(&mut self) {
        self.strict = true;
    }

    /// Counts an access that nothing answers, which strict devices do not let pass.
    pub(super) fn record(&mut self, address: u32, is_unclocked: bool) -> Result<(), AccessError> {
        *self.unknown.entry(address).or_insert(0) += 1;
        let name = self.name(address).unwrap_or("the core's registers");
        match is_unclocked {
            _ if !self.strict => Ok(()),
            true => Err(AccessError::Unclocked(address, name)),
            false => Err(AccessError::Unmodelled(address, name)),
        }
    }

    fn kept(&self, index: Option<usize>, offset: u32) -> u32 {
        match index.and_then(|index| self.slots.get(index)) {
            Some(Slot::Plain(device)) => device.kept(offset),
            _ => 0,
        }
    }

    /// Why memories of a board are slower than is modelled, as they are set up; strict devices alone look.
    #[must_use]
    pub fn slower_than_modelled(&self) -> Option<String> {
        let presumed = self.presumed.iter().filter(|_| self.strict);
        let missing = presumed.filter_map(|PresumedBits { register, address, bits }| {
            let value = match address.checked_sub(SYSTEM_CONTROL) {
                Some(offset) => self.core.scb.get(offset),
                None => {
                    let index = self.table.iter().position(|it| (it.first..=it.last).contains(address))?;
                    self.kept(Some(index), address - self.table[index].first)
                }
            };
            (value & bits != *bits).then(|| {
                format!(
                    "kernels run while {register} (0x{address:08x}) is 0x{value:08x}: a board takes longer than is \
                     modelled with bits 0x{bits:x} set, which switch caches and prefetch on"
                )
            })
        });
        missing.into_iter().next()
    }

    /// What regulator and flash are set to.
    pub(super) fn supply(&self) -> Supply {
        Supply::of(self.kept(self.flash, ACR), self.kept(self.power, POWER_CONTROL))
    }

    /// Whether clocks and what they suit go together behind a write to a peripheral.
    pub(super) fn check(&mut self, index: usize, before: Supply) -> Result<(), ClockError> {
        if let Some(error) = self.control.take_broken() {
            return Err(error);
        }
        let name = self.table[index].name;
        let supply = self.supply();
        if supply.scale != before.scale && self.control.pll_on() {
            return Err(ClockError::Locked { register: "PWR_CR.VOS" });
        }
        match &self.slots[index] {
            Slot::Rcc => self.control.check(supply),
            _ if [self.flash, self.power].contains(&Some(index)) => self.control.check(supply),
            Slot::Rng(device) if device.is_on() => self.control.check_forty_eight(name),
            Slot::Sdmmc(device) if device.is_clocked() => self.control.check_forty_eight(name),
            _ => Ok(()),
        }
    }
}
