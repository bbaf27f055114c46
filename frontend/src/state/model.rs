//! Opening a model.

use std::rc::Rc;

use super::files::FileKind;
use super::{Doer, Effect, Event, Input, Job, Place, Run, Selection, State};
use crate::message::{ImportReply, ModelFacts, Trouble};
use crate::view_model::catalogue::{self, Example};
use crate::view_model::fragment::Fragment;

/// Where a model comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Origin {
    /// It came with the page.
    Example(&'static Example),
    /// The person gave it.
    File(OwnFile),
}

/// A model that the person gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnFile {
    /// Where the bytes wait.
    pub token: u32,
    /// Its name.
    pub name: String,
    /// Files that it keeps weights in: their names, and where they wait.
    pub data: Vec<(String, u32)>,
    /// Samples to calibrate with: where they wait.
    pub calibration: Option<u32>,
    /// What stands for dimensions that the file leaves open.
    pub dims: Vec<(String, u64)>,
    /// Whether it came, just so, from the browser's storage.
    pub is_stored: bool,
}

impl OwnFile {
    /// Where all its bytes wait: its own, those of its weights, its samples.
    pub(crate) fn tokens(&self) -> impl Iterator<Item = u32> {
        let data = self.data.iter().map(|(_, token)| *token);
        std::iter::once(self.token).chain(data).chain(self.calibration)
    }
}

/// A model that was opened.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenModel {
    /// Where it comes from.
    pub origin: Origin,
    /// What is known of it.
    pub facts: ModelFacts,
}

impl State {
    pub(super) fn navigate(&mut self, fragment: Fragment, effects: &mut Vec<Effect>) {
        if fragment == self.fragment() {
            return;
        }
        self.view = fragment.view;
        let mut settings = fragment.settings.clone();
        let now = self.settings.now();
        if settings.board.is_empty() {
            settings.board.clone_from(&now.board);
        }
        if settings.strategy.is_empty() {
            settings.strategy.clone_from(&now.strategy);
        }
        let is_changed = self.settings.set(settings, false);
        match &fragment.model {
            Some(model) if self.fragment().model.as_ref() != Some(model) => {
                match catalogue::find(model) {
                    Some(example) => return self.open_example(example, effects),
                    None => self.want(model.clone(), effects),
                }
            }
            _ => {}
        }
        if is_changed {
            self.replan(effects);
        }
    }

    /// A link names a model that only the person has, or the browser's storage.
    fn want(&mut self, model: String, effects: &mut Vec<Effect>) {
        if self.keep.holds(&model) {
            return self.open_stored(effects);
        }
        if self.model.is_some() {
            let detail = format!("It names {model}.");
            let remedy = "Drop that file; board and settings are as in the link.";
            self.fail(Place::Model, Trouble::new("The link is to another model", detail, remedy));
        }
        self.wanted = Some(model);
    }

    pub(super) fn open_example(&mut self, example: &'static Example, effects: &mut Vec<Effect>) {
        let request = self.begin_opening(Origin::Example(example), example.title, effects);
        effects.push(Effect::OpenExample(request, example));
        self.write_fragment(effects);
    }

    /// Whether a file's bytes may still be needed.
    #[must_use]
    pub fn names_file(&self, token: u32) -> bool {
        let open = self.model.as_ref().map(|model| &model.origin);
        let is_loose = self.data.iter().any(|(_, loose)| *loose == token);
        is_loose
            || open.into_iter().chain(&self.opening).any(|origin| match origin {
                Origin::File(file) => file.tokens().any(|own| own == token),
                Origin::Example(_) => false,
            })
    }

    /// Whether a model is being opened.
    #[must_use]
    pub fn is_opening(&self) -> bool {
        self.task(Job::Open).is_some()
    }

    fn begin_opening(&mut self, origin: Origin, title: &str, effects: &mut Vec<Effect>) -> u32 {
        // A worker that is busy with a model that nobody waits for any more is ended.
        if self.tasks.iter().any(|task| task.job.doer() == Doer::Importer) {
            self.stop(Doer::Importer, effects);
        }
        self.clear(Place::Model);
        self.opening = Some(origin);
        self.open_dimensions = None;
        self.awaited_data = None;
        self.begin(Job::Open, &format!("Opening {title}"))
    }

    fn open_file(&mut self, file: OwnFile, effects: &mut Vec<Effect>) {
        let title = file.name.clone();
        let request = self.begin_opening(Origin::File(file.clone()), &title, effects);
        effects.push(Effect::OpenFile(request, file));
    }

    /// Opens the model that the browser's storage holds.
    pub(super) fn open_stored(&mut self, effects: &mut Vec<Effect>) {
        let Some(stored) = self.keep.stored.clone() else { return };
        let file = OwnFile { name: stored.name.clone(), is_stored: true, ..OwnFile::default() };
        let request = self.begin_opening(Origin::File(file), &stored.name, effects);
        effects.push(Effect::ReadStored(request));
    }

    /// The browser's storage gave the model.
    pub(super) fn stored_read(&mut self, request: u32, file: OwnFile, effects: &mut Vec<Effect>) {
        if self.is_awaited(Job::Open, request) {
            self.opening = Some(Origin::File(file.clone()));
            effects.push(Effect::OpenFile(request, file));
        }
    }

