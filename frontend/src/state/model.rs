//! Opening a model.

use std::rc::Rc;

use super::files::FileKind;
use super::{
    Desk, Doer, Effect, Input, Job, Kept, Place, Quantisation, Quantising, Selection, State, zoo,
};
use crate::message::{ImportReply, ModelFacts, TiledRegion, trouble};
use crate::view_model::catalogue::{self, Example};
use crate::view_model::fragment::{Fragment, NamedFile, is_address};
use tilewright_report::{Diagnostic, Need};

/// Where a model comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Origin {
    /// It came with the page.
    Example(&'static Example),
    /// The zoo builds it, by its name with width and resolution.
    Zoo(String),
    /// The person gave it.
    File(OwnFile),
}

impl Origin {
    /// Name for people.
    #[must_use]
    pub fn title(&self) -> &str {
        match self {
            Self::Example(example) => example.title,
            Self::Zoo(name) => name,
            Self::File(file) => &file.name,
        }
    }

    /// Whether a link cannot bring it: the person gave the file.
    #[must_use]
    pub fn is_of_the_person(&self) -> bool {
        matches!(self, Self::File(file) if file.address.is_none())
    }

    /// Whether its weights come from a seed, and so its scales from their statistics: a network of
    /// the zoo, or a text of cells.
    #[must_use]
    pub fn is_seeded(&self) -> bool {
        match self {
            Self::Example(_) => false,
            Self::Zoo(_) => true,
            Self::File(file) => file.calibration.is_none() && super::files::is_cells(&file.name),
        }
    }
}

/// A model that the person gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnFile {
    /// Where the bytes wait.
    pub token: u32,
    pub name: String,
    /// Files that it keeps weights in: their names, and where they wait.
    pub data: Vec<(String, u32)>,
    /// Samples to calibrate with: where they wait.
    pub calibration: Option<u32>,
    /// What stands for dimensions that the file leaves open.
    pub dims: Vec<(String, u64)>,
    /// Whether it came, just so, from the browser's storage.
    pub is_stored: bool,
    /// The address that it was fetched from.
    pub address: Option<String>,
}

impl OwnFile {
    /// Where all its bytes wait: its own, those of its weights, its samples.
    pub(crate) fn tokens(&self) -> impl Iterator<Item = u32> {
        let data = self.data.iter().map(|(_, token)| *token);
        std::iter::once(self.token).chain(data).chain(self.calibration)
    }
}

/// A model that a link names, and that is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// `sha256:` and digits, or an address.
    pub model: String,
    /// Its file, if the link says so.
    pub file: Option<NamedFile>,
}

/// A model that was opened.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenModel {
    /// Where it comes from.
    pub origin: Origin,
    /// How it became int8.
    pub quantising: Quantising,
    /// What is known of it.
    pub facts: ModelFacts,
}

impl OpenModel {
    /// Whether outputs may be early exits: several of one shape. Boxes and their scores differ, and models that keep
    /// states have an input for each.
    #[must_use]
    pub fn has_exits(&self) -> bool {
        let [first, rest @ ..] = &self.facts.outputs[..] else { return false };
        let are_alike = rest.iter().all(|output| output.shape == first.shape);
        !rest.is_empty() && are_alike && self.facts.inputs.len() == 1
    }
}

impl State {
    pub(super) fn navigate(&mut self, fragment: Fragment, effects: &mut Vec<Effect>) {
        if fragment == self.fragment() {
            return;
        }
        if fragment == Fragment::default() {
            self.close(effects);
        }
        (self.view, self.is_embedded) = (fragment.view, fragment.is_embedded);
        self.lesson = fragment.lesson;
        if let Some(spec) = &fragment.explore {
            self.explore.spec = Some(Rc::new(spec.clone()));
        }
        self.period_ms = fragment.period_ms;
        let mut settings = fragment.settings.clone();
        let now = self.settings.now();
        if settings.board.is_empty() {
            settings.board.clone_from(&now.board);
        }
        if settings.strategy.is_empty() {
            settings.strategy.clone_from(&now.strategy);
        }
        self.is_advising &= fragment.settings.strategy.is_empty() || settings == *now;
        let is_changed = self.settings.set(settings, false);
        self.know_own_board();
        let before = self.fragment();
        match &fragment.model {
            Some(model) if before.model.as_ref() != Some(model) => {
                self.quantising = fragment.quantising();
                let network = model.strip_prefix(zoo::PREFIX);
                match (catalogue::find(model), network) {
                    (Some(example), _) => return self.open(Origin::Example(example), effects),
                    (None, Some(name)) => return self.open(Origin::Zoo(name.to_owned()), effects),
                    (None, None) => {
                        let (model, file) = (model.clone(), fragment.file.clone());
                        self.want(Wanted { model, file }, effects);
                    }
                }
            }
            Some(_) if fragment.quantising() != before.quantising() => {
                return self.quantise(fragment.quantising(), effects);
            }
            _ => {}
        }
        if is_changed {
            self.replan(effects);
        }
    }

