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

fn sink(model: &mut Model, index: usize) -> Option<()> {
    let node = model.nodes[index].clone();
    let operands = match node.op {
        Op::Activation(_) | Op::Unary(_) | Op::Requantise | Op::Pad { .. } => &node.inputs[..1],
        Op::Concat { .. } => &node.inputs[..],
        ref op if op.is_binary() => &node.inputs[..],
        _ => return None,
    };
    let (mut permutation, mut sources): (Option<&Vec<usize>>, Vec<TensorId>) = (None, Vec::new());
    let is_binary = node.op.is_binary();
    for id in operands {
        if is_binary
            && model.tensor(*id).shape.elements() == Some(1)
            && model.tensor(*id).is_constant()
        {
            sources.push(*id);
            continue;
        }
        let transpose = &model.nodes[edit::private_producer(model, *id)?];
        let Op::Transpose { permutation: found } = &transpose.op else { return None };
        if permutation.is_some_and(|permutation| permutation != found) {
            return None;
        }
        permutation = Some(found);
        sources.push(*transpose.inputs.first()?);
    }
    let permutation = permutation?.clone();
    let output = *node.outputs.first()?;
    let mut dims = vec![0; permutation.len()];
    let after = model.tensor(output).shape.dims();
    if after.len() != dims.len() {
        return None;
    }
    permutation.iter().zip(after).for_each(|(axis, dim)| dims[*axis] = *dim);
    let op = match node.op.clone() {
        Op::Pad { amounts } => {
            let mut moved = vec![(0, 0); amounts.len()];
            permutation.iter().zip(amounts).for_each(|(axis, pair)| moved[*axis] = pair);
            Op::Pad { amounts: moved }
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
