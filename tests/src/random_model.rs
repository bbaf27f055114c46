//! Random int8 models of every operator, and random inputs for them.

mod detector;
mod elementwise;
mod extremes;
mod heads;
mod moves;
mod networks;

use std::ops::Range;

use fastrand::Rng;
use tilewright_model::{
    Activation, DType, Data, Model, Node, Op, Padding, Quantisation, Shape, Source, Tensor,
    TensorId, Window,
};

pub use detector::random_detector;
pub use extremes::extreme_layer;
pub use heads::wide_head;
pub use networks::random_network;

/// Elements of the largest picture that further operators read.
const LARGEST: usize = 6000;

/// A random model: some ten operators on small images, branches included.
#[must_use]
pub fn random_model(seed: u64) -> Model {
    let mut rng = Rng::with_seed(seed);
    let mut build = Build { model: Model::default(), rng: Rng::with_seed(rng.u64(..)) };
    build.model.name = format!("random-{seed}");
    let input = build.activation([rng.usize(1..12), rng.usize(1..12), rng.usize(1..7)]);
    build.model.inputs.push(input);
    let mut images = vec![input];
    for _ in 0..rng.usize(1..10) {
        let from = images[rng.usize(..images.len())];
        let made = match rng.usize(..22) {
            0 | 1 => build.conv(from),
            2 => build.depthwise(from),
            3 => build.transpose_conv(from),
            4 => build.pool(from, true),
            5 => build.pool(from, false),
            6 | 7 => build.pair(from),
            8 => build.concat(from, images[rng.usize(..images.len())]),
            9 => build.pad(from),
            10 => build.relu(from),
            11 | 12 => build.unary(from),
            13 => build.prelu(from),
            14 => build.normalise(from),
            15 => build.slice(from),
            16 | 17 => build.rearrange(from),
            18 => build.resize(from),
            19 => build.branches(from),
            20 => build.dense_pixels(from),
            _ => build.mean(from),
        };
        // Upsampling again and again would make pictures that take long.
        if build.hwc(made).iter().product::<usize>() <= LARGEST {
            images.push(made);
        }
    }
    let last = images[images.len() - 1];
    let mut output = last;
    match rng.usize(..8) {
        0..4 => output = build.classify(last),
        4 => output = build.arg_max(last),
        _ => {}
    }
    build.model.outputs.push(output);
    if output != images[0] && images.len() > 2 && rng.bool() && images[1] != output {
        build.model.outputs.push(images[1]);
    }
    build.model
}

/// A model of one layer with a window or of one element by element.
#[must_use]
pub fn random_layer(seed: u64) -> Model {
    let mut rng = Rng::with_seed(seed);
    let mut build = Build { model: Model::default(), rng: Rng::with_seed(rng.u64(..)) };
    build.model.name = format!("random-layer-{seed}");
    let input = build.activation([rng.usize(2..12), rng.usize(1..12), rng.usize(1..7)]);
    build.model.inputs.push(input);
    let output = match rng.usize(..9) {
        0..3 => build.conv(input),
        3 => build.depthwise(input),
        4 => build.transpose_conv(input),
        5 => build.pool(input, true),
        6 => build.pool(input, false),
        7 => build.dense_pixels(input),
        _ => build.resize(input),
    };
    build.model.outputs.push(output);
    build.model
}

/// A random chain: each operator reads what the one before made, and many max pools stand behind
/// convolutions.
#[must_use]
pub fn random_chain(seed: u64) -> Model {
    let mut rng = Rng::with_seed(seed);
    let mut build = Build { model: Model::default(), rng: Rng::with_seed(rng.u64(..)) };
    build.model.name = format!("chain-{seed}");
    let mut last = build.activation([rng.usize(1..20), rng.usize(1..20), rng.usize(1..7)]);
    build.model.inputs.push(last);
    for _ in 0..rng.usize(1..6) {
        last = match rng.usize(..8) {
            0..4 => {
                let made = build.conv(last);
                build.pool(made, true)
            }
            4 => build.conv(last),
            5 => build.depthwise(last),
            6 => build.relu(last),
            _ => build.unary(last),
        };
    }
    if rng.bool() {
        last = build.classify(last);
    }
    build.model.outputs.push(last);
    build.model
}

