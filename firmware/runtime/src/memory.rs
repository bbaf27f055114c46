//! Memories that steps name. The only place where slices are made from raw memory.

use core::fmt;
use core::marker::PhantomData;
use core::ops::Range;
use core::ptr::NonNull;
use core::slice;

use tilewright_plan::image::{StoreError, StoreHeader};
use tilewright_plan::{PlanImage, Space, View};

/// Why an operand cannot be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessError {
    /// The space does not exist here, or the view reaches past its end.
    OutOfBounds(Space),
    /// An input shares bytes with the output.
    Overlap,
    /// The view's space has no number that is known, or cannot be written.
    NotWritable,
}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfBounds(space) => {
                write!(f, "an operand reaches past the memory that exists in space {space:?}")
            }
            Self::Overlap => f.write_str("an input shares bytes with the output"),
            Self::NotWritable => f.write_str("an output lies where nothing can be written"),
        }
    }
}

impl core::error::Error for AccessError {}

/// Memory that is read and written, whole for a lifetime; slices are made of parts of it only
/// while a step runs, since transfer engines write to other parts at the same time.
#[derive(Debug)]
struct Region<'m> {
    base: NonNull<u8>,
    bytes: usize,
    owned: PhantomData<&'m mut [u8]>,
}

/// What [`Region::split`] gives: slices to read where they were asked for, one to write.
type Split<'s, const N: usize> = ([Option<&'s [u8]>; N], &'s mut [u8]);

impl<'m> Region<'m> {
    fn new(memory: &'m mut [u8]) -> Self {
        let bytes = memory.len();
        Self { base: NonNull::from(memory).cast(), bytes, owned: PhantomData }
    }

    fn holds(&self, range: &Range<usize>) -> bool {
        range.start <= range.end && range.end <= self.bytes
    }

    fn read(&self, range: Range<usize>) -> Option<&[u8]> {
        // SAFETY: the range lies in the memory that this region owns, and the region is borrowed,
        // so no mutable slice of it exists.
        #[expect(unsafe_code, reason = "slices of memory that engines share are made here alone")]
        self.holds(&range).then(|| unsafe {
            slice::from_raw_parts(self.base.add(range.start).as_ptr(), range.len())
        })
    }

    fn write(&mut self, range: Range<usize>) -> Option<&mut [u8]> {
        // SAFETY: as in `read`, and the region is borrowed mutably.
        #[expect(unsafe_code, reason = "slices of memory that engines share are made here alone")]
        self.holds(&range).then(|| unsafe {
            slice::from_raw_parts_mut(self.base.add(range.start).as_ptr(), range.len())
        })
    }

    /// One slice to write and others, disjoint from it, to read.
    fn split<const N: usize>(
        &mut self,
        reads: [Option<Range<usize>>; N],
        write: Range<usize>,
    ) -> Result<Split<'_, N>, Option<AccessError>> {
        for read in reads.iter().flatten() {
            if !self.holds(read) {
                return Err(None);
            }
            if read.start < write.end && write.start < read.end {
                return Err(Some(AccessError::Overlap));
            }
        }
        if !self.holds(&write) {
            return Err(None);
        }
        // SAFETY: all ranges lie in the memory that this region owns; the region is borrowed
        // mutably for as long as the slices live; the ranges that are read share no byte with the
        // one that is written.
        #[expect(unsafe_code, reason = "slices of memory that engines share are made here alone")]
        unsafe {
            let base = self.base;
            let inputs = reads.map(|read| {
                read.map(|r| slice::from_raw_parts(base.add(r.start).as_ptr(), r.len()))
            });
            let output = slice::from_raw_parts_mut(base.add(write.start).as_ptr(), write.len());
            Ok((inputs, output))
        }
    }
}

/// The memories of a board, besides the sections of the plan image.
#[derive(Debug)]
pub struct Memory<'m> {
    arena: Region<'m>,
    external_ram: Region<'m>,
    external_flash: &'m [u8],
    /// Bytes of a card that an engine reaches.
    card_bytes: u64,
}

