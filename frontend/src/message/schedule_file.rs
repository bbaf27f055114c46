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
    /// A picture that moves.
    Film,
    /// A page that stands alone.
    Report,
}

impl ScheduleFile {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Perfetto, Self::Csv, Self::Json, Self::Film, Self::Report];

    /// The word on its button.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Perfetto => "Perfetto",
            Self::Csv => "CSV",
            Self::Json => "JSON",
            Self::Film => "Film",
            Self::Report => "Report",
        }
    }

    /// How the file's name ends.
    #[must_use]
    pub const fn ending(self) -> &'static str {
        match self {
            Self::Perfetto => "schedule.perfetto.json",
            Self::Csv => "schedule.csv",
            Self::Json => "schedule.json",
            Self::Film => "film.svg",
            Self::Report => "report.html",
        }
    }
}
