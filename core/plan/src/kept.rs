//! Checksums that the firmware keeps of what programs write to a card: one for each sector, in the arena.

/// Bytes of a sector.
const SECTOR: u64 = 512;

/// Where they lie, and of which sectors they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Offset in the arena of the first, a multiple of [`Kept::ALIGNMENT`].
    pub offset: u32,
    /// The first sector that has one; never 0, which holds the store image's header.
    pub first: u32,
    /// How many sectors have one.
    pub sectors: u32,
}

impl Kept {
    /// Bytes of a checksum: a CRC-32, in the order of the sectors.
    pub const SUM: u32 = 4;
    /// They have lines of the cache for themselves: transfers would overwrite what the core keeps there.
    pub const ALIGNMENT: u32 = 32;

    /// Bytes of the arena that they take.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        (self.sectors as u64 * Self::SUM as u64).next_multiple_of(Self::ALIGNMENT as u64)
    }

    /// First byte of the arena behind them.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.offset as u64 + self.bytes()
    }

    /// Offset in the arena of a sector's checksum; nothing if it has none.
    #[must_use]
    pub const fn place(&self, sector: u32) -> Option<u32> {
        match sector.checked_sub(self.first) {
            Some(number) if number < self.sectors => Some(self.offset + number * Self::SUM),
            _ => None,
        }
    }

    /// Whether the sector that holds a byte of the card has one.
    #[must_use]
    pub fn holds(&self, byte: u64) -> bool {
        u32::try_from(byte / SECTOR).is_ok_and(|sector| self.place(sector).is_some())
    }
}
