//! RCC: reset and clock control (RM0385, 5.3; RM0386, 6.3, whose registers are a part of those), as
//! far as firmware can tell it from the silicon.
//! Oscillators and PLLs are ready at once.

use std::collections::BTreeMap;

use crate::access::{Device, Moment, Time, Write};
use crate::chip::{Chip, enable};

const HSI_HZ: u64 = 16_000_000;

const CR: u32 = 0x00;
const PLLCFGR: u32 = 0x04;
const CFGR: u32 = 0x08;
const CIR: u32 = 0x0c;
const BDCR: u32 = 0x70;
const CSR: u32 = 0x74;
const PLLSAICFGR: u32 = 0x88;
const DCKCFGR2: u32 = 0x90;

/// Bits that answer others: register, request, answer.
const READY: &[(u32, u32, u32)] = &[
    (CR, 0, 1),
    (CR, 16, 17),
    (CR, 24, 25),
    (CR, 26, 27),
    (CR, 28, 29),
    (BDCR, 0, 1),
    (CSR, 0, 1),
];

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

    /// Core cycles of so many microseconds, at the clock that firmware sets the core to.
    pub fn core_cycles_of_us(&self, microseconds: u64) -> u64 {
        microseconds.saturating_mul(self.core_hz) / 1_000_000
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
    core_hz: u64,
    /// Enable bits that were set last, and when: one for each register.
    enabled: Vec<(u32, u32, Time)>,
}

impl Rcc {
    /// After reset, on a board whose firmware will set the core to `core_hz`.
    pub fn new(chip: &Chip, core_hz: u64) -> Self {
        let registers = chip.rcc_reset.iter().copied().collect();
        let Chip { rcc_last: last, card_clock, .. } = *chip;
        Self { registers, last, card_clock, core_hz: core_hz.max(1), enabled: Vec::new() }
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

    /// What the manual forbids of the clocks that run: a PLL that divides by 0 or 1 for its outputs Q and R (RM0386,
    /// 6.3.2; RM0410, 5.3.2; on the STM32F746 the bits of R are reserved and hold 2, RM0385, 5.3.2).
    pub fn wrong(&self) -> Option<&'static str> {
        let (on, pll) = (self.get(CR) >> 24 & 1 != 0, self.get(PLLCFGR));
        let divides = |shift: u32, bits: u32| pll >> shift & ((1 << bits) - 1) >= 2;
        (on && !(divides(24, 4) && divides(28, 3)))
            .then_some("PLLQ and PLLR are 2 or more while the PLL is on")
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
        // The core's clock tells what the first PLL makes: the system clock is its output P.
        let pll = self.get(PLLCFGR);
        let system = self.core_hz * ahb_divider;
        let by_pll = configuration & 3 == 2 && self.get(CR) >> 24 & 1 != 0;
        let made = system * ((u64::from(pll >> 16 & 3) + 1) * 2);
        // The PLL for audio and display multiplies the same by a factor of its own.
        let audio = self.get(PLLSAICFGR);
        let [factor, audio_factor] = [pll, audio].map(|word| u64::from(word >> 6 & 0x1ff));
        let audio_made = (made * audio_factor).checked_div(factor).unwrap_or(0);
        let audio_on = self.get(CR) >> 28 & 1 != 0;
        let selected = self.get(self.card_clock);
        let card_hz = match (selected >> 28 & 1, selected >> 27 & 1) {
            (1, _) => system,
            (_, 0) if by_pll => made.checked_div(u64::from(pll >> 24 & 15)).unwrap_or(0),
            (_, 1) if by_pll && audio_on => audio_made / ((u64::from(audio >> 16 & 3) + 1) * 2),
            _ => 0,
        };
        Clocks {
            core_hz: self.core_hz,
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
        for &(register, request, answer) in READY {
            if register == offset {
                value = value & !(1 << answer) | (value >> request & 1) << answer;
            }
        }
        match offset {
            CFGR => value = value & !0xc | (value & 3) << 2,
            // Interrupt flags: never raised.
            CIR => value &= 0x7f00,
            // RMVF clears the reset flags.
            CSR if value & 1 << 24 != 0 => value &= 0x3,
            CSR => value = old & 0xfe00_0000 | value & 0x3,
            enable::AHB1 | enable::AHB2 | enable::AHB3 | enable::APB1 | enable::APB2 => {
                self.enabled.retain(|(register, ..)| *register != offset);
                self.enabled.push((offset, value & !old, at.now));
            }
            _ => {}
        }
        self.registers.insert(offset, value);
        true
    }
}
