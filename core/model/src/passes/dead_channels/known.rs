//! Channels that have the same value everywhere, whatever the input.

use super::kernel::{Kernel, sees_no_border};
use super::{Channels, blank};
use crate::data::Data;
use crate::graph::{Model, Node, TensorId};
use crate::integer::{self, Channel, Multiplier};
use crate::op::{Activation, Op};
use crate::tensor::{DType, Quantisation};

/// The value of a channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    /// In a float tensor.
    Real(f32),
    /// In an int8 tensor.
    Integer(i8),
}

impl Value {
    /// As a difference from what stands for zero; exact.
    pub(super) fn difference(self, model: &Model, id: TensorId) -> f64 {
        let zero = model.tensor(id).quantisation.as_ref().map_or(0, Quantisation::zero);
        match self {
            Self::Real(value) => f64::from(value),
            Self::Integer(value) => f64::from(i32::from(value) - zero),
        }
    }

    /// Whether it is what padding has.
    pub(super) fn is_zero(self, model: &Model, id: TensorId) -> bool {
        self.difference(model, id) == 0.0
    }
}

/// The known values of all tensors' channels.
pub(super) fn known(model: &Model) -> Channels<Option<Value>> {
    let mut known = blank(model, None);
    for node in &model.nodes {
        let (Some(input), Some(output)) = (node.inputs.first(), node.outputs.first()) else {
            continue;
        };
        if let Some(values) = of_node(model, node, &known[input.0])
            && values.len() == known[output.0].len()
        {
            known[output.0] = values;
        }
    }
    known
}

fn of_node(model: &Model, node: &Node, input: &[Option<Value>]) -> Option<Vec<Option<Value>>> {
    if node.op.is_weighted() {
        return of_weights(model, node, input);
    }
    let any = || input.iter().any(Option::is_some);
    if !matches!(super::relation(model, node), super::Relation::Same) || !any() {
        return None;
    }
    let id = node.inputs[0];
    let is_zero = |value: &Value| value.is_zero(model, id);
    let each = |function: &dyn Fn(Value) -> Option<Value>| {
        Some(input.iter().map(|value| value.and_then(function)).collect())
    };
    match &node.op {
        Op::Reshape => Some(input.to_vec()),
        Op::Pad { filler, .. } => {
            let byte = integer::filler(model, node);
            each(&|value| match value {
                Value::Integer(known) => (known == byte).then_some(value),
                Value::Real(known) => (known == *filler).then_some(value),
            })
        }
        Op::Activation(_) | Op::Unary(_) | Op::Requantise => {
            let table = match model.tensor(id).dtype {
                DType::I8 => Some(integer::table(model, node).ok()?),
                _ => None,
            };
            each(&|value| match (value, &node.op) {
                (Value::Integer(value), _) => {
                    Some(Value::Integer(table.as_ref()?[usize::from(value as u8)]))
                }
                (Value::Real(value), Op::Unary(unary)) => Some(Value::Real(unary.apply(value))),
                (Value::Real(value), Op::Activation(activation)) => {
                    Some(Value::Real(limited(value, *activation)))
                }
                (value, _) => Some(value),
            })
        }
        Op::MaxPool { .. } | Op::AveragePool { .. } => {
            let counts_padding = matches!(node.op, Op::AveragePool { count_padding: true, .. })
                && !sees_no_border(node);
            // A mean of floats may be rounded.
            let rounds = matches!(node.op, Op::AveragePool { .. });
            let (low, high) = match model.tensor(id).dtype {
                DType::I8 => integer::clamp(model, node).ok()?,
                _ => (i8::MIN, i8::MAX),
            };
            let activation = node.op.activation().unwrap_or_default();
            each(&|value| match value {
                value if counts_padding && !is_zero(&value) => None,
                Value::Integer(value) => Some(Value::Integer(value.max(low).min(high))),
                Value::Real(value) if rounds && value != 0.0 => None,
                Value::Real(value) => Some(Value::Real(limited(value, activation))),
            })
        }
        Op::Mean { axes, .. } => {
            let dims = model.tensor(id).shape.dims();
            let count = axes.iter().map(|axis| dims[*axis]).product::<usize>() as i32;
            let output = zero(model, node.outputs[0]);
            let scale = match model.tensor(id).dtype {
                DType::I8 => Some(integer::mean(model, node).ok()?),
                _ => None,
            };
            each(&|value| match value {
                Value::Integer(_) => {
                    let sum = (value.difference(model, id) as i32).wrapping_mul(count);
                    let result = scale?.apply(sum).wrapping_add(output);
                    Some(Value::Integer(result.clamp(-128, 127) as i8))
                }
                Value::Real(value) => (value == 0.0).then_some(Value::Real(0.0)),
            })
        }
        _ => None,
    }
}

