//! Jobs and contents for the tests of every kind of queue.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]
#![allow(dead_code, reason = "each test program uses a part")]

use std::path::Path;
use std::time::Duration;

use tilewright_queue::{
    Claim, Content, Database, Ended, Job, JobState, JobView, Limits, Location, Queue, new_id,
};

pub const KIND: &str = "test/1";

pub fn short() -> Limits {
    Limits { lease: Duration::from_millis(150), ..Limits::default() }
}

pub fn file(path: &Path, limits: Limits) -> Database {
    Database::open(Location::File(path.to_owned()), limits).unwrap()
}

/// A database of its own on the server of PostgreSQL, if there is one.
pub fn database() -> Option<String> {
    let server = std::env::var("TILEWRIGHT_POSTGRES").ok()?;
    let name = format!("t{}", new_id().unwrap());
    let mut client = postgres::Client::connect(&server, postgres::NoTls).unwrap();
    client.batch_execute(&format!("CREATE DATABASE {name}")).unwrap();
    let (server, _) = server.rsplit_once('/').unwrap();
    Some(format!("{server}/{name}"))
}

pub fn job(key: &str, owner: &str) -> Job {
    Job {
        id: new_id().unwrap(),
        kind: KIND.to_owned(),
        payload: key.as_bytes().to_vec(),
        key: key.to_owned(),
        owner: owner.to_owned(),
    }
}

/// Submits a job without contents; its id.
pub fn submit(queue: &Database, key: &str) -> String {
    let job = job(key, "me");
    queue.submit(&job, &[]).unwrap();
    job.id
}

pub fn claim(queue: &Database, worker: &str) -> Claim {
    queue.claim(worker, &[KIND]).unwrap().expect("a job waits")
}

/// Ends a claim with a result.
pub fn done(queue: &Database, claim: &Claim, key: &str, bytes: &[u8]) -> bool {
    Content::with(bytes, |result| {
        queue.finish(claim, &Ended::Done { key, result, beside: Vec::new() }).unwrap()
    })
}

pub fn look(queue: &Database, id: &str) -> JobView {
    queue.look(id).unwrap().expect("the job is known")
}

pub fn result(queue: &Database, id: &str) -> Vec<u8> {
    let view = look(queue, id);
    assert_eq!(view.state, JobState::Done);
    queue.whole_content(&view.result.unwrap(), 1 << 30).unwrap()
}
