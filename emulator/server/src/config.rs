//! Limits of a server.

use std::time::Duration;

use crate::execute::WorkerLimits;
use crate::pipeline::Bounds;

/// Limits; the defaults suit one person's computer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Connections at a time; a client beyond them waits.
    pub connections: usize,
    /// Longest time for the head of a request, and between two requests of a connection.
    pub headers: Duration,
    /// Workers at a time.
    pub workers: usize,
    /// Runs that wait.
    pub queue: usize,
    /// Longest model or plan image.
    pub file_bytes: usize,
    /// Longest store image of external flash or of a card.
    pub store_bytes: usize,
    /// Longest input, samples not counted.
    pub input_bytes: usize,
    /// Bytes of all uploads together whose runs wait or are under way.
    pub upload_bytes: usize,
    /// Longest time that an upload may take.
    pub upload: Duration,
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
    /// Results kept at most.
    pub keep_count: usize,
    /// Bytes of results kept at most, roughly.
    pub keep_bytes: usize,
    /// Age at which a result is dropped.
    pub keep_age: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            connections: 512,
            headers: Duration::from_secs(15),
            workers: 2,
            queue: 64,
            file_bytes: 32 << 20,
            store_bytes: 192 << 20,
            input_bytes: 4 << 20,
            upload_bytes: 512 << 20,
            upload: Duration::from_secs(60),
            worker: WorkerLimits { wall: Duration::from_secs(120), memory_bytes: 2 << 30 },
            quantising: Bounds {
                macs: Some(200_000_000_000),
                values: Some(100_000_000),
                wall: Some(Duration::from_secs(120)),
            },
            instructions: 50_000_000_000,
            console_bytes: 1 << 20,
            vanish: Duration::from_secs(60),
            keep_count: 100,
            keep_bytes: 64 << 20,
            keep_age: Duration::from_secs(1800),
        }
    }
}
