//! Networks stacked from cells: Liu et al. 2019 (DARTS), which Sadiq's thesis follows (chapter 3).
//!
//! A [`Genotype`] says which operations stand between the nodes of two cells, one that keeps an image's
//! size and one that halves it. [`Genotype::from_str`](std::str::FromStr) and its `Display` are DARTS'
//! notation; [`Stacked`] is a text with the size of its stack; [`published`] has those that the thesis compares, and
//! [`OperationCosts`] what their operations cost.

mod costs;
mod genotype;
pub mod published;
mod stacked;
mod text;

pub use costs::{COST_OF_NONE, InstructionCosts, OperationCosts, Representation, Separable};
pub use genotype::{
    Cell, CellFault, CellKind, Edge, Genotype, INPUTS, MOST_STEPS, Operation, OutsideSpace, STEPS,
    Step,
};
pub use stacked::{Stacked, StackedError};
pub use text::{GenotypeError, MOST_BYTES, Place};
