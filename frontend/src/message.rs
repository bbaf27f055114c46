//! What the page and its workers say to each other.
//!
//! A message is a small value; bytes travel beside it as transferred buffers, whose order each
//! variant names. A request carries a number that its replies repeat, so that the page can drop
//! what it no longer waits for.

mod cells;
mod float;
mod graph;
mod quantise;
mod run;
mod schedule_file;
mod search;
mod sparsity;
mod summary;
mod sweep;
mod tiles;

use serde::{Deserialize, Serialize};
use tilewright_board::Board;
use tilewright_report::{
    Accesses, Blame, Diagnostic, ExitsReport, FitReport, MemoryMap, Occupancy, PaperReport,
    PlacedTensor, PlanReport, SweepKey, Timeline, Traffic,
};
pub use tilewright_report::{
    Comparison, Integrity, LayerCheck, PlanSettings, RunResult, ZooSize, ZooView,
};

pub use cells::{
    CellChoices, CellDraft, CellEdge, CellFacts, CellOperation, DraftCell, PublishedCells,
};
pub use float::FloatRequest;
pub use graph::{GraphFacts, GraphNet, GraphNode, NodeRole};
pub use quantise::{Calibrating, QuantisationFacts, TensorFacts};
pub use run::{Recording, RunEvent, RunRequest, RunningOf};
pub use schedule_file::ScheduleFile;
pub use search::{SearchLog, SearchNews, SearchRequest, SearchSettings, SearchStep};
pub use sparsity::{SparsityFacts, SparsityLayer};
pub use summary::{KindFacts, SummaryFacts};
pub use sweep::SentRow;
pub use tiles::{TileBox, TiledMap, TiledRegion, TilesFacts};

/// What goes wrong in the page itself: what, where and why, and what to do.
pub fn trouble(
    what: impl Into<String>,
    place: impl Into<String>,
    what_to_do: impl Into<String>,
) -> Diagnostic {
    // A sentence whose first word may be a file's name.
    let what = what.into();
    let what = if what.ends_with(['.', '!', '?']) { what } else { what + "." };
    Diagnostic::new(Blame::BadInput, what, place, what_to_do)
}

/// What is said of a plan that was given up since it takes long.
pub const TAKES_LONG: &str = "This plan takes long to make";

/// An answer to a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Reply<R> {
    /// The worker has started and takes requests; repeats no number.
    Ready,
    /// What it is doing now.
    Progress(String),
    /// The result, with its buffers; of a run there is one after the other.
    Done(R),
    /// There is no result.
    Failed(Diagnostic),
    /// The worker is about to stop because of a fault of its own.
    Crashed(String),
}

