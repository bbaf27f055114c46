//! Weights, biases, and the layers that have them.

use std::borrow::Cow;

use tilewright_model::integer::{Multiplier, multiplier};
use tilewright_model::{Activation, Data, Model, Node, Op, Tensor, TensorId, Window};
use tilewright_tflite_schema::{self as fb, BuiltinOperator as Code};

use super::graph::{Made, Writer, int};
use super::kind::{Eight, Multipliers};
use super::options::{Options, Sliding};
use super::tables::{Scaled, Tensor as Written};

/// The float type in which scales of input and weights are multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Product {
    /// 32 bits.
    Short,
    /// 64 bits.
    Long,
}

/// The multiplier of each scale of the weights, with such products.
pub(super) fn multipliers(model: &Model, node: &Node, product: Product) -> Multipliers {
    let scale = |id: Option<&TensorId>| {
        id.and_then(|id| model.tensor(*id).quantisation.as_ref()).map(|known| known.scale(0))
    };
    let (input, output) = (scale(node.inputs.first())?, scale(node.outputs.first())?);
    let weights = model.tensor(*node.inputs.get(1)?).quantisation.as_ref()?;
    let each = weights.scales.iter().map(|weights| {
        let product = match product {
            Product::Short => f64::from(input * weights),
            Product::Long => f64::from(input) * f64::from(*weights),
        };
        multiplier(product / f64::from(output)).ok()
    });
    each.collect::<Option<Vec<Multiplier>>>()
}

/// int8 values; nothing if these are none, or cannot be read.
fn values(tensor: &Tensor) -> Option<Cow<'_, [i8]>> {
    let source = tensor.source.as_ref()?;
    source.integers(0..source.len())
}

/// Weights as differences from their one zero point; nothing if one does not fit 8 bits.
pub(super) fn differences(tensor: &Tensor) -> Option<Cow<'_, [i8]>> {
    let zero = tensor.quantisation.as_ref()?.zero();
    let values = values(tensor)?;
    if zero == 0 {
        return Some(values);
    }
    let each = values.iter().map(|value| i8::try_from(i32::from(*value) - zero).ok());
    each.collect::<Option<Vec<i8>>>().map(Cow::Owned)
}

