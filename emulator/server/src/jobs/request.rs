//! What a worker is told of a run.

use std::collections::BTreeMap;
use std::io;

use serde::{Deserialize, Serialize};
use tilewright_app::Diagnostic;
use tilewright_queue::{Content, Database, hash_of};

use crate::config::Config;
use crate::upload::{Part, Spool, Upload};

/// Runs, with payloads of the form below. Another form is another kind: no worker reads what it does not know.
pub const KIND: &str = "run/1";

/// A run on its way to a worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunRequest {
    /// Board id.
    pub board: String,
    /// The upload, its parts by name.
    pub upload: Upload<Named>,
}

/// A part that lies in the queue under its hash.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Named {
    hash: String,
    length: usize,
}

impl RunRequest {
    /// The request for an upload, and its parts.
    ///
    /// # Errors
    /// If a part cannot be read.
    pub fn of(board: &str, upload: Upload<Part>) -> io::Result<(Self, BTreeMap<Named, Part>)> {
        let mut parts = BTreeMap::new();
        let upload = upload.map(|part| {
            let pieces: Vec<usize> = part.starts().collect();
            let mut hash = tilewright_queue::Hash::default();
            for start in pieces {
                hash.update(&part.read(start, Part::PIECE)?);
            }
            let named = Named { hash: hash.name(), length: part.length() };
            parts.insert(named.clone(), part);
            Ok::<_, io::Error>(named)
        })?;
        Ok((Self { board: board.to_owned(), upload }, parts))
    }

    /// The request's bytes.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn payload(&self) -> Result<Vec<u8>, Diagnostic> {
        serde_json::to_vec(self).map_err(|error| Diagnostic::ours(format!("{error}."), "run"))
    }

    /// The request in a payload.
    ///
    /// # Errors
    /// If it is none.
    pub fn read(payload: &[u8]) -> Result<Self, Diagnostic> {
        serde_json::from_slice(payload).map_err(|error| super::unreadable(&error.to_string()))
    }

    /// The upload with its parts, brought out of the queue within the limits of uploads.
    ///
    /// # Errors
    /// If a part is gone, is not what it should be, or is too long.
    pub fn bring(self, queue: &Database, config: &Config) -> Result<Upload<Part>, Diagnostic> {
        let spool = Spool::default();
        let most = config.file_bytes.max(config.store_bytes);
        self.upload.map(|named| {
            let failed =
                |error: io::Error| Diagnostic::ours(format!("{error}."), "temporary files");
            let mut part = spool.part().map_err(failed)?;
            queue
                .read(&named.hash, most, |piece| part.write(piece))
                .map_err(|error| super::problem_of(&error))?;
            Ok(part)
        })
    }
}

/// Hash of all that a result follows from.
#[must_use]
pub fn key(build: &str, firmware: &[u8], config: &Config, payload: &[u8]) -> String {
    let firmware = hash_of([firmware]);
    let Config { engine, instructions, console_bytes, result_bytes, quantising, .. } = config;
    let limits = format!(
        "{engine:?} {instructions} {console_bytes} {result_bytes} {:?} {:?}",
        quantising.macs, quantising.values
    );
    // The payload is the only one of them that has no end of its own.
    let words = [KIND, build, &firmware, &limits].map(|word| format!("{word}\n"));
    let all = words.iter().map(String::as_bytes).chain([payload]);
    hash_of(all)
}

/// What reads a part for the queue.
pub type Reader<'p> = Box<dyn Fn(usize, usize) -> io::Result<Vec<u8>> + 'p>;

/// Readers of parts.
pub fn readers(parts: &BTreeMap<Named, Part>) -> Vec<(&Named, Reader<'_>)> {
    let reader = |part: &Part| -> Reader<'static> {
        let part = part.clone();
        Box::new(move |from, length| part.read(from, length))
    };
    parts.iter().map(|(named, part)| (named, reader(part))).collect()
}

/// The contents that readers read.
pub fn contents<'r>(readers: &'r [(&Named, Reader<'r>)]) -> Vec<Content<'r>> {
    let content = |(named, read): &'r (&Named, Reader<'r>)| Content {
        hash: named.hash.clone(),
        length: named.length,
        read: read.as_ref(),
    };
    readers.iter().map(content).collect()
}