/// What the importer is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ImportRequest {
    /// Reads and quantises a model. Buffers: the file and those that it keeps weights in, unless it
    /// is one of the zoo; files of samples to calibrate with, if there are: `.npy` with many each, or
    /// PNG with one each.
    Open(ModelSource, Calibrating),
    /// Says what quantising does to a model. Buffers: as for [`ImportRequest::Open`].
    Examine(ModelSource, Calibrating),
    /// Which networks the zoo holds.
    Zoo,
    /// What a network of the zoo needs; its name with width and resolution.
    ZooSize(String),
    /// What cells are made from.
    CellChoices,
    /// The text of cells that a person makes, and what their stack needs.
    Cells(CellDraft),
    /// What of many networks fits a small board.
    Fit,
    /// Which papers' figures are computed again.
    Papers,
    /// Figures of a paper: its id, and the number of the part from 0 on.
    Paper(String, usize),
    /// Plans rows of a sweep; the model that was loaded stands behind this name.
    Sweep(Vec<SweepKey>, String),
    /// Takes a model that was opened before. Buffers: the model.
    Load,
    /// Opens a small network of the zoo for nobody: the browser compiles a worker's functions when
    /// they first run.
    Rehearse,
    /// Lays out the graph of the model, or of the model in tiles.
    Graph(Option<TiledRegion>),
    /// Writes the float model in tiles, rows by columns, as an ONNX file. Buffers: as for
    /// [`ImportRequest::Open`].
    SaveTiled(ModelSource, Calibrating, String),
    /// Decodes an input and runs the reference on it. Buffers: the file (PNG, WAV, npy, npz or raw int8).
    Input {
        /// Name of the file.
        name: String,
    },
    /// Makes up an input, the same each time, and runs the reference on it.
    RandomInput,
    /// Reads how a run ended, and compares the outputs of its layers with the reference. Buffers: its
    /// status as the server gives it (JSON); the layers, as [`tilewright_app::encoded_layers`] writes
    /// them, or nothing; the input.
    Judge(PlanSettings),
    /// Runs the reference on labelled images: what each exit of the plan answers, and what thresholds of confidence
    /// come to. Buffers: the images, in one file or two.
    Exits(PlanSettings),
    /// Puts firmware and a plan together. Buffers: the plan image; the firmware's ELF file; an input,
    /// if there is one.
    Package {
        /// What made the plan.
        settings: PlanSettings,
        /// Name of the model: part of the files' names.
        model: String,
        /// Whether weights lie in stores: then the plan is made anew, for their images.
        has_stores: bool,
    },
    /// Puts the C library and a plan together, as one archive. Buffers: the plan image; the library for the board's core.
    Library {
        /// What made the plan.
        settings: PlanSettings,
        /// Name of the model: part of the file's name.
        model: String,
        /// Whether weights lie in stores.
        has_stores: bool,
    },
    /// Makes the store images that belong to a plan. Buffers: the plan image.
    Stores(PlanSettings),
    /// Makes a file of a schedule; the text is the link that leads to it. Buffers: report, memory map, predicted
    /// timeline, what is held meanwhile, the timeline of a run if there is one, what steps touch, and tensors.
    Schedule(ScheduleFile, String),
    /// Writes the record of a measurement. Buffers: the record, which lacks the sum of its input; the input.
    Record,
    /// Writes the recipe of the plan that settings make: it is planned anew.
    Recipe(PlanSettings),
    /// Puts the operators of a TensorFlow Lite file in the order that needs the smallest arena, and
    /// its tensors at offsets. Buffers: the file.
    Reorder {
        /// Name of the file.
        name: String,
    },
}

/// Where a model comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ModelSource {
    /// From a file.
    File {
        /// Name of the file.
        name: String,
        /// Names of the files that it keeps weights in.
        data: Vec<String>,
        /// What stands for each dimension that the file leaves open; empty if nothing was said.
        dims: Vec<(String, u64)>,
    },
    /// From the zoo, by its name with width and resolution.
    Zoo(String),
}

/// What the importer answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ImportReply {
    /// Buffers: the model, int8 unless nothing computes some operator.
    Opened(ModelFacts),
    /// What quantising does.
    Examined(Box<QuantisationFacts>),
    /// All networks of the zoo, by family.
    Zoo(Vec<ZooView>),
    /// A network of the zoo in one size.
    ZooSize(ZooSize),
    /// What cells are made from.
    CellChoices(CellChoices),
    /// The text of cells, and what their stack needs.
    Cells(Box<CellFacts>),
    /// What fits.
    Fit(Box<FitReport>),
    /// All papers, without figures.
    Papers(Vec<PaperReport>),
    /// A paper, with figures of the part.
    Paper(Box<PaperReport>),
    /// Rows of a sweep, in the order of their keys.
    Swept(Vec<SentRow>),
    /// The model is taken.
    Loaded,
    /// Buffers: the network's int8 model.
    Rehearsed,
    /// The graph of the model.
    Graph(Box<GraphFacts>),
    /// Buffers: the input as int8.
    Input(ReferenceFacts),
    /// What a run gave, and how its layers compare; nothing if they were not to be had.
    Judged(Box<RunResult>, Option<Comparison>),
    /// What thresholds of confidence come to with the plan of these settings.
    Exits(PlanSettings, Box<ExitsReport>),
    /// Buffers: one for each file.
    Packaged(Package),
    /// The names that the server knows store images by. Buffers: the store images.
    Stores(Vec<String>),
    /// A file to be saved. Buffers: the file.
    Saved(FileFacts),
    /// Buffers: the file.
    Reordered(Reordered),
}

