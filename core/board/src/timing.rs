//! What accesses to memories take. Build scripts and the library share this file.

use serde::{Deserialize, Serialize};

/// What an access takes: a fixed time, then bytes at a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Access {
    /// Picoseconds before the first byte.
    pub latency_ps: u64,
    /// Bytes a second from then on; at least 1.
    pub bytes_per_second: u64,
}

/// What accesses to a memory take, by who accesses it. Caches are no part of it: a miss is an access
/// of a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timing {
    /// The core reads a word, or a cache its line.
    pub core_read: Access,
    /// The core writes; nothing if it cannot.
    #[serde(default)]
    pub core_write: Option<Access>,
    /// A DMA engine reads one burst ([`Engine::burst_bytes`](crate::engine::Engine)); nothing if it
    /// cannot.
    #[serde(default)]
    pub dma_read: Option<Access>,
    /// A DMA engine writes one burst; nothing if it cannot.
    #[serde(default)]
    pub dma_write: Option<Access>,
    /// Where the numbers come from.
    pub source: String,
}

/// A data cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataCache {
    /// Size.
    pub bytes: u32,
    /// Bytes of a line.
    pub line_bytes: u32,
    /// Lines that one address can lie in.
    pub ways: u32,
    /// Where the numbers come from.
    pub source: String,
}

/// What the core waits for flash. Code and constants come through lines that are kept: an accelerator's, or
/// those of the core's caches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlashWaits {
    /// Wait states of a read at the board's clock.
    pub states: u32,
    /// Core cycles on the way between flash and whoever keeps lines, beside them.
    #[serde(default)]
    pub bus_cycles: u32,
    /// Lines of code.
    pub code: FlashLines,
    /// Whether the line behind the one that executes is read meanwhile.
    #[serde(default)]
    pub prefetch: bool,
    /// Lines of constants.
    pub constants: FlashLines,
    /// Where the numbers come from.
    pub source: String,
}

impl FlashWaits {
    /// Cycles that the core waits for a line that is not kept.
    #[must_use]
    pub const fn miss(&self) -> u32 {
        self.states + self.bus_cycles
    }
}

/// Which of the lines that an address can lie in goes for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Victim {
    /// The one that was used longest ago.
    Oldest,
    /// Any: one that has nothing to do with how they were used.
    Drawn,
}

/// Lines of flash that are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlashLines {
    /// Bytes of a line.
    pub line_bytes: u32,
    /// How many lines.
    pub lines: u32,
    /// Lines that one address can lie in.
    pub ways: u32,
    /// Which of these goes for another.
    pub victim: Victim,
}

impl FlashLines {
    /// No more than the word that was read last: what is behind it comes by an access of its own.
    pub const NOT_KEPT: Self = Self { line_bytes: 4, lines: 1, ways: 1, victim: Victim::Oldest };
}
