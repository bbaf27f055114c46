//! The bus: devices by address.

mod asleep;
mod card;
mod console;
mod memories;
mod pins;
mod rules;
mod slot;

use std::collections::BTreeMap;

use slot::Slot;
use thiserror::Error;
use tilewright_board::Board;

use crate::access::{AccessError, Device, Moment, Size, Time, Write, earlier};
use crate::chip::{self, Layout, Model, Peripheral, PresumedBits};
use crate::clocks::Clocks;
use crate::control::ClockControl;
use crate::core_registers::CoreRegisters;
use crate::crc;
use crate::maintenance::Maintenance;
use crate::mpu::Attributes;
use crate::nvic::{Masks, Nvic};
use crate::sdmmc::{self, CardQuirks};
use crate::wiring::{self, Pin};

/// Where the registers of the core's system control begin (DDI 0403E, B3.2).
const SYSTEM_CONTROL: u32 = 0xe000_e000;

/// No devices are modelled for a board.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the devices of board '{board}' are not modelled: it can be planned for, not emulated")]
pub struct NoDevices {
    /// Board id.
    pub board: String,
}

/// Interrupts of EXTI lines 0 to 15 (RM0385, table 46; RM0386, table 44).
const EXTI_INTERRUPTS: &[(u32, u32)] =
    &[(0x1, 6), (0x2, 7), (0x4, 8), (0x8, 9), (0x10, 10), (0x3e0, 23), (0xfc00, 40)];

/// Interrupts of the streams of DMA1 and DMA2 (RM0385, table 46; RM0386, table 44).
const DMA_INTERRUPTS: [[u32; 8]; 2] =
    [[11, 12, 13, 14, 15, 16, 17, 47], [56, 57, 58, 59, 60, 68, 69, 70]];

/// The devices of a microcontroller.
#[derive(Clone, Debug)]
pub struct Bus {
    table: &'static [Peripheral],
    /// Offsets of the registers that enable clocks.
    enables: &'static [u32],
    slots: Vec<Slot>,
    /// Slots that were written to: no other can raise an interrupt or know of a later time.
    awake: Vec<usize>,
    control: ClockControl,
    clocks: Clocks,
    core: CoreRegisters,
    console: usize,
    /// DMA2, which moves from memory to memory.
    moving: Option<usize>,
    /// The controller of a card.
    reader: Option<usize>,
    /// What clocks have to suit: registers of flash and of the supply.
    flash: Option<usize>,
    power: Option<usize>,
    /// The CRC unit and its data register.
    summing: Option<(usize, u32)>,
    unknown: BTreeMap<u32, u64>,
    /// Whether accesses to those are errors.
    strict: bool,
    /// What the times of memories hold with.
    presumed: &'static [PresumedBits],
    /// What the board wires.
    pins: Vec<Pin>,
    kept: BTreeMap<u32, u32>,
    /// The register that was read last, if nothing else was accessed since.
    polled: Option<u32>,
}

