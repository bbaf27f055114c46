//! What the firmware keeps of what programs write to a card, in the arena: of each sector a checksum, or, if it
//! is sealed, the tag that shows that it is the one that was written last.

/// Bytes of a sector.
const SECTOR: u64 = 512;

/// Where that lies, and of which sectors it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "alloc", derive(serde::Serialize, serde::Deserialize))]
pub struct Kept {
    /// Offset in the arena of the first, a multiple of [`Kept::ALIGNMENT`].
    pub offset: u32,
    /// The first sector that has one; never 0, which holds the store image's header.
    pub first: u32,
    /// How many sectors have one.
    pub sectors: u32,
    /// Whether all that is swapped is encrypted, and these are tags.
    pub sealed: bool,
}

impl Kept {
    /// Bytes of a checksum: a CRC-32, in the order of the sectors.
    pub const SUM: u32 = 4;
    /// Bytes of a tag with the number of times that its sector was written.
    pub const SEAL: u32 = 20;
    /// Words of the key that weights are sealed with, before what there is of their parts.
    pub const KEY_WORDS: usize = 8;
    /// Words of a part: its first byte on the card, and its tag.
    pub const PART_WORDS: usize = 5;
    /// They have lines of the cache for themselves: transfers would overwrite what the core keeps there.
    pub const ALIGNMENT: u32 = 32;

    /// Bytes that are kept of a sector.
    #[must_use]
    pub const fn each(&self) -> u32 {
        if self.sealed { Self::SEAL } else { Self::SUM }
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

    /// Offset in the arena of what is kept of a sector; nothing if nothing is.
    #[must_use]
    pub const fn place(&self, sector: u32) -> Option<u32> {
        match sector.checked_sub(self.first) {
            Some(number) if number < self.sectors => Some(self.offset + number * self.each()),
            _ => None,
        }
    }

    /// Whether something is kept of the sector that holds a byte of the card.
    #[must_use]
    pub fn holds(&self, byte: u64) -> bool {
        u32::try_from(byte / SECTOR).is_ok_and(|sector| self.place(sector).is_some())
    }
}
