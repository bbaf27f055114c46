//! Integers that are activations: exporters of integer networks cast them to int64, multiply, add, divide
//! and cast them back. Floats hold them as well, so that they stay floats here.

use std::collections::{BTreeMap, BTreeSet};

use super::attributes::Place;
use super::importer::Importer;
use super::messages::{GraphProto, NodeProto, tensor_proto::DataType};

/// Operators that floats do as well on whole numbers; a quotient is rounded.
const ARITHMETIC: &[&str] = &["Add", "Div", "Mul", "Sub"];

/// Results of arithmetic, and of casts to integers, that nothing reads but such nodes and casts to
/// floats. The graph is sorted.
pub(super) fn results(graph: &GraphProto) -> BTreeSet<String> {
    let mut readers: BTreeMap<&str, Vec<&NodeProto>> = BTreeMap::new();
    for node in &graph.node {
        node.input.iter().for_each(|name| readers.entry(name).or_default().push(node));
    }
    let given: BTreeSet<&str> = graph.output.iter().map(|output| output.name.as_str()).collect();
    let mut whole = BTreeSet::new();
    for node in graph.node.iter().rev() {
        let [result] = node.output.as_slice() else { continue };
        let makes = ARITHMETIC.contains(&node.op_type.as_str()) || casts_to(node) == Some(true);
        let reads = |reader: &&NodeProto| {
            let passes = reader.output.first().is_some_and(|name| whole.contains(name));
            passes || casts_to(reader) == Some(false)
        };
        let read = readers.get(result.as_str()).is_some_and(|readers| readers.iter().all(reads));
        if makes && read && !given.contains(result.as_str()) {
            whole.insert(result.clone());
        }
    }
    // What casts make, and what is computed from that alone and constants.
    let mut integers: BTreeSet<String> = BTreeSet::new();
    for node in &graph.node {
        let [result] = node.output.as_slice() else { continue };
        let of_integers = || node.input.iter().any(|name| integers.contains(name));
        if whole.contains(result) && (casts_to(node) == Some(true) || of_integers()) {
            integers.insert(result.clone());
        }
    }
    integers
}

/// Whether a node is a cast, and if it is one to integers (others are to floats).
fn casts_to(node: &NodeProto) -> Option<bool> {
    let to = node.attribute.iter().find(|attribute| attribute.name == "to")?;
    let to = i32::try_from(to.i).ok().and_then(|to| DataType::try_from(to).ok())?;
    match to {
        _ if node.op_type != "Cast" => None,
        DataType::Int32 | DataType::Int64 => Some(true),
        DataType::Float | DataType::Float16 | DataType::Bfloat16 | DataType::Double => Some(false),
        _ => None,
    }
}

impl Importer<'_> {
    /// Whether the node's result is of integers in the file, which are floats here.
    pub(super) fn is_whole(&self, place: Place<'_>) -> bool {
        place.node.output.first().is_some_and(|name| self.whole.contains(name))
    }
}
