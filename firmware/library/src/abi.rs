//! The types of `tilewright.h`, field by field.

use core::ffi::{c_int, c_void};

/// 64-bit words of a [`Tilewright`].
pub const WORDS: usize = 11 * size_of::<usize>();

/// `tilewright`: memory of the caller in which an open model lies.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Tilewright {
    /// Nobody's but the library's.
    pub private_words: [u64; WORDS],
}

/// `tilewright_card`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct TilewrightCard {
    /// The first argument of both functions.
    pub context: *mut c_void,
    /// Sectors of the card.
    pub sectors: u32,
    /// Reads whole sectors.
    pub read: Option<unsafe extern "C" fn(*mut c_void, u32, u32, *mut c_void) -> c_int>,
    /// Writes whole sectors.
    pub write: Option<unsafe extern "C" fn(*mut c_void, u32, u32, *const c_void) -> c_int>,
}

/// `tilewright_memory`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct TilewrightMemory {
    /// SRAM for tensors.
    pub arena: *mut c_void,
    /// Its bytes.
    pub arena_bytes: usize,
    /// External RAM.
    pub external_ram: *mut c_void,
    /// Its bytes.
    pub external_ram_bytes: usize,
    /// External flash, memory-mapped.
    pub external_flash: *const c_void,
    /// Its bytes.
    pub external_flash_bytes: usize,
    /// A card; null if there is none.
    pub card: *const TilewrightCard,
}

/// `tilewright_tensor`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct TilewrightTensor {
    /// Its values.
    pub data: *mut i8,
    /// How many.
    pub bytes: usize,
    /// Rows.
    pub height: u32,
    /// Pixels of a row.
    pub width: u32,
    /// Values of a pixel.
    pub channels: u32,
    /// Real value = scale × (value − zero point).
    pub scale: f32,
    /// See there.
    pub zero_point: i32,
}

/// `tilewright_observer`.
pub type TilewrightObserver = Option<unsafe extern "C" fn(*mut c_void, u32, u32, c_int)>;
