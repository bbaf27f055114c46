//! Rows of sweeps as jobs of the queue, which the command line submits.

use std::sync::{Mutex, PoisonError};

use tilewright_app::{Cancel, Diagnostic};
use tilewright_explore::{HeldModel, ROW_KIND, RowRequest, SweepModel};
use tilewright_planner::Stop;
use tilewright_queue::{Claim, Database, hash_of};

use super::{Performed, problem_of, unreadable};

/// Longest model that is read.
const MODEL: usize = 1 << 30;

/// Plans rows. The model of the last one stays open, for the next is mostly of the same.
#[derive(Default)]
pub struct Rows(Mutex<Option<Held>>);

struct Held {
    id: String,
    model: SweepModel,
    _open: HeldModel,
}

impl Rows {
    /// Plans the row of a claim, unless its result is there.
    ///
    /// # Errors
    /// If the job cannot be read, its model is gone, or nobody waits any more.
    pub fn plan(
        &self,
        queue: &Database,
        claim: &Claim,
        cancel: &Cancel,
    ) -> Result<Performed, Diagnostic> {
        let request: RowRequest = serde_json::from_slice(&claim.payload)
            .map_err(|error| unreadable(&error.to_string()))?;
        let key = hash_of([request.follows_from().as_bytes()]);
        if queue.result(&key).map_err(|error| problem_of(&error))?.is_some() {
            return Ok(Performed::Known(key));
        }
        let (id, model) = self.model(queue, &request)?;
        let mut open = HeldModel::default();
        let asked = cancel.clone();
        let stop = Stop::when(move |_| asked.is_cancelled());
        let row = model.row(&request.key, &mut open, &stop);
        let row = row.map_err(|_| Diagnostic::cancelled("The sweep was cancelled."))?;
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(Held { id, model, _open: open });
        let row = serde_json::to_vec(&row)
            .map_err(|error| Diagnostic::ours(format!("{error}."), ROW_KIND))?;
        Ok(Performed::Row { key, row })
    }

    fn model(
        &self,
        queue: &Database,
        request: &RowRequest,
    ) -> Result<(String, SweepModel), Diagnostic> {
        let id = request.model();
        if let Some(held) = &*self.0.lock().unwrap_or_else(PoisonError::into_inner)
            && held.id == id
        {
            return Ok((id, held.model.clone()));
        }
        self.forget();
        let name = request.key.network.clone();
        let model = match &request.model {
            None => SweepModel::zoo(&name),
            Some(hash) => {
                let bytes = queue.whole_content(hash, MODEL).map_err(|error| problem_of(&error))?;
                SweepModel::of_bytes(name, bytes)
            }
        };
        Ok((id, model))
    }

    /// Lets go of the model: nothing is to be planned at present.
    pub fn forget(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
