//! Which strategies the suites go through.

use tilewright_planner::Strategy;

/// Those whose plans are of the model as it is given, not in tiles.
pub fn of_the_model() -> impl Iterator<Item = Strategy> {
    Strategy::ALL.into_iter().filter(|strategy| *strategy != Strategy::SparseTiled)
}
