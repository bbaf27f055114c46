//! Names of the file under which a tensor of the graph may be found.
//!
//! Passes move an activation, a batch normalisation or a sum with a constant into the layer before it.
//! The layer's result keeps its name, and holds what the last of these makes in the file.

use std::collections::{BTreeMap, BTreeSet};

use tract_onnx::pb;

/// Operators that follow each other inside of one layer at most.
const MOST: usize = 6;

/// Operators that may become a part of the layer before them.
const FUSED: [&str; 17] = [
    "Add",
    "BatchNormalization",
    "Cast",
    "Clip",
    "DequantizeLinear",
    "Div",
    "Dropout",
    "HardSwish",
    "Identity",
    "Max",
    "Min",
    "Mul",
    "QuantizeLinear",
    "Relu",
    "Reshape",
    "Sub",
    "Transpose",
];

/// For each of the `wanted` names those of what is made of it alone, one after the other.
pub(crate) fn of(
    proto: &pb::ModelProto,
    wanted: &BTreeSet<String>,
) -> BTreeMap<String, Vec<String>> {
    let mut readers: BTreeMap<&str, Vec<&pb::NodeProto>> = BTreeMap::new();
    let nodes = proto.graph.iter().flat_map(|graph| &graph.node);
    for node in nodes {
        for name in &node.input {
            readers.entry(name).or_default().push(node);
        }
    }
    let next = |name: &str| match readers.get(name)?.as_slice() {
        [reader] if FUSED.contains(&reader.op_type.as_str()) => reader.output.first(),
        _ => None,
    };
    let chain = |name: &String| {
        let mut names: Vec<String> = Vec::new();
        while let Some(heir) = next(names.last().unwrap_or(name)).filter(|_| names.len() < MOST) {
            names.push(heir.clone());
        }
        (name.clone(), names)
    };
    wanted.iter().map(chain).collect()
}
