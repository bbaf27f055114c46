//! `auto`: the best of all, least arena first, then least time.
//!
//! Order and offsets are searched together with all that lets tensors share bytes: layers that
//! write over their operand, concats without copies, and layers in rows whose output overlaps their
//! input.

use super::reordered::Reordering;
use super::sharing::{Candidate, Improving};
use super::{Search, resident};
use crate::PlanError;
use crate::planning::Progress;
use crate::share::Sharing;
use tilewright_model::Model;
use tilewright_plan::Bytes;

/// The search: what `reordered` finds, then better with layers in rows.
pub enum Combining {
    /// The first.
    Reordering(Reordering),
    /// The second.
    Rows(Improving),
}

impl Combining {
    /// Begins.
    ///
    /// # Errors
    /// [`PlanError`] names the tensor that cannot be planned.
    pub fn new(model: &Model) -> Result<Self, PlanError> {
        Ok(Self::Reordering(Reordering::new(model)?))
    }
}

impl Search for Combining {
    fn advance(&mut self, model: &Model, units: u64) -> Result<bool, PlanError> {
        match self {
            Self::Reordering(reordering) => {
                if reordering.advance(model, units)? {
                    // Of equal arenas the earlier stays, which shares less and so is faster.
                    let mut best = resident::plan(model)?;
                    let ordered = reordering.best(model)?;
                    if ordered.arranged.height < best.arranged.height {
                        best = ordered;
                    }
                    let all = Sharing { parts: true, in_place: true, rows: true };
                    *self = Self::Rows(Improving::new(model, all, best)?);
                }
                Ok(false)
            }
            Self::Rows(improving) => improving.advance(model, units),
        }
    }

    fn progress(&self) -> Progress {
        match self {
            // Rows may need less than any plan without.
            Self::Reordering(reordering) => Progress { bound: Bytes(0), ..reordering.progress() },
            Self::Rows(improving) => improving.progress(),
        }
    }

    fn finish(self: Box<Self>, model: &Model) -> Result<(Candidate, Option<Bytes>), PlanError> {
        let bound = self.progress().bound;
        let best = match *self {
            Self::Reordering(reordering) => reordering.best(model)?,
            Self::Rows(improving) => improving.best().clone(),
        };
        Ok((best, Some(bound)))
    }
}