    /// A file: a model, weights of one, samples to calibrate with, or an input.
    pub(super) fn file(&mut self, token: u32, name: String, effects: &mut Vec<Effect>) {
        match FileKind::of(&name) {
            FileKind::Picture => self.input_file(token, name, effects),
            FileKind::Samples => self.calibrate(token, name, effects),
            FileKind::Data => self.data_file(token, name, effects),
            FileKind::Model => {
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
                let mut trouble = Trouble::new(what, detail, "Drop that file.");
                trouble.missing = Some(awaited);
                self.fail(Place::Model, trouble);
            }
            _ => {
                let what = format!("{name} waits for its model");
                let detail = "It can hold weights of a model, which says where in it they are.";
                let remedy = "Drop the .onnx file that it was exported with.";
                self.fail(Place::Model, Trouble::new(what, detail, remedy));
            }
        }
    }

    /// Opens the present file again, with samples.
    fn calibrate(&mut self, samples: u32, name: String, effects: &mut Vec<Effect>) {
        let origin = self.opening.clone().or_else(|| self.model.as_ref().map(|m| m.origin.clone()));
        let Some(Origin::File(file)) = origin else {
            let detail = "Samples say which values flow through a model that is being quantised.";
            let remedy = "Open your own model file first, then drop its samples.";
            let what = format!("{name} has no model to calibrate");
            return self.fail(Place::Model, Trouble::new(what, detail, remedy));
        };
        let calibration = Some(samples);
        self.open_file(OwnFile { calibration, is_stored: false, ..file }, effects);
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
        reply: Result<ImportReply, Trouble>,
        effects: &mut Vec<Effect>,
    ) {
        let Some(job) = self.tasks.iter().find(|t| t.request == request).map(|t| t.job) else {
            return;
        };
        let took = self.end(request).unwrap_or_default();
        match (job, reply) {
            (Job::Open, Ok(ImportReply::Opened(facts))) => self.opened(facts, took, effects),
            (Job::Open, Err(trouble)) => {
                self.awaited_data.clone_from(&trouble.missing);
                if trouble.dimensions.is_empty() {
                    if trouble.missing.is_none() {
                        self.opening = None;
                    }
                } else {
                    self.open_dimensions = Some(Rc::new(trouble.dimensions.clone()));
                }
                self.fail(Place::Model, trouble);
            }
            (Job::Input, Ok(ImportReply::Input(facts))) => {
                self.input.reference = Some(Rc::new(facts));
            }
            (Job::Package, Ok(ImportReply::Packaged(package))) => {
                self.package = Some(Rc::new(package));
            }
            (Job::Reorder, Ok(ImportReply::Reordered(reordered))) => {
                self.said = format!("{} is ready", reordered.file.name);
                self.took_ms = Some(took);
                self.reordered = Some(Rc::new(reordered));
            }
            (Job::Package | Job::Reorder, Err(trouble)) => self.fail(Place::Firmware, trouble),
            (Job::Judge, Ok(ImportReply::Judged(result, comparison))) => {
                self.judged(*result, comparison);
            }
            (Job::Judge, Err(trouble)) => self.run_failed(trouble),
            (_, Err(trouble)) => self.fail(Place::Run, trouble),
            (_, Ok(_)) => {}
        }
    }

    fn opened(&mut self, facts: ModelFacts, took: f64, effects: &mut Vec<Effect>) {
        let Some(origin) = self.opening.take() else { return };
        let first_sample = match origin {
            Origin::Example(example) if !example.samples.is_empty() => Some(0),
            _ => None,
        };
        self.open_dimensions = None;
        self.said = format!("{} opened: {} operators", facts.name, facts.operators);
        self.took_ms = Some(took);
        self.wanted = None;
        self.model = Some(Rc::new(OpenModel { origin, facts }));
        self.keep_model(effects);
        self.plan = None;
        self.obstacles = Rc::default();
        self.restart_comparing();
        self.package = None;
        self.reordered = None;
        self.selected = Selection::NONE;
        self.hovered = Selection::NONE;
        self.input = Input::default();
        if self.run.phase.is_under_way() {
            effects.push(Effect::StopRun);
            self.tasks.retain(|task| task.job != Job::Run);
        }
        self.run = Run::default();
        self.clear(Place::Plan);
        self.clear(Place::Run);
        self.clear(Place::Firmware);
        self.replan(effects);
        if let Some(index) = first_sample {
            self.apply(Event::Sample(index), effects);
        }
    }

    pub(super) fn not_fetched(&mut self, request: u32, trouble: Trouble) {
        let Some(task) = self.tasks.iter().find(|task| task.request == request) else { return };
        let place = match task.job {
            Job::Open => Place::Model,
            Job::Plan | Job::Compare => Place::Plan,
            Job::Package | Job::Reorder => Place::Firmware,
            Job::Input | Job::Run | Job::Judge => Place::Run,
        };
        if task.job == Job::Open {
            self.opening = None;
        }
        self.end(request);
        self.fail(place, trouble);
    }
}
