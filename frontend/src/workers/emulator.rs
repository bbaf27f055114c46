//! Runs plans on the emulated board: the whole of a job in this worker, on the core of our own.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use tilewright_app::{
    Cancel, Diagnostic, Host, News, PlanFile, Progress, RunOptions, RunResult, StoreStart,
    encoded_layers, run_image,
};
use tilewright_machine::translate::Modules;
use tilewright_machine::{CardImage, Lent};
use tilewright_plan::Space;
use tilewright_protocol::{Collector, Job, Response, RunOutcome};
use tilewright_report::sentence;

use super::Outcome;
use super::plan::ours;
use crate::message::{Recording, RunEvent, RunRequest, RunningOf};

/// Time between two words of progress: each makes the page draw.
const BETWEEN_WORDS: Duration = Duration::from_millis(100);

/// What a run asks of the worker that it is in.
#[derive(Clone)]
pub struct Surroundings {
    /// Time since some moment.
    pub clock: Rc<dyn Fn() -> Duration>,
    /// Takes what happens, but for the end.
    pub tell: Rc<dyn Fn(&RunEvent)>,
    /// What runs the firmware's blocks once they are translated, if anything does.
    pub modules: fn() -> Option<Box<dyn Modules>>,
    /// Functions that it keeps.
    pub translated: fn() -> usize,
}

/// How a run ended: the part of the server's status that is read.
#[derive(Serialize)]
struct Status<'r> {
    result: &'r RunResult,
}

/// Runs a plan image on the emulated board. A fault of the board is a result.
///
/// # Errors
/// As [`run_image`]; if a buffer is missing or is not what its place says.
pub fn run(
    request: &RunRequest,
    buffers: Vec<Box<dyn CardImage>>,
    around: &Surroundings,
) -> Outcome<RunEvent> {
    let mut buffers = buffers.into_iter();
    let mut next = |what| {
        let buffer = buffers.next().map(|buffer| start(&*buffer, usize::MAX));
        buffer.ok_or_else(|| Diagnostic::ours(format!("{what} did not come."), "run"))
    };
    let firmware = Arc::new(next("The firmware")?);
    let (image, input) = (next("The plan image")?, next("The input")?);
    let board = tilewright_board::find(&request.board).map_err(|error| ours("board", &error))?;
    let file = PlanFile::read(&image, &board)?;
    let (mut external_flash, mut card) = (None, None);
    for (name, bytes) in request.stores.iter().zip(buffers) {
        *(if name == "card" { &mut card } else { &mut external_flash }) = Some(bytes);
    }
    let external_flash = external_flash.map(|bytes| start(&*bytes, usize::MAX));
    // The card is read as the board reads it: of its image the start is enough to know it.
    let head = card.as_ref().map(|card| start(&**card, PlanFile::STORE_HEAD));
    let of = card.as_ref().map_or(0, |card| card.count() as u64);
    file.check_stores(
        external_flash.as_deref().map(StoreStart::whole),
        head.as_deref().map(|bytes| StoreStart { bytes, of }),
    )?;
    let file = file.with_stores(external_flash.unwrap_or_default(), head.unwrap_or_default());
    let payload = file.int8_payload("input", &input)?;
    let limits: Vec<u32> = request.limit_us.into_iter().collect();
    let usual = RunOptions::of_frames(file.frames());
    // A sub-network's steps are others than those that the page shows.
    let records = limits.is_empty();
    let options = RunOptions { mode: request.mode, limits: &limits, records, ..usual };
    let (card, cancel) = (RefCell::new(card), Cancel::default());
    let host = EmulatorHost { firmware, around: around.clone(), card, cancel };
    let done = run_image(&options, &board, &file, &payload, true, &host)?;
    let status = serde_json::to_vec(&Status { result: &done.result });
    let status = status.map_err(|error| ours("result", &error))?;
    let layers = encoded_layers(done.layers.as_deref().unwrap_or_default());
    let bytes = u32::try_from(file.image().space_bytes(Space::Arena)).unwrap_or_default();
    let recording = Recording { bytes, borders: done.borders };
    Ok((RunEvent::Ended(recording), vec![status, layers]))
}

/// So many bytes from the start, or all.
fn start(buffer: &dyn CardImage, bytes: usize) -> Vec<u8> {
    let mut start = vec![0; buffer.count().min(bytes)];
    buffer.read(0, &mut start);
    start
}

/// This worker as the application's host, for one run. Whoever wants an end to it ends the worker.
struct EmulatorHost {
    firmware: Arc<Vec<u8>>,
    around: Surroundings,
    /// What the card holds, until the run begins.
    card: RefCell<Option<Box<dyn CardImage>>>,
    cancel: Cancel,
}

impl Host for EmulatorHost {
    /// What a run says goes straight to whoever asked for it.
    fn tell(&self, _: Progress) {}

    fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    fn clock(&self) -> Duration {
        (self.around.clock)()
    }

    fn firmware(&self, _: &str) -> Result<Arc<Vec<u8>>, Diagnostic> {
        Ok(Arc::clone(&self.firmware))
    }