    /// Back to the page's beginning: no model is open.
    fn close(&mut self, effects: &mut Vec<Effect>) {
        if self.is_opening() {
            self.stop(Doer::Importer, effects);
        }
        self.end_runs(effects);
        self.restart_comparing();
        self.tasks.retain(|task| task.job != Job::Plan);
        self.model = None;
        self.plan = None;
        self.graph = None;
        (self.selected, self.hovered) = (Selection::NONE, Selection::NONE);
    }

    /// Ends what runs of the open model, here and on the desk.
    fn end_runs(&mut self, effects: &mut Vec<Effect>) {
        if self.run.phase.is_under_way() {
            effects.push(Effect::StopRun);
            self.tasks.retain(|task| task.job != Job::Run);
        }
        if self.desk.is_talking {
            effects.push(Effect::HangUp);
            self.tasks.retain(|task| task.job != Job::Desk);
        }
        self.run = self.run.of_another_model();
        self.desk = Desk::default();
    }

    /// A link names a model that only the person has, or the browser's storage.
    fn want(&mut self, wanted: Wanted, effects: &mut Vec<Effect>) {
        if self.keep.holds(&wanted.model) {
            return self.open_stored(effects);
        }
        if is_address(&wanted.model) {
            self.close(effects);
        }
        if self.model.is_some() {
            let detail = format!("It names {}.", wanted.model);
            let remedy = "Drop that file; board and settings are as in the link.";
            self.fail(Place::Model, trouble("The link is to another model", detail, remedy));
        }
        self.wanted = Some(wanted);
    }

    /// The person lets the page fetch the model whose address the link names.
    pub(super) fn fetch_model(&mut self, effects: &mut Vec<Effect>) {
        let Some(Wanted { model, .. }) = self.wanted.clone().filter(|w| is_address(&w.model))
        else {
            return;
        };
        let path = model.split(['?', '#']).next().unwrap_or(&model);
        let name = path.rsplit('/').next().unwrap_or(path).to_owned();
        let file = OwnFile { name, address: Some(model), ..OwnFile::default() };
        self.quantising = Quantising::default();
        let request = self.expect_model(&Origin::File(file.clone()), effects);
        effects.push(Effect::FetchModel(request, file));
    }

    /// Opens a model that came with the page.
    pub(super) fn open_example(&mut self, example: &'static Example, effects: &mut Vec<Effect>) {
        self.quantising = Quantising::default();
        self.open(Origin::Example(example), effects);
    }

    /// Opens what needs no file of the person.
    pub(super) fn open(&mut self, origin: Origin, effects: &mut Vec<Effect>) {
        self.begin_opening(origin, effects);
        self.write_fragment(effects);
    }

    /// Whether a file's bytes may still be needed.
    #[must_use]
    pub fn names_file(&self, token: u32) -> bool {
        let open = self.model.as_ref().map(|model| &model.origin);
        let is_loose = self.data.iter().any(|(_, loose)| *loose == token);
        let by_origin = open.into_iter().chain(&self.opening).any(|origin| match origin {
            Origin::File(file) => file.tokens().any(|own| own == token),
            Origin::Example(_) | Origin::Zoo(_) => false,
        });
        let used = self.model.as_ref().map(|model| &model.quantising);
        let mut choices = used.into_iter().chain([&self.quantising]);
        let is_image = self.images.files.iter().any(|(image, _)| *image == token);
        is_loose
            || is_image
            || by_origin
            || choices.any(|choice| choice.tokens().any(|known| known == token))
    }

    /// Whether a model is being opened.
    #[must_use]
    pub fn is_opening(&self) -> bool {
        self.task(Job::Open).is_some()
    }

    pub(super) fn begin_opening(&mut self, origin: Origin, effects: &mut Vec<Effect>) {
        let request = self.expect_model(&origin, effects);
        self.opening_as = self.quantising.clone();
        effects.push(Effect::Open(request, origin, self.quantising.clone()));
    }