impl<'m> Memory<'m> {
    /// A board with a tensor arena alone.
    #[must_use]
    pub fn new(arena: &'m mut [u8]) -> Self {
        let external_ram = Region::new(&mut []);
        Self { arena: Region::new(arena), external_ram, external_flash: &[], card_bytes: 0 }
    }

    /// Adds external RAM and flash that the core can address.
    #[must_use]
    pub fn with_external(mut self, ram: &'m mut [u8], flash: &'m [u8]) -> Self {
        self.external_ram = Region::new(ram);
        self.external_flash = flash;
        self
    }

    /// Adds a card of at most so many bytes, which an engine reaches.
    #[must_use]
    pub const fn with_card(mut self, bytes: u64) -> Self {
        self.card_bytes = bytes;
        self
    }

    /// Bytes that exist in each space, by the space's number, for
    /// [`Expected`](tilewright_plan::image::Expected).
    #[must_use]
    pub fn space_bytes(&self) -> [u64; 6] {
        let mut bytes = [0; 6];
        bytes[Space::Arena as usize] = self.arena.bytes as u64;
        bytes[Space::ExternalRam as usize] = self.external_ram.bytes as u64;
        bytes[Space::ExternalFlash as usize] = self.external_flash.len() as u64;
        bytes[Space::Card as usize] = self.card_bytes;
        bytes
    }

    /// Holds external flash, if a program uses it, against the plan image: its store image must be the
    /// one that was made with it. What the store holds is not looked at.
    ///
    /// # Errors
    /// [`StoreError`] says in what it differs.
    pub fn check_stores(&self, image: &PlanImage<'_>) -> Result<(), StoreError> {
        let space = Space::ExternalFlash;
        if image.space_bytes(space) == 0 {
            return Ok(());
        }
        StoreHeader::read(self.external_flash, image, space).map(drop)
    }

