//! RCC: reset and clock control (RM0385, 5.3; RM0386, 6.3, whose registers are a part of those), as
//! far as firmware can tell it from the silicon.
//! Oscillators and PLLs are ready at once, if there is what they need. Clocks are computed from the board's
//! oscillator and registers; what a setting breaks is told ([`ClockError`]).

mod limits;
mod rules;

use std::collections::BTreeMap;

pub use limits::{ClockError, Limits, Supply};

use tilewright_board::{Board, Oscillator};

use crate::access::{Device, Moment, Time, Write};
use crate::chip::{Chip, enable};

pub const HSI_HZ: u64 = 16_000_000;

const CR: u32 = 0x00;
const PLLCFGR: u32 = 0x04;
const CFGR: u32 = 0x08;
const CIR: u32 = 0x0c;
const BDCR: u32 = 0x70;
const CSR: u32 = 0x74;
const PLLI2SCFGR: u32 = 0x84;
const PLLSAICFGR: u32 = 0x88;
const DCKCFGR2: u32 = 0x90;

/// Bits of CR: on, and ready.
const HSI_ON: u32 = 1;
const HSE_ON: u32 = 1 << 16;
const HSE_BYPASS: u32 = 1 << 18;
const PLL_ON: u32 = 1 << 24;
/// Bits of CR that switch PLLs on, each with the register of its factors.
const PLLS: [(u32, u32); 3] = [(24, PLLCFGR), (26, PLLI2SCFGR), (28, PLLSAICFGR)];
/// PLLCFGR: HSE is what PLLs multiply.
const PLL_OF_HSE: u32 = 1 << 22;
/// CFGR.SW and SWS: the PLL.
const BY_PLL: u32 = 2;
/// The clocks that matter to devices, relative to the core's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clocks {
    core_hz: u64,
    /// The core's clock divides the system clock by this.
    ahb_divider: u64,
    apb_divider: [u64; 2],
    /// The clock of the card's controller; 0 if it has none.
    card_hz: u64,
    dckcfgr2: u32,
}

impl Clocks {
    /// Where firmware sets the core to `core_hz`, the core's clock divides the system clock by `ahb_divider`, and two
    /// bits for each USART select its source.
    pub const fn of(
        core_hz: u64,
        ahb_divider: u64,
        apb_divider: [u64; 2],
        usart_sources: u32,
    ) -> Self {
        Self { core_hz, ahb_divider, apb_divider, card_hz: 0, dckcfgr2: usart_sources }
    }

    /// Core cycles for so many 256ths of a tick of the clock of LPUART1 (RM0432, RCC_CCIPR.LPUART1SEL).
    pub fn lpuart_cycles(&self, parts: u64) -> u64 {
        match self.dckcfgr2 >> 10 & 3 {
            0 => parts * self.apb_divider[0] / 256,
            1 => parts / self.ahb_divider / 256,
            // HSI; LSE too slow to matter.
            _ => parts.saturating_mul(self.core_hz) / HSI_HZ / 256,
        }
    }

    /// Core cycles for `ticks` of the clock of a USART (1 to 8).
    pub fn usart_cycles(&self, usart: u32, ticks: u64) -> u64 {
        let usart = usart.clamp(1, 8);
        let source = self.dckcfgr2 >> ((usart - 1) * 2) & 3;
        let apb = usize::from(matches!(usart, 1 | 6));
        match source {
            0 => ticks * self.apb_divider[apb],
            1 => ticks / self.ahb_divider,
            // HSI; LSE too slow to matter.
            _ => ticks.saturating_mul(self.core_hz) / HSI_HZ,
        }
    }

    /// The clock of the card's controller; 0 if it has none.
    pub const fn card_hz(&self) -> u64 {
        self.card_hz
    }

    /// Core cycles of `ticks` of a clock.
    pub fn cycles_of(&self, ticks: u64, hz: u64) -> u64 {
        let cycles = u128::from(ticks) * u128::from(self.core_hz) / u128::from(hz.max(1));
        u64::try_from(cycles).unwrap_or(u64::MAX)
    }

    /// Core cycles of so many nanoseconds.
    pub fn core_cycles_of_ns(&self, nanoseconds: u64) -> u64 {
        self.cycles_of(nanoseconds, 1_000_000_000)
    }

    /// Core cycles of so many microseconds.
    pub fn core_cycles_of_us(&self, microseconds: u64) -> u64 {
        microseconds.saturating_mul(self.core_hz) / 1_000_000
    }

    /// Frequency of core and AHB.
    pub const fn core_hz(&self) -> u64 {
        self.core_hz
    }

