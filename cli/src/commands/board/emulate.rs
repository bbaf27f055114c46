//! `tilewright board emulate`.

use std::io::{self, BufRead, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread;
use std::time::Duration;
use tilewright_app::{Blame, Cancel, Diagnostic};
use tilewright_runner::{Dist, Execute, WorkerLimits, Workers};
use tilewright_runner::{Runner, RunnerError};

use tilewright_image::ImageForm;
use tilewright_plan::Space;
use tilewright_protocol::{CardJob, Finish, Job, Limits, Response};

use crate::args::board::Emulate;
use crate::desk::image::Image;
use crate::desk::pseudo::{Heard, Pseudo};
use crate::text::obeyed;
use crate::{Said, interrupt};

/// How often cancelling is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// Serves the emulated board at a pseudo-terminal.
pub fn emulate(options: &Emulate) -> Result<Said, Diagnostic> {
    let cancel = interrupt::cancelled_by_ctrl_c()?;
    let image = Image::read(&options.image, options.board.as_deref())?;
    let job = job(&image)?;
    let dist = Dist::find()?;
    Workers::new(&dist).ready()?;
    let runner = Runner::find().or_else(|_| dist.worker().map(Runner::new))?;
    let pseudo = Pseudo::open().map_err(|error| {
        Diagnostic::ours(format!("There is no pseudo-terminal: {error}."), "pseudo-terminal")
    })?;
    say(&format!(
        "{} stands at {}\nIt starts when a program opens this port. Enter is its reset button, Ctrl-C ends it.",
        image.board.name,
        pseudo.path().display()
    ));
    let stand = Stand { image: &image, job: &job, runner: &runner, pseudo: &pseudo, cancel };
    stand.serve(&buttons())?;
    Ok(Said::well(String::new()))
}

/// Says a line at once: whoever started this waits for it.
fn say(text: &str) {
    let mut to = anstream::stdout().lock();
    // Nobody need read it.
    let _ = writeln!(to, "{}", obeyed(text)).and_then(|()| to.flush());
}

fn job(image: &Image) -> Result<Job, Diagnostic> {
    let wrong = |error: &str, what_to_do: &str| {
        Diagnostic::new(Blame::BadInput, error, image.path.display().to_string(), what_to_do)
    };
    if image.form != ImageForm::Elf {
        return Err(wrong(
            "The emulator runs ELF files.",
            "Give the .elf file that `tilewright image` wrote beside this one.",
        ));
    }
    let (external_flash, card) = (image.store("flash")?, image.store("card")?);
    let plan = image.plan.image();
    let lacks = |space, store: &[u8]| plan.space_bytes(space) > 0 && store.is_empty();
    if lacks(Space::ExternalFlash, &external_flash) || lacks(Space::Card, &card) {
        return Err(wrong(
            "Its weights lie in external flash or on a card, and the .flash or .card file is not beside it.",
            "Make the image again with `tilewright image`, which writes both.",
        ));
    }
    let slot = image.board.slot.as_ref().filter(|_| !card.is_empty());
    let class = slot.and_then(|slot| tilewright_board::find_card(&slot.card).ok());
    Ok(Job {
        external_flash,
        card: class.map(|class| CardJob {
            class: class.id,
            image: card.into(),
            bytes: class.bytes.0,
            faults: Vec::new(),
        }),
        strict: false,
        ..Job::new(
            image.board.id.clone(),
            image.bytes.clone(),
            Limits { instructions: u64::MAX, console_bytes: u64::MAX },
        )
    })
}

/// Whoever presses Enter.
fn buttons() -> Receiver<()> {
    let (pressed, buttons) = channel();
    thread::spawn(move || {
        for line in io::stdin().lock().lines() {
            if line.is_err() || pressed.send(()).is_err() {
                return;
            }
        }
    });
    buttons
}

/// The board's place on the desk.
struct Stand<'s> {
    image: &'s Image,
    job: &'s Job,
    runner: &'s Runner,
    pseudo: &'s Pseudo,
    cancel: Cancel,
}

