//! Folds arithmetic with a constant that is the same at every pixel into the weights and the bias
//! before it: sums, differences, products and quotients. Other quotients by constants, which have no
//! int8 form, become products.

use super::edit;
use crate::graph::{Model, TensorId};
use crate::op::{Activation, Op};

/// Runs the pass; says how many nodes went or became products.
pub fn run(model: &mut Model) -> usize {
    let mut changes = 0;
    let mut index = 0;
    while index < model.nodes.len() {
        if fold(model, index) {
            changes += 1;
        } else {
            changes += usize::from(to_product(model, index).is_some());
            index += 1;
        }
    }
    changes
}

fn to_product(model: &mut Model, index: usize) -> Option<()> {
    let Op::Div { activation } = model.nodes[index].op else { return None };
    let divisor = *model.nodes[index].inputs.get(1)?;
    let factors: Vec<f32> = edit::constant(model, divisor)?.iter().map(|x| 1.0 / x).collect();
    if factors.iter().any(|factor| !factor.is_finite()) {
        return None;
    }
    let dims = model.tensor(divisor).shape.dims().to_vec();
    let name = format!("{}.reciprocal", model.nodes[index].name);
    model.nodes[index].inputs[1] = edit::add_constant(model, &name, dims, factors);
    model.nodes[index].op = Op::Mul { activation };
    Some(())
}

fn fold(model: &mut Model, index: usize) -> bool {
    let node = &model.nodes[index];
    let activation = match node.op {
        Op::Add { activation }
        | Op::Sub { activation }
        | Op::Mul { activation }
        | Op::Div { activation } => activation,
        _ => return false,
    };
    let commutes = matches!(node.op, Op::Add { .. } | Op::Mul { .. });
    let [first, second] = node.inputs[..] else { return false };
    for (value, constant) in [(first, second), (second, first)] {
        if value == second && !commutes {
            continue;
        }
        let Some(producer) = edit::private_producer(model, value) else { continue };
        let weighted = &model.nodes[producer];
        if !edit::is_weighted(model, weighted) || weighted.op.activation() != Some(Activation::None)
        {
            continue;
        }
        // As many values as there are channels: asked for behind weights, which a file must hold, not
        // behind any tensor, whose channels a file only claims.
        let Some(values) = channel_values(model, value, constant) else { continue };
        let (scale, offset) = affine(&model.nodes[index].op, &values);
        edit::scale_outputs(model, producer, &scale, &offset);
        if let Some(fused) = model.nodes[producer].op.activation_mut() {
            *fused = activation;
        }
        model.nodes[index].inputs = vec![value];
        return edit::bypass(model, index);
    }
    false
}

/// What the operator does to each channel as factor and summand.
fn affine(op: &Op, values: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let each = |value: &f64| match op {
        Op::Sub { .. } => (1.0, -value),
        Op::Mul { .. } => (*value, 0.0),
        Op::Div { .. } => (1.0 / value, 0.0),
        _ => (1.0, *value),
    };
    values.iter().map(each).unzip()
}

/// The constant's values along the last dimension of `value`, if they are the same everywhere else.
fn channel_values(model: &Model, value: TensorId, constant: TensorId) -> Option<Vec<f64>> {
    let values = edit::constant(model, constant)?;
    let (shape, own) = (&model.tensor(value).shape, &model.tensor(constant).shape);
    let channels = *shape.dims().last()?;
    if own.rank() > shape.rank() {
        return None;
    }
    if let [single] = values {
        return Some(vec![f64::from(*single); channels]);
    }
    if own.dims().last() != Some(&channels) {
        return None;
    }
    let mut rows = values.chunks_exact(channels.max(1));
    let first = rows.next()?;
    rows.all(|row| row == first).then(|| first.iter().map(|value| f64::from(*value)).collect())
}
