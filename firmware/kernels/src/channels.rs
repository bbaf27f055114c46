//! Channel constants: what a convolution knows of each output channel.

use crate::requantise::Multiplier;

/// Bytes of a channel's entry.
pub const CHANNEL_BYTES: usize = 12;

/// Constants of one output channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channel {
    /// Added to the sum of products.
    pub bias: i32,
    /// Input scale × weight scale / output scale.
    pub factor: Multiplier,
}

/// Packed channel constants: bias, multiplier and shift of each channel, 32 bits each,
/// little-endian. [`crate::pack::channel_constants`] makes them.
#[derive(Clone, Copy, Debug)]
pub struct Channels<'a>(&'a [[u8; CHANNEL_BYTES]]);

impl<'a> Channels<'a> {
    /// Reads as many channels as the bytes hold.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes.as_chunks().0)
    }

    /// Number of channels.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no channel.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The constants of a channel.
    #[must_use]
    pub fn get(&self, channel: usize) -> Option<Channel> {
        self.0.get(channel).map(read)
    }

    /// The constants of all channels, in order.
    #[inline(always)]
    pub fn iter(&self) -> impl Iterator<Item = Channel> + 'a {
        self.0.iter().map(read)
    }

    /// The channels' bytes.
    pub(crate) const fn entries(&self) -> &'a [[u8; CHANNEL_BYTES]] {
        self.0
    }

    /// The first `count` channels, or all.
    pub(crate) fn first(&self, count: usize) -> Self {
        Self(self.0.get(..count).unwrap_or(self.0))
    }

    /// The channels from `start` on.
    #[must_use]
    #[inline]
    pub fn from(&self, start: usize) -> Self {
        Self(self.0.get(start..).unwrap_or(&[]))
    }
}

#[inline(always)]
fn read(entry: &[u8; CHANNEL_BYTES]) -> Channel {
    // By reference: a copy of the entry would be a call.
    let [b0, b1, b2, b3, m0, m1, m2, m3, s0, s1, s2, s3] = entry;
    Channel {
        bias: i32::from_le_bytes([*b0, *b1, *b2, *b3]),
        factor: Multiplier {
            multiplier: i32::from_le_bytes([*m0, *m1, *m2, *m3]),
            shift: i32::from_le_bytes([*s0, *s1, *s2, *s3]),
        },
    }
}
