//! Rows of a sweep planned by the workers of a queue, on this machine or many.

use std::collections::VecDeque;
use std::thread::sleep;
use std::time::{Duration, Instant};

use tilewright_app::{Blame, Cancel, Diagnostic};
use tilewright_explore::{HeldModel, ROW_KIND, RowRequest, Sweep};
use tilewright_queue::{
    Content, Database, Job, JobState, Limits, Location, Queue, QueueError, hash_of, new_id,
};
use tilewright_report::{SweepKey, SweepRow, sentence};

use crate::experiment::End;
use crate::progress::Teller;

/// Rows that others are asked for at a time: they take turns with those of other sweeps.
const AT_ONCE: usize = 128;
/// How often they are looked at.
const LOOK: Duration = Duration::from_millis(50);
/// How long a queue may be away, locked or full.
const PATIENCE: Duration = Duration::from_secs(60);
/// After which time without any worker it is said that there is none.
const LONELY: Duration = Duration::from_secs(10);
/// Longest row that is read.
const ROW: usize = 1 << 20;

/// Has the rows `missing` of a sweep planned by the workers of the queue at `address`, and hands each to `take` as it
/// comes. One that is known there is not planned again.
pub fn by_queue(
    sweep: &Sweep,
    missing: Vec<(usize, SweepKey)>,
    address: &str,
    cancel: &Cancel,
    mut take: impl FnMut(SweepRow) -> Result<(), Diagnostic>,
) -> Result<End, Diagnostic> {
    let location: Location = address.parse().map_err(|error| told(&error))?;
    if !location.lasts() {
        let what_to_do = "Name a file or a database that workers share.";
        let what = "No worker sees a temporary queue.";
        return Err(Diagnostic::new(Blame::BadInput, what, "--queue", what_to_do));
    }
    let owner = new_id().map_err(|error| told(&error))?;
    let mut asking = Asking {
        queue: Database::open(location, Limits::default()).map_err(|error| told(&error))?,
        owner,
        cancel,
        open: VecDeque::new(),
        held: HeldModel::default(),
        model: None,
        heard: Some(Instant::now()),
    };
    let (of, mut done) = (missing.len(), 0);
    let (mut left, mut teller) = (missing.into_iter(), Teller::new());
    let ended = loop {
        if cancel.is_cancelled() {
            break Ok(End::Cancelled);
        }
        match asking.advance(sweep, &mut left) {
            Ok(rows) if rows.is_empty() && asking.open.is_empty() => break Ok(End::Whole),
            Ok(rows) => {
                done += rows.len();
                if let Err(problem) = rows.into_iter().try_for_each(&mut take) {
                    break Err(problem);
                }
                teller.tell_step(done, of, "rows");
            }
            Err(_) if cancel.is_cancelled() => break Ok(End::Cancelled),
            Err(problem) => break Err(problem),
        }
    };
    // Nobody waits for those any more that are open now.
    for (_, id) in &asking.open {
        let _ = asking.queue.cancel(id, b"");
    }
    ended
}

struct Asking<'c> {
    queue: Database,
    owner: String,
    cancel: &'c Cancel,
    /// What was asked for, and its job.
    open: VecDeque<(SweepKey, String)>,
    held: HeldModel,
    /// The model that rows are asked of at present, and its bytes.
    model: Option<(String, Option<Given>)>,
    /// When a worker was last heard of; nothing once that was said.
    heard: Option<Instant>,
}

/// The bytes of a model for others, and their hash; or why it cannot be opened.
type Given = Result<(String, Vec<u8>), String>;

/// Where a row is that was asked for.
enum Looked {
    Waits,
    Runs,
    Over(SweepRow),
}

