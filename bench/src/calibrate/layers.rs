//! Models of one layer, over the geometries that networks use.

use tilewright_model::{
    Activation, DType, Data, Model, Node, Op, Padding, Quantisation, Shape, Source, Tensor,
    TensorId, Window,
};
use tilewright_plan::Kernel;

/// Height, width and channels of inputs for operators without weights.
const IMAGES: [[usize; 3]; 10] = [
    [28, 28, 6],
    [10, 10, 16],
    [32, 32, 16],
    [14, 14, 24],
    [7, 7, 128],
    [4, 4, 3],
    [48, 48, 8],
    [1, 1, 64],
    [24, 24, 33],
    [5, 9, 7],
];

/// Convolutions: input, window, stride, output channels, same padding or none.
const CONVS: [([usize; 3], usize, usize, usize, bool); 22] = [
    ([32, 32, 1], 5, 1, 6, false),
    ([14, 14, 6], 5, 1, 16, false),
    ([28, 28, 1], 3, 2, 24, true),
    ([32, 32, 3], 3, 1, 16, true),
    ([32, 32, 3], 5, 1, 32, true),
    ([16, 16, 16], 3, 1, 16, true),
    ([16, 16, 32], 3, 1, 32, true),
    ([16, 16, 32], 3, 2, 32, true),
    ([8, 8, 64], 3, 1, 64, true),
    ([10, 10, 5], 3, 1, 7, true),
    ([9, 11, 3], 2, 1, 5, false),
    ([12, 12, 8], 7, 2, 12, true),
    ([14, 14, 24], 1, 1, 48, false),
    ([14, 14, 48], 1, 1, 48, false),
    ([7, 7, 96], 1, 1, 96, false),
    ([7, 7, 96], 1, 1, 128, false),
    ([28, 28, 16], 1, 1, 24, false),
    ([24, 24, 4], 1, 1, 8, false),
    ([16, 16, 9], 1, 2, 11, false),
    ([3, 3, 128], 1, 1, 130, false),
    ([49, 10, 1], 4, 2, 64, true),
    ([20, 20, 12], 3, 1, 1, false),
];

/// Depthwise convolutions: input, window, stride.
const DEPTHWISE: [([usize; 3], usize, usize); 12] = [
    ([14, 14, 24], 3, 1),
    ([14, 14, 48], 3, 2),
    ([7, 7, 96], 3, 1),
    ([48, 48, 8], 3, 1),
    ([24, 24, 32], 3, 1),
    ([24, 24, 32], 3, 2),
    ([12, 12, 64], 3, 1),
    ([25, 5, 64], 3, 1),
    ([14, 14, 32], 5, 1),
    ([14, 14, 16], 7, 1),
    ([10, 10, 7], 3, 1),
    ([6, 6, 1], 3, 1),
];

/// Fully connected layers: inputs and outputs.
const CONNECTED: [(usize, usize); 12] = [
    (400, 120),
    (120, 84),
    (84, 10),
    (128, 10),
    (64, 12),
    (1024, 10),
    (640, 128),
    (128, 128),
    (256, 256),
    (8, 640),
    (33, 7),
    (16, 16),
];

/// The models that a kernel is calibrated with.
pub fn models(kernel: Kernel) -> Vec<Model> {
    let activation = Activation::None;
    match kernel {
        Kernel::Conv => CONVS
            .iter()
            .map(|(input, size, stride, channels, same)| {
                let window = window(*size, *stride, *same);
                let weights = [*channels, *size, *size, input[2]];
                weighted(*input, Op::Conv { window, groups: 1, activation }, &weights, 0)
            })
            .collect(),
        Kernel::Depthwise => DEPTHWISE
            .iter()
            .map(|(input, size, stride)| {
                let window = window(*size, *stride, true);
                let weights = [1, *size, *size, input[2]];
                let op = Op::DepthwiseConv { window, multiplier: 1, activation };
                weighted(*input, op, &weights, 3)
            })
            .collect(),
        Kernel::FullyConnected => CONNECTED
            .iter()
            .map(|(inputs, outputs)| {
                let op = Op::FullyConnected { activation };
                weighted([1, 1, *inputs], op, &[*outputs, *inputs], 0)
            })
            .collect(),
        Kernel::MaxPool => pools(|window| Op::MaxPool { window, activation }),
        Kernel::AveragePool => pools(|window| Op::AveragePool {
            window,
            count_padding: false,
            uncounted: [0, 0],
            activation,
        }),
        Kernel::Add => images(|_| Op::Add { activation }),
        Kernel::Requantise => images(|_| Op::Activation(Activation::Relu)),
        Kernel::Pad => images(|_| Op::Pad { amounts: vec![(0, 0), (1, 1), (1, 1), (0, 0)] }),
        Kernel::Softmax => images(|_| Op::Softmax),
    }
}

