//! What every queue promises: claims, their ends, results that are written once, limits. On SQLite; on PostgreSQL if
//! TILEWRIGHT_POSTGRES is the address of a server, as `cargo xtask bench queue` sets it.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::thread::sleep;
use std::time::Duration;

use common::{KIND, claim, done, file, job, look, result, short, submit};
use tilewright_queue::{
    Beat, Content, Database, Ended, JobState, Limits, Location, Queue, QueueError, hash_of,
};

fn temporary(limits: Limits) -> Database {
    let location = common::database().map_or(Location::Temporary, Location::Postgres);
    Database::open(location, limits).unwrap()
}

#[test]
fn jobs_and_results_are_there_when_a_file_is_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("queue.sqlite");
    let large: Vec<u8> = (0..3_000_000u32).map(|index| (index * 7 % 251) as u8).collect();
    let (over, under_way, waits) = {
        let queue = file(&path, short());
        let over = job("a", "me");
        Content::with(&large, |content| queue.submit(&over, &[content]).unwrap());
        let (under_way, waits) = (submit(&queue, "b"), submit(&queue, "c"));
        let claimed = claim(&queue, "w");
        assert_eq!(
            (claimed.id.as_str(), claimed.payload.as_slice()),
            (over.id.as_str(), &b"a"[..])
        );
        assert_eq!(queue.whole_content(&hash_of([&large[..]]), 1 << 30).unwrap(), large);
        assert!(done(&queue, &claimed, "a", b"result of a"));
        assert_eq!(claim(&queue, "w").id, under_way);
        (over.id, under_way, waits)
    };
    let queue = file(&path, short());
    assert_eq!(result(&queue, &over), b"result of a");
    assert_eq!(look(&queue, &waits).position, 1);
    sleep(Duration::from_millis(300));
    let claimed = claim(&queue, "w");
    assert_eq!((claimed.id, claimed.attempt), (under_way, 2));
    assert_eq!(claim(&queue, "w").id, waits);
    assert_eq!(queue.claim("w", &[KIND]).unwrap(), None);
}

#[test]
fn an_end_after_the_lease_changes_nothing_but_its_result_is_kept() {
    let queue = temporary(short());
    let id = submit(&queue, "a");
    let first = claim(&queue, "w");
    sleep(Duration::from_millis(200));
    assert_eq!(queue.beat(&first, b"").unwrap(), Beat::Lost);
    assert!(!queue.finish(&first, &Ended::Failed(b"too late")).unwrap());
    assert_eq!(look(&queue, &id).state, JobState::Running);
    sleep(Duration::from_millis(400));
    // The same name again is another claim.
    let second = claim(&queue, "w");
    assert_eq!((second.id.as_str(), second.attempt), (id.as_str(), 2));
    assert!(!done(&queue, &first, "a", b"of the first"));
    assert_eq!(queue.beat(&second, b"news").unwrap(), Beat::GoOn);
    assert_eq!(look(&queue, &id).news, b"news");
    assert!(done(&queue, &second, "a", b"of the second"));
    assert!(!queue.finish(&first, &Ended::Failed(b"too late")).unwrap());
    assert!(!queue.finish(&first, &Ended::GivenBack).unwrap());
    assert_eq!(result(&queue, &id), b"of the first", "results are written once");
}

#[test]
fn a_result_that_is_there_is_not_computed_again() {
    let queue = temporary(short());
    let first = submit(&queue, "a");
    assert!(done(&queue, &claim(&queue, "w"), "a", b"r"));
    let second = job("a", "other");
    assert_eq!(queue.submit(&second, &[]).unwrap(), JobState::Done);
    assert_eq!(result(&queue, &second.id), result(&queue, &first));
    // Whoever does not know whether it was taken asks again.
    queue.submit(&second, &[]).unwrap();
    // A worker that finds out later says so.
    let third = submit(&queue, "another key");
    let claimed = claim(&queue, "w");
    assert!(queue.finish(&claimed, &Ended::Known { key: "none" }).is_err());
    assert!(queue.finish(&claimed, &Ended::Known { key: "a" }).unwrap());
    assert_eq!(result(&queue, &third), b"r");
}

#[test]
fn a_job_that_kills_its_workers_ends() {
    let queue = temporary(Limits { attempts: 2, lease: Duration::from_millis(20), ..short() });
    let id = submit(&queue, "a");
    for attempt in 1..=2 {
        sleep(Duration::from_millis(510));
        assert_eq!(claim(&queue, "w").attempt, attempt);
    }
    sleep(Duration::from_millis(510));
    assert_eq!(queue.claim("w", &[KIND]).unwrap(), None);
    assert_eq!(look(&queue, &id).state, JobState::Failed);
}

#[test]
fn cancelled_jobs_end_whether_they_wait_or_run_or_lose_their_worker() {
    let queue = temporary(short());
    let ids = ["a", "b", "c"].map(|key| submit(&queue, key));
    let (first, second) = (claim(&queue, "w"), claim(&queue, "w"));
    ids.iter().for_each(|id| queue.cancel(id, b"why").unwrap());
    assert_eq!(look(&queue, &ids[2]).state, JobState::Cancelled);
    assert_eq!(queue.claim("w", &[KIND]).unwrap(), None);
    assert_eq!(queue.beat(&first, b"").unwrap(), Beat::Cancelled);
    assert!(queue.finish(&first, &Ended::Cancelled(b"why")).unwrap());
    sleep(Duration::from_millis(600));
    assert_eq!(queue.claim("w", &[KIND]).unwrap(), None);
    let view = look(&queue, &second.id);
    assert_eq!((view.state, view.problem.as_slice()), (JobState::Cancelled, &b"why"[..]));
    queue.cancel(&ids[0], b"again").unwrap();
    assert_eq!(look(&queue, &ids[0]).problem, b"why");
}