/// A tensor that the model takes or gives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Port {
    pub name: String,
    pub shape: String,
}

/// What the page knows of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelFacts {
    pub name: String,
    /// Name of the file.
    pub file: String,
    /// Length of the file.
    pub file_bytes: u64,
    /// SHA-256 of the file, in hexadecimal digits.
    pub sha256: String,
    pub inputs: Vec<Port>,
    pub outputs: Vec<Port>,
    /// Number of operators after folding.
    pub operators: u32,
    /// Multiply-accumulates.
    pub macs: u64,
    pub parameters: u64,
    /// Bytes, and operators by kind.
    pub summary: SummaryFacts,
    /// Operators that nothing here computes, with their nodes, in words; empty if there are none.
    /// With them the model can be looked at and its memory planned, but it cannot run.
    pub unknown: String,
    /// Where it stands in the literature; empty for files.
    pub note: String,
    /// Class names.
    pub labels: Vec<String>,
    /// The range in which it takes pixels; nothing if it takes no picture, or is int8 as it came.
    pub pixels: Option<String>,
    /// What the quantiser was calibrated on.
    pub calibration: Calibration,
    /// What pruning did to its weights.
    pub sparsity: SparsityFacts,
}

/// What a model was calibrated on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Calibration {
    /// Samples that came with the model or that the person gave: how many.
    Samples(u32),
    /// Nothing was given: made-up noise. The figures of the plan hold, the results mean little.
    Noise,
    /// Nothing was seen: scales follow from the statistics of seeded weights.
    Analytic,
    /// The file was quantised already.
    NotNeeded,
    /// Operators that nothing computes keep a float model from being run, and so from calibration.
    Impossible,
}

/// What the reference gives for an input.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReferenceFacts {
    /// Name of the input's file.
    pub name: String,
    /// The outputs, int8.
    pub outputs: Vec<Vec<i8>>,
    /// How the file was made the input, where that is not plain.
    pub note: Option<String>,
    /// The answers over a sound that is longer than an input.
    pub trace: Option<TraceFacts>,
}

/// The reference's answers at the steps over a sound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceFacts {
    /// Index of the output.
    pub output: u32,
    /// From one step to the next, in microseconds.
    pub hop_us: f64,
    /// Length of an input, in microseconds.
    pub window_us: f64,
    /// That output at each step, int8.
    pub rows: Vec<Vec<i8>>,
}

/// What the planner is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum PlanRequest {
    /// Which boards there are.
    Boards,
    /// Takes a model. Buffers: the model.
    Load,
    /// Plans a model for nobody, and forgets it. Buffers: the model.
    Rehearse(PlanSettings),
    /// Plans the model.
    Plan(PlanSettings),
    /// Plans the model to compare: there is no image and no timeline.
    Compare(PlanSettings),
    /// The same of what may be a remedy, within a stated work: what does not fit by then is given up.
    TryOut(PlanSettings),
}

/// What the planner answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum PlanReply {
    /// All boards, and the names of all strategies.
    Boards {
        boards: Vec<Board>,
        /// Names of strategies.
        strategies: Vec<String>,
    },
    /// The model is taken.
    Loaded {
        /// Strategies that cannot plan it, and why.
        obstacles: Vec<(String, String)>,
    },
    /// The model was planned.
    Rehearsed,
    /// Buffers: the plan image, if the plan fits. None for a plan to compare.
    Planned(Box<PlanFacts>),
}

