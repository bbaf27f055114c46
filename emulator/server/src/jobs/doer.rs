//! Does jobs of the queue: reads the request, looks whether its result is there, else runs it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

use axum::body::Bytes;
use serde::{Deserialize, Serialize};
use tilewright_app::{Blame, Cancel, Diagnostic, Package, Progress};
use tilewright_board::Board;
use tilewright_explore::ROW_KIND;
use tilewright_queue::{Claim, Content, Database, Ended, Job, JobState, Queue, hash_of};
use tilewright_runner::{Dist, Execute, Workers};

use super::request::{KIND, RunRequest, contents, key, readers};
use super::rows::Rows;
use super::{problem_of, unreadable};
use crate::config::Config;
use crate::pipeline::{Errand, Left, Pipeline, this_program};
use crate::runs::Kept;
use crate::upload::{Part, Upload};

/// Longest firmware that a result names.
const FIRMWARE: usize = 16 << 20;

/// A result as the queue keeps it.
#[derive(Debug, Serialize, Deserialize)]
struct Stored {
    board: String,
    /// Hash of the firmware that ran, which lies beside.
    firmware: String,
    left: Left,
}

/// What doing a job gave.
pub enum Performed {
    /// Its result was there, under this key.
    Known(String),
    /// A result.
    New {
        /// Hash of all that it follows from.
        key: String,
        /// The result as the queue keeps it.
        stored: Vec<u8>,
        /// The firmware that ran.
        firmware: Arc<Vec<u8>>,
        /// The result for clients.
        kept: Kept,
    },
    /// A row of a sweep.
    Row {
        /// Hash of all that it follows from.
        key: String,
        /// The row as JSON.
        row: Vec<u8>,
    },
}

/// Programs whose bytes a result follows from, with what tells that a file is still the same.
type Hashes = BTreeMap<std::path::PathBuf, (Option<SystemTime>, u64, String)>;

/// Does jobs.
pub struct Doer {
    pub(crate) config: Config,
    pub(crate) dist: Dist,
    pub(crate) executor: Arc<dyn Execute>,
    pub(crate) pipeline: Arc<dyn Pipeline>,
    pub(crate) queue: Arc<Database>,
    engine: OnceLock<String>,
    hashes: Mutex<Hashes>,
    pub(crate) rows: Rows,
}

impl Doer {
    /// Does jobs of `queue`.
    #[must_use]
    pub fn new(
        config: Config,
        dist: Dist,
        executor: Arc<dyn Execute>,
        pipeline: Arc<dyn Pipeline>,
        queue: Arc<Database>,
    ) -> Self {
        let (engine, hashes, rows) = (OnceLock::new(), Mutex::default(), Rows::default());
        Self { config, dist, executor, pipeline, queue, engine, hashes, rows }
    }

    /// Whether jobs can be done at all.
    ///
    /// # Errors
    /// What is missing.
    pub fn ready(&self) -> Result<(), Diagnostic> {
        self.executor.ready()
    }

    /// Its queue.
    #[must_use]
    pub fn queue(&self) -> &Arc<Database> {
        &self.queue
    }

    /// What emulates, name and version; nothing until a run has said it.
    pub(crate) fn engine(&self) -> Option<String> {
        self.engine.get().cloned()
    }

    /// Submits the run of an upload under an id.
    ///
    /// # Errors
    /// If it cannot be taken.
    pub fn submit(
        &self,
        id: &str,
        owner: String,
        board: &str,
        upload: Upload<Part>,
    ) -> Result<JobState, Diagnostic> {
        let (request, parts) = RunRequest::of(board, upload)
            .map_err(|error| Diagnostic::ours(format!("{error}."), "upload"))?;
        let payload = request.payload()?;
        let (key, _) = self.key(board, &payload)?;
        let job = Job { id: id.to_owned(), kind: KIND.to_owned(), payload, key, owner };
        let readers = readers(&parts);
        self.queue.submit(&job, &contents(&readers)).map_err(|error| problem_of(&error))
    }

