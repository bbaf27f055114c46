//! What clocks may be, by microcontroller, and what a setting breaks.

use thiserror::Error;

/// Limits of a microcontroller, in hertz, at 2.7 to 3.6 V.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Of the AHB in voltage scales 3, 2 and 1 of the regulator, without over-drive and with it.
    pub scales: [[u64; 2]; 3],
    /// Of APB1 and APB2.
    pub apb: [u64; 2],
    /// Of SDRAM.
    pub sdram: u64,
    /// What a wait state of flash suffices for.
    pub wait_state: u64,
}

/// What a setting of clocks breaks, and what a board would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ClockError {
    /// The core runs at another clock than the board's file says.
    #[error(
        "oscillator and PLL give the core {made} Hz, the board's file says {told} Hz: on a board, baud rates, \
         delays and times of memories are off by as much; set M, N and P of RCC_PLLCFGR for the board's oscillator"
    )]
    Core {
        /// What registers say.
        made: u64,
        /// What the board's file says.
        told: u64,
    },
    /// The PLL's input (RM0385, RM0410 and RM0386, RCC_PLLCFGR.PLLM).
    #[error(
        "the PLL's input is {hertz} Hz where 1 to 2 MHz are allowed (RCC_PLLCFGR.PLLM): a board's PLL does not \
         lock, or its clock wavers"
    )]
    Input {
        /// Behind the division.
        hertz: u64,
    },
    /// The PLL's factor (RM0385, RM0410 and RM0386, RCC_PLLCFGR.PLLN).
    #[error(
        "PLLN is {factor} and gives {hertz} Hz, where 50 to 432 and 100 to 432 MHz are allowed \
         (RCC_PLLCFGR.PLLN): a board's PLL does not lock"
    )]
    Oscillates {
        /// N.
        factor: u64,
        /// Frequency of the VCO.
        hertz: u64,
    },
    /// A PLL that divides by 0 or 1 for its outputs Q and R (RM0386, 6.3.2; RM0410, 5.3.2; on the STM32F746 the bits
    /// of R are reserved and hold 2, RM0385, 5.3.2).
    #[error("PLLQ and PLLR are 2 or more while the PLL is on; 0 and 1 are wrong configurations")]
    Divides,
    /// A setting was changed that only counts while the PLL is off (RCC_PLLCFGR; PWR_CR.VOS).
    #[error(
        "{register} was changed while the PLL is on: a board keeps what it held; switch PLLON off first"
    )]
    Locked {
        /// Which.
        register: &'static str,
    },
    /// Faster than the regulator's scale and over-drive allow.
    #[error(
        "the core runs at {hertz} Hz where voltage scale and over-drive allow {limit} Hz (PWR_CR: VOS, ODEN, \
         ODSWEN; RM0385, 4.1.4; RM0386, 5.1.4): a board makes mistakes, or stops"
    )]
    Voltage {
        /// The AHB's clock.
        hertz: u64,
        /// The limit.
        limit: u64,
    },
    /// Flash is read too fast.
    #[error(
        "the core runs at {hertz} Hz with {states} wait states of flash where {needed} are needed \
         (FLASH_ACR.LATENCY; RM0385, table 7; RM0386, table 12): a board reads wrong instructions; write \
         FLASH_ACR before RCC_CFGR"
    )]
    WaitStates {
        /// The AHB's clock.
        hertz: u64,
        /// FLASH_ACR.LATENCY.
        states: u64,
        /// What is needed.
        needed: u64,
    },
    /// A peripheral bus is too fast.
    #[error(
        "APB{bus} runs at {hertz} Hz where {limit} Hz are allowed (RCC_CFGR.PPRE{bus}; data sheet, general \
         operating conditions): a board's peripherals make mistakes"
    )]
    Apb {
        /// 1 or 2.
        bus: usize,
        /// Its clock.
        hertz: u64,
        /// The limit.
        limit: u64,
    },
    /// The 48 MHz clock is none.
    #[error(
        "{user} is used with a clock of {hertz} Hz where 48 MHz, give or take 0.25 %, are needed (RM0385, 5.2; \
         RM0386, 6.2): a board's card or random numbers fail; set the PLL's output and CK48MSEL"
    )]
    FortyEight {
        /// Who uses it.
        user: &'static str,
        /// Its frequency; 0 if it has none.
        hertz: u64,
    },
}

/// What regulator and flash are set to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Supply {
    /// FLASH_ACR.LATENCY.
    pub wait_states: u64,
    /// Voltage scale: 0 is the manual's scale 3, 2 is scale 1.
    pub scale: usize,
    /// Whether over-drive is on and switched to.
    pub over_drive: bool,
}

impl Supply {
    /// Of FLASH_ACR and PWR_CR (PWR_CR1 on STM32F7); VOS of 0 is taken as 1 (RM0386, 5.4.1).
    pub const fn of(flash: u32, power: u32) -> Self {
        let scale = match power >> 14 & 3 {
            0 => 0,
            code => code as usize - 1,
        };
        Self { wait_states: (flash & 15) as u64, scale, over_drive: power >> 16 & 3 == 3 }
    }
}
