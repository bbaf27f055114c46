//! The queue, and the results that are kept.
//!
//! A run holds an admission from before its upload is read until it is over, so that neither
//! uploads nor waiting runs grow without bound.

use std::collections::{BTreeMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use super::admission::{Admission, Gate};
use super::run::{Done, Run};
use crate::config::Config;
use crate::execute::Cancel;
use crate::problem::{Blame, Problem};
use crate::progress::Progress;

/// What a run does; blocks, and ends soon after it is cancelled.
pub type Work =
    Box<dyn FnOnce(&mut dyn FnMut(Progress), &Cancel) -> Result<Done, Problem> + Send + 'static>;

/// How often runs are looked after.
const LOOK_AFTER: Duration = Duration::from_millis(500);

#[derive(Debug, Default)]
struct Table {
    runs: BTreeMap<String, Arc<Run>>,
    waiting: VecDeque<Arc<Run>>,
    made: u64,
}

/// All runs of a server.
#[derive(Debug)]
pub struct Runs {
    config: Config,
    gate: Gate,
    workers: Arc<Semaphore>,
    table: Mutex<Table>,
    ids: RandomState,
    closing: AtomicBool,
    cancelled: Notify,
}

impl Runs {
    /// No runs yet. Call within a tokio runtime: a task looks after the runs until the last
    /// reference is gone.
    #[must_use]
    pub fn new(config: &Config) -> Arc<Self> {
        let this = Arc::new(Self {
            gate: Gate::new(config.workers + config.queue, config.upload_bytes),
            workers: Arc::new(Semaphore::new(config.workers)),
            table: Mutex::default(),
            ids: RandomState::new(),
            closing: AtomicBool::new(false),
            cancelled: Notify::new(),
            config: config.clone(),
        });
        let looked_after = Arc::downgrade(&this);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(LOOK_AFTER).await;
                let Some(runs) = looked_after.upgrade() else { break };
                runs.look_after();
            }
        });
        this
    }

    // No code that can panic runs under the lock, so a poisoned table is still a whole one.
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The right to bring a run, before its upload is read.
    ///
    /// # Errors
    /// [`Blame::Busy`] if the queue is full or the server is ending.
    pub fn admit(&self) -> Result<Admission, Problem> {
        if self.closing.load(Ordering::Relaxed) {
            return Err(Problem::new(
                Blame::Busy,
                "The server is ending.",
                "queue",
                "Try again when it runs again.",
            ));
        }
        self.gate.admit()
    }

    /// Queues a run.
    pub fn submit(self: &Arc<Self>, admission: Admission, board: &str, work: Work) -> Arc<Run> {
        let run = {
            let mut table = self.table();
            table.made += 1;
            // Ids are keyed hashes of a counter: distinct, and no one can guess another's.
            let (first, second) =
                (self.ids.hash_one((table.made, 0)), self.ids.hash_one((table.made, 1)));
            let run = Arc::new(Run::new(format!("{first:016x}{second:016x}"), board.to_owned()));
            table.runs.insert(run.id().to_owned(), Arc::clone(&run));
            table.waiting.push_back(Arc::clone(&run));
            run
        };
        self.renumber();
        let (runs, waiting) = (Arc::clone(self), Arc::clone(&run));
        tokio::spawn(async move { runs.walk(admission, waiting, work).await });
        run
    }

    async fn walk(self: Arc<Self>, admission: Admission, run: Arc<Run>, work: Work) {
        let permit = self.turn(&run).await;
        self.table().waiting.retain(|other| !Arc::ptr_eq(other, &run));
        let Some(permit) = permit else {
            run.end(Err(Problem::cancelled("The run was cancelled before it began.")));
            self.renumber();
            return;
        };
        run.start();
        self.renumber();
        let walked = Arc::clone(&run);
        let ended = tokio::task::spawn_blocking(move || {
            work(&mut |progress| walked.news(&progress), walked.cancel())
        })
        .await
        .unwrap_or_else(|_| Err(Problem::ours("The run ended by a panic.", "run")));
        run.end(ended);
        drop((permit, admission));
        self.evict();
    }

    /// Waits until a worker is free; nothing if the run is cancelled before.
    async fn turn(&self, run: &Run) -> Option<OwnedSemaphorePermit> {
        let mut free = std::pin::pin!(Arc::clone(&self.workers).acquire_owned());
        loop {
            let cancelled = self.cancelled.notified();
            if run.cancel().is_cancelled() {
                return None;
            }
            tokio::select! {
                // The semaphore is never closed.
                permit = &mut free => return permit.ok().filter(|_| !run.cancel().is_cancelled()),
                () = cancelled => {}
            }
        }
    }

    /// Tells waiting runs their place.
    fn renumber(&self) {
        let waiting: Vec<Arc<Run>> = self.table().waiting.iter().cloned().collect();
        for (index, run) in waiting.iter().enumerate() {
            run.set_position(index + 1);
        }
    }

    /// The run with this id.
    ///
    /// # Errors
    /// [`Blame::NotFound`] if there is none, or not any more.
    pub fn find(&self, id: &str) -> Result<Arc<Run>, Problem> {
        self.table().runs.get(id).cloned().ok_or_else(|| {
            Problem::new(
                Blame::NotFound,
                "There is no such run, or its result is not kept any more.",
                format!("run {id}"),
                "Start the run again.",
            )
        })
    }

    /// Asks for the end of a run.
    pub fn cancel(&self, run: &Run) {
        run.cancel().cancel();
        self.cancelled.notify_waiters();
    }

    /// Runs under way or waiting.
    #[must_use]
    pub fn active(&self) -> usize {
        self.gate.taken()
    }

    /// Cancels all runs, takes no more, and waits until none is left or `limit` has passed.
    pub async fn close(&self, limit: Duration) {
        self.closing.store(true, Ordering::Relaxed);
        let all: Vec<Arc<Run>> = self.table().runs.values().cloned().collect();
        for run in &all {
            self.cancel(run);
        }
        let _ = tokio::time::timeout(limit, self.gate.all_left()).await;
    }

    /// Cancels runs that everyone has left, drops results that are too old.
    fn look_after(&self) {
        let all: Vec<Arc<Run>> = self.table().runs.values().cloned().collect();
        for run in &all {
            if run.over_for().is_none() && run.alone_for() > self.config.vanish {
                self.cancel(run);
            }
        }
        self.evict();
    }

    /// Drops results: those too old, then those asked for longest ago until count and bytes are
    /// within their limits.
    fn evict(&self) {
        let mut table = self.table();
        let limits = &self.config;
        table.runs.retain(|_, run| run.over_for().is_none_or(|age| age <= limits.keep_age));
        let mut over: Vec<Arc<Run>> =
            table.runs.values().filter(|run| run.over_for().is_some()).cloned().collect();
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
