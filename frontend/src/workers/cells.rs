//! What the page makes cells from, and what a stack of them needs.

use tilewright_app::zoo;
use tilewright_report::sentence;
use tilewright_zoo::Stack;
use tilewright_zoo::cells::published::Published;
use tilewright_zoo::cells::{
    Cell, CellFault, Edge, Genotype, Operation, OperationCosts, Stacked, Step,
};

use super::searches;
use crate::message::{
    CellChoices, CellDraft, CellEdge, CellFacts, CellOperation, DraftCell, PublishedCells, trouble,
};
use tilewright_report::Diagnostic;

/// All operations, and published cells to start from.
#[must_use]
pub fn choices() -> CellChoices {
    let costs = OperationCosts::table_3_2();
    let operation = |operation: Operation| CellOperation {
        name: operation.name().to_owned(),
        is_searched: Operation::SEARCHED.contains(&operation),
        // What connects nothing costs a cell nothing, whatever the search charges for it.
        cycles: if operation == Operation::None { 0 } else { costs.of(operation) },
    };
    let published = |published: Published| {
        let stacked = Stacked { genotype: published.genotype(), stack: Stack::USUAL };
        PublishedCells {
            name: published.name().to_owned(),
            is_inferred: published.is_inferred(),
            draft: draft(&stacked),
        }
    };
    // Those that a small board may take come first.
    let mut all = Published::ALL.map(published).to_vec();
    all.sort_by_key(|cells| cells.draft.normal.nodes.len());
    CellChoices {
        operations: Operation::ALL.map(operation).to_vec(),
        published: all,
        logged: searches::logged(),
    }
}

/// Numbers of nodes are at most some dozen.
fn small(number: usize) -> u8 {
    u8::try_from(number).unwrap_or(u8::MAX)
}

fn draft_cell(cell: &Cell) -> DraftCell {
    let edge = |edge: Edge| {
        let index = Operation::ALL.iter().position(|known| *known == edge.operation);
        CellEdge { operation: small(index.unwrap_or(0)), input: small(edge.input) }
    };
    DraftCell {
        nodes: cell.steps().iter().map(|step| step.edges.map(edge)).collect(),
        joined: cell.joined().iter().map(|node| small(*node)).collect(),
    }
}

/// The draft of a stack.
#[must_use]
pub fn draft(Stacked { genotype, stack }: &Stacked) -> CellDraft {
    let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    CellDraft {
        normal: draft_cell(&genotype.normal),
        reduction: draft_cell(&genotype.reduction),
        cells: number(stack.cells),
        channels: number(stack.channels),
        resolution: number(stack.resolution),
    }
}

fn cell(draft: &DraftCell) -> Result<Cell, CellFault> {
    let edge = |edge: CellEdge| {
        let operation = Operation::ALL.get(usize::from(edge.operation)).copied();
        Edge::new(operation.unwrap_or(Operation::None), edge.input.into())
    };
    let steps = draft.nodes.iter().map(|edges| Step { edges: edges.map(edge) }).collect();
    Cell::new(steps, draft.joined.iter().map(|node| usize::from(*node)).collect())
}

/// The text of a draft, and what its stack needs.
///
/// # Errors
/// If a cell is impossible, which the page does not ask for.
pub fn facts(draft: CellDraft) -> Result<CellFacts, Diagnostic> {
    let built = |draft: &DraftCell| {
        cell(draft).map_err(|fault| {
            trouble("These cells are impossible", sentence(&fault.to_string()), "Change them.")
        })
    };
    let number = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    let stacked = Stacked {
        genotype: Genotype { normal: built(&draft.normal)?, reduction: built(&draft.reduction)? },
        stack: Stack {
            cells: number(draft.cells),
            channels: number(draft.channels),
            resolution: number(draft.resolution),
            ..Stack::USUAL
        },
    };
    let size = zoo::stacked(&stacked, "").map(|network| zoo::size_of(&network));
    Ok(CellFacts { draft, text: stacked.to_string(), size })
}
