//! A talk with a board at a serial port of the browser.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use gloo::timers::callback::Interval;
use js_sys::Uint8Array;
use tilewright_board::Board;
use tilewright_desk::{
    Action, Expected, Patience, Session as Rules, Trouble as DeskTrouble, measured_on,
};
use tilewright_plan::image::{AlignedBytes, Expected as OfImage};
use tilewright_plan::{Micros, PlanImage};
use tilewright_report::sentence;
use wasm_bindgen_futures::spawn_local;
use web_sys::ReadableStreamDefaultReader;
use yew::Callback;

use super::serial::{NoPort, Port, read};
use crate::message::trouble;
use crate::state::{DeskEvent, Heard};
use tilewright_report::Diagnostic;

/// How often time is told to the talk.
const TICK_MS: u32 = 40;
/// How long the greeting may take: a person has to find the reset button.
const GREETING: Duration = Duration::from_secs(60);
/// Bytes that are handed to the browser at once: what was handed over cannot be taken back.
const PIECE: usize = 256;
/// Faults of the line that a talk outlives: each needs a new reader.
const MOST_FAULTS: u32 = 1_000;

/// A plan and its input, for a board.
pub struct Subject<'s> {
    /// Id of the board.
    pub board: &'s str,
    pub boards: &'s [Board],
    /// The plan image.
    pub image: &'s Uint8Array,
    /// The input, int8.
    pub input: &'s Uint8Array,
    /// How long the program is predicted to take.
    pub predicted_us: Option<Micros>,
}

/// A talk that goes on. Dropped, it goes on; see [`Talk::hang_up`].
pub struct Talk {
    is_over: Rc<Cell<bool>>,
    line: Rc<RefCell<Option<Rc<Line>>>>,
}

impl Talk {
    /// Has the person choose a port, and begins; `tell` hears how it goes.
    pub fn start(subject: &Subject<'_>, tell: Callback<DeskEvent>) -> Self {
        let this = Self { is_over: Rc::default(), line: Rc::default() };
        let expected = match expected(subject) {
            Ok(expected) => expected,
            Err(trouble) => {
                tell.emit(DeskEvent::Failed(trouble));
                return this;
            }
        };
        let (is_over, line) = (Rc::clone(&this.is_over), Rc::clone(&this.line));
        spawn_local(async move {
            let port = match Port::choose(expected.baud).await {
                Ok(port) if is_over.get() => return port.close().await,
                Ok(port) => port,
                Err(NoPort::Chosen) => return tell.emit(DeskEvent::NoPort),
                Err(NoPort::Trouble(trouble)) => return tell.emit(DeskEvent::Failed(trouble)),
            };
            let now = Rc::new(Line {
                port,
                tell,
                is_over,
                start_ms: now_ms(),
                rules: RefCell::new(Rules::new(expected)),
                sending: RefCell::default(),
                reader: RefCell::default(),
                ticking: RefCell::default(),
            });
            *line.borrow_mut() = Some(Rc::clone(&now));
            now.tick_often();
            now.listen().await;
        });
        this
    }

    /// Ends it: nothing more is told.
    pub fn hang_up(&self) {
        self.is_over.set(true);
        if let Some(line) = self.line.borrow_mut().take() {
            line.hang_up();
        }
    }
}

fn expected(subject: &Subject<'_>) -> Result<Expected, Diagnostic> {
    let unusable = |error: &dyn std::fmt::Display| {
        trouble(
            "The plan cannot be talked about with a board",
            sentence(&error.to_string()),
            "Plan again; if it stays, report it with the model.",
        )
    };
    let board = subject.boards.iter().find(|board| board.id == subject.board);
    let board = board.ok_or_else(|| unusable(&"its board is not known"))?;
    let bytes = AlignedBytes::copy_of(&subject.image.to_vec());
    let of_image = OfImage { board: &board.id, space_bytes: board.space_bytes() };
    let image = PlanImage::read(bytes.bytes(), &of_image).map_err(|error| unusable(&error))?;
    let predicted = subject.predicted_us.map(|time| Duration::from_secs_f64(time.0.max(0.0) / 1e6));
    let patience = Patience::with_prediction(GREETING, predicted);
    let input = subject.input.to_vec();
    Expected::of(board, subject.boards, &image, &input, None, patience)
        .map_err(|error| unusable(&error))
}

/// Day and time, UTC, as ISO 8601 writes them.
pub fn now_utc() -> String {
    let now = String::from(js_sys::Date::new_0().to_iso_string());
    now.split_once('.').map_or(now.clone(), |(seconds, _)| format!("{seconds}Z"))
}

fn now_ms() -> f64 {
    let clock = web_sys::window().and_then(|window| window.performance());
    clock.map_or(0.0, |clock| clock.now())
}

