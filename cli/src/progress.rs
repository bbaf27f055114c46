//! One line on the terminal that says what is happening.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use tilewright_app::{Progress, Stage};

/// How often the line is drawn anew at most.
const REDRAW: Duration = Duration::from_millis(80);

/// Tells a person at a terminal how far a command is; silent if standard error is none.
#[derive(Debug)]
pub struct Teller {
    shown: bool,
    stage: Option<Stage>,
    started: Instant,
    drawn: Option<Instant>,
}

impl Teller {
    /// A teller that has said nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            shown: std::io::stderr().is_terminal(),
            stage: None,
            started: Instant::now(),
            drawn: None,
        }
    }

    /// Takes news.
    pub fn tell(&mut self, progress: &Progress) {
        if !self.shown {
            return;
        }
        match progress {
            Progress::Stage(stage) => {
                self.stage = Some(*stage);
                self.draw(&format!("{}…", stage.word()));
            }
            Progress::Sample { seen, of } => {
                if !self.is_soon() {
                    let word = Stage::Quantising.word();
                    self.draw(&format!("{word}… {seen} of {of} samples"));
                }
            }
            Progress::Layer { seen, of } => {
                if !self.is_soon() {
                    let percent = seen * 100 / of.max(&1);
                    self.draw(&format!("quantising layers alone… {percent} %"));
                }
            }
            Progress::Compared { seen, of } => {
                if !self.is_soon() {
                    let word = Stage::Comparing.word();
                    self.draw(&format!("{word}… {seen} of {of} samples"));
                }
            }
            Progress::Planning { arena, bound, ways } => {
                if !self.is_soon() {
                    let word = Stage::Planning.word();
                    let how_far = match (ways, arena) {
                        (Some([tried, all]), _) => format!("beyond SRAM, {tried} of {all} ways"),
                        (None, Some(arena)) => format!("{arena}, at least {bound}"),
                        (None, None) => format!("at least {bound}"),
                    };
                    let seconds = self.started.elapsed().as_secs_f64();
                    self.draw(&format!("{word}… {how_far}, {seconds:.1} s"));
                }
            }
            Progress::Running { instructions, .. } => {
                if self.is_soon() || *instructions == 0 {
                    return;
                }
                let word = self.stage.map_or("running", Stage::word);
                let millions = *instructions as f64 / 1e6;
                let seconds = self.started.elapsed().as_secs_f64();
                self.draw(&format!("{word}… {millions:.1} million instructions, {seconds:.1} s"));
            }
            Progress::Console(_) | Progress::Step(_) => {}
        }
    }

    /// Says which step of many was done last.
    pub fn tell_step(&mut self, done: usize, of: usize, last: &str) {
        if self.shown && !self.is_soon() {
            self.draw(&format!("{done} of {of}: {last}"));
        }
    }

    /// Takes its line away.
    pub fn clear(&mut self) {
        if self.drawn.take().is_some() {
            take_away();
        }
    }

    /// Whether the line has been drawn just now.
    fn is_soon(&self) -> bool {
        self.drawn.is_some_and(|drawn| drawn.elapsed() < REDRAW)
    }

    fn draw(&mut self, text: &str) {
        self.drawn = Some(Instant::now());
        let mut to = std::io::stderr().lock();
        // A terminal that takes no more text is no reason to fail.
        let _ = write!(to, "\r\x1b[K{text}").and_then(|()| to.flush());
    }
}

/// Takes the line away that a teller may have drawn.
pub fn take_away() {
    if std::io::stderr().is_terminal() {
        let mut to = std::io::stderr().lock();
        let _ = write!(to, "\r\x1b[K").and_then(|()| to.flush());
    }
}

impl Drop for Teller {
    fn drop(&mut self) {
        self.clear();
    }
}
