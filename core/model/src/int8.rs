//! Interpreter for int8 models: the reference that every kernel and strategy must equal, bit for
//! bit. The arithmetic is that of TensorFlow Lite's reference kernels with double rounding; see
//! thesis appendix A.1.

mod kernels;
mod softmax;

use std::borrow::Cow;

use crate::data::Data;
use crate::graph::{Model, Node, NodeId, TensorId};
use crate::integer::{self, AddParams, Channel, Multiplier, SoftmaxParams};
use crate::interpret::slide::{Slide, image};
use crate::interpret::{Observe, RunError, Stop, check_types, execute, layout, never};
use crate::op::{Op, Window};
use crate::shape::Shape;
use crate::tensor::{DType, Quantisation, Tensor};
use kernels::{Rescale, Rows};

/// What a node needs besides its operands.
enum Ready {
    Convolve { rows: Rows, rescale: Rescale, window: Window },
    Depthwise { weights: Vec<i16>, rescale: Rescale, window: Window, multiplier: usize },
    MaxPool { window: Window },
    AveragePool { window: Window, padding: Option<(i32, [usize; 2])> },
    Add { params: AddParams, zeros: [i32; 3] },
    Pad { amounts: Vec<(usize, usize)>, zero: i8 },
    Concat { axis: usize, rescales: Vec<Option<(Multiplier, i32, i32)>> },
    Rescale { multiplier: Multiplier, zeros: [i32; 2] },
    Copy,
    Transpose { permutation: Vec<usize> },
    Softmax { params: SoftmaxParams },
}

struct Prepared {
    ready: Ready,
    clamp: (i8, i8),
}

/// An int8 model made ready for many runs: parameters are derived and weights widened once.
pub struct Interpreter<'m> {
    model: &'m Model,
    nodes: Vec<Prepared>,
}

impl<'m> Interpreter<'m> {
    /// Verifies the model and derives the integer parameters of its nodes.
    ///
    /// # Errors
    /// If the graph is faulty, is not an int8 model, weights are not at hand, or a node has no
    /// integer parameters.
    pub fn new(model: &'m Model) -> Result<Self, RunError> {
        model.verify()?;
        check_types(model, DType::I8)?;
        let nodes =
            model.nodes.iter().map(|node| prepare(model, node)).collect::<Result<_, _>>()?;
        Ok(Self { model, nodes })
    }

    /// Runs the model on one set of inputs, in the order of [`Model::inputs`]; activations NHWC.
    /// `observe` sees each node's results.
    ///
    /// # Errors
    /// If the inputs do not fit the model.
    pub fn run(&self, inputs: &[Data], observe: &mut Observe<'_>) -> Result<Vec<Data>, RunError> {
        self.run_until(inputs, observe, &never)
    }

    /// As [`Interpreter::run`], but ends soon after `stop` says yes.
    ///
    /// # Errors
    /// If the inputs do not fit the model; [`RunError::Stopped`] if it was stopped.
    pub fn run_until(
        &self,
        inputs: &[Data],
        observe: &mut Observe<'_>,
        stop: &Stop<'_>,
    ) -> Result<Vec<Data>, RunError> {
        execute(self.model, inputs, observe, stop, &mut |id, node, operands, stop| {
            compute(self.model, node, operands, &self.nodes[id.0], stop).map(Data::I8)
        })
    }
}

/// Runs an int8 model once. See [`Interpreter::run`].
///
/// # Errors
/// As [`Interpreter::new`] and [`Interpreter::run`].
pub fn run(
    model: &Model,
    inputs: &[Data],
    observe: &mut dyn FnMut(NodeId, &[Data]),
) -> Result<Vec<Data>, RunError> {
    Interpreter::new(model)?.run(inputs, observe)
}

fn zero(model: &Model, id: TensorId) -> i32 {
    model.tensor(id).quantisation.as_ref().map_or(0, Quantisation::zero)
}

fn unsupported(node: &Node, reason: &'static str) -> RunError {
    RunError::Unsupported { node: node.name.clone(), reason }
}

