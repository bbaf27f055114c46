//! Choosing an input, running, comparing.

use std::rc::Rc;

use serde::{Deserialize, Serialize};
use tilewright_report::{Counts, Fault, LayerCount, Timeline};

use super::{Doer, Effect, Event, Origin, Place, State};
use crate::message::{
    Comparison, ImportReply, Piece, PlanFacts, ReferenceFacts, Trouble,
};

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
    },
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
    /// Request that prepares it.
    request: Option<u32>,
}

/// How far a run is.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Phase {
    /// None was asked for.
    #[default]
    Idle,
    /// The plan is on its way to the server, or waits there.
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
        matches!(self, Self::Starting | Self::Running(_) | Self::Comparing)
    }
}

/// How far the board is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunningOf {
    /// Executed instructions so far.
    pub instructions: u64,
    /// Layer that it is at.
    pub layer: Option<usize>,
}

/// The run and the last outcome.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// How far it is.
    pub phase: Phase,
    /// What the board wrote so far.
    pub console: String,
    /// The last outcome of this model.
    pub outcome: Option<Rc<Outcome>>,
    /// Request of the run under way.
    request: Option<u32>,
    /// Request of the comparison under way.
    comparing: Option<u32>,
    /// What runs, and the reference's answer to its input.
    subject: Option<(Rc<PlanFacts>, Rc<ReferenceFacts>)>,
    /// What the run under way has given, until it is compared.
    pending: Option<Outcome>,
}

/// What a run gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The plan that ran.
    pub plan: Rc<PlanFacts>,
    /// The reference's answer to the same input.
    pub reference: Rc<ReferenceFacts>,
    /// What the board did.
    pub result: RunResult,
    /// How its layers compare; nothing if they could not be compared.
    pub comparison: Option<Comparison>,
}

/// What the server says of a run that ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// What went wrong, if something did.
    pub fault: Option<Fault>,
    /// Executed instructions of the invoke (counted).
    pub instructions: u64,
    /// Cycles of the invoke (modelled).
    pub cycles: u64,
    /// Time of the invoke (modelled), in microseconds.
    pub latency_us: f64,
    /// By what they were for.
    pub counts: Counts,
    /// Outputs as the board gave them.
    pub outputs: Vec<Vec<i8>>,
    /// Layers.
    pub layers: Vec<LayerCount>,
    /// Register accesses that no device model answered: address and count.
    pub unknown_registers: Vec<(u32, u64)>,
    /// What happened when.
    pub timeline: Option<Timeline>,
}

/// What happens during a run.
#[derive(Clone, Debug, PartialEq)]
pub enum RunEvent {
    /// It waits behind this many others.
    Queued(u32),
    /// It has come further.
    Progress(RunningOf),
    /// The board wrote this.
    Console(String),
    /// It has ended. The watched bytes wait as buffers, one for each piece.
    Finished(Box<RunResult>, Vec<Piece>),
    /// It came to no result.
    Failed(Trouble),
}

impl State {
    pub(super) fn choose_sample(&mut self, index: usize, effects: &mut Vec<Effect>) {
        let Some(Origin::Example(example)) = self.model.as_ref().map(|model| &model.origin) else {
            return;
        };
        let Some(sample) = example.samples.get(index) else { return };
        // The importer holds the reference of one input: that of the run, until it is compared.
        if self.run.phase.is_under_way() {
            return;
        }
        let request = self.begin_input();
        self.input.sample = Some(index);
        self.input.file = None;
        effects.push(Effect::PrepareSample(request, sample.file));
    }

    pub(super) fn choose_file(&mut self, token: u32, name: String, effects: &mut Vec<Effect>) {
        if self.model.is_none() {
            let what = format!("{name} has no model to go to");
            let detail = "A picture is an input: it needs a model that takes it.";
            let remedy = "Open a model first, then drop the picture.";
            return self.fail(Place::Model, Trouble::new(what, detail, remedy));
        }
        if self.run.phase.is_under_way() {
            let what = format!("{name} was not taken: a run is under way");
            let detail = "The run is compared with the reference of its own input.";
            return self.fail(Place::Run, Trouble::new(what, detail, "Drop it again afterwards."));
        }
        let request = self.begin_input();
        self.input.sample = None;
        self.input.file = Some(name.clone());
        effects.push(Effect::PrepareFile { request, token, name });
    }

