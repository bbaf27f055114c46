//! Classes of SD cards. Build scripts and the library share this file.

use serde::{Deserialize, Serialize};
use tilewright_plan::Bytes;

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
}
