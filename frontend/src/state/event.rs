//! What happens to the state, and what it asks for.

use std::rc::Rc;

use tilewright_board::Board;
use tilewright_plan::Micros;

use super::{
    Beside, DeskEvent, Doer, ExploreEvent, LabelledFiles, Measurement, Origin, Outcome, OwnFile,
    Place, Quantising, RunsOn, SearchEvent, Selection, Server, Stored, Theme, View,
};
use crate::message::{
    CellDraft, ImportReply, PlanFacts, PlanReply, PlanSettings, RunEvent, RunRequest, ScheduleFile,
    SearchSettings, TiledRegion,
};
use crate::view_model::catalogue::Example;
use crate::view_model::fragment::Fragment;
use crate::view_model::lessons::LessonPlace;
use crate::view_model::steps::Step;
use tilewright_report::{Diagnostic, FloatComparison, SweepKey};

/// What happens.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The page has started with this fragment and theme, and whether the person allowed before
    /// that models are kept in the browser's storage.
    Started(Fragment, Theme, bool),
    /// The address was changed by hand or by going back.
    Navigated(Fragment),
    /// A link of the page itself was followed.
    Follow(Fragment),
    /// A model will likely be opened soon: the pointer or the focus is on something that opens one.
    Expecting,
    /// An example was chosen.
    OpenExample(&'static Example),
    /// The networks of the zoo are to be chosen from, or no more.
    ShowZoo(bool),
    /// The boards are to be chosen from, or no more.
    ShowBoards(bool),
    /// The networks of the zoo are to be known.
    ListZoo,
    /// The editor of cells is to be shown, or no more.
    ShowCells(bool),
    /// The cells were changed.
    EditCells(CellDraft),
    /// Something about searches for cells.
    Search(SearchEvent),
    /// These files hold labelled images, tokens and names; none: those of the page are to be used.
    Images(Vec<(u32, String)>),
    /// Files of labelled images cannot be taken.
    ImagesRefused(Diagnostic),
    /// What thresholds of early exits come to over the labelled images is to be computed.
    StudyExits,
    /// Something about many plans at once.
    Explore(ExploreEvent),
    /// What fits a small board is to be shown, or no more.
    ShowFit(bool),
    /// Papers' figures are to be shown, or not.
    ShowPapers(bool),
    /// This paper's.
    ShowPaper(usize),
    /// A network of the zoo was chosen, with width and resolution, to be looked at.
    ChooseNetwork(String),
    /// A network of the zoo is to be opened.
    OpenNetwork(String),
    /// The open model is to become int8 in another way.
    Quantise(Quantising),
    /// The same, with samples from files: tokens and names.
    QuantiseWith(Vec<(u32, String)>),
    /// So many thousandths of the open model's groups of weights are to be zero; whether it is one move of a drag.
    Prune(u16, bool),
    /// What quantising does is to be examined.
    Examine,
    /// The open model is to be compared with the float model.
    CompareFloat,
    /// A column's head of the quantiser's report was clicked.
    SortReport(crate::view_model::quantisation::Column),
    /// A file was dropped or chosen; its bytes wait under the token.
    File {
        /// Where the bytes wait.
        token: u32,
        name: String,
    },
    /// A file was chosen as the model's input.
    InputFile {
        /// Where the bytes wait.
        token: u32,
        name: String,
    },
    /// A file cannot be taken.
    FileRefused(Diagnostic),
    /// Own models may be kept in the browser's storage from now on, or no more.
    Keep(bool),
    /// What the browser's storage holds now, or why it does not do what it was asked.
    Stored(Result<Option<Stored>, Diagnostic>),
    /// The model whose address the link names is to be fetched.
    FetchModel,
    /// Open what the browser's storage holds.
    OpenStored,
    /// The browser's storage, or an address, gave a model.
    StoredRead(u32, OwnFile),
    /// The person says what stands for open dimensions.
    Dimensions(Vec<(String, u64)>),
    /// The settings were changed; whether it is one move of a drag.
    Settings(PlanSettings, bool),
    /// Milliseconds from one frame to the next were chosen; nothing: as they come.
    Period(Option<u64>),
    /// Back to earlier settings.
    Undo,
    /// Forward again.
    Redo,
    /// A view is maximised, or all are shown.
    Show(View),
    /// The theme was toggled.
    ToggleTheme,
    /// Something was clicked; again on the same: nothing is selected.
    Select(Selection),
    /// Keys moved the selection here, where there is this to say.
    Reach(Selection, String),
    /// A key goes a step from the present selection, which what is drawn may lag behind; address of
    /// the arena, if it is to be said.
    Step(Step, Option<u32>),
    /// A lesson is to be at this place, or closed.
    Lesson(Option<LessonPlace>),
    /// The film is at this time, in microseconds of the board.
    Cursor(f64),
    /// The pointer is over something, or nothing.
    Hover(Selection),
    /// A column's head was clicked.
    SortBy(crate::view_model::layers::Column),
    /// The filter's text was changed.
    Filter(String),
    /// A sample was chosen.
    Sample(usize),
    /// An input is to be made up.
    RandomInput,
    /// Lay out the graph, after it was stopped or failed.
    DrawGraph,
    /// Draw the graph as the model was given, or with its tiles.
    DrawWhole(bool),
    /// Make and save an ONNX file of the model in the plan's tiles.
    SaveTiled,
    Run,
    /// Run on the board that hangs on this computer.
    Measure,
    /// Write and save the record of the last measurement, of a board with this on its sticker.
    SaveRecord(String),
    /// The sub-network that runs from now on; nothing: the whole network.
    Subnetwork(Option<String>),
    /// Whether runs are sampled from now on.
    Sampled(bool),
    /// Run plans there.
    RunOn(RunsOn),
    /// Stop what is under way.
    Stop(Doer),
    /// Put the files together.
    Package,
    /// Make and save the plan with the C library, for firmware of one's own.
    SaveLibrary,
    /// Put the model's file in the order that needs the smallest arena.
    Reorder,
    /// Make and save a file of the schedule.
    SaveSchedule(ScheduleFile),
    /// Write and save the recipe of the plan.
    SaveRecipe,
    /// A trouble was read.
    Dismiss(Place),
    /// The importer answers.
    Imported(u32, Result<ImportReply, Diagnostic>),
    /// The float worker answers.
    FloatCompared(u32, Result<FloatComparison, Diagnostic>),
    /// The planner answers.
    Planned(u32, Result<PlanReply, Diagnostic>),
    /// A request has come further.
    Progress(u32, String),
    /// Bytes that a request needs cannot be had.
    NotFetched(u32, Diagnostic),
    /// What the server says of itself; nothing if there is none.
    Server(Server),
    /// What the emulated board says.
    Board(u32, RunEvent),
    /// How a talk with the board on the desk goes.
    Desk(u32, DeskEvent),
    /// What is to be said aloud, such as that a link was copied.
    Say(String),
    /// Time goes by.
    Tick,
}

