//! A server of PostgreSQL that locks, refuses, or goes away: if TILEWRIGHT_POSTGRES is its address.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{claim, database, done, look, submit};
use postgres::{Client, NoTls};
use tilewright_queue::{Database, JobState, Limits, Location, QueueError};

fn open(address: &str) -> Result<Database, QueueError> {
    Database::open(address.parse::<Location>().unwrap(), Limits::default())
}

#[test]
fn a_lock_that_another_holds_too_long_is_told_and_the_queue_goes_on_behind_it() {
    let Some(address) = database() else { return };
    let queue = open(&address).unwrap();
    let mut other = Client::connect(&address, NoTls).unwrap();
    other.batch_execute("BEGIN; SELECT pg_advisory_xact_lock(7428350911)").unwrap();
    let error = queue.sweep().unwrap_err();
    assert!(matches!(error, QueueError::Locked { .. }) && error.may_pass(), "{error}");
    drop(open(&address).expect("whoever finds tables waits for nobody"));
    other.batch_execute("ROLLBACK").unwrap();
    queue.sweep().unwrap();
    submit(&queue, "a");
}

#[test]
fn a_connection_that_is_cut_is_made_anew() {
    let Some(address) = database() else { return };
    let queue = open(&address).unwrap();
    let id = submit(&queue, "a");
    let claimed = claim(&queue, "w");
    let mut other = Client::connect(&address, NoTls).unwrap();
    let cut = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity \
               WHERE datname = current_database() AND pid <> pg_backend_pid()";
    other.batch_execute(cut).unwrap();
    let error = queue.touch(&id).unwrap_err();
    assert!(matches!(error, QueueError::Away { .. }), "{error}");
    assert!(done(&queue, &claimed, "a", b"r"));
    assert_eq!(look(&queue, &id).state, JobState::Done);
}

#[test]
fn a_database_that_can_only_be_read_is_told() {
    let Some(address) = database() else { return };
    drop(open(&address).unwrap());
    let (_, name) = address.rsplit_once('/').unwrap();
    let mut other = Client::connect(&address, NoTls).unwrap();
    let change = format!("ALTER DATABASE {name} SET default_transaction_read_only = on");
    other.batch_execute(&change).unwrap();
    let error = open(&address).unwrap_err();
    assert!(matches!(error, QueueError::ReadOnly { .. }), "{error}");
}

#[test]
fn a_role_that_may_make_nothing_uses_what_is_there() {
    let Some(address) = database() else { return };
    let queue = open(&address).unwrap();
    let (server, name) = address.rsplit_once('/').unwrap();
    let mut other = Client::connect(&address, NoTls).unwrap();
    let role = format!("role_{name}");
    let grants = format!(
        "CREATE ROLE {role} LOGIN; GRANT USAGE ON SCHEMA tilewright TO {role}; \
         GRANT ALL ON ALL TABLES IN SCHEMA tilewright TO {role};"
    );
    other.batch_execute(&grants).unwrap();
    submit(&queue, "a");
    let (_, host) = server.rsplit_once('@').unwrap();
    let worker = open(&format!("postgres://{role}@{host}/{name}")).unwrap();
    assert!(done(&worker, &claim(&worker, "w"), "a", b"r"));
}