/// Bytes on their way to the board.
#[derive(Default)]
struct Sending {
    bytes: Vec<u8>,
    sent: usize,
    /// Whether the browser still has a piece.
    is_busy: bool,
}

/// The talk's end of the line.
struct Line {
    port: Port,
    tell: Callback<DeskEvent>,
    is_over: Rc<Cell<bool>>,
    start_ms: f64,
    rules: RefCell<Rules>,
    sending: RefCell<Sending>,
    reader: RefCell<Option<ReadableStreamDefaultReader>>,
    ticking: RefCell<Option<Interval>>,
}

impl Line {
    fn now(&self) -> Duration {
        Duration::from_secs_f64((now_ms() - self.start_ms).max(0.0) / 1e3)
    }

    fn tick_often(self: &Rc<Self>) {
        let this = Rc::downgrade(self);
        let ticking = Interval::new(TICK_MS, move || {
            if let Some(this) = this.upgrade() {
                this.hear(&[]);
            }
        });
        *self.ticking.borrow_mut() = Some(ticking);
    }

    /// Reads until the talk is over.
    async fn listen(self: &Rc<Self>) {
        let (mut faults, mut last) = (0, "it ended".to_owned());
        while !self.is_over.get() {
            let Some(reader) = self.port.reader().filter(|_| faults < MOST_FAULTS) else {
                self.went_away(&last);
                break;
            };
            *self.reader.borrow_mut() = Some(reader.clone());
            loop {
                match read(&reader).await {
                    Ok(Some(bytes)) => self.hear(&bytes),
                    Ok(None) => break,
                    Err(error) => {
                        last = error;
                        break;
                    }
                }
            }
            faults += 1;
            reader.release_lock();
        }
        *self.reader.borrow_mut() = None;
        self.port.close().await;
    }

    fn went_away(&self, error: &str) {
        let (sent, of) = {
            let sending = self.sending.borrow();
            (sending.sent, sending.bytes.len())
        };
        let error = error.trim_end_matches('.').to_owned();
        self.end(DeskEvent::Failed(in_words(&DeskTrouble::WentAway { sent, of, error })));
    }

    fn end(&self, event: DeskEvent) {
        if !self.is_over.replace(true) {
            self.tell.emit(event);
        }
        self.hang_up();
    }

    /// Stops clock and reader; the port is closed once its reader is.
    fn hang_up(&self) {
        self.ticking.borrow_mut().take();
        if let Some(reader) = self.reader.borrow_mut().take() {
            let _ = reader.cancel();
        }
    }

    fn hear(self: &Rc<Self>, bytes: &[u8]) {
        if self.is_over.get() {
            return;
        }
        let actions = self.rules.borrow_mut().hear(bytes, self.now());
        for action in actions {
            match action {
                Action::Send(bytes) => {
                    let mut sending = self.sending.borrow_mut();
                    (sending.bytes, sending.sent) = (bytes, 0);
                }
                Action::Stop => {
                    let mut sending = self.sending.borrow_mut();
                    (sending.bytes, sending.sent) = (Vec::new(), 0);
                }
                Action::Tell(note) => self.tell.emit(DeskEvent::Told(note.to_string())),
                Action::End(Ok(outcome)) => {
                    let kind = &self.port.kind;
                    let measured_on = measured_on(kind, outcome.emulated.is_some(), false);
                    let heard = Heard { talked: *outcome, port: kind.to_string(), measured_on };
                    return self.end(DeskEvent::Ended(Box::new(heard)));
                }
                Action::End(Err(trouble)) => {
                    return self.end(DeskEvent::Failed(in_words(&trouble)));
                }
            }
        }
        self.send();
    }

    /// Hands over the next piece, if there is one and the browser has none.
    fn send(self: &Rc<Self>) {
        let piece = {
            let mut sending = self.sending.borrow_mut();
            let end = sending.bytes.len().min(sending.sent + PIECE);
            if sending.is_busy || sending.sent == end {
                return;
            }
            sending.is_busy = true;
            let piece = sending.bytes[sending.sent..end].to_vec();
            sending.sent = end;
            piece
        };
        let (this, written) = (Rc::clone(self), self.port.write(&piece));
        spawn_local(async move {
            let result = written.await;
            let (sent, of) = {
                let mut sending = this.sending.borrow_mut();
                sending.is_busy = false;
                (sending.sent, sending.bytes.len())
            };
            if this.is_over.get() {
                return;
            }
            if let Err(error) = result {
                return this.went_away(&error);
            }
            if of > 0 {
                this.tell.emit(DeskEvent::Sent(sent as u64, of as u64));
            }
            if of > 0 && sent == of {
                let now = this.now();
                this.rules.borrow_mut().sent(now);
            }
            this.send();
        });
    }
}

fn in_words(why: &DeskTrouble) -> Diagnostic {
    trouble(why.to_string(), String::new(), why.remedy())
}
