//! A board's memories as slices.

use core::slice;

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
}

impl Places {
    /// The memories, with external RAM if it keeps what is written to its first and last words, and
    /// with external flash if that answers.
    ///
    /// # Safety
    /// All are real memory, set up, apart from each other and from the linker's; flash is not written;
    /// nothing else uses them, and this is called once.
    #[expect(unsafe_code, reason = "slices of memory that the linker knows nothing of")]
    pub unsafe fn take(&self, flash_answers: bool) -> Memories {
        let Self { plan, arena, external_ram, external_flash } = *self;
        // SAFETY: as the caller says; any bytes are valid.
        unsafe {
            Memories {
                plan: slice::from_raw_parts(plan.address as *const u8, plan.bytes),
                arena: slice::from_raw_parts_mut(arena.address as *mut u8, arena.bytes),
                external_ram: match external_ram {
                    Some(ram) if ram.answers() => {
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

    /// Whether it keeps what is written to its first and last words.
    ///
    /// # Safety
    /// A controller answers these addresses, and nothing uses them yet.
    #[expect(unsafe_code, reason = "memory that the linker knows nothing of")]
    unsafe fn answers(self) -> bool {
        let first = self.address as *mut u32;
        let last = (self.address + self.bytes - 4) as *mut u32;
        // SAFETY: both words lie within, as the caller says.
        unsafe {
            first.write_volatile(0x5a5a_c3c3);
            last.write_volatile(0xa5a5_3c3c);
            first.read_volatile() == 0x5a5a_c3c3 && last.read_volatile() == 0xa5a5_3c3c
        }
    }
}