/// Output channels all of whose weights are zero, or meet known values only.
fn of_weights(model: &Model, node: &Node, input: &[Option<Value>]) -> Option<Vec<Option<Value>>> {
    let kernel = Kernel::of(model, node)?;
    let (groups, multiplier) = match node.op {
        Op::Conv { groups, .. } => (groups, 1),
        Op::DepthwiseConv { multiplier, .. } => (1, multiplier),
        _ => (1, 1),
    };
    let id = node.inputs[0];
    let no_border = sees_no_border(node);
    let finish = Finish::of(model, node, kernel.outputs)?;
    let value = |output: usize| {
        let first = match node.op {
            Op::DepthwiseConv { .. } => output / multiplier,
            _ => output / (kernel.outputs / groups) * kernel.inputs,
        };
        let mut sum = 0.0;
        for channel in 0..kernel.inputs {
            if kernel.is_zero(output, channel) {
                continue;
            }
            let value = (*input.get(first + channel)?)?;
            if !value.is_zero(model, id) {
                if !no_border {
                    return None;
                }
                sum += kernel.sum(output, channel) * value.difference(model, id);
            }
        }
        finish.value(output, sum)
    };
    Some((0..kernel.outputs).map(value).collect())
}

/// How the sum of products becomes a value.
enum Finish<'m> {
    Real { bias: Option<&'m [f32]>, activation: Activation },
    Integer { channels: Vec<Channel>, zero: i32, clamp: (i8, i8) },
}

impl<'m> Finish<'m> {
    fn of(model: &'m Model, node: &Node, outputs: usize) -> Option<Self> {
        let output = *node.outputs.first()?;
        if model.tensor(output).dtype == DType::I8 {
            let channels = integer::channels(model, node).ok()?;
            let clamp = integer::clamp(model, node).ok()?;
            return Some(Self::Integer { channels, zero: zero(model, output), clamp });
        }
        let bias = match node.inputs.get(2) {
            Some(id) => Some(model.tensor(*id).source.as_ref()?.data().and_then(Data::as_f32)?),
            None => None,
        };
        let bias = bias.filter(|bias| bias.len() == outputs);
        Some(Self::Real { bias, activation: node.op.activation().unwrap_or_default() })
    }

    fn value(&self, channel: usize, sum: f64) -> Option<Value> {
        match self {
            Self::Real { bias, activation } => {
                let bias = bias.map_or(0.0, |bias| f64::from(bias[channel]));
                Some(Value::Real(limited((bias + sum) as f32, *activation)))
            }
            Self::Integer { channels, zero, clamp: (low, high) } => {
                let Channel { bias, multiplier, shift } = *channels.get(channel)?;
                // Exact: products of 8 and 9 bits over as many taps as memory holds.
                let sum = (sum as i64 as i32).wrapping_add(bias);
                let scaled = Multiplier { q31: multiplier, shift }.apply(sum).wrapping_add(*zero);
                Some(Value::Integer(scaled.max(i32::from(*low)).min(i32::from(*high)) as i8))
            }
        }
    }
}

fn zero(model: &Model, id: TensorId) -> i32 {
    model.tensor(id).quantisation.as_ref().map_or(0, Quantisation::zero)
}

fn limited(value: f32, activation: Activation) -> f32 {
    let (low, high) = activation.range();
    if value > high {
        high
    } else if value > low {
        value
    } else {
        low
    }
}
