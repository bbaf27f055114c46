//! One talk with a board: greeting, frames, answer.

mod note;
#[cfg(test)]
mod tests;

use core::time::Duration;

use crate::answer::{Answer, LayerTime, Outcome, Score};
use crate::expected::Expected;
use crate::lines::{Greeting, Line, Lines, PlanLine};
use crate::trouble::Trouble;
pub use note::Note;

/// Silence at the start after which a person is asked to press the reset button.
const REMIND_AFTER: Duration = Duration::from_secs(3);
/// How long noise is listened to before it is called that.
const NOISE_AFTER: Duration = Duration::from_secs(2);
/// Bytes that may be called noise: a cable that is plugged in gives a few.
const LEAST_NOISE: u64 = 64;
/// How often frames are sent again in a talk.
const MOST_AGAIN: u32 = 5;
/// How often a board may begin anew in the middle.
const MOST_RESETS: u32 = 3;
/// How often a frame that nobody answers is sent again.
const MOST_UNANSWERED: u32 = 1;

/// How long the line must be quiet before a frame is sent again: what is left of the one before must not arrive while
/// the board computes, which its cycles would show.
const QUIET: Duration = Duration::from_millis(300);

/// What is to be done at the port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Send these bytes; what is left of earlier ones is dropped.
    Send(Vec<u8>),
    /// Drop what is left of the bytes that are being sent.
    Stop,
    /// Tell the person at the desk.
    Tell(Note),
    /// The talk is over.
    End(Result<Box<Outcome>, Trouble>),
}

/// Where the talk is.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Stage {
    /// No greeting was heard.
    Unknown,
    /// Greeted; the plan is to be said.
    Greeted(Greeting),
    /// It is the board, and holds the plan: it gets ready.
    Known(Greeting),
    /// A frame is under way or being worked on.
    Asked(Greeting),
    /// Over.
    Over,
}

/// A talk. Times count from its start.
#[derive(Clone, Debug)]
pub struct Session {
    expected: Expected,
    lines: Lines,
    stage: Stage,
    now: Duration,
    /// The last sign of life, or of what was sent.
    since: Duration,
    /// When the frame is sent again, if nothing is heard until then.
    sends_at: Option<Duration>,
    is_reminded: bool,
    /// Without a greeting: whether a board of ours talks, and what else was said.
    talks: bool,
    stranger: Option<String>,
    bad_greeting: Option<String>,
    emulated: Option<String>,
    remarks: Vec<String>,
    loaded: Option<u64>,
    /// Frames that the board has taken.
    taken: usize,
    /// Why the frame that was sent must be sent again.
    refused: Option<String>,
    /// A line since the frame was sent that nobody can read.
    garbled: Option<String>,
    answer: Answer,
    again: u32,
    unanswered: u32,
    resets: u32,
    actions: Vec<Action>,
}

impl Session {
    /// A talk that is about to begin.
    #[must_use]
    pub fn new(expected: Expected) -> Self {
        Self {
            expected,
            lines: Lines::default(),
            stage: Stage::Unknown,
            now: Duration::ZERO,
            since: Duration::ZERO,
            sends_at: None,
            is_reminded: false,
            talks: false,
            stranger: None,
            bad_greeting: None,
            emulated: None,
            remarks: Vec::new(),
            loaded: None,
            taken: 0,
            refused: None,
            garbled: None,
            answer: Answer::default(),
            again: 0,
            unanswered: 0,
            resets: 0,
            actions: Vec::new(),
        }
    }

    /// The board wrote these bytes.
    pub fn hear(&mut self, bytes: &[u8], now: Duration) -> Vec<Action> {
        self.now = now;
        if !bytes.is_empty() && !matches!(self.stage, Stage::Unknown) {
            self.since = now;
            self.sends_at = self.sends_at.map(|_| now + QUIET);
        }
        for line in self.lines.take(bytes) {
            if self.stage == Stage::Over {
                break;
            }
            self.line(line);
        }
        self.tick(now)
    }

    /// All bytes that were to be sent are sent.
    pub fn sent(&mut self, now: Duration) {
        self.since = now;
    }

    /// Time passes.
    pub fn tick(&mut self, now: Duration) -> Vec<Action> {
        self.now = now;
        if self.sends_at.is_some_and(|at| at <= now) {
            self.sends_at = None;
            self.send();
        }
        match &self.stage {
            Stage::Unknown => self.wait_for_greeting(now),
            Stage::Greeted(_) | Stage::Known(_) | Stage::Asked(_) => self.wait_for_answer(now),
            Stage::Over => {}
        }
        core::mem::take(&mut self.actions)
    }

    fn tell(&mut self, note: Note) {
        self.actions.push(Action::Tell(note));
    }

    fn fail(&mut self, trouble: Trouble) {
        (self.stage, self.sends_at) = (Stage::Over, None);
        self.actions.extend([Action::Stop, Action::End(Err(trouble))]);
    }

