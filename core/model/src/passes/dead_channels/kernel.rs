//! Weights of a node, seen by output channel, tap and input channel.

use super::Value;
use crate::data::Data;
use crate::graph::{Model, Node};
use crate::op::{Op, Padding};
use crate::tensor::Quantisation;

/// Weights that lie in memory; those of a depthwise convolution have one input channel for each
/// output channel.
pub(super) struct Kernel<'m> {
    values: &'m Data,
    /// Zero point of the weights.
    zero: i32,
    pub(super) outputs: usize,
    pub(super) taps: usize,
    /// Input channels of each output channel.
    pub(super) inputs: usize,
    is_depthwise: bool,
}

impl<'m> Kernel<'m> {
    /// The node's weights, if it has some, they and a bias lie in memory, and it can be rewritten.
    pub(super) fn of(model: &'m Model, node: &Node) -> Option<Self> {
        if !node.op.is_weighted() {
            return None;
        }
        for id in &node.inputs[1..] {
            model.tensor(*id).source.as_ref()?.data()?;
        }
        let weights = model.tensor(*node.inputs.get(1)?);
        let values = weights.source.as_ref()?.data()?;
        let is_depthwise = matches!(node.op, Op::DepthwiseConv { .. });
        let (outputs, taps, inputs) = match *weights.shape.dims() {
            [1, h, w, o] if is_depthwise => (o, h * w, 1),
            [o, h, w, i] => (o, h * w, i),
            [o, i] => (o, 1, i),
            _ => return None,
        };
        let zero = weights.quantisation.as_ref().map_or(0, Quantisation::zero);
        Some(Self { values, zero, outputs, taps, inputs, is_depthwise })
    }

    /// What an input is multiplied by: a weight less its zero point. Exact for int8 and 32-bit
    /// floats.
    fn at(&self, output: usize, tap: usize, input: usize) -> f64 {
        self.stored(output, tap, input) - f64::from(self.zero)
    }

    /// A weight as it is stored.
    pub(super) fn stored(&self, output: usize, tap: usize, input: usize) -> f64 {
        let index = match self.is_depthwise {
            true => tap * self.outputs + output,
            false => (output * self.taps + tap) * self.inputs + input,
        };
        match self.values {
            Data::F32(values) => f64::from(values[index]),
            Data::I8(values) => f64::from(values[index]),
            Data::I32(values) => f64::from(values[index]),
        }
    }

    /// Whether all weights between the channels are zero.
    pub(super) fn is_zero(&self, output: usize, input: usize) -> bool {
        (0..self.taps).all(|tap| self.at(output, tap, input) == 0.0)
    }

    /// Sum of the weights between the channels.
    pub(super) fn sum(&self, output: usize, input: usize) -> f64 {
        (0..self.taps).map(|tap| self.at(output, tap, input)).sum()
    }

    /// Whether an input channel can go: its value is known and adds the same to every output pixel,
    /// or nobody reads it.
    pub(super) fn can_fold(
        &self,
        model: &Model,
        node: &Node,
        input: usize,
        value: Option<Value>,
    ) -> bool {
        let adds_the_same =
            value.is_some_and(|value| value.is_zero(model, node.inputs[0]) || sees_no_border(node));
        adds_the_same || (0..self.outputs).all(|output| self.is_zero(output, input))
    }
}

/// Whether all taps of all windows lie inside the image, so that a channel that is the same
/// everywhere adds the same to every output pixel.
pub(super) fn sees_no_border(node: &Node) -> bool {
    match &node.op {
        Op::TransposeConv { .. } => false,
        op => op.window().is_none_or(|window| window.padding == Padding::default()),
    }
}
