//! Classifiers: a small picture of which a convolution makes many channels, each of which pools take together.

use fastrand::Rng;
use tilewright_model::{Activation, Model, Op, Padding, TensorId, Window};

use super::Build;

/// A few layers, many channels, and the mean or the largest of each.
#[must_use]
pub fn wide_head(seed: u64) -> Model {
    let mut build = Build { model: Model::default(), rng: Rng::with_seed(seed) };
    build.model.name = format!("head-{seed}");
    let sides = [build.rng.usize(2..9), build.rng.usize(2..9)];
    let channels = build.rng.usize(2..12);
    let mut last = build.activation([sides[0], sides[1], channels]);
    build.model.inputs.push(last);
    if build.rng.bool() {
        last = build.depthwise(last);
    }
    let channels = build.rng.usize(20..200);
    last = build.wide(last, channels);
    for _ in 0..build.rng.usize(..3) {
        last = match build.rng.usize(..3) {
            0 => build.relu(last),
            1 => build.unary(last),
            _ => build.pool(last, true),
        };
    }
    last = build.together(last);
    if build.rng.bool() {
        last = build.classify(last);
    }
    build.model.outputs.push(last);
    build.model
}

impl Build {
    /// All pixels of each channel as one: their mean, by either operator, or the largest.
    fn together(&mut self, from: TensorId) -> TensorId {
        let [h, w, c] = self.hwc(from);
        let (size, padding) = ([h, w], Padding::default());
        let window = Window { size, stride: [1, 1], dilation: [1, 1], padding };
        let activation = Activation::None;
        match self.rng.usize(..4) {
            0 => {
                let output = self.activation([1, 1, c]);
                self.node(Op::Mean { axes: vec![1, 2], keep_dims: true }, &[from], output)
            }
            1 => {
                let output = self.like(from, &[1, 1, 1, c]);
                self.node(Op::MaxPool { window, activation }, &[from], output)
            }
            _ => {
                let output = self.like(from, &[1, 1, 1, c]);
                let uncounted = [0; 2];
                let (count_padding, halves_up) = (false, self.rng.bool());
                let op =
                    Op::AveragePool { window, count_padding, uncounted, halves_up, activation };
                self.node(op, &[from], output)
            }
        }
    }
}
