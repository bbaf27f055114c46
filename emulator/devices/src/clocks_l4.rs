//! RCC of the STM32L4+ (RM0432, RCC), as far as firmware can tell it from the silicon. Internal oscillators and
//! PLLs are ready at once; there is no external one.

use std::collections::BTreeMap;

use crate::access::{Device, Moment, Time, Write};
use crate::chip::Chip;
use crate::clocks::{Clocks, HSI_HZ};

const CR: u32 = 0x00;
const CFGR: u32 = 0x08;
const PLLCFGR: u32 = 0x0c;
const CIFR: u32 = 0x1c;
const APB1ENR1: u32 = 0x58;
const APB1ENR2: u32 = 0x5c;
const APB2ENR: u32 = 0x60;
const CCIPR: u32 = 0x88;
const BDCR: u32 = 0x90;
const CSR: u32 = 0x94;
const CRRCR: u32 = 0x98;

/// Bits that answer others: register, request, answer. The oscillator on pins has none.
const READY: &[(u32, u32, u32)] = &[
    (CR, 0, 1),
    (CR, 8, 10),
    (CR, 24, 25),
    (CR, 26, 27),
    (CR, 28, 29),
    (BDCR, 0, 1),
    (CSR, 0, 1),
    (CRRCR, 0, 1),
];

/// MSI behind a reset.
const MSI_HZ: u64 = 4_000_000;
/// What the PLL's input may be, and what it makes of it before it divides that (DS12023, PLL characteristics, voltage
/// range 1).
const PLL_INPUT_HZ: std::ops::RangeInclusive<u64> = 2_660_000..=16_000_000;
const PLL_HZ: std::ops::RangeInclusive<u64> = 64_000_000..=344_000_000;

/// The registers.
#[derive(Clone, Debug)]
pub struct RccL4 {
    registers: BTreeMap<u32, u32>,
    last: u32,
    enables: &'static [u32],
    core_hz: u64,
    /// Enable bits that were set last, and when: one for each register.
    enabled: Vec<(u32, u32, Time)>,
}

impl RccL4 {
    /// After reset, on a board whose firmware will set the core to `core_hz`.
    pub fn new(chip: &Chip, core_hz: u64) -> Self {
        Self {
            registers: chip.rcc_reset.iter().copied().collect(),
            last: chip.rcc_last,
            enables: chip.enables,
            core_hz: core_hz.max(1),
            enabled: Vec::new(),
        }
    }

    fn get(&self, offset: u32) -> u32 {
        self.registers.get(&offset).copied().unwrap_or(0)
    }

    /// Whether the enable bit of a peripheral is set.
    pub fn is_on(&self, register: u32, bit: u32) -> bool {
        self.get(register) >> (bit & 31) & 1 != 0
    }

    /// Core cycles since a peripheral's clock was enabled and until it runs, if it does not yet: two of the bus that
    /// it is on (RM0432, peripheral clock enable registers: software waits between enabling and access).
    pub fn settles(&self, register: u32, bit: u32, now: Time) -> Option<(u64, u64)> {
        let is_it = |(at, bits, _): &&(u32, u32, Time)| *at == register && bits >> bit & 1 != 0;
        let (.., since) = self.enabled.iter().find(is_it)?;
        let [apb1, apb2] = self.apb_dividers();
        let needed = match register {
            APB1ENR1 | APB1ENR2 => 2 * apb1,
            APB2ENR => 2 * apb2,
            _ => 2,
        };
        let cycles = now.since(*since);
        (cycles < needed).then_some((cycles, needed))
    }

    /// The core waited until its stores had taken effect: clocks that they enabled run.
    pub fn settle(&mut self) {
        self.enabled.clear();
    }

    fn apb_dividers(&self) -> [u64; 2] {
        [8, 11].map(|shift| {
            let field = self.get(CFGR) >> shift & 7;
            if field & 4 == 0 { 1 } else { 2 << (field & 3) }
        })
    }

    fn ahb_divider(&self) -> u64 {
        // 2, 4, 8, 16, then 64 to 512.
        match self.get(CFGR) >> 4 & 15 {
            0..=7 => 1,
            field @ 8..=11 => 2 << (field & 3),
            field => 64 << (field & 3),
        }
    }