    fn wait_for_greeting(&mut self, now: Duration) {
        let (heard, noise) = (self.lines.heard(), self.lines.noise());
        let is_noise = heard >= LEAST_NOISE && noise * 4 > heard;
        let baud = self.expected.baud;
        if is_noise && now >= NOISE_AFTER {
            return self.fail(Trouble::Noise { bytes: heard, baud });
        }
        let (silent, seconds) =
            (now.saturating_sub(self.since), self.expected.greeting_within.as_secs());
        if silent >= self.expected.greeting_within {
            let trouble = match (self.bad_greeting.take(), self.stranger.take()) {
                (Some(line), _) => Trouble::OtherProtocol { line },
                _ if self.talks => Trouble::NoGreeting { seconds },
                (None, Some(line)) => Trouble::OtherProgram { line },
                (None, None) if heard > 0 => Trouble::Noise { bytes: heard, baud },
                (None, None) => Trouble::Silent { seconds },
            };
            self.fail(trouble);
        } else if silent >= REMIND_AFTER && !self.is_reminded {
            self.is_reminded = true;
            self.tell(Note::PressReset { talks: self.talks });
        }
    }

    fn wait_for_answer(&mut self, now: Duration) {
        let within = self.expected.answer_within;
        if now.saturating_sub(self.since) < within {
            return;
        }
        let is_asked = matches!(self.stage, Stage::Asked(_));
        // A board that lost the frame's beginning waits for it in silence.
        if is_asked && self.expected.frames.len() == 1 && self.unanswered < MOST_UNANSWERED {
            self.unanswered += 1;
            self.since = now;
            return self.send_again("no answer came".to_owned());
        }
        self.fail(Trouble::NoAnswer { seconds: within.as_secs(), asked: is_asked });
    }

    fn line(&mut self, line: Line) {
        match (line, self.stage.clone()) {
            (Line::Emulated(by), _) => self.emulated = Some(by),
            (Line::Greeting(greeting), _) => self.greeted(greeting),
            (Line::Error(error), _) => self.fail(Trouble::Failed { error }),
            (Line::Plan(plan), Stage::Greeted(greeting)) => self.planned(&plan, greeting),
            (Line::Plan(plan), Stage::Known(greeting) | Stage::Asked(greeting)) => {
                // It began anew, and the line lost the greeting.
                self.begins_anew();
                self.planned(&plan, greeting);
            }
            (Line::Other(text), Stage::Unknown) if text.starts_with("tilewright ") => {
                self.tell(Note::Unreadable(text.clone()));
                self.bad_greeting = Some(text);
            }
            (Line::Other(text), Stage::Unknown) => self.stranger = Some(text),
            (_, Stage::Unknown) => self.talks = true,
            (Line::Other(text), Stage::Greeted(_)) => {
                self.tell(Note::Remark(text.clone()));
                self.remarks.push(text);
            }
            (Line::Ready(_), Stage::Greeted(_)) => {
                // The plan's line was lost, and without it nothing is known of the board.
                self.tell(Note::PlanLost);
                self.stage = Stage::Unknown;
                self.talks = true;
            }
            (_, Stage::Greeted(_)) => {}
            (Line::Loaded(cycles), _) => self.loaded = Some(cycles),
            (Line::Ready(_), Stage::Known(_)) if self.resets == 0 => self.send(),
            // What the line held of a frame from before is refused first.
            (Line::Ready(_), Stage::Known(_)) => self.sends_at = Some(self.now + QUIET),
            (Line::Retry(why), Stage::Known(_)) => self.tell(Note::Stranger(why)),
            (Line::Other(text), Stage::Known(_)) => self.tell(Note::Unreadable(text)),
            (line, Stage::Asked(greeting)) => self.answered(line, greeting),
            (_, Stage::Known(_) | Stage::Over) => {}
        }
    }

    fn greeted(&mut self, greeting: Greeting) {
        let (board, image) = (greeting.board.clone(), self.expected.board.clone());
        if board != image && !self.expected.known_boards.contains(&board) {
            // A name that lost bytes.
            let Greeting { firmware_version, abi, .. } = greeting;
            let text = format!("tilewright {firmware_version} abi {abi} board {board}");
            self.tell(Note::Unreadable(text.clone()));
            self.bad_greeting = Some(text);
            self.stage = Stage::Unknown;
            return;
        }
        if board != image {
            return self.fail(Trouble::OtherBoard { board, image });
        }
        if greeting.abi != self.expected.abi {
            let (board, image) = (greeting.abi, self.expected.abi);
            return self.fail(Trouble::Abi { board, image });
        }
        if matches!(self.stage, Stage::Asked(_)) {
            self.begins_anew();
        }
        if self.stage != Stage::Over {
            self.tell(Note::Greeted(greeting.clone()));
            self.remarks.clear();
            self.stage = Stage::Greeted(greeting);
        }
    }

