//! A TensorFlow Lite file in the order, and with the offsets, that need the smallest arena.

use tilewright_app::{Host, rearrange};
use tilewright_order::Budget;

use super::import::file_stem;
use super::{Outcome, sha256};
use crate::message::{FileFacts, ImportReply, Reordered};

/// What a worker spends at most: some seconds.
const BUDGET: Budget = Budget { work: 200_000_000, memory: 128 << 20 };

/// Rearranges a file.
///
/// # Errors
/// What about the file cannot be written.
pub fn reorder(name: &str, bytes: &[u8], host: &dyn Host) -> Outcome<ImportReply> {
    let (found, written) = rearrange(name, bytes, BUDGET, host)?;
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let file = FileFacts {
        name: format!("{}-reordered.tflite", file_stem(stem)),
        bytes: written.len() as u64,
        sha256: sha256(&written),
    };
    let report = &found.report;
    let count = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
    let reordered = Reordered {
        file,
        operators: count(report.operators),
        moved: count(report.moved),
        before_bytes: report.before.0,
        arena_bytes: report.arena.0,
        lower_bound_bytes: report.lower_bound.0,
    };
    Ok((ImportReply::Reordered(reordered), vec![written]))
}
