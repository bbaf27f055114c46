//! Memory for code that is coupled to the core (ITCM), or SRAM that is kept for it: the linker puts there what runs between kernels
//! (`board_file.rs`), start-up copies it from flash.

use core::ptr;

use cortex_m::asm;

#[expect(unsafe_code, reason = "symbols of the linker")]
unsafe extern "C" {
    static mut __scoupled: u64;
    static mut __ecoupled: u64;
    static __sicoupled: u64;
}

/// Copies it. Nothing that lies there may run before, so that this comes first.
#[expect(unsafe_code, reason = "symbols of the linker, and memory that it fills")]
pub fn fill() {
    let (start, end) = (&raw mut __scoupled, &raw mut __ecoupled);
    let (mut from, mut to) = (&raw const __sicoupled, start);
    while to < end {
        // SAFETY: the linker keeps as many bytes in flash from the one symbol on as there are in coupled
        // memory between the others, all aligned; nothing else uses that memory, and volatile accesses are
        // made one by one, not by a function that may lie there.
        unsafe {
            ptr::write_volatile(to, ptr::read_volatile(from));
            (from, to) = (from.add(1), to.add(1));
        }
    }
    asm::dsb();
    asm::isb();
}