    /// The bytes from a view's offset to its extent.
    ///
    /// # Errors
    /// [`AccessError::OutOfBounds`].
    pub fn bytes<'s>(
        &'s self,
        image: &PlanImage<'s>,
        view: &View,
    ) -> Result<&'s [u8], AccessError> {
        let space = view.space().unwrap_or(Space::Card);
        let range = extent(view);
        let bytes = match space {
            Space::Arena => range.and_then(|range| self.arena.read(range)),
            Space::ExternalRam => range.and_then(|range| self.external_ram.read(range)),
            read_only => range.and_then(|range| self.read_only(image, read_only).get(range)),
        };
        bytes.ok_or(AccessError::OutOfBounds(space))
    }

    /// The bytes from a view's offset to its extent, to be written.
    ///
    /// # Errors
    /// [`AccessError`] if they are not there or cannot be written.
    pub fn bytes_mut(&mut self, view: &View) -> Result<&mut [u8], AccessError> {
        let (space, region) = self.writable(view)?;
        extent(view).and_then(|range| region.write(range)).ok_or(AccessError::OutOfBounds(space))
    }

    /// Reads the bytes from `offset` of a space on; nothing if they are not there.
    pub(crate) fn read_at(
        &self,
        image: &PlanImage<'_>,
        space: Space,
        offset: u64,
        bytes: &mut [u8],
    ) -> Option<()> {
        let start = usize::try_from(offset).ok()?;
        let range = start..start.checked_add(bytes.len())?;
        let found = match space {
            Space::Arena => self.arena.read(range),
            Space::ExternalRam => self.external_ram.read(range),
            read_only => self.read_only(image, read_only).get(range),
        };
        bytes.copy_from_slice(found?);
        Some(())
    }

    /// Writes the bytes from `offset` of a space on; nothing if they are not there or cannot be
    /// written.
    pub(crate) fn write_at(&mut self, space: Space, offset: u64, bytes: &[u8]) -> Option<()> {
        let start = usize::try_from(offset).ok()?;
        let range = start..start.checked_add(bytes.len())?;
        let region = match space {
            Space::Arena => &mut self.arena,
            Space::ExternalRam => &mut self.external_ram,
            _ => return None,
        };
        region.write(range)?.copy_from_slice(bytes);
        Some(())
    }

    /// The operands of a step: what is read, and what is written.
    ///
    /// # Errors
    /// [`AccessError`] if an operand is not there, or inputs and output are not disjoint.
    pub fn operands<'s, const N: usize>(
        &'s mut self,
        image: &PlanImage<'s>,
        inputs: [&View; N],
        output: &View,
    ) -> Result<([&'s [u8]; N], &'s mut [u8]), AccessError> {
        let (space, _) = self.writable(output)?;
        let write = extent(output).ok_or(AccessError::OutOfBounds(space))?;
        let mut shared: [Option<Range<usize>>; N] = [const { None }; N];
        for (shared, view) in shared.iter_mut().zip(inputs) {
            if view.space() == Some(space) {
                *shared = Some(extent(view).ok_or(AccessError::OutOfBounds(space))?);
            }
        }
        // The other writable region is only read.
        let Self { arena, external_ram, external_flash, .. } = self;
        let (region, other) =
            if space == Space::Arena { (arena, &*external_ram) } else { (external_ram, &*arena) };
        let (shared, output) = region
            .split(shared, write)
            .map_err(|cause| cause.unwrap_or(AccessError::OutOfBounds(space)))?;
        let mut slices: [&[u8]; N] = [&[]; N];
        for ((slice, shared), view) in slices.iter_mut().zip(shared).zip(inputs) {
            let there = view.space().unwrap_or(Space::Card);
            *slice = match shared {
                Some(slice) => Some(slice),
                None => extent(view).and_then(|range| match there {
                    Space::Arena | Space::ExternalRam => other.read(range),
                    Space::ExternalFlash => external_flash.get(range),
                    Space::Weights => image.weights().get(range),
                    Space::Constants => image.constants().get(range),
                    Space::Card => None,
                }),
            }
            .ok_or(AccessError::OutOfBounds(there))?;
        }
        Ok((slices, output))
    }

    fn writable(&mut self, view: &View) -> Result<(Space, &mut Region<'m>), AccessError> {
        match view.space() {
            Some(Space::Arena) => Ok((Space::Arena, &mut self.arena)),
            Some(Space::ExternalRam) => Ok((Space::ExternalRam, &mut self.external_ram)),
            _ => Err(AccessError::NotWritable),
        }
    }

    fn read_only<'s>(&'s self, image: &PlanImage<'s>, space: Space) -> &'s [u8] {
        match space {
            Space::Weights => image.weights(),
            Space::Constants => image.constants(),
            Space::ExternalFlash => self.external_flash,
            Space::Arena | Space::ExternalRam | Space::Card => &[],
        }
    }
}

/// The bytes of its space that a view can touch.
fn extent(view: &View) -> Option<Range<usize>> {
    let start = view.offset as usize;
    let end = start.checked_add(usize::try_from(view.extent()).ok()?)?;
    Some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two(first: Range<usize>, second: Range<usize>) -> [Option<Range<usize>>; 2] {
        [Some(first), Some(second)]
    }

    fn one(read: Range<usize>) -> [Option<Range<usize>>; 1] {
        [Some(read)]
    }

    #[test]
    fn disjoint_parts_are_had_at_once() {
        let mut bytes: Vec<u8> = (0..16).collect();
        let mut region = Region::new(&mut bytes);
        let ([a, b], output) = region.split(two(0..4, 2..6), 6..8).unwrap();
        assert_eq!((a, b), (Some(&[0u8, 1, 2, 3][..]), Some(&[2u8, 3, 4, 5][..])));
        output.fill(99);
        assert_eq!(bytes[5..9], [5, 99, 99, 8]);
    }

    #[test]
    fn overlaps_and_ends_are_refused() {
        let mut bytes = [0u8; 8];
        let mut region = Region::new(&mut bytes);
        let overlap = region.split(one(0..5), 4..8).unwrap_err();
        assert_eq!(overlap, Some(AccessError::Overlap));
        assert!(region.split(one(0..4), 4..9).unwrap_err().is_none());
        assert!(region.split(one(5..9), 0..2).unwrap_err().is_none());
        assert!(region.read(3..9).is_none());
        assert!(region.write(8..8).is_some_and(|slice| slice.is_empty()));
    }
}
