//! The strategies.

pub mod resident;

use std::fmt;
use std::str::FromStr;

use crate::PlanError;
use serde::{Deserialize, Serialize};

/// A way to plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// Order as given, all activations in SRAM, weights in flash.
    Resident,
}

impl Strategy {
    /// All strategies.
    pub const ALL: [Self; 1] = [Self::Resident];

    /// The name that the command line and reports use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Resident => "resident",
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Strategy {
    type Err = PlanError;

    fn from_str(name: &str) -> Result<Self, PlanError> {
        Self::ALL.into_iter().find(|s| s.name() == name).ok_or_else(|| PlanError::UnknownStrategy {
            name: name.to_owned(),
            known: Self::ALL.map(Self::name).join(", "),
        })
    }
}
