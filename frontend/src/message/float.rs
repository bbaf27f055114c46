//! The comparison with the float model.

use serde::{Deserialize, Serialize};

use super::{Calibrating, ModelSource};

/// What the float worker is asked: to hold an int8 model, and our reading of the file, against the
/// float model that the file holds. It answers with a [`tilewright_report::FloatComparison`].
/// Buffers: as for [`super::ImportRequest::Open`]; behind them the int8 model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FloatRequest {
    /// Where the model comes from.
    pub source: ModelSource,
    /// How it became int8: names the samples.
    pub calibrating: Calibrating,
}
