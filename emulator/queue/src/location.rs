//! Where a queue lies.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use crate::error::QueueError;

/// Where a queue lies.
#[derive(Clone, PartialEq, Eq)]
pub enum Location {
    /// A file of SQLite that is gone when the program ends.
    Temporary,
    /// A file of SQLite.
    File(PathBuf),
    /// A database of PostgreSQL, for many machines.
    Postgres(String),
}

impl FromStr for Location {
    type Err = QueueError;

    /// `temporary`, a file's path, `sqlite:PATH`, or `postgres://…`.
    fn from_str(text: &str) -> Result<Self, QueueError> {
        let wrong = |why| QueueError::Address { given: shown(text), why };
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return Ok(Self::Postgres(text.to_owned()));
        }
        let path = text.strip_prefix("sqlite://").or_else(|| text.strip_prefix("sqlite:"));
        match path.unwrap_or(text) {
            "temporary" => Ok(Self::Temporary),
            "" => Err(wrong("it is empty")),
            path if path.contains("://") => Err(wrong("only sqlite: and postgres: are known")),
            path => Ok(Self::File(PathBuf::from(path))),
        }
    }
}

impl Location {
    /// Whether what lies there is there still when the program has ended.
    #[must_use]
    pub const fn lasts(&self) -> bool {
        !matches!(self, Self::Temporary)
    }
}

impl fmt::Display for Location {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Temporary => to.write_str("a temporary file"),
            Self::File(path) => write!(to, "{}", path.display()),
            Self::Postgres(address) => to.write_str(&shown(address)),
        }
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "Location({self})")
    }
}

/// The address without user, password and options.
fn shown(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else { return address.to_owned() };
    let rest = rest.split('?').next().unwrap_or_default();
    let rest = rest.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_apart_and_shown_without_passwords() {
        let of = |text: &str| text.parse::<Location>();
        assert_eq!(of("temporary").unwrap(), Location::Temporary);
        assert_eq!(of("sqlite:a/b.sqlite").unwrap(), Location::File("a/b.sqlite".into()));
        assert_eq!(of("sqlite:///a/b").unwrap(), Location::File("/a/b".into()));
        assert_eq!(of("runs.sqlite").unwrap(), Location::File("runs.sqlite".into()));
        let far = of("postgres://me:secret@host:5433/runs?password=secret").unwrap();
        assert_eq!(far.to_string(), "postgres://host:5433/runs");
        assert!(!format!("{far:?}").contains("secret"));
        for wrong in ["", "mysql://me:secret@host/runs"] {
            let error = of(wrong).unwrap_err();
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }
}
