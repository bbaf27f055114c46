//! What can go wrong with a queue.

use std::io;

use thiserror::Error;

/// Why a queue did not do what it was asked for.
#[derive(Debug, Error)]
pub enum QueueError {
    /// The address names no queue.
    #[error("'{given}' is no address of a queue: {why}")]
    Address {
        /// What was given.
        given: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// It cannot be reached now; it may come back.
    #[error("the queue at {place} cannot be reached: {why}")]
    Away {
        /// The queue.
        place: String,
        /// What the database says.
        why: String,
    },
    /// Another process holds it longer than is waited.
    #[error("the queue at {place} is locked by another process")]
    Locked {
        /// The queue.
        place: String,
    },
    /// It cannot be written.
    #[error("the queue at {place} can only be read")]
    ReadOnly {
        /// The queue.
        place: String,
    },
    /// There is no room for more on its disk.
    #[error("the queue at {place} has no room: its disk is full")]
    NoRoom {
        /// The queue.
        place: String,
    },
    /// It was made by another version.
    #[error(
        "the queue at {place} has format {found}; this version of Tilewright reads format {known}"
    )]
    OtherVersion {
        /// The queue.
        place: String,
        /// Its format.
        found: i64,
        /// That of this program.
        known: i64,
    },
    /// No more jobs may wait.
    #[error("the queue is full: {most} jobs wait")]
    Full {
        /// So many may.
        most: u64,
    },
    /// A content is gone, or is not what its hash says.
    #[error("the content {hash} is {what}")]
    Content {
        /// Its hash.
        hash: String,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A content that was to be kept cannot be read.
    #[error("what is to be kept cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    /// Anything else that the database says.
    #[error("the queue at {place} failed: {why}")]
    Database {
        /// The queue.
        place: String,
        /// What the database says.
        why: String,
    },
}

impl QueueError {
    /// Whether the same may succeed later.
    #[must_use]
    pub const fn may_pass(&self) -> bool {
        matches!(
            self,
            Self::Away { .. } | Self::Locked { .. } | Self::NoRoom { .. } | Self::Full { .. }
        )
    }

    /// What to do about it.
    #[must_use]
    pub const fn what_to_do(&self) -> &'static str {
        match self {
            Self::Address { .. } => {
                "Give a file, such as --queue runs.sqlite, postgres://USER@HOST/DATABASE, or `temporary`."
            }
            Self::Away { .. } => "Check that the database runs and may be reached, then try again.",
            Self::Locked { .. } => "Try again, or end the program that holds it.",
            Self::NoRoom { .. } => "Make room on the disk, then try again.",
            Self::ReadOnly { .. } => {
                "Make the file and its folder writable, or name another with --queue."
            }
            Self::OtherVersion { .. } => {
                "Name another queue with --queue, or serve this one with the version that made it."
            }
            Self::Full { .. } => "Try again later, or start more workers: `tilewright worker`.",
            Self::Content { .. } => "Start the run again.",
            Self::Unreadable(_) => "Try again.",
            Self::Database { .. } => "Look into the database's own log.",
        }
    }
}
