//! Interpreter for int8 models: the reference that every kernel and strategy must equal, bit for
//! bit. The arithmetic is that of TensorFlow Lite's reference kernels with double rounding; see
//! thesis appendix A.1.

mod convolve;
mod elementwise;
mod fixed;
mod log_softmax;
mod pool;
mod resize;
mod response;
mod softmax;

use std::borrow::Cow;

use crate::data::Data;
use crate::graph::{Model, Node, NodeId, TensorId};
use crate::integer::{
    self, AddParams, BilinearParams, LogSoftmaxParams, Multiplier, PreluParams, ResponseParams,
    SoftmaxParams, Table,
};
use crate::interpret::slide::{Slide, image};
use crate::interpret::{Observe, RunError, Stop, broadcast, check_types, execute, layout, never};
use crate::op::{Op, ResizeMode, Window};
use crate::shape::Shape;
use crate::tensor::{DType, Quantisation, Tensor};
use convolve::{Rescale, Rows, differences};
use elementwise::Pair;

/// What a node needs besides its operands.
enum Ready {
    Convolve {
        rows: Rows,
        rescale: Rescale,
        window: Window,
    },
    Depthwise {
        weights: Vec<i16>,
        rescale: Rescale,
        window: Window,
        multiplier: usize,
    },
    TransposeConv {
        rows: Rows,
        rescale: Rescale,
        window: Window,
    },
    MaxPool {
        window: Window,
        clamp: (i8, i8),
    },
    AveragePool {
        window: Window,
        padding: Option<(i32, [usize; 2])>,
        halves_up: bool,
        clamp: (i8, i8),
    },
    Mean {
        axes: Vec<usize>,
        scale: Multiplier,
    },
    Add {
        params: AddParams,
        sign: i32,
        pair: Pair,
    },
    Mul {
        scale: Multiplier,
        pair: Pair,
    },
    Prelu {
        params: PreluParams,
        pair: Pair,
    },
    Maximum,
    Minimum,
    Move,
    /// A concatenation with a table for each operand that has another quantisation.
    Concat {
        axis: usize,
        tables: Vec<Option<Table>>,
    },
    Table(Box<Table>),
    Bilinear(BilinearParams),
    Softmax(SoftmaxParams),
    LogSoftmax(LogSoftmaxParams),
    LocalResponse(ResponseParams),
    ArgMax {
        axis: usize,
    },
    /// Weights do not lie in memory: all this is made anew in each run.
    Later,
}

/// An int8 model made ready for many runs: parameters are derived and weights widened once, but for
/// weights that do not lie in memory.
pub struct Interpreter<'m> {
    model: &'m Model,
    nodes: Vec<Ready>,
}