    /// The request for a model that is about to be opened.
    fn expect_model(&mut self, origin: &Origin, effects: &mut Vec<Effect>) -> u32 {
        // A worker that is busy with what nobody waits for any more is ended.
        if self.tasks.iter().any(|task| task.job.doer() == Doer::Importer) {
            let choice = self.quantising.clone();
            self.stop(Doer::Importer, effects);
            self.quantising = choice;
        }
        self.clear(Place::Model);
        self.clear(Place::Quantisation);
        self.opening = Some(origin.clone());
        self.open_dimensions = None;
        self.awaited_data = None;
        self.begin(Job::Open, &format!("Opening {}", origin.title()))
    }

    fn open_file(&mut self, file: OwnFile, effects: &mut Vec<Effect>) {
        self.begin_opening(Origin::File(file), effects);
    }

    /// Opens the model that the browser's storage holds.
    pub(super) fn open_stored(&mut self, effects: &mut Vec<Effect>) {
        let Some(stored) = self.keep.stored.clone() else { return };
        let file = OwnFile { name: stored.name.clone(), is_stored: true, ..OwnFile::default() };
        let request = self.expect_model(&Origin::File(file), effects);
        effects.push(Effect::ReadStored(request));
    }

    /// The browser's storage gave the model.
    pub(super) fn stored_read(&mut self, request: u32, file: OwnFile, effects: &mut Vec<Effect>) {
        if self.is_awaited(Job::Open, request) {
            let origin = Origin::File(file);
            self.opening = Some(origin.clone());
            self.opening_as = self.quantising.clone();
            effects.push(Effect::Open(request, origin, self.quantising.clone()));
        }
    }

    /// A file: a model, weights of one, samples to calibrate with, or an input.
    pub(super) fn file(&mut self, token: u32, name: String, effects: &mut Vec<Effect>) {
        match FileKind::of(&name) {
            FileKind::Picture | FileKind::Sound => self.input_file(token, name, effects),
            FileKind::Samples => self.calibrate(token, name, effects),
            FileKind::Data => self.data_file(token, name, effects),
            FileKind::ClassNames => self.name_classes(token, name, effects),
            FileKind::Model => {
                self.quantising = Quantising::default();
                let data = std::mem::take(&mut self.data);
                self.open_file(OwnFile { token, name, data, ..OwnFile::default() }, effects);
            }
        }
    }

    /// Weights: of the model that waits for them, or of one that follows.
    fn data_file(&mut self, token: u32, name: String, effects: &mut Vec<Effect>) {
        self.data.retain(|(known, _)| *known != name);
        self.data.push((name.clone(), token));
        let opening = match &self.opening {
            Some(Origin::File(file)) => Some(file.clone()),
            _ => None,
        };
        match (opening, self.awaited_data.clone()) {
            (Some(mut file), Some(awaited)) if awaited.rsplit('/').next() == Some(&*name) => {
                file.data.append(&mut self.data);
                self.open_file(OwnFile { is_stored: false, ..file }, effects);
            }
            (Some(file), Some(awaited)) => {
                let what = format!("{name} is not what {} waits for", file.name);
                let detail = format!("It keeps its weights in {awaited}.");
                let trouble = trouble(what, detail, "Drop that file.");
                self.fail(Place::Model, trouble.needing(Need::File(awaited)));
            }
            _ => {
                let what = format!("{name} waits for its model");
                let detail = "It can hold weights of a model, which says where in it they are.";
                let remedy = "Drop the .onnx file that it was exported with.";
                self.fail(Place::Model, trouble(what, detail, remedy));
            }
        }
    }

    /// Opens the present file again, with samples.
    fn calibrate(&mut self, samples: u32, name: String, effects: &mut Vec<Effect>) {
        let origin = self.opening.clone().or_else(|| self.model.as_ref().map(|m| m.origin.clone()));
        let Some(origin) = origin else {
            let detail = "Samples say which values flow through a model that is being quantised.";
            let remedy = "Open a model first, then drop its samples.";
            let what = format!("{name} has no model to calibrate");
            return self.fail(Place::Model, trouble(what, detail, remedy));
        };
        let Origin::File(file) = origin else {
            self.quantising.samples = super::Samples::Files(vec![(samples, name)]);
            return self.open(origin, effects);
        };
        self.quantising.samples = super::Samples::Given;
        let calibration = Some(samples);
        self.open_file(OwnFile { calibration, is_stored: false, ..file }, effects);
    }

    /// Opens the present file again, with a file of class names beside it.
    fn name_classes(&mut self, token: u32, name: String, effects: &mut Vec<Effect>) {
        let origin = self.opening.as_ref().or_else(|| self.model.as_ref().map(|m| &m.origin));
        let Some(Origin::File(file)) = origin else {
            let what = format!("{name} has no model whose classes it names");
            let remedy = "Open a model's file first, then drop its class names.";
            return self.fail(Place::Model, trouble(what, "", remedy));
        };
        let mut file = OwnFile { is_stored: false, ..file.clone() };
        file.data.retain(|(known, _)| FileKind::of(known) != FileKind::ClassNames);
        file.data.push((name, token));
        self.open_file(file, effects);
    }

