//! Detectors: convolutions over maps of many bytes, heads whose results are rows of a table, and values that programs
//! give although other layers read them.

use fastrand::Rng;
use tilewright_model::{Activation, Model, Op, Padding, TensorId, Window};

use super::Build;

/// A backbone of a few convolutions with heads, whose results are joined as rows or given one by one.
#[must_use]
pub fn random_detector(seed: u64) -> Model {
    let mut build = Build { model: Model::default(), rng: Rng::with_seed(seed) };
    build.model.name = format!("detector-{seed}");
    let side = build.rng.usize(12..32);
    let mut last = build.activation([side, side, 3]);
    build.model.inputs.push(last);
    let (mut heads, mut joins) = (Vec::new(), build.rng.bool());
    let classes = build.rng.usize(2..6);
    for _ in 0..build.rng.usize(2..5) {
        let channels = 8 * build.rng.usize(1..5);
        let stride = build.rng.usize(1..3);
        last = build.same(last, (3, stride), channels);
        if build.rng.bool() {
            heads.push(build.head(last, classes));
        }
        if build.rng.usize(..3) == 0 {
            build.model.outputs.push(last);
        }
    }
    joins &= heads.len() > 1;
    if joins {
        let rows = heads.iter().map(|head| build.model.tensor(*head).shape.dims()[1]).sum();
        let table = build.like(heads[0], &[1, rows, classes]);
        heads = vec![build.node(Op::Concat { axis: 1 }, &heads, table)];
    }
    build.model.outputs.extend(heads);
    if !build.model.outputs.contains(&last) {
        build.model.outputs.push(last);
    }
    build.model
}

impl Build {
    /// A convolution whose padding keeps the map's size, but for its stride.
    fn same(
        &mut self,
        from: TensorId,
        (size, stride): (usize, usize),
        channels: usize,
    ) -> TensorId {
        let [h, w, c] = self.hwc(from);
        let side = size / 2;
        let padding = Padding { top: side, left: side, bottom: side, right: side };
        let window = Window { size: [size; 2], stride: [stride; 2], dilation: [1; 2], padding };
        let [rows, columns] = window.output([h, w]).unwrap_or([1, 1]);
        let [weights, bias] = self.weights(from, &[channels, size, size, c], 0);
        let output = self.activation([rows, columns, channels]);
        let op = Op::Conv { window, groups: 1, activation: Activation::Relu };
        self.node(op, &[from, weights, bias], output)
    }

    /// Classes of each place of a map, as the rows of a table.
    fn head(&mut self, from: TensorId, classes: usize) -> TensorId {
        let [h, w, _] = self.hwc(from);
        let scores = self.same(from, (1, 1), classes);
        // Heads are joined, so that they have one quantisation.
        let shared = self.model.tensors.iter().find(|tensor| tensor.name.ends_with("rows"));
        let quantisation = shared.and_then(|tensor| tensor.quantisation.clone());
        if quantisation.is_some() {
            self.model.tensors[scores.0].quantisation = quantisation;
        }
        let rows = self.like(scores, &[1, h * w, classes]);
        self.model.tensors[rows.0].name.push_str("rows");
        self.node(Op::Reshape, &[scores], rows)
    }
}
