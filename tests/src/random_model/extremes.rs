//! Single layers at the edges of what kernels are made for.

use fastrand::Rng;
use tilewright_model::{Activation, Data, Model, Op, Padding, Quantisation, TensorId, Window};

use super::Build;

/// Around words, quads and strips of channels, and primes.
const CHANNELS: [usize; 16] = [1, 2, 3, 4, 5, 7, 8, 11, 12, 16, 17, 23, 31, 32, 40, 64];
const TAPS: [usize; 9] = [1, 1, 2, 3, 3, 3, 4, 5, 7];
/// The largest sum that a bias starts from: sums stay within 32 bits.
const BIAS: i32 = 1 << 30;

/// A model of one layer, and inputs for it: odd shapes, strides and paddings, weights, inputs, sums and zero
/// points at their ends, scales from those that leave nothing of a sum to those that saturate.
#[must_use]
pub fn extreme_layer(seed: u64) -> (Model, Vec<Data>) {
    let mut build = Build { model: Model::default(), rng: Rng::with_seed(seed) };
    build.model.name = format!("extreme-{seed}");
    let kind = build.rng.usize(..9);
    let sides = [build.rng.usize(1..14), build.rng.usize(1..14), build.channels()];
    let input = build.edge([1, sides[0], sides[1], sides[2]].as_slice());
    build.model.inputs.push(input);
    let output = match kind {
        0..3 => build.extreme_conv(input, sides),
        3..5 => build.extreme_depthwise(input, sides),
        5 => build.extreme_connected(input, sides),
        6 => build.extreme_pool(input, sides, true),
        7 => build.extreme_pool(input, sides, false),
        _ => build.extreme_sum(input, sides),
    };
    build.model.outputs.push(output);
    let Build { model, mut rng } = build;
    let inputs = model.inputs.iter().map(|id| {
        let elements = model.tensor(*id).shape.elements().unwrap_or(0);
        Data::I8(values(&mut rng, elements, -128))
    });
    let inputs = inputs.collect();
    (model, inputs)
}

/// Random values, or nothing but the ends of their range.
fn values(rng: &mut Rng, count: usize, least: i8) -> Vec<i8> {
    let kind = rng.usize(..6);
    let mut value = |index: usize| match kind {
        0 => least,
        1 => i8::MAX,
        2 if index.is_multiple_of(2) => least,
        2 => i8::MAX,
        3 if rng.usize(..8) > 0 => 0,
        _ => rng.i8(least..),
    };
    (0..count).map(&mut value).collect()
}

impl Build {
    fn channels(&mut self) -> usize {
        CHANNELS[self.rng.usize(..CHANNELS.len())]
    }

    /// An activation whose zero point is often an end of its range.
    fn edge(&mut self, shape: &[usize]) -> TensorId {
        let zeros = [-128, 127, 0, self.rng.i32(-128..128)];
        let zero = zeros[self.rng.usize(..zeros.len())];
        self.add_tensor(shape, Some(Quantisation::per_tensor(0.05, zero)), None)
    }

    /// A window that fits, with each of its sides and paddings on its own.
    fn extreme_window(&mut self, [h, w, _]: [usize; 3]) -> (Window, [usize; 2]) {
        loop {
            let rng = &mut self.rng;
            let size = [TAPS[rng.usize(..TAPS.len())], TAPS[rng.usize(..TAPS.len())]];
            let size = if rng.usize(..3) > 0 { [size[0]; 2] } else { size };
            let stride = [rng.usize(1..4), rng.usize(1..4)];
            let stride = if rng.usize(..3) > 0 { [stride[0].min(2); 2] } else { stride };
            let mut pad = |axis: usize| match rng.usize(..3) {
                0 => 0,
                1 => size[axis] / 2,
                _ => rng.usize(..size[axis]),
            };
            let padding = Padding { top: pad(0), left: pad(1), bottom: pad(0), right: pad(1) };
            let window = Window { size, stride, dilation: [1, 1], padding };
            if let Some(output) = window.output([h, w])
                && output.iter().all(|dim| *dim > 0)
            {
                return (window, output);
            }
        }
    }

