//! Everything the page knows, and how it changes.
//!
//! [`State::update`] takes an [`Event`] and returns the [`Effect`]s that it asks for; it touches no
//! browser. Each request to a worker has a number; a reply whose number is not the newest of its
//! sort is dropped.

mod boards;
mod cells;
mod compare;
mod desk;
mod event;
mod exits;
mod explore;
mod files;
mod history;
mod keep;
mod link;
mod model;
mod papers;
mod plan;
mod quantise;
mod run;
mod search;
mod shown;
mod sparsity;
mod task;
mod what_fits;
mod zoo;

use std::rc::Rc;

use tilewright_board::Board;

use crate::message::{GraphFacts, Package, PlanFacts, ReferenceFacts, Reordered, TiledRegion};
use crate::view_model::fragment::Fragment;
use crate::view_model::layers::Sort;
use crate::view_model::lessons::LessonPlace;
use crate::view_model::steps::{Step, spoken, stepped};
pub use boards::Boards;
pub use cells::Cells;
pub use compare::{Beside, Compare, Plans, Tried};
pub use desk::{Desk, DeskEvent, Heard, Measurement};
pub use event::{Effect, Event, Kept};
pub use exits::{ExitsStudy, LabelledFiles, check_images};
use explore::Exploring;
pub use explore::{BUDGETS, Explore, ExploreEvent, ExploreSpec, MOST_PLANS, OPEN, SWEEPERS, Shows};
pub use files::{FileKind, MAX_FILE_BYTES, check_samples, sort_out};
pub use history::History;
pub use keep::{Keep, Stored};
pub use model::{OpenModel, Origin, OwnFile, Wanted};
pub use papers::{PaperSoFar, Papers};
use plan::{AUTO, Asked};
pub use quantise::{Quantisation, Quantising, Samples};
pub use run::{Input, Outcome, Phase, Run, RunsOn, Server};
pub use search::{Begun, CellSearch, SearchEvent};
pub use shown::{Selection, Theme, View};
pub use task::{Doer, Job, Place, Task};
use tilewright_report::Diagnostic;
pub use what_fits::Fit;
pub use zoo::{PREFIX as ZOO, Zoo};

/// Everything the page knows.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct State {
    /// Boards that there are; empty until the planner has said.
    pub boards: Rc<Vec<Board>>,
    /// The choice among them.
    pub board_choice: Boards,
    /// Strategies that there are.
    pub strategies: Rc<Vec<String>>,
    /// Strategies that cannot plan the open model, and why.
    pub obstacles: Rc<Vec<(String, String)>>,
    /// Choices with their past.
    pub settings: History,
    /// Whether the page chooses the strategy: nobody has, in the link or here.
    pub(crate) is_advising: bool,
    /// Milliseconds from one frame to the next, if the person said.
    pub period_ms: Option<u64>,
    /// The view that is maximised.
    pub view: View,
    /// Whether that view is all of the page.
    pub is_embedded: bool,
    /// The lesson that is open.
    pub lesson: Option<LessonPlace>,
    /// Light or dark.
    pub theme: Theme,
    /// The open model.
    pub model: Option<Rc<OpenModel>>,
    /// The graph of the open model, once it is laid out.
    pub graph: Option<Rc<GraphFacts>>,
    /// Whether the graph is drawn as the model was given, though layers are in tiles.
    pub is_graph_whole: bool,
    /// The tiles that the graph was asked for with.
    pub(crate) graph_tiles: Option<TiledRegion>,
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
    /// The editor of cells.
    pub cells: Cells,
    /// The experiment on what fits a small board.
    pub fit: Fit,
    /// Papers' figures.
    pub papers: Papers,
    /// Labelled images: cells are searched and exits looked at with them.
    pub images: LabelledFiles,
    /// Many plans at once.
    pub explore: Explore,
    pub(crate) exploring: Exploring,
    /// What the exits of a plan came to.
    pub exits: Option<ExitsStudy>,
    /// What went wrong last, and where.
    pub troubles: Vec<(Place, Diagnostic)>,
    /// What a dropped file leaves open and the person must say.
    pub open_dimensions: Option<Rc<Vec<String>>>,
    /// A link named this model, which the person must give or let the page fetch.
    pub wanted: Option<Wanted>,
    /// What the browser's storage keeps.
    pub keep: Keep,
    /// What is under way.
    pub tasks: Vec<Task>,
    /// What was clicked.
    pub selected: Selection,
    /// Whether what happens is a step that Back leads before.
    pub(crate) is_step: bool,
    /// Where the film is, in microseconds of the board.
    pub cursor_us: Option<f64>,
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
    pub run: Run,
    /// The board on the desk.
    pub desk: Desk,
    /// Files for the board, once they are put together.
    pub package: Option<Rc<Package>>,
    /// The model's file in another order, once that was asked for.
    pub reordered: Option<Rc<Reordered>>,
    /// What was last said aloud.
    pub said: String,
    /// Number of the last request.
    pub(crate) last_request: u32,
    /// Milliseconds of the page's clock at the last event.
    pub now_ms: f64,
    /// How long opening and planning took, for the status line.
    pub took_ms: Option<f64>,
    /// What the plan under way was asked for.
    pub(crate) planning: Option<Asked>,
    /// What is being opened.
    pub(crate) opening: Option<Origin>,
    /// How what is being opened becomes int8.
    pub(crate) opening_as: Quantising,
    /// Whether a drag of the sparsity goes on.
    pub(crate) is_pruning_passing: bool,
    /// Files of weights that no model has taken yet: their names, and where their bytes wait.
    pub(crate) data: Vec<(String, u32)>,
    /// The file of weights that what is being opened waits for.
    pub(crate) awaited_data: Option<String>,
}

