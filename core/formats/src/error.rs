//! What can be wrong with a model file.

use std::collections::BTreeMap;
use std::fmt;

use thiserror::Error;
use tilewright_model::passes::PassError;

/// An operator that the importer does not know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsupportedOperator {
    /// Operator type; for ONNX with its domain where that is not ONNX's own.
    pub op: String,
    /// The node's name, or that of its result.
    pub node: String,
    /// The node's index in the file.
    pub index: usize,
}

impl fmt::Display for UnsupportedOperator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (node {} '{}')", self.op, self.index, self.node)
    }
}

/// Why a file could not be read as a model.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FormatError {
    /// The bytes are no model that is known.
    #[error("not a model: {reason}. Known formats: ONNX (.onnx) and TensorFlow Lite (.tflite)")]
    NotAModel {
        /// What they look like.
        reason: String,
    },
    /// The file begins as a model but ends early or is damaged.
    #[error("the file is cut off or damaged: {reason}")]
    Damaged {
        /// Where and how.
        reason: String,
    },
    /// Operators that are not known.
    #[error("unsupported operator {}{}", .first, others(.all))]
    UnsupportedOperators {
        /// The first.
        first: UnsupportedOperator,
        /// All of them, in the order of the file.
        all: Vec<UnsupportedOperator>,
    },
    /// Dimensions of inputs have no size in the file.
    #[error("input '{input}' has no fixed size for {}", asked_for(.dims))]
    DynamicDimensions {
        /// The first such input.
        input: String,
        /// Names to give the sizes under: of all inputs, each once.
        dims: Vec<String>,
    },
    /// A size was given for a dimension that the file does not leave open.
    #[error("no dimension '{dim}' is left open by the model; {}", said_open(.open))]
    UnknownDimension {
        /// Name that the size was given under.
        dim: String,
        /// Those that are open.
        open: Vec<String>,
    },
    /// A node's attributes or operands are wrong, or of a kind that is not supported.
    #[error("node {index} '{node}' ({op}): {reason}")]
    Node {
        /// The node's name, or that of its result.
        node: String,
        /// The node's index in the file.
        index: usize,
        /// Operator type.
        op: String,
        /// What is wrong.
        reason: String,
    },
    /// Nothing here computes a node so, and the file does not state the shapes of its results, with
    /// which it could be opened nevertheless.
    #[error("node {index} '{node}' ({op}) is not supported: {reason}")]
    Unsupported {
        /// The node's name, or that of its result.
        node: String,
        /// The node's index in the file.
        index: usize,
        /// Operator type.
        op: String,
        /// What is not supported.
        reason: String,
    },
    /// The model's inputs, outputs or constants are wrong.
    #[error("'{name}': {reason}")]
    Interface {
        /// The input, output or constant.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// A constant's values are in another file, which is not there.
    #[error("the values of '{tensor}' are in another file, {file}, which is not there")]
    MissingData {
        /// The constant.
        tensor: String,
        /// The file, from the model's folder.
        file: String,
    },
    /// A constant's values are in another file, which does not give them.
    #[error("the values of '{tensor}' in the file '{file}': {reason}")]
    Data {
        /// The constant.
        tensor: String,
        /// The file, as the model names it.
        file: String,
        /// What is wrong.
        reason: String,
    },
    /// Beyond a limit.
    #[error("too large: {what}: {size}, at most {limit} are allowed")]
    TooLarge {
        /// What is counted.
        what: String,
        /// How many; "beyond the address space" where that cannot be said.
        size: String,
        /// The limit.
        limit: usize,
    },
    /// A constant holds an infinite value or one that is no number.
    #[error("constant '{tensor}' holds a value that is infinite or no number")]
    NotFinite {
        /// The constant.
        tensor: String,
    },
    /// The graph is faulty.
    #[error(transparent)]
    Graph(#[from] PassError),
}

fn asked_for(dims: &[String]) -> String {
    match dims {
        [dim] => format!("dimension '{dim}': give one"),
        dims => format!("dimensions '{}': give them", dims.join("', '")),
    }
}

fn said_open(open: &[String]) -> String {
    match open {
        [] => "all its dimensions are fixed".to_owned(),
        open => format!("these are: '{}'", open.join("', '")),
    }
}

fn others(all: &[UnsupportedOperator]) -> String {
    if all.len() < 2 {
        return String::new();
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    all.iter().for_each(|operator| *counts.entry(operator.op.as_str()).or_default() += 1);
    let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let kinds: Vec<String> = counts.iter().map(|(op, count)| format!("{count} {op}")).collect();
    format!("; {} unsupported nodes in all: {}", all.len(), kinds.join(", "))
}
