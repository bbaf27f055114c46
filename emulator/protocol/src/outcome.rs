//! What a job left, put together from what its worker says.

use crate::message::{Border, CopyCount, Finish, Job, LayerCycles, Response, StepCount};

/// Bytes of console output past the job's limit that a worker may send: what was under way when
/// it noticed.
const SLACK: u64 = 64 << 10;
/// Steps that are kept: as many as a lane can have.
const MAX_STEPS: usize = 1 << 24;
/// Bytes that the borders of a job take ([`Border::kept_bytes`]).
pub const MOST_RECORDED: u64 = 32 << 20;
/// Layers whose cycles are kept: as many as steps can name.
const MAX_LAYERS: usize = 1 << 16;

/// What a job left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunOutcome {
    /// What emulated: name and version.
    pub engine: String,
    /// How it ended.
    pub finish: Finish,
    /// Steps of the last frame, in order of their ends.
    pub steps: Vec<StepCount>,
    /// Copies of engines' lanes in the last frame, in order of their ends.
    pub copies: Vec<CopyCount>,
    /// Bytes of each of the job's watches; nothing where the step never ended.
    pub watched: Vec<Option<Vec<u8>>>,
    /// What the recorded memory held at borders between steps, the first ones at least.
    pub borders: Vec<Border>,
    /// Where the cycles of layers went.
    pub layers: Vec<LayerCycles>,
    /// What the board wrote to its console.
    pub console: Vec<u8>,
    /// Cycles of each invoke of the last frame that was given up and begun again.
    pub given_up: Vec<u64>,
}

/// An outcome that comes together.
#[derive(Debug)]
pub struct Collector {
    steps: Vec<StepCount>,
    copies: Vec<CopyCount>,
    watched: Vec<Option<Vec<u8>>>,
    borders: Vec<Border>,
    recorded_bytes: u64,
    layers: Vec<LayerCycles>,
    console: Vec<u8>,
    console_bytes: u64,
    given_up: Vec<u64>,
}

impl Collector {
    /// Of a job that begins.
    #[must_use]
    pub fn new(job: &Job) -> Self {
        Self {
            steps: Vec::new(),
            copies: Vec::new(),
            watched: vec![None; job.watches.len()],
            borders: Vec::new(),
            recorded_bytes: 0,
            layers: Vec::new(),
            console: Vec::new(),
            console_bytes: job.limits.console_bytes.saturating_add(SLACK),
            given_up: Vec::new(),
        }
    }

    /// Keeps what a message says.
    ///
    /// # Errors
    /// What is wrong with the message.
    pub fn take(&mut self, response: Response) -> Result<(), String> {
        match response {
            Response::Console(bytes) => {
                self.console.extend_from_slice(&bytes);
                if self.console.len() as u64 > self.console_bytes {
                    return Err("more console output than the job allows".to_owned());
                }
            }
            Response::Again { cycles } => {
                if self.given_up.len() >= MAX_LAYERS {
                    return Err("more invokes than anyone begins".to_owned());
                }
                self.given_up.push(cycles);
                self.steps.clear();
                self.copies.clear();
                self.watched.fill(None);
                self.borders.clear();
            }
            Response::Step(step) => {
                if self.steps.len() >= MAX_STEPS {
                    return Err("more steps than a lane can have".to_owned());
                }
                self.steps.push(step);
            }
            Response::Copy(copy) => {
                if self.copies.len() >= MAX_STEPS {
                    return Err("more copies than a lane can have".to_owned());
                }
                self.copies.push(copy);
            }
            Response::Watched { watch, bytes } => {
                let place = self.watched.get_mut(watch as usize).ok_or("an unknown watch")?;
                *place = Some(bytes);
            }
            Response::Border(border) => {
                self.recorded_bytes += border.kept_bytes();
                if self.recorded_bytes > MOST_RECORDED {
                    return Err("more recorded bytes than a worker may send".to_owned());
                }
                self.borders.push(border);
            }
            Response::Layer(layer) => {
                if self.layers.len() >= MAX_LAYERS {
                    return Err("more layers than a plan can have".to_owned());
                }
                self.layers.push(layer);
            }
            Response::Hello { .. } => return Err("a second hello".to_owned()),
            Response::Progress { .. } | Response::Finished(_) => {}
        }
        Ok(())
    }

    /// The outcome of a job that has ended; `engine`: what emulated, name and version.
    #[must_use]
    pub fn finish(self, engine: String, finish: Finish) -> RunOutcome {
        let Self { steps, copies, watched, borders, layers, console, given_up, .. } = self;
        RunOutcome { engine, finish, steps, copies, watched, borders, layers, console, given_up }
    }
}
