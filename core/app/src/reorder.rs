//! A TensorFlow Lite file in the order, and with the offsets, that need the smallest arena.

use tilewright_formats::reorder::{self, ReorderError};
use tilewright_formats::{FormatError, Limits};
use tilewright_order::Budget;
use tilewright_planner::tflm::{self, Rearranged, TflmError};
use tilewright_report::sentence;

use crate::host::Host;
use tilewright_report::{Blame, Diagnostic};

/// Rearranges a file for TensorFlow Lite Micro: what was found, and the new file.
///
/// # Errors
/// [`Blame::BadInput`] with what about the file cannot be written.
pub fn rearrange(
    name: &str,
    bytes: &[u8],
    budget: Budget,
    host: &dyn Host,
) -> Result<(Rearranged, Vec<u8>), Diagnostic> {
    let limits = Limits::default();
    let graph = reorder::graph(bytes, &limits).map_err(|error| refused(name, &error))?;
    let found = tflm::rearrange(&graph, budget, &mut || !host.cancel().is_cancelled());
    let found = found.map_err(|error| match error {
        TflmError::Cancelled => Diagnostic::cancelled("The search was ended."),
        TflmError::Wrong(_) => Diagnostic::ours(sentence(&error.to_string()), name),
        _ => Diagnostic::new(Blame::BadInput, sentence(&error.to_string()), name, CONVERT),
    })?;
    let written = reorder::write(bytes, &limits, &found.order, &found.offsets);
    let written = written.map_err(|error| refused(name, &error))?;
    Ok((found, written))
}

const CONVERT: &str = "Convert the model again, with fixed sizes and one graph.";

fn refused(name: &str, error: &ReorderError) -> Diagnostic {
    let what_to_do = match error {
        ReorderError::NotTfLite => "Give a .tflite file.",
        ReorderError::File(FormatError::Damaged { .. }) => "Export or download the file again.",
        ReorderError::File(FormatError::TooLarge { .. }) => "Give a smaller model.",
        ReorderError::Fixed { .. } => "Use the file as it is.",
        _ => CONVERT,
    };
    let kind = match error {
        ReorderError::File(FormatError::TooLarge { .. }) => Blame::TooLarge,
        _ => Blame::BadInput,
    };
    Diagnostic::new(kind, sentence(&error.to_string()), name, what_to_do)
}
