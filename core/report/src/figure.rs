//! How a figure came to be.

use serde::{Deserialize, Serialize};

/// How a figure came to be. Every figure that a person sees carries one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum Kind {
    /// Optimal, or with a gap to a bound.
    Proved,
    /// Executed instructions, bytes moved, bytes laid out.
    Counted,
    /// Cycles, time, energy: from parameters with a source.
    Modelled,
    /// Timed on a board, or on the computer that a text names; or an accuracy.
    Measured,
}

impl Kind {
    /// The word that is shown.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Proved => "proved",
            Self::Counted => "counted",
            Self::Modelled => "modelled",
            Self::Measured => "measured",
        }
    }
}
