//! The runs that this server knows, each beside its job in the queue.
//!
//! An upload holds room while it is read, and a run a place and that room until it is over, so that
//! neither uploads nor waiting runs grow without bound. Which run is next the queue says: peers take turns,
//! however many runs each brings. What a run of this server's own workers says comes at once; a run that another
//! process does is looked at twice a second.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tilewright_app::{Blame, Cancel, Diagnostic};
use tilewright_queue::{JobState, JobView, Queue, new_id};
use tokio::sync::Notify;

use super::admission::{Admission, Gate, Room};
use super::run::Run;
use crate::config::Config;
use crate::jobs::{Doer, KIND, RunRequest, problem_of, said};
use crate::peer::Peer;
use crate::upload::{Part, Upload};

/// How often runs are looked after.
const LOOK_AFTER: Duration = Duration::from_millis(500);
/// How often results that are too old are looked for in a queue that lasts.
const SWEEP: Duration = Duration::from_secs(60);
/// Runs that are told their place at most.
const TOLD: u32 = 512;

/// A run that this server knows.
#[derive(Debug)]
struct Known {
    run: Arc<Run>,
    /// Held by a run that came to this server and is not over.
    admission: Option<Admission>,
    /// Whether the queue has it already: storing a large upload takes a while.
    is_queued: bool,
}

#[derive(Debug, Default)]
struct Table {
    runs: BTreeMap<String, Known>,
    /// What this server's own workers do now.
    under_way: BTreeMap<String, Cancel>,
    swept: Option<Instant>,
}

/// All runs of a server.
pub struct Runs {
    pub(super) doer: Arc<Doer>,
    config: Config,
    gate: Gate,
    table: Mutex<Table>,
    closing: AtomicBool,
    /// A run has come or ended, or was cancelled.
    pub(super) changed: Notify,
}