    fn begin_input(&mut self) -> u32 {
        self.clear(Place::Run);
        let request = self.begin(Doer::Importer, "Running the reference");
        self.input.reference = None;
        self.input.request = Some(request);
        request
    }

    /// The event that an importer's reply means for input or comparison; nothing if it belongs to
    /// neither.
    pub(super) fn run_reply(
        &mut self,
        request: u32,
        reply: &Result<ImportReply, Trouble>,
    ) -> Option<Event> {
        if self.input.request == Some(request) {
            self.input.request = None;
            self.end(request)?;
            match reply {
                Ok(ImportReply::Input(facts)) => {
                    self.input.reference = Some(Rc::new(facts.clone()));
                }
                Ok(_) => {}
                Err(trouble) => self.fail(Place::Run, trouble.clone()),
            }
            return Some(Event::Tick);
        }
        if self.run.comparing == Some(request) {
            self.run.comparing = None;
            self.end(request);
            let comparison = match reply {
                Ok(ImportReply::Compared(comparison)) => Some(comparison.clone()),
                Ok(_) => None,
                Err(trouble) => {
                    self.fail(Place::Run, trouble.clone());
                    None
                }
            };
            self.finish_run(comparison);
            return Some(Event::Tick);
        }
        None
    }

    /// Whether everything for a run is there.
    #[must_use]
    pub fn can_run(&self) -> bool {
        matches!(self.server, Server::Present { .. })
            && !self.run.phase.is_under_way()
            && !self.is_plan_stale()
            && self.plan.as_ref().is_some_and(|plan| plan.image.is_some())
            && self.input.reference.is_some()
    }

    pub(super) fn start_run(&mut self, effects: &mut Vec<Effect>) {
        if !self.can_run() {
            return;
        }
        let (Some(plan), Some(reference)) = (self.plan.clone(), self.reference().cloned()) else {
            return;
        };
        let board = plan.settings.board.clone();
        self.run.subject = Some((plan, reference));
        self.clear(Place::Run);
        let request = self.begin(Doer::Emulator, "Starting the emulated board");
        self.run.request = Some(request);
        self.run.phase = Phase::Starting;
        self.run.console = String::new();
        self.run.pending = None;
        effects.push(Effect::StartRun(request, board));
    }

    pub(super) fn run_event(&mut self, request: u32, event: RunEvent, effects: &mut Vec<Effect>) {
        if self.run.request != Some(request) || !self.run.phase.is_under_way() {
            return;
        }
        let say = |state: &mut Self, text: String| {
            state.apply(Event::Progress(request, text), &mut Vec::new());
        };
        match event {
            RunEvent::Queued(others) => say(self, format!("Waiting behind {others} other runs")),
            RunEvent::Progress(progress) => {
                say(self, "Running on the emulated board".to_owned());
                self.run.phase = Phase::Running(progress);
            }
            RunEvent::Console(text) => self.run.console.push_str(&text),
            RunEvent::Failed(trouble) => {
                self.end(request);
                self.run.phase = Phase::Failed;
                self.fail(Place::Run, trouble);
            }
            RunEvent::Finished(result, pieces) => {
                let took = self.end(request);
                self.took_ms = took.or(self.took_ms);
                let Some((plan, reference)) = self.run.subject.take() else { return };
                let is_faulty = result.fault.is_some();
                self.run.pending =
                    Some(Outcome { plan, reference, result: *result, comparison: None });
                if is_faulty || pieces.is_empty() {
                    return self.finish_run(None);
                }
                self.run.phase = Phase::Comparing;
                let request = self.begin(Doer::Importer, "Comparing with the reference");
                self.run.comparing = Some(request);
                effects.push(Effect::Compare(request, pieces));
            }
        }
    }

    fn finish_run(&mut self, comparison: Option<Comparison>) {
        let Some(mut outcome) = self.run.pending.take() else { return };
        outcome.comparison = comparison;
        self.run.phase =
            if outcome.result.fault.is_some() { Phase::Failed } else { Phase::Finished };
        self.said = match (&outcome.result.fault, &outcome.comparison) {
            (Some(fault), _) => format!("The run failed: {}", fault.message),
            (None, Some(comparison)) if comparison.difference.is_none() => {
                "The run ended: every layer is bit-equal to the reference".to_owned()
            }
            (None, Some(_)) => "The run ended: it differs from the reference".to_owned(),
            (None, None) => "The run ended".to_owned(),
        };
        self.run.outcome = Some(Rc::new(outcome));
    }
}
