//! Everything the page knows, and how it changes.
//!
//! [`State::update`] takes an [`Event`] and returns the [`Effect`]s that it asks for; it touches no
//! browser. Each request to a worker has a number; a reply whose number is not the newest of its
//! sort is dropped.

mod compare;
mod files;
mod history;
mod keep;
mod link;
mod model;
mod plan;
mod quantise;
mod run;
mod shown;
mod task;
mod zoo;

use std::rc::Rc;

use tilewright_board::Board;

use crate::message::{
    FileFacts, GraphFacts, ImportReply, Package, PlanFacts, PlanReply, PlanSettings,
    ReferenceFacts, Reordered, ScheduleFile, Trouble,
};
use crate::view_model::catalogue::Example;
use crate::view_model::fragment::Fragment;
use crate::view_model::layers::Sort;
use crate::view_model::steps::{Step, spoken, stepped};
pub use compare::{Compare, Plans, Tried};
pub use files::{FileKind, MAX_FILE_BYTES, check_samples, sort_out};
pub use history::History;
pub use keep::{Keep, Stored};
pub use model::{OpenModel, Origin, OwnFile};
pub use quantise::{Quantisation, Quantising, Samples};
pub use run::{Input, Outcome, Phase, Run, RunEvent, RunningOf, Server};
pub use shown::{Selection, Theme, View};
pub use task::{Doer, Job, Place, Task};
pub use zoo::{PREFIX as ZOO, Zoo};

/// Everything the page knows.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct State {
    /// Boards that there are; empty until the planner has said.
    pub boards: Rc<Vec<Board>>,
    /// Strategies that there are.
    pub strategies: Rc<Vec<String>>,
    /// Strategies whose plans are simulated only.
    pub simulated: Rc<Vec<String>>,
    /// Strategies that cannot plan the open model, and why.
    pub obstacles: Rc<Vec<(String, String)>>,
    /// Choices with their past.
    pub settings: History,
    /// Milliseconds from one frame to the next, if the person said.
    pub period_ms: Option<u64>,
    /// The view that is maximised.
    pub view: View,
    /// Light or dark.
    pub theme: Theme,
    /// The open model.
    pub model: Option<Rc<OpenModel>>,
    /// The graph of the open model, once it is laid out.
    pub graph: Option<Rc<GraphFacts>>,
    /// The last good plan of the open model.
    pub plan: Option<Rc<PlanFacts>>,
    /// Plans beside it.
    pub compare: Compare,
    /// Whether the plan was made before the model was quantised in another way.
    pub(crate) is_plan_of_before: bool,
    /// How the model that is open, or being opened, becomes int8.
    pub quantising: Quantising,
    /// What quantising does to the open model.
    pub quantisation: Quantisation,
    /// The choice among the networks of the zoo.
    pub zoo: Zoo,
    /// What went wrong last, and where.
    pub troubles: Vec<(Place, Trouble)>,
    /// What a dropped file leaves open and the person must say.
    pub open_dimensions: Option<Rc<Vec<String>>>,
    /// A link named this model, which the person must give.
    pub wanted: Option<String>,
    /// What the browser's storage keeps.
    pub keep: Keep,
    /// What is under way.
    pub tasks: Vec<Task>,
    /// What was clicked.
    pub selected: Selection,
    /// What the pointer is over.
    pub hovered: Selection,
    /// Order of the table.
    pub sort: Sort,
    /// Text that the table's rows must hold.
    pub filter: String,
    /// Whether there is a server that runs.
    pub server: Server,
    /// The input, and the reference's answer to it.
    pub input: Input,
    /// The run.
    pub run: Run,
    /// Files for the board, once they are put together.
    pub package: Option<Rc<Package>>,
    /// The model's file in another order, once that was asked for.
    pub reordered: Option<Rc<Reordered>>,
    /// The file that was made last of a schedule.
    pub schedule_file: Option<Rc<FileFacts>>,
    /// What was last said aloud.
    pub said: String,
    /// Number of the last request.
    pub(crate) last_request: u32,
    /// Milliseconds of the page's clock at the last event.
    pub now_ms: f64,
    /// How long opening and planning took, for the status line.
    pub took_ms: Option<f64>,
    /// What is being opened.
    pub(crate) opening: Option<Origin>,
    /// Files of weights that no model has taken yet: their names, and where their bytes wait.
    pub(crate) data: Vec<(String, u32)>,
    /// The file of weights that what is being opened waits for.
    pub(crate) awaited_data: Option<String>,
}

