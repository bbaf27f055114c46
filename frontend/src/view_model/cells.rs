//! Cells that a person makes: changes of a draft, its published cost, and its drawing.

use crate::message::{CellChoices, CellDraft, CellEdge, DraftCell};

/// Nodes that a cell begins with.
const INPUTS: usize = 2;

/// Which of the two cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    Normal,
    Reduction,
}

impl Which {
    pub const BOTH: [Self; 2] = [Self::Normal, Self::Reduction];

    /// Part of ids.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Reduction => "reduce",
        }
    }

    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Normal => "Normal cell",
            Self::Reduction => "Reduction cell",
        }
    }

    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Self::Normal => "Keeps the image's size.",
            Self::Reduction => "Halves height and width, at one and two thirds of the stack.",
        }
    }

    /// The cell of a draft.
    #[must_use]
    pub const fn of(self, draft: &CellDraft) -> &DraftCell {
        match self {
            Self::Normal => &draft.normal,
            Self::Reduction => &draft.reduction,
        }
    }
}

/// A summand of a node of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    pub which: Which,
    /// From 0, without the cell's inputs.
    pub step: usize,
    /// 0 or 1.
    pub side: usize,
}

/// The draft with another summand in a slot.
#[must_use]
pub fn with_edge(draft: &CellDraft, slot: Slot, edge: CellEdge) -> CellDraft {
    let mut next = draft.clone();
    let cell = match slot.which {
        Which::Normal => &mut next.normal,
        Which::Reduction => &mut next.reduction,
    };
    // A node reads what is before it.
    let is_before = usize::from(edge.input) < INPUTS + slot.step;
    let place = cell.nodes.get_mut(slot.step).and_then(|edges| edges.get_mut(slot.side));
    if let (Some(place), true) = (place, is_before) {
        *place = edge;
    }
    next
}

/// The draft with the cells of another, in its own size.
#[must_use]
pub fn with_cells(draft: &CellDraft, of: &CellDraft) -> CellDraft {
    CellDraft { normal: of.normal.clone(), reduction: of.reduction.clone(), ..draft.clone() }
}

/// What a node is called, by its number.
#[must_use]
pub fn node_name(node: usize) -> String {
    match node {
        0 => "0: cell before last".to_owned(),
        1 => "1: last cell".to_owned(),
        node => format!("node {node}"),
    }
}

/// What the step reads from: numbers and names.
#[must_use]
pub fn sources(step: usize) -> Vec<String> {
    (0..INPUTS + step).map(node_name).collect()
}

/// Name of an operation.
#[must_use]
pub fn operation(choices: &CellChoices, edge: CellEdge) -> &str {
    let known = choices.operations.get(usize::from(edge.operation));
    known.map_or("none", |operation| operation.name.as_str())
}

/// Cycles of all operations of a cell, as table 3.2 counts them.
#[must_use]
pub fn cycles(choices: &CellChoices, cell: &DraftCell) -> u64 {
    let of = |edge: &CellEdge| choices.operations.get(usize::from(edge.operation));
    cell.nodes.iter().flatten().filter_map(of).map(|operation| operation.cycles).sum()
}

/// Name of the published cells that a draft has.
#[must_use]
pub fn published<'c>(choices: &'c CellChoices, draft: &CellDraft) -> Option<&'c str> {
    let same = |of: &CellDraft| of.normal == draft.normal && of.reduction == draft.reduction;
    let found = choices.published.iter().find(|published| same(&published.draft));
    found.map(|published| published.name.as_str())
}

/// Name of the file that a draft is opened as.
#[must_use]
pub fn file_name(draft: &CellDraft) -> String {
    let CellDraft { cells, channels, resolution, .. } = draft;
    format!("cells-r{resolution}-c{channels}-n{cells}.txt")
}

/// A cell as a drawing: each node is a line from its mark down; a summand is a line across, from
/// the node that it reads to the node that it belongs to, with its operation behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawing {
    pub width: u32,
    pub height: u32,
    pub nodes: Vec<Mark>,
    pub edges: Vec<Across>,
    /// The cell's result.
    pub result: Joining,
    /// The same in words.
    pub words: String,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    pub name: String,
    pub x: u32,
    /// Middle of its mark.
    pub y: u32,
    /// Half the height of its mark.
    pub half: u32,
    /// How far its line goes down: to whatever reads it last.
    pub bottom: u32,
}

/// A summand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Across {
    /// Of the node that it reads.
    pub from: u32,
    /// Of the node that it belongs to.
    pub to: u32,
    pub y: u32,
    pub label: String,
    /// Ending of its class.
    pub family: &'static str,
}

/// What is joined to be the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joining {
    pub from: Vec<u32>,
    pub x: u32,
    pub y: u32,
}

/// Half a node's mark in width.
pub const HALF: u32 = 11;
const LEFT: u32 = 16;
const COLUMN: u32 = 34;
const ROW: u32 = 22;
const GAP: u32 = 12;
/// Room for the longest operation's name.
const LABEL: u32 = 118;

fn family(name: &str) -> &'static str {
    match name {
        "none" => "none",
        "skip_connect" => "skip",
        name if name.contains("pool") => "pool",
        name if name.starts_with("dil") => "dilated",
        _ => "separable",
    }
}

