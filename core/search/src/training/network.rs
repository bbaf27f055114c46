//! A float model as layers that learn.

use tilewright_model::op::Activation;
use tilewright_model::{Model, Node, Op, Source, TensorId, Window as Geometry};

use super::TrainingError;
use super::layers::{Kept, Kind, Learnt, Offset, Weighted, clip, clip_back};
use crate::kernels::entropy::Entropy;
use crate::kernels::norm::Moments;
use crate::kernels::pool::Pool;
use crate::kernels::window::{Axis, Window};
use crate::layout::Layout;
use crate::samples::Batch;

/// A node of the model.
#[derive(Clone, Debug)]
pub(super) struct Layer {
    pub node: usize,
    pub kind: Kind,
    /// Tensors of the model, as is the result.
    inputs: Vec<usize>,
    output: usize,
    activation: Activation,
}

/// The layers and their order. Weights are values beside it.
#[derive(Debug)]
pub(super) struct Network {
    pub layout: Layout,
    pub layers: Vec<Layer>,
    tensors: usize,
    input: usize,
    /// Channels of the input.
    pub colours: usize,
    /// Values of the classes.
    output: usize,
    pub classes: usize,
}

/// What a batch gives.
#[derive(Debug)]
pub(super) struct Pass {
    /// Mean cross entropy.
    pub loss: f64,
    /// Images whose class has the largest value.
    pub correct: usize,
    pub by_weights: Vec<f32>,
}

/// What the way back needs.
struct Forward {
    /// By tensor.
    values: Vec<Vec<f32>>,
    /// By layer.
    all_kept: Vec<Kept>,
}

/// A window of the model over an image of this height and width.
fn window(geometry: &Geometry, [height, width]: [usize; 2]) -> Option<Window> {
    let [rows, columns] = geometry.output([height, width])?;
    let axis = |at: usize, before: usize, sizes: [usize; 2]| {
        Axis::new(geometry.size[at], geometry.dilation[at], geometry.stride[at], before, sizes)
    };
    Some(Window {
        down: axis(0, geometry.padding.top, [height, rows]),
        across: axis(1, geometry.padding.left, [width, columns]),
    })
}

/// For each element of a slice's or a padding's result, the input's element; by the first of each dimension, the step,
/// and the sizes of both.
fn moved(begin: &[isize], stride: &[isize], from: &[usize], to: &[usize]) -> Vec<Option<u32>> {
    let element = |index: usize| {
        let mut left = index;
        let (mut at, mut size) = (0usize, 1usize);
        for dim in (0..to.len()).rev() {
            let place = begin[dim] + (left % to[dim]) as isize * stride[dim];
            left /= to[dim];
            let place = usize::try_from(place).ok().filter(|place| *place < from[dim])?;
            at += place * size;
            size *= from[dim];
        }
        u32::try_from(at).ok()
    };
    (0..to.iter().product()).map(element).collect()
}

/// Makes layers of a model's nodes.
struct Reader<'m> {
    model: &'m Model,
    layout: Layout,
}

