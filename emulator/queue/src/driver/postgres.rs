//! PostgreSQL, by address.

use std::collections::BTreeMap;
use std::error::Error as _;
use std::time::Duration;

use postgres::config::SslMode;
use postgres::error::SqlState;
use postgres::types::private::BytesMut;
use postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use postgres::{Client, Config, Error, NoTls, Statement};

use super::{Driver, Row, Value};
use crate::error::QueueError;
use crate::location::Location;

/// How long the database may take to take a connection.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long it may take nothing of what it is sent.
const SILENCE: Duration = Duration::from_secs(30);

pub struct Postgres {
    /// There until this is dropped.
    client: Option<Client>,
    statements: BTreeMap<String, Statement>,
    place: String,
}

impl Postgres {
    /// Connects; all tables lie in the schema `tilewright`.
    pub fn connect(address: &str, location: &Location) -> Result<Self, QueueError> {
        let place = location.to_string();
        let wrong = |why| QueueError::Address { given: place.clone(), why };
        let mut config: Config =
            address.parse().map_err(|_| wrong("it is not as PostgreSQL addresses are"))?;
        if config.get_ssl_mode() == SslMode::Require {
            return Err(wrong("connections are not encrypted: reach the database by a tunnel"));
        }
        // A database whose machine vanished must not hold this one for good.
        config.application_name("tilewright").keepalives_idle(Duration::from_secs(60));
        config.keepalives_interval(PATIENCE).keepalives_retries(3).tcp_user_timeout(SILENCE);
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(PATIENCE);
        }
        let client = config.connect(NoTls).map_err(|error| problem(&error, &place))?;
        let mut this = Self { client: Some(client), statements: BTreeMap::new(), place };
        // A lock that another holds, or a statement that never ends, must not hold this one for good.
        this.all(
            "SET lock_timeout = '5s'; SET statement_timeout = '60s'; \
             SET client_min_messages = warning; SET search_path TO tilewright;",
        )?;
        let is_read_only = this.rows("SHOW transaction_read_only", &[])?;
        if is_read_only.into_iter().any(|mut row| row.text() == "on") {
            return Err(QueueError::ReadOnly { place: this.place.clone() });
        }
        Ok(this)
    }

    fn client(&mut self) -> &mut Client {
        self.client.as_mut().expect("it is there until this is dropped")
    }

    fn prepared(&mut self, statement: &str) -> Result<Statement, Error> {
        if let Some(known) = self.statements.get(statement) {
            return Ok(known.clone());
        }
        let new = self.client().prepare(&translated(statement))?;
        self.statements.insert(statement.to_owned(), new.clone());
        Ok(new)
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // It says goodbye, which blocks: whoever drops this may be where nothing may.
        let client = self.client.take();
        std::thread::spawn(move || drop(client));
    }
}

fn translated(statement: &str) -> String {
    let now = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)";
    let statement = statement.replace("@bytes", "BYTEA").replace("@now", now);
    let schema = "CREATE SCHEMA IF NOT EXISTS tilewright;";
    statement.replace("@skip", "FOR UPDATE SKIP LOCKED").replace("@schema", schema)
}

fn problem(error: &Error, place: &str) -> QueueError {
    let place = place.to_owned();
    let why = match (error.as_db_error(), error.source()) {
        (Some(said), _) => said.message().to_owned(),
        (None, Some(source)) => source.to_string(),
        (None, None) => error.to_string(),
    };
    match error.code() {
        Some(code) if *code == SqlState::LOCK_NOT_AVAILABLE => QueueError::Locked { place },
        // Two waited for each other, and this one was told to give way.
        Some(code) if code.code().starts_with("40") => QueueError::Locked { place },
        Some(code) if *code == SqlState::DISK_FULL => QueueError::NoRoom { place },
        Some(code) if *code == SqlState::READ_ONLY_SQL_TRANSACTION => {
            QueueError::ReadOnly { place }
        }
        // Ending, starting, and too many connections (classes 57 and 53), or no connection at all.
        Some(code) if ["57P", "53"].iter().any(|class| code.code().starts_with(class)) => {
            QueueError::Away { place, why }
        }
        None => QueueError::Away { place, why },
        Some(_) => QueueError::Database { place, why },
    }
}

impl ToSql for Value {
    fn to_sql(
        &self,
        kind: &Type,
        to: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Self::Nothing => Ok(IsNull::Yes),
            Self::Number(number) => number.to_sql(kind, to),
            Self::Text(text) => text.to_sql(kind, to),
            Self::Bytes(bytes) => bytes.to_sql(kind, to),
        }
    }

    fn accepts(kind: &Type) -> bool {
        [Type::INT8, Type::TEXT, Type::BYTEA].contains(kind)
    }

    to_sql_checked!();
}

fn value(row: &postgres::Row, column: usize, kind: &Type) -> Result<Value, Error> {
    Ok(if *kind == Type::INT8 {
        row.try_get::<_, Option<i64>>(column)?.map_or(Value::Nothing, Value::Number)
    } else if *kind == Type::BYTEA {
        row.try_get::<_, Option<Vec<u8>>>(column)?.map_or(Value::Nothing, Value::Bytes)
    } else {
        row.try_get::<_, Option<String>>(column)?.map_or(Value::Nothing, Value::Text)
    })
}

impl Driver for Postgres {
    fn rows(&mut self, statement: &str, values: &[Value]) -> Result<Vec<Row>, QueueError> {
        let mut rows = || {
            let statement = self.prepared(statement)?;
            let given: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| value as _).collect();
            let rows = self.client().query(&statement, &given)?;
            let row = |row: &postgres::Row| {
                let columns = row.columns().iter().enumerate();
                let values = columns.map(|(index, column)| value(row, index, column.type_()));
                Ok(Row(values.collect::<Result<Vec<_>, Error>>()?.into_iter()))
            };
            rows.iter().map(row).collect::<Result<Vec<_>, Error>>()
        };
        rows().map_err(|error| problem(&error, &self.place))
    }

    fn change(&mut self, statement: &str, values: &[Value]) -> Result<u64, QueueError> {
        let mut change = || {
            let statement = self.prepared(statement)?;
            let given: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| value as _).collect();
            self.client().execute(&statement, &given)
        };
        change().map_err(|error| problem(&error, &self.place))
    }

    fn all(&mut self, statements: &str) -> Result<(), QueueError> {
        let done = self.client().batch_execute(&translated(statements));
        done.map_err(|error| problem(&error, &self.place))
    }

    fn begin(&self, alone: bool) -> &'static str {
        // Whoever cleans up must not see a content before the job that needs it.
        if alone {
            "BEGIN; SELECT pg_advisory_xact_lock(7428350911)"
        } else {
            "BEGIN; SELECT pg_advisory_xact_lock_shared(7428350911)"
        }
    }

    fn has_tables(&mut self) -> Result<bool, QueueError> {
        let known = "SELECT 1::bigint FROM pg_tables \
                     WHERE schemaname = 'tilewright' AND tablename = 'format'";
        Ok(!self.rows(known, &[])?.is_empty())
    }

    fn shrink(&mut self) -> Result<(), QueueError> {
        // The database does that by itself.
        Ok(())
    }

    fn is_lost(&self) -> bool {
        self.client.as_ref().is_none_or(Client::is_closed)
    }
}