impl<'m> Interpreter<'m> {
    /// Verifies the model and derives the integer parameters of its nodes. What belongs to weights
    /// that do not lie in memory is derived in each run.
    ///
    /// # Errors
    /// If the graph is faulty, is not an int8 model, weights are not at hand, or a node has no
    /// integer parameters.
    pub fn new(model: &'m Model) -> Result<Self, RunError> {
        model.verify()?;
        check_types(model, DType::I8)?;
        let ready = |node: &Node| match has_distant_weights(model, node) {
            true => Ok(Ready::Later),
            false => prepare(model, node),
        };
        let nodes = model.nodes.iter().map(ready).collect::<Result<_, _>>()?;
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
        execute(
            self.model,
            inputs,
            observe,
            stop,
            &mut |id, node, operands, stop| match &self.nodes[id.0] {
                Ready::Later => {
                    compute(self.model, node, operands, &prepare(self.model, node)?, stop)
                }
                ready => compute(self.model, node, operands, ready, stop),
            },
        )
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

/// The value, with a low bound above the high one, from a zero point beyond the range, yielding the
/// high bound.
fn clamp(value: i32, (low, high): (i8, i8)) -> i8 {
    value.max(i32::from(low)).min(i32::from(high)) as i8
}

fn has_distant_weights(model: &Model, node: &Node) -> bool {
    let source = node.inputs.get(1).and_then(|id| model.tensor(*id).source.as_ref());
    node.op.is_weighted() && source.is_some_and(|source| source.data().is_none())
}

fn prepare(model: &Model, node: &Node) -> Result<Ready, RunError> {
    let clamp = || integer::clamp(model, node);
    let zeros = [zero(model, node.inputs[0]), zero(model, node.outputs[0])];
    let rescale = || -> Result<Rescale, RunError> {
        let channels = integer::channels(model, node)?;
        let (input_zero, output_zero) = (zeros[0] as i16, zeros[1]);
        Ok(Rescale { channels, input_zero, output_zero, clamp: clamp()? })
    };
    let rows = |groups: usize| -> Result<Rows, RunError> {
        Ok(Rows::new(&weights(model, node)?, model.tensor(node.inputs[1]), groups))
    };
    let pair = || -> Result<Pair, RunError> {
        let second = node.inputs.get(1).map_or(0, |id| zero(model, *id));
        Ok(Pair { zeros: [zeros[0], second, zeros[1]], clamp: clamp()? })
    };
    Ok(match &node.op {
        Op::Conv { window, groups, .. } => {
            Ready::Convolve { rows: rows(*groups)?, rescale: rescale()?, window: *window }
        }
        Op::FullyConnected { .. } => {
            let window = Window::dense([1, 1]);
            Ready::Convolve { rows: rows(1)?, rescale: rescale()?, window }
        }
        Op::TransposeConv { window, .. } => {
            Ready::TransposeConv { rows: rows(1)?, rescale: rescale()?, window: *window }
        }
        Op::DepthwiseConv { window, multiplier, .. } => Ready::Depthwise {
            weights: differences(&weights(model, node)?, model.tensor(node.inputs[1])),
            rescale: rescale()?,
            window: *window,
            multiplier: *multiplier,
        },
        Op::MaxPool { window, .. } => {
            same_quantisation(model, node)?;
            Ready::MaxPool { window: *window, clamp: clamp()? }
        }
        Op::AveragePool { window, count_padding, uncounted, halves_up, .. } => {
            same_quantisation(model, node)?;
            let padding = count_padding.then_some((zeros[0], *uncounted));
            let (window, halves_up) = (*window, *halves_up);
            Ready::AveragePool { window, padding, halves_up, clamp: clamp()? }
        }
        Op::Mean { axes, .. } => {
            Ready::Mean { axes: axes.clone(), scale: integer::mean(model, node)? }
        }
        Op::Add { .. } => Ready::Add { params: integer::add(model, node)?, sign: 1, pair: pair()? },
        Op::Sub { .. } => {
            Ready::Add { params: integer::add(model, node)?, sign: -1, pair: pair()? }
        }
        Op::Mul { .. } => Ready::Mul { scale: integer::mul(model, node)?, pair: pair()? },
        Op::Prelu => Ready::Prelu { params: integer::prelu(model, node)?, pair: pair()? },
        Op::Concat { axis } => Ready::Concat { axis: *axis, tables: integer::concat(model, node)? },
        Op::Maximum | Op::Minimum => {
            same_quantisation(model, node)?;
            if node.op == Op::Maximum { Ready::Maximum } else { Ready::Minimum }
        }
        op if op.only_moves() => {
            same_quantisation(model, node)?;
            Ready::Move
        }
        Op::Resize { mode: ResizeMode::Bilinear, .. } => {
            same_quantisation(model, node)?;
            Ready::Bilinear(integer::bilinear(model, node)?)
        }
        Op::Activation(_) | Op::Unary(_) | Op::Requantise => {
            Ready::Table(Box::new(integer::table(model, node)?))
        }
        Op::Softmax => Ready::Softmax(integer::softmax(model, node)?),
        Op::LogSoftmax => Ready::LogSoftmax(integer::log_softmax(model, node)?),
        Op::LocalResponseNorm { .. } => Ready::LocalResponse(integer::local_response(model, node)?),
        Op::ArgMax { axis, .. } => Ready::ArgMax { axis: *axis },
        _ => return Err(unsupported(node, "has no int8 form")),
    })
}

fn weights<'m>(model: &'m Model, node: &Node) -> Result<Cow<'m, [i8]>, RunError> {
    let tensor = model.tensor(node.inputs[1]);
    let values = match tensor.source.as_ref().map(|source| source.values()) {
        Some(Cow::Borrowed(Data::I8(values))) => Some(Cow::Borrowed(values.as_slice())),
        Some(Cow::Owned(Data::I8(values))) => Some(Cow::Owned(values)),
        _ => None,
    };
    let count = tensor.shape.elements();
    let values = values.filter(|values| Some(values.len()) == count);
    values.ok_or_else(|| RunError::NoValues { tensor: tensor.name.clone() })
}

