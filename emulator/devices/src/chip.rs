//! Microcontrollers: what their assembly files say, by board.

use crate::plain::Rule;
use crate::{cortex_m33, stm32f469, stm32f746, stm32f767};

/// What stands behind a range of addresses.
#[derive(Clone, Copy, Debug)]
pub enum Model {
    /// Reset and clock control.
    Rcc,
    /// GPIO port, 0 is A.
    Gpio(u32),
    /// USART or UART with its number.
    Usart(u32),
    /// The same in the older layout, with one status and one data register.
    CombinedUsart(u32),
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

/// A microcontroller.
#[derive(Clone, Copy, Debug)]
pub struct Chip {
    /// All peripherals by address.
    pub peripherals: &'static [Peripheral],
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

/// The microcontroller on a board, with whatever firmware; nothing if it is not modelled.
pub fn on(board: &str) -> Option<&'static Chip> {
    match board.strip_suffix(tilewright_board::SMALL).unwrap_or(board) {
        "stm32f746g-disco" => Some(&stm32f746::CHIP),
        "nucleo-f767zi" => Some(&stm32f767::CHIP),
        "stm32f469i-disco" => Some(&stm32f469::CHIP),
        "bench-cortex-m33" => Some(&cortex_m33::CHIP),
        _ => None,
    }
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

/// What two microcontrollers share and what one of them has of its own, each in the order of addresses; what
/// stands at an address of the other's is instead of that.
pub const fn merged<const COUNT: usize>(
    shared: &[Peripheral],
    own: &[Peripheral],
) -> [Peripheral; COUNT] {
    let mut all = [own[0]; COUNT];
    let (mut count, mut of_shared, mut of_own) = (0, 0, 0);
    while count < COUNT {
        let is_own = of_shared == shared.len()
            || of_own < own.len() && own[of_own].first <= shared[of_shared].first;
        if !is_own {
            all[count] = shared[of_shared];
            of_shared += 1;
        } else {
            if of_shared < shared.len() && own[of_own].first == shared[of_shared].first {
                of_shared += 1;
            }
            all[count] = own[of_own];
            of_own += 1;
        }
        count += 1;
    }
    assert!(of_shared == shared.len() && of_own == own.len(), "there is no place for all");
    all
}

/// A peripheral of 1 KB.
pub const fn p(
    name: &'static str,
    first: u32,
    clock: Option<(u32, u32)>,
    interrupt: Option<u32>,
    model: Model,
) -> Peripheral {
    Peripheral { name, first, last: first + 0x3ff, clock, interrupt, model }
}

/// What is not modelled, of any size.
pub const fn other(name: &'static str, first: u32, last: u32, clock: (u32, u32)) -> Peripheral {
    let model = Model::Unmodelled;
    Peripheral { name, first, last, clock: Some(clock), interrupt: None, model }
}

/// What is not modelled, of 1 KB.
pub const fn small(name: &'static str, first: u32, clock: (u32, u32)) -> Peripheral {
    other(name, first, first + 0x3ff, clock)
}

/// A timer; `wide`: its counter has 32 bits.
pub const fn timer(
    name: &'static str,
    first: u32,
    clock: (u32, u32),
    interrupt: u32,
    wide: bool,
) -> Peripheral {
    let apb = (clock.0 == enable::APB2) as usize;
    p(name, first, Some(clock), Some(interrupt), Model::Timer(apb, wide))
}

/// A USART or UART.
pub const fn usart(
    name: &'static str,
    first: u32,
    clock: (u32, u32),
    interrupt: u32,
    model: Model,
) -> Peripheral {
    p(name, first, Some(clock), Some(interrupt), model)
}

/// GPIO port `index`; 0 is A.
pub const fn gpio(name: &'static str, index: u32) -> Peripheral {
    p(name, 0x4002_0000 + index * 0x400, Some((enable::AHB1, index)), None, Model::Gpio(index))
}

/// A controller of external memory, of 4 KB.
pub const fn external(
    name: &'static str,
    first: u32,
    clock: u32,
    interrupt: u32,
    model: Model,
) -> Peripheral {
    let (last, clock) = (first + 0xfff, Some((enable::AHB3, clock)));
    Peripheral { name, first, last, clock, interrupt: Some(interrupt), model }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peripherals_are_in_order_and_apart() {
        for chip in [&stm32f746::CHIP, &stm32f767::CHIP, &stm32f469::CHIP, &cortex_m33::CHIP] {
            for pair in chip.peripherals.windows(2) {
                assert!(pair[0].last < pair[1].first, "{} {}", pair[0].name, pair[1].name);
            }
        }
    }

    #[test]
    fn fixed_registers_are_in_order() {
        for chip in [&stm32f746::CHIP, &stm32f767::CHIP, &stm32f469::CHIP, &cortex_m33::CHIP] {
            assert!(chip.core.fixed.is_sorted_by_key(|(at, _)| *at));
        }
    }
}