impl Bus {
    /// The devices of a board, after reset.
    ///
    /// # Errors
    /// [`NoDevices`] if its microcontroller is not modelled.
    pub fn new(board: &Board) -> Result<Self, NoDevices> {
        let unknown = || NoDevices { board: board.id.clone() };
        let firmware = board.firmware.as_ref().ok_or_else(unknown)?;
        let chip = board.chip.as_deref().and_then(chip::find).ok_or_else(unknown)?;
        let table = chip.peripherals;
        let is_console =
            |p: &Peripheral| p.name == firmware.console && Slot::new(p.model).serial().is_some();
        let control = ClockControl::new(chip, board);
        let named = |name| table.iter().position(|peripheral| peripheral.name == name);
        // Whose registers tell what clocks have to suit.
        let suits = |name| named(name).filter(|_| chip.layout == Layout::Stm32f4);
        let mut this = Self {
            table,
            enables: chip.enables,
            slots: table.iter().map(|peripheral| Slot::new(peripheral.model)).collect(),
            awake: Vec::new(),
            clocks: control.clocks(),
            control,
            core: CoreRegisters::new(chip.core, firmware.flash_address),
            console: table.iter().position(is_console).ok_or_else(unknown)?,
            moving: table
                .iter()
                .position(|peripheral| matches!(peripheral.model, Model::Dma(true))),
            reader: table.iter().position(|peripheral| matches!(peripheral.model, Model::Sdmmc)),
            flash: suits("FLASH"),
            power: suits("PWR"),
            summing: table
                .iter()
                .position(|peripheral| matches!(peripheral.model, Model::Crc))
                .map(|index| (index, table[index].first + crc::DR)),
            unknown: BTreeMap::new(),
            strict: false,
            presumed: chip.presumed,
            pins: wiring::pins(board, chip),
            kept: BTreeMap::new(),
            polled: None,
        };
        this.spoil_card(CardQuirks::default());
        if let Some(limits) = chip.limits {
            this.limit_sdram(limits.sdram);
        }
        Ok(this)
    }

    const fn at(&self, now: Time) -> Moment {
        Moment { now, clocks: self.clocks }
    }

    fn find(&self, address: u32) -> Option<usize> {
        let index = self.table.partition_point(|peripheral| peripheral.last < address);
        self.table.get(index).filter(|peripheral| peripheral.first <= address).map(|_| index)
    }

    fn is_clocked(&self, index: usize) -> bool {
        let clock = self.table.get(index).and_then(|peripheral| peripheral.clock);
        clock.is_none_or(|(register, bit)| self.control.is_on(register, bit))
    }

    /// Whether the clock of a peripheral that was enabled runs by now.
    fn runs(&self, index: usize, address: u32, now: Time) -> Result<(), AccessError> {
        let clock = self.table.get(index).and_then(|peripheral| peripheral.clock);
        match clock.and_then(|(register, bit)| self.control.settles(register, bit, now)) {
            Some((cycles, needed)) => Err(AccessError::Early { address, cycles, needed }),
            None => Ok(()),
        }
    }

    /// Whether an address is a register that enables clocks.
    #[must_use]
    pub fn enables_clocks(&self, address: u32) -> bool {
        let index = self.find(address & !3);
        index.is_some_and(|index| {
            matches!(self.slots[index], Slot::Rcc)
                && self.enables.contains(&((address & !3) - self.table[index].first))
        })
    }

    /// The core waits until the stores of its block take effect.
    pub fn settle(&mut self) {
        self.control.settle();
    }

