//! Checksums that the firmware keeps in the arena of sectors that programs write to a card; or, of sectors that are
//! sealed, tags that show that they are those that were written last.

/// Bytes of a sector.
const SECTOR: u64 = 512;

/// Where they lie, and of which sectors they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "alloc", derive(serde::Serialize, serde::Deserialize))]
pub struct SectorChecksums {
    /// Offset in the arena of the first, a multiple of [`SectorChecksums::ALIGNMENT`].
    pub offset: u32,
    /// The first sector that has one; never 0, which holds the store image's header.
    pub first: u32,
    /// How many sectors have one.
    pub sectors: u32,
    /// Whether all that is swapped is encrypted, and these are tags.
    pub sealed: bool,
}

impl SectorChecksums {
    /// Bytes of a checksum: a CRC-32, in the order of the sectors.
    pub const CHECKSUM_BYTES: u32 = 4;
    /// Bytes of a tag with the number of times that its sector was written.
    pub const SEAL_BYTES: u32 = 20;
    /// Words of the key that weights are sealed with, before what there is of their parts.
    pub const KEY_WORDS: usize = 8;
    /// Words of a part: its first byte on the card, and its tag.
    pub const PART_WORDS: usize = 5;
    /// They have lines of the cache for themselves: transfers would overwrite what the core keeps there.
    pub const ALIGNMENT: u32 = 32;

    /// Bytes of the checksum or tag of a sector.
    #[must_use]
    pub const fn each(&self) -> u32 {
        if self.sealed { Self::SEAL_BYTES } else { Self::CHECKSUM_BYTES }
    }

    /// Bytes of the arena that they take.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        (self.sectors as u64 * self.each() as u64).next_multiple_of(Self::ALIGNMENT as u64)
    }

    /// First byte of the arena behind them.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.offset as u64 + self.bytes()
    }

    /// Offset in the arena of the checksum or tag of a sector; nothing if it has none.
    #[must_use]
    pub const fn place(&self, sector: u32) -> Option<u32> {
        match sector.checked_sub(self.first) {
            Some(number) if number < self.sectors => Some(self.offset + number * self.each()),
            _ => None,
        }
    }

    /// Whether the sector that holds a byte of the card has one.
    #[must_use]
    pub fn holds(&self, byte: u64) -> bool {
        u32::try_from(byte / SECTOR).is_ok_and(|sector| self.place(sector).is_some())
    }
}