    /// Frequency of APB1 (0) or APB2 (1).
    pub fn apb_hz(&self, apb: usize) -> u64 {
        self.core_hz / self.apb_divider[apb & 1].max(1)
    }

    /// Core cycles of so many clocks of APB1 (0) or APB2 (1).
    pub fn apb_cycles(&self, apb: usize, clocks: u64) -> u64 {
        self.apb_divider[apb & 1].saturating_mul(clocks)
    }

    /// Core cycles of a tick of timers on APB1 (0) or APB2 (1): twice as fast as a divided bus
    /// (RM0385, 5.2, figure 13; RCC_DCKCFGR1.TIMPRE = 0).
    pub fn timer_tick(&self, apb: usize) -> u64 {
        match self.apb_divider[apb & 1] {
            1 => 1,
            divider => divider / 2,
        }
    }
}

/// The registers.
#[derive(Clone, Debug)]
pub struct Rcc {
    registers: BTreeMap<u32, u32>,
    last: u32,
    card_clock: u32,
    /// The core's clock as the board's file says.
    told_hz: u64,
    oscillator: Option<Oscillator>,
    /// Nothing: the core's clock is what the board's file says, always.
    limits: Option<Limits>,
    /// Enable bits that were set last, and when: one for each register.
    enabled: Vec<(u32, u32, Time)>,
    /// What a write broke that left no trace in registers.
    broken: Option<ClockError>,
}

impl Rcc {
    /// After reset, on a board.
    pub fn new(chip: &Chip, board: &Board) -> Self {
        let Chip { rcc_last: last, card_clock, limits, .. } = *chip;
        Self {
            registers: chip.rcc_reset.iter().copied().collect(),
            last,
            card_clock,
            told_hz: board.core.clock.hertz.0.max(1),
            oscillator: board.oscillator.clone(),
            limits,
            enabled: Vec::new(),
            broken: None,
        }
    }

    /// The board's oscillator does not oscillate.
    pub fn stop_oscillator(&mut self) {
        self.oscillator = None;
    }

    fn get(&self, offset: u32) -> u32 {
        self.registers.get(&offset).copied().unwrap_or(0)
    }

    /// Whether the enable bit of a peripheral is set.
    pub fn is_on(&self, register: u32, bit: u32) -> bool {
        self.get(register) >> (bit & 31) & 1 != 0
    }

    /// Core cycles since a peripheral's clock was enabled and until it runs, if it does not yet: two of the
    /// AHB, or one and as many as the APB's prescaler divides by (erratum "Delay after an RCC peripheral clock
    /// enabling").
    pub fn settles(&self, register: u32, bit: u32, now: Time) -> Option<(u64, u64)> {
        let is_it = |(at, bits, _): &&(u32, u32, Time)| *at == register && bits >> bit & 1 != 0;
        let (.., since) = self.enabled.iter().find(is_it)?;
        let Clocks { apb_divider, .. } = self.clocks();
        let needed = match register {
            enable::APB1 => 1 + apb_divider[0],
            enable::APB2 => 1 + apb_divider[1],
            _ => 2,
        };
        let cycles = now.since(*since);
        (cycles < needed).then_some((cycles, needed))
    }

    /// What a setting broke, whose register holds something else than was written.
    pub fn take_broken(&mut self) -> Option<ClockError> {
        self.broken.take()
    }

    /// Whether the first PLL is on.
    pub fn pll_on(&self) -> bool {
        self.get(CR) & PLL_ON != 0
    }

    /// Frequency of the board's oscillator, if it gives one to registers that say so.
    fn hse(&self, control: u32) -> Option<u64> {
        let is_told_so = |it: &Oscillator| it.is_crystal == (control & HSE_BYPASS == 0);
        let on = control & HSE_ON != 0;
        self.oscillator.as_ref().filter(|it| on && is_told_so(it)).map(|it| it.hertz.0)
    }

    /// Frequency of what PLLs multiply; 0 if it is off.
    fn pll_source(&self) -> u64 {
        let control = self.get(CR);
        match self.get(PLLCFGR) & PLL_OF_HSE != 0 {
            true => self.hse(control).unwrap_or(0),
            false if control & HSI_ON != 0 => HSI_HZ,
            false => 0,
        }
    }

    /// What a PLL with these factors makes before it divides that for its outputs.
    fn multiplied(&self, word: u32) -> u64 {
        let made = self.pll_source() * u64::from(word >> 6 & 0x1ff);
        made.checked_div(u64::from(self.get(PLLCFGR) & 0x3f)).unwrap_or(0)
    }

    /// Output P of a PLL with these factors.
    fn output_p(&self, word: u32) -> u64 {
        self.multiplied(word) / ((u64::from(word >> 16 & 3) + 1) * 2)
    }