impl Runs {
    /// No runs yet. Call within a tokio runtime: a task looks after the runs until the last
    /// reference is gone.
    #[must_use]
    pub fn new(doer: Arc<Doer>) -> Arc<Self> {
        let config = doer.config.clone();
        let this = Arc::new(Self {
            gate: Gate::new(config.workers + config.queue, config.upload_bytes),
            table: Mutex::default(),
            closing: AtomicBool::new(false),
            changed: Notify::new(),
            config,
            doer,
        });
        let looked_after = Arc::downgrade(&this);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(LOOK_AFTER).await;
                let Some(runs) = looked_after.upgrade() else { break };
                let _ = tokio::task::spawn_blocking(move || runs.look_after()).await;
            }
        });
        this
    }

    // No code that can panic runs under the lock, so a poisoned table is still a whole one.
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the server ends.
    pub(super) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed)
    }

    /// Whether runs go on when this server has ended.
    pub(super) fn lasts(&self) -> bool {
        self.doer.queue.location().lasts()
    }

    /// Room for an upload.
    ///
    /// # Errors
    /// [`Blame::Busy`] if the server is ending.
    pub fn room(&self) -> Result<Room, Diagnostic> {
        if self.is_closing() {
            return Err(Diagnostic::new(
                Blame::Busy,
                "The server is ending.",
                "queue",
                "Try again when it runs again.",
            ));
        }
        Ok(self.gate.room())
    }

    /// The right to bring the run of an upload.
    ///
    /// # Errors
    /// [`Blame::Busy`] if the queue is full.
    pub fn admit(&self, peer: Peer, room: Room) -> Result<Admission, Diagnostic> {
        self.gate.admit(peer, room)
    }

    /// Queues a run; blocks.
    ///
    /// # Errors
    /// If the queue does not take it.
    pub fn submit(
        &self,
        admission: Admission,
        board: &str,
        upload: Upload<Part>,
    ) -> Result<Arc<Run>, Diagnostic> {
        let id = new_id().map_err(|error| problem_of(&error))?;
        let owner = format!("{:?}", admission.peer());
        let run = Arc::new(Run::new(id.clone(), board.to_owned()));
        // Before a worker can have it, so that no news of it is lost.
        let admission = Some(admission);
        let known = Known { run: Arc::clone(&run), admission, is_queued: false };
        self.table().runs.insert(id.clone(), known);
        let state = self.doer.submit(&id, owner, board, upload);
        if let Some(known) = self.table().runs.get_mut(&id) {
            known.is_queued = true;
        }
        match state {
            Err(problem) => {
                self.table().runs.remove(&id);
                return Err(problem);
            }
            Ok(state) if state.is_over() => {
                run.is_known();
                self.catch_up(&run)?;
                if !self.lasts() {
                    self.sweep();
                }
                self.evict();
            }
            Ok(_) => self.renumber(),
        }
        self.changed.notify_waiters();
        Ok(run)
    }

    /// Tells waiting runs their place; blocks.
    pub(super) fn renumber(&self) {
        let Ok(order) = self.doer.queue.waiting(TOLD) else { return };
        let places: BTreeMap<&str, usize> =
            order.iter().enumerate().map(|(index, id)| (id.as_str(), index + 1)).collect();
        let known: Vec<Arc<Run>> = {
            let table = self.table();
            let waiting = table.runs.values().filter(|known| places.contains_key(known.run.id()));
            waiting.map(|known| Arc::clone(&known.run)).collect()
        };
        known.iter().for_each(|run| run.set_position(places[run.id()]));
    }

    /// The run with this id; blocks.
    ///
    /// # Errors
    /// [`Blame::NotFound`] if there is none, or not any more.
    pub fn find(&self, id: &str) -> Result<Arc<Run>, Diagnostic> {
        if let Some(known) = self.table().runs.get(id) {
            return Ok(Arc::clone(&known.run));
        }
        let none = || {
            Diagnostic::new(
                Blame::NotFound,
                "There is no such run, or its result is not kept any more.",
                format!("run {id}"),
                "Start the run again.",
            )
        };
        let queue = &self.doer.queue;
        let view = queue.look(id).map_err(|error| problem_of(&error))?;
        // Other jobs of the queue are no runs.
        let view = view.filter(|view| view.kind == KIND).ok_or_else(none)?;
        queue.touch(id).map_err(|error| problem_of(&error))?;
        let board = RunRequest::read(&view.payload)?.board;
        let run = Arc::new(Run::new(id.to_owned(), board));
        self.apply(&run, &view);
        let mut table = self.table();
        let known = table.runs.entry(id.to_owned());
        Ok(Arc::clone(&known.or_insert(Known { run, admission: None, is_queued: true }).run))
    }

    /// Asks for the end of a run; blocks.
    ///
    /// # Errors
    /// If the queue cannot be told.
    pub fn cancel(&self, run: &Run) -> Result<(), Diagnostic> {
        if let Some(cancel) = self.table().under_way.get(run.id()) {
            cancel.cancel();
        }
        let why = Diagnostic::cancelled("The run was cancelled before it began.");
        let why = serde_json::to_vec(&why).unwrap_or_default();
        self.doer.queue.cancel(run.id(), &why).map_err(|error| problem_of(&error))?;
        // What this server's own workers do tells its end itself.
        if !self.table().under_way.contains_key(run.id()) {
            self.catch_up(run)?;
        }
        self.renumber();
        self.changed.notify_waiters();
        Ok(())
    }

    /// Brings a run to where its job is in the queue.
    fn catch_up(&self, run: &Run) -> Result<(), Diagnostic> {
        let view = self.doer.queue.look(run.id()).map_err(|error| problem_of(&error))?;
        match view {
            Some(view) => self.apply(run, &view),
            None => run.end(Err(Diagnostic::ours("The queue has lost the run.", "queue"))),
        }
        self.release(run);
        Ok(())
    }

    fn apply(&self, run: &Run, view: &JobView) {
        match view.state {
            JobState::Waiting => {
                run.wait_again();
                run.set_position(view.position);
            }
            JobState::Running => {
                run.start(view.attempts);
                if let Ok(progress) = serde_json::from_slice(&view.news) {
                    run.set_progress(progress);
                }
            }
            JobState::Done => {
                let gone = || {
                    let what = "Its result is gone.";
                    let place = format!("run {}", run.id());
                    Diagnostic::new(Blame::NotFound, what, place, "Start the run again.")
                };
                let hash = view.result.as_ref().ok_or_else(gone);
                run.end(hash.and_then(|hash| self.doer.kept(hash)));
            }
            JobState::Failed | JobState::Cancelled => run.end(Err(said(view, run.id()))),
        }
    }

    /// Gives back what a run held that is over.
    pub(super) fn release(&self, run: &Run) {
        if run.over_for().is_some() {
            let held = self.table().runs.get_mut(run.id()).and_then(|known| known.admission.take());
            drop(held);
        }
    }

    /// Notes that one of this server's workers does a job; how to end it, and its run if this server knows it.
    pub(super) fn begin(&self, id: &str) -> (Cancel, Option<Arc<Run>>) {
        let mut table = self.table();
        let run = table.runs.get(id).map(|known| Arc::clone(&known.run));
        let cancel = table.under_way.entry(id.to_owned()).or_default().clone();
        (cancel, run)
    }

    /// Notes that it does so no more.
    pub(super) fn leave(&self, id: &str) {
        self.table().under_way.remove(id);
        self.changed.notify_waiters();
    }

    /// Runs under way or waiting.
    #[must_use]
    pub fn active(&self) -> usize {
        self.gate.taken()
    }

    /// Takes no more runs, ends what this server's workers do, and waits for that at most for `limit`. A queue that lasts
    /// gets its runs back; in another all are cancelled.
    pub async fn close(self: &Arc<Self>, limit: Duration) {
        self.closing.store(true, Ordering::Relaxed);
        let runs = Arc::clone(self);
        let _ = tokio::task::spawn_blocking(move || runs.let_go()).await;
        let all_ended = async {
            self.gate.all_left().await;
            while !self.table().under_way.is_empty() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let _ = tokio::time::timeout(limit, all_ended).await;
    }

    fn let_go(&self) {
        let all = self.all();
        if self.lasts() {
            // Workers give back what they are asked to end.
            self.table().under_way.values().for_each(Cancel::cancel);
            for run in &all {
                run.leave();
            }
            let mut table = self.table();
            let held: Vec<_> =
                table.runs.values_mut().filter_map(|known| known.admission.take()).collect();
            drop(table);
            drop(held);
        } else {
            for run in all.iter().filter(|run| run.over_for().is_none()) {
                let _ = self.cancel(run);
            }
        }
        self.changed.notify_waiters();
    }

    fn all(&self) -> Vec<Arc<Run>> {
        self.table().runs.values().map(|known| Arc::clone(&known.run)).collect()
    }

    /// Cancels runs that everyone has left, sees how far those are that others do, drops results that are too old.
    fn look_after(&self) {
        let (left, others) = {
            let table = self.table();
            let open = table.runs.values().filter(|known| known.run.over_for().is_none());
            // Whoever brought a run to another server, or before this one began, may listen there or come again.
            let (left, stay): (Vec<_>, Vec<_>) = open.partition(|known| {
                known.admission.is_some() && known.run.alone_for() > self.config.vanish
            });
            let others = stay
                .into_iter()
                .filter(|known| known.is_queued && !table.under_way.contains_key(known.run.id()));
            let run = |known: &Known| Arc::clone(&known.run);
            (left.into_iter().map(run).collect::<Vec<_>>(), others.map(run).collect::<Vec<_>>())
        };
        if self.is_closing() {
            return;
        }
        for run in left {
            let _ = self.cancel(&run);
        }
        for run in others {
            // A queue that is away is asked again.
            let _ = self.catch_up(&run);
        }
        let is_due = self.table().swept.is_none_or(|swept| swept.elapsed() >= SWEEP);
        if is_due {
            self.sweep();
        }
        self.evict();
    }

    /// Drops from the queue what is too old or too much; blocks.
    pub(super) fn sweep(&self) {
        self.table().swept = Some(Instant::now());
        if let Err(error) = self.doer.queue.sweep() {
            crate::say_problem(&problem_of(&error));
        }
    }

    /// Drops results from memory: those too old, then those asked for longest ago until count and bytes are
    /// within their limits.
    pub(super) fn evict(&self) {
        let mut table = self.table();
        let limits = &self.config;
        table.runs.retain(|_, known| known.run.over_for().is_none_or(|age| age <= limits.keep_age));
        let over = table.runs.values().map(|known| &known.run);
        let mut over: Vec<Arc<Run>> =
            over.filter(|run| run.over_for().is_some()).cloned().collect();
        over.sort_by_key(|run| run.seen());
        let mut count = over.len();
        let mut bytes: usize = over.iter().map(|run| run.kept_bytes()).sum();
        for run in over {
            if count <= limits.keep_count && bytes <= limits.keep_bytes {
                break;
            }
            table.runs.remove(run.id());
            count -= 1;
            bytes -= run.kept_bytes();
        }
    }
}
