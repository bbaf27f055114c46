//! What a queue does, for those who submit jobs and those who do them.

use std::fmt::Write;
use std::io;
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::error::QueueError;

/// Longest payload of a job; what is longer lies in its contents.
pub const PAYLOAD_LIMIT: usize = 1 << 20;

/// The hash of a content, from its bytes one after the other.
#[derive(Clone, Debug, Default)]
pub struct Hash(Sha256);

impl Hash {
    /// Takes the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The content's name: 64 hexadecimal digits.
    #[must_use]
    pub fn name(self) -> String {
        hexadecimal(&self.0.finalize())
    }
}

/// The hash of the bytes in these pieces, as the content's name.
#[must_use]
pub fn hash_of<'b>(pieces: impl IntoIterator<Item = &'b [u8]>) -> String {
    let mut hash = Hash::default();
    pieces.into_iter().for_each(|piece| hash.update(piece));
    hash.name()
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a text cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// An id that nobody can guess.
///
/// # Errors
/// If the system has no random numbers.
pub fn new_id() -> Result<String, QueueError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(hexadecimal(&bytes))
}

/// Bytes that are to be kept under their hash; they are read a piece at a time.
pub struct Content<'c> {
    /// [`hash_of`] the bytes.
    pub hash: String,
    /// Number of bytes.
    pub length: usize,
    /// The bytes from a place on, so many.
    pub read: &'c dyn Fn(usize, usize) -> io::Result<Vec<u8>>,
}

impl Content<'_> {
    /// What `what` makes of the content of these bytes.
    pub fn with<T>(bytes: &[u8], what: impl FnOnce(Content<'_>) -> T) -> T {
        let read = |from: usize, length: usize| Ok(bytes[from..from + length].to_vec());
        what(Content { hash: hash_of([bytes]), length: bytes.len(), read: &read })
    }
}

/// A job that is submitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Its id, of [`new_id`].
    pub id: String,
    /// What it is, and which form its payload has; workers claim the kinds that they know.
    pub kind: String,
    /// What the worker is told.
    pub payload: Vec<u8>,
    /// Hash of all that its result follows from, as the submitter knows it.
    pub key: String,
    /// Whose it is: owners take turns.
    pub owner: String,
}

/// A job that a worker has claimed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The job.
    pub id: String,
    /// What it is.
    pub kind: String,
    /// Which claim of this job it is, from 1 on.
    pub attempt: i64,
    /// What the worker is told; empty if it is longer than [`PAYLOAD_LIMIT`].
    pub payload: Vec<u8>,
}

/// What a worker is told when it gives a sign of life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beat {
    /// Go on.
    GoOn,
    /// Someone asked for the job's end.
    Cancelled,
    /// The claim has ended: another may do the job, or has done it.
    Lost,
}

/// How a claim ends.
pub enum Ended<'e> {
    /// With a result.
    Done {
        /// Hash of all that it follows from.
        key: &'e str,
        /// The result.
        result: Content<'e>,
        /// What must be kept beside it.
        beside: Vec<Content<'e>>,
    },
    /// A result is there under this key already.
    Known {
        /// Hash of all that it follows from.
        key: &'e str,
    },
    /// Without a result; why.
    Failed(&'e [u8]),
    /// As someone asked for; why.
    Cancelled(&'e [u8]),
    /// The worker ends: another may take the job, and the attempt does not count.
    GivenBack,
}

/// Where a job is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobState {
    /// Waits for a worker.
    Waiting,
    /// A worker has it.
    Running,
    /// Over, with a result.
    Done,
    /// Over, with a problem.
    Failed,
    /// Over, because someone asked for it.
    Cancelled,
}

/// What is known of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobView {
    /// What it is.
    pub kind: String,
    /// What the worker is told.
    pub payload: Vec<u8>,
    /// Where it is.
    pub state: JobState,
    /// How many are before it, itself counted; 0 if it does not wait.
    pub position: usize,
    /// Claims so far.
    pub attempts: i64,
    /// Claims that ended without a word.
    pub lost: i64,
    /// News that came with the last sign of life.
    pub news: Vec<u8>,
    /// Why it has no result.
    pub problem: Vec<u8>,
    /// Hash of the result's bytes.
    pub result: Option<String>,
}

/// The next jobs of a queue.
pub type Order = Vec<String>;

/// What is kept, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How long a claim holds without a sign of life.
    pub lease: Duration,
    /// Claims of a job at most: a job that kills its workers ends.
    pub attempts: u32,
    /// Jobs that wait at most.
    pub waiting: u64,
    /// How long a job that is over can be had after it was last asked for.
    pub age: Duration,
    /// Jobs that are over, at most.
    pub count: u64,
    /// Bytes of all results at most. What else is kept goes when its job is over.
    pub bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            lease: Duration::from_secs(15),
            attempts: 3,
            waiting: 100_000,
            age: Duration::from_secs(30 * 24 * 3600),
            count: 20_000,
            bytes: 2 << 30,
        }
    }
}

/// A queue; all calls block.
pub trait Queue: Send + Sync {
    /// Takes a job and keeps its contents. If its result is there, the job is over at once. Whoever does not know whether
    /// it was taken may submit it again.
    ///
    /// # Errors
    /// If it could not be taken: nothing of it is kept then.
    fn submit(&self, job: &Job, contents: &[Content<'_>]) -> Result<JobState, QueueError>;

    /// The next job of one of these kinds, if there is any. `worker` is for people.
    ///
    /// # Errors
    /// If the queue cannot be used.
    fn claim(&self, worker: &str, kinds: &[&str]) -> Result<Option<Claim>, QueueError>;

    /// A sign of life, with news of the job: it prolongs the claim.
    ///
    /// # Errors
    /// If the queue cannot be used.
    fn beat(&self, claim: &Claim, news: &[u8]) -> Result<Beat, QueueError>;

    /// Ends a claim; whether it had not ended before. If it had, the job stays as it is; a result is kept in any
    /// case, if there is none under its key.
    ///
    /// # Errors
    /// If the queue cannot be used.
    fn finish(&self, claim: &Claim, ended: &Ended<'_>) -> Result<bool, QueueError>;

    /// Asks for a job's end: one that waits ends at once, one under way when its worker hears of it.
    ///
    /// # Errors
    /// If the queue cannot be used.
    fn cancel(&self, id: &str, why: &[u8]) -> Result<(), QueueError>;
}
