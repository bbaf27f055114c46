//! Limits of a server.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tilewright_app::{Bounds, RunOptions};
use tilewright_protocol::Engine;
use tilewright_queue::{Database, Limits};
use tilewright_runner::WorkerLimits;

/// Limits; the defaults suit one person's computer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Config {
    /// Connections at a time; for one beyond them that which rests longest is closed.
    pub connections: usize,
    /// Connections of one address at a time, likewise.
    pub connections_of_peer: usize,
    /// Longest time that a client may take none of what is sent to it.
    pub unread: Duration,
    /// Longest time for the head of a request, and between two requests of a connection.
    pub headers: Duration,
    /// Workers at a time.
    pub workers: usize,
    /// What executes the firmware in workers.
    pub engine: Engine,
    /// Runs that wait.
    pub queue: usize,
    /// Downloads of firmware at a time: each is made for its client.
    pub downloads: usize,
    /// Longest model or plan image.
    pub file_bytes: usize,
    /// Longest store image of external flash or of a card.
    pub store_bytes: usize,
    /// Longest input, samples not counted.
    pub input_bytes: usize,
    /// Bytes of all uploads together whose runs wait or are under way; they lie on disk.
    pub upload_bytes: usize,
    /// Longest time that an upload may take.
    pub upload: Duration,
    /// Least bytes a second of an upload, after the first [`Self::upload_start`].
    pub upload_rate: usize,
    /// How long an upload may take before its rate counts.
    pub upload_start: Duration,
    /// Bounds of the process that goes from an upload to its result.
    pub pipeline: WorkerLimits,
    /// Longest result, and longest outputs of all layers.
    pub result_bytes: usize,
    /// Bounds of a worker process.
    pub worker: WorkerLimits,
    /// Bounds of quantising.
    pub quantising: Bounds,
    /// Executed instructions of a run, boot included.
    pub instructions: u64,
    /// Bytes of console output of a run.
    pub console_bytes: u64,
    /// A run to which nobody listens and for which nobody asks is cancelled after this time.
    pub vanish: Duration,
    /// Results kept in memory at most.
    pub keep_count: usize,
    /// Bytes of results kept in memory at most, roughly.
    pub keep_bytes: usize,
    /// Age at which a result is dropped from memory.
    pub keep_age: Duration,
}

impl Config {
    /// What a queue keeps that is gone when the server ends.
    #[must_use]
    pub fn temporary(&self) -> Limits {
        let (count, bytes) = (self.keep_count as u64, self.keep_bytes as u64);
        Limits { age: self.keep_age, count, bytes, ..Limits::default() }
    }

    /// How long results can be had, for people.
    pub(crate) fn kept(&self, queue: &Database) -> String {
        let Limits { age, count, bytes, .. } = queue.limits();
        let last = format!("the last {count} runs and {} MiB of results", bytes >> 20);
        if !queue.location().lasts() {
            return format!(
                "until the server ends, {} minutes at most: {last}",
                age.as_secs() / 60
            );
        }
        format!(
            "{} days at most after they were last asked for, also when the server is started again: {last}",
            age.as_secs() / 86_400
        )
    }
}

impl Default for Config {
    fn default() -> Self {
        let run = RunOptions::default();
        Self {
            connections: 512,
            connections_of_peer: 384,
            unread: Duration::from_secs(15),
            headers: Duration::from_secs(15),
            workers: 2,
            engine: Engine::default(),
            queue: 64,
            downloads: 16,
            file_bytes: 32 << 20,
            store_bytes: 192 << 20,
            input_bytes: 4 << 20,
            upload_bytes: 1 << 30,
            upload: Duration::from_secs(60),
            upload_rate: 16 << 10,
            upload_start: Duration::from_secs(5),
            pipeline: WorkerLimits { wall: Duration::from_secs(480), ..WorkerLimits::default() },
            result_bytes: 32 << 20,
            worker: WorkerLimits::default(),
            quantising: Bounds {
                macs: Some(200_000_000_000),
                values: Some(100_000_000),
                wall: Some(Duration::from_secs(120)),
            },
            instructions: run.instructions,
            console_bytes: run.console_bytes,
            vanish: Duration::from_secs(60),
            keep_count: 100,
            keep_bytes: 64 << 20,
            keep_age: Duration::from_secs(1800),
        }
    }
}