    /// Name of the peripheral at an address.
    #[must_use]
    pub fn name(&self, address: u32) -> Option<&'static str> {
        self.table.get(self.find(address)?).map(|peripheral| peripheral.name)
    }

    /// Reads a register. `exception` is the number of the exception that the core executes.
    ///
    /// # Errors
    /// What the hardware answers with a fault.
    pub fn read(
        &mut self,
        address: u32,
        size: Size,
        now: Time,
        exception: u32,
    ) -> Result<u32, AccessError> {
        let (word, shift) = place(address, size)?;
        self.polled = Some(word);
        let value = match self.find(word) {
            None if word >> 28 == 14 => self.core.read(word, now, exception)?,
            None => return Err(AccessError::Reserved(address)),
            Some(index) if !self.is_clocked(index) => {
                self.record(word, true)?;
                return Ok(0);
            }
            Some(index) => {
                self.runs(index, address, now)?;
                let at = self.at(now);
                let offset = word - self.table[index].first;
                let device = self.slots[index].device(&mut self.control);
                let value = device.and_then(|device| device.read(offset, at));
                // Reading takes causes of interrupts away, of its own device alone.
                self.update_lines_of(index);
                value
            }
        };
        let value = match value {
            Some(value) => value,
            None => {
                self.record(word, false)?;
                self.kept.get(&word).copied().unwrap_or(0)
            }
        };
        Ok(value >> shift & size.mask())
    }

    /// Writes a register.
    ///
    /// # Errors
    /// What the hardware answers with a fault.
    pub fn write(
        &mut self,
        address: u32,
        size: Size,
        value: u32,
        now: Time,
    ) -> Result<(), AccessError> {
        let (word, shift) = place(address, size)?;
        self.polled = None;
        let write = Write { value: (value & size.mask()) << shift, mask: size.mask() << shift };
        let known = match self.find(word) {
            None if word >> 28 == 14 => self.core.write(word, write, now)?,
            None => return Err(AccessError::Reserved(address)),
            Some(index) if !self.is_clocked(index) => {
                self.record(word, true)?;
                return Ok(());
            }
            Some(index) => {
                self.runs(index, address, now)?;
                let at = self.at(now);
                let offset = word - self.table[index].first;
                self.wake(index);
                let before = self.supply();
                let (mut known, mut broken) = (false, None);
                if let Some(device) = self.slots[index].device(&mut self.control) {
                    known = device.write(offset, write, at);
                    broken = device.take_broken();
                }
                self.clocks = self.control.clocks();
                self.check(index, before)
                    .map_err(|error| AccessError::Clock { address: word, error })?;
                self.check_pins(index, offset)?;
                if let Some(what) = broken {
                    return Err(AccessError::Wrong { address: word, what });
                }
                if matches!(&self.slots[index], Slot::Dma(device) if device.is_second()) {
                    self.card_goes_on(at);
                }
                known
            }
        };
        if !known {
            self.record(word, false)?;
            let kept = self.kept.entry(word).or_insert(0);
            *kept = write.over(*kept);
        }
        self.update_lines();
        Ok(())
    }

    /// Does what was due until now.
    pub fn advance(&mut self, now: Time) {
        let at = self.at(now);
        self.core.advance(now);
        for index in &self.awake {
            if let Some(device) = self.slots.get_mut(*index).and_then(Slot::timed) {
                device.advance(at);
            }
        }
        self.update_lines();
    }

    fn wake(&mut self, index: usize) {
        let acts = matches!(
            self.slots[index],
            Slot::Usart(_)
                | Slot::NrfUart(_)
                | Slot::Pl011(_)
                | Slot::Timer(_)
                | Slot::NrfTimer(_)
                | Slot::Exti(_)
                | Slot::Dma(_)
                | Slot::Sdmmc(_)
        );
        if acts && !self.awake.contains(&index) {
            self.awake.push(index);
        }
    }

    fn update_lines(&mut self) {
        for place in 0..self.awake.len() {
            self.update_lines_of(self.awake[place]);
        }
    }

    fn update_lines_of(&mut self, index: usize) {
        let (peripheral, slot) = (&self.table[index], &self.slots[index]);
        let high = match slot {
            Slot::Exti(exti) => {
                for (lines, interrupt) in EXTI_INTERRUPTS {
                    self.core.nvic.set_line(*interrupt, exti.pending() & lines != 0);
                }
                return;
            }
            Slot::Dma(device) => {
                let interrupts = DMA_INTERRUPTS[usize::from(device.is_second())];
                for (interrupt, high) in interrupts.into_iter().zip(device.lines()) {
                    self.core.nvic.set_line(interrupt, high);
                }
                return;
            }
            _ => match slot.with_one_line() {
                Some(device) => device.lines()[0],
                None => return,
            },
        };
        if let Some(interrupt) = peripheral.interrupt {
            self.core.nvic.set_line(interrupt, high);
        }
    }

    /// When a device will next do something by itself.
    #[must_use]
    pub fn next_event(&self) -> Option<Time> {
        self.awake.iter().fold(self.core.next_event(), |first, index| {
            let slot = &self.slots[*index];
            let next = match (slot.with_one_line(), slot) {
                (Some(device), _) => device.next_event(self.clocks),
                (_, Slot::Dma(device)) => device.next_event(self.clocks),
                _ => None,
            };
            earlier(first, next)
        })
    }

    /// If the register that is about to be read was read just before, and nothing else since:
    /// when a flag in it will change. Firmware that polls need not be executed until then.
    #[must_use]
    pub fn polls_until(&self, address: u32) -> Option<Time> {
        let word = address & !3;
        if self.polled != Some(word) {
            return None;
        }
        let index = self.find(word)?;
        match self.slots.get(index)? {
            Slot::Usart(device) => device.poll_until(word - self.table[index].first),
            Slot::Pl011(device) => device.poll_until(word - self.table[index].first),
            Slot::NrfUart(device) => device.poll_until(word - self.table[index].first),
            Slot::Sdmmc(device) if word - self.table[index].first == sdmmc::STA => {
                device.next_event(self.clocks)
            }
            _ => None,
        }
    }

    /// The exceptions.
    #[must_use]
    pub const fn nvic(&self) -> &Nvic {
        &self.core.nvic
    }

    /// The exceptions.
    pub const fn nvic_mut(&mut self) -> &mut Nvic {
        &mut self.core.nvic
    }

    /// Address of the vector table.
    #[must_use]
    pub fn vectors(&self) -> u32 {
        self.core.scb.vectors()
    }

    /// Notes in the fault status registers that a fault became a HardFault: bits of CFSR, and the
    /// address of the access if the core knows it (DDI 0403E, B3.2.15 to B3.2.18).
    pub fn record_fault(&mut self, status: u32, address: Option<u32>) {
        self.core.scb.record_fault(status, address);
    }

    /// Whether firmware may use the floating-point unit.
    #[must_use]
    pub fn float_enabled(&self) -> bool {
        self.core.scb.float_enabled()
    }

    /// Whether a pending interrupt counts as an event for WFE.
    #[must_use]
    pub fn send_event_on_pend(&self) -> bool {
        self.core.scb.send_event_on_pend()
    }

    /// What the core may do with an address, and whether through the cache.
    #[must_use]
    pub fn attributes(&self, address: u32) -> Attributes {
        self.core.mpu.attributes(address)
    }

    /// Whether the data cache is on.
    #[must_use]
    pub fn data_cache_on(&self) -> bool {
        self.core.scb.data_cache_on()
    }

    /// What a write of a register asks of the data cache; such a write does nothing else.
    #[inline]
    #[must_use]
    pub fn maintenance(&self, address: u32, value: u32) -> Option<Maintenance> {
        self.core.scb.maintenance(address.wrapping_sub(SYSTEM_CONTROL), value)
    }

    /// Hands a word to the CRC unit if it is written to its data register: core cycles that the write
    /// waits for. Such a write does nothing else.
    #[inline]
    pub fn sum(&mut self, address: u32, size: Size, word: u32, now: Time) -> Option<u64> {
        let (index, register) = self.summing?;
        if address != register || size != Size::Word || !self.is_clocked(index) {
            return None;
        }
        self.polled = None;
        match self.slots.get_mut(index) {
            Some(Slot::Crc(unit)) => Some(unit.take(word, now)),
            _ => None,
        }
    }

    /// Whether the core sleeps when it returns to thread mode.
    #[must_use]
    pub fn sleep_on_exit(&self) -> bool {
        self.core.scb.sleep_on_exit()
    }

    /// Whether firmware asked for a system reset.
    #[must_use]
    pub const fn reset_requested(&self) -> bool {
        self.core.reset_requested()
    }

    /// Whether an exception would end WFI.
    #[must_use]
    pub fn wakes(&self, masks: Masks) -> bool {
        self.core.nvic.wakes(masks)
    }
}

/// Address of the word and shift within it.
fn place(address: u32, size: Size) -> Result<(u32, u32), AccessError> {
    let within = address & 3;
    if within + size.bytes() > 4 {
        return Err(AccessError::Unaligned(address));
    }
    Ok((address & !3, within * 8))
}
