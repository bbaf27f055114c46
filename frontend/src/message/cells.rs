//! Cells that a person makes, and what the importer says of them.

use serde::{Deserialize, Serialize};

use super::SearchLog;
use tilewright_report::{Diagnostic, ZooSize};

/// An operation on a node of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellEdge {
    /// Index in [`CellChoices::operations`].
    pub operation: u8,
    /// 0: the cell two before; 1: the cell before; 2 and more: the nodes of this cell.
    pub input: u8,
}

/// A cell: nodes from 2 on, each the sum of two operations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DraftCell {
    pub nodes: Vec<[CellEdge; 2]>,
    /// The nodes whose channels are the result.
    pub joined: Vec<u8>,
}

/// Two cells and how they are stacked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellDraft {
    pub normal: DraftCell,
    pub reduction: DraftCell,
    pub cells: u32,
    /// Of the first cells.
    pub channels: u32,
    /// Pixels.
    pub resolution: u32,
}

/// An operation that a cell may have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellOperation {
    /// In DARTS' notation.
    pub name: String,
    /// Whether DARTS' search chooses from it; else it is in published cells only.
    pub is_searched: bool,
    /// Cycles that table 3.2 of the thesis of Sadiq charges for it: what its search minimises.
    pub cycles: u64,
}

/// Cells to start from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishedCells {
    pub name: String,
    /// Whether which nodes they read is not printed, but a choice of ours.
    pub is_inferred: bool,
    pub draft: CellDraft,
}

/// What cells are made from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CellChoices {
    pub operations: Vec<CellOperation>,
    pub published: Vec<PublishedCells>,
    /// Searches that were logged, by trade-off.
    pub logged: Vec<SearchLog>,
}

/// What the importer says of a draft.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellFacts {
    /// The draft that this is of.
    pub draft: CellDraft,
    /// The file's text.
    pub text: String,
    /// What the stack needs, or why it cannot be built.
    pub size: Result<ZooSize, Diagnostic>,
}
