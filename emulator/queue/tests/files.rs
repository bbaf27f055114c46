//! Files of SQLite that cannot be used: locked, only to be read, of another version, no queue at all.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs;
use std::time::Duration;

use common::{claim, done, file, result, short, submit};
use tilewright_queue::{Database, Limits, Location, Queue, QueueError};

#[test]
fn a_locked_file_is_told_and_nothing_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("queue.sqlite");
    let queue = file(&path, Limits { lease: Duration::from_secs(60), ..short() });
    let id = submit(&queue, "a");
    let claimed = claim(&queue, "w");
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let error = queue.beat(&claimed, b"").unwrap_err();
    assert!(matches!(error, QueueError::Locked { .. }) && error.may_pass(), "{error}");
    other.execute_batch("ROLLBACK").unwrap();
    assert!(done(&queue, &claimed, "a", b"r"));
    assert_eq!(result(&queue, &id), b"r");
}

#[test]
fn a_file_of_another_version_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("queue.sqlite");
    submit(&file(&path, Limits::default()), "a");
    let change = |number: i64| {
        let other = rusqlite::Connection::open(&path).unwrap();
        other.execute("UPDATE format SET number = ?1", [number]).unwrap();
    };
    change(7);
    let error = Database::open(Location::File(path.clone()), Limits::default()).unwrap_err();
    assert!(matches!(error, QueueError::OtherVersion { found: 7, .. }), "{error}");
    assert!(error.to_string().contains("queue.sqlite"), "{error}");
    change(1);
    claim(&file(&path, Limits::default()), "w");
}

#[test]
fn what_is_no_queue_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text");
    fs::write(&text, "this is a text and no database, as anyone can see who reads it".repeat(40))
        .unwrap();
    let foreign = folder.path().join("foreign.sqlite");
    let other = rusqlite::Connection::open(&foreign).unwrap();
    other.execute_batch("CREATE TABLE jobs (mine TEXT)").unwrap();
    for path in [text.clone(), foreign.clone()] {
        let error = Database::open(Location::File(path), Limits::default()).unwrap_err();
        assert!(error.to_string().contains("holds something else"), "{error}");
    }
    let tables = "SELECT COUNT(*) FROM sqlite_master";
    let count = other.query_row(tables, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(count, 1, "what others made is left alone");
    for path in [text, folder.path().to_owned(), folder.path().join("none/queue.sqlite")] {
        let error = Database::open(Location::File(path.clone()), Limits::default()).unwrap_err();
        assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
    }
}

#[test]
fn a_file_that_can_only_be_read_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("queue.sqlite");
    drop(file(&path, Limits::default()));
    // Root may write anything: SQLite itself is asked to refuse.
    let address = Location::File(format!("file:{}?immutable=1", path.display()).into());
    let error = Database::open(address, Limits::default()).unwrap_err();
    assert!(matches!(error, QueueError::ReadOnly { .. }), "{error}");
}

#[test]
fn a_damaged_job_of_an_unknown_kind_stays_away_from_workers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("queue.sqlite");
    let queue = file(&path, short());
    let id = submit(&queue, "a");
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute("UPDATE jobs SET payload = zeroblob(5000000) WHERE id = ?1", [&id]).unwrap();
    assert_eq!(claim(&queue, "w").payload, b"", "what is too long is not read");
    other.execute("UPDATE jobs SET state = 'strange', kind = 'other/9'", []).unwrap();
    assert_eq!(queue.claim("w", &[common::KIND]).unwrap(), None);
    assert!(queue.look(&id).unwrap().unwrap().state.is_over());
}