/// A random model of a small high picture of which convolutions make much, until pools leave little of
/// it: less in between than its rows take at once. Some layers are skipped by a sum.
#[must_use]
pub fn random_tower(seed: u64) -> Model {
    tower(seed, [16..48, 3..8])
}

/// As [`random_tower`], with rows of several sectors of a card.
#[must_use]
pub fn wide_tower(seed: u64) -> Model {
    tower(seed, [32..64, 40..72])
}

/// A tower of so many rows and columns.
fn tower(seed: u64, [rows, columns]: [Range<usize>; 2]) -> Model {
    let mut rng = Rng::with_seed(seed);
    let mut build = Build { model: Model::default(), rng: Rng::with_seed(rng.u64(..)) };
    build.model.name = format!("tower-{seed}");
    let mut last = build.activation([rng.usize(rows), rng.usize(columns), rng.usize(1..3)]);
    build.model.inputs.push(last);
    for _ in 0..rng.usize(3..8) {
        last = match rng.usize(..9) {
            0..3 => {
                let channels = build.rng.usize(4..16);
                build.wide(last, channels)
            }
            3 | 4 => {
                let [_, _, channels] = build.hwc(last);
                let made = build.wide(last, channels);
                let sum = build.activation(build.hwc(made));
                build.node(Op::Add { activation: Activation::None }, &[last, made], sum)
            }
            5 => build.depthwise(last),
            6 => build.relu(last),
            7 => build.pool(last, true),
            _ => build.unary(last),
        };
    }
    for _ in 0..2 {
        last = build.pool(last, false);
        last = build.conv(last);
    }
    if rng.bool() {
        last = build.classify(last);
    }
    build.model.outputs.push(last);
    build.model
}

/// A random model of one of all kinds but the wide ones.
#[must_use]
pub fn random_of_any_kind(seed: u64) -> Model {
    match seed % 5 {
        0 => random_chain(seed),
        1 => random_tower(seed),
        2 => random_splits(seed),
        3 => random_dense(seed),
        _ => random_model(seed),
    }
}

/// A random model of pictures that are split, each part read by something else; some are joined
/// again, shuffled, split once more or left as outputs.
#[must_use]
pub fn random_splits(seed: u64) -> Model {
    let mut rng = Rng::with_seed(seed);
    let mut build = Build { model: Model::default(), rng: Rng::with_seed(rng.u64(..)) };
    build.model.name = format!("splits-{seed}");
    let sides = [rng.usize(2..9), rng.usize(2..9), rng.usize(2..9)];
    let input = build.activation(sides);
    build.model.inputs.push(input);
    let mut last = input;
    for _ in 0..rng.usize(1..4) {
        if rng.usize(..3) > 0 {
            last = build.conv(last);
        }
        if rng.usize(..3) == 0 {
            last = build.rearrange(last);
        }
        let parts = build.split(last);
        let mut made: Vec<TensorId> = Vec::new();
        for part in parts {
            made.push(match rng.usize(..9) {
                0..3 => build.conv(part),
                3 => build.depthwise(part),
                4 => build.pool(part, true),
                5 => build.unary(part),
                6 => build.split(part)[0],
                7 => build.mean(part),
                _ => part,
            });
        }
        last = made[rng.usize(..made.len())];
        for other in made {
            if other != last {
                let joined = build.concat(last, other);
                if build.hwc(joined).iter().product::<usize>() <= LARGEST {
                    last = joined;
                }
            }
        }
    }
    let output = if rng.bool() { build.classify(last) } else { last };
    build.model.outputs.push(output);
    build.model
}

/// A random dense block: each step reads all that was made before and is joined to it.
#[must_use]
pub fn random_dense(seed: u64) -> Model {
    let mut rng = Rng::with_seed(seed);
    let mut build = Build { model: Model::default(), rng: Rng::with_seed(rng.u64(..)) };
    build.model.name = format!("dense-{seed}");
    let input = build.activation([rng.usize(3..12), rng.usize(3..12), rng.usize(1..9)]);
    build.model.inputs.push(input);
    let mut last = if rng.bool() { build.conv(input) } else { build.relu(input) };
    for _ in 0..rng.usize(1..5) {
        last = build.dense(last);
    }
    let output = if rng.bool() { build.conv(last) } else { build.classify(last) };
    build.model.outputs.push(output);
    build.model
}

