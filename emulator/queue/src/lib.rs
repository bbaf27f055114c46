//! One queue for runs, on this machine or many, and a store in which contents lie under their hashes.
//!
//! One set of statements serves SQLite and PostgreSQL; a driver for each translates some words. A claim is
//! named by job and attempt, never by the worker, so that names may be used again: what comes from a claim
//! that has ended changes nothing. Results lie under the hash of all that they follow from and are written once.
//!
//! apalis 1.0 was tried first. Its acknowledgements match job and worker's name alone: that of a worker which was stopped,
//! and went on after another had done the job under the same name, overwrote what the newer attempt had left. Its lease
//! is the worker's, not the job's, and a worker that starts again is refused its name until that has passed.

mod clean;
mod database;
mod driver;
mod error;
mod jobs;
mod location;
mod queue;
mod schema;
mod store;

pub use clean::Swept;
pub use database::Database;
pub use error::QueueError;
pub use location::Location;
pub use queue::{
    Beat, Claim, Content, Ended, Hash, Job, JobState, JobView, Limits, Order, PAYLOAD_LIMIT, Queue,
    hash_of, new_id,
};