/// What the page knows of a plan.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PlanFacts {
    /// What made it.
    pub settings: PlanSettings,
    /// The figures.
    pub report: PlanReport,
    /// Which tensors are live when.
    pub memory: MemoryMap,
    /// Activation tensors; the memory map's indices point here.
    pub tensors: Vec<PlacedTensor>,
    /// For each layer the indices of its nodes in the model; the last makes its output.
    pub nodes: Vec<Vec<u32>>,
    /// The layers that are in tiles; nothing: all are whole.
    pub tiles: Option<TilesFacts>,
    /// The predicted run.
    pub timeline: Timeline,
    /// What of SRAM is held during it.
    pub occupancy: Occupancy,
    /// Which bytes of which memory its steps read and write.
    pub accesses: Accesses,
    /// What its layers move.
    pub traffic: Traffic,
    /// How the outputs stand for real numbers.
    pub outputs: Vec<OutputFacts>,
    /// What checking what comes from the card takes, if it is checked or sealed.
    pub checks: Option<CheckFacts>,
    /// The image, if the plan fits.
    pub image: Option<ImageFacts>,
    /// Why there is no image of a plan that fits, for people; nothing if there is one, or if the plan
    /// does not fit.
    pub no_image: Option<String>,
}

/// What checking what comes from a card takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckFacts {
    /// Checksums or tags in the plan image.
    pub stored: u64,
    /// Checksums or tags that the firmware keeps in SRAM.
    pub kept: u64,
    /// Bytes that are checked in a frame.
    pub bytes: u64,
    /// The core's time for it in a frame, in microseconds, which the predicted time has in it.
    pub core_us: f64,
}

impl PlanFacts {
    /// Whether it has an image alone, without stores.
    #[must_use]
    pub fn runs_alone(&self) -> bool {
        self.image.as_ref().is_some_and(|image| image.store_bytes == 0)
    }
}

impl PartialEq for PlanFacts {
    /// What is the same value is not looked through: that is asked for each drawing, and timelines
    /// can be long.
    fn eq(&self, other: &Self) -> bool {
        let Self { settings, report, memory, tensors, nodes, tiles, .. } = self;
        let Self {
            timeline, occupancy, accesses, traffic, outputs, checks, image, no_image, ..
        } = self;
        std::ptr::eq(self, other)
            || (settings, report, memory, tensors, nodes)
                == (&other.settings, &other.report, &other.memory, &other.tensors, &other.nodes)
                && *tiles == other.tiles
                && (timeline, occupancy, accesses)
                    == (&other.timeline, &other.occupancy, &other.accesses)
                && (traffic, outputs) == (&other.traffic, &other.outputs)
                && (checks, image, no_image) == (&other.checks, &other.image, &other.no_image)
    }
}

/// An output of the program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutputFacts {
    pub name: String,
    /// Height, width, channels.
    pub shape: [u32; 3],
    /// Whether its elements are the scores of classes: it has their names, or is a softmax.
    pub is_scores: bool,
    /// Real value = scale × (q − zero).
    pub scale: f32,
    /// Zero point.
    pub zero: i32,
    /// Class names.
    pub labels: Vec<String>,
    /// Models whose class names these are, where the file has none; empty if they are its own.
    pub labels_of: String,
}

/// A plan image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageFacts {
    /// Length.
    pub bytes: u64,
    /// SHA-256 of the file, in hexadecimal digits.
    pub sha256: String,
    /// Plan id, in hexadecimal digits.
    pub plan_id: String,
    /// Bytes of the store images that go with it.
    pub store_bytes: u64,
}

/// Files to bring onto a board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Package {
    /// In the order of the buffers.
    pub files: Vec<FileFacts>,
    /// Step by step, where each file goes on this board.
    pub steps: String,
}

/// A TensorFlow Lite file in another order, and the arena that TensorFlow Lite Micro makes for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reordered {
    /// The new file.
    pub file: FileFacts,
    pub operators: u32,
    /// How many of them stand elsewhere now.
    pub moved: u32,
    /// Arena for the old file (modelled).
    pub before_bytes: u64,
    /// Arena for the new file (counted).
    pub arena_bytes: u64,
    /// No order and no offsets need less (proved).
    pub lower_bound_bytes: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileFacts {
    pub name: String,
    /// Length.
    pub bytes: u64,
    /// SHA-256, in hexadecimal digits.
    pub sha256: String,
}