/// What happens.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The page has started with this fragment and theme, and whether the person allowed before
    /// that models are kept in the browser's storage.
    Started(Fragment, Theme, bool),
    /// The address was changed by hand or by going back.
    Navigated(Fragment),
    /// A model will likely be opened soon: the pointer or the focus is on something that opens one.
    Expecting,
    /// An example was chosen.
    OpenExample(&'static Example),
    /// The networks of the zoo are to be chosen from, or no more.
    ShowZoo(bool),
    /// A network of the zoo was chosen, with width and resolution, to be looked at.
    ChooseNetwork(String),
    /// A network of the zoo is to be opened.
    OpenNetwork(String),
    /// The open model is to become int8 in another way.
    Quantise(Quantising),
    /// The same, with samples from files: tokens and names.
    QuantiseWith(Vec<(u32, String)>),
    /// What quantising does is to be examined.
    Examine,
    /// A column's head of the quantiser's report was clicked.
    SortReport(crate::view_model::quantisation::Column),
    /// A file was dropped or chosen; its bytes wait under the token.
    File {
        /// Where the bytes wait.
        token: u32,
        /// Its name.
        name: String,
    },
    /// A file was chosen as the model's input.
    InputFile {
        /// Where the bytes wait.
        token: u32,
        /// Its name.
        name: String,
    },
    /// A file cannot be taken.
    FileRefused(Trouble),
    /// Own models may be kept in the browser's storage from now on, or no more.
    Keep(bool),
    /// What the browser's storage holds now, or why it does not do what it was asked.
    Stored(Result<Option<Stored>, Trouble>),
    /// Open what the browser's storage holds.
    OpenStored,
    /// The browser's storage gave a model.
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
    /// Run.
    Run,
    /// Whether runs are sampled from now on.
    Sampled(bool),
    /// Stop what is under way.
    Stop(Doer),
    /// Put the files together.
    Package,
    /// Put the model's file in the order that needs the smallest arena.
    Reorder,
    /// Make and save a file of the schedule.
    SaveSchedule(ScheduleFile),
    /// A trouble was read.
    Dismiss(Place),
    /// The importer answers.
    Imported(u32, Result<ImportReply, Trouble>),
    /// The planner answers.
    Planned(u32, Result<PlanReply, Trouble>),
    /// A request has come further.
    Progress(u32, String),
    /// Bytes that a request needs cannot be had.
    NotFetched(u32, Trouble),
    /// What the server says of itself; nothing if there is none.
    Server(Server),
    /// What the emulated board says.
    Board(u32, RunEvent),
    /// What is to be said aloud, such as that a link was copied.
    Say(String),
    /// Time goes by.
    Tick,
}

/// What the state asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Have a model opened; files that lie beside the page are fetched first.
    Open(u32, Origin, Quantising),
    /// Have examined what quantising does to a model, likewise.
    Examine(u32, Origin, Quantising),
    /// Have the networks of the zoo listed.
    ListZoo(u32),
    /// Have a network of the zoo built in this size.
    SizeZoo(u32, String),
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
    Compare(u32, PlanSettings),
    /// Have the graph of the opened model laid out.
    DrawGraph(u32),
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
    /// Have the model's file put in another order.
    Reorder(u32, OwnFile),
    /// Have a file made of a plan's schedule, and of a run's beside it.
    SaveSchedule {
        /// Number of the request.
        request: u32,
        /// Which file.
        file: ScheduleFile,
        /// The plan.
        plan: Rc<PlanFacts>,
        /// The run.
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
        /// Its name.
        name: String,
    },
    /// Have an input made up.
    PrepareRandom(u32),
    /// Put the plan image and the prepared input aside for the run that begins: what is planned
    /// meanwhile does not disturb it.
    HoldRun,
    /// Have the store images made of the plan that was put aside.
    MakeStores(u32, PlanSettings),
    /// Start a run of what was put aside, with the store images that were made.
    StartRun {
        /// Number of the request.
        request: u32,
        /// On this board.
        board: String,
        /// Whether of compute steps that run alike only the first is executed.
        is_sampled: bool,
    },
    /// Tell the server to stop the run, and stop listening.
    StopRun,
    /// Have the run read and its layers compared with the reference.
    Judge(u32, PlanSettings),
    /// Start the importer if it does not run, so that the first request finds it compiled.
    StartImporter,
    /// End the importer; the next request starts another.
    EndImporter,
    /// End the planner; the next request starts another.
    EndPlanner,
    /// Ask which boards there are.
    AskBoards(u32),
    /// Ask whether there is a server.
    AskServer,
    /// Write the fragment into the address.
    WriteFragment(String),
    /// Use and remember a theme.
    UseTheme(Theme),
}

