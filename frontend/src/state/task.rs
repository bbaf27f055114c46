//! What is under way, who does it, and where its troubles belong.

/// What is under way in a worker or on the server.
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
    /// The graph is laid out.
    Graph,
    /// What quantising does is examined.
    Examine,
    /// The model is compared with the float model.
    CompareFloat,
    /// The zoo is listed.
    Zoo,
    /// A network of the zoo is built in another size.
    ZooSize,
    /// What cells are made from is looked up.
    CellChoices,
    /// A stack of cells is built.
    Cells,
    /// Cells are searched.
    Search,
    /// Many networks are planned on a small board.
    Fit,
    /// Papers' figures are computed again.
    Papers,
    /// Rows of a sweep are planned.
    Explore,
    /// Exits are looked at over labelled images.
    Exits,
    /// An input is prepared.
    Input,
    /// The model is planned.
    Plan,
    /// It is planned in other ways, to compare.
    Compare,
    /// The files for the board are put together.
    Package,
    /// The C library and a plan become one archive.
    Library,
    /// A file of the schedule is made.
    Schedule,
    /// The model is written in tiles.
    Tiled,
    /// The record of a measurement is written.
    Record,
    /// The model's file is put in another order.
    Reorder,
    /// The store images that the board needs for a run are made.
    Stores,
    /// The emulated board runs.
    Run,
    /// The run is compared with the reference.
    Judge,
    /// A board on the desk is talked with.
    Desk,
}

impl Job {
    /// Who does it.
    #[must_use]
    pub const fn doer(self) -> Doer {
        match self {
            Self::Open
            | Self::Graph
            | Self::Examine
            | Self::Zoo
            | Self::ZooSize
            | Self::CellChoices
            | Self::Cells
            | Self::Fit
            | Self::Papers
            | Self::Exits
            | Self::Input
            | Self::Package
            | Self::Library
            | Self::Schedule
            | Self::Tiled
            | Self::Record
            | Self::Reorder
            | Self::Stores
            | Self::Judge => Doer::Importer,
            Self::CompareFloat => Doer::Float,
            Self::Search => Doer::Search,
            Self::Explore => Doer::Sweeper,
            Self::Plan | Self::Compare => Doer::Planner,
            Self::Run => Doer::Emulator,
            Self::Desk => Doer::Desk,
        }
    }

    /// Where its troubles belong.
    #[must_use]
    pub const fn place(self) -> Place {
        match self {
            Self::Open => Place::Model,
            Self::Graph => Place::Graph,
            Self::Tiled => Place::Tiles,
            Self::Examine | Self::CompareFloat => Place::Quantisation,
            Self::Zoo | Self::ZooSize => Place::Zoo,
            Self::CellChoices | Self::Cells => Place::Cells,
            Self::Search => Place::Search,
            Self::Fit => Place::Fit,
            Self::Papers => Place::Papers,
            Self::Exits => Place::Exits,
            Self::Explore => Place::Explore,
            Self::Plan | Self::Compare => Place::Plan,
            Self::Schedule => Place::Schedule,
            Self::Package | Self::Library | Self::Reorder => Place::Firmware,
            Self::Input | Self::Stores | Self::Run | Self::Judge => Place::Run,
            Self::Desk | Self::Record => Place::Desk,
        }
    }
}

/// Who does a task, and so how it is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doer {
    Importer,
    /// The worker that compares with the float model.
    Float,
    /// The worker that searches cells.
    Search,
    /// The worker that plans rows of a sweep.
    Sweeper,
    Planner,
    /// The emulator, in this page or behind the server.
    Emulator,
    /// The board on the desk.
    Desk,
}

/// Where a trouble belongs; it is shown there, beside the last good view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Opening a model.
    Model,
    /// Laying out the graph.
    Graph,
    /// Writing the model in tiles.
    Tiles,
    /// Examining what quantising does.
    Quantisation,
    /// Choosing a network of the zoo.
    Zoo,
    /// Making cells.
    Cells,
    /// Searching cells.
    Search,
    /// What fits a small board.
    Fit,
    /// Papers' figures.
    Papers,
    /// Choosing labelled images.
    Images,
    /// Exits over labelled images.
    Exits,
    /// Many plans at once.
    Explore,
    /// Planning.
    Plan,
    /// Making a file of the schedule.
    Schedule,
    /// Choosing an input, or running.
    Run,
    /// Talking with a board on the desk.
    Desk,
    /// Packaging.
    Firmware,
}
