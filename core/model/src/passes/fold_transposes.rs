//! Removes transposes: those that move only dimensions of one element become reshapes, those in a
//! row become one, and one in front of a fully connected layer goes into its weights.

use super::edit;
use crate::data::{Data, Source};
use crate::graph::Model;
use crate::interpret::layout;
use crate::op::Op;
use crate::shape::Shape;

/// Runs the pass; says how many transposes it rewrote.
pub fn run(model: &mut Model) -> usize {
    join(model) + to_reshape(model) + into_weights(model)
}

fn to_reshape(model: &mut Model) -> usize {
    let mut changes = 0;
    for index in 0..model.nodes.len() {
        let Op::Transpose { permutation } = &model.nodes[index].op else { continue };
        let dims = model.tensor(model.nodes[index].inputs[0]).shape.dims();
        let moved: Vec<usize> =
            permutation.iter().copied().filter(|axis| dims[*axis] != 1).collect();
        if moved.is_sorted() {
            model.nodes[index].op = Op::Reshape;
            changes += 1;
        }
    }
    changes
}

fn join(model: &mut Model) -> usize {
    let mut changes = 0;
    let producers = model.producers();
    for index in 0..model.nodes.len() {
        let node = &model.nodes[index];
        let Op::Transpose { permutation: second } = &node.op else { continue };
        let Some(producer) = producers[node.inputs[0].0] else { continue };
        let Op::Transpose { permutation: first } = &model.nodes[producer.0].op else { continue };
        let permutation = second.iter().map(|axis| first[*axis]).collect();
        let (between, result) = (node.inputs[0], node.outputs[0]);
        let input = model.nodes[producer.0].inputs[0];
        model.nodes[index].op = Op::Transpose { permutation };
        model.nodes[index].inputs[0] = input;
        edit::inherit(model, between, result);
        changes += 1;
    }
    changes
}

/// Transpose, reshape to N×F, fully connected layers: the layers' weight columns are permuted and
/// the reshape reads the transpose's operand.
fn into_weights(model: &mut Model) -> usize {
    let mut changes = 0;
    for reshape in 0..model.nodes.len() {
        if let Some(columns) = columns(model, reshape) {
            permute(model, reshape, &columns);
            changes += 1;
        }
    }
    changes
}

/// The columns of the layers' weights as dimensions, and what permutes them.
struct Columns {
    dims: Vec<usize>,
    permutation: Vec<usize>,
}

/// What undoes the transpose in front of the reshape.
fn columns(model: &Model, reshape: usize) -> Option<Columns> {
    let node = &model.nodes[reshape];
    if node.op != Op::Reshape {
        return None;
    }
    let transpose = &model.nodes[edit::private_producer(model, node.inputs[0])?];
    let Op::Transpose { permutation } = &transpose.op else { return None };
    let dims = model.tensor(transpose.inputs[0]).shape.dims();
    let [batch, _] = *model.tensor(node.outputs[0]).shape.dims() else { return None };
    if permutation.first() != Some(&0) || dims.first() != Some(&batch) {
        return None;
    }
    let output = node.outputs[0];
    let mut readers = model.nodes.iter().filter(|node| node.inputs.contains(&output)).peekable();
    readers.peek()?;
    let all_dense = readers.all(|reader| {
        matches!(reader.op, Op::FullyConnected { .. })
            && edit::is_weighted(model, reader)
            && reader.inputs[0] == output
    });
    if !all_dense || edit::is_output(model, output) {
        return None;
    }
    let mut inverse = vec![0; permutation.len() - 1];
    for (to, from) in permutation[1..].iter().enumerate() {
        inverse[from - 1] = to;
    }
    let dims = permutation[1..].iter().map(|axis| dims[*axis]).collect();
    Some(Columns { dims, permutation: inverse })
}

fn permute(model: &mut Model, reshape: usize, columns: &Columns) {
    let output = model.nodes[reshape].outputs[0];
    for index in 0..model.nodes.len() {
        if !model.nodes[index].inputs.contains(&output) {
            continue;
        }
        let id = model.nodes[index].inputs[1];
        let shape = model.tensor(id).shape.clone();
        let rows = shape.dims().first().copied().unwrap_or(0);
        let dims: Vec<usize> = std::iter::once(rows).chain(columns.dims.iter().copied()).collect();
        let columns = columns.permutation.iter().map(|axis| axis + 1);
        let permutation: Vec<usize> = std::iter::once(0).chain(columns).collect();
        let permuted = if let Some(ranged) = edit::ranged(model, id) {
            Source::Ranged(ranged.permuted(&dims, &permutation))
        } else {
            let Some(weights) = edit::constant(model, id) else { continue };
            let permuted = layout::transpose(weights, &Shape::new(dims), &permutation);
            Source::inline(Data::F32(permuted))
        };
        let name = format!("{}.weights", model.nodes[index].name);
        let stated = model.tensor(id).quantisation.clone();
        let permuted = edit::add_source(model, &name, shape.dims(), permuted);
        model.tensors[permuted.0].quantisation = stated;
        model.nodes[index].inputs[1] = permuted;
    }
    let transposed = model.nodes[reshape].inputs[0];
    edit::inherit(model, transposed, output);
    let source = model.nodes.iter().find(|node| node.outputs.contains(&transposed));
    if let Some(input) = source.map(|node| node.inputs[0]) {
        model.nodes[reshape].inputs[0] = input;
    }
}
