//! Rewrites of models: the same function with fewer nodes and values. One pass, one file. An int8
//! model gives the same bytes before and after each.

pub mod common_subexpressions;
pub mod dead_channels;
pub mod dead_nodes;
mod edit;
pub mod fold_affine;
pub mod fold_batch_norm;
pub mod fold_constants;
pub mod fold_transposes;
pub mod fuse_activation;
pub mod fuse_hard_sigmoid;
pub mod fuse_pad;
pub mod fuse_swish;
pub mod identities;
pub mod lead_units;
pub mod sink_rising;
pub mod sink_transposes;

use thiserror::Error;

use crate::graph::Model;
use crate::verify::VerifyError;

/// A pass left a faulty graph: a fault of ours, or of the model before the first pass.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("after pass '{pass}': {error}")]
pub struct PassError {
    /// The pass; "import" before the first.
    pub pass: &'static str,
    /// The fault.
    #[source]
    pub error: VerifyError,
}

/// What a pass did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassRecord {
    /// The pass.
    pub pass: &'static str,
    /// How many rewrites it made.
    pub changes: usize,
}

type Pass = fn(&mut Model) -> usize;

/// Passes with their names, in the order in which a round runs them.
const PASSES: [(&str, Pass); 15] = [
    ("fold constants", fold_constants::run),
    ("remove identities", identities::run),
    ("merge common subexpressions", common_subexpressions::run),
    ("sink transposes", sink_transposes::run),
    ("fold transposes", fold_transposes::run),
    ("fuse hard sigmoid", fuse_hard_sigmoid::run),
    ("fuse swish", fuse_swish::run),
    ("fold batch norm", fold_batch_norm::run),
    ("fold affine", fold_affine::run),
    ("fuse activation", fuse_activation::run),
    ("fuse pad", fuse_pad::run),
    ("sink rising functions", sink_rising::run),
    ("lead with units", lead_units::run),
    ("remove dead channels", dead_channels::run),
    ("remove dead nodes", dead_nodes::run),
];

/// Rounds after which no more is tried; each round shortens the graph, real ones settle in three.
const MOST_ROUNDS: usize = 16;

/// Runs all passes on a model until none changes anything, and verifies the graph after each
/// change. The records name the passes that changed something, in order.
///
/// # Errors
/// If the model is faulty, or a pass leaves it so.
pub fn optimise(mut model: Model) -> Result<(Model, Vec<PassRecord>), PassError> {
    model.verify().map_err(|error| PassError { pass: "import", error })?;
    let mut records = Vec::new();
    for _ in 0..MOST_ROUNDS {
        let before = records.len();
        for (pass, run) in PASSES {
            let changes = run(&mut model);
            if changes > 0 {
                model.verify().map_err(|error| PassError { pass, error })?;
                records.push(PassRecord { pass, changes });
            }
        }
        if records.len() == before {
            break;
        }
    }
    Ok((model, records))
}

#[cfg(test)]
mod random_models;
#[cfg(test)]
mod tests;
