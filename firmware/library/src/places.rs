//! The caller's memories: checked once, then lent to the runtime for each run.
#![expect(unsafe_code, reason = "memory and functions of C")]

use core::ffi::c_void;
use core::slice;

use tilewright_plan::image::ALIGNMENT;
use tilewright_plan::{PlanImage, Space, View};
use tilewright_runtime::Memory;
use tilewright_runtime::card::SECTOR;

use crate::abi::{TilewrightCard, TilewrightMemory};
use crate::failure::Failure;

/// Where some memory of the caller lies; of no bytes, it may lie anywhere.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    name: &'static str,
    first: *mut u8,
    bytes: usize,
}

impl Place {
    /// Memory from a pointer on, which is aligned to so many bytes.
    pub fn new(
        name: &'static str,
        first: *const c_void,
        bytes: usize,
        alignment: usize,
    ) -> Result<Self, Failure> {
        let first = first.cast_mut().cast::<u8>();
        if bytes == 0 {
            return Ok(Self { name, first, bytes });
        }
        if first.is_null() {
            return Err(Failure::Null(name));
        }
        if !first.addr().is_multiple_of(alignment) {
            return Err(Failure::Misaligned(name, alignment));
        }
        if isize::try_from(bytes).is_err() || first.addr().checked_add(bytes).is_none() {
            return Err(Failure::TooLong(name));
        }
        Ok(Self { name, first, bytes })
    }

    fn shares_bytes(&self, other: &Self) -> bool {
        let (start, other_start) = (self.first.addr(), other.first.addr());
        let is_empty = self.bytes == 0 || other.bytes == 0;
        !is_empty && start < other_start + other.bytes && other_start < start + self.bytes
    }

    /// What lies there.
    ///
    /// # Safety
    /// It is memory that nobody writes to during the lifetime.
    pub const unsafe fn read<'m>(&self) -> &'m [u8] {
        if self.bytes == 0 {
            return &[];
        }
        // SAFETY: neither null nor longer than memory can be; the rest the caller promises.
        unsafe { slice::from_raw_parts(self.first, self.bytes) }
    }

    /// The same, to be written.
    ///
    /// # Safety
    /// It is memory that nobody else uses during the lifetime.
    const unsafe fn write<'m>(&self) -> &'m mut [u8] {
        if self.bytes == 0 {
            return &mut [];
        }
        // SAFETY: as above.
        unsafe { slice::from_raw_parts_mut(self.first, self.bytes) }
    }

    /// Where some bytes of it lie; nothing if it has fewer.
    fn part(&self, offset: u32, bytes: u64) -> Option<*mut u8> {
        let end = u64::from(offset).checked_add(bytes)?;
        (end <= self.bytes as u64).then(|| self.first.wrapping_add(offset as usize))
    }
}

/// All memories of a model.
#[derive(Clone, Copy, Debug)]
pub struct Places {
    arena: Place,
    external_ram: Place,
    external_flash: Place,
    /// A card with both functions.
    pub card: Option<TilewrightCard>,
}

impl Places {
    /// Those that the caller gives, beside a plan and the model's own memory.
    pub fn new(
        memory: &TilewrightMemory,
        card: Option<TilewrightCard>,
        apart: [&Place; 2],
    ) -> Result<Self, Failure> {
        let TilewrightMemory { arena_bytes, external_ram_bytes, external_flash_bytes, .. } =
            *memory;
        let this = Self {
            arena: Place::new("the arena", memory.arena, arena_bytes, ALIGNMENT)?,
            external_ram: Place::new(
                "external RAM",
                memory.external_ram,
                external_ram_bytes,
                ALIGNMENT,
            )?,
            external_flash: Place::new(
                "external flash",
                memory.external_flash,
                external_flash_bytes,
                ALIGNMENT,
            )?,
            card,
        };
        if let Some(card) = &this.card {
            let missing = [
                (card.read.is_none(), "the card's read"),
                (card.write.is_none(), "the card's write"),
            ];
            if let Some((_, name)) = missing.into_iter().find(|(is_missing, _)| *is_missing) {
                return Err(Failure::Null(name));
            }
        }
        let Self { arena, external_ram, external_flash, .. } = &this;
        for written in [arena, external_ram] {
            for other in [apart[0], apart[1], external_flash] {
                if written.shares_bytes(other) {
                    return Err(Failure::Overlap(written.name, other.name));
                }
            }
        }
        if arena.shares_bytes(external_ram) {
            return Err(Failure::Overlap(arena.name, external_ram.name));
        }
        Ok(this)
    }

    /// The memories as the runtime takes them.
    ///
    /// # Safety
    /// Nobody else uses them during the lifetime.
    pub unsafe fn memory<'m>(&self) -> Memory<'m> {
        // SAFETY: as the caller promises; they share no bytes.
        let (arena, ram, flash) =
            unsafe { (self.arena.write(), self.external_ram.write(), self.external_flash.read()) };
        let sectors = self.card.map_or(0, |card| card.sectors);
        let memory = Memory::new(arena).with_external(ram, flash);
        memory.with_card(u64::from(sectors) * u64::from(SECTOR))
    }

    /// Where the bytes of a view lie that is one run; nothing if there is no address.
    pub fn pointer(&self, image: &PlanImage<'_>, view: &View) -> Option<*mut u8> {
        let bytes = view.extent();
        let read_only = |memory: &[u8]| {
            let start = view.offset as usize;
            let end = start.checked_add(usize::try_from(bytes).ok()?)?;
            memory.get(start..end).map(|bytes| bytes.as_ptr().cast_mut())
        };
        match view.space()? {
            Space::Arena => self.arena.part(view.offset, bytes),
            Space::ExternalRam => self.external_ram.part(view.offset, bytes),
            Space::ExternalFlash => self.external_flash.part(view.offset, bytes),
            Space::Weights => read_only(image.weights()),
            Space::Constants => read_only(image.constants()),
            Space::Card => None,
        }
    }
}