fn images(op: impl Fn([usize; 3]) -> Op) -> Vec<Model> {
    IMAGES.iter().map(|image| plain(*image, op(*image))).collect()
}

fn pools(op: impl Fn(Window) -> Op) -> Vec<Model> {
    let mut models = Vec::new();
    for image in IMAGES {
        for (size, stride) in [(2, 2), (3, 2), (3, 1)] {
            if image[0] >= size && image[1] >= size {
                models.push(plain(image, op(window(size, stride, false))));
            }
        }
        if image[0] == image[1] {
            models.push(plain(image, op(window(image[0], 1, false))));
        }
    }
    models
}

fn window(size: usize, stride: usize, same: bool) -> Window {
    let pad = if same { (size - 1) / 2 } else { 0 };
    let padding = Padding { top: pad, left: pad, bottom: pad, right: pad };
    Window { size: [size; 2], stride: [stride; 2], dilation: [1; 2], padding }
}

/// A model of one operator without weights.
fn plain(input: [usize; 3], op: Op) -> Model {
    let mut model = start(input, &op);
    let [h, w, c] = input;
    let shape = match &op {
        Op::Pad { .. } => [h + 2, w + 2, c],
        _ => op.window().and_then(|window| window.output([h, w])).map_or(input, |[h, w]| [h, w, c]),
    };
    let same = Quantisation::per_tensor(0.05, -3);
    let output = match &op {
        Op::Softmax => Quantisation::per_tensor(1.0 / 256.0, -128),
        Op::Add { .. } | Op::Activation(_) => Quantisation::per_tensor(0.07, 5),
        _ => same.clone(),
    };
    let mut operands = vec![TensorId(0)];
    if matches!(op, Op::Add { .. }) {
        let second = tensor(&mut model, "second", &[1, h, w, c], Some(same), None);
        model.inputs.push(second);
        operands.push(second);
    }
    finish(model, op, operands, &[1, shape[0], shape[1], c], output)
}

/// A model of one operator with weights whose output channels run along `axis`.
fn weighted(input: [usize; 3], op: Op, weights: &[usize], axis: usize) -> Model {
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
    let shape = match op.window().and_then(|window| window.output([h, w])) {
        Some([h, w]) => vec![1, h, w, channels],
        None => vec![1, channels],
    };
    let output = Quantisation::per_tensor(0.3, 7);
    finish(model, op, vec![TensorId(0), weights, bias], &shape, output)
}

fn start([h, w, c]: [usize; 3], op: &Op) -> Model {
    let mut model = Model { name: format!("{} {h}x{w}x{c}", op.name()), ..Model::default() };
    let shape = if matches!(op, Op::FullyConnected { .. }) { vec![1, c] } else { vec![1, h, w, c] };
    let quantisation = Quantisation::per_tensor(0.05, -3);
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

fn finish(
    mut model: Model,
    op: Op,
    inputs: Vec<TensorId>,
    shape: &[usize],
    quantisation: Quantisation,
) -> Model {
    let output = tensor(&mut model, "output", shape, Some(quantisation), None);
    model.nodes.push(Node { name: "layer".to_owned(), op, inputs, outputs: vec![output] });
    model.outputs.push(output);
    model
}
