//! Choosing an input, running, comparing.

use std::rc::Rc;

use super::{Doer, Effect, Event, Job, Kept, Origin, Place, State};
use crate::message::{
    Comparison, PlanFacts, Recording, ReferenceFacts, RunEvent, RunRequest, RunResult, RunningOf,
    trouble,
};
use tilewright_report::{Diagnostic, Mode};

/// What the page knows of a server that runs plans.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Server {
    /// It has not answered yet.
    #[default]
    Unknown,
    /// There is none: the page lies on a plain host.
    Absent,
    /// It answers.
    Present {
        /// What emulates: name and version; empty if it did not say.
        engine: String,
        /// What keeps it from running; mostly nothing.
        missing: Option<Diagnostic>,
        /// How long and how many results it keeps; empty if it did not say.
        kept: String,
    },
}

/// Where plans run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunsOn {
    /// In a worker of this page.
    Page,
    /// On the server.
    Server,
}

/// The input, and the reference's answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Input {
    /// The chosen sample of the example.
    pub sample: Option<usize>,
    /// Name of the chosen file.
    pub file: Option<String>,
    /// The reference's answer, once it is there.
    pub reference: Option<Rc<ReferenceFacts>>,
}

/// How far a run is.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Phase {
    /// None was asked for.
    #[default]
    Idle,
    /// The store images that the plan needs are made.
    MakingStores,
    /// The plan is on its way to what emulates, or waits there.
    Starting,
    /// The board runs.
    Running(RunningOf),
    /// The layers are being compared with the reference.
    Comparing,
    /// It has ended.
    Finished,
    /// The person stopped it.
    Cancelled,
    /// It came to no result.
    Failed,
}

impl Phase {
    /// Whether something is under way.
    #[must_use]
    pub const fn is_under_way(&self) -> bool {
        self.doer().is_some()
    }

    /// Who does it, if something is under way.
    #[must_use]
    pub const fn doer(&self) -> Option<Doer> {
        match self {
            Self::MakingStores | Self::Comparing => Some(Doer::Importer),
            Self::Starting | Self::Running(_) => Some(Doer::Emulator),
            Self::Idle | Self::Finished | Self::Cancelled | Self::Failed => None,
        }
    }
}

/// The run and the last outcome.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// How far it is.
    pub phase: Phase,
    /// Where the person wants plans to run, if that was said.
    pub wish: Option<RunsOn>,
    /// Whether of compute steps that run alike only the first is executed.
    pub is_sampled: bool,
    /// The name of the sub-network that runs; nothing: the whole network does.
    pub subnetwork: Option<String>,
    /// What the board wrote so far.
    pub console: String,
    /// What its server said of it last: that its result was there, or that its worker was lost.
    pub note: Option<String>,
    /// The last outcome of this model.
    pub outcome: Option<Rc<Outcome>>,
    /// What SRAM held during it.
    recording: Rc<Recording>,
    /// What runs, and the reference's answer to its input.
    subject: Option<(Rc<PlanFacts>, Rc<ReferenceFacts>)>,
}

impl Run {
    /// What stays when another model is opened.
    pub(super) fn of_another_model(&self) -> Self {
        Self { wish: self.wish, ..Self::default() }
    }

    /// The person stopped it: whatever it still says is dropped.
    pub(super) fn cancel(&mut self) {
        self.phase = Phase::Cancelled;
        self.subject = None;
    }
}

/// What a run gave.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The plan that ran.
    pub plan: Rc<PlanFacts>,
    /// The reference's answer to the same input.
    pub reference: Rc<ReferenceFacts>,
    /// What the board did.
    pub result: RunResult,
    /// How its layers compare; nothing if they could not be compared.
    pub comparison: Option<Comparison>,
    /// What SRAM held.
    pub recording: Rc<Recording>,
}

impl PartialEq for Outcome {
    /// What is the same value is not looked through: that is asked for each drawing, and timelines
    /// can be long.
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
            || (&self.plan, &self.reference) == (&other.plan, &other.reference)
                && (&self.result, &self.comparison) == (&other.result, &other.comparison)
    }
}

