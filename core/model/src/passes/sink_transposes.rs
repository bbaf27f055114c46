//! Moves transposes behind operators that work on each value by itself, on pairs of values, or along
//! a dimension, so that they meet and cancel. The transposes they stood behind are then dead.

use super::edit;
use crate::graph::{Model, Node, TensorId};
use crate::op::Op;
use crate::shape::Shape;

/// Runs the pass; says how many operators came to stand before a transpose.
pub fn run(model: &mut Model) -> usize {
    let mut changes = 0;
    let mut index = 0;
    while index < model.nodes.len() {
        changes += usize::from(sink(model, index).is_some());
        index += 1;
    }
    changes
}

/// The one transpose that all operands went through, and what the operands were before it.
struct Behind {
    permutation: Vec<usize>,
    sources: Vec<TensorId>,
    /// The operands that are results of transposes.
    transposed: Vec<TensorId>,
}

fn behind(model: &Model, node: &Node) -> Option<Behind> {
    let operands = match node.op {
        Op::Activation(_) | Op::Unary(_) | Op::Requantise | Op::Pad { .. } => &node.inputs[..1],
        Op::Concat { .. } => &node.inputs[..],
        ref op if op.is_binary() => &node.inputs[..],
        _ => return None,
    };
    let mut found = Behind { permutation: vec![], sources: vec![], transposed: vec![] };
    for id in operands {
        let tensor = model.tensor(*id);
        if node.op.is_binary() && tensor.is_constant() && tensor.shape.elements() == Some(1) {
            found.sources.push(*id);
            continue;
        }
        let transpose = model.nodes.iter().find(|node| node.outputs.contains(id))?;
        let Op::Transpose { permutation } = &transpose.op else { return None };
        if !found.transposed.is_empty() && found.permutation != *permutation {
            return None;
        }
        found.permutation.clone_from(permutation);
        found.sources.push(*transpose.inputs.first()?);
        found.transposed.push(*id);
    }
    (!found.transposed.is_empty()).then_some(found)
}

/// Whether all who read the tensor can read what was before the transpose instead, so that the
/// transpose goes and none is added.
fn all_can_do_without(model: &Model, id: TensorId) -> bool {
    let mut readers = model.nodes.iter().filter(|node| node.inputs.contains(&id));
    !edit::is_output(model, id) && readers.all(|reader| behind(model, reader).is_some())
}

fn sink(model: &mut Model, index: usize) -> Option<()> {
    let node = model.nodes[index].clone();
    let Behind { permutation, sources, transposed } = behind(model, &node)?;
    if !transposed.iter().all(|id| all_can_do_without(model, *id)) {
        return None;
    }
    let output = *node.outputs.first()?;
    let mut dims = vec![0; permutation.len()];
    let after = model.tensor(output).shape.dims();
    if after.len() != dims.len() {
        return None;
    }
    permutation.iter().zip(after).for_each(|(axis, dim)| dims[*axis] = *dim);
    let op = match node.op.clone() {
        Op::Pad { amounts, filler } => {
            let mut moved = vec![(0, 0); amounts.len()];
            permutation.iter().zip(amounts).for_each(|(axis, pair)| moved[*axis] = pair);
            Op::Pad { amounts: moved, filler }
        }
        Op::Concat { axis } => Op::Concat { axis: permutation[axis] },
        op => op,
    };
    let mut before = model.tensor(output).clone();
    before.shape = Shape::new(dims);
    before.name = edit::unique(model, &format!("{}.before", before.name));
    let before = model.add_tensor(before);
    let name = format!("{}.transposed", node.name);
    let last = Node {
        name,
        op: Op::Transpose { permutation },
        inputs: vec![before],
        outputs: vec![output],
    };
    let first = Node { op, inputs: sources, outputs: vec![before], ..node };
    model.nodes.splice(index..=index, [first, last]);
    Some(())
}