    /// What the first PLL makes, before it divides that, of which input; nothing if it has no input.
    fn pll(&self) -> Option<(u64, u64)> {
        let pll = self.get(PLLCFGR);
        let source = match pll & 3 {
            1 => MSI_HZ,
            2 => HSI_HZ,
            _ => return None,
        };
        let input = source / (u64::from(pll >> 4 & 15) + 1);
        Some((input, input * u64::from(pll >> 8 & 0x7f)))
    }

    /// What the manual forbids of the clocks that run.
    fn wrong(&self) -> Option<&'static str> {
        if self.get(CR) >> 24 & 1 == 0 {
            return None;
        }
        let Some((input, made)) = self.pll() else {
            return Some("the PLL is on and has an input (RM0432, RCC_PLLCFGR.PLLSRC)");
        };
        if !PLL_INPUT_HZ.contains(&input) || !PLL_HZ.contains(&made) {
            return Some(
                "the PLL's input is 2.66 to 16 MHz, and it makes 64 to 344 MHz of it (DS12023, PLL characteristics)",
            );
        }
        let divided = made / ((u64::from(self.get(PLLCFGR) >> 25 & 3) + 1) * 2);
        let runs = self.get(CFGR) & 3 == 3;
        (runs && self.ahb_divider() == 1 && divided != self.core_hz)
            .then_some("the PLL's output R is the clock that the board's file says")
    }

    /// The clocks now.
    pub fn clocks(&self) -> Clocks {
        Clocks::of(self.core_hz, self.ahb_divider(), self.apb_dividers(), self.get(CCIPR))
    }
}

impl Device for RccL4 {
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
            // Never raised.
            CIFR => value = 0,
            // RMVF clears the reset flags.
            CSR if value & 1 << 23 != 0 => value &= 0xf03,
            CSR => value = old & 0xff00_0000 | value & 0xf03,
            offset if self.enables.contains(&offset) => {
                self.enabled.retain(|(register, ..)| *register != offset);
                self.enabled.push((offset, value & !old, at.now));
            }
            _ => {}
        }
        self.registers.insert(offset, value);
        true
    }

    fn take_broken(&mut self) -> Option<&'static str> {
        self.wrong()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    fn rcc() -> RccL4 {
        RccL4::new(crate::chip::find("stm32l4r5zi").unwrap(), 120_000_000)
    }

    fn write(rcc: &mut RccL4, offset: u32, value: u32, cycles: u64) {
        let at = Moment { now: Time(cycles), clocks: rcc.clocks() };
        assert!(rcc.write(offset, Write { value, mask: u32::MAX }, at));
    }

    /// HSI16, divided by 4, times 60, by 2: what the board's file says.
    #[test]
    fn a_pll_that_makes_another_clock_is_refused() {
        for (factor, is_right) in [(60, true), (40, false), (10, false), (100, false)] {
            let mut rcc = rcc();
            write(&mut rcc, CR, 0x163, 0);
            write(&mut rcc, PLLCFGR, 1 << 24 | factor << 8 | 3 << 4 | 2, 0);
            write(&mut rcc, CR, 0x100_0163, 0);
            // Divided by two a clock above 80 MHz begins.
            write(&mut rcc, CFGR, 0x83, 0);
            write(&mut rcc, CFGR, 0x03, 0);
            assert_eq!(rcc.wrong().is_none(), is_right, "{factor}");
            assert_eq!(rcc.get(CFGR), 0x0f);
        }
    }

    #[test]
    fn a_pll_without_an_input_is_refused() {
        let mut rcc = rcc();
        write(&mut rcc, PLLCFGR, 1 << 24 | 60 << 8 | 3 << 4 | 3, 0);
        write(&mut rcc, CR, 0x100_0063, 0);
        assert!(rcc.wrong().is_some(), "the oscillator on pins is not there");
    }

    #[test]
    fn a_clock_runs_two_of_its_bus_behind_its_enabling() {
        let mut rcc = rcc();
        assert!(!rcc.is_on(APB1ENR2, 0));
        write(&mut rcc, APB1ENR2, 1, 100);
        assert!(rcc.is_on(APB1ENR2, 0));
        assert_eq!(rcc.settles(APB1ENR2, 0, Time(101)), Some((1, 2)));
        assert_eq!(rcc.settles(APB1ENR2, 0, Time(102)), None);
    }
}