/// A convolution in two groups, a max pool and another convolution, with rows of somewhat less than 512
/// bytes. Its weights are random.
#[must_use]
pub fn grouped_rows(seed: u64) -> Model {
    let mut build = Build { model: Model::default(), rng: Rng::with_seed(seed) };
    build.model.name = format!("grouped-{seed}");
    let window = |size: usize| Window {
        size: [size; 2],
        stride: [1; 2],
        dilation: [1; 2],
        padding: Padding::default(),
    };
    let (activation, wide) = (Activation::None, window(3));
    let input = build.activation([13, 20, 24]);
    let [weights, bias] = build.weights(input, &[28, 3, 3, 12], 0);
    let grouped = build.activation([11, 18, 28]);
    let op = Op::Conv { window: wide, groups: 2, activation };
    build.node(op, &[input, weights, bias], grouped);
    let pooled = build.like(grouped, &[1, 9, 16, 28]);
    build.node(Op::MaxPool { window: wide, activation }, &[grouped], pooled);
    let [weights, bias] = build.weights(pooled, &[6, 1, 1, 28], 0);
    let output = build.activation([9, 16, 6]);
    let op = Op::Conv { window: window(1), groups: 1, activation };
    build.node(op, &[pooled, weights, bias], output);
    build.model.inputs.push(input);
    build.model.outputs.push(output);
    build.model
}

/// Random values for the model's inputs.
#[must_use]
pub fn random_inputs(model: &Model, seed: u64) -> Vec<Data> {
    let mut rng = Rng::with_seed(seed);
    model
        .inputs
        .iter()
        .map(|id| {
            let elements = model.tensor(*id).shape.elements().unwrap_or(0);
            Data::I8((0..elements).map(|_| rng.i8(..)).collect())
        })
        .collect()
}

struct Build {
    model: Model,
    rng: Rng,
}

impl Build {
    fn add_tensor(
        &mut self,
        shape: &[usize],
        quantisation: Option<Quantisation>,
        data: Option<Data>,
    ) -> TensorId {
        let dtype = data.as_ref().map_or(DType::I8, Data::dtype);
        let name = format!("t{}", self.model.tensors.len());
        self.model.add_tensor(Tensor {
            name,
            shape: Shape::new(shape),
            dtype,
            quantisation,
            source: data.map(Source::inline),
        })
    }

    /// A tensor of 32-bit integers.
    fn add_indices(&mut self, shape: &[usize]) -> TensorId {
        let name = format!("t{}", self.model.tensors.len());
        let (shape, dtype) = (Shape::new(shape), DType::I32);
        self.model.add_tensor(Tensor { name, shape, dtype, quantisation: None, source: None })
    }

    fn quantisation(&mut self) -> Quantisation {
        let scale = 0.01 + self.rng.f32() * 0.1;
        Quantisation::per_tensor(scale, self.rng.i32(-128..128))
    }

    fn activation(&mut self, [h, w, c]: [usize; 3]) -> TensorId {
        let quantisation = self.quantisation();
        self.add_tensor(&[1, h, w, c], Some(quantisation), None)
    }

    fn hwc(&self, id: TensorId) -> [usize; 3] {
        self.model.tensor(id).shape.hwc().unwrap_or_default()
    }

    fn node(&mut self, op: Op, inputs: &[TensorId], output: TensorId) -> TensorId {
        let name = format!("n{}", self.model.nodes.len());
        self.model.nodes.push(Node { name, op, inputs: inputs.to_vec(), outputs: vec![output] });
        output
    }

    fn activation_function(&mut self) -> Activation {
        let functions =
            [Activation::None, Activation::Relu, Activation::Relu6, Activation::ReluN1To1];
        functions[self.rng.usize(..functions.len())]
    }

