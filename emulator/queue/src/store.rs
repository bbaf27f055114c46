//! Contents under their hashes, in pieces, so that nobody holds a large one in memory.

use std::collections::BTreeMap;

use crate::database::Database;
use crate::driver::Driver;
use crate::error::QueueError;
use crate::queue::{Content, Hash};

/// Bytes of a piece.
const PIECE: usize = 1 << 20;

/// Keeps a content that `owner` needs.
///
/// # Errors
/// If it cannot be read, is not what its hash says, or cannot be kept.
pub fn keep(driver: &mut dyn Driver, owner: &str, content: &Content<'_>) -> Result<(), QueueError> {
    let Content { hash, length, read } = content;
    let new = driver.change(
        "INSERT INTO blobs (hash, length) VALUES ($1, $2) ON CONFLICT DO NOTHING",
        &[hash.as_str().into(), (*length as i64).into()],
    )?;
    driver.change(
        "INSERT INTO uses (owner, hash) VALUES ($1, $2) ON CONFLICT DO NOTHING",
        &[owner.into(), hash.as_str().into()],
    )?;
    if new == 0 {
        return Ok(());
    }
    let mut seen = Hash::default();
    for (number, start) in (0..*length).step_by(PIECE).enumerate() {
        let piece = read(start, PIECE.min(length - start))?;
        seen.update(&piece);
        driver.change(
            "INSERT INTO pieces (hash, number, bytes) VALUES ($1, $2, $3)",
            &[hash.as_str().into(), (number as i64).into(), piece.as_slice().into()],
        )?;
    }
    if seen.name() == *hash {
        return Ok(());
    }
    Err(QueueError::Content { hash: hash.clone(), what: "not what was to be kept" })
}

impl Database {
    /// Gives a content to `take`, a piece at a time; nothing counts if it fails.
    ///
    /// # Errors
    /// If it is gone, longer than `most` bytes, not what its hash says, or `take` fails.
    pub fn read(
        &self,
        hash: &str,
        most: usize,
        mut take: impl FnMut(&[u8]) -> std::io::Result<()>,
    ) -> Result<(), QueueError> {
        let wrong = |what| QueueError::Content { hash: hash.to_owned(), what };
        let length = self.with(|driver| {
            driver.rows("SELECT length FROM blobs WHERE hash = $1", &[hash.into()])
        })?;
        let length = length.into_iter().next().ok_or_else(|| wrong("not there any more"))?.number();
        let length = usize::try_from(length).map_err(|_| wrong("damaged"))?;
        if length > most {
            return Err(wrong("longer than allowed"));
        }
        let mut seen = Hash::default();
        for number in 0..length.div_ceil(PIECE) {
            let piece = self.with(|driver| {
                driver.rows(
                    "SELECT bytes FROM pieces WHERE hash = $1 AND number = $2 AND LENGTH(bytes) <= CAST($3 AS BIGINT)",
                    &[hash.into(), (number as i64).into(), (PIECE as i64).into()],
                )
            })?;
            let piece =
                piece.into_iter().next().ok_or_else(|| wrong("not there any more"))?.bytes();
            seen.update(&piece);
            take(&piece)?;
        }
        if seen.name() == hash { Ok(()) } else { Err(wrong("damaged")) }
    }

    /// A whole content.
    ///
    /// # Errors
    /// Those of [`Self::read`].
    pub fn whole_content(&self, hash: &str, most: usize) -> Result<Vec<u8>, QueueError> {
        let mut bytes = Vec::new();
        self.read(hash, most, |piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        })?;
        Ok(bytes)
    }

    /// The hash of the result under a key.
    ///
    /// # Errors
    /// If the queue cannot be used.
    pub fn result(&self, key: &str) -> Result<Option<String>, QueueError> {
        self.with(|driver| result(driver, key))
    }

    /// Bytes of all contents, and how many there are.
    ///
    /// # Errors
    /// If the queue cannot be used.
    pub fn kept(&self) -> Result<(u64, u64), QueueError> {
        self.with(|driver| {
            let all = "SELECT CAST(COALESCE(SUM(length), 0) AS BIGINT), COUNT(*) FROM blobs";
            let row = driver.rows(all, &[])?.into_iter().next();
            Ok(row.map_or((0, 0), |mut row| (row.number() as u64, row.number() as u64)))
        })
    }

    /// How many jobs there are in each state, under the state's word.
    ///
    /// # Errors
    /// If the queue cannot be used.
    pub fn counts(&self) -> Result<BTreeMap<String, u64>, QueueError> {
        self.with(|driver| {
            let rows = driver.rows("SELECT state, COUNT(*) FROM jobs GROUP BY state", &[])?;
            Ok(rows.into_iter().map(|mut row| (row.text(), row.number() as u64)).collect())
        })
    }
}

pub fn result(driver: &mut dyn Driver, key: &str) -> Result<Option<String>, QueueError> {
    let rows = driver.rows("SELECT hash FROM results WHERE key = $1", &[key.into()])?;
    Ok(rows.into_iter().next().map(|mut row| row.text()))
}
