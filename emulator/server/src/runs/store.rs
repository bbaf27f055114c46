//! The queue, and the results that are kept.
//!
//! An upload holds room while it is read, and a run a place and that room until it is over, so that
//! neither uploads nor waiting runs grow without bound. Peers take turns, however many runs each
//! brings.

use std::collections::{BTreeMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tilewright_app::{Blame, Cancel, Diagnostic, Progress};
use tokio::sync::Notify;

use super::admission::{Admission, Gate, Room};
use super::run::{Kept, Run};
use crate::config::Config;
use crate::peer::Peer;

/// What a run does; blocks, and ends soon after it is cancelled.
pub type Work =
    Box<dyn FnOnce(&mut dyn FnMut(Progress), &Cancel) -> Result<Kept, Diagnostic> + Send + 'static>;

/// How often runs are looked after.
const LOOK_AFTER: Duration = Duration::from_millis(500);

/// A run that waits.
#[derive(Debug)]
struct Waiting {
    run: Arc<Run>,
    peer: Peer,
    /// Runs begin in the order of these numbers; each run of a peer has one more than that before.
    turn: u64,
}

#[derive(Debug, Default)]
struct Table {
    runs: BTreeMap<String, Arc<Run>>,
    waiting: VecDeque<Waiting>,
    /// Turn of the run that began last.
    turn: u64,
    under_way: usize,
    made: u64,
}

impl Table {
    /// Lets a run wait for its peer's next turn.
    fn wait(&mut self, run: Arc<Run>, peer: Peer) {
        let of_peer = self.waiting.iter().filter(|other| other.peer == peer);
        let turn = of_peer.map(|other| other.turn).max().unwrap_or(self.turn) + 1;
        let place = self.waiting.partition_point(|other| other.turn <= turn);
        self.waiting.insert(place, Waiting { run, peer, turn });
    }

    /// Whether a run is the next.
    fn is_next(&self, run: &Arc<Run>) -> bool {
        self.waiting.front().is_some_and(|first| Arc::ptr_eq(&first.run, run))
    }
}

/// All runs of a server.
#[derive(Debug)]
pub struct Runs {
    config: Config,
    gate: Gate,
    table: Mutex<Table>,
    ids: RandomState,
    closing: AtomicBool,
    /// A run has ended or was cancelled.
    changed: Notify,
}

/// A run under way.
struct UnderWay<'r>(&'r Runs);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.table().under_way -= 1;
        self.0.changed.notify_waiters();
    }
}

impl Runs {
    /// No runs yet. Call within a tokio runtime: a task looks after the runs until the last
    /// reference is gone.
    #[must_use]
    pub fn new(config: &Config) -> Arc<Self> {
        let this = Arc::new(Self {
            gate: Gate::new(config.workers + config.queue, config.upload_bytes),
            table: Mutex::default(),
            ids: RandomState::new(),
            closing: AtomicBool::new(false),
            changed: Notify::new(),
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

    /// Room for an upload.
    ///
    /// # Errors
    /// [`Blame::Busy`] if the server is ending.
    pub fn room(&self) -> Result<Room, Diagnostic> {
        if self.closing.load(Ordering::Relaxed) {
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
            table.wait(Arc::clone(&run), admission.peer());
            run
        };
        self.renumber();
        let (runs, waiting) = (Arc::clone(self), Arc::clone(&run));
        tokio::spawn(async move { runs.run(admission, waiting, work).await });
        run
    }

    async fn run(self: Arc<Self>, admission: Admission, run: Arc<Run>, work: Work) {
        let Some(under_way) = self.turn(&run).await else {
            run.end(Err(Diagnostic::cancelled("The run was cancelled before it began.")));
            self.renumber();
            return;
        };
        run.start();
        self.renumber();
        let seen = Arc::clone(&run);
        let ended = tokio::task::spawn_blocking(move || {
            work(&mut |progress| seen.news(&progress), seen.cancel())
        })
        .await
        .unwrap_or_else(|_| Err(Diagnostic::ours("The run ended by a panic.", "run")));
        run.end(ended);
        drop((under_way, admission));
        self.evict();
    }

    /// Waits until it is a run's turn; nothing if it is cancelled before. It waits no more then.
    async fn turn(&self, run: &Arc<Run>) -> Option<UnderWay<'_>> {
        loop {
            let changed = self.changed.notified();
            {
                let mut table = self.table();
                if run.cancel().is_cancelled() {
                    table.waiting.retain(|other| !Arc::ptr_eq(&other.run, run));
                    self.changed.notify_waiters();
                    return None;
                }
                if table.under_way < self.config.workers && table.is_next(run) {
                    let first = table.waiting.pop_front();
                    table.turn = first.map_or(table.turn, |first| first.turn);
                    table.under_way += 1;
                    // Another may begin as well.
                    self.changed.notify_waiters();
                    return Some(UnderWay(self));
                }
            }
            changed.await;
        }
    }

    /// Tells waiting runs their place.
    fn renumber(&self) {
        let waiting: Vec<Arc<Run>> =
            self.table().waiting.iter().map(|waiting| Arc::clone(&waiting.run)).collect();
        for (index, run) in waiting.iter().enumerate() {
            run.set_position(index + 1);
        }
    }

    /// The run with this id.
    ///
    /// # Errors
    /// [`Blame::NotFound`] if there is none, or not any more.
    pub fn find(&self, id: &str) -> Result<Arc<Run>, Diagnostic> {
        self.table().runs.get(id).cloned().ok_or_else(|| {
            Diagnostic::new(
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
        self.changed.notify_waiters();
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

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    #[test]
    fn peers_take_turns() {
        let mut table = Table::default();
        let mut bring = |name: &str, last: u8| {
            let run = Arc::new(Run::new(name.to_owned(), String::new()));
            table.wait(run, Peer::from(IpAddr::from([10, 0, 0, last])));
        };
        for name in ["a1", "a2", "a3"] {
            bring(name, 1);
        }
        bring("b1", 2);
        bring("b2", 2);
        bring("c1", 3);
        let order: Vec<&str> = table.waiting.iter().map(|waiting| waiting.run.id()).collect();
        assert_eq!(order, ["a1", "b1", "c1", "a2", "b2", "a3"]);
    }
}