    /// CFGR.SWS.
    fn switched_to(&self) -> u32 {
        self.get(CFGR) >> 2 & 3
    }

    /// Bits of CR that say what is ready, and with them the system's clock, which switches as soon as what was
    /// selected is ready (RM0385, 5.2.6).
    fn become_ready(&mut self) {
        let control = self.get(CR);
        let mut ready = (control & HSI_ON) << 1;
        ready |= u32::from(self.hse(control).is_some()) << 17;
        let locks = self.limits.is_none() || self.pll_source() > 0;
        for (bit, _) in PLLS {
            ready |= (control >> bit & 1 & u32::from(locks)) << (bit + 1);
        }
        let answers = 1 << 1 | 1 << 17 | 1 << 25 | 1 << 27 | 1 << 29;
        let kept = control & !answers;
        let control = kept | ready;
        self.registers.insert(CR, control);
        let configuration = self.get(CFGR);
        let selected = configuration & 3;
        let is_ready = match selected {
            0 => true,
            1 => control >> 17 & 1 != 0,
            BY_PLL => control >> 25 & 1 != 0,
            _ => false,
        };
        if is_ready {
            self.registers.insert(CFGR, configuration & !0xc | selected << 2);
        }
    }

    /// The core waited until its stores had taken effect: clocks that they enabled run.
    pub fn settle(&mut self) {
        self.enabled.clear();
    }

    /// The clocks now.
    pub fn clocks(&self) -> Clocks {
        let configuration = self.get(CFGR);
        let ahb = configuration >> 4 & 15;
        let apb = |shift: u32| {
            let field = configuration >> shift & 7;
            if field & 4 == 0 { 1 } else { 2 << (field & 3) }
        };
        // 2, 4, 8, 16, then 64 to 512.
        let ahb_divider = match ahb {
            0..=7 => 1,
            8..=11 => 2 << (ahb & 3),
            _ => 64 << (ahb & 3),
        };
        let (pll, audio) = (self.get(PLLCFGR), self.get(PLLSAICFGR));
        let [pll_on, audio_on] = [24, 28].map(|bit| self.get(CR) >> bit & 1 != 0);
        let system = match (self.limits, self.switched_to()) {
            (None, _) => self.told_hz * ahb_divider,
            (_, 1) => self.hse(self.get(CR)).unwrap_or(HSI_HZ),
            (_, BY_PLL) => self.output_p(pll),
            _ => HSI_HZ,
        };
        let selected = self.get(self.card_clock);
        let card_hz = match (selected >> 28 & 1, selected >> 27 & 1) {
            (1, _) => system,
            (_, 0) if pll_on => {
                self.multiplied(pll).checked_div(u64::from(pll >> 24 & 15)).unwrap_or(0)
            }
            // The PLL for audio and display multiplies the same by a factor of its own.
            (_, 1) if audio_on => self.output_p(audio),
            _ => 0,
        };
        Clocks {
            core_hz: (system / ahb_divider).max(1),
            ahb_divider,
            card_hz,
            apb_divider: [apb(10), apb(13)],
            dckcfgr2: self.get(DCKCFGR2),
        }
    }
}

impl Device for Rcc {
    fn read(&mut self, offset: u32, _: Moment) -> Option<u32> {
        (offset <= self.last).then(|| self.get(offset))
    }

    fn write(&mut self, offset: u32, write: Write, at: Moment) -> bool {
        if offset > self.last {
            return false;
        }
        let old = self.get(offset);
        let mut value = write.over(old);
        match offset {
            PLLCFGR if value != old && self.pll_on() => {
                self.broken = Some(ClockError::Locked { register: "RCC_PLLCFGR" });
                return true;
            }
            // What makes the system's clock stays on (RM0385, 5.3.1).
            CR => value |= [HSI_ON, HSE_ON, PLL_ON, 0][self.switched_to() as usize],
            // SWS is told by what is ready.
            CFGR => value = value & !0xc | old & 0xc,
            // Low-speed oscillators.
            BDCR => value = value & !2 | (value & 1) << 1,
            // Interrupt flags: never raised.
            CIR => value &= 0x7f00,
            // RMVF clears the reset flags.
            CSR => {
                let kept = if value & 1 << 24 != 0 { 0 } else { old & 0xfe00_0000 };
                value = kept | ((value & 1) * 3);
            }
            enable::AHB1 | enable::AHB2 | enable::AHB3 | enable::APB1 | enable::APB2 => {
                self.enabled.retain(|(register, ..)| *register != offset);
                self.enabled.push((offset, value & !old, at.now));
            }
            _ => {}
        }
        self.registers.insert(offset, value);
        if matches!(offset, CR | CFGR) {
            self.become_ready();
        }
        true
    }
}