impl State {
    /// Changes with an event.
    pub fn update(&mut self, event: Event) -> Vec<Effect> {
        let mut effects = Vec::new();
        self.apply(event, &mut effects);
        effects
    }

    fn apply(&mut self, event: Event, effects: &mut Vec<Effect>) {
        match event {
            Event::Started(fragment, theme, keeps) => {
                self.keep.is_allowed = keeps;
                if keeps {
                    effects.push(Effect::AskStored);
                }
                self.start(fragment, theme, effects);
            }
            Event::Navigated(fragment) => self.navigate(fragment, effects),
            Event::Expecting => effects.push(Effect::StartImporter),
            Event::OpenExample(example) => self.open_example(example, effects),
            Event::ShowZoo(is_open) => self.show_zoo(is_open, effects),
            Event::ChooseNetwork(name) => self.choose_network(name, effects),
            Event::OpenNetwork(name) => {
                self.quantising = Quantising::default();
                self.open_network(name, effects);
            }
            Event::Quantise(quantising) => self.quantise(quantising, effects),
            Event::QuantiseWith(files) => self.quantise_with(files, effects),
            Event::Examine => self.examine(effects),
            Event::SortReport(column) => {
                self.quantisation.sort = self.quantisation.sort.clicked(column);
            }
            Event::File { token, name } => self.file(token, name, effects),
            Event::InputFile { token, name } => self.input_file(token, name, effects),
            Event::FileRefused(trouble) => self.fail(Place::Model, trouble),
            Event::Keep(is_allowed) => self.allow_keeping(is_allowed, effects),
            Event::Stored(stored) => self.stored(stored, effects),
            Event::OpenStored => self.open_stored(effects),
            Event::StoredRead(request, file) => self.stored_read(request, file, effects),
            Event::Dimensions(dims) => self.dimensions(dims, effects),
            Event::Settings(settings, dragging) => {
                if self.settings.set(settings, dragging) {
                    self.replan(effects);
                } else {
                    // The end of a drag changes nothing, but what waited for it begins.
                    if self.package.is_none() && self.task(Job::Package).is_none() {
                        self.package_at_once(effects);
                    }
                    self.compare_next(effects);
                }
            }
            Event::Period(period_ms) => {
                self.period_ms = period_ms;
                self.write_fragment(effects);
            }
            Event::Undo => {
                if self.settings.undo() {
                    self.replan(effects);
                }
            }
            Event::Redo => {
                if self.settings.redo() {
                    self.replan(effects);
                }
            }
            Event::Show(view) => {
                self.view = view;
                self.write_fragment(effects);
            }
            Event::ToggleTheme => {
                self.theme = self.theme.next();
                self.said = format!("Theme: {}", self.theme.word());
                effects.push(Effect::UseTheme(self.theme));
            }
            Event::Select(selection) => {
                self.selected =
                    if self.selected == selection { Selection::NONE } else { selection };
            }
            Event::Reach(selection, text) => {
                self.selected = selection;
                self.hovered = Selection::NONE;
                self.said = text;
                self.took_ms = None;
            }
            Event::Step(step, address) => self.step(step, address, effects),
            Event::Hover(selection) => self.hovered = selection,
            Event::SortBy(column) => self.sort = self.sort.clicked(column),
            Event::Filter(text) => self.filter = text,
            Event::Sample(index) => self.choose_sample(index, effects),
            Event::RandomInput => self.random_input(effects),
            Event::DrawGraph => self.draw_graph(effects),
            Event::Run => self.start_run(effects),
            Event::Sampled(is_sampled) => self.run.is_sampled = is_sampled,
            Event::Stop(doer) => self.stop(doer, effects),
            Event::Package => self.start_package(effects),
            Event::Reorder => self.start_reorder(effects),
            Event::SaveSchedule(file) => self.save_schedule(file, effects),
            Event::Dismiss(place) => self.clear(place),
            Event::Imported(request, reply) => self.imported(request, reply, effects),
            Event::Planned(request, reply) => self.planned(request, reply, effects),
            Event::Progress(request, text) => {
                if let Some(task) = self.tasks.iter_mut().find(|task| task.request == request) {
                    task.text = text;
                }
            }
            Event::NotFetched(request, trouble) => self.not_fetched(request, trouble),
            Event::Server(server) => self.server = server,
            Event::Board(request, event) => self.run_event(request, event, effects),
            Event::Say(text) => self.said = text,
            Event::Tick => {}
        }
    }

