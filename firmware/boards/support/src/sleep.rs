//! The core sleeps. Three no-ops stand behind each of these instructions: where a debugger may look into sleep,
//! which `embassy_stm32::init` allows, the core may else run what lies behind them without having slept (STM32F4
//! erratum "Debugging Sleep/Stop mode with WFE/WFI entry").

use core::arch::asm;

/// Sleeps until an interrupt is pending, even one that is masked.
#[inline(always)]
pub fn until_interrupt() {
    // SAFETY: the core goes on behind it, with everything as it was.
    #[expect(unsafe_code, reason = "the instruction and what has to follow it are one")]
    unsafe {
        asm!("wfi", "nop", "nop", "nop", "isb", options(nostack, preserves_flags));
    }
}

/// Sleeps until an event, or an exception was taken since the last sleep.
#[inline(always)]
pub fn until_event() {
    // SAFETY: as above.
    #[expect(unsafe_code, reason = "the instruction and what has to follow it are one")]
    unsafe {
        asm!("wfe", "nop", "nop", "nop", "isb", options(nostack, preserves_flags));
    }
}

/// Sleeps for ever, but for interrupts.
pub fn for_ever() -> ! {
    loop {
        until_interrupt();
    }
}
