//! Panics and faults: said on the console, then the core sleeps for ever.
//!
//! A board defines `tilewright_say`, which sends bytes on its console without interrupts; nothing
//! may be taken for granted there, least of all that the port is set up.

use core::arch::naked_asm;
use core::fmt;
use core::panic::PanicInfo;

use cortex_m::peripheral::SCB;
use tilewright_runtime::console::write_truncated;

use crate::sleep;

#[expect(unsafe_code, reason = "symbols of the board's crate and of the linker script")]
unsafe extern "Rust" {
    safe fn tilewright_say(bytes: &[u8]);
    static _stack_start: u32;
    static _stack_end: u32;
}

/// Sends bytes on the console without interrupts, once that is set up.
pub fn say(bytes: &[u8]) {
    tilewright_say(bytes);
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    cortex_m::interrupt::disable();
    match info.location() {
        Some(place) => {
            let (file, line) = (place.file(), place.line());
            stop(format_args!("panic at {file}:{line}: {}; report it", info.message()))
        }
        None => stop(format_args!("panic: {}; report it", info.message())),
    }
}

/// An interrupt that nothing handles.
#[cortex_m_rt::exception]
#[allow(unsafe_code, reason = "interrupts come at any time; this one only reports")]
unsafe fn DefaultHandler(number: i16) -> ! {
    cortex_m::interrupt::disable();
    stop(format_args!("interrupt {number} has no handler; report it"))
}

/// Takes lr and pc from the frame that the core stacked (Armv7-M ARM, B1.5.6), puts the stack back
/// to its start, and reports. If the stack overflowed there is no frame, and nothing can be pushed.
/// The vector table refers to this name.
#[unsafe(no_mangle)]
#[unsafe(naked)]
#[allow(unsafe_code, non_snake_case, reason = "the stack cannot be trusted here")]
extern "C" fn HardFault() -> ! {
    naked_asm!(
        "cpsid i",
        "mrs r0, msp",
        "movs r1, #0",
        "movs r2, #0",
        "ldr r3, =_stack_end",
        "cmp r0, r3",
        "blo 1f",
        "ldr r3, =_stack_start - 32",
        "cmp r0, r3",
        "bhi 1f",
        "ldr r1, [r0, #20]",
        "ldr r2, [r0, #24]",
        "1:",
        "ldr r3, =_stack_start",
        "msr msp, r3",
        "b {report}",
        report = sym report,
    )
}

/// Reports a fault; lr and pc are zero if there was no frame at `stack`.
extern "C" fn report(stack: u32, lr: u32, pc: u32) -> ! {
    // SAFETY: the registers of the system control block (Armv7-M ARM, B3.2.2) are only read.
    #[expect(unsafe_code, reason = "fault registers have no safe accessor")]
    let (cfsr, hfsr, mmfar, bfar) = unsafe {
        let scb = &*SCB::PTR;
        (scb.cfsr.read(), scb.hfsr.read(), scb.mmfar.read(), scb.bfar.read())
    };
    let lowest = &raw const _stack_end as u32;
    let highest = &raw const _stack_start as u32;
    let cause = if (lowest..highest).contains(&stack) { "" } else { ", stack overflow," };
    stop(format_args!(
        "HardFault{cause} at pc {pc:#010x} lr {lr:#010x} sp {stack:#010x} cfsr {cfsr:#010x} \
         hfsr {hfsr:#010x} mmfar {mmfar:#010x} bfar {bfar:#010x}; report it"
    ))
}

/// Prints an error line without interrupts and sleeps for ever.
pub fn stop(text: fmt::Arguments<'_>) -> ! {
    write_truncated::<256>(format_args!("\r\nerror: {text}"), tilewright_say);
    tilewright_say(b"\r\n");
    sleep::for_ever()
}