#[test]
fn a_job_that_is_given_back_waits_again_at_its_place() {
    let queue = temporary(Limits { attempts: 1, ..short() });
    let (first, second) = (submit(&queue, "a"), submit(&queue, "b"));
    let claimed = claim(&queue, "w");
    assert!(queue.finish(&claimed, &Ended::GivenBack).unwrap());
    assert_eq!(queue.waiting(9).unwrap(), [first, second]);
    assert_eq!(claim(&queue, "w").attempt, 2);
    assert!(!done(&queue, &claimed, "a", b"r"));
}

#[test]
fn owners_take_turns_and_kinds_are_told_apart() {
    let queue = temporary(Limits::default());
    let mut names = std::collections::BTreeMap::new();
    for (name, owner) in
        [("a1", "a"), ("a2", "a"), ("a3", "a"), ("b1", "b"), ("b2", "b"), ("c1", "c")]
    {
        let job = job(name, owner);
        queue.submit(&job, &[]).unwrap();
        names.insert(job.id, name);
        sleep(Duration::from_millis(2));
    }
    let order: Vec<&str> = queue.waiting(99).unwrap().iter().map(|id| names[id]).collect();
    assert_eq!(order, ["a1", "b1", "c1", "a2", "b2", "a3"]);
    assert_eq!(queue.claim("w", &["test/2"]).unwrap(), None);
    assert_eq!(names[&queue.claim("w", &["test/2", KIND]).unwrap().unwrap().id], "a1");
}

#[test]
fn a_full_queue_takes_no_more_and_keeps_nothing_of_it() {
    let queue = temporary(Limits { waiting: 2, ..Limits::default() });
    submit(&queue, "a");
    submit(&queue, "b");
    let error = Content::with(b"much", |content| queue.submit(&job("c", "me"), &[content]));
    assert!(matches!(error, Err(QueueError::Full { most: 2 })), "{error:?}");
    assert_eq!(queue.kept().unwrap(), (0, 0));
    claim(&queue, "w");
    submit(&queue, "c");
}

#[test]
fn what_is_too_old_too_many_or_too_large_is_dropped_but_not_what_is_needed() {
    let limits = Limits { count: 3, bytes: 2000, ..Limits::default() };
    let queue = temporary(limits);
    let mut ids = Vec::new();
    for index in 0..5u8 {
        let job = job(&format!("{index}"), "me");
        Content::with(&[index; 100], |content| queue.submit(&job, &[content]).unwrap());
        assert!(done(&queue, &claim(&queue, "w"), &format!("{index}"), &[index; 50]));
        ids.push(job.id);
        sleep(Duration::from_millis(2));
    }
    // Asking for a job makes it young.
    queue.touch(&ids[0]).unwrap();
    queue.sweep().unwrap();
    let there: Vec<bool> = ids.iter().map(|id| queue.look(id).unwrap().is_some()).collect();
    assert_eq!(there, [true, false, false, true, true]);
    assert_eq!(queue.kept().unwrap(), (150, 3), "of jobs that are over the results alone");
    let waits = job("large", "me");
    Content::with(&[9; 3000], |content| queue.submit(&waits, &[content]).unwrap());
    queue.sweep().unwrap();
    assert_eq!(queue.kept().unwrap(), (3150, 4), "what a job needs that waits counts for nothing");
    assert!(done(&queue, &claim(&queue, "w"), "large", &[8; 1950]));
    queue.sweep().unwrap();
    assert_eq!(queue.kept().unwrap(), (2000, 2));
    assert_eq!(look(&queue, &waits.id).state, JobState::Done);
    let old = temporary(Limits { age: Duration::from_millis(50), ..Limits::default() });
    let id = submit(&old, "a");
    assert!(done(&old, &claim(&old, "w"), "a", b"r"));
    sleep(Duration::from_millis(100));
    assert_eq!(old.sweep().unwrap().jobs, 1);
    assert_eq!(old.look(&id).unwrap(), None);
    assert_eq!(old.result("a").unwrap(), None);
}

#[test]
fn contents_that_are_not_what_they_say_are_refused() {
    let queue = temporary(Limits::default());
    let read = |_: usize, length: usize| Ok(vec![7; length]);
    let content = Content { hash: hash_of([&b"other"[..]]), length: 5, read: &read };
    let error = queue.submit(&job("a", "me"), &[content]).unwrap_err();
    assert!(matches!(error, QueueError::Content { .. }), "{error}");
    assert_eq!((queue.kept().unwrap(), queue.waiting(9).unwrap()), ((0, 0), vec![]));
    let hash = hash_of([&b"12345"[..]]);
    let waits = job("a", "me");
    Content::with(b"12345", |content| queue.submit(&waits, &[content]).unwrap());
    assert!(queue.whole_content(&hash, 4).unwrap_err().to_string().contains("longer"));
    assert!(queue.whole_content("none", 4).unwrap_err().to_string().contains("not there"));
}
