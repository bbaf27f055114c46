//! What can go wrong, in the words that a person reads: what, where, and what to do.

use std::fmt;

use crate::run_report::FaultKind;
use crate::sentence::sentence;
use crate::unsupported::Unsupported;
use serde::{Deserialize, Serialize};

/// Whose turn it is to act; decides status and exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Blame {
    /// A file, an option or a request is not as it must be.
    BadInput,
    /// The model or the input is larger than allowed.
    TooLarge,
    /// The plan needs more memory than the board has.
    DoesNotFit,
    /// There is nothing under this name.
    NotFound,
    /// What is asked for does not exist yet, or not any more.
    Conflict,
    /// The request comes from where none may come.
    Forbidden,
    /// Too much is under way.
    Busy,
    /// Something that must be built first is missing.
    NotBuilt,
    /// Someone asked for an end.
    Cancelled,
    /// The emulated board took a fault.
    Fault,
    /// The card in its slot fails, or is not the one that the plan needs.
    Card,
    /// A defect of this program.
    Ours,
}

impl Blame {
    /// HTTP status.
    #[must_use]
    pub const fn status(self) -> u16 {
        match self {
            Self::BadInput => 400,
            Self::TooLarge => 413,
            Self::DoesNotFit | Self::Fault | Self::Card => 422,
            Self::NotFound => 404,
            Self::Conflict => 409,
            Self::Forbidden => 403,
            Self::Busy => 429,
            Self::NotBuilt => 503,
            Self::Cancelled => 410,
            Self::Ours => 500,
        }
    }

    /// Exit code of the command line. Scripts rely on 0 to 3; 130 is the shell's for Ctrl-C.
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::DoesNotFit => 1,
            Self::Cancelled => 130,
            Self::Ours | Self::Fault => 3,
            _ => 2,
        }
    }
}

/// What went wrong, where, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Diagnostic {
    /// Whose turn it is to act.
    pub kind: Blame,
    /// What is wrong.
    pub what: String,
    /// The file, part, operator or option that it is about.
    #[serde(rename = "where")]
    pub place: String,
    /// What helps.
    pub what_to_do: String,
    /// What must be given first for it to work; mostly nothing.
    pub needs: Option<Need>,
}

/// What a model's file leaves to be given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Need {
    /// Sizes of these dimensions.
    Dimensions(Vec<String>),
    /// The file that its weights lie in, as the model names it.
    File(String),
}

impl From<FaultKind> for Blame {
    fn from(kind: FaultKind) -> Self {
        match kind {
            FaultKind::Card => Self::Card,
            _ => Self::Fault,
        }
    }
}

impl Diagnostic {
    /// A problem.
    #[must_use]
    pub fn new(
        kind: Blame,
        what: impl Into<String>,
        place: impl Into<String>,
        what_to_do: impl Into<String>,
    ) -> Self {
        Self {
            kind,
            what: what.into(),
            place: place.into(),
            what_to_do: what_to_do.into(),
            needs: None,
        }
    }

    /// The same with what must be given first.
    #[must_use]
    pub fn needing(self, need: Need) -> Self {
        Self { needs: Some(need), ..self }
    }

    /// What cannot be done with what was given.
    #[must_use]
    pub fn unsupported(Unsupported { what, place, remedy }: Unsupported) -> Self {
        Self::new(Blame::BadInput, sentence(&what), place, remedy)
    }

    /// A defect of this program.
    #[must_use]
    pub fn ours(what: impl Into<String>, place: impl Into<String>) -> Self {
        Self::new(
            Blame::Ours,
            what,
            place,
            "This is a defect of Tilewright: please report it with the model, if you can share it.",
        )
    }

    /// An end that someone asked for.
    #[must_use]
    pub fn cancelled(why: impl Into<String>) -> Self {
        Self::new(Blame::Cancelled, why, "run", "Start the run again if you still need it.")
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} {}", self.place, self.what, self.what_to_do)
    }
}

impl std::error::Error for Diagnostic {}