    pub(super) fn dimensions(&mut self, dims: Vec<(String, u64)>, effects: &mut Vec<Effect>) {
        let Some(Origin::File(mut file)) = self.opening.clone() else { return };
        // A file names its open dimensions one after the other.
        file.dims.retain(|(known, _)| dims.iter().all(|(dim, _)| dim != known));
        file.dims.extend(dims);
        self.open_file(OwnFile { is_stored: false, ..file }, effects);
    }

    pub(super) fn imported(
        &mut self,
        request: u32,
        reply: Result<ImportReply, Diagnostic>,
        effects: &mut Vec<Effect>,
    ) {
        if self.exploring.is_asked(request) {
            let rows = reply.map(|reply| match reply {
                ImportReply::Swept(rows) => rows,
                _ => Vec::new(),
            });
            return self.swept(request, rows, effects);
        }
        let Some(job) = self.tasks.iter().find(|t| t.request == request).map(|t| t.job) else {
            return;
        };
        let took = self.end(request).unwrap_or_default();
        match (job, reply) {
            (Job::Open, Ok(ImportReply::Opened(facts))) => self.opened(facts, took, effects),
            (Job::Open, Err(trouble)) => self.not_opened(trouble),
            (Job::Zoo, Ok(ImportReply::Zoo(entries))) => self.zoo_listed(entries, took),
            (Job::Fit, Ok(ImportReply::Fit(report))) => self.fitted(*report, took),
            (Job::Papers, Ok(ImportReply::Papers(papers))) => self.papers_listed(papers, effects),
            (Job::Papers, Ok(ImportReply::Paper(part))) => self.paper_part(*part, took, effects),
            (Job::Exits, Ok(ImportReply::Exits(settings, report))) => {
                self.exits_studied(settings, *report, took);
            }
            (Job::ZooSize, Ok(ImportReply::ZooSize(size))) => self.zoo_sized(Ok(size), effects),
            (Job::ZooSize, Err(trouble)) => self.zoo_sized(Err(trouble), effects),
            (Job::CellChoices, Ok(ImportReply::CellChoices(choices))) => {
                self.cell_choices(choices, effects);
            }
            (Job::Cells, Ok(ImportReply::Cells(facts))) => self.cells_sized(Ok(*facts), effects),
            (Job::Cells, Err(trouble)) => self.cells_sized(Err(trouble), effects),
            (Job::Examine, Ok(ImportReply::Examined(facts))) => self.examined(*facts, took),
            (Job::Graph, Ok(ImportReply::Graph(graph))) => self.graph = Some(Rc::new(*graph)),
            (Job::Input, Ok(ImportReply::Input(facts))) => {
                self.input.reference = Some(Rc::new(facts));
                effects.push(Effect::Keep(Kept::Input));
            }
            (Job::Package, Ok(ImportReply::Packaged(package))) => {
                let names = package.files.iter().map(|file| file.name.clone());
                effects.push(Effect::Keep(Kept::Package(names.collect())));
                self.package = Some(Rc::new(package));
            }
            (
                Job::Schedule | Job::Tiled | Job::Record | Job::Library,
                Ok(ImportReply::Saved(file)),
            ) => {
                self.said = format!("{} is saved", file.name);
                self.took_ms = None;
                effects.push(Effect::Keep(Kept::Saved(file.name)));
            }
            (Job::Reorder, Ok(ImportReply::Reordered(reordered))) => {
                self.said = format!("{} is ready", reordered.file.name);
                self.took_ms = Some(took);
                effects.push(Effect::Keep(Kept::Reordered(reordered.file.name.clone())));
                self.reordered = Some(Rc::new(reordered));
            }
            (Job::Judge, Ok(ImportReply::Judged(result, comparison))) => {
                self.judged(*result, comparison);
            }
            (Job::Stores, Ok(ImportReply::Stores(names))) => self.stores_made(names, effects),
            (Job::Stores | Job::Judge, Err(trouble)) => self.run_failed(trouble),
            (job, Err(trouble)) => self.fail(job.place(), trouble),
            (_, Ok(_)) => {}
        }
    }

    /// What a file still lacks can be given; everything else ends the opening.
    fn not_opened(&mut self, trouble: Diagnostic) {
        match &trouble.needs {
            Some(Need::Dimensions(names)) => self.open_dimensions = Some(Rc::new(names.clone())),
            Some(Need::File(name)) => self.awaited_data = Some(name.clone()),
            None => self.forget_opening(),
        }
        self.fail(Place::Model, trouble);
    }

