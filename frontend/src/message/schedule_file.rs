//! Files that show a schedule elsewhere.

use serde::{Deserialize, Serialize};

/// A file that shows a schedule elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ScheduleFile {
    /// A trace that Perfetto opens.
    Perfetto,
    /// A row for each stretch of a lane.
    Csv,
    /// Everything.
    Json,
}

impl ScheduleFile {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Perfetto, Self::Csv, Self::Json];

    /// The word on its button.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Perfetto => "Perfetto",
            Self::Csv => "CSV",
            Self::Json => "JSON",
        }
    }

    /// How the file's name ends.
    #[must_use]
    pub const fn ending(self) -> &'static str {
        match self {
            Self::Perfetto => "schedule.perfetto.json",
            Self::Csv => "schedule.csv",
            Self::Json => "schedule.json",
        }
    }
}
