//! What is under way, who does it, and where its troubles belong.

/// What is under way in a worker or at the server.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Number of the request.
    pub request: u32,
    /// What it is.
    pub job: Job,
    /// What it does now.
    pub text: String,
    /// When it began, in milliseconds of the page's clock.
    pub since_ms: f64,
}

/// What a task is; there is at most one of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Job {
    /// A model is opened.
    Open,
    /// An input is prepared.
    Input,
    /// The model is planned.
    Plan,
    /// It is planned in other ways, to compare.
    Compare,
    /// The files for the board are put together.
    Package,
    /// The model's file is put in another order.
    Reorder,
    /// The emulated board runs.
    Run,
    /// The run is compared with the reference.
    Judge,
}

impl Job {
    /// Who does it.
    #[must_use]
    pub const fn doer(self) -> Doer {
        match self {
            Self::Open | Self::Input | Self::Package | Self::Reorder | Self::Judge => {
                Doer::Importer
            }
            Self::Plan | Self::Compare => Doer::Planner,
            Self::Run => Doer::Emulator,
        }
    }
}

/// Who does a task, and so how it is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doer {
    /// The importer.
    Importer,
    /// The planner.
    Planner,
    /// The emulator behind the server.
    Emulator,
}

/// Where a trouble belongs; it is shown there, beside the last good view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Opening a model.
    Model,
    /// Planning.
    Plan,
    /// Choosing an input, or running.
    Run,
    /// Packaging.
    Firmware,
}