    /// The machine keeps what takes its messages, which so outlives `on_event`.
    fn execute(&self, job: Job, _: &mut dyn FnMut(&Response)) -> Result<RunOutcome, Diagnostic> {
        let collected = Rc::new(RefCell::new((Collector::new(&job), Ok(()))));
        let (taking, mut teller) = (Rc::clone(&collected), Teller::new(self.around.clone()));
        let sink = move |response: Response| {
            teller.hear(&response);
            let (collector, well) = &mut *taking.borrow_mut();
            if well.is_ok() {
                *well = collector.take(response);
            }
        };
        let clock = Rc::clone(&self.around.clock);
        let lent = Lent { modules: (self.around.modules)(), card: self.card.take() };
        let finish = tilewright_machine::run(&job, Box::new(move || clock()), Box::new(sink), lent);
        let finish = finish.map_err(|error| ours("emulator", &error))?;
        let (collector, well) = Rc::into_inner(collected)
            .map(RefCell::into_inner)
            .ok_or_else(|| Diagnostic::ours("The emulator has not let go of a run.", "emulator"))?;
        well.map_err(|error| Diagnostic::ours(sentence(&error), "emulator"))?;
        let (translated, version) = ((self.around.translated)(), env!("CARGO_PKG_VERSION"));
        let engine = format!("own core, {translated} functions translated, page {version}");
        Ok(collector.finish(engine, finish))
    }
}

/// Tells the page what the board does, now and then.
struct Teller {
    around: Surroundings,
    news: News,
    running: RunningOf,
    /// Text of the board's console that was not told yet.
    text: String,
    told: Option<Duration>,
}

impl Teller {
    fn new(around: Surroundings) -> Self {
        let (news, running, text) = (News::default(), RunningOf::default(), String::new());
        Self { around, news, running, text, told: None }
    }

    fn hear(&mut self, response: &Response) {
        match self.news.of(response) {
            Some(Progress::Console(text)) => self.text.push_str(&text),
            Some(Progress::Running { instructions, .. }) => {
                self.running.instructions = instructions;
            }
            Some(Progress::Step(step)) => self.running.layer = Some(step.layer.into()),
            _ => return,
        }
        let now = (self.around.clock)();
        if self.told.is_none_or(|told| now.saturating_sub(told) >= BETWEEN_WORDS) {
            self.told = Some(now);
            self.tell_text();
            (self.around.tell)(&RunEvent::Progress(self.running.clone()));
        }
    }

    fn tell_text(&mut self) {
        if !self.text.is_empty() {
            (self.around.tell)(&RunEvent::Console(std::mem::take(&mut self.text)));
        }
    }
}

impl Drop for Teller {
    fn drop(&mut self) {
        self.tell_text();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_protocol::StepCount;
    use tilewright_report::Mode;

    /// A clock that stands still until it is moved on, and a list of what was told.
    fn around() -> (Surroundings, Rc<RefCell<Duration>>, Rc<RefCell<Vec<RunEvent>>>) {
        let (now, told) = (Rc::<RefCell<Duration>>::default(), Rc::<RefCell<Vec<_>>>::default());
        let (time, list) = (Rc::clone(&now), Rc::clone(&told));
        let clock = Rc::new(move || *time.borrow());
        let tell = Rc::new(move |event: &RunEvent| list.borrow_mut().push(event.clone()));
        (Surroundings { clock, tell, modules: || None, translated: || 0 }, now, told)
    }

    fn step(layer: u16) -> Response {
        Response::Step(StepCount {
            step: 0,
            layer,
            start: 0,
            end: 0,
            instructions: 0,
            cycles: 0,
            code_waits: 0,
            constant_waits: 0,
            waited: 0,
        })
    }

    #[test]
    fn progress_and_text_are_told_now_and_then() {
        let (around, now, told) = around();
        let mut teller = Teller::new(around);
        teller.hear(&step(0));
        teller.hear(&step(1));
        teller.hear(&Response::Console(b"rea".to_vec()));
        teller.hear(&Response::Console(b"dy".to_vec()));
        *now.borrow_mut() = BETWEEN_WORDS;
        teller.hear(&Response::Progress { instructions: 7, step: Some(2) });
        teller.hear(&Response::Console(b"done".to_vec()));
        drop(teller);
        let at = |instructions, layer| {
            RunEvent::Progress(RunningOf { instructions, layer: Some(layer) })
        };
        let text = |text: &str| RunEvent::Console(text.to_owned());
        assert_eq!(*told.borrow(), [at(0, 0), text("ready"), at(7, 1), text("done")]);
    }

    #[test]
    fn what_is_missing_or_wrong_is_said() {
        let (around, _, told) = around();
        let request = RunRequest {
            board: "stm32f746g-disco".to_owned(),
            mode: Mode::Full,
            limit_us: None,
            stores: Vec::new(),
        };
        let said = |buffers: &[&[u8]]| {
            let buffers = buffers.iter().map(|bytes| Box::new(Arc::new(bytes.to_vec())) as _);
            let buffers = buffers.collect();
            run(&request, buffers, &around).unwrap_err().to_string()
        };
        assert!(said(&[]).contains("firmware did not come"));
        assert!(said(&[&[], &[]]).contains("input did not come"));
        let no_image = said(&[&[], b"no plan", &[]]);
        assert!(no_image.contains("plan image"), "{no_image}");
        assert!(told.borrow().is_empty());
    }
}
