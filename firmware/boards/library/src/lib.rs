//! The archive `libtilewright.a`: the functions of `tilewright.h`, and what a core without an operating system needs
//! besides. It is compiled once for each core; the feature `dual-issue` is for the Cortex-M7.
#![no_std]

pub use tilewright_library::calls;

/// Nothing in the library panics (ARCHITECTURE.md, invariants 5 and 10). If it did, an undefined instruction would bring
/// the program into the fault handler that it has for all its own faults.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    cortex_m::asm::udf()
}
