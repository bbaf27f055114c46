//! Rows of an experiment in a file, a line of JSON each, so that it can be gone on with later.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tilewright_app::{Blame, Diagnostic};

use crate::files;

/// Largest file of rows that is read.
const ROWS_LIMIT: u64 = 1 << 30;

/// What an experiment keeps.
pub trait Row: Serialize + DeserializeOwned {
    /// What a row is of.
    type Key: Ord;

    /// The experiment's name: "a sweep".
    const EXPERIMENT: &'static str;

    /// What it is of.
    fn key(&self) -> Self::Key;
}

/// The rows that are known, and the file that others are appended to.
pub struct Rows<'p, R: Row> {
    known: BTreeMap<R::Key, R>,
    kept: Option<Kept<'p>>,
}

impl<'p, R: Row> Rows<'p, R> {
    /// Those of a file, if one is wanted; none if it does not exist. A last line that was not finished is no row, and
    /// the next row takes its place.
    ///
    /// # Errors
    /// If the file cannot be read or written, or holds something else.
    pub fn open(path: Option<&'p Path>) -> Result<Self, Diagnostic> {
        let mut rows = Self { known: BTreeMap::new(), kept: None };
        if let Some(path) = path {
            let bytes = rows.read(path)?;
            rows.kept = Some(Kept::open(path, bytes)?);
        }
        Ok(rows)
    }

    /// Reads the file's rows; the bytes of their lines.
    fn read(&mut self, path: &Path) -> Result<u64, Diagnostic> {
        if !path.exists() {
            return Ok(0);
        }
        let text = files::read(path, "file of rows", ROWS_LIMIT)?;
        let text = String::from_utf8_lossy(&text);
        let mut bytes = 0;
        let lines = text.split_inclusive('\n').enumerate();
        for (index, line) in lines.filter(|(_, line)| line.ends_with('\n')) {
            let row: R = serde_json::from_str(line).map_err(|error| {
                let of = R::EXPERIMENT;
                Diagnostic::new(
                    Blame::BadInput,
                    format!("Line {} is no row of {of}: {error}.", index + 1),
                    path.display().to_string(),
                    format!("Give a file that {of} wrote, or one that does not exist yet."),
                )
            })?;
            bytes += line.len() as u64;
            self.known.insert(row.key(), row);
        }
        Ok(bytes)
    }

    /// The row, if it is known.
    pub fn get(&self, key: &R::Key) -> Option<&R> {
        self.known.get(key)
    }

    /// Knows a row from now on, and does not keep it.
    pub fn note(&mut self, row: R) {
        self.known.insert(row.key(), row);
    }

    /// Keeps a row.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn add(&mut self, row: R) -> Result<(), Diagnostic> {
        if let Some(kept) = &mut self.kept {
            kept.append(&row)?;
        }
        self.note(row);
        Ok(())
    }
}

/// The file that rows are appended to.
struct Kept<'p> {
    path: &'p Path,
    file: File,
}

impl<'p> Kept<'p> {
    /// Behind its first `bytes`.
    fn open(path: &'p Path, bytes: u64) -> Result<Self, Diagnostic> {
        let file = OpenOptions::new().append(true).create(true).open(path);
        let file = file.and_then(|file| file.set_len(bytes).map(|()| file));
        Ok(Self { path, file: file.map_err(|error| unwritable(path, &error))? })
    }

    fn append(&mut self, row: &impl Serialize) -> Result<(), Diagnostic> {
        let text = serde_json::to_string(row)
            .map_err(|error| Diagnostic::ours(format!("{error}."), "JSON"))?;
        let line = format!("{text}\n");
        self.file.write_all(line.as_bytes()).map_err(|error| unwritable(self.path, &error))
    }
}

fn unwritable(path: &Path, error: &std::io::Error) -> Diagnostic {
    Diagnostic::new(
        Blame::BadInput,
        format!("Rows cannot be kept: {error}."),
        path.display().to_string(),
        "Give a file that can be written.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Timed {
        of: u8,
        us: f64,
    }

    impl Row for Timed {
        type Key = u8;

        const EXPERIMENT: &'static str = "a test";

        fn key(&self) -> u8 {
            self.of
        }
    }

    #[test]
    fn what_is_kept_is_read_again_to_the_bit_and_what_is_noted_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.jsonl");
        let mut rows = Rows::open(Some(&path)).unwrap();
        // A number that quick readers of JSON take for its neighbour.
        let us = 1_451.050_925_925_925_9;
        rows.add(Timed { of: 1, us }).unwrap();
        rows.note(Timed { of: 2, us });
        assert!(rows.get(&1).is_some() && rows.get(&2).is_some());
        let again: Rows<'_, Timed> = Rows::open(Some(&path)).unwrap();
        assert_eq!((again.get(&1), again.get(&2)), (Some(&Timed { of: 1, us }), None));
    }
}
