//! The Cortex-M33 of benchmarks, which nobody sells: a core and a serial port. DDI 0553 (Armv8-M), 100230
//! (the core).

use crate::chip::{Chip, CoreIdentity, Model, Peripheral, p};

/// USART1 as an STM32F746 has it, clocked as the core is and never without.
const PERIPHERALS: &[Peripheral] = &[p("USART1", 0x4001_1000, None, Some(0), Model::Usart(1))];

/// Identification registers of the Cortex-M33 r0p3 (100230, system control): the interrupt controller's
/// type for 64 interrupts, the core.
const FIXED: &[(u32, u32)] = &[(0x004, 1), (0xd00, 0x410f_d213)];

/// The microcontroller. In CCR the bits of Armv7-M that align the stack and let exceptions return to
/// threads are 1 always (DDI 0553, CCR). The cycle counter has no lock.
pub const CHIP: Chip = Chip {
    peripherals: PERIPHERALS,
    rcc_reset: &[],
    rcc_last: 0,
    card_clock: 0,
    core: CoreIdentity {
        fixed: FIXED,
        ccr: 0x0000_0201,
        caches: None,
        locked_counter: false,
        idcode: 0,
    },
};