impl Reader<'_> {
    fn dims(&self, id: TensorId) -> &[usize] {
        self.model.tensor(id).shape.dims()
    }

    /// Height, width and channels of an image.
    fn image(&self, id: TensorId) -> Option<[usize; 3]> {
        match *self.dims(id) {
            [1, height, width, channels] => Some([height, width, channels]),
            [1, channels] => Some([1, 1, channels]),
            _ => None,
        }
    }

    /// A layer with weights; a bias behind a convolution is what folding a batch normalisation has left.
    fn weighted(&mut self, node: &Node, geometry: &Geometry, is_depthwise: bool) -> Option<Kind> {
        let [x, weights, bias @ ..] = node.inputs.as_slice() else { return None };
        let [height, width, inputs] = self.image(*x)?;
        self.model.tensor(*weights).source.as_ref()?;
        let outputs = self.image(*node.outputs.first()?)?[2];
        let window = window(geometry, [height, width])?;
        let taps = window.taps();
        let (count, fan_in) = match is_depthwise {
            true => (taps * inputs, taps),
            false => (taps * inputs * outputs, taps * inputs),
        };
        let weights = self.layout.take(count, fan_in);
        let offset = match bias {
            [] => Offset::Nothing,
            _ if matches!(node.op, Op::FullyConnected { .. }) => {
                Offset::Bias(self.layout.take(outputs, fan_in))
            }
            _ => Offset::Normalised {
                scale: self.layout.take_all(outputs, 1.0),
                offset: self.layout.take_all(outputs, 0.0),
            },
        };
        Some(Kind::Weighted(Weighted { window, inputs, outputs, is_depthwise, weights, offset }))
    }

    fn pool(&self, node: &Node, geometry: &Geometry) -> Option<(Pool, usize)> {
        let [height, width, channels] = self.image(*node.inputs.first()?)?;
        Some((Pool(window(geometry, [height, width])?), channels))
    }

    /// What a node does and the activation behind it; nothing if nobody knows how it learns.
    fn kind(&mut self, node: &Node) -> Option<(Kind, Activation)> {
        let x = *node.inputs.first()?;
        let (from, to) = (self.dims(x), self.dims(*node.outputs.first()?));
        let elements = from.iter().product();
        let moved = |begin: &[isize], stride: &[isize]| {
            let is_whole = begin.len() == from.len() && stride.len() == from.len();
            let from = is_whole.then(|| moved(begin, stride, from, to))?;
            Some(Kind::Moved { from, elements })
        };
        let signed = |numbers: &[usize]| -> Option<Vec<isize>> {
            numbers.iter().map(|number| isize::try_from(*number).ok()).collect()
        };
        Some(match &node.op {
            Op::Conv { window, groups: 1, activation } => {
                (self.weighted(node, window, false)?, *activation)
            }
            Op::DepthwiseConv { window, multiplier: 1, activation } => {
                (self.weighted(node, window, true)?, *activation)
            }
            Op::FullyConnected { activation } => {
                (self.weighted(node, &Geometry::dense([1, 1]), false)?, *activation)
            }
            Op::MaxPool { window, activation } => {
                let (pool, channels) = self.pool(node, window)?;
                (Kind::Largest { pool, channels }, *activation)
            }
            Op::AveragePool { window, count_padding: false, activation, .. } => {
                let (pool, channels) = self.pool(node, window)?;
                (Kind::Average { pool, channels }, *activation)
            }
            Op::Mean { axes, .. } if axes == &[1, 2] => {
                let [height, width, _] = self.image(x)?;
                let (pool, channels) = self.pool(node, &Geometry::dense([height, width]))?;
                (Kind::Average { pool, channels }, Activation::None)
            }
            Op::Activation(activation) => (Kind::Sum, *activation),
            Op::Add { activation } => {
                let is_whole = node.inputs.iter().all(|input| {
                    self.dims(*input) == to && !self.model.tensor(*input).is_constant()
                });
                (is_whole.then_some(Kind::Sum)?, *activation)
            }
            Op::Concat { axis } if axis + 1 == to.len() => {
                let last = |input: &TensorId| self.dims(*input).last().copied();
                let channels = node.inputs.iter().map(last).collect::<Option<_>>()?;
                (Kind::Joined { channels }, Activation::None)
            }
            Op::Reshape => (Kind::Sum, Activation::None),
            Op::Slice { begin, stride, .. } => (moved(&signed(begin)?, stride)?, Activation::None),
            Op::Pad { amounts, filler: 0.0 } => {
                let before: Vec<usize> = amounts.iter().map(|(before, _)| *before).collect();
                let begin: Vec<isize> = signed(&before)?.iter().map(|before| -before).collect();
                (moved(&begin, &vec![1; from.len()])?, Activation::None)
            }
            _ => return None,
        })
    }
}

impl Network {
    /// The layers of a float model with one image for input and one list of classes' values for output, a softmax of
    /// which is the loss's.
    pub fn of(model: &Model) -> Result<Self, TrainingError> {
        let ([input], [output]) = (model.inputs.as_slice(), model.outputs.as_slice()) else {
            return Err(TrainingError::InputsAndOutputs);
        };
        let mut reader = Reader { model, layout: Layout::default() };
        let (mut layers, mut output) = (Vec::new(), *output);
        for (index, node) in model.nodes.iter().enumerate() {
            if node.op == Op::Softmax && node.outputs == [output] {
                output = *node.inputs.first().ok_or(TrainingError::InputsAndOutputs)?;
                continue;
            }
            let unknown = || TrainingError::Operator {
                node: node.name.clone(),
                operator: node.op.name().to_owned(),
            };
            let (kind, activation) = reader.kind(node).ok_or_else(unknown)?;
            let operands = match kind {
                Kind::Weighted(_) | Kind::Moved { .. } => 1,
                _ => node.inputs.len(),
            };
            let inputs = node.inputs.iter().take(operands).map(|id| id.0).collect();
            let output = node.outputs.first().ok_or_else(unknown)?.0;
            layers.push(Layer { node: index, kind, inputs, output, activation });
        }
        let classes = match *model.tensor(output).shape.dims() {
            [1, classes] if classes > 1 => classes,
            _ => return Err(TrainingError::InputsAndOutputs),
        };
        let colours = match *model.tensor(*input).shape.dims() {
            [1, _, _, colours @ 1..=4] => colours,
            _ => return Err(TrainingError::InputsAndOutputs),
        };
        let tensors = model.tensors.len();
        let layout = reader.layout;
        Ok(Self { layout, layers, tensors, input: input.0, colours, output: output.0, classes })
    }

