//! The tables, and which format they have.

use crate::driver::{Driver, Row, whole};
use crate::error::QueueError;

/// Format of the tables; another is refused.
pub const FORMAT: i64 = 1;

/// `uses` says which contents a job that is not over, or a result, needs.
const TABLES: &str = "@schema
CREATE TABLE format (number BIGINT NOT NULL);
CREATE TABLE blobs (hash TEXT PRIMARY KEY, length BIGINT NOT NULL);
CREATE TABLE pieces (hash TEXT NOT NULL, number BIGINT NOT NULL, bytes @bytes NOT NULL,
    PRIMARY KEY (hash, number));
CREATE TABLE uses (owner TEXT NOT NULL, hash TEXT NOT NULL, PRIMARY KEY (owner, hash));
CREATE INDEX uses_hash ON uses (hash);
CREATE TABLE results (key TEXT PRIMARY KEY, hash TEXT NOT NULL);
CREATE TABLE jobs (id TEXT PRIMARY KEY, kind TEXT NOT NULL, payload @bytes NOT NULL, owner TEXT NOT NULL,
    turn BIGINT NOT NULL, born BIGINT NOT NULL, state TEXT NOT NULL, attempt BIGINT NOT NULL,
    lost BIGINT NOT NULL, worker TEXT, lease BIGINT, cancel @bytes, news @bytes, problem @bytes, key TEXT NOT NULL,
    seen BIGINT NOT NULL);
CREATE INDEX jobs_next ON jobs (turn, born, id) WHERE state = 'waiting';
CREATE INDEX jobs_owner ON jobs (owner, turn) WHERE state = 'waiting';
CREATE INDEX jobs_lease ON jobs (lease) WHERE state = 'running';
CREATE INDEX jobs_seen ON jobs (seen) WHERE state IN ('done', 'failed', 'cancelled');
CREATE INDEX jobs_key ON jobs (key);
";

/// Makes the tables if there are none, and sees that they are of this format.
///
/// # Errors
/// If they are of another, or cannot be made.
pub fn prepare(driver: &mut dyn Driver, place: &str) -> Result<(), QueueError> {
    // Whoever finds tables waits for nobody.
    if !driver.has_tables()? {
        whole(driver, true, |driver| {
            if driver.has_tables()? {
                return Ok(());
            }
            driver.all(TABLES)?;
            driver.change("INSERT INTO format (number) VALUES ($1)", &[FORMAT.into()]).map(|_| ())
        })?;
    }
    let found = driver.rows("SELECT number FROM format", &[])?;
    let found = found.into_iter().next().map_or(0, |mut row: Row| row.number());
    if found == FORMAT {
        return Ok(());
    }
    Err(QueueError::OtherVersion { place: place.to_owned(), found, known: FORMAT })
}