    /// Weights and biases; their scales over that of all activations are what sums are multiplied with.
    fn extreme_weights(&mut self, shape: &[usize], axis: usize) -> [TensorId; 2] {
        let channels = shape[axis];
        let rng = &mut self.rng;
        let elements: usize = shape.iter().product();
        // As large as sums of random values are.
        let usual = 5500.0 * (elements.div_ceil(channels) as f32).sqrt();
        // What sums are multiplied with, and biases: as in networks, for biases that leave no room, and
        // above one, for small weights.
        let (multiplier, bias, most) = match rng.usize(..5) {
            0 => (2.0f32.powi(rng.i32(-26..-22)), BIAS, i8::MAX),
            1 => (2.0f32.powi(rng.i32(-2..3)), 100, 1),
            _ => (50.0 / usual, usual as i32, i8::MAX),
        };
        let scales: Vec<f32> = (0..channels).map(|_| multiplier * (0.5 + rng.f32())).collect();
        let mut values_of = values(rng, elements, -127);
        values_of.iter_mut().for_each(|value| *value = (*value).clamp(-most, most));
        let ends = rng.usize(..3) == 0;
        let biases = (0..channels)
            .map(|_| match rng.bool() {
                true if ends => bias,
                false if ends => -bias,
                _ => rng.i32(-bias..bias),
            })
            .collect();
        let of_bias = scales.iter().map(|scale| scale * 0.05).collect();
        let zeros = vec![0; channels];
        let of_weights = Quantisation { scales, zeros: zeros.clone(), axis: Some(axis) };
        let weights = self.add_tensor(shape, Some(of_weights), Some(Data::I8(values_of)));
        let of_bias = Quantisation { scales: of_bias, zeros, axis: Some(0) };
        let bias = self.add_tensor(&[channels], Some(of_bias), Some(Data::I32(biases)));
        [weights, bias]
    }

    fn weighted(
        &mut self,
        op: Op,
        input: TensorId,
        weights: &[usize],
        axis: usize,
        shape: &[usize],
    ) -> TensorId {
        let [weights, bias] = self.extreme_weights(weights, axis);
        let output = self.edge(shape);
        self.node(op, &[input, weights, bias], output)
    }

    fn extreme_conv(&mut self, input: TensorId, sides: [usize; 3]) -> TensorId {
        let (window, [h, w]) = self.extreme_window(sides);
        let (channels, activation) = (self.channels(), self.activation_function());
        let weights = [channels, window.size[0], window.size[1], sides[2]];
        let op = Op::Conv { window, groups: 1, activation };
        self.weighted(op, input, &weights, 0, &[1, h, w, channels])
    }

    fn extreme_depthwise(&mut self, input: TensorId, sides: [usize; 3]) -> TensorId {
        let (window, [h, w]) = self.extreme_window(sides);
        let multiplier = if self.rng.usize(..4) == 0 { 2 } else { 1 };
        let (channels, activation) = (sides[2] * multiplier, self.activation_function());
        let weights = [1, window.size[0], window.size[1], channels];
        let op = Op::DepthwiseConv { window, multiplier, activation };
        self.weighted(op, input, &weights, 3, &[1, h, w, channels])
    }

    fn extreme_connected(&mut self, input: TensorId, sides: [usize; 3]) -> TensorId {
        let inputs = sides.iter().product();
        let flat = self.like(input, &[1, inputs]);
        self.node(Op::Reshape, &[input], flat);
        let (outputs, activation) = (self.channels(), self.activation_function());
        let op = Op::FullyConnected { activation };
        self.weighted(op, flat, &[outputs, inputs], 0, &[1, outputs])
    }

    fn extreme_pool(&mut self, input: TensorId, sides: [usize; 3], max: bool) -> TensorId {
        let (mut window, _) = self.extreme_window(sides);
        // A window that lies in the padding alone has no mean.
        window.padding = Padding::default();
        window.size = [0, 1].map(|axis| window.size[axis].min(sides[axis]));
        let [h, w] = window.output([sides[0], sides[1]]).unwrap_or([sides[0], sides[1]]);
        let activation = self.activation_function();
        let op = if max {
            Op::MaxPool { window, activation }
        } else {
            let halves_up = self.rng.bool();
            Op::AveragePool {
                window,
                count_padding: false,
                uncounted: [0, 0],
                halves_up,
                activation,
            }
        };
        let output = self.like(input, &[1, h, w, sides[2]]);
        self.node(op, &[input], output)
    }

    fn extreme_sum(&mut self, input: TensorId, [h, w, c]: [usize; 3]) -> TensorId {
        let seconds = [[1, h, w, c], [1, 1, 1, c], [1, h, w, 1]];
        let second = seconds[self.rng.usize(..seconds.len())];
        let second = self.edge(&second);
        self.model.inputs.push(second);
        let output = self.edge(&[1, h, w, c]);
        let activation = Activation::None;
        let op = if self.rng.bool() { Op::Add { activation } } else { Op::Mul { activation } };
        self.node(op, &[input, second], output)
    }
}