    fn step(&mut self, step: Step, address: Option<u32>, effects: &mut Vec<Effect>) {
        let Some(plan) = &self.plan else { return };
        let to = stepped(plan, self.selected, step);
        let said = spoken(plan, to, address);
        self.apply(Event::Reach(to, said), effects);
    }

    fn start(&mut self, fragment: Fragment, theme: Theme, effects: &mut Vec<Effect>) {
        self.theme = theme;
        effects.push(Effect::UseTheme(theme));
        let request = self.next_request();
        effects.push(Effect::AskBoards(request));
        effects.push(Effect::AskServer);
        self.settings = History::new(fragment.settings.clone());
        self.navigate(fragment, effects);
    }

    /// The trouble shown at a place.
    #[must_use]
    pub fn trouble(&self, place: Place) -> Option<&Trouble> {
        self.troubles.iter().find(|(at, _)| *at == place).map(|(_, trouble)| trouble)
    }

    /// The task of this sort that is under way.
    #[must_use]
    pub fn task(&self, job: Job) -> Option<&Task> {
        self.tasks.iter().find(|task| task.job == job)
    }

    /// The chosen board, once boards are known.
    #[must_use]
    pub fn board(&self) -> Option<&Board> {
        let id = &self.settings.now().board;
        self.boards.iter().find(|board| board.id == *id)
    }

    /// What is lit up: what the pointer is over, else what was clicked.
    #[must_use]
    pub fn lit(&self) -> Selection {
        if self.hovered.is_none() { self.selected } else { self.hovered }
    }

    /// Whether a plan is shown that is not of the present settings.
    #[must_use]
    pub fn is_plan_stale(&self) -> bool {
        self.plan
            .as_ref()
            .is_some_and(|plan| self.is_plan_of_before || plan.settings != *self.settings.now())
    }

    /// The reference's answer to the input.
    #[must_use]
    pub fn reference(&self) -> Option<&Rc<ReferenceFacts>> {
        self.input.reference.as_ref()
    }

    pub(crate) fn next_request(&mut self) -> u32 {
        self.last_request += 1;
        self.last_request
    }

    /// A new task in place of the one of its sort.
    pub(crate) fn begin(&mut self, job: Job, text: &str) -> u32 {
        let request = self.next_request();
        self.tasks.retain(|task| task.job != job);
        let since_ms = self.now_ms;
        self.tasks.push(Task { request, job, text: text.to_owned(), since_ms });
        request
    }

    /// Whether this request is the newest of its sort and still awaited.
    pub(crate) fn is_awaited(&self, job: Job, request: u32) -> bool {
        self.task(job).is_some_and(|task| task.request == request)
    }

    /// Ends a task and says how long it took; nothing if it is not the newest of its sort.
    pub(crate) fn end(&mut self, request: u32) -> Option<f64> {
        let index = self.tasks.iter().position(|task| task.request == request)?;
        let task = self.tasks.remove(index);
        Some(self.now_ms - task.since_ms)
    }

    pub(crate) fn fail(&mut self, place: Place, trouble: Trouble) {
        self.clear(place);
        self.said = trouble.what.clone();
        self.took_ms = None;
        self.troubles.push((place, trouble));
    }

    pub(crate) fn clear(&mut self, place: Place) {
        self.troubles.retain(|(at, _)| *at != place);
    }

    fn stop(&mut self, doer: Doer, effects: &mut Vec<Effect>) {
        let had = self.tasks.len();
        let was_of_run = self.task(Job::Judge).or(self.task(Job::Stores)).is_some();
        self.tasks.retain(|task| task.job.doer() != doer);
        if self.tasks.len() == had {
            return;
        }
        self.said = "Stopped".to_owned();
        match doer {
            Doer::Importer => {
                self.forget_opening();
                if was_of_run {
                    self.run.cancel();
                }
                effects.push(Effect::EndImporter);
            }
            Doer::Planner => {
                self.stop_comparing();
                effects.push(Effect::EndPlanner);
            }
            Doer::Emulator => {
                self.run.cancel();
                effects.push(Effect::StopRun);
            }
        }
    }
}

#[cfg(test)]
mod tests;