    /// What layers make of a batch.
    fn forward(&self, batch: &Batch, weights: &[f32]) -> Forward {
        let mut values: Vec<Vec<f32>> = vec![Vec::new(); self.tensors];
        values[self.input].clone_from(&batch.pixels);
        let mut all_kept: Vec<Kept> = Vec::with_capacity(self.layers.len());
        for layer in &self.layers {
            let inputs: Vec<&[f32]> = layer.inputs.iter().map(|id| &*values[*id]).collect();
            let (mut result, kept) = layer.kind.forward(&inputs, weights);
            clip(layer.activation, &mut result);
            values[layer.output] = result;
            all_kept.push(kept);
        }
        Forward { values, all_kept }
    }

    /// What a batch's images are before each batch normalisation, layer by layer.
    pub fn moments(&self, batch: &Batch, weights: &[f32]) -> Vec<Moments> {
        let all_kept = self.forward(batch, weights).all_kept;
        all_kept.into_iter().filter_map(|kept| kept.moments).collect()
    }

    /// A batch forward and backward.
    pub fn pass(&self, batch: &Batch, weights: &[f32]) -> Pass {
        let Forward { values, all_kept } = self.forward(batch, weights);
        let images = batch.labels.len() as f32;
        let by_weights = vec![0.0; self.layout.length()];
        let mut pass = Pass { loss: 0.0, correct: 0, by_weights };
        let mut by_values: Vec<Vec<f32>> =
            values.iter().map(|values| vec![0.0; values.len()]).collect();
        let of_images = values[self.output].chunks_exact(self.classes).zip(&batch.labels);
        by_values[self.output].clear();
        for (values, label) in of_images {
            let entropy = Entropy::of(values, usize::from(*label));
            pass.loss += entropy.loss / f64::from(images);
            pass.correct += usize::from(entropy.is_right);
            by_values[self.output].extend(entropy.by_values.iter().map(|by| by / images));
        }
        let mut learnt = Learnt { weights, gradient: &mut pass.by_weights };
        for (layer, kept) in self.layers.iter().zip(&all_kept).rev() {
            let mut dy = std::mem::take(&mut by_values[layer.output]);
            clip_back(layer.activation, &values[layer.output], &mut dy);
            let inputs: Vec<&[f32]> = layer.inputs.iter().map(|id| &*values[*id]).collect();
            // An input that is there twice gets both gradients: each adds to zeros of its own.
            let mut by_inputs: Vec<Vec<f32>> =
                inputs.iter().map(|input| vec![0.0; input.len()]).collect();
            layer.kind.backward(&inputs, kept, &mut dy, &mut by_inputs, &mut learnt);
            for (id, by_input) in layer.inputs.iter().zip(&by_inputs) {
                by_values[*id].iter_mut().zip(by_input).for_each(|(sum, by)| *sum += by);
            }
        }
        pass
    }

    /// The model with these weights, batch normalisations folded into them by the moments of all images.
    pub fn folded(&self, model: &Model, weights: &[f32], moments: &[Moments]) -> Model {
        let mut folded = model.clone();
        let mut moments = moments.iter();
        for layer in &self.layers {
            let Kind::Weighted(weighted) = &layer.kind else { continue };
            let of_offset = match &weighted.offset {
                Offset::Nothing => None,
                Offset::Bias(bias) => {
                    Some((vec![1.0; weighted.outputs], bias.of(weights).to_vec()))
                }
                Offset::Normalised { scale, offset } => moments.next().map(|moments| {
                    let (scale, offset) = (scale.of(weights), offset.of(weights));
                    let scales: Vec<f32> =
                        scale.iter().zip(&moments.inverse).map(|(a, b)| a * b).collect();
                    let means = moments.mean.iter().zip(&scales).map(|(mean, scale)| mean * scale);
                    let offsets = offset.iter().zip(means).map(|(offset, mean)| offset - mean);
                    let offsets = offsets.collect();
                    (scales, offsets)
                }),
            };
            let own = weighted.weights.of(weights);
            let outputs = weighted.outputs;
            let scale = |index: usize| of_offset.as_ref().map_or(1.0, |(scales, _)| scales[index]);
            let scaled: Vec<f32> = match weighted.is_depthwise {
                // Both are taps × channels.
                true => own.iter().enumerate().map(|(at, w)| w * scale(at % outputs)).collect(),
                // The model has outputs first.
                false => {
                    let of_output = |output: usize| {
                        let own = own.iter().skip(output).step_by(outputs);
                        let scale = scale(output);
                        own.map(move |w| w * scale)
                    };
                    (0..outputs).flat_map(of_output).collect()
                }
            };
            let constants = [Some(scaled), of_offset.map(|(_, offsets)| offsets)];
            let ids = model.nodes[layer.node].inputs.iter().skip(1);
            for (id, values) in ids.zip(constants.into_iter().flatten()) {
                let source = Source::inline(tilewright_model::Data::F32(values));
                folded.tensors[id.0].source = Some(source);
            }
        }
        folded
    }
}
