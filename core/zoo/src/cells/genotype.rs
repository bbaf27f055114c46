//! What a genotype is: two cells of steps, each the sum of two operations.

use std::fmt;

use thiserror::Error;

/// Nodes that a cell begins with: the results of the cell two before and of the one before.
pub const INPUTS: usize = 2;

/// Steps of a cell in DARTS' search space.
pub const STEPS: usize = 4;

/// Most steps of any cell. Published ones have up to 5.
pub const MOST_STEPS: usize = 8;

/// An operation between two nodes of a cell: Liu et al. 2019, section 3.1.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// No connection: zeros.
    None,
    /// The largest of 3×3 values.
    MaxPool3,
    /// The mean of 3×3 values; padding does not count.
    AveragePool3,
    /// The input as it is; with stride 2, a 1×1 convolution of every second pixel.
    Skip,
    /// Twice a rectifier, a depthwise 3×3 and a 1×1 convolution.
    Separable3,
    /// The same with 5×5 windows.
    Separable5,
    /// A rectifier, a depthwise 3×3 convolution two pixels apart, and a 1×1 one.
    Dilated3,
    /// The same with a 5×5 window.
    Dilated5,
    /// [`Self::Separable3`] with 7×7 windows; in published cells only.
    Separable7,
    /// A rectifier, a 1×7 and a 7×1 convolution; in published cells only.
    Factorised7,
}

impl Operation {
    /// All operations.
    pub const ALL: [Self; 10] = [
        Self::None,
        Self::MaxPool3,
        Self::AveragePool3,
        Self::Skip,
        Self::Separable3,
        Self::Separable5,
        Self::Dilated3,
        Self::Dilated5,
        Self::Separable7,
        Self::Factorised7,
    ];

    /// Those of DARTS' search space, in its order.
    pub const SEARCHED: [Self; 8] = [
        Self::None,
        Self::MaxPool3,
        Self::AveragePool3,
        Self::Skip,
        Self::Separable3,
        Self::Separable5,
        Self::Dilated3,
        Self::Dilated5,
    ];

    /// The name in DARTS' notation.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::MaxPool3 => "max_pool_3x3",
            Self::AveragePool3 => "avg_pool_3x3",
            Self::Skip => "skip_connect",
            Self::Separable3 => "sep_conv_3x3",
            Self::Separable5 => "sep_conv_5x5",
            Self::Dilated3 => "dil_conv_3x3",
            Self::Dilated5 => "dil_conv_5x5",
            Self::Separable7 => "sep_conv_7x7",
            Self::Factorised7 => "conv_7x1_1x7",
        }
    }

    /// The operation of this name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.name() == name)
    }
}

/// An operation and the node that it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Edge {
    /// What is done.
    pub operation: Operation,
    /// 0: the cell two before; 1: the cell before; 2 and more: the steps of this cell.
    pub input: usize,
}

impl Edge {
    /// An operation on a node.
    #[must_use]
    pub const fn new(operation: Operation, input: usize) -> Self {
        Self { operation, input }
    }
}

/// A node of a cell: the sum of two operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// Its summands.
    pub edges: [Edge; 2],
}

/// Which of a genotype's cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CellKind {
    /// The one that keeps the image's size.
    Normal,
    /// The one that halves height and width.
    Reduction,
}

impl CellKind {
    /// The name in DARTS' notation.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Reduction => "reduce",
        }
    }

    /// That of cell `index`, from 0, of a stack: two at thirds of it reduce.
    #[must_use]
    pub const fn in_stack(index: usize, cells: usize) -> Self {
        if index == cells / 3 || index == 2 * cells / 3 { Self::Reduction } else { Self::Normal }
    }
}

impl fmt::Display for CellKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why something is no cell. Steps are numbered as nodes are: the first is 2.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CellFault {
    /// Too few or too many steps.
    #[error("it has {steps} steps: give 1 to {MOST_STEPS}, each as two pairs")]
    Steps {
        /// How many.
        steps: usize,
    },
    /// A step reads a node that is not there yet.
    #[error("node {node} reads node {input}: give one of 0 to {}", node - 1)]
    Input {
        /// The step's node.
        node: usize,
        /// What it reads.
        input: usize,
    },
    /// Nothing is joined to be the cell's result.
    #[error("it joins no nodes: give one of its steps at least")]
    JoinsNothing,
    /// What is joined is not a step of the cell.
    #[error("it joins node {node}: give nodes of 2 to {last}")]
    JoinsNoStep {
        /// What is joined.
        node: usize,
        /// The last step's node.
        last: usize,
    },
    /// A node is joined twice, or behind a later one.
    #[error("it joins node {node} twice or out of order: give each once, in ascending order")]
    JoinsOutOfOrder {
        /// The node.
        node: usize,
    },
}

