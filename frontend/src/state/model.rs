//! Opening a model.

use std::rc::Rc;

use super::{Doer, Effect, Event, Input, Job, Place, Run, Selection, State};
use crate::message::{ImportReply, ModelFacts, Trouble};
use crate::view_model::catalogue::{self, Example};
use crate::view_model::figures;
use crate::view_model::fragment::Fragment;

/// Longest file that is opened: what a browser tab can hold twice.
pub const MAX_FILE_BYTES: u64 = 512 << 20;

/// Where a model comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Origin {
    /// It came with the page.
    Example(&'static Example),
    /// The person gave it.
    File {
        /// Where the bytes wait.
        token: u32,
        /// Its name.
        name: String,
        /// Samples to calibrate with: where they wait.
        calibration: Option<u32>,
    },
}

/// A model that was opened.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenModel {
    /// Where it comes from.
    pub origin: Origin,
    /// What is known of it.
    pub facts: ModelFacts,
}

/// What is said of a file that is too large.
#[must_use]
pub fn too_large(bytes: u64) -> String {
    let (size, most) = (figures::binary(bytes), figures::binary(MAX_FILE_BYTES));
    format!(
        "It has {size}; a page can open at most {most}. Larger networks can be planned with the \
         command line."
    )
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
                    None => self.want(model.clone()),
                }
            }
            _ => {}
        }
        if is_changed {
            self.replan(effects);
        }
    }

    /// A link names a model that only the person has.
    fn want(&mut self, model: String) {
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
        self.begin(Job::Open, &format!("Opening {title}"))
    }

    /// A file: a model, samples to calibrate with, or an input.
    pub(super) fn file(&mut self, token: u32, name: String, bytes: u64, effects: &mut Vec<Effect>) {
        let ending = name.rsplit_once('.').map(|(_, e)| e.to_ascii_lowercase()).unwrap_or_default();
        if bytes > MAX_FILE_BYTES {
            let what = format!("{name} is too large to open here");
            let remedy = "Check that this is the file you meant.";
            let detail = too_large(bytes);
            return self.fail(Place::Model, Trouble::new(what, detail, remedy));
        }
        if self.is_opening() && ending == "png" {
            let what = format!("{name} was not taken: a model is being opened");
            let detail = "A picture is an input: it needs a model that takes it.";
            return self
                .fail(Place::Model, Trouble::new(what, detail, "Drop it again afterwards."));
        }
        match ending.as_str() {
            "png" => self.choose_file(token, name, effects),
            "npy" => self.calibrate(token, name, effects),
            _ => {
                let title = name.clone();
                let origin = Origin::File { token, name: name.clone(), calibration: None };
                let request = self.begin_opening(origin, &title, effects);
                let (calibration, dims) = (None, Vec::new());
                effects.push(Effect::OpenFile { request, token, name, calibration, dims });
            }
        }
    }

    /// Opens the present file again, with samples.
    fn calibrate(&mut self, samples: u32, name: String, effects: &mut Vec<Effect>) {
        let origin = self.opening.clone().or_else(|| self.model.as_ref().map(|m| m.origin.clone()));
        let Some(Origin::File { token, name, .. }) = origin else {
            let detail = "Samples say which values flow through a model that is being quantised.";
            let remedy = "Open your own model file first, then drop its samples.";
            let what = format!("{name} has no model to calibrate");
            return self.fail(Place::Model, Trouble::new(what, detail, remedy));
        };
        let calibration = Some(samples);
        let origin = Origin::File { token, name: name.clone(), calibration };
        let request = self.begin_opening(origin, &name, effects);
        effects.push(Effect::OpenFile { request, token, name, calibration, dims: Vec::new() });
    }

    pub(super) fn dimensions(&mut self, dims: Vec<(String, u64)>, effects: &mut Vec<Effect>) {
        let Some(Origin::File { token, name, calibration }) = self.opening.clone() else { return };
        let origin = Origin::File { token, name: name.clone(), calibration };
        let request = self.begin_opening(origin, &name, effects);
        effects.push(Effect::OpenFile { request, token, name, calibration, dims });
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
                if trouble.dimensions.is_empty() {
                    self.opening = None;
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
            (Job::Package, Err(trouble)) => self.fail(Place::Firmware, trouble),
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
        self.plan = None;
        self.package = None;
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
            Job::Plan => Place::Plan,
            Job::Package => Place::Firmware,
            Job::Input | Job::Run | Job::Judge => Place::Run,
        };
        if task.job == Job::Open {
            self.opening = None;
        }
        self.end(request);
        self.fail(place, trouble);
    }
}