/// The drawing of a cell.
#[must_use]
pub fn drawing(choices: &CellChoices, cell: &DraftCell) -> Drawing {
    let column = |node: usize| LEFT + u32::try_from(node).unwrap_or(0) * COLUMN;
    let mut nodes: Vec<Mark> = (0..INPUTS)
        .map(|node| Mark {
            name: node.to_string(),
            x: column(node),
            y: HALF + 1,
            half: HALF,
            bottom: HALF + 1,
        })
        .collect();
    let mut edges = Vec::new();
    let mut words = Vec::new();
    let mut top = 2 * HALF + GAP;
    for (step, summands) in cell.nodes.iter().enumerate() {
        let node = INPUTS + step;
        let mut said = Vec::new();
        for (y, edge) in [top + ROW / 2, top + ROW + ROW / 2].into_iter().zip(summands) {
            let label = operation(choices, *edge).to_owned();
            let family = family(&label);
            if let Some(source) = nodes.get_mut(usize::from(edge.input)) {
                if family != "none" {
                    source.bottom = source.bottom.max(y);
                }
                said.push(format!("{label} of {}", edge.input));
                edges.push(Across { from: source.x, to: column(node), y, label, family });
            }
        }
        let (x, y) = (column(node), top + ROW);
        nodes.push(Mark { name: node.to_string(), x, y, half: ROW - 2, bottom: y });
        words.push(format!("Node {node}: {}.", said.join(" plus ")));
        top += 2 * ROW + GAP;
    }
    let (x, y) = (column(nodes.len()), top + HALF);
    let joined = cell.joined.iter().map(|node| usize::from(*node));
    for node in joined.clone() {
        nodes.get_mut(node).into_iter().for_each(|mark| mark.bottom = y);
    }
    let numbers: Vec<String> = cell.joined.iter().map(u8::to_string).collect();
    words.push(format!("The result joins nodes {}.", numbers.join(", ")));
    Drawing {
        width: column(nodes.len().saturating_sub(1)) + HALF + 6 + LABEL,
        height: y + HALF + 1,
        nodes,
        edges,
        result: Joining { from: joined.map(column).collect(), x, y },
        words: words.join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{CellOperation, PublishedCells};

    fn choices() -> CellChoices {
        let operation =
            |name: &str, cycles| CellOperation { name: name.to_owned(), is_searched: true, cycles };
        let operations = vec![
            operation("none", 0),
            operation("skip_connect", 0),
            operation("max_pool_3x3", 27_648),
            operation("sep_conv_3x3", 368_640),
        ];
        let published = PublishedCells {
            name: "DARTS".to_owned(),
            is_inferred: false,
            draft: CellDraft { cells: 20, ..draft() },
        };
        CellChoices { operations, published: vec![published], ..CellChoices::default() }
    }

    fn draft() -> CellDraft {
        let edge = |operation, input| CellEdge { operation, input };
        let cell = DraftCell {
            nodes: vec![[edge(3, 0), edge(1, 1)], [edge(2, 2), edge(0, 0)]],
            joined: vec![2, 3],
        };
        let (normal, reduction) = (cell.clone(), cell);
        CellDraft { normal, reduction, cells: 8, channels: 16, resolution: 32 }
    }

    #[test]
    fn a_slot_takes_another_summand_but_none_that_reads_ahead() {
        let slot = Slot { which: Which::Reduction, step: 1, side: 0 };
        let next = with_edge(&draft(), slot, CellEdge { operation: 3, input: 1 });
        assert_eq!(next.reduction.nodes[1][0], CellEdge { operation: 3, input: 1 });
        assert_eq!(next.normal, draft().normal);
        assert_eq!(with_edge(&draft(), slot, CellEdge { operation: 3, input: 3 }), draft());
        assert_eq!(sources(1), ["0: cell before last", "1: last cell", "node 2"]);
    }

    #[test]
    fn costs_are_sums_and_published_cells_are_known_in_any_size() {
        let (choices, draft) = (choices(), draft());
        assert_eq!(cycles(&choices, &draft.normal), 368_640 + 27_648);
        assert_eq!(published(&choices, &draft), Some("DARTS"));
        let slot = Slot { which: Which::Normal, step: 0, side: 0 };
        let other = with_edge(&draft, slot, CellEdge { operation: 1, input: 0 });
        assert_eq!(published(&choices, &other), None);
        let back = with_cells(&other, &choices.published[0].draft);
        assert_eq!(back, draft, "its own size stays");
        assert_eq!(file_name(&draft), "cells-r32-c16-n8.txt");
    }

    #[test]
    fn nodes_stand_right_of_and_below_what_they_read() {
        let drawing = drawing(&choices(), &draft().normal);
        assert_eq!(drawing.nodes.len(), 4);
        assert_eq!(drawing.edges.len(), 4);
        for edge in &drawing.edges {
            let source = drawing.nodes.iter().find(|mark| mark.x == edge.from).unwrap();
            assert!(edge.from < edge.to && source.y < edge.y, "{edge:?}");
            assert!(source.bottom >= edge.y || edge.family == "none", "{edge:?}");
            assert!(edge.y < drawing.height && edge.to + LABEL < drawing.width + HALF);
        }
        assert_eq!(drawing.result.from, [drawing.nodes[2].x, drawing.nodes[3].x]);
        assert!(drawing.words.contains("Node 3: max_pool_3x3 of 2 plus none of 0."));
        assert!(drawing.width < 330, "it fits a phone");
    }
}