    /// A window that fits an image of `size`, and the size that it makes.
    fn window(&mut self, size: [usize; 2], pool: bool) -> (Window, [usize; 2]) {
        loop {
            let rng = &mut self.rng;
            let taps = [rng.usize(1..4), rng.usize(1..4)];
            let pad = |rng: &mut Rng, taps: usize| rng.usize(..taps);
            let window = Window {
                size: taps,
                stride: [rng.usize(1..4), rng.usize(1..4)],
                dilation: if pool { [1, 1] } else { [rng.usize(1..3), rng.usize(1..3)] },
                padding: Padding {
                    top: pad(rng, taps[0]),
                    left: pad(rng, taps[1]),
                    bottom: pad(rng, taps[0]),
                    right: pad(rng, taps[1]),
                },
            };
            if let Some(output) = window.output(size)
                && output.iter().all(|dim| *dim > 0)
            {
                return (window, output);
            }
        }
    }

    /// Weights of `channels` slices along `axis`, and a bias at their scale.
    fn weights(&mut self, input: TensorId, shape: &[usize], axis: usize) -> [TensorId; 2] {
        let channels = shape[axis];
        let scales: Vec<f32> = (0..channels).map(|_| 0.002 + self.rng.f32() * 0.02).collect();
        let mut values: Vec<i8> =
            (0..shape.iter().product()).map(|_| self.rng.i8(-127..=127)).collect();
        // Of every third layer most pairs of neighbours in a row are zero.
        let is_pruned = values.first().is_some_and(|value| value.rem_euclid(3) == 0);
        let row = shape[1..].iter().product::<usize>().max(1);
        for pair in values.chunks_mut(row).flat_map(|row| row.chunks_mut(2)) {
            if is_pruned && pair[0].unsigned_abs() < 100 {
                pair.fill(0);
            }
        }
        // Old files have one scale and a zero point for all weights.
        let is_old = self.rng.u8(..6) == 0;
        let (slices, axis) = if is_old { (1, None) } else { (channels, Some(axis)) };
        let scales = scales[..slices].to_vec();
        let zero = if is_old { self.rng.i32(-128..128) } else { 0 };
        let input_scale =
            self.model.tensor(input).quantisation.as_ref().map_or(1.0, |q| q.scale(0));
        let bias_scales = scales.iter().map(|scale| scale * input_scale).collect();
        let weights = Quantisation { scales, zeros: vec![zero; slices], axis };
        let weights = self.add_tensor(shape, Some(weights), Some(Data::I8(values)));
        let values = (0..channels).map(|_| self.rng.i32(-4000..4000)).collect();
        let bias =
            Quantisation { scales: bias_scales, zeros: vec![0; slices], axis: axis.and(Some(0)) };
        let bias = self.add_tensor(&[channels], Some(bias), Some(Data::I32(values)));
        [weights, bias]
    }

    fn conv(&mut self, from: TensorId) -> TensorId {
        let [h, w, c] = self.hwc(from);
        let (window, [oh, ow]) = self.window([h, w], false);
        let divisors: Vec<usize> = (1..=c).filter(|groups| c.is_multiple_of(*groups)).collect();
        let groups = divisors[self.rng.usize(..divisors.len())];
        let channels = groups * self.rng.usize(1..5);
        let shape = [channels, window.size[0], window.size[1], c / groups];
        let [weights, bias] = self.weights(from, &shape, 0);
        let output = self.activation([oh, ow, channels]);
        let activation = self.activation_function();
        self.node(Op::Conv { window, groups, activation }, &[from, weights, bias], output)
    }

    /// A convolution with so many channels that leaves rows and columns as many as they are.
    fn wide(&mut self, from: TensorId, channels: usize) -> TensorId {
        let [h, w, c] = self.hwc(from);
        let reach = self.rng.usize(..2);
        let [top, left, bottom, right] = [reach; 4];
        let padding = Padding { top, left, bottom, right };
        let size = [2 * reach + 1; 2];
        let window = Window { size, stride: [1, 1], dilation: [1, 1], padding };
        let [weights, bias] = self.weights(from, &[channels, size[0], size[1], c], 0);
        let output = self.activation([h, w, channels]);
        let activation = self.activation_function();
        self.node(Op::Conv { window, groups: 1, activation }, &[from, weights, bias], output)
    }

