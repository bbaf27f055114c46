//! The board's memories as slices.

use crate::board;
use core::slice;

/// The plan image in flash, and the tensor arena. Called once.
#[expect(unsafe_code, reason = "slices of memory that the linker knows nothing of")]
pub fn take() -> (&'static [u8], &'static mut [u8]) {
    // SAFETY: the build script takes both ranges from the board's file, which keeps them apart
    // from the firmware's own flash and SRAM; both are real memory, any bytes are valid, flash is
    // not written, and only `main` calls this, once.
    unsafe {
        let plan = slice::from_raw_parts(board::PLAN_ADDRESS as *const u8, board::PLAN_BYTES);
        let arena = slice::from_raw_parts_mut(board::ARENA_ADDRESS as *mut u8, board::ARENA_BYTES);
        (plan, arena)
    }
}