impl Asking<'_> {
    /// Asks for more rows, and looks at those that were asked for; rows that are there, after a while at most.
    fn advance(
        &mut self,
        sweep: &Sweep,
        left: &mut impl Iterator<Item = (usize, SweepKey)>,
    ) -> Result<Vec<SweepRow>, Diagnostic> {
        let mut rows = Vec::new();
        while self.open.len() < AT_ONCE
            && !self.cancel.is_cancelled()
            && let Some((row, key)) = left.next()
        {
            rows.extend(self.ask(sweep, row, key)?);
        }
        let mut index = 0;
        while let Some((key, id)) = self.open.get(index) {
            match self.look(key, id)? {
                Looked::Over(row) => {
                    rows.push(row);
                    self.open.remove(index);
                }
                Looked::Runs => index += 1,
                // Those behind it were asked for later.
                Looked::Waits => break,
            }
        }
        if index > 0 || !rows.is_empty() {
            self.heard = self.heard.map(|_| Instant::now());
        }
        if rows.is_empty() {
            sleep(LOOK);
        }
        if self.heard.is_some_and(|heard| heard.elapsed() > LONELY) {
            self.heard = None;
            let location = self.queue.location();
            anstream::eprintln!(
                "No worker of this version takes rows from {location}: start `tilewright worker --queue` there."
            );
        }
        Ok(rows)
    }

    /// Asks for a row; one of a model that cannot be opened says so at once.
    fn ask(
        &mut self,
        sweep: &Sweep,
        row: usize,
        key: SweepKey,
    ) -> Result<Option<SweepRow>, Diagnostic> {
        if self.model.as_ref().is_none_or(|(name, _)| *name != key.network) {
            let bytes = sweep.model_bytes(row, &mut self.held);
            let given = bytes.map(|bytes| bytes.map(|bytes| (hash_of([&bytes[..]]), bytes)));
            self.model = Some((key.network.clone(), given));
        }
        let given = match self.model.as_ref().and_then(|(_, given)| given.as_ref()) {
            Some(Err(problem)) => return Ok(Some(unplanned(&key, problem.clone()))),
            Some(Ok(given)) => Some(given),
            None => None,
        };
        let request = RowRequest { key: key.clone(), model: given.map(|(hash, _)| hash.clone()) };
        let id = new_id().map_err(|error| told(&error))?;
        let job = Job {
            id: id.clone(),
            kind: ROW_KIND.to_owned(),
            payload: serde_json::to_vec(&request)
                .map_err(|error| Diagnostic::ours(format!("{error}."), "JSON"))?,
            key: hash_of([request.follows_from().as_bytes()]),
            owner: self.owner.clone(),
        };
        self.patiently(|queue| match given {
            None => queue.submit(&job, &[]),
            Some((_, bytes)) => Content::with(bytes, |content| queue.submit(&job, &[content])),
        })?;
        self.open.push_back((key, id));
        Ok(None)
    }

    fn look(&self, key: &SweepKey, id: &str) -> Result<Looked, Diagnostic> {
        let Some(view) = self.patiently(|queue| queue.look(id))? else {
            return Ok(Looked::Over(unplanned(key, "The queue has lost the row.".to_owned())));
        };
        let why = match view.state {
            JobState::Waiting => return Ok(Looked::Waits),
            JobState::Running => return Ok(Looked::Runs),
            JobState::Done => {
                let hash = view.result.unwrap_or_default();
                let row = self.patiently(|queue| queue.whole_content(&hash, ROW))?;
                match serde_json::from_slice::<SweepRow>(&row) {
                    // Whoever asked first may have called the model otherwise.
                    Ok(row) => return Ok(Looked::Over(SweepRow { key: key.clone(), ..row })),
                    Err(error) => sentence(&format!("The row cannot be read: {error}")),
                }
            }
            JobState::Failed | JobState::Cancelled => {
                serde_json::from_slice::<Diagnostic>(&view.problem).map_or_else(
                    |_| format!("Its workers ended without a word, {} times.", view.lost),
                    |problem| problem.what,
                )
            }
        };
        Ok(Looked::Over(unplanned(key, why)))
    }

    /// Asks a queue that is away, locked or full again for a while.
    fn patiently<T>(
        &self,
        mut what: impl FnMut(&Database) -> Result<T, QueueError>,
    ) -> Result<T, Diagnostic> {
        let until = Instant::now() + PATIENCE;
        loop {
            match what(&self.queue) {
                Err(error)
                    if error.may_pass()
                        && Instant::now() < until
                        && !self.cancel.is_cancelled() =>
                {
                    sleep(Duration::from_secs(1));
                }
                asked => return asked.map_err(|error| told(&error)),
            }
        }
    }
}

/// A row that nobody planned: another try may.
fn unplanned(key: &SweepKey, why: String) -> SweepRow {
    SweepRow { key: key.clone(), macs: None, parameters: None, plan: None, problem: Some(why) }
}

fn told(error: &QueueError) -> Diagnostic {
    let kind = if error.may_pass() { Blame::Busy } else { Blame::BadInput };
    Diagnostic::new(kind, sentence(&error.to_string()), "--queue", error.what_to_do())
}
