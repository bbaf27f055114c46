//! Experiments over many networks and techniques, a step at a time, so that a host can show progress and give up.

mod accuracy;
mod correlation;
pub mod exits;
mod experiment;
mod genotypes;
mod operators;
mod published_sram;
mod scale;
mod sweep;
mod sweep_model;
mod sweep_request;
mod what_fits;

pub use accuracy::{AccuracyError, AccuracyTable, COLUMNS as ACCURACY_COLUMNS};
pub use experiment::{Experiment, ExploreError};
pub use genotypes::{GENOTYPES, GENOTYPES_BOARD, GENOTYPES_STACK, Genotypes, MOST_GENOTYPES};
pub use operators::{OPERATORS_BACKBONES, OPERATORS_BOARD, Operators, OperatorsTarget};
pub use scale::{SCALE_BACKBONE, SCALE_BOARD, SCALE_LIMITS_MS, Scale, Targets};
pub use sweep::{Dimensions, Sweep};
pub use sweep_model::{HeldModel, SweepModel};
pub use sweep_request::{ROW_KIND, RowRequest};
pub use what_fits::{FIT_BOARD, Fit};