    /// Does a job; blocks, and ends soon after it is cancelled.
    ///
    /// # Errors
    /// Why there is no result.
    pub fn perform(
        &self,
        claim: &Claim,
        progress: &mut dyn FnMut(Progress),
        cancel: &Cancel,
    ) -> Result<Performed, Diagnostic> {
        if claim.kind == ROW_KIND {
            return self.rows.plan(&self.queue, claim, cancel);
        }
        let request = RunRequest::read(&claim.payload)?;
        let board = tilewright_board::find(&request.board)
            .map_err(|error| unreadable(&error.to_string()))?;
        let (key, firmware) = self.key(&board.id, &claim.payload)?;
        if self.queue.result(&key).map_err(|error| problem_of(&error))?.is_some() {
            return Ok(Performed::Known(key));
        }
        let upload = request.bring(&self.queue, &self.config)?;
        let (config, dist) = (self.config.clone(), self.dist.clone());
        let errand = Errand { config, dist, board: board.id.clone(), upload };
        let left = self.pipeline.run(errand, progress, cancel)?;
        // Others have said the same before.
        let _ = self.engine.set(left.engine.clone());
        let stored = Stored { board: board.id.clone(), firmware: hash_of([&firmware[..]]), left };
        let bytes = postcard::to_allocvec(&stored)
            .map_err(|error| Diagnostic::ours(format!("{error}."), "result"))?;
        let kept = kept(stored.left, Arc::clone(&firmware), &board);
        Ok(Performed::New { key, stored: bytes, firmware, kept })
    }

    /// Ends a claim as doing its job ended; whether the claim held until now.
    ///
    /// # Errors
    /// If the queue cannot be used.
    pub fn finish(
        &self,
        claim: &Claim,
        performed: &Result<Performed, Diagnostic>,
        is_given_back: bool,
    ) -> Result<bool, tilewright_queue::QueueError> {
        match performed {
            Ok(Performed::Known(key)) => self.queue.finish(claim, &Ended::Known { key }),
            Ok(Performed::New { key, stored, firmware, .. }) => Content::with(stored, |result| {
                Content::with(firmware, |firmware| {
                    self.queue.finish(claim, &Ended::Done { key, result, beside: vec![firmware] })
                })
            }),
            Ok(Performed::Row { key, row }) => Content::with(row, |result| {
                self.queue.finish(claim, &Ended::Done { key, result, beside: Vec::new() })
            }),
            Err(_) if is_given_back => self.queue.finish(claim, &Ended::GivenBack),
            Err(problem) => {
                let said = serde_json::to_vec(problem).unwrap_or_default();
                let ended = if problem.kind == Blame::Cancelled {
                    Ended::Cancelled(&said)
                } else {
                    Ended::Failed(&said)
                };
                self.queue.finish(claim, &ended)
            }
        }
    }

    /// The result whose bytes have this hash, for clients.
    ///
    /// # Errors
    /// If it is gone or damaged.
    pub fn kept(&self, hash: &str) -> Result<Kept, Diagnostic> {
        let told = |error: tilewright_queue::QueueError| problem_of(&error);
        let most =
            self.config.result_bytes.saturating_mul(2).saturating_add(self.config.file_bytes);
        let bytes = self.queue.whole_content(hash, most).map_err(told)?;
        let damaged = |error: String| {
            Diagnostic::new(
                Blame::NotFound,
                format!("The result cannot be read: {error}."),
                "queue",
                "Start the run again: it was made by another version of Tilewright.",
            )
        };
        let stored: Stored =
            postcard::from_bytes(&bytes).map_err(|error| damaged(error.to_string()))?;
        let board =
            tilewright_board::find(&stored.board).map_err(|error| damaged(error.to_string()))?;
        let firmware = self.queue.whole_content(&stored.firmware, FIRMWARE).map_err(told)?;
        Ok(kept(stored.left, Arc::new(firmware), &board))
    }

    /// Hash of all that the result of a payload follows from, as this program and its worker compute it, and the firmware.
    fn key(&self, board: &str, payload: &[u8]) -> Result<(String, Arc<Vec<u8>>), Diagnostic> {
        let firmware = self.dist.firmware(board)?;
        let mut build = self.program_hash(&this_program()?);
        if let Some(worker) = Workers::program(&self.dist) {
            build += &self.program_hash(&worker);
        }
        Ok((key(&build, &firmware, &self.config, payload), firmware))
    }

    fn program_hash(&self, path: &Path) -> String {
        let now =
            fs::metadata(path).map(|data| (data.modified().ok(), data.len())).unwrap_or_default();
        let mut hashes = self.hashes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((time, length, hash)) = hashes.get(path)
            && (*time, *length) == now
        {
            return hash.clone();
        }
        let hash = hash_of([&fs::read(path).unwrap_or_default()[..]]);
        hashes.insert(path.to_owned(), (now.0, now.1, hash.clone()));
        hash
    }
}

fn kept(left: Left, firmware: Arc<Vec<u8>>, board: &Board) -> Kept {
    let Left { summary, fault, result, layers, plan, .. } = left;
    Kept {
        summary,
        fault,
        result: Bytes::from(result),
        layers: layers.map(|file| Bytes::from(file.0)),
        package: Package::new(firmware, board, plan),
    }
}
