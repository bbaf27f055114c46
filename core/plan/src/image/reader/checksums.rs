//! What an image says of checksums and tags: those of copies, and those that the firmware keeps; and of the bytes
//! through which inputs go to a card.

use super::PlanImage;
use crate::{SectorChecksums, Window};

/// What [`super::Header::sealed`] is of an image whose card is sealed.
const SEALED: u32 = 1;

/// The key of a sealed image.
type Key = [u32; SectorChecksums::KEY_WORDS];
/// A part of its store image: its first byte, and its tag.
type Part = [u32; SectorChecksums::PART_WORDS];

impl<'a> PlanImage<'a> {
    /// Checksums that the firmware keeps of what programs write to a card; nothing if it keeps none.
    #[must_use]
    pub fn sector_checksums(&self) -> Option<SectorChecksums> {
        let [offset, first, sectors] = self.header.kept;
        let sealed = self.header.sealed == SEALED;
        (first > 0).then_some(SectorChecksums { offset, first, sectors, sealed })
    }

    /// The bytes of the arena through which inputs go to a card; nothing if none do.
    #[must_use]
    pub fn window(&self) -> Option<Window> {
        let [offset, bytes] = self.header.window;
        (bytes > 0).then_some(Window { offset, bytes })
    }

    /// The key that the card's weights are sealed with; nothing if they are not.
    #[must_use]
    pub fn key(&self) -> Option<&'a Key> {
        self.sealed().map(|(key, _)| key)
    }

    /// Of a sealed image the part at an index: its first byte on the card, and its tag. It ends where the next
    /// begins, or before.
    #[must_use]
    pub fn part(&self, index: u32) -> Option<&'a Part> {
        self.sealed()?.1.get(index as usize)
    }

    /// Key and parts.
    fn sealed(&self) -> Option<(&'a Key, &'a [Part])> {
        self.sector_checksums().filter(|checksums| checksums.sealed)?;
        let (key, parts) = self.sums.split_first_chunk()?;
        Some((key, parts.as_chunks().0))
    }

    /// How many checksums or parts copies can name.
    pub(super) fn copy_checksum_count(&self) -> usize {
        self.sealed().map_or(self.sums.len(), |(_, parts)| parts.len())
    }

    /// Whether the section of checksums holds what copies may name and nothing else.
    pub(super) fn checksums_are_whole(&self) -> bool {
        match self.sealed() {
            Some((key, parts)) => self.sums.len() == key.len() + parts.as_flattened().len(),
            None => self.header.sealed == 0,
        }
    }

    /// The checksum at an index, of an image that is not sealed.
    #[must_use]
    pub fn copy_checksum(&self, index: u32) -> Option<u32> {
        let is_sealed = self.sector_checksums().is_some_and(|checksums| checksums.sealed);
        self.sums.get(index as usize).filter(|_| !is_sealed).copied()
    }
}
