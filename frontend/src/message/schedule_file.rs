//! Files that show a schedule elsewhere.

use serde::{Deserialize, Serialize};

/// A file that shows a schedule elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ScheduleFile {
    /// A trace that Perfetto opens.
    Perfetto,
    /// The same, handed to Perfetto's page.
    InPerfetto,
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
    /// Those that show the schedule.
    pub const OF_SCHEDULE: [Self; 4] = [Self::Perfetto, Self::InPerfetto, Self::Csv, Self::Json];
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Perfetto, Self::InPerfetto, Self::Csv, Self::Json, Self::Film, Self::Report];

    /// The word on its button.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Perfetto => "Perfetto",
            Self::InPerfetto => "Perfetto ↗",
            Self::Csv => "CSV",
            Self::Json => "JSON",
            Self::Film => "Film",
            Self::Report => "Report",
        }
    }

    /// For test ids.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Perfetto => "save-schedule-perfetto",
            Self::InPerfetto => "open-in-perfetto",
            Self::Csv => "save-schedule-csv",
            Self::Json => "save-schedule-json",
            Self::Film => "save-film",
            Self::Report => "save-report",
        }
    }

    /// What its button does.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Self::Perfetto => "Save the schedule as a trace for Perfetto",
            Self::InPerfetto => {
                "Hand the schedule to ui.perfetto.dev, in a window of its own: your browser keeps it"
            }
            Self::Csv => "Save the schedule as CSV, a row for each stretch of a lane",
            Self::Json => "Save the schedule as JSON, with all figures",
            Self::Film => "Save the film as a picture that moves, SVG",
            Self::Report => "Save figures, film, memory map and layers as one HTML file",
        }
    }

    /// How the file's name ends.
    #[must_use]
    pub const fn ending(self) -> &'static str {
        match self {
            Self::Perfetto | Self::InPerfetto => "schedule.perfetto.json",
            Self::Csv => "schedule.csv",
            Self::Json => "schedule.json",
            Self::Film => "film.svg",
            Self::Report => "report.html",
        }
    }
}
