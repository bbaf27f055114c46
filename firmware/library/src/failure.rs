//! What a call can fail with: a status for programs, a text for people.

use core::ffi::CStr;
use core::fmt;

use tilewright_plan::ImageError;
use tilewright_plan::image::{Demand, StoreError};
use tilewright_runtime::card::CardError;
use tilewright_runtime::{Cause, LaneError, RunError};

/// `enum tilewright_status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Status {
    /// Done.
    Ok = 0,
    /// A pointer is null.
    NullPointer = 1,
    /// A pointer is not aligned.
    Misaligned = 2,
    /// Memories that cannot be.
    BadMemory = 3,
    /// Nothing is open.
    NotOpen = 4,
    /// Called from a callback.
    Busy = 5,
    /// No plan image.
    BadPlan = 6,
    /// Another version's plan image.
    OtherVersion = 7,
    /// Another board's.
    OtherBoard = 8,
    /// Too little memory.
    MemoryTooSmall = 9,
    /// More than the library can.
    Unsupported = 10,
    /// Another plan's store.
    BadStore = 11,
    /// No such thing.
    OutOfRange = 12,
    /// The card.
    CardFailed = 13,
    /// A step.
    RunFailed = 14,
}

impl Status {
    /// All of them, by their numbers.
    pub const ALL: [Self; 15] = [
        Self::Ok,
        Self::NullPointer,
        Self::Misaligned,
        Self::BadMemory,
        Self::NotOpen,
        Self::Busy,
        Self::BadPlan,
        Self::OtherVersion,
        Self::OtherBoard,
        Self::MemoryTooSmall,
        Self::Unsupported,
        Self::BadStore,
        Self::OutOfRange,
        Self::CardFailed,
        Self::RunFailed,
    ];

    /// What it means.
    pub const fn text(self) -> &'static CStr {
        match self {
            Self::Ok => c"done",
            Self::NullPointer => c"a pointer is NULL that must not be",
            Self::Misaligned => c"a pointer is not aligned as it must be",
            Self::BadMemory => c"memories overlap, or have a size that memory cannot have",
            Self::NotOpen => c"the model is not open: call tilewright_open first",
            Self::Busy => c"the model is running: wait until tilewright_invoke has returned",
            Self::BadPlan => c"the plan image is damaged or none: write it again",
            Self::OtherVersion => {
                c"library and plan image are of different versions: make both again together"
            }
            Self::OtherBoard => c"the plan image is for another board: make one for this board",
            Self::MemoryTooSmall => c"the plan needs more memory: give as much as model.h says",
            Self::Unsupported => c"the plan does what this library cannot: choose another strategy",
            Self::BadStore => {
                c"external flash or card hold something else: write the files made with the plan"
            }
            Self::OutOfRange => c"there is nothing with this number",
            Self::CardFailed => c"the card failed: look at its driver, or take another card",
            Self::RunFailed => c"a step failed: the plan or a memory was overwritten",
        }
    }
}

/// Why a call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// This pointer is null.
    Null(&'static str),
    /// This pointer is not aligned to so many bytes.
    Misaligned(&'static str, usize),
    /// This has more bytes than memory can have.
    TooLong(&'static str),
    /// These two share bytes.
    Overlap(&'static str, &'static str),
    /// The board's id is none.
    Board,
    /// There is no program for what was asked.
    NoProgram,
    /// The plan image was refused.
    Image(ImageError),
    /// External flash was.
    Store(StoreError),
    /// The plan is more than the library can do.
    Unsupported(Demand),
    /// The plan image has nothing to run.
    Empty,
    /// The card cannot be used.
    Card(LaneError),
    /// A run failed.
    Run(RunError),
}

impl Failure {
    /// Its number.
    pub const fn status(self) -> Status {
        match self {
            Self::Null(_) => Status::NullPointer,
            Self::Misaligned(..) | Self::Image(ImageError::Misaligned) => Status::Misaligned,
            Self::TooLong(_) | Self::Overlap(..) => Status::BadMemory,
            Self::NoProgram => Status::OutOfRange,
            Self::Board | Self::Image(ImageError::Board { .. }) => Status::OtherBoard,
            Self::Image(ImageError::Version { .. } | ImageError::Abi { .. }) => {
                Status::OtherVersion
            }
            Self::Image(ImageError::SpaceTooSmall { .. }) => Status::MemoryTooSmall,
            Self::Image(_) | Self::Empty => Status::BadPlan,
            Self::Store(_) | Self::Card(LaneError::NoCard(CardError::Store(_))) => Status::BadStore,
            Self::Unsupported(_) => Status::Unsupported,
            Self::Card(_) => Status::CardFailed,
            Self::Run(
                RunError::Lane { cause: LaneError::Card { cause: CardError::Image, .. }, .. }
                | RunError::Step {
                    cause: Cause::Lane(LaneError::Card { cause: CardError::Image, .. }),
                    ..
                },
            ) => Status::BadStore,
            Self::Run(error) if error.place().card => Status::CardFailed,
            Self::Run(_) => Status::RunFailed,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null(what) => write!(f, "{what} is NULL"),
            Self::Misaligned(what, bytes) => write!(f, "{what} is not aligned to {bytes} bytes"),
            Self::TooLong(what) => write!(f, "{what} has more bytes than memory can have"),
            Self::Overlap(one, other) => write!(f, "{one} and {other} share bytes"),
            Self::Board => f.write_str("the board's id is no text"),
            Self::NoProgram => f.write_str("the plan image has no such program"),
            Self::Image(error) => error.fmt(f),
            Self::Store(error) => write!(f, "external flash: {error}"),
            Self::Unsupported(what) => {
                write!(f, "{what}, which this library cannot do; {}", what.advice())
            }
            Self::Empty => f.write_str("the plan image has no program to run"),
            Self::Card(error) => error.fmt(f),
            Self::Run(error) => error.fmt(f),
        }?;
        let advice = match self.status() {
            Status::NullPointer => "give a pointer to it",
            Status::Misaligned => "declare it with TILEWRIGHT_ALIGNED",
            Status::BadMemory => "give each its own bytes",
            Status::BadPlan => "write the plan image again, whole",
            Status::OtherVersion => "make plan and library again together",
            Status::OtherBoard => "give the plan and the id of the same board",
            Status::MemoryTooSmall => "give as much as model.h says",
            Status::BadStore => "write the files that were made with the plan",
            Status::OutOfRange => "model.h lists the programs",
            Status::CardFailed => "look at the card's driver, or take another card",
            Status::RunFailed => "see who else writes to the plan or its memories",
            Status::Ok | Status::NotOpen | Status::Busy | Status::Unsupported => return Ok(()),
        };
        write!(f, "; {advice}")
    }
}
