//! What moves bytes beside the core. Build scripts and the library share this file.

use serde::{Deserialize, Serialize};
use tilewright_plan::{Bytes, LaneKind};

/// A transfer engine: it runs one lane of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Engine {
    /// Name as in the vendor's manual.
    pub name: String,
    /// The lane that it runs.
    pub lane: LaneKind,
    /// Cycles of the core's clock from the end of one item to the start of the next: interrupt,
    /// driver, registers.
    pub set_up_cycles: u64,
    /// Items that can wait for it.
    pub queue: u32,
    /// What addresses in memory and lengths are multiples of; at least 1.
    pub alignment: u32,
    /// Most bytes of one item.
    pub largest_bytes: Bytes,
    /// Bytes that it reads, and then writes, at a time.
    pub burst_bytes: u32,
    /// Whether a read of a card may wait for room in memory with its command open, so that one that begins
    /// where the last ended needs none of its own.
    #[serde(default)]
    pub open_reads: bool,
    /// Cycles of the core to compare 1,024 bytes with a checksum, in the interrupt behind their copy; 0
    /// if that is not known.
    #[serde(default)]
    pub check_cycles_a_kib: u64,
    /// Cycles of the core to encrypt or decrypt 1,024 bytes with their tag; 0 if that is not known.
    #[serde(default)]
    pub seal_cycles_a_kib: u64,
    /// Cycles of the core for each tag besides.
    #[serde(default)]
    pub seal_cycles: u64,
    /// What the core takes for its copies, instead of what sets it up; nothing if that is not known.
    #[serde(default)]
    pub driver_overhead: Option<DriverOverhead>,
    /// Where the numbers come from.
    pub source: String,
}

/// Cycles of the core for copies of an engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DriverOverhead {
    /// To begin a copy, until its first piece moves.
    pub begin_cycles: u64,
    /// In the interrupt behind a copy, until the next one may begin.
    pub end_cycles: u64,
    /// In the interrupt behind each piece of a copy but the last: a run of bytes without a gap, or what of it
    /// the engine moves at a time.
    pub piece_cycles: u64,
    /// For each line of the data cache that is maintained, in thousandths.
    pub line_millicycles: u64,
    /// Where the numbers come from.
    pub source: String,
}

/// Cycles of the core between steps of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Between {
    /// Before a step that computes, or that may end the run.
    pub step_cycles: u64,
    /// Where the numbers come from.
    pub source: String,
}

/// A place for a card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slot {
    /// The card class that is taken if none is named.
    pub card: String,
    /// Lines that carry data.
    pub data_lines: u8,
    /// Most bytes a second over these lines, whatever the card.
    pub bytes_per_second: u64,
    /// Where the numbers come from.
    pub source: String,
}
