//! One run.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tilewright_app::{Blame, Diagnostic, Package, Progress, Stage};
use tokio::sync::watch;
use utoipa::ToSchema;

use super::events::{EventKind, EventLog, RunEvent};

/// What an event takes, roughly.
const EVENT_BYTES: usize = 512;

/// Where a run is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Waits for others.
    Queued,
    /// Under way.
    Running,
    /// Over, with a result.
    Finished,
    /// Over, with a problem; there is a result if the board had a fault.
    Failed,
    /// Over, because someone asked for it.
    Cancelled,
}

impl Phase {
    /// Whether nothing more will happen.
    #[must_use]
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Finished | Self::Failed | Self::Cancelled)
    }
}

/// What is kept of a run.
#[derive(Debug)]
pub struct Kept {
    /// Data of the event that tells the end.
    pub summary: String,
    /// What the board's fault means, if it had one.
    pub fault: Option<Diagnostic>,
    /// The result as JSON. All who get it share these bytes.
    pub result: Bytes,
    /// The outputs of all layers, if asked for, likewise.
    pub layers: Option<Bytes>,
    /// The very image that ran.
    pub package: Package,
}

impl Kept {
    /// Bytes that keeping it takes, roughly.
    fn bytes(&self) -> usize {
        let layers = self.layers.as_ref().map_or(0, Bytes::len);
        self.package.plan().len() + layers + self.result.len()
    }
}

/// How far a run is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RunProgress {
    /// What is done now.
    pub stage: Option<Stage>,
    /// Executed instructions so far, boot included.
    pub instructions: u64,
    /// Step of the core lane, if an invoke is under way.
    pub step: Option<u32>,
}

/// What is known of a run at a moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Where it is.
    pub phase: Phase,
    /// How many are before it, itself counted; 0 if it does not wait.
    pub position: usize,
    /// How far it is.
    pub progress: RunProgress,
    /// What it left.
    pub done: Option<Arc<Kept>>,
    /// Why there is no result, or what the board's fault means.
    pub problem: Option<Diagnostic>,
}

#[derive(Debug)]
struct State {
    now: Snapshot,
    log: EventLog,
    seen: Instant,
    over: Option<Instant>,
    is_left: bool,
    /// How often it was begun, as far as is known here.
    attempt: i64,
}

impl State {
    fn note(&mut self, text: &str) {
        self.log.push(EventKind::Note, json!({ "text": text }).to_string());
    }
}

/// A run that someone asked for.
#[derive(Debug)]
pub struct Run {
    id: String,
    board: String,
    listeners: AtomicUsize,
    state: Mutex<State>,
    changed: watch::Sender<u64>,
}

/// Someone who listens to a run's events; as long as it lives, the run has not been left alone.
#[derive(Debug)]
pub struct Listener {
    run: Arc<Run>,
    changed: watch::Receiver<u64>,
}

impl Run {
    /// A run that waits.
    #[must_use]
    pub fn new(id: String, board: String) -> Self {
        let now = Snapshot {
            phase: Phase::Queued,
            position: 0,
            progress: RunProgress::default(),
            done: None,
            problem: None,
        };
        Self {
            id,
            board,
            listeners: AtomicUsize::new(0),
            state: Mutex::new(State {
                now,
                log: EventLog::default(),
                seen: Instant::now(),
                over: None,
                is_left: false,
                attempt: 0,
            }),
            changed: watch::Sender::new(0),
        }
    }