    fn transpose_conv(&mut self, from: TensorId) -> TensorId {
        let [h, w, c] = self.hwc(from);
        let rng = &mut self.rng;
        let size = [rng.usize(1..4), rng.usize(1..4)];
        let padding =
            Padding { top: rng.usize(..size[0]), left: rng.usize(..size[1]), ..Padding::default() };
        let (stride, dilation) = ([rng.usize(1..3), rng.usize(1..3)], [1, 1]);
        let window = Window { size, stride, dilation, padding };
        // No more than the windows reach.
        let reach = |axis: usize, input: usize, before: usize| {
            ((input - 1) * stride[axis] + size[axis]).saturating_sub(before).max(1)
        };
        let output = [reach(0, h, padding.top), reach(1, w, padding.left)];
        let channels = rng.usize(1..6);
        let [weights, bias] = self.weights(from, &[channels, size[0], size[1], c], 0);
        let output = self.activation([output[0], output[1], channels]);
        let activation = self.activation_function();
        self.node(Op::TransposeConv { window, activation }, &[from, weights, bias], output)
    }

    fn depthwise(&mut self, from: TensorId) -> TensorId {
        let [h, w, c] = self.hwc(from);
        let (window, [oh, ow]) = self.window([h, w], false);
        let multiplier = self.rng.usize(1..3);
        let shape = [1, window.size[0], window.size[1], c * multiplier];
        let [weights, bias] = self.weights(from, &shape, 3);
        let output = self.activation([oh, ow, c * multiplier]);
        let activation = self.activation_function();
        let op = Op::DepthwiseConv { window, multiplier, activation };
        self.node(op, &[from, weights, bias], output)
    }

    /// An activation with the quantisation of another.
    fn like(&mut self, from: TensorId, shape: &[usize]) -> TensorId {
        let quantisation = self.model.tensor(from).quantisation.clone();
        self.add_tensor(shape, quantisation, None)
    }

    fn pool(&mut self, from: TensorId, max: bool) -> TensorId {
        let [h, w, c] = self.hwc(from);
        let (mut window, mut size) = self.window([h, w], true);
        // A window that lies in the padding alone has no mean.
        let reach = |axis: usize, size: usize, window: &Window| {
            let before = if axis == 0 { window.padding.top } else { window.padding.left };
            (size - 1) * window.stride[axis] < [h, w][axis] + before
        };
        if !(reach(0, size[0], &window) && reach(1, size[1], &window)) {
            window.padding = Padding::default();
            window.size = [1, 1];
            size = window.output([h, w]).unwrap_or([h, w]);
        }
        let output = self.like(from, &[1, size[0], size[1], c]);
        let activation = self.activation_function();
        let op = if max {
            Op::MaxPool { window, activation }
        } else {
            let most = [window.padding.bottom, window.padding.right];
            let uncounted = most.map(|most| self.rng.usize(..=most));
            let (count_padding, halves_up) = (self.rng.bool(), self.rng.bool());
            Op::AveragePool { window, count_padding, uncounted, halves_up, activation }
        };
        self.node(op, &[from], output)
    }

    /// A fully connected layer that takes the channels of one pixel after the other.
    fn dense_pixels(&mut self, from: TensorId) -> TensorId {
        let [h, w, c] = self.hwc(from);
        let rows = self.like(from, &[h * w, c]);
        self.node(Op::Reshape, &[from], rows);
        let outputs = self.rng.usize(1..12);
        let [weights, bias] = self.weights(rows, &[outputs, c], 0);
        let quantisation = self.quantisation();
        let made = self.add_tensor(&[h * w, outputs], Some(quantisation), None);
        let op = Op::FullyConnected { activation: self.activation_function() };
        self.node(op, &[rows, weights, bias], made);
        let output = self.like(made, &[1, h, w, outputs]);
        self.node(Op::Reshape, &[made], output)
    }

    fn classify(&mut self, from: TensorId) -> TensorId {
        let inputs = self.hwc(from).iter().product();
        let flat = self.like(from, &[1, inputs]);
        self.node(Op::Reshape, &[from], flat);
        let classes = self.rng.usize(1..12);
        let [weights, bias] = self.weights(flat, &[classes, inputs], 0);
        let logits = self.quantisation();
        let logits = self.add_tensor(&[1, classes], Some(logits), None);
        let op = Op::FullyConnected { activation: Activation::None };
        self.node(op, &[flat, weights, bias], logits);
        let output = Quantisation::per_tensor(1.0 / 256.0, -128);
        let output = self.add_tensor(&[1, classes], Some(output), None);
        self.node(Op::Softmax, &[logits], output)
    }
}
