//! The board's memories as slices.

use crate::board;
use core::slice;

/// All memories that plans name, and the plan image.
pub struct Memories {
    /// The plan image in flash.
    pub plan: &'static [u8],
    /// The tensor arena in SRAM.
    pub arena: &'static mut [u8],
    /// External RAM; empty if it does not answer.
    pub external_ram: &'static mut [u8],
    /// External flash; empty if it does not answer.
    pub external_flash: &'static [u8],
}

/// The memories, with those external ones that were set up. Called once.
#[expect(unsafe_code, reason = "slices of memory that the linker knows nothing of")]
pub fn take(ram_answers: bool, flash_answers: bool) -> Memories {
    let ram_bytes = if ram_answers { board::EXTERNAL_RAM_BYTES } else { 0 };
    let flash_bytes = if flash_answers { board::EXTERNAL_FLASH_BYTES } else { 0 };
    // SAFETY: the build script takes all ranges from the board's file, which keeps them apart
    // from the firmware's own flash and SRAM; all are real memory, any bytes are valid, flash is
    // not written, and only `main` calls this, once.
    unsafe {
        Memories {
            plan: slice::from_raw_parts(board::PLAN_ADDRESS as *const u8, board::PLAN_BYTES),
            arena: slice::from_raw_parts_mut(board::ARENA_ADDRESS as *mut u8, board::ARENA_BYTES),
            external_ram: slice::from_raw_parts_mut(
                board::EXTERNAL_RAM_ADDRESS as *mut u8,
                ram_bytes,
            ),
            external_flash: slice::from_raw_parts(
                board::EXTERNAL_FLASH_ADDRESS as *const u8,
                flash_bytes,
            ),
        }
    }
}

/// Whether external RAM keeps what is written to its first and last words.
pub fn ram_answers() -> bool {
    let first = board::EXTERNAL_RAM_ADDRESS as *mut u32;
    let last = (board::EXTERNAL_RAM_ADDRESS + board::EXTERNAL_RAM_BYTES - 4) as *mut u32;
    // SAFETY: both words lie in external RAM, which nothing uses yet.
    #[expect(unsafe_code, reason = "memory that the linker knows nothing of")]
    unsafe {
        first.write_volatile(0x5a5a_c3c3);
        last.write_volatile(0xa5a5_3c3c);
        first.read_volatile() == 0x5a5a_c3c3 && last.read_volatile() == 0xa5a5_3c3c
    }
}