    /// Nothing is being opened any more: choices are again those of the open model.
    pub(super) fn forget_opening(&mut self) {
        self.opening = None;
        self.open_dimensions = None;
        self.awaited_data = None;
        if let Some(model) = &self.model {
            self.quantising = model.quantising.clone();
        }
    }

    fn opened(&mut self, facts: ModelFacts, took: f64, effects: &mut Vec<Effect>) {
        let Some(origin) = self.opening.take() else { return };
        // A drag may have gone on since.
        let quantising = std::mem::take(&mut self.opening_as);
        // The same network with other scales: what is shown of it stays until the new plan is there.
        let is_same = self.model.as_ref().is_some_and(|model| {
            Self::same_origin(&model.origin, &origin) && model.facts.sha256 == facts.sha256
        });
        self.open_dimensions = None;
        self.said = format!("{} opened: {} operators", facts.name, facts.operators);
        self.took_ms = Some(took);
        self.wanted = None;
        self.model = Some(Rc::new(OpenModel { origin, quantising, facts }));
        effects.push(Effect::Keep(Kept::Model));
        self.keep_model(effects);
        if is_same {
            self.is_plan_of_before = true;
        } else {
            self.is_pruning_passing = false;
            self.begin_simply();
            self.graph = None;
            self.plan = None;
            self.selected = Selection::NONE;
            self.hovered = Selection::NONE;
        }
        self.quantisation =
            Quantisation { sort: self.quantisation.sort, ..Quantisation::default() };
        if self.task(Job::CompareFloat).is_some() {
            effects.push(Effect::EndFloat);
            self.tasks.retain(|task| task.job != Job::CompareFloat);
        }
        self.obstacles = Rc::default();
        self.restart_comparing();
        self.package = None;
        self.reordered = None;
        self.exits = None;
        self.forget_explored(effects);
        self.look_around(effects);
        self.tasks.retain(|task| task.job != Job::Exits);
        let sample = if is_same { self.input.sample } else { None };
        self.input = Input { sample, ..Input::default() };
        self.end_runs(effects);
        for place in [Place::Plan, Place::Run, Place::Desk, Place::Firmware, Place::Quantisation] {
            self.clear(place);
        }
        self.replan(effects);
        if !(self.is_pruning_passing || self.follow_pruning(effects)) {
            self.rest(effects);
        }
    }

    /// Has the graph of the open model laid out, with the tiles of its plan.
    pub(super) fn draw_graph(&mut self, effects: &mut Vec<Effect>) {
        if self.model.is_none() || self.is_opening() {
            return;
        }
        self.clear(Place::Graph);
        let request = self.begin(Job::Graph, "Laying out the graph");
        self.graph_tiles = self.tiles_of_the_plan().cloned();
        effects.push(Effect::DrawGraph(request, self.graph_tiles.clone()));
    }

    /// The tiles that the graph is to be drawn with. A plan of before may have others.
    fn tiles_of_the_plan(&self) -> Option<&TiledRegion> {
        let is_wanted = !(self.is_graph_whole || self.is_plan_of_before);
        let plan = self.plan.as_ref().filter(|_| is_wanted)?;
        plan.tiles.as_ref().map(|tiles| &tiles.region)
    }

    /// Draws the graph anew if the plan has other tiles than it.
    pub(super) fn follow_tiles(&mut self, effects: &mut Vec<Effect>) {
        if self.graph_tiles.as_ref() != self.tiles_of_the_plan() && !self.is_passing() {
            self.draw_graph(effects);
        }
    }

    /// Has the open model written in the tiles of its plan.
    pub(super) fn save_tiled(&mut self, effects: &mut Vec<Effect>) {
        let (Some(model), Some(plan)) = (self.model.clone(), &self.plan) else { return };
        let Some(tiles) = &plan.tiles else { return };
        let grid = tiles.region.grid.clone();
        self.clear(Place::Tiles);
        let request = self.begin(Job::Tiled, "Writing the model in tiles");
        let (origin, quantising) = (model.origin.clone(), model.quantising.clone());
        effects.push(Effect::SaveTiled(request, origin, quantising, grid));
    }

    pub(super) fn not_fetched(&mut self, request: u32, trouble: Diagnostic) {
        let Some(task) = self.tasks.iter().find(|task| task.request == request) else { return };
        let job = task.job;
        if job == Job::Open {
            self.forget_opening();
        }
        self.end(request);
        match job {
            Job::Run => self.run_failed(trouble),
            job => self.fail(job.place(), trouble),
        }
    }
}
