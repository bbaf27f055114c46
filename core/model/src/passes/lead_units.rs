//! Moves a dimension of 1 to the front of what has rows and columns before it, so that kernels see a picture of batch 1:
//! exporters leave H×W×1×C behind a reshape of N×C×H×W. Reshapes around the node move nothing, and join their neighbours.

use super::edit;
use crate::graph::{Model, Node, TensorId};
use crate::op::Op;
use crate::shape::Shape;

/// Runs the pass; says how many nodes it turned.
pub fn run(model: &mut Model) -> usize {
    let mut changes = 0;
    let mut index = 0;
    while index < model.nodes.len() {
        if let Some((unit, op)) = turned(model, &model.nodes[index]) {
            index += turn(model, index, unit, op);
            changes += 1;
        }
        index += 1;
    }
    changes
}

/// The dimension that moves, and what the node does then; nothing if none does.
fn turned(model: &Model, node: &Node) -> Option<(usize, Op)> {
    let dims = |id: &TensorId| model.tensor(*id).shape.dims();
    let tensors = || node.inputs.iter().chain(&node.outputs);
    let output = dims(node.outputs.first()?);
    if output.len() != 4
        || output[0] == 1
        || node.inputs.iter().any(|id| model.tensor(*id).is_constant())
    {
        return None;
    }
    let is_unit = |at: &usize| tensors().all(|id| dims(id).get(*at) == Some(&1));
    let unit = (1..4).find(is_unit)?;
    let op = match &node.op {
        Op::Concat { axis } if *axis != unit => {
            Op::Concat { axis: if *axis < unit { axis + 1 } else { *axis } }
        }
        Op::Pad { amounts, filler } if amounts.get(unit) == Some(&(0, 0)) => {
            Op::Pad { amounts: led(amounts, unit), filler: *filler }
        }
        op if op.is_binary() && node.inputs.iter().all(|id| dims(id) == output) => op.clone(),
        _ => return None,
    };
    Some((unit, op))
}

/// The same with one element first.
fn led<T: Copy>(all: &[T], unit: usize) -> Vec<T> {
    let others = all.iter().enumerate().filter(|(at, _)| *at != unit).map(|(_, each)| *each);
    all.get(unit).copied().into_iter().chain(others).collect()
}

/// Puts reshapes around a node; how many stand before it.
fn turn(model: &mut Model, index: usize, unit: usize, op: Op) -> usize {
    let node = model.nodes[index].clone();
    let led = |model: &mut Model, id: TensorId| {
        let mut tensor = model.tensor(id).clone();
        tensor.shape = Shape::new(led(tensor.shape.dims(), unit));
        tensor.name = edit::unique(model, &format!("{}.led", tensor.name));
        model.add_tensor(tensor)
    };
    let reshape = |name: &str, from: TensorId, to: TensorId| Node {
        name: name.to_owned(),
        op: Op::Reshape,
        inputs: vec![from],
        outputs: vec![to],
    };
    let inputs: Vec<TensorId> = node.inputs.iter().map(|id| led(model, *id)).collect();
    let output = led(model, node.outputs[0]);
    let before = node.inputs.iter().zip(&inputs).map(|(from, to)| reshape(&node.name, *from, *to));
    let mut nodes: Vec<Node> = before.collect();
    let count = nodes.len();
    let behind = reshape(&node.name, output, node.outputs[0]);
    nodes.push(Node { op, inputs, outputs: vec![output], ..node });
    nodes.push(behind);
    model.nodes.splice(index..=index, nodes);
    count + 1
}