fn prepare(model: &Model, node: &Node) -> Result<Prepared, RunError> {
    let clamp = integer::clamp(model, node)?;
    let output = node.outputs[0];
    let zeros = [zero(model, node.inputs[0]), zero(model, output)];
    let rescale = || -> Result<Rescale, RunError> {
        let channels: Vec<Channel> = integer::channels(model, node)?;
        Ok(Rescale { channels, input_zero: zeros[0] as i16, output_zero: zeros[1], clamp })
    };
    let ready = match &node.op {
        Op::Conv { window, groups, .. } => Ready::Convolve {
            rows: Rows::new(&weights(model, node)?, model.tensor(node.inputs[1]), *groups),
            rescale: rescale()?,
            window: *window,
        },
        Op::FullyConnected { .. } => Ready::Convolve {
            rows: Rows::new(&weights(model, node)?, model.tensor(node.inputs[1]), 1),
            rescale: rescale()?,
            window: Window::dense([1, 1]),
        },
        Op::DepthwiseConv { window, multiplier, .. } => Ready::Depthwise {
            weights: weights(model, node)?.iter().map(|weight| i16::from(*weight)).collect(),
            rescale: rescale()?,
            window: *window,
            multiplier: *multiplier,
        },
        Op::MaxPool { window, .. } => {
            same_quantisation(model, node)?;
            Ready::MaxPool { window: *window }
        }
        Op::AveragePool { window, count_padding, uncounted, .. } => {
            same_quantisation(model, node)?;
            Ready::AveragePool {
                window: *window,
                padding: count_padding.then_some((zeros[0], *uncounted)),
            }
        }
        Op::Add { .. } => Ready::Add {
            params: integer::add(model, node)?,
            zeros: [zeros[0], zero(model, node.inputs[1]), zeros[1]],
        },
        Op::Pad { amounts } => {
            same_quantisation(model, node)?;
            Ready::Pad { amounts: amounts.clone(), zero: zeros[1] as i8 }
        }
        Op::Concat { axis } => {
            let rescales = node
                .inputs
                .iter()
                .map(|input| {
                    if model.tensor(*input).quantisation == model.tensor(output).quantisation {
                        return Ok(None);
                    }
                    let multiplier = integer::requantise(model, *input, output)?;
                    Ok(Some((multiplier, zero(model, *input), zeros[1])))
                })
                .collect::<Result<_, RunError>>()?;
            Ready::Concat { axis: *axis, rescales }
        }
        Op::Reshape => {
            same_quantisation(model, node)?;
            Ready::Copy
        }
        Op::Transpose { permutation } => {
            same_quantisation(model, node)?;
            Ready::Transpose { permutation: permutation.clone() }
        }
        Op::Activation(_) => {
            let multiplier = integer::requantise(model, node.inputs[0], output)?;
            Ready::Rescale { multiplier, zeros }
        }
        Op::Softmax => Ready::Softmax { params: integer::softmax(model, node)? },
        _ => return Err(unsupported(node, "has no int8 form")),
    };
    Ok(Prepared { ready, clamp })
}

fn weights<'m>(model: &'m Model, node: &Node) -> Result<Cow<'m, [i8]>, RunError> {
    let tensor = model.tensor(node.inputs[1]);
    let values = match tensor.source.as_ref().map(|source| source.values()) {
        Some(Cow::Borrowed(Data::I8(values))) => Some(Cow::Borrowed(values.as_slice())),
        Some(Cow::Owned(Data::I8(values))) => Some(Cow::Owned(values)),
        _ => None,
    };
    values.ok_or_else(|| RunError::NoValues { tensor: tensor.name.clone() })
}

fn same_quantisation(model: &Model, node: &Node) -> Result<(), RunError> {
    let quantisation = |id: TensorId| &model.tensor(id).quantisation;
    if quantisation(node.inputs[0]) == quantisation(node.outputs[0]) {
        return Ok(());
    }
    Err(unsupported(node, "its result must be quantised as its operand"))
}

fn compute(
    model: &Model,
    node: &Node,
    operands: &[&Data],
    prepared: &Prepared,
    stop: &Stop<'_>,
) -> Result<Vec<i8>, RunError> {
    let tensors: Vec<&Tensor> = node.inputs.iter().map(|id| model.tensor(*id)).collect();
    let values = |index: usize| -> Result<&[i8], RunError> {
        operands[index].as_i8().ok_or_else(|| unsupported(node, "an operand is not int8"))
    };
    let input = values(0)?;
    let shape: &Shape = &tensors[0].shape;
    let slide = |window: &Window| Slide {
        window: *window,
        input: image(shape),
        output: image(&model.tensor(node.outputs[0]).shape),
        stop,
    };
    Ok(match &prepared.ready {
        Ready::Convolve { rows, rescale, window } => {
            kernels::convolve(&slide(window), input, rows, rescale)
        }
        Ready::Depthwise { weights, rescale, window, multiplier } => {
            kernels::depthwise(&slide(window), input, weights, rescale, *multiplier)
        }
        Ready::MaxPool { window } => kernels::max_pool(&slide(window), input, prepared.clamp),
        Ready::AveragePool { window, padding } => {
            kernels::average_pool(&slide(window), input, *padding, prepared.clamp)
        }
        Ready::Add { params, zeros } => {
            kernels::add(input, values(1)?, params, *zeros, prepared.clamp)
        }
        Ready::Pad { amounts, zero } => layout::pad(input, shape, amounts, *zero),
        Ready::Concat { axis, rescales } => {
            let parts: Vec<Vec<i8>> = rescales
                .iter()
                .enumerate()
                .map(|(index, rescale)| {
                    let part = values(index)?;
                    Ok(match rescale {
                        None => part.to_vec(),
                        Some((multiplier, from, to)) => {
                            kernels::requantise(part, *multiplier, [*from, *to], prepared.clamp)
                        }
                    })
                })
                .collect::<Result<_, RunError>>()?;
            let parts: Vec<_> =
                parts.iter().map(Vec::as_slice).zip(tensors.iter().map(|t| &t.shape)).collect();
            layout::concat(&parts, *axis)
        }
        Ready::Rescale { multiplier, zeros } => {
            kernels::requantise(input, *multiplier, *zeros, prepared.clamp)
        }
        Ready::Copy => input.to_vec(),
        Ready::Transpose { permutation } => layout::transpose(input, shape, permutation),
        Ready::Softmax { params } => {
            let row = shape.dims().last().copied().unwrap_or(1);
            softmax::softmax(input, row, *params)
        }
    })
}

#[cfg(test)]
mod tests;
