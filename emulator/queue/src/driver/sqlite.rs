//! SQLite, in a file.

use std::path::Path;
use std::time::Duration;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Error, ErrorCode, ToSql, params_from_iter};

use super::{Driver, Row, Value};
use crate::error::QueueError;
use crate::location::Location;

/// How long another process may hold the file.
const PATIENCE: Duration = Duration::from_secs(5);
/// What is wrong with a file that somebody else made.
const OTHER: &str = "it holds something else";
/// Statements that are kept translated.
const STATEMENTS: usize = 64;

pub struct Sqlite {
    connection: Connection,
    place: String,
}

impl Sqlite {
    /// Opens the file, which is made if there is none; without a path one that goes with the connection.
    pub fn open(path: Option<&Path>, location: &Location) -> Result<Self, QueueError> {
        let place = location.to_string();
        let connection = Connection::open(path.unwrap_or(Path::new("")));
        let connection = connection.map_err(|error| problem(&error, &place))?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        let ready = connection.busy_timeout(PATIENCE).and_then(|()| {
            // A file that is new takes the first; a killed process leaves at most changes that are not whole, which
            // the log does not count.
            connection.execute_batch(
                "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; \
                 PRAGMA synchronous = NORMAL; PRAGMA cache_size = -2048; PRAGMA journal_size_limit = 16777216;",
            )
        });
        ready.map_err(|error| problem(&error, &place))?;
        if connection.is_readonly("main").unwrap_or(false) {
            return Err(QueueError::ReadOnly { place });
        }
        Ok(Self { connection, place })
    }

    fn problem(&self, error: &Error) -> QueueError {
        problem(error, &self.place)
    }
}

fn problem(error: &Error, place: &str) -> QueueError {
    let place = place.to_owned();
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => QueueError::Locked { place },
        Some(ErrorCode::ReadOnly) => QueueError::ReadOnly { place },
        Some(ErrorCode::DiskFull) => QueueError::NoRoom { place },
        Some(ErrorCode::NotADatabase) => QueueError::Address { given: place, why: OTHER },
        Some(ErrorCode::CannotOpen) => QueueError::Away { place, why: error.to_string() },
        _ => QueueError::Database { place, why: error.to_string() },
    }
}

fn translated(statement: &str) -> String {
    let statement = statement.replace('$', "?").replace("@bytes", "BLOB");
    let statement = statement.replace("@skip", "").replace("@schema", "");
    statement.replace("@now", "CAST(unixepoch('subsec') * 1000 AS INTEGER)")
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Nothing => ValueRef::Null,
            Self::Number(number) => ValueRef::Integer(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

fn value(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Integer(number) => Value::Number(number),
        ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Value::Bytes(bytes.to_vec()),
        ValueRef::Null | ValueRef::Real(_) => Value::Nothing,
    }
}

impl Driver for Sqlite {
    fn rows(&mut self, statement: &str, values: &[Value]) -> Result<Vec<Row>, QueueError> {
        let rows = || {
            let mut statement = self.connection.prepare_cached(&translated(statement))?;
            let columns = statement.column_count();
            let rows = statement.query_map(params_from_iter(values), |row| {
                let row: Result<Vec<Value>, Error> =
                    (0..columns).map(|column| Ok(value(row.get_ref(column)?))).collect();
                Ok(Row(row?.into_iter()))
            })?;
            rows.collect::<Result<Vec<Row>, Error>>()
        };
        rows().map_err(|error| self.problem(&error))
    }

    fn change(&mut self, statement: &str, values: &[Value]) -> Result<u64, QueueError> {
        let change = || {
            let mut statement = self.connection.prepare_cached(&translated(statement))?;
            statement.execute(params_from_iter(values))
        };
        change().map(|lines| lines as u64).map_err(|error| self.problem(&error))
    }

    fn all(&mut self, statements: &str) -> Result<(), QueueError> {
        let done = self.connection.execute_batch(&translated(statements));
        done.map_err(|error| self.problem(&error))
    }

    fn begin(&self, _: bool) -> &'static str {
        // One that reads first and is then to write could be refused without waiting.
        "BEGIN IMMEDIATE"
    }

    fn has_tables(&mut self) -> Result<bool, QueueError> {
        let tables =
            "SELECT name = 'format' FROM sqlite_master WHERE type = 'table' ORDER BY 1 DESC";
        match self.rows(tables, &[])?.into_iter().next().map(|mut row| row.number()) {
            None => Ok(false),
            Some(0) => Err(QueueError::Address { given: self.place.clone(), why: OTHER }),
            Some(_) => Ok(true),
        }
    }

    fn shrink(&mut self) -> Result<(), QueueError> {
        let freed = self.connection.execute_batch("PRAGMA incremental_vacuum;");
        freed.map_err(|error| self.problem(&error))
    }

    fn is_lost(&self) -> bool {
        false
    }
}