fn same_quantisation(model: &Model, node: &Node) -> Result<(), RunError> {
    let quantisation = |id: &TensorId| &model.tensor(*id).quantisation;
    let output = quantisation(&node.outputs[0]);
    if node.inputs.iter().all(|id| quantisation(id) == output) {
        return Ok(());
    }
    Err(unsupported(node, "its result must be quantised as its operands"))
}

fn compute(
    model: &Model,
    node: &Node,
    operands: &[&Data],
    ready: &Ready,
    stop: &Stop<'_>,
) -> Result<Data, RunError> {
    let tensors: Vec<&Tensor> = node.inputs.iter().map(|id| model.tensor(*id)).collect();
    let output = &model.tensor(node.outputs[0]).shape;
    let zeros = [zero(model, node.inputs[0]), zero(model, node.outputs[0])];
    if let Ready::Move = ready {
        let shapes: Vec<&Shape> = tensors.iter().map(|tensor| &tensor.shape).collect();
        let filler = integer::filler(model, node);
        let moved = layout::moved(&node.op, operands, &shapes, output, filler);
        return moved.ok_or_else(|| unsupported(node, "its operands' types differ"));
    }
    let values = |index: usize| -> Result<&[i8], RunError> {
        operands[index].as_i8().ok_or_else(|| unsupported(node, "an operand is not int8"))
    };
    let input = values(0)?;
    let shape = &tensors[0].shape;
    let row = shape.dims().last().copied().unwrap_or(1);
    let slide = |window: &Window| Slide {
        window: *window,
        input: image(shape),
        output: image(output),
        stop,
    };
    let combine = |function: &dyn Fn(i8, i8) -> i8| -> Result<Vec<i8>, RunError> {
        let shapes = [shape.dims(), tensors[1].shape.dims()];
        Ok(broadcast::combine(output.dims(), shapes, [input, values(1)?], function))
    };
    Ok(Data::I8(match ready {
        Ready::Convolve { rows, rescale, window } => {
            convolve::convolve(&slide(window), input, rows, rescale)
        }
        Ready::Depthwise { weights, rescale, window, multiplier } => {
            convolve::depthwise(&slide(window), input, weights, rescale, *multiplier)
        }
        Ready::TransposeConv { rows, rescale, window } => {
            convolve::transposed(&slide(window), input, rows, rescale)
        }
        Ready::MaxPool { window, clamp } => pool::max_pool(&slide(window), input, *clamp),
        Ready::AveragePool { window, padding, halves_up, clamp } => {
            pool::average_pool(&slide(window), input, *padding, *halves_up, *clamp)
        }
        Ready::Mean { axes, scale } => pool::mean(input, shape.dims(), axes, *scale, zeros),
        Ready::Add { params, sign, pair } => combine(&|a, b| pair.add(params, *sign, a, b))?,
        Ready::Mul { scale, pair } => combine(&|a, b| pair.mul(*scale, a, b))?,
        Ready::Prelu { params, pair } => combine(&|a, b| pair.prelu(params, a, b))?,
        Ready::Maximum => combine(&|a, b| a.max(b))?,
        Ready::Minimum => combine(&|a, b| a.min(b))?,
        Ready::Concat { axis, tables } => {
            let parts: Vec<Vec<i8>> = tables
                .iter()
                .enumerate()
                .map(|(index, table)| {
                    let part = values(index)?;
                    Ok(table.as_ref().map_or_else(|| part.to_vec(), |table| look_up(part, table)))
                })
                .collect::<Result<_, RunError>>()?;
            let parts: Vec<_> =
                parts.iter().map(Vec::as_slice).zip(tensors.iter().map(|t| &t.shape)).collect();
            layout::concat(&parts, *axis)
        }
        Ready::Table(table) => look_up(input, table),
        Ready::Bilinear(params) => {
            let [_, oh, ow, _] = image(output);
            resize::bilinear(input, image(shape), [oh, ow], params)
        }
        Ready::Softmax(params) => softmax::softmax(input, row, *params),
        Ready::LogSoftmax(params) => log_softmax::log_softmax(input, row, *params),
        Ready::LocalResponse(params) => response::local_response(input, row, params, zeros),
        Ready::ArgMax { axis } => {
            return Ok(Data::I32(broadcast::arg_max(input, shape.dims(), *axis)));
        }
        Ready::Move | Ready::Later => {
            return Err(unsupported(node, "was not prepared"));
        }
    }))
}

fn look_up(values: &[i8], table: &Table) -> Vec<i8> {
    values.iter().map(|value| table[usize::from(*value as u8)]).collect()
}

#[cfg(test)]
mod tests;