impl Writer<'_> {
    /// A convolution, a depthwise convolution or a fully connected layer.
    pub(super) fn weighted(&mut self, node: &Node, output: i32) -> Made<()> {
        let activation = node.op.activation().unwrap_or_default();
        if let Op::FullyConnected { .. } = node.op {
            let options = Options::FullyConnected(activation);
            if self.rounds_otherwise(node, Code::FULLY_CONNECTED) {
                return self.as_convolution(node, output);
            }
            let input = self.tensor(node.inputs[0])?;
            return self.layer(node, (Code::FULLY_CONNECTED, options, 0), input, output);
        }
        let Some(window) = node.op.window() else { return Err("it has no window".to_owned()) };
        let (input, padding) = self.in_scheme(node, window)?;
        let sliding = Sliding {
            padding,
            stride: [int(window.stride[0])?, int(window.stride[1])?],
            dilation: [int(window.dilation[0])?, int(window.dilation[1])?],
            activation,
        };
        let (code, options, axis) = match &node.op {
            Op::DepthwiseConv { multiplier, .. } => {
                let multiplier = int(*multiplier)?;
                (Code::DEPTHWISE_CONV_2D, Options::Depthwise { sliding, multiplier }, 3)
            }
            _ => (Code::CONV_2D, Options::Conv(sliding), 0),
        };
        self.layer(node, (code, options, axis), input, output)
    }

    /// Whether TensorFlow Lite multiplies the scales of a layer's input and weights in another float
    /// type than the model does, and that shows.
    fn rounds_otherwise(&self, node: &Node, code: Code) -> bool {
        let weights = node.inputs.get(1).map(|id| self.model.tensor(*id));
        let Some(weights) = weights.and_then(|weights| weights.quantisation.as_ref()) else {
            return false;
        };
        let is_fully_connected = code == Code::FULLY_CONNECTED;
        let may_be_short = self.model.short_products || is_fully_connected;
        let is_short_here = may_be_short && weights.axis.is_none();
        let is_short_there =
            weights.scales.len() == 1 && (is_fully_connected || self.eight == Eight::Unsigned);
        is_short_here != is_short_there
            && multipliers(self.model, node, Product::Short)
                != multipliers(self.model, node, Product::Long)
    }

    /// A fully connected layer of one output with a scale of its own: TensorFlow Lite takes it for the
    /// scale of all weights and rounds the product of scales. A convolution does not.
    fn as_convolution(&mut self, node: &Node, output: i32) -> Made<()> {
        if self.eight == Eight::Unsigned {
            return Err(ROUNDED.to_owned());
        }
        let (input, weights) = (node.inputs[0], self.weights(node, 0, true)?);
        let (&[rows, taken], &[channels, _]) = (self.dims(input), self.dims(node.inputs[1])) else {
            return Err("its operands have not two dimensions".to_owned());
        };
        let images = self.like(node, input, "image", &[rows, 1, 1, taken])?;
        let x = self.tensor(input)?;
        self.reshape(x, images, &[rows, 1, 1, taken])?;
        let result = self.like(node, node.outputs[0], "pixel", &[rows, 1, 1, channels])?;
        let dense = Window::dense([1, 1]);
        let sliding = Sliding {
            padding: fb::Padding::VALID,
            stride: [int(dense.stride[0])?; 2],
            dilation: [1; 2],
            activation: node.op.activation().unwrap_or_default(),
        };
        let mut inputs = vec![images, weights];
        inputs.extend(self.bias(node)?);
        self.push(Code::CONV_2D, Options::Conv(sliding), &inputs, &[result]);
        self.reshape(result, output, &[rows, channels])
    }

    /// A layer with its options, and the dimension of the weights along which they have scales.
    fn layer(
        &mut self,
        node: &Node,
        (code, options, axis): (Code, Options, usize),
        input: i32,
        output: i32,
    ) -> Made<()> {
        if self.rounds_otherwise(node, code) {
            return Err(ROUNDED.to_owned());
        }
        let weights = self.weights(node, axis, false)?;
        let mut inputs = vec![input, weights];
        inputs.extend(self.bias(node)?);
        self.push(code, options, &inputs, &[output]);
        Ok(())
    }

    /// A transposed convolution: its activation stands behind it, since TensorFlow Lite Micro ignores
    /// a fused one. Padding that the format cannot say is cut off behind it.
    pub(super) fn transposed(
        &mut self,
        node: &Node,
        window: &Window,
        activation: Activation,
        output: i32,
    ) -> Made<()> {
        if window.dilation != [1, 1] {
            return Err("a transposed convolution is not dilated".to_owned());
        }
        let id = node.outputs[0];
        let &[batch, height, width, channels] = self.dims(id) else {
            return Err("its result has not four dimensions".to_owned());
        };
        let from = self.dims(node.inputs[0]);
        let before = [window.padding.top, window.padding.left];
        let (size, stride) = (window.size, window.stride);
        // TensorFlow Lite checks that the convolution which this one inverts has the input's size.
        let is_same = [(0, height), (1, width)].into_iter().all(|(axis, length)| {
            let steps = length.div_ceil(stride[axis]);
            let total = ((steps - 1) * stride[axis] + size[axis]).saturating_sub(length);
            (steps, total / 2) == (from[axis + 1], before[axis])
        });
        let mut padding = fb::Padding::SAME;
        let mut whole = [batch, height, width, channels];
        let mut cut = [0, 0];
        if !is_same {
            (padding, cut) = (fb::Padding::VALID, before);
            for axis in 0..2 {
                let least = (from[axis + 1] - 1) * stride[axis] + size[axis];
                whole[axis + 1] = least.max(before[axis] + whole[axis + 1]);
                if whole[axis + 1] >= least + stride[axis] {
                    let reason = "its padding is cut off behind it, which leaves more than its \
                                  windows reach";
                    return Err(reason.to_owned());
                }
            }
        }
        let is_cut = whole != [batch, height, width, channels];
        let made = match is_cut || activation != Activation::None {
            true => self.like(node, id, "whole", &whole)?,
            false => output,
        };
        let name = format!("{}.shape", self.name(id));
        let shape = self.integers(&name, &[4], &ints(&whole)?);
        let input = self.tensor(node.inputs[0])?;
        let sliding = Sliding {
            padding,
            stride: [int(window.stride[0])?, int(window.stride[1])?],
            dilation: [1, 1],
            activation: Activation::None,
        };
        if self.rounds_otherwise(node, Code::TRANSPOSE_CONV) {
            return Err(ROUNDED.to_owned());
        }
        let mut inputs = vec![shape, self.weights(node, 0, false)?, input];
        inputs.extend(self.bias(node)?);
        self.push(Code::TRANSPOSE_CONV, Options::TransposeConv(sliding), &inputs, &[made]);
        let mut last = made;
        if is_cut {
            let next = match activation {
                Activation::None => output,
                _ => self.like(node, id, "cut", self.dims(id))?,
            };
            let begin = [0, cut[0], cut[1], 0];
            self.slice(node, last, (&begin, self.dims(id), &[1; 4]), next)?;
            last = next;
        }
        if let Some(code) = super::functions::of_activation(activation) {
            self.push(code, Options::None, &[last], &[output]);
        }
        Ok(())
    }

    /// The constant weights of a layer, whose scales run along `axis`; as those of a convolution of
    /// one pixel if `as_image`.
    fn weights(&mut self, node: &Node, axis: usize, as_image: bool) -> Made<i32> {
        let id = *node.inputs.get(1).ok_or("it has no weights")?;
        let tensor = self.model.tensor(id);
        if !tensor.is_constant() {
            return Err("its weights are not constant".to_owned());
        }
        if !self.is_int8 {
            return self.tensor(id);
        }
        let key = (id, as_image);
        if let Some(known) = self.weights.get(&key) {
            return Ok(*known);
        }
        let quantisation = tensor.quantisation.as_ref().ok_or("its weights have no scale")?;
        if quantisation.axis.is_some_and(|along| along != axis) {
            return Err("its weights have scales along another dimension".to_owned());
        }
        if self.eight == Eight::Unsigned && quantisation.scales.len() > 1 {
            let reason = "the model is computed as one of uint8 elsewhere, and there weights have one \
                          scale for all channels";
            return Err(reason.to_owned());
        }
        let takes_zero =
            matches!(node.op, Op::FullyConnected { .. }) || self.eight == Eight::Unsigned;
        let (values, zero) = match differences(tensor) {
            Some(values) => (values, 0),
            None if takes_zero && quantisation.axis.is_none() && !as_image => {
                let values = values(tensor).ok_or("its weights cannot be read")?;
                (values, quantisation.zero())
            }
            None => {
                let reason = "its weights are no 8-bit differences from their zero point: quantise \
                              them as int8 with zero point 0";
                return Err(reason.to_owned());
            }
        };
        let mut dims = ints(tensor.shape.dims())?;
        if as_image {
            dims.splice(1..1, [1, 1]);
        }
        let (scales, count) = (quantisation.scales.clone(), quantisation.scales.len());
        let zeros = vec![self.zero(zero); count];
        let axis = if count > 1 { int(axis)? } else { 0 };
        let written = Written {
            name: tensor.name.clone(),
            dims,
            kind: self.kind(tensor)?,
            scaled: Some(Scaled { scales, zeros, axis }),
            data: Some(self.eight_bits(&values)),
        };
        let index = self.graph.tensor(written);
        self.weights.insert(key, index);
        Ok(index)
    }

    /// The constant bias of a layer, if it has one. Its scales are those of input and weights
    /// multiplied, which TensorFlow Lite checks: a bias of two layers may need two.
    fn bias(&mut self, node: &Node) -> Made<Option<i32>> {
        let Some(id) = node.inputs.get(2).copied() else { return Ok(None) };
        if !self.is_int8 {
            return self.tensor(id).map(Some);
        }
        let tensor = self.model.tensor(id);
        let source = tensor.source.as_ref().ok_or("its bias is not constant")?;
        let input = self.model.tensor(node.inputs[0]).quantisation.as_ref();
        let weights = self.model.tensor(node.inputs[1]).quantisation.as_ref();
        let (input, weights) = input.zip(weights).ok_or("an operand has no scale")?;
        let scales: Vec<f32> =
            weights.scales.iter().map(|weights| weights * input.scale(0)).collect();
        let key = (id, scales.iter().map(|scale| scale.to_bits()).collect::<Vec<u32>>());
        if let Some(known) = self.biases.get(&key) {
            return Ok(Some(*known));
        }
        let values = source.values();
        let Data::I32(values) = values.as_ref() else {
            return Err("its bias is not of 32-bit integers".to_owned());
        };
        if values.len() != source.len() {
            return Err("its bias cannot be read".to_owned());
        }
        let zeros = vec![0; scales.len()];
        let written = Written {
            name: tensor.name.clone(),
            dims: ints(tensor.shape.dims())?,
            kind: fb::TensorType::INT32,
            scaled: Some(Scaled { scales, zeros, axis: 0 }),
            data: Some(values.iter().flat_map(|value| value.to_le_bytes()).collect()),
        };
        let index = self.graph.tensor(written);
        self.biases.insert(key, index);
        Ok(Some(index))
    }
}

/// Sizes as the format has them.
pub(super) fn ints(values: &[usize]) -> Made<Vec<i32>> {
    values.iter().map(|value| int(*value)).collect()
}

const ROUNDED: &str = "TensorFlow Lite multiplies the scales of its input and weights in another float \
                       type, which changes the last bit of a multiplier: quantise the weights as int8 \
                       with a scale for each channel";
