//! Strategies and the event simulation.
//!
//! [`plan`] takes an int8 model and a board to a [`Planned`]: the plan, its predicted timeline,
//! its memory map and its report. A plan that does not fit is still a plan, so that it can be
//! looked at; its report says what is missing.

pub mod allocate;
pub mod costs;
mod lower;
pub mod order;
mod remedies;
mod report;
mod share;
pub mod simulate;
mod strategy;
pub mod tflm;

use thiserror::Error;
use tilewright_board::Board;
use tilewright_model::Model;
use tilewright_model::integer::IntegerError;
use tilewright_plan::{Bytes, Plan};
use tilewright_report::{MemoryMap, PlanReport, Timeline};

pub use strategy::Strategy;

/// Choices that the user makes beside board and strategy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Largest tensor arena; the board's if nothing is given. Never more than the board's.
    pub sram: Option<Bytes>,
}

/// A plan with all that is said of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    /// The plan.
    pub plan: Plan,
    /// Which tensors live when and where.
    pub memory: MemoryMap,
    /// The predicted run.
    pub timeline: Timeline,
    /// The figures.
    pub report: PlanReport,
}

/// Why there is no plan at all.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PlanError {
    /// A node that no kernel can run as it is.
    #[error("node '{node}' ({op}) cannot be planned: {reason}")]
    Unsupported {
        /// The node.
        node: String,
        /// Its operator.
        op: String,
        /// What about it.
        reason: String,
    },
    /// The model is not int8.
    #[error("tensor '{tensor}' is {dtype}, not int8: quantise the model first")]
    NotQuantised {
        /// The tensor.
        tensor: String,
        /// Its element type.
        dtype: &'static str,
    },
    /// A tensor with a batch other than 1, or too large to address.
    #[error("tensor '{tensor}' of shape {shape}: {reason}")]
    BadShape {
        /// The tensor.
        tensor: String,
        /// Its shape.
        shape: String,
        /// What about it.
        reason: String,
    },
    /// Quantisation parameters that have no integer form.
    #[error("node '{node}': {source}")]
    Integer {
        /// The node.
        node: String,
        /// What about it.
        source: IntegerError,
    },
    /// Tensors that no arena can hold, whatever its size.
    #[error("the tensor arena: {0}")]
    Arena(#[from] allocate::ProblemError),
    /// A graph of layers that is none, or an order that is none.
    #[error("the order of the layers: {0}")]
    Order(String),
    /// The strategy's name is unknown.
    #[error("no strategy '{name}'; known strategies: {known}")]
    UnknownStrategy {
        /// The name asked for.
        name: String,
        /// All names, separated by commas.
        known: String,
    },
}

/// Plans `model` (int8, batch 1) on `board` with `strategy`.
///
/// # Errors
/// [`PlanError`] if no plan exists whatever the memory; a plan that does not fit is no error.
pub fn plan(
    model: &Model,
    board: &Board,
    strategy: Strategy,
    options: &Options,
) -> Result<Planned, PlanError> {
    let costs = costs::Costs::of(board.core.kind);
    let (found, bound) = match strategy {
        Strategy::Resident => (strategy::resident::plan(model)?, None),
        Strategy::Reordered => {
            let (found, bound) = strategy::reordered::plan(model)?;
            (found, Some(bound))
        }
        Strategy::Auto => {
            let (found, bound) = strategy::auto::plan(model)?;
            (found, Some(bound))
        }
    };
    let plan = strategy::plan_of(model, board, strategy, found)?;
    let timeline = simulate::predict(&plan, board, &costs);
    let memory = MemoryMap::of(&plan);
    let mut report =
        report::report(&plan, model, board, options, &costs, &memory, &timeline, bound);
    if let Some(trouble) = report.does_not_fit.as_mut()
        && strategy != Strategy::Auto
        && trouble.memory == remedies::SRAM
        && model.nodes.len() <= remedies::MOST_NODES
    {
        let (best, _) = strategy::auto::plan(model)?;
        trouble.remedies.splice(0..0, remedies::of_auto(trouble, best.arranged.height));
    }
    Ok(Planned { plan, memory, timeline, report })
}

impl From<order::GraphError> for PlanError {
    fn from(error: order::GraphError) -> Self {
        Self::Order(error.to_string())
    }
}

impl From<order::ArrangeError> for PlanError {
    fn from(error: order::ArrangeError) -> Self {
        match error {
            order::ArrangeError::Buffers(error) => Self::Arena(error),
            order::ArrangeError::Order(error) => Self::Order(error.to_string()),
        }
    }
}
