//! A board's memories as slices.

use core::slice;

use cortex_m::peripheral::CBP;

use crate::cache::forget;
use crate::ram_test::{self, RamFault};
use crate::serial_flash;

/// Address and bytes of a memory.
#[derive(Clone, Copy)]
pub struct Place {
    /// Where it begins.
    pub address: usize,
    /// How many bytes it has.
    pub bytes: usize,
}

/// Where memories lie that plans name, and the plan image.
#[derive(Clone, Copy)]
pub struct Places {
    /// The plan image in flash.
    pub plan: Place,
    /// The tensor arena in SRAM, within DMA's reach.
    pub arena: Place,
    /// External RAM, if the board has any.
    pub external_ram: Option<Place>,
    /// External flash, likewise.
    pub external_flash: Option<Place>,
}

/// All memories that plans name, and the plan image.
pub struct Memories {
    /// The plan image in flash.
    pub plan: &'static [u8],
    /// The tensor arena in SRAM.
    pub arena: &'static mut [u8],
    /// External RAM; empty if there is none or it does not answer.
    pub external_ram: &'static mut [u8],
    /// External flash; likewise.
    pub external_flash: &'static [u8],
    /// What answers where external flash should be, if the board has any.
    pub serial_flash: Option<serial_flash::Answer>,
    /// Why external RAM is not used.
    pub ram_fault: Option<RamFault>,
}

impl Places {
    /// The memories, with external RAM if it keeps what is written to it, and with external flash if that is
    /// known.
    ///
    /// # Safety
    /// All are real memory, set up, apart from each other and from the linker's; flash is not written;
    /// nothing else uses them, and this is called once.
    #[expect(unsafe_code, reason = "slices of memory that the linker knows nothing of")]
    pub unsafe fn take(
        &self,
        serial_flash: Option<serial_flash::Answer>,
        cbp: &mut CBP,
    ) -> Memories {
        let Self { plan, arena, external_ram, external_flash } = *self;
        // SAFETY: as the caller says.
        let ram_fault = external_ram
            .and_then(|ram| unsafe { ram_test::run(ram, |line| forget(cbp, line)) }.err());
        let flash_answers = serial_flash.is_some_and(|answer| answer.is_known());
        // SAFETY: as the caller says; any bytes are valid.
        unsafe {
            Memories {
                plan: slice::from_raw_parts(plan.address as *const u8, plan.bytes),
                arena: slice::from_raw_parts_mut(arena.address as *mut u8, arena.bytes),
                external_ram: match external_ram {
                    Some(ram) if ram_fault.is_none() => {
                        slice::from_raw_parts_mut(ram.address as *mut u8, ram.bytes)
                    }
                    _ => &mut [],
                },
                external_flash: match external_flash {
                    Some(flash) if flash_answers => {
                        slice::from_raw_parts(flash.address as *const u8, flash.bytes)
                    }
                    _ => &[],
                },
                serial_flash,
                ram_fault,
            }
        }
    }
}

impl Place {
    /// Of an address and a number of bytes.
    #[must_use]
    pub const fn of((address, bytes): (usize, usize)) -> Self {
        Self { address, bytes }
    }

    /// Likewise, if there is any.
    #[must_use]
    pub const fn of_any(place: Option<(usize, usize)>) -> Option<Self> {
        match place {
            Some(place) => Some(Self::of(place)),
            None => None,
        }
    }
}
