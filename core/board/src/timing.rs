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