    // No code that can panic runs under the lock, so a poisoned state is still a whole one.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state());
        self.changed.send_modify(|version| *version += 1);
    }

    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Id of its board.
    #[must_use]
    pub fn board(&self) -> &str {
        &self.board
    }

    /// What is known of it, for a client: asking counts as a sign of life.
    #[must_use]
    pub fn look(&self) -> Snapshot {
        let mut state = self.state();
        state.seen = Instant::now();
        state.now.clone()
    }

    /// Says how many are before it.
    pub fn set_position(&self, position: usize) {
        self.change(|state| {
            if state.now.phase == Phase::Queued && state.now.position != position {
                state.now.position = position;
                let data = json!({ "position": position });
                state.log.push(EventKind::Queued, data.to_string());
            }
        });
    }

    /// Says that it is under way for the `attempt`th time.
    pub fn start(&self, attempt: i64) {
        self.change(|state| {
            if state.now.phase == Phase::Queued {
                state.now.phase = Phase::Running;
                state.now.position = 0;
            }
            if attempt > state.attempt.max(1) && state.now.phase == Phase::Running {
                state.note("Its worker was lost: it has begun again.");
            }
            state.attempt = state.attempt.max(attempt);
        });
    }

    /// Says that it ends with a result that was there.
    pub fn is_known(&self) {
        self.change(|state| {
            state.note("The same was run before: its result is taken, and not computed again.");
        });
    }

    /// Says that it waits again: its worker vanished, or gave it back.
    pub fn wait_again(&self) {
        self.change(|state| {
            if state.now.phase == Phase::Running {
                state.now.phase = Phase::Queued;
                state.now.progress = RunProgress::default();
                state.note("Its worker was lost: it waits again.");
            }
        });
    }

    /// Says how far it is, as the queue tells of a run that another process does.
    pub fn set_progress(&self, progress: RunProgress) {
        self.change(|state| {
            if state.now.phase != Phase::Running || state.now.progress == progress {
                return;
            }
            if let Some(stage) = progress.stage
                && state.now.progress.stage != progress.stage
            {
                state.log.push_progress(&Progress::Stage(stage));
            }
            let RunProgress { instructions, step, .. } = progress;
            state.log.push_progress(&Progress::Running { instructions, step });
            state.now.progress = progress;
        });
    }

    /// How far it is.
    #[must_use]
    pub fn progress(&self) -> RunProgress {
        self.state().now.progress
    }

    /// Ends the streams of its events: the server ends, the run does not.
    pub fn leave(&self) {
        self.change(|state| state.is_left = true);
    }

    /// Number of its last event.
    #[must_use]
    pub fn last_event(&self) -> u64 {
        self.state().log.last()
    }

    /// Takes news of it.
    pub fn news(&self, progress: &Progress) {
        self.change(|state| {
            if state.now.phase.is_over() {
                return;
            }
            match progress {
                Progress::Stage(stage) => state.now.progress.stage = Some(*stage),
                Progress::Running { instructions, step } => {
                    state.now.progress.instructions = *instructions;
                    state.now.progress.step = *step;
                }
                Progress::Sample { .. }
                | Progress::Layer { .. }
                | Progress::Compared { .. }
                | Progress::Planning { .. }
                | Progress::Console(_)
                | Progress::Step(_) => {}
            }
            state.log.push_progress(progress);
        });
    }

    /// Ends it; nothing if it is over already.
    pub fn end(&self, ended: Result<Kept, Diagnostic>) {
        self.change(|state| {
            if state.now.phase.is_over() {
                return;
            }
            state.over = Some(Instant::now());
            state.now.position = 0;
            match ended {
                Ok(done) => {
                    if let Some(problem) = done.fault.clone() {
                        state.now.phase = Phase::Failed;
                        state.log.push_problem(EventKind::Failed, &problem);
                        state.now.problem = Some(problem);
                    } else {
                        state.now.phase = Phase::Finished;
                        state.log.push(EventKind::Finished, done.summary.clone());
                    }
                    state.now.done = Some(Arc::new(done));
                }
                Err(problem) => {
                    let cancelled = problem.kind == Blame::Cancelled;
                    state.now.phase = if cancelled { Phase::Cancelled } else { Phase::Failed };
                    let kind = if cancelled { EventKind::Cancelled } else { EventKind::Failed };
                    state.log.push_problem(kind, &problem);
                    state.now.problem = Some(problem);
                }
            }
        });
    }

    /// How long nobody has listened or asked; zero while someone listens.
    #[must_use]
    pub fn alone_for(&self) -> Duration {
        if self.listeners.load(Ordering::Relaxed) > 0 {
            return Duration::ZERO;
        }
        self.state().seen.elapsed()
    }

    /// How long it has been over; nothing if it is not.
    #[must_use]
    pub fn over_for(&self) -> Option<Duration> {
        self.state().over.map(|over| over.elapsed())
    }

    /// When a client last asked for it.
    #[must_use]
    pub fn seen(&self) -> Instant {
        self.state().seen
    }

    /// Bytes that keeping its result takes, roughly.
    #[must_use]
    pub fn kept_bytes(&self) -> usize {
        let state = self.state();
        state.now.done.as_ref().map_or(0, |done| done.bytes()) + state.log.len() * EVENT_BYTES
    }

    /// Whether it is over and has no events past number `after`.
    #[must_use]
    pub fn has_said_all(&self, after: u64) -> bool {
        let state = self.state();
        state.now.phase.is_over() && state.log.since(after).is_empty()
    }

    /// Someone to listen.
    #[must_use]
    pub fn listen(self: &Arc<Self>) -> Listener {
        self.listeners.fetch_add(1, Ordering::Relaxed);
        Listener { changed: self.changed.subscribe(), run: Arc::clone(self) }
    }
}

impl Listener {
    /// Events past number `after`, as soon as there are any; nothing once the run is over and
    /// all its events have been given.
    pub async fn next(&mut self, after: u64) -> Option<Vec<RunEvent>> {
        loop {
            self.changed.borrow_and_update();
            {
                let state = self.run.state();
                let events = state.log.since(after);
                if !events.is_empty() {
                    return Some(events);
                }
                if state.now.phase.is_over() || state.is_left {
                    return None;
                }
            }
            // The sender lives as long as the run that this listener holds.
            self.changed.changed().await.ok()?;
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.run.state().seen = Instant::now();
        self.run.listeners.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A board's fault as a problem.
#[must_use]
pub fn fault_problem(fault: &tilewright_report::Fault) -> Diagnostic {
    Diagnostic::new(
        fault.kind.into(),
        &fault.message,
        fault.place(),
        "The result holds registers, the last executed blocks and the console.",
    )
}
