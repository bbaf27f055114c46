//! `auto`: the best of all, least arena first, then least time.
//!
//! Order and offsets are searched together with all that lets tensors share bytes: layers that
//! write over their operand, concats without copies, and layers in rows whose output overlaps their
//! input.

use super::sharing::{self, Candidate};
use super::{reordered, resident};
use crate::PlanError;
use crate::share::Sharing;
use tilewright_model::Model;
use tilewright_plan::Bytes;

/// The best plan of `model`, with the bytes that no order and no placement goes below.
///
/// # Errors
/// [`PlanError`] names the node or tensor that cannot be planned.
pub fn plan(model: &Model) -> Result<(Candidate, Bytes), PlanError> {
    // Of equal arenas the earlier stays, which shares less and so is faster.
    let mut best = resident::plan(model)?;
    let (ordered, _) = reordered::plan(model)?;
    if ordered.arranged.height < best.arranged.height {
        best = ordered;
    }
    let all = Sharing { parts: true, in_place: true, rows: true };
    sharing::improve(model, &all, best)
}