/// A cell: every step reads nodes before it, and the joined nodes are the result.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cell {
    steps: Vec<Step>,
    joined: Vec<usize>,
}

impl Cell {
    /// A cell of these steps, whose result is the channels of these nodes, one behind the other.
    ///
    /// # Errors
    /// If a step reads what is not there, or the numbers of steps or nodes are impossible.
    pub fn new(steps: Vec<Step>, joined: Vec<usize>) -> Result<Self, CellFault> {
        if !(1..=MOST_STEPS).contains(&steps.len()) {
            return Err(CellFault::Steps { steps: steps.len() });
        }
        for (index, step) in steps.iter().enumerate() {
            let node = INPUTS + index;
            if let Some(edge) = step.edges.iter().find(|edge| edge.input >= node) {
                return Err(CellFault::Input { node, input: edge.input });
            }
        }
        if joined.is_empty() {
            return Err(CellFault::JoinsNothing);
        }
        let last = INPUTS + steps.len() - 1;
        if let Some(node) = joined.iter().find(|node| !(INPUTS..=last).contains(*node)) {
            return Err(CellFault::JoinsNoStep { node: *node, last });
        }
        if let Some(pair) = joined.windows(2).find(|pair| pair[0] >= pair[1]) {
            return Err(CellFault::JoinsOutOfOrder { node: pair[1] });
        }
        Ok(Self { steps, joined })
    }

    /// A cell of these steps that joins all of them, as searches make it.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn joining_all(steps: Vec<Step>) -> Result<Self, CellFault> {
        let joined = (INPUTS..INPUTS + steps.len().min(MOST_STEPS)).collect();
        Self::new(steps, joined)
    }

    /// The steps, from node 2 on.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The nodes whose channels are the cell's result, ascending.
    #[must_use]
    pub fn joined(&self) -> &[usize] {
        &self.joined
    }

    /// All summands, step by step.
    pub fn edges(&self) -> impl Iterator<Item = Edge> + '_ {
        self.steps.iter().flat_map(|step| step.edges)
    }
}

/// The cells that a network is stacked from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Genotype {
    /// The cell that keeps the image's size.
    pub normal: Cell,
    /// The cell that halves height and width: operations on its inputs have stride 2.
    pub reduction: Cell,
}

/// Why a genotype lies outside DARTS' search space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum OutsideSpace {
    /// Another number of steps.
    #[error("the {cell} cell has {steps} steps where the search has {STEPS}")]
    Steps {
        /// The cell.
        cell: CellKind,
        /// How many.
        steps: usize,
    },
    /// An operation that the search does not choose from.
    #[error("the {cell} cell has {}, which the search does not choose from", operation.name())]
    Operation {
        /// The cell.
        cell: CellKind,
        /// The operation.
        operation: Operation,
    },
    /// A step is not part of the result.
    #[error("the {cell} cell joins {joined} nodes where the search joins all {STEPS}")]
    Joined {
        /// The cell.
        cell: CellKind,
        /// How many nodes are joined.
        joined: usize,
    },
}

impl Genotype {
    /// Both cells.
    #[must_use]
    pub const fn cells(&self) -> [(CellKind, &Cell); 2] {
        [(CellKind::Normal, &self.normal), (CellKind::Reduction, &self.reduction)]
    }

    /// Whether DARTS' search could find it: 4 steps, all of them joined, of [`Operation::SEARCHED`].
    ///
    /// # Errors
    /// What lies outside.
    pub fn check_searched(&self) -> Result<(), OutsideSpace> {
        for (kind, cell) in self.cells() {
            let steps = cell.steps.len();
            if steps != STEPS {
                return Err(OutsideSpace::Steps { cell: kind, steps });
            }
            let strange = |edge: &Edge| !Operation::SEARCHED.contains(&edge.operation);
            if let Some(edge) = cell.edges().find(strange) {
                return Err(OutsideSpace::Operation { cell: kind, operation: edge.operation });
            }
            if cell.joined.len() != STEPS {
                return Err(OutsideSpace::Joined { cell: kind, joined: cell.joined.len() });
            }
        }
        Ok(())
    }
}