/// Why a board that ran does no longer.
enum Ended {
    /// Its reset button was pressed.
    Reset,
    /// The program at its port has left.
    Left,
    /// Ctrl-C.
    Cancelled,
}

impl Stand<'_> {
    fn serve(&self, buttons: &Receiver<()>) -> Result<(), Diagnostic> {
        while !self.cancel.is_cancelled() {
            if !self.pseudo.is_open() {
                thread::sleep(LOOK);
                // Nobody is there who would see a reset.
                while buttons.try_recv().is_ok() {}
                continue;
            }
            // It forgets its settings when the last program leaves.
            self.pseudo.make_raw().map_err(|error| self.failed(&error))?;
            while matches!(self.run(buttons)?, Ended::Reset) {
                say("reset");
            }
        }
        Ok(())
    }

    fn failed(&self, error: &io::Error) -> Diagnostic {
        Diagnostic::ours(format!("{error}."), self.pseudo.path().display().to_string())
    }

    /// The board, from reset until it is reset again or nobody listens any more.
    fn run(&self, buttons: &Receiver<()>) -> Result<Ended, Diagnostic> {
        let (host, bytes) = channel();
        let off = AtomicBool::new(false);
        // Said before the greeting and before each answer: a program that has just opened the port may lose the first.
        let is_due = AtomicBool::new(true);
        thread::scope(|scope| {
            let board = scope.spawn(|| self.board(bytes, &is_due, &off));
            let mut host = Some(host);
            let mut is_told = false;
            let ended = loop {
                if board.is_finished() && !is_told {
                    is_told = true;
                    host = None;
                }
                if self.cancel.is_cancelled() {
                    break Ended::Cancelled;
                }
                match buttons.try_recv() {
                    Ok(()) => break Ended::Reset,
                    Err(TryRecvError::Empty | TryRecvError::Disconnected) => {}
                }
                match self.pseudo.read(LOOK) {
                    Heard::Bytes(bytes) => {
                        is_due.store(true, Ordering::Relaxed);
                        // A board that has ended hears nothing.
                        let _ = host.as_ref().map(|host| host.send(bytes));
                    }
                    Heard::Nothing => {}
                    Heard::Left => break Ended::Left,
                }
            };
            off.store(true, Ordering::Relaxed);
            let result = board.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            match result {
                Err(RunnerError::Cancelled) => Ok(ended),
                Ok(_) => Ok(ended),
                Err(error) => Err(Diagnostic::ours(format!("{error}."), "emulator worker")),
            }
        })
    }

    /// Says what no board says: who reads it knows that nothing behind it was measured.
    fn tell(&self, off: &AtomicBool) {
        let version = env!("CARGO_PKG_VERSION");
        self.pseudo.write(format!("emulated by tilewright {version}\r\n").as_bytes(), off);
    }

    /// The board itself; says so if it dies.
    fn board(
        &self,
        bytes: Receiver<Vec<u8>>,
        is_due: &AtomicBool,
        off: &AtomicBool,
    ) -> Result<Finish, RunnerError> {
        let limits = WorkerLimits { wall: Duration::MAX, ..WorkerLimits::default() };
        let mut begins_line = true;
        let mut on_event = |response: &Response| {
            if let Response::Console(bytes) = response {
                if begins_line && is_due.swap(false, Ordering::Relaxed) {
                    self.tell(off);
                }
                begins_line = bytes.last().map_or(begins_line, |last| *last == b'\n');
                self.pseudo.write(bytes, off);
            }
        };
        let finish =
            self.runner.run_with_host(self.job.clone(), bytes, &limits, &mut on_event, off)?;
        if let Some(fault) = &finish.fault {
            say(&format!(
                "{} stopped: {} ({}). Enter resets it.",
                self.image.board.id,
                fault.message,
                fault.place()
            ));
        }
        Ok(finish)
    }
}