/// What the buffers are that came with a result.
#[derive(Clone, Debug, PartialEq)]
pub enum Kept {
    /// The int8 model.
    Model,
    /// The int8 input.
    Input,
    /// The plan image, if the plan has one.
    Image,
    /// Files for the board, and their names.
    Package(Vec<String>),
    /// The model's file in another order, and its name.
    Reordered(String),
    /// A file to be saved at once, and its name.
    Saved(String),
    /// Store images of the run under way.
    Stores,
}

/// What the state asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Keep the buffers that came with the event: its result was taken.
    Keep(Kept),
    /// Have a model opened; files that lie beside the page are fetched first.
    Open(u32, Origin, Quantising),
    /// Have examined what quantising does to a model, likewise.
    Examine(u32, Origin, Quantising),
    /// Have the opened model compared with the float model, likewise.
    CompareFloat(u32, Origin, Quantising),
    /// Have the networks of the zoo listed.
    ListZoo(u32),
    /// Have a network of the zoo built in this size.
    SizeZoo(u32, String),
    /// Have looked up what cells are made from.
    ListCellChoices(u32),
    /// Have a stack of cells built.
    SizeCells(u32, Rc<CellDraft>),
    /// Have a search for cells begun with these images.
    BeginSearch(u32, SearchSettings, LabelledFiles),
    /// Have its next step done; so many are known.
    GoOnSearching(u32, u32),
    /// Have the exits of the plan of these settings looked at over these images.
    StudyExits(u32, PlanSettings, LabelledFiles),
    /// Have rows of a sweep planned.
    Sweep {
        /// Number of the request.
        request: u32,
        /// By this one of those that plan rows.
        worker: usize,
        keys: Vec<SweepKey>,
        /// The name of the open model.
        open: String,
    },
    /// Have many networks planned on a small board.
    ExploreFit(u32),
    /// Which papers' figures are computed again.
    ListPapers(u32),
    /// Figures of a paper: its id, and the number of the part.
    ComputePaper(u32, String, usize),
    /// Look up what the browser's storage holds.
    AskStored,
    /// Put a file and its samples into the browser's storage, in place of what is there.
    Store(OwnFile, Stored),
    /// Empty the browser's storage.
    Forget,
    /// Read the model that the browser's storage holds.
    ReadStored(u32),
    /// Remember whether own models may be kept.
    RememberKeeping(bool),
    /// Have the opened model planned. The bytes of the model stay with whoever carries this out.
    Plan(u32, PlanSettings),
    /// Have it planned to compare.
    Compare(u32, PlanSettings, Beside),
    /// Have the graph of the opened model laid out, or that of the model in tiles.
    DrawGraph(u32, Option<TiledRegion>),
    /// Have a model written in tiles, rows by columns.
    SaveTiled(u32, Origin, Quantising, String),
    /// Have the files of the present plan put together.
    Package {
        /// Number of the request.
        request: u32,
        /// What made the plan.
        settings: PlanSettings,
        /// Name of the model.
        model: String,
        /// Whether weights lie in stores.
        has_stores: bool,
    },
    /// Have the plan put together with the C library.
    SaveLibrary {
        /// Number of the request.
        request: u32,
        /// What made the plan.
        settings: PlanSettings,
        /// Name of the model.
        model: String,
        /// Whether weights lie in stores.
        has_stores: bool,
        /// The board's core.
        core: &'static str,
    },
    /// Have the model's file put in another order.
    Reorder(u32, OwnFile),
    /// Have the recipe written of the plan that these settings make.
    SaveRecipe(u32, PlanSettings),
    /// Have a file made of a plan's schedule, and of a run's beside it.
    SaveSchedule {
        /// Number of the request.
        request: u32,
        /// Which file.
        file: ScheduleFile,
        plan: Rc<PlanFacts>,
        run: Option<Rc<Outcome>>,
    },
    /// Fetch a sample and have it prepared as input.
    PrepareSample(u32, &'static str),
    /// Have a dropped file prepared as input.
    PrepareFile {
        /// Number of the request.
        request: u32,
        /// Where the bytes wait.
        token: u32,
        name: String,
    },
    /// Have an input made up.
    PrepareRandom(u32),
    /// Put the plan image and the prepared input aside for the run that begins: what is planned
    /// meanwhile does not disturb it.
    HoldRun,
    /// Have the store images made of the plan that was put aside.
    MakeStores(u32, PlanSettings),
    /// Start a run of what was put aside, there, with the store images that were made.
    StartRun(u32, RunsOn, RunRequest),
    /// End the emulator or tell the server to stop the run, and stop listening.
    StopRun,
    /// Have the person choose a port, and talk with the board at it about the present plan and input.
    Talk {
        /// Number of the request.
        request: u32,
        /// The board that the plan is for.
        board: String,
        boards: Rc<Vec<Board>>,
        /// How long the program is predicted to take.
        predicted_us: Option<Micros>,
    },
    /// Have the record of a measurement written.
    SaveRecord {
        /// Number of the request.
        request: u32,
        measurement: Rc<Measurement>,
        /// A run of the same plan on the emulated board.
        run: Option<Rc<Outcome>>,
        /// SHA-256 of the model's file; nothing for a network of the zoo.
        model_sha256: Option<String>,
        /// What the board's sticker says; nothing if nobody said.
        revision: Option<String>,
    },
    /// Stop talking, and close the port.
    HangUp,
    /// Have the run read and its layers compared with the reference.
    Judge(u32, PlanSettings),
    /// Start the importer if it does not run, so that the first request finds it compiled.
    StartImporter,
    /// End the importer; the next request starts another.
    EndImporter,
    /// End the float worker; the next request starts another.
    EndFloat,
    /// End the search for cells, and what it knows.
    EndSearch,
    /// End all that plan rows of a sweep; the next requests start others.
    EndSweepers,
    /// End the planner; the next request starts another.
    EndPlanner,
    /// Ask which boards there are.
    AskBoards(u32),
    /// Ask whether there is a server.
    AskServer,
    /// Fetch a model from its address.
    FetchModel(u32, OwnFile),
    /// Write the fragment into the address; as a step that Back leads before, if so.
    WriteFragment { text: String, is_step: bool },
    /// Use and remember a theme.
    UseTheme(Theme),
}