impl State {
    /// Changes with an event.
    pub fn update(&mut self, event: Event) -> Vec<Effect> {
        let mut effects = Vec::new();
        self.is_step = self.begins_step(&event);
        self.apply(event, &mut effects);
        self.is_step = false;
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
            Event::Follow(fragment) => {
                self.navigate(fragment, effects);
                self.write_fragment(effects);
            }
            Event::Expecting => effects.push(Effect::StartImporter),
            Event::OpenExample(example) => self.open_example(example, effects),
            Event::ShowZoo(is_open) => self.show_zoo(is_open, effects),
            Event::ShowBoards(is_open) => self.show_boards(is_open, effects),
            Event::ListZoo => self.list_zoo(effects),
            Event::ShowCells(is_open) => self.show_cells(is_open, effects),
            Event::EditCells(draft) => self.edit_cells(draft, effects),
            Event::Search(event) => self.search_event(event, effects),
            Event::Images(files) => self.take_images(files),
            Event::ImagesRefused(trouble) => self.fail(Place::Images, trouble),
            Event::StudyExits => self.study_exits(effects),
            Event::Explore(event) => self.explore_event(event, effects),
            Event::ShowFit(is_open) => self.show_fit(is_open, effects),
            Event::ShowPapers(is_open) => self.show_papers(is_open, effects),
            Event::ShowPaper(index) => self.show_paper(index, effects),
            Event::ChooseNetwork(name) => self.choose_network(name, effects),
            Event::OpenNetwork(name) => {
                self.quantising = Quantising::default();
                self.open_network(name, effects);
            }
            Event::Quantise(quantising) => self.quantise(quantising, effects),
            Event::QuantiseWith(files) => self.quantise_with(files, effects),
            Event::Prune(sparsity, is_passing) => self.prune(sparsity, is_passing, effects),
            Event::Examine => self.examine(effects),
            Event::CompareFloat => self.compare_float(effects),
            Event::SortReport(column) => {
                self.quantisation.sort = self.quantisation.sort.clicked(column);
            }
            Event::File { token, name } => self.file(token, name, effects),
            Event::InputFile { token, name } => self.input_file(token, name, effects),
            Event::FileRefused(trouble) => self.fail(Place::Model, trouble),
            Event::Keep(is_allowed) => self.allow_keeping(is_allowed, effects),
            Event::Stored(stored) => self.stored(stored, effects),
            Event::OpenStored => self.open_stored(effects),
            Event::FetchModel => self.fetch_model(effects),
            Event::StoredRead(request, file) => self.stored_read(request, file, effects),
            Event::Dimensions(dims) => self.dimensions(dims, effects),
            Event::Settings(settings, dragging) => {
                self.note_advice(&settings);
                let has_changed = self.settings.set(settings, dragging);
                self.know_own_board();
                if has_changed && self.waits_for_a_passing_plan() {
                    self.write_fragment(effects);
                } else if has_changed || self.is_outrun() {
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
                self.look_around(effects);
                self.write_fragment(effects);
            }
            Event::ToggleTheme => {
                self.theme = self.theme.next();
                self.say(&format!("Theme: {}", self.theme.word()));
                effects.push(Effect::UseTheme(self.theme));
            }
            Event::Select(selection) => {
                self.selected =
                    if self.selected == selection { Selection::NONE } else { selection };
            }
            Event::Reach(selection, text) => {
                self.selected = selection;
                self.hovered = Selection::NONE;
                self.say(&text);
            }
            Event::Step(step, address) => self.step(step, address, effects),
            Event::Lesson(place) => {
                self.lesson = place;
                self.write_fragment(effects);
            }
            Event::Cursor(at_us) => self.cursor_us = Some(at_us),
            Event::Hover(selection) => self.hovered = selection,
            Event::SortBy(column) => self.sort = self.sort.clicked(column),
            Event::Filter(text) => self.filter = text,
            Event::Sample(index) => self.choose_sample(index, effects),
            Event::RandomInput => self.random_input(effects),
            Event::DrawGraph => self.draw_graph(effects),
            Event::DrawWhole(is_whole) => {
                self.is_graph_whole = is_whole;
                self.follow_tiles(effects);
            }
            Event::SaveTiled => self.save_tiled(effects),
            Event::Run => self.start_run(effects),
            Event::Subnetwork(name) => self.run.subnetwork = name,
            Event::Sampled(is_sampled) => self.run.is_sampled = is_sampled,
            Event::RunOn(place) => self.wish_to_run_on(place),
            Event::Stop(doer) => self.stop(doer, effects),
            Event::Package => self.start_package(effects),
            Event::SaveLibrary => self.save_library(effects),
            Event::Reorder => self.start_reorder(effects),
            Event::SaveSchedule(file) => self.save_schedule(file, effects),
            Event::SaveRecipe => self.save_recipe(effects),
            Event::Dismiss(place) => self.clear(place),
            Event::Imported(request, reply) => self.imported(request, reply, effects),
            Event::FloatCompared(request, reply) => self.float_compared(request, reply, effects),
            Event::Planned(request, reply) => self.planned(request, reply, effects),
            Event::Progress(request, text) => {
                if let Some(task) = self.tasks.iter_mut().find(|task| task.request == request) {
                    task.text = text;
                }
            }
            Event::NotFetched(request, trouble) => self.not_fetched(request, trouble),
            Event::Server(server) => self.server = server,
            Event::Board(request, event) => self.run_event(request, event, effects),
            Event::Measure => self.start_talk(effects),
            Event::SaveRecord(revision) => self.save_record(&revision, effects),
            Event::Desk(request, event) => self.desk_event(request, event),
            Event::Say(text) => self.say(&text),
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
        self.is_advising =
            fragment.settings.strategy.is_empty() && fragment.settings.sram_bytes.is_none();
        self.navigate(fragment, effects);
    }

    /// The trouble shown at a place.
    #[must_use]
    pub fn trouble(&self, place: Place) -> Option<&Diagnostic> {
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

    pub(crate) fn fail(&mut self, place: Place, trouble: Diagnostic) {
        self.clear(place);
        self.say(&trouble.what);
        self.troubles.push((place, trouble));
    }

    /// Says something that took no time of note.
    pub(crate) fn say(&mut self, text: &str) {
        text.clone_into(&mut self.said);
        self.took_ms = None;
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
        self.say("Stopped");
        match doer {
            Doer::Importer => {
                self.forget_opening();
                if was_of_run {
                    self.run.cancel();
                }
                effects.push(Effect::EndImporter);
            }
            Doer::Float => effects.push(Effect::EndFloat),
            // It rests between steps, and what it found can be gone on with.
            Doer::Search => {}
            Doer::Sweeper => self.stop_exploring(effects),
            Doer::Planner => {
                self.stop_comparing();
                effects.push(Effect::EndPlanner);
            }
            Doer::Emulator => {
                self.run.cancel();
                effects.push(Effect::StopRun);
            }
            Doer::Desk => {
                self.hang_up();
                effects.push(Effect::HangUp);
            }
        }
    }
}

#[cfg(test)]
mod tests;
