//! What all experiments have in common.

use thiserror::Error;
use tilewright_model::tiling::TilingError;
use tilewright_planner::PlanError;
use tilewright_zoo::ZooError;

use crate::AccuracyError;

/// An experiment in steps of some seconds at most.
pub trait Experiment {
    /// How many steps there are.
    fn steps(&self) -> usize;

    /// How many of them are done.
    fn done(&self) -> usize;

    /// What the step is of that was done last.
    fn last(&self) -> Option<String>;

    /// Takes the next step; whether there was one.
    ///
    /// # Errors
    /// [`ExploreError`] says which network cannot be planned, or that nobody waits any more.
    fn advance(&mut self) -> Result<bool, ExploreError>;
}

/// Why an experiment cannot go on.
#[derive(Debug, Error)]
pub enum ExploreError {
    /// A network cannot be built or quantised.
    #[error(transparent)]
    Network(#[from] ZooError),
    /// A network cannot be in tiles.
    #[error("{network}: {error}")]
    Tiles {
        /// The network.
        network: String,
        /// Why.
        error: TilingError,
    },
    /// There is no plan of a network.
    #[error("{network}, {technique}: {error}")]
    Plan {
        /// The network.
        network: String,
        /// What was done to it.
        technique: &'static str,
        /// Why.
        error: PlanError,
    },
    /// A table of accuracies is wrong.
    #[error(transparent)]
    Accuracy(#[from] AccuracyError),
    /// A table of accuracies has no network of the experiment.
    #[error(
        "the table has no accuracy of {backbone} in any of the {sizes} sizes, such as {such_as}"
    )]
    NoAccuracy {
        /// The backbone.
        backbone: String,
        /// How many sizes were looked for.
        sizes: usize,
        /// One of them.
        such_as: String,
    },
    /// No genotype is to be looked at.
    #[error("there are no genotypes to compare")]
    NoGenotypes,
    /// A sweep combines nothing.
    #[error("the sweep has no rows: one of its lists is empty")]
    NoRows,
    /// A sweep combines too much.
    #[error("the sweep has more than {most} rows")]
    TooManyRows {
        /// So many may be.
        most: usize,
    },
    /// Nobody waits for it any more.
    #[error("the experiment was stopped")]
    Stopped,
}
