//! Classes of SD cards. Build scripts and the library share this file.

use serde::{Deserialize, Serialize};
use tilewright_plan::Bytes;

use crate::power::Draw;

/// What a command takes: a fixed time, then bytes at a rate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curve {
    /// Nanoseconds of each command.
    pub fixed_ns: u64,
    /// Bytes a second from then on; at least 1.
    pub bytes_per_second: u64,
    /// The longest that the card has been seen to stay busy after a command, in nanoseconds; zero if
    /// that is not known.
    #[serde(default)]
    pub busy_tail_ns: u64,
    /// Where the numbers come from.
    pub source: String,
}

/// How long the cells of a card last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Endurance {
    /// How often a cell can be written: least and most of the sources.
    pub cycles: [u32; 2],
    /// What happens then, for people.
    pub then: String,
    /// How often until half of the cells have failed; nothing if no source says.
    #[serde(default)]
    pub half_cycles: Option<u32>,
    /// Bytes that are programmed at once: a write of less costs as much.
    pub program_bytes: u32,
    /// Where the numbers come from.
    pub source: String,
}

/// A class of cards.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Card {
    /// Id: the file's name without ending.
    pub id: String,
    /// Name for people.
    pub name: String,
    /// Size.
    pub bytes: Bytes,
    /// Reading blocks that follow each other with one command.
    pub read: Curve,
    /// Writing blocks that follow each other with one command.
    pub write: Curve,
    /// How long it lasts; nothing if no source says.
    #[serde(default)]
    pub endurance: Option<Endurance>,
    /// What it draws beside the board while it reads or writes; nothing if no source says.
    #[serde(default)]
    pub power: Option<Draw>,
}
