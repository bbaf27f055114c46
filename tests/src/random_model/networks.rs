//! Small networks with what real ones have and random ones lack: 3x3 convolutions over whole words of channels,
//! dead channels, factors that round to nothing, weights that layers share, long skips, wide softmax, several
//! outputs, maps of one pixel.

use fastrand::Rng;
use tilewright_model::{Activation, Data, Model, Op, Padding, Quantisation, TensorId, Window};

use super::Build;

/// Channels of such convolutions: words, and a few that are none.
const CHANNELS: [usize; 8] = [4, 8, 8, 12, 16, 20, 5, 9];

/// A small network as they are trained: convolutions that keep or halve the picture, blocks that are skipped,
/// a head.
#[must_use]
pub fn random_network(seed: u64) -> Model {
    let mut build = Build { model: Model::default(), rng: Rng::with_seed(seed) };
    build.model.name = format!("network-{seed}");
    let sides = if build.rng.usize(..6) == 0 { [1, 1] } else { build.sides() };
    let channels = build.pick(&CHANNELS);
    let input = build.activation([sides[0], sides[1], channels]);
    build.model.inputs.push(input);
    let mut last = input;
    let mut skipped = vec![input];
    for _ in 0..build.rng.usize(1..5) {
        last = match build.rng.usize(..6) {
            0..3 => {
                let channels = build.pick(&CHANNELS);
                build.dense_window(last, channels)
            }
            3 => build.shared(last),
            4 => build.depthwise(last),
            _ => build.joined(last, &skipped),
        };
        skipped.push(last);
    }
    if build.rng.usize(..3) == 0 {
        let other = skipped[build.rng.usize(..skipped.len())];
        if other != input {
            build.model.outputs.push(other);
        }
    }
    if build.rng.bool() {
        last = build.wide_head(last);
    }
    if !build.model.outputs.contains(&last) {
        build.model.outputs.push(last);
    }
    build.model
}

impl Build {
    fn pick(&mut self, from: &[usize]) -> usize {
        from[self.rng.usize(..from.len())]
    }

    fn sides(&mut self) -> [usize; 2] {
        [self.rng.usize(1..14), self.rng.usize(1..14)]
    }

    /// A 3x3 convolution that moves by one pixel, with each padding on its own.
    fn dense_window(&mut self, from: TensorId, channels: usize) -> TensorId {
        let [h, w, c] = self.hwc(from);
        let mut side = |size: usize| {
            let [before, after] = [self.rng.usize(..3), self.rng.usize(..3)];
            // Something must be left of the picture.
            if size + before + after < 3 { (1, 1) } else { (before, after) }
        };
        let ((top, bottom), (left, right)) = (side(h), side(w));
        let padding = Padding { top, left, bottom, right };
        let window = Window { size: [3; 2], stride: [1; 2], dilation: [1; 2], padding };
        let size = window.output([h, w]).unwrap_or([1, 1]);
        let weights = self.trained(from, &[channels, 3, 3, c]);
        let output = self.activation([size[0], size[1], channels]);
        let activation = self.activation_function();
        self.node(
            Op::Conv { window, groups: 1, activation },
            &[from, weights[0], weights[1]],
            output,
        )
    }

    /// Weights and biases of output channels, of which some are dead, some have a scale that leaves nothing of a
    /// sum, and some one that makes much of it.
    fn trained(&mut self, input: TensorId, shape: &[usize]) -> [TensorId; 2] {
        let channels = shape[0];
        let each: usize = shape[1..].iter().product();
        let of_input = self.model.tensor(input).quantisation.as_ref().map_or(1.0, |q| q.scale(0));
        let odd = self.rng.bool();
        let (mut values, mut scales, mut biases) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..channels {
            let kind = if odd { self.rng.usize(..8) } else { 7 };
            let end = if self.rng.bool() { 127 } else { -127 };
            values.extend((0..each).map(|_| match kind {
                0 => 0,
                1 => end,
                _ => self.rng.i8(-127..=127),
            }));
            scales.push(match kind {
                0 | 2 => 1e-12,
                3 => 4.0,
                _ => 0.002 + self.rng.f32() * 0.02,
            });
            biases.push(if kind == 4 { 1 << 29 } else { self.rng.i32(-4000..4000) });
        }
        let zeros = vec![0; channels];
        let of_bias = scales.iter().map(|scale| scale * of_input).collect();
        let quantisation = Quantisation { scales, zeros: zeros.clone(), axis: Some(0) };
        let weights = self.add_tensor(shape, Some(quantisation), Some(Data::I8(values)));
        let quantisation = Quantisation { scales: of_bias, zeros, axis: Some(0) };
        let bias = self.add_tensor(&[channels], Some(quantisation), Some(Data::I32(biases)));
        [weights, bias]
    }

    /// Two 1x1 convolutions, one behind the other, with the same weights.
    fn shared(&mut self, from: TensorId) -> TensorId {
        let [h, w, c] = self.hwc(from);
        let [weights, bias] = self.trained(from, &[c, 1, 1, c]);
        let padding = Padding::default();
        let window = Window { size: [1; 2], stride: [1; 2], dilation: [1; 2], padding };
        let op = Op::Conv { window, groups: 1, activation: Activation::None };
        let first = self.like(from, &[1, h, w, c]);
        self.node(op.clone(), &[from, weights, bias], first);
        let second = self.like(from, &[1, h, w, c]);
        self.node(op, &[first, weights, bias], second)
    }

    /// A sum or a concat with something made long before, if its size is the same.
    fn joined(&mut self, last: TensorId, before: &[TensorId]) -> TensorId {
        let [h, w, c] = self.hwc(last);
        let same: Vec<TensorId> =
            before.iter().copied().filter(|id| self.hwc(*id)[..2] == [h, w]).collect();
        let other = same[self.rng.usize(..same.len())];
        if self.hwc(other)[2] == c && self.rng.bool() {
            let sum = self.activation([h, w, c]);
            return self.node(Op::Add { activation: Activation::Relu }, &[last, other], sum);
        }
        self.concat(other, last)
    }

    /// A classifier of up to 1,200 classes whose weights hardly differ, so that none stands out.
    fn wide_head(&mut self, from: TensorId) -> TensorId {
        let inputs = self.hwc(from).iter().product();
        let flat = self.like(from, &[1, inputs]);
        self.node(Op::Reshape, &[from], flat);
        // As many as the flash of a board holds.
        let most = (200_000 / inputs).clamp(2, 1200);
        let classes = self.rng.usize(1..most);
        let values = (0..classes * inputs).map(|_| self.rng.i8(-2..3)).collect();
        let scales = Quantisation::per_tensor(1e-4, 0);
        let weights = self.add_tensor(&[classes, inputs], Some(scales), Some(Data::I8(values)));
        let of_input = self.model.tensor(flat).quantisation.as_ref().map_or(1.0, |q| q.scale(0));
        let scales = Quantisation::per_tensor(1e-4 * of_input, 0);
        let values = (0..classes).map(|_| self.rng.i32(-20..20)).collect();
        let bias = self.add_tensor(&[classes], Some(scales), Some(Data::I32(values)));
        let logits = Quantisation::per_tensor(1e-3, self.rng.i32(-128..128));
        let logits = self.add_tensor(&[1, classes], Some(logits), None);
        let op = Op::FullyConnected { activation: Activation::None };
        self.node(op, &[flat, weights, bias], logits);
        let output = Quantisation::per_tensor(1.0 / 256.0, -128);
        let output = self.add_tensor(&[1, classes], Some(output), None);
        self.node(Op::Softmax, &[logits], output)
    }
}
