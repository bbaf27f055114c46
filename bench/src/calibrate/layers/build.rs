//! Builds models of one layer.

use tilewright_model::{
    Activation, DType, Data, Model, Node, Op, Quantisation, Shape, Source, Tensor, TensorId, Window,
};

/// Scale of inputs.
pub const SCALE: f32 = 0.05;
const ZERO: i32 = -3;

/// A model of one operator with one operand.
pub fn plain(input: [usize; 3], op: &Op) -> Model {
    let mut model = start(input, op);
    let quantisation = match op {
        Op::Softmax => Quantisation::per_tensor(1.0 / 256.0, -128),
        Op::LogSoftmax => Quantisation::per_tensor(1.0 / 16.0, 127),
        Op::Requantise | Op::Mean { .. } => Quantisation::per_tensor(0.07, 5),
        _ => Quantisation::per_tensor(SCALE, ZERO),
    };
    let [h, w, c] = input;
    let shape = match op {
        Op::Pad { amounts, .. } => {
            let sides = [1, 2].map(|axis| amounts[axis].0 + amounts[axis].1);
            vec![1, h + sides[0], w + sides[1], c]
        }
        Op::Slice { size, .. } => size.clone(),
        Op::Transpose { permutation } => permutation.iter().map(|a| [1, h, w, c][*a]).collect(),
        Op::SpaceToDepth { block } => vec![1, h / block, w / block, c * block * block],
        Op::DepthToSpace { block } => vec![1, h * block, w * block, c / (block * block)],
        Op::Resize { .. } => vec![1, h * 3 / 2, w * 3 / 2, c],
        Op::Mean { axes, .. } => without([1, h, w, c], axes),
        Op::ArgMax { axis, .. } => {
            let output = tensor(&mut model, "output", &without([1, h, w, c], &[*axis]), None, None);
            model.tensors[output.0].dtype = DType::I32;
            return finish(model, op.clone(), vec![TensorId(0)], output);
        }
        _ => match op.window().and_then(|window| window.output([h, w])) {
            Some([h, w]) => vec![1, h, w, c],
            None => vec![1, h, w, c],
        },
    };
    let output = tensor(&mut model, "output", &shape, Some(quantisation), None);
    finish(model, op.clone(), vec![TensorId(0)], output)
}

fn without(mut dims: [usize; 4], axes: &[usize]) -> Vec<usize> {
    for axis in axes {
        dims[*axis] = 1;
    }
    dims.to_vec()
}

/// The same model, of whose weights so many hundredths are zero, in pairs of neighbours along a row.
pub fn pruned(mut model: Model, sparsity: u8) -> Model {
    let weights = &mut model.tensors[model.nodes[0].inputs[1].0];
    let row = weights.shape.dims()[1..].iter().product();
    if let Some(Data::I8(values)) = weights.source.as_ref().map(Source::values).as_deref() {
        let mut rng = fastrand::Rng::with_seed(row as u64);
        let mut values = values.clone();
        for pair in values.chunks_mut(row).flat_map(|row| row.chunks_mut(2)) {
            if rng.u8(0..100) < sparsity {
                pair.fill(0);
            }
        }
        weights.source = Some(Source::inline(Data::I8(values)));
    }
    model
}

/// A model of one operator on two pictures; slopes are constant.
pub fn pair([h, w, c]: [usize; 3], second: [usize; 3], op: &Op) -> Model {
    let mut model = start([h, w, c], op);
    let same = Some(Quantisation::per_tensor(SCALE, ZERO));
    let dims = [1, second[0], second[1], second[2]];
    let values = Data::I8((0..dims.iter().product()).map(|i: usize| (i % 251) as i8).collect());
    let constant = matches!(op, Op::Prelu).then_some(values);
    let second = tensor(&mut model, "second", &dims, same.clone(), constant);
    if !matches!(op, Op::Prelu) {
        model.inputs.push(second);
    }
    let output = match op {
        Op::Maximum | Op::Minimum => same,
        _ => Some(Quantisation::per_tensor(0.07, 5)),
    };
    let output = tensor(&mut model, "output", &[1, h, w, c], output, None);
    finish(model, op.clone(), vec![TensorId(0), second], output)
}

