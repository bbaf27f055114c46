//! The plan's program on a board that hangs on this computer.

use std::rc::Rc;

use tilewright_desk::{MeasuredOn, Outcome as Talked};

use super::{Effect, Job, Origin, Outcome, Place, State};
use crate::message::{PlanFacts, ReferenceFacts};
use tilewright_report::Diagnostic;

/// Talks with a board on the desk, and the last answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Desk {
    /// Whether a talk is under way.
    pub is_talking: bool,
    /// What the person is told of the talk.
    pub notes: Vec<String>,
    /// Bytes of what is being sent: how many left the computer, of how many.
    pub sent: Option<(u64, u64)>,
    /// The last answer of this model.
    pub measurement: Option<Rc<Measurement>>,
    /// What the talk under way is about, and the reference's answer to the input.
    subject: Option<(Rc<PlanFacts>, Rc<ReferenceFacts>)>,
}

/// What a board said.
#[derive(Clone, Debug, PartialEq)]
pub struct Heard {
    /// Its answer.
    pub talked: Talked,
    /// The port that it came from.
    pub port: String,
    /// What may be said of where figures come from.
    pub measured_on: MeasuredOn,
}

/// An answer with what it answers.
#[derive(Clone, Debug)]
pub struct Measurement {
    /// The plan that ran.
    pub plan: Rc<PlanFacts>,
    /// The reference's answer to the same input.
    pub reference: Rc<ReferenceFacts>,
    /// What was heard.
    pub heard: Heard,
}

impl Measurement {
    /// Plan id, 64 digits.
    #[must_use]
    pub fn plan_id(&self) -> String {
        self.plan.image.as_ref().map(|image| image.plan_id.clone()).unwrap_or_default()
    }
}

impl PartialEq for Measurement {
    /// Each is told from all others.
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

/// What happens during a talk.
#[derive(Clone, Debug, PartialEq)]
pub enum DeskEvent {
    /// Something to tell the person.
    Told(String),
    /// So many bytes left the computer, of so many.
    Sent(u64, u64),
    /// The board has answered.
    Ended(Box<Heard>),
    /// The person chose no port.
    NoPort,
    /// It came to nothing.
    Failed(Diagnostic),
}

impl State {
    /// Whether everything for a talk is there but, maybe, a board.
    #[must_use]
    pub fn can_measure(&self) -> bool {
        self.has_program()
            && self.settings.now().frames() == 1
            && !self.desk.is_talking
            && self.input.reference.is_some()
    }

    pub(super) fn start_talk(&mut self, effects: &mut Vec<Effect>) {
        let (Some(plan), Some(reference)) = (self.plan.clone(), self.reference().cloned()) else {
            return;
        };
        if !self.can_measure() {
            return;
        }
        self.clear(Place::Desk);
        let request = self.begin(Job::Desk, "Choosing the board's port");
        let Desk { measurement, .. } = std::mem::take(&mut self.desk);
        self.desk = Desk {
            is_talking: true,
            measurement,
            subject: Some((Rc::clone(&plan), reference)),
            ..Desk::default()
        };
        effects.push(Effect::Talk {
            request,
            board: plan.settings.board_id(),
            boards: Rc::clone(&self.boards),
            predicted_us: plan.report.latency_us.map(|figure| *figure),
        });
    }

    pub(super) fn desk_event(&mut self, request: u32, event: DeskEvent) {
        if !self.is_awaited(Job::Desk, request) {
            return;
        }
        match event {
            DeskEvent::Told(note) => {
                self.desk.sent = None;
                if let Some(task) = self.tasks.iter_mut().find(|task| task.request == request) {
                    "Talking with the board on the desk".clone_into(&mut task.text);
                }
                self.desk.notes.push(note);
            }
            DeskEvent::Sent(sent, of) => self.desk.sent = Some((sent, of)),
            DeskEvent::NoPort => {
                self.end(request);
                self.hang_up();
                self.say("No port was chosen");
            }
            DeskEvent::Failed(trouble) => {
                self.end(request);
                self.hang_up();
                self.fail(Place::Desk, trouble);
            }
            DeskEvent::Ended(heard) => {
                self.end(request);
                let subject = self.desk.subject.take();
                self.hang_up();
                let Some((plan, reference)) = subject else { return };
                self.said = format!("The {} has answered", heard.measured_on.words());
                let measurement = Measurement { plan, reference, heard: *heard };
                self.desk.measurement = Some(Rc::new(measurement));
            }
        }
    }

