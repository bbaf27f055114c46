//! Microcontrollers, as `chips/*.toml` have them; the build script makes tables of these files.

use crate::clocks::Limits;
use crate::plain::Rule;

/// What stands behind a range of addresses.
#[derive(Clone, Copy, Debug)]
pub enum Model {
    /// Reset and clock control.
    Rcc,
    /// GPIO port, 0 is A.
    Gpio(u32),
    /// The same, whose pins are analog at reset.
    AnalogGpio(u32),
    /// USART or UART with its number.
    Usart(u32),
    /// The same in the older layout, with one status and one data register.
    CombinedUsart(u32),
    /// UART whose divider counts in 256ths of its clock.
    LpUart,
    /// PL011, clocked as the core is.
    Pl011,
    /// UART of nRF52 without DMA.
    NrfUart,
    /// Timer of nRF52.
    NrfTimer,
    /// Timer on APB1 (0) or APB2 (1); true: a counter of 32 bits.
    Timer(usize, bool),
    /// External interrupts.
    Exti,
    /// DMA controller; true: the second.
    Dma(bool),
    /// Flexible memory controller.
    Fmc,
    /// Serial flash controller.
    QuadSpi,
    /// Card controller.
    Sdmmc,
    /// CRC unit.
    Crc,
    /// Random number generator.
    Rng,
    /// Registers that keep what is written, which is all that firmware can tell.
    Plain(u32, &'static [(u32, Rule)]),
    /// Not modelled: keeps what is written, and each access is recorded.
    Unmodelled,
}

/// A peripheral.
#[derive(Clone, Copy, Debug)]
pub struct Peripheral {
    /// Name in the manual.
    pub name: &'static str,
    /// First address.
    pub first: u32,
    /// Last address.
    pub last: u32,
    /// Offset of the enable register in RCC and bit; nothing if it is always clocked.
    pub clock: Option<(u32, u32)>,
    /// Interrupt.
    pub interrupt: Option<u32>,
    /// What it is.
    pub model: Model,
}

/// What a pin can be.
#[derive(Clone, Copy, Debug)]
pub struct PinFunction {
    /// The pin.
    pub pin: &'static str,
    /// Number of the alternate function.
    pub function: u32,
    /// Its signal.
    pub signal: &'static str,
}

/// Bits that must be set for memories to be as fast as boards' files say.
#[derive(Clone, Copy, Debug)]
pub struct PresumedBits {
    /// Name of the register.
    pub register: &'static str,
    /// Its address.
    pub address: u32,
    /// The bits.
    pub bits: u32,
}

/// The register that describes the selected cache (CCSIDR), for each cache.
#[derive(Clone, Copy, Debug)]
pub struct Caches {
    /// Of data.
    pub data: u32,
    /// Of instructions.
    pub instructions: u32,
}

/// What of the core differs between microcontrollers.
#[derive(Clone, Copy, Debug)]
pub struct CoreIdentity {
    /// Registers of the system control space that never change: offset from 0xE000E000, value.
    pub fixed: &'static [(u32, u32)],
    /// CCR at reset.
    pub ccr: u32,
    /// Its caches, which have registers that describe and maintain them; nothing if there are none.
    pub caches: Option<Caches>,
    /// Whether the cycle counter's registers are locked after reset.
    pub locked_counter: bool,
    /// DBGMCU_IDCODE.
    pub idcode: u32,
}

/// Which registers switch the clocks of peripherals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// None that firmware needs.
    None,
    /// RCC of STM32F4 and STM32F7.
    Stm32f4,
    /// RCC of STM32L4+.
    Stm32l4,
    /// RESETS of the RP2350: a bit that is 0 enables.
    Rp2350,
}

/// A microcontroller.
#[derive(Clone, Copy, Debug)]
pub struct Chip {
    /// All peripherals by address.
    pub peripherals: &'static [Peripheral],
    /// What its pins can be, as far as boards use them.
    pub pins: &'static [PinFunction],
    /// Peripherals whose signals need the highest speed.
    pub fast: &'static [&'static str],
    /// What the times of its memories hold with.
    pub presumed: &'static [PresumedBits],
    /// How fast its clocks may be; nothing: the core's clock is what the board's file says, always.
    pub limits: Option<Limits>,
    /// Which registers switch their clocks.
    pub layout: Layout,
    /// Offsets of the registers that enable clocks.
    pub enables: &'static [u32],
    /// Registers of the clock control that are not 0 at reset: offset, value.
    pub rcc_reset: &'static [(u32, u32)],
    /// Offset of the clock control's last register.
    pub rcc_last: u32,
    /// Offset of the register that selects the clock of the card's controller: by bit 27 whose 48 MHz,
    /// by bit 28 the system clock instead.
    pub card_clock: u32,
    /// Its core.
    pub core: CoreIdentity,
}

include!(concat!(env!("OUT_DIR"), "/chips.rs"));

/// The microcontroller of this name; nothing if it is not modelled.
pub fn find(name: &str) -> Option<&'static Chip> {
    CHIPS.iter().find(|(known, _)| *known == name).map(|(_, chip)| chip)
}

/// Offsets of the clock enable registers, alike on STM32F4 and STM32F7.
pub mod enable {
    /// RCC_AHB1ENR.
    pub const AHB1: u32 = 0x30;
    /// RCC_AHB2ENR.
    pub const AHB2: u32 = 0x34;
    /// RCC_AHB3ENR.
    pub const AHB3: u32 = 0x38;
    /// RCC_APB1ENR.
    pub const APB1: u32 = 0x40;
    /// RCC_APB2ENR.
    pub const APB2: u32 = 0x44;
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn peripherals_are_in_order_and_apart() {
        for (_, chip) in CHIPS {
            for pair in chip.peripherals.windows(2) {
                assert!(pair[0].last < pair[1].first, "{} {}", pair[0].name, pair[1].name);
            }
        }
    }

    #[test]
    fn every_board_with_firmware_names_a_chip_that_has_its_console() {
        for board in tilewright_board::all() {
            let Some(firmware) = &board.firmware else { continue };
            let chip = find(board.chip.as_ref().unwrap()).unwrap();
            let is_there = chip.peripherals.iter().any(|p| p.name == firmware.console);
            assert!(is_there, "{}: {}", board.id, firmware.console);
        }
    }

    #[test]
    fn what_is_like_another_replaces_what_stands_at_its_addresses() {
        let [shared, own] = ["stm32f746xg", "stm32f767zi"].map(|name| find(name).unwrap());
        assert_eq!(own.peripherals.len(), shared.peripherals.len() + 5);
        let at = |chip: &Chip, name| {
            let found = chip.peripherals.iter().find(|p| p.name == name).unwrap();
            format!("{:?}", found.model)
        };
        assert_ne!(at(own, "FLASH"), at(shared, "FLASH"));
        assert_eq!(at(own, "PWR"), at(shared, "PWR"));
    }
}