impl State {
    pub(super) fn choose_sample(&mut self, index: usize, effects: &mut Vec<Effect>) {
        let Some(Origin::Example(example)) = self.model.as_ref().map(|model| &model.origin) else {
            return;
        };
        let Some(sample) = example.samples.get(index) else { return };
        if self.run.phase.is_under_way() || self.is_opening() {
            return;
        }
        let request = self.begin_input();
        self.input.sample = Some(index);
        self.input.file = None;
        effects.push(Effect::PrepareSample(request, sample.file));
    }

    /// An input is made up: for models whose inputs nobody has.
    pub(super) fn random_input(&mut self, effects: &mut Vec<Effect>) {
        if self.model.is_none() || self.run.phase.is_under_way() || self.is_opening() {
            return;
        }
        let request = self.begin_input();
        self.input.sample = None;
        self.input.file = Some("made up".to_owned());
        effects.push(Effect::PrepareRandom(request));
    }

    pub(super) fn input_file(&mut self, token: u32, name: String, effects: &mut Vec<Effect>) {
        let detail = "It is an input: it needs a model that takes it.";
        if self.is_opening() {
            let what = format!("{name} was not taken: a model is being opened");
            let trouble = trouble(what, detail, "Give it again afterwards.");
            return self.fail(Place::Model, trouble);
        }
        if self.model.is_none() {
            let what = format!("{name} has no model to go to");
            let remedy = "Open a model first, then give its input.";
            return self.fail(Place::Model, trouble(what, detail, remedy));
        }
        if self.run.phase.is_under_way() {
            let what = format!("{name} was not taken: a run is under way");
            let detail = "The run is compared with the reference of its own input.";
            return self.fail(Place::Run, trouble(what, detail, "Drop it again afterwards."));
        }
        let request = self.begin_input();
        self.input.sample = None;
        self.input.file = Some(name.clone());
        effects.push(Effect::PrepareFile { request, token, name });
    }

    fn begin_input(&mut self) -> u32 {
        self.clear(Place::Run);
        let request = self.begin(Job::Input, "Running the reference");
        self.input.reference = None;
        request
    }

    /// Where the next run is: where the person wants it, else on the server. What the server cannot
    /// do the page does.
    #[must_use]
    pub fn runs_on(&self) -> RunsOn {
        match (&self.server, self.run.wish) {
            (Server::Present { missing: None, .. }, None | Some(RunsOn::Server)) => RunsOn::Server,
            _ => RunsOn::Page,
        }
    }

    pub(super) fn wish_to_run_on(&mut self, wish: RunsOn) {
        if self.run.phase.is_under_way() {
            return;
        }
        self.run.wish = Some(wish);
        let where_to = match self.runs_on() {
            RunsOn::Page => "in this page",
            RunsOn::Server => "on the server",
        };
        self.say(&format!("Plans run {where_to}"));
    }

    /// Whether everything for a run is there.
    #[must_use]
    pub fn can_run(&self) -> bool {
        !self.run.phase.is_under_way() && self.has_program() && self.input.reference.is_some()
    }

    /// Whether nothing but an input is missing, and none is being prepared.
    #[must_use]
    pub fn needs_input(&self) -> bool {
        self.has_program()
            && !self.run.phase.is_under_way()
            && self.input.reference.is_none()
            && self.task(Job::Input).is_none()
    }

    /// Whether the plan is of the present settings and has an image.
    #[must_use]
    pub fn has_program(&self) -> bool {
        !self.is_plan_stale() && self.plan.as_ref().is_some_and(|plan| plan.image.is_some())
    }