    /// A run of the emulated board of the plan that was measured.
    #[must_use]
    pub fn run_beside(&self, measurement: &Measurement) -> Option<&Rc<Outcome>> {
        let run = self.run.outcome.as_ref()?;
        (run.plan.settings == measurement.plan.settings && run.result.fault.is_none())
            .then_some(run)
    }

    pub(super) fn save_record(&mut self, revision: &str, effects: &mut Vec<Effect>) {
        let (Some(measurement), Some(model)) = (self.desk.measurement.clone(), self.model.clone())
        else {
            return;
        };
        self.clear(Place::Desk);
        let request = self.begin(Job::Record, "Writing the record");
        let is_file = !matches!(model.origin, Origin::Zoo(_));
        effects.push(Effect::SaveRecord {
            request,
            run: self.run_beside(&measurement).cloned(),
            measurement,
            model_sha256: is_file.then(|| model.facts.sha256.clone()),
            revision: Some(revision.trim().to_owned()).filter(|revision| !revision.is_empty()),
        });
    }

    /// Nothing more is heard of the talk.
    pub(super) fn hang_up(&mut self) {
        (self.desk.is_talking, self.desk.sent, self.desk.subject) = (false, None, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::trouble;
    use crate::state::tests::ready;
    use crate::state::{Doer, Event};
    use crate::view_model::fixture::heard;

    fn asked(effects: &[Effect]) -> u32 {
        match effects {
            [Effect::Talk { request, .. }] => *request,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_answer_stays_with_the_plan_and_the_input_that_it_is_for() {
        let mut state = ready();
        let request = asked(&state.update(Event::Measure));
        assert!(!state.can_measure(), "one talk at a time");
        assert!(state.can_run(), "the emulated board is another");
        state.update(Event::Desk(request, DeskEvent::Sent(3, 9)));
        assert_eq!(state.desk.sent, Some((3, 9)));
        let plan = state.plan.clone().unwrap();
        state.update(Event::Desk(request, DeskEvent::Ended(Box::new(heard(&[10, 20, 30])))));
        let measurement = state.desk.measurement.clone().unwrap();
        assert!(Rc::ptr_eq(&measurement.plan, &plan) && state.can_measure());
        assert!(state.tasks.is_empty() && !state.desk.is_talking);
        // The next talk keeps it until it has an answer of its own.
        let request = asked(&state.update(Event::Measure));
        assert_eq!(state.desk.measurement, Some(Rc::clone(&measurement)));
        state.update(Event::Desk(request, DeskEvent::NoPort));
        assert_eq!(state.desk.measurement, Some(measurement));
        assert!(state.trouble(Place::Desk).is_none());
    }

    #[test]
    fn whoever_hangs_up_hears_nothing_more() {
        let mut state = ready();
        let request = asked(&state.update(Event::Measure));
        assert_eq!(state.update(Event::Stop(Doer::Desk)), [Effect::HangUp]);
        state.update(Event::Desk(request, DeskEvent::Ended(Box::new(heard(&[1, 2, 3])))));
        assert!(state.desk.measurement.is_none());
        let request = asked(&state.update(Event::Measure));
        let trouble = trouble("The port went away", "", "Plug the board in again.");
        state.update(Event::Desk(request, DeskEvent::Failed(trouble.clone())));
        assert_eq!(state.trouble(Place::Desk), Some(&trouble));
        assert!(state.can_measure());
    }
}
