//! An end to long work that nobody waits for any more.

use std::fmt;
use std::sync::Arc;

use crate::PlanError;

/// Whom work asks now and then whether anybody still waits for it. No plan depends on whom: two are
/// always equal.
#[derive(Clone, Default)]
pub struct Stop(Option<Arc<dyn Fn(u64) -> bool + Send + Sync>>);

impl Stop {
    /// Asks `is_over` after some work each time, and tells it how many units that was, of some ten
    /// nanoseconds each. Once it has said yes it must go on to do so.
    pub fn when(is_over: impl Fn(u64) -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(is_over)))
    }

    /// So much work is done since the last call.
    ///
    /// # Errors
    /// [`PlanError::Stopped`] if nobody waits any more.
    pub fn after(&self, units: u64) -> Result<(), PlanError> {
        match &self.0 {
            Some(is_over) if is_over(units) => Err(PlanError::Stopped),
            _ => Ok(()),
        }
    }
}

impl PartialEq for Stop {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Stop {}

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stop")
    }
}
