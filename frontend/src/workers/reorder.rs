//! A TensorFlow Lite file in the order, and with the offsets, that need the smallest arena.

use tilewright_formats::Limits;
use tilewright_formats::reorder::{ReorderError, graph, write};
use tilewright_order::Budget;
use tilewright_planner::tflm::rearrange;
use tilewright_report::sentence;

use super::import::file_stem;
use super::{Outcome, sha256};
use crate::message::{FileFacts, ImportReply, Reordered, Trouble};

/// What a worker spends at most: some seconds.
const BUDGET: Budget = Budget { work: 200_000_000, memory: 128 << 20 };

/// Rearranges a file.
///
/// # Errors
/// What about the file cannot be written.
pub fn reorder(name: &str, bytes: &[u8]) -> Outcome<ImportReply> {
    let limits = Limits::default();
    let trouble = |error: &dyn std::fmt::Display, remedy: &str| {
        let what = format!("{name} cannot be written in another order");
        Trouble::new(what, sentence(&error.to_string()), remedy)
    };
    let refused = |error: ReorderError| {
        let remedy = match error {
            ReorderError::Fixed { .. } => "Use the file as it is.",
            _ => "Convert the model again, with fixed sizes and one graph.",
        };
        trouble(&error, remedy)
    };
    let graph = graph(bytes, &limits).map_err(refused)?;
    let found = rearrange(&graph, BUDGET, &mut || true)
        .map_err(|error| trouble(&error, "Use the file as it is."))?;
    let written = write(bytes, &limits, &found.order, &found.offsets).map_err(refused)?;
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