    /// The board was reset in the middle.
    fn begins_anew(&mut self) {
        self.resets += 1;
        if self.resets > MOST_RESETS {
            return self.fail(Trouble::KeepsResetting { times: self.resets });
        }
        self.actions.push(Action::Stop);
        self.tell(Note::Reset);
        self.forget();
    }

    /// Forgets what the board took and answered.
    fn forget(&mut self) {
        (self.taken, self.refused, self.garbled) = (0, None, None);
        self.sends_at = None;
        self.answer = Answer::default();
    }

    fn planned(&mut self, plan: &PlanLine, greeting: Greeting) {
        if self.stage == Stage::Over {
        } else if plan.id == self.expected.plan_id {
            self.stage = Stage::Known(greeting);
        } else {
            let image = self.expected.plan_id.clone();
            self.fail(Trouble::OtherPlan { board: plan.id.clone(), image });
        }
    }

    /// Sends the frame that is due.
    fn send(&mut self) {
        let Some(frame) = self.expected.frames.get(self.taken) else { return };
        let frame = frame.clone();
        if self.taken == 0 {
            let bytes = self.expected.frames.iter().map(|frame| frame.len() as u64).sum();
            self.tell(Note::Sends { parts: self.expected.frames.len(), bytes });
        }
        self.actions.push(Action::Send(frame));
        (self.refused, self.garbled) = (None, None);
        if let Stage::Known(greeting) = &self.stage {
            self.stage = Stage::Asked(greeting.clone());
        }
    }

    fn send_again(&mut self, why: String) {
        if self.sends_at.is_some() {
            // Nothing was sent since.
            return;
        }
        self.again += 1;
        if self.again > MOST_AGAIN {
            return self.fail(Trouble::LosesBytes { times: self.again, last: why });
        }
        self.tell(Note::SendsAgain(why));
        self.sends_at = Some(self.now + QUIET);
    }

    /// A line behind a frame.
    fn answered(&mut self, line: Line, greeting: Greeting) {
        match line {
            Line::Retry(why) => {
                self.actions.push(Action::Stop);
                self.refused = Some(why);
            }
            Line::Ready(_) => self.ready_again(greeting),
            Line::Done => {
                if self.answer.is_whole(&self.expected) {
                    self.end(greeting);
                } else {
                    self.garbled.get_or_insert_with(|| "done".to_owned());
                }
            }
            Line::Again { cycles, why } => {
                self.tell(Note::GivenUp { cycles, why });
                self.answer.given_up_cycles.push(cycles);
            }
            Line::Layer { index, cycles, name } => {
                self.answer.layers.push(LayerTime { index, cycles, name });
            }
            Line::Output { values, .. } => self.answer.outputs.push(values),
            Line::Score { class, value, label } => {
                self.answer.scores.push(Score { class, value, label });
            }
            Line::Program { name } => self.answer.program = Some(name),
            Line::Exit { index } => self.answer.exit = Some(index),
            Line::Invoke(cycles) => self.answer.invoke_cycles = Some(cycles),
            Line::Other(text) => {
                self.tell(Note::Unreadable(text.clone()));
                self.garbled = Some(text);
            }
            Line::Emulated(_)
            | Line::Greeting(_)
            | Line::Plan(_)
            | Line::Loaded(_)
            | Line::Error(_) => {}
        }
    }

    /// The board waits for a frame while one was sent.
    fn ready_again(&mut self, greeting: Greeting) {
        if self.answer.is_whole(&self.expected) {
            // The line that says so was lost.
            return self.end(greeting);
        }
        if let Some(why) = self.refused.take() {
            return self.send_again(why);
        }
        let is_last = self.taken + 1 >= self.expected.frames.len();
        match self.garbled.take() {
            Some(_) | None if is_last => {
                let several = self.expected.frames.len() > 1;
                if self.sends_at.is_none() {
                    self.forget();
                }
                let why = "its answer did not arrive whole";
                if several { self.lose(why) } else { self.send_again(why.to_owned()) }
            }
            // It took rows or refused them: nobody can tell.
            Some(_) => self.lose("an answer to rows of the input cannot be read"),
            None => {
                self.taken += 1;
                self.send();
            }
        }
    }

    fn lose(&mut self, why: &str) {
        self.fail(Trouble::LosesBytes { times: self.again + 1, last: why.to_owned() });
    }

    fn end(&mut self, greeting: Greeting) {
        (self.stage, self.sends_at) = (Stage::Over, None);
        let outcome = Outcome {
            greeting,
            emulated: self.emulated.take(),
            remarks: core::mem::take(&mut self.remarks),
            loaded_cycles: self.loaded,
            answer: core::mem::take(&mut self.answer),
            sent_again: self.again,
            resets: self.resets,
        };
        self.actions.push(Action::End(Ok(Box::new(outcome))));
    }
}