/// A concatenation of a picture with itself along an axis, to another scale.
pub fn concat([h, w, c]: [usize; 3], axis: usize, scale: f32) -> Model {
    let op = Op::Concat { axis };
    let mut model = start([h, w, c], &op);
    let mut dims = [1, h, w, c];
    dims[axis] *= 2;
    let quantisation = Quantisation::per_tensor(scale, ZERO);
    let output = tensor(&mut model, "output", &dims, Some(quantisation), None);
    finish(model, op, vec![TensorId(0), TensorId(0)], output)
}

/// A model of one operator with weights whose output channels run along `axis`.
pub fn weighted(input: [usize; 3], op: Op, weights: &[usize], axis: usize) -> Model {
    let mut model = start(input, &op);
    let channels = weights[axis];
    let mut rng = fastrand::Rng::with_seed(channels as u64);
    let scales =
        Quantisation { scales: vec![0.01; channels], zeros: vec![0; channels], axis: Some(axis) };
    let values = (0..weights.iter().product()).map(|_| rng.i8(-127..=127)).collect();
    let weights = tensor(&mut model, "weights", weights, Some(scales), Some(Data::I8(values)));
    let scales =
        Quantisation { scales: vec![0.0005; channels], zeros: vec![0; channels], axis: Some(0) };
    let values = (0..channels).map(|_| rng.i32(-1000..1000)).collect();
    let bias = tensor(&mut model, "bias", &[channels], Some(scales), Some(Data::I32(values)));
    let [h, w, _] = input;
    let shape = match (&op, op.window()) {
        (Op::TransposeConv { window, .. }, _) => {
            vec![1, h * window.stride[0], w * window.stride[1], channels]
        }
        (_, Some(window)) => match window.output([h, w]) {
            Some([h, w]) => vec![1, h, w, channels],
            None => vec![1, 1, 1, channels],
        },
        _ => vec![1, channels],
    };
    let output = Quantisation::per_tensor(0.3, 7);
    let output = tensor(&mut model, "output", &shape, Some(output), None);
    finish(model, op, vec![TensorId(0), weights, bias], output)
}

/// The same model whose weights have a zero point.
pub fn off_zero(mut model: Model) -> Model {
    let weights = model.nodes[0].inputs[1];
    if let Some(quantisation) = &mut model.tensors[weights.0].quantisation {
        quantisation.zeros.fill(3);
    }
    model
}

/// A model of one operator with weights, and a max pool behind it.
pub fn pooled(mut model: Model, window: Window) -> Model {
    let activation = Activation::None;
    let between = model.outputs[0];
    let shape = &model.tensor(between).shape;
    let [h, w, c] = shape.hwc().unwrap_or_default();
    let [h, w] = window.output([h, w]).unwrap_or([1, 1]);
    let quantisation = model.tensor(between).quantisation.clone();
    let output = tensor(&mut model, "pooled", &[1, h, w, c], quantisation, None);
    model.outputs.clear();
    let op = Op::MaxPool { window, activation };
    finish(model, op, vec![between], output)
}

fn start([h, w, c]: [usize; 3], op: &Op) -> Model {
    let mut model = Model { name: format!("{} {h}x{w}x{c}", op.name()), ..Model::default() };
    let shape = if matches!(op, Op::FullyConnected { .. }) { vec![1, c] } else { vec![1, h, w, c] };
    let quantisation = Quantisation::per_tensor(SCALE, ZERO);
    let input = tensor(&mut model, "input", &shape, Some(quantisation), None);
    model.inputs.push(input);
    model
}

fn tensor(
    model: &mut Model,
    name: &str,
    shape: &[usize],
    quantisation: Option<Quantisation>,
    data: Option<Data>,
) -> TensorId {
    model.add_tensor(Tensor {
        name: name.to_owned(),
        shape: Shape::new(shape),
        dtype: data.as_ref().map_or(DType::I8, Data::dtype),
        quantisation,
        source: data.map(Source::inline),
    })
}

fn finish(mut model: Model, op: Op, inputs: Vec<TensorId>, output: TensorId) -> Model {
    model.nodes.push(Node { name: "layer".to_owned(), op, inputs, outputs: vec![output] });
    model.outputs.push(output);
    model
}
