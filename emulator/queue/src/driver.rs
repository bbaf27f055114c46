//! A connection to a database, of either kind.

mod postgres;
mod sqlite;

use crate::error::QueueError;
use crate::location::Location;

/// A value that goes in or comes out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    Nothing,
    Number(i64),
    Text(String),
    Bytes(Vec<u8>),
}

/// A line of an answer, from its first column on.
#[derive(Debug)]
pub struct Row(pub std::vec::IntoIter<Value>);

impl Row {
    /// The next column; 0 if it holds no number.
    pub fn number(&mut self) -> i64 {
        match self.0.next() {
            Some(Value::Number(number)) => number,
            _ => 0,
        }
    }

    /// The next column; empty if it holds no text.
    pub fn text(&mut self) -> String {
        self.maybe_text().unwrap_or_default()
    }

    /// The next column.
    pub fn maybe_text(&mut self) -> Option<String> {
        match self.0.next() {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// The next column; empty if it holds no bytes.
    pub fn bytes(&mut self) -> Vec<u8> {
        match self.0.next() {
            Some(Value::Bytes(bytes)) => bytes,
            _ => Vec::new(),
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<&[u8]> for Value {
    fn from(bytes: &[u8]) -> Self {
        Self::Bytes(bytes.to_vec())
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

/// A connection. In statements `$1` is the first value, `@now` the database's time in milliseconds, `@bytes` the type
/// of bytes, `@skip` leaves out what others have locked, `@schema` makes the place of the tables.
pub trait Driver: Send {
    /// Does a statement; the lines of its answer.
    fn rows(&mut self, statement: &str, values: &[Value]) -> Result<Vec<Row>, QueueError>;

    /// Does a statement; how many lines it changed.
    fn change(&mut self, statement: &str, values: &[Value]) -> Result<u64, QueueError>;

    /// Does several statements that take no values.
    fn all(&mut self, statements: &str) -> Result<(), QueueError>;

    /// What begins a change that holds as a whole: beside others', or alone.
    fn begin(&self, alone: bool) -> &'static str;

    /// Whether there are tables of a queue; an error if there are others in their place.
    fn has_tables(&mut self) -> Result<bool, QueueError>;

    /// Gives room back to the system that is not needed any more.
    fn shrink(&mut self) -> Result<(), QueueError>;

    /// Whether the connection is gone.
    fn is_lost(&self) -> bool;
}

/// Does something that holds as a whole or not at all: beside others, or alone.
///
/// # Errors
/// If it cannot begin, fails, or cannot be kept. The connection can be used again in each case.
pub fn whole<T>(
    driver: &mut dyn Driver,
    alone: bool,
    what: impl FnOnce(&mut dyn Driver) -> Result<T, QueueError>,
) -> Result<T, QueueError> {
    let done = || {
        driver.all(driver.begin(alone))?;
        let done = what(driver)?;
        driver.all("COMMIT").map(|()| done)
    };
    let done = done();
    if done.is_err() {
        // A begin may have waited in vain for a lock, and a commit may have found no room: both leave a change that is
        // open. A connection that is gone has undone it already.
        let _ = driver.all("ROLLBACK");
    }
    done
}

/// Connects.
pub fn connect(location: &Location) -> Result<Box<dyn Driver>, QueueError> {
    Ok(match location {
        Location::Temporary => Box::new(sqlite::Sqlite::open(None, location)?),
        Location::File(path) => Box::new(sqlite::Sqlite::open(Some(path), location)?),
        Location::Postgres(address) => Box::new(postgres::Postgres::connect(address, location)?),
    })
}