    pub(super) fn start_run(&mut self, effects: &mut Vec<Effect>) {
        if !self.can_run() {
            return;
        }
        let (Some(plan), Some(reference)) = (self.plan.clone(), self.reference().cloned()) else {
            return;
        };
        let (settings, is_alone) = (plan.settings.clone(), plan.runs_alone());
        self.run.subject = Some((plan, reference));
        self.clear(Place::Run);
        self.run.console = String::new();
        self.run.note = None;
        effects.push(Effect::HoldRun);
        if is_alone {
            return self.send_run(Vec::new(), effects);
        }
        let request = self.begin(Job::Stores, "Making the store images");
        self.run.phase = Phase::MakingStores;
        effects.push(Effect::MakeStores(request, settings));
    }

    /// The store images are there.
    pub(super) fn stores_made(&mut self, names: Vec<String>, effects: &mut Vec<Effect>) {
        effects.push(Effect::Keep(Kept::Stores));
        self.send_run(names, effects);
    }

    fn send_run(&mut self, stores: Vec<String>, effects: &mut Vec<Effect>) {
        let Some((plan, _)) = &self.run.subject else { return };
        let board = plan.settings.board_id();
        // A plan without this sub-network runs whole.
        let own = plan
            .report
            .exits
            .iter()
            .find(|exit| Some(&exit.output) == self.run.subnetwork.as_ref());
        let limit_us = own.and_then(|exit| exit.latency_us).map(|latency| latency.0.ceil() as u32);
        let request = self.begin(Job::Run, "Starting the emulated board");
        self.run.phase = Phase::Starting;
        let mode = if self.run.is_sampled { Mode::Sampled } else { Mode::Full };
        let body = RunRequest { board, mode, limit_us, stores };
        effects.push(Effect::StartRun(request, self.runs_on(), body));
    }

    pub(super) fn run_event(&mut self, request: u32, event: RunEvent, effects: &mut Vec<Effect>) {
        if !self.is_awaited(Job::Run, request) {
            return;
        }
        let say = |state: &mut Self, text: String| {
            state.apply(Event::Progress(request, text), &mut Vec::new());
        };
        match event {
            RunEvent::Queued(position) => {
                say(self, format!("Waiting for the emulator, position {position}"));
            }
            RunEvent::Progress(progress) => {
                say(self, "Running on the emulated board".to_owned());
                self.run.phase = Phase::Running(progress);
            }
            RunEvent::Note(text) => self.run.note = Some(text),
            RunEvent::Console(text) => self.run.console.push_str(&text),
            RunEvent::Failed(trouble) => {
                self.end(request);
                self.run_failed(trouble);
            }
            RunEvent::Ended(recording) => {
                self.run.recording = Rc::new(recording);
                self.took_ms = self.end(request).or(self.took_ms);
                let Some((plan, _)) = &self.run.subject else { return };
                let settings = plan.settings.clone();
                self.run.phase = Phase::Comparing;
                let request = self.begin(Job::Judge, "Comparing with the reference");
                effects.push(Effect::Judge(request, settings));
            }
        }
    }

    pub(super) fn run_failed(&mut self, trouble: Diagnostic) {
        self.run.phase = Phase::Failed;
        self.run.subject = None;
        self.fail(Place::Run, trouble);
    }

    pub(super) fn judged(&mut self, result: RunResult, comparison: Option<Comparison>) {
        let Some((plan, reference)) = self.run.subject.take() else { return };
        self.run.phase = if result.fault.is_some() { Phase::Failed } else { Phase::Finished };
        self.took_ms = None;
        self.said = match (&result.fault, &comparison) {
            (Some(fault), _) => format!("The run failed: {}", fault.message),
            (None, Some(comparison)) if comparison.difference.is_none() => {
                "The run ended: bit-equal to the reference".to_owned()
            }
            (None, Some(_)) => "The run ended: it differs from the reference".to_owned(),
            (None, None) if result.mode == Mode::Sampled => {
                "The sampled run ended: counts and times, no outputs".to_owned()
            }
            (None, None) => "The run ended".to_owned(),
        };
        self.run.console.clone_from(&result.console);
        let recording = std::mem::take(&mut self.run.recording);
        self.run.outcome =
            Some(Rc::new(Outcome { plan, reference, result, comparison, recording }));
    }
}
