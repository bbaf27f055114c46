//! Models of one layer, over the geometries that networks use.

pub mod build;

use build::{SCALE, concat, off_zero, pair, plain, pooled, pruned, weighted};
use tilewright_model::{Activation, Model, Op, Padding, ResizeMode, Window};
use tilewright_plan::Kernel;

/// Convolutions: input, window, stride, output channels, same padding or none.
const CONVS: [([usize; 3], usize, usize, usize, bool); 40] = [
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
    ([32, 32, 16], 3, 2, 32, true),
    ([16, 16, 32], 3, 2, 64, true),
    ([32, 32, 16], 1, 2, 32, false),
    ([16, 16, 32], 1, 2, 64, false),
    ([28, 28, 3], 3, 1, 14, true),
    ([6, 6, 70], 3, 1, 33, true),
    ([64, 64, 3], 3, 2, 8, true),
    ([16, 16, 24], 1, 1, 8, false),
    ([8, 8, 8], 1, 1, 24, false),
    ([4, 4, 16], 1, 1, 48, false),
    ([4, 4, 48], 1, 1, 16, false),
    ([2, 2, 40], 1, 1, 120, false),
    ([2, 2, 144], 1, 1, 40, false),
    ([1, 1, 64], 1, 1, 256, false),
    ([1, 1, 240], 1, 1, 16, false),
    ([2, 2, 672], 1, 1, 64, false),
    ([7, 7, 640], 1, 1, 24, false),
    ([3, 3, 960], 1, 1, 33, false),
];

/// Convolutions of which one pixel, or two, are left over behind fours.
const LEFT_OVER: [([usize; 3], usize, usize, usize, bool); 2] =
    [([5, 6, 32], 1, 1, 24, false), ([9, 9, 8], 3, 1, 12, true)];

/// Convolutions in groups and dilated: input, window, output channels, groups, dilation.
const GROUPED: [([usize; 3], usize, usize, usize, usize); 17] = [
    ([14, 14, 24], 1, 60, 3, 1),
    ([7, 7, 240], 1, 60, 3, 1),
    ([14, 14, 48], 1, 192, 4, 1),
    ([4, 4, 480], 1, 96, 8, 1),
    ([10, 10, 32], 3, 32, 8, 1),
    ([8, 8, 64], 3, 64, 32, 1),
    ([5, 5, 80], 1, 100, 2, 1),
    ([7, 7, 192], 3, 8, 2, 1),
    ([4, 4, 320], 3, 6, 2, 1),
    ([12, 12, 18], 5, 9, 3, 1),
    ([14, 14, 24], 3, 24, 4, 1),
    ([14, 14, 24], 1, 48, 3, 1),
    ([12, 12, 16], 3, 16, 2, 2),
    ([20, 20, 8], 3, 12, 1, 2),
    ([9, 9, 96], 3, 16, 1, 1),
    ([6, 6, 160], 3, 7, 1, 1),
    ([8, 8, 192], 3, 18, 2, 1),
];

/// Convolutions whose weights have a zero point: input, window, stride, output channels, same padding or none.
const OFF_ZERO: [([usize; 3], usize, usize, usize, bool); 5] = [
    ([14, 14, 24], 1, 1, 30, false),
    ([16, 16, 3], 3, 2, 8, true),
    ([8, 8, 16], 3, 1, 12, true),
    ([6, 6, 96], 3, 1, 8, true),
    ([3, 3, 700], 1, 1, 6, false),
];

/// Convolutions with transformed weights: input, output channels, same padding or none.
const TRANSFORMED: [([usize; 3], usize, bool); 22] = [
    ([32, 32, 16], 16, true),
    ([16, 16, 32], 32, true),
    ([8, 8, 64], 64, true),
    ([16, 16, 32], 64, false),
    ([14, 14, 48], 24, true),
    ([7, 7, 96], 40, true),
    ([5, 9, 20], 12, true),
    ([12, 10, 4], 8, true),
    ([28, 28, 8], 16, false),
    ([10, 10, 12], 33, true),
    ([4, 4, 128], 64, true),
    ([6, 6, 64], 7, true),
    ([9, 7, 28], 1, true),
    ([24, 24, 16], 32, true),
    ([20, 12, 24], 20, false),
    ([3, 3, 32], 96, true),
    ([40, 6, 8], 6, true),
    ([11, 13, 36], 18, true),
    ([16, 16, 8], 8, true),
    ([8, 8, 16], 48, true),
    ([4, 20, 44], 10, false),
    ([2, 30, 16], 24, true),
];

/// Convolutions and fully connected layers (inputs in a row) with sparse weights: input, window, stride, output
/// channels, same padding or none, hundredths of zeros.
const SPARSE: [([usize; 3], usize, usize, usize, bool, u8); 36] = [
    ([14, 14, 96], 1, 1, 576, false, 80),
    ([28, 28, 64], 1, 1, 128, false, 80),
    ([28, 28, 32], 1, 1, 64, false, 80),
    ([28, 28, 32], 1, 1, 64, false, 50),
    ([14, 14, 128], 1, 1, 128, false, 90),
    ([14, 14, 128], 1, 1, 256, false, 60),
    ([7, 7, 512], 1, 1, 256, false, 80),
    ([7, 7, 512], 1, 1, 512, false, 95),
    ([7, 7, 1024], 1, 1, 256, false, 80),
    ([7, 7, 1024], 1, 1, 128, false, 50),
    ([5, 5, 700], 1, 1, 140, false, 70),
    ([4, 4, 600], 1, 1, 30, false, 85),
    ([12, 10, 16], 1, 1, 96, false, 80),
    ([9, 9, 24], 1, 1, 7, false, 60),
    ([6, 5, 40], 1, 1, 33, false, 75),
    ([3, 3, 20], 1, 1, 1, false, 50),
    ([2, 1, 256], 1, 1, 100, false, 80),
    ([1, 1, 1024], 1, 1, 200, false, 80),
    ([1, 1, 300], 1, 1, 50, false, 90),
    ([1, 1, 64], 1, 1, 10, false, 50),
    ([16, 16, 32], 3, 1, 32, true, 80),
    ([16, 16, 32], 3, 1, 32, true, 60),
    ([8, 8, 64], 3, 1, 64, true, 80),
    ([8, 8, 64], 3, 1, 160, true, 90),
    ([12, 12, 16], 3, 2, 48, true, 70),
    ([10, 14, 20], 3, 1, 12, false, 85),
    ([32, 32, 3], 3, 2, 16, true, 50),
    ([20, 20, 3], 5, 1, 24, true, 75),
    ([9, 7, 6], 3, 1, 20, true, 80),
    ([11, 11, 130], 3, 1, 20, false, 80),
    ([1, 1, 1024], 0, 1, 500, false, 80),
    ([1, 1, 256], 0, 1, 256, false, 80),
    ([1, 1, 4096], 0, 1, 60, false, 90),
    ([1, 1, 640], 0, 1, 128, false, 50),
    ([1, 1, 90], 0, 1, 10, false, 70),
    ([1, 1, 33], 0, 1, 300, false, 60),
];

/// Pools behind convolutions, by turns: window, stride, same padding or none.
const POOLS: [(usize, usize, bool); 4] = [(3, 2, true), (3, 1, true), (3, 3, false), (2, 1, false)];

/// Convolutions before pools whose filters are longer than what is held of the input at once: input,
/// window, output channels.
const LONG: [([usize; 3], usize, usize); 3] =
    [([8, 8, 32], 5, 32), ([12, 12, 32], 5, 16), ([6, 6, 64], 5, 32)];

/// Transposed convolutions: input, window, stride, output channels.
const TRANSPOSED: [([usize; 3], usize, usize, usize); 8] = [
    ([7, 7, 16], 3, 2, 16),
    ([7, 7, 16], 2, 2, 8),
    ([14, 14, 8], 3, 1, 5),
    ([5, 5, 64], 3, 2, 32),
    ([10, 10, 3], 5, 2, 12),
    ([4, 9, 33], 4, 2, 7),
    ([12, 12, 24], 2, 2, 1),
    ([6, 6, 40], 3, 3, 21),
];

/// Depthwise convolutions: input, window, stride, multiplier.
const DEPTHWISE: [([usize; 3], usize, usize, usize); 45] = [
    ([14, 14, 24], 3, 1, 1),
    ([14, 14, 48], 3, 2, 1),
    ([7, 7, 96], 3, 1, 1),
    ([48, 48, 8], 3, 1, 1),
    ([24, 24, 32], 3, 1, 1),
    ([24, 24, 32], 3, 2, 1),
    ([12, 12, 64], 3, 1, 1),
    ([25, 5, 64], 3, 1, 1),
    ([14, 14, 32], 5, 1, 1),
    ([14, 14, 16], 7, 1, 1),
    ([10, 10, 7], 3, 1, 1),
    ([6, 6, 1], 3, 1, 1),
    ([28, 28, 24], 3, 1, 1),
    ([28, 28, 16], 3, 2, 1),
    ([5, 5, 256], 3, 1, 1),
    ([9, 20, 40], 3, 1, 1),
    ([10, 10, 8], 3, 1, 2),
    ([14, 14, 20], 3, 2, 4),
    ([49, 10, 1], 4, 2, 8),
    ([3, 3, 100], 3, 1, 1),
    ([28, 28, 16], 5, 2, 1),
    ([14, 14, 24], 5, 2, 1),
    ([9, 12, 20], 5, 2, 1),
    ([8, 8, 48], 5, 2, 1),
    ([4, 4, 64], 5, 2, 1),
    ([56, 56, 4], 5, 2, 1),
    ([28, 28, 8], 5, 1, 1),
    ([7, 7, 48], 5, 1, 1),
    ([4, 4, 96], 5, 1, 1),
    ([2, 2, 96], 5, 1, 1),
    ([28, 28, 16], 7, 2, 1),
    ([14, 14, 24], 7, 2, 1),
    ([9, 12, 20], 7, 2, 1),
    ([8, 8, 48], 7, 2, 1),
    ([4, 4, 64], 7, 2, 1),
    ([56, 56, 4], 7, 2, 1),
    ([28, 28, 8], 7, 1, 1),
    ([7, 7, 48], 7, 1, 1),
    ([4, 4, 96], 7, 1, 1),
    ([2, 2, 96], 7, 1, 1),
    ([3, 3, 40], 7, 1, 1),
    ([8, 8, 48], 3, 2, 1),
    ([4, 4, 64], 3, 2, 1),
    ([4, 4, 96], 3, 1, 1),
    ([2, 2, 96], 3, 1, 1),
];

/// Depthwise convolutions of many channels that are not computed in planes: input, window, stride, dilation.
const PIXEL_BY_PIXEL: [([usize; 3], usize, usize, usize); 12] = [
    ([8, 8, 64], 1, 1, 1),
    ([4, 4, 256], 1, 1, 1),
    ([16, 16, 24], 1, 1, 1),
    ([5, 5, 100], 1, 1, 1),
    ([5, 5, 336], 3, 1, 2),
    ([9, 9, 96], 3, 1, 2),
    ([12, 12, 40], 3, 1, 4),
    ([12, 12, 48], 2, 2, 1),
    ([10, 10, 32], 4, 2, 1),
    ([9, 9, 64], 3, 3, 1),
    ([7, 7, 50], 5, 1, 2),
    ([6, 6, 16], 3, 1, 3),
];

/// Fully connected layers: inputs and outputs.
const CONNECTED: [(usize, usize); 18] = [
    (2304, 6),
    (2320, 9),
    (4096, 2),
    (3000, 66),
    (9216, 8),
    (25_088, 4),
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

/// Networks whose convolutions kernels are calibrated with too: sizes that occur together.
const NETWORKS: [&str; 9] = [
    "lenet5",
    "ds-cnn",
    "resnet8",
    "vww",
    "mobilenet-v2-w0.35-r96",
    "mcunet-in0",
    "squeezenet-1.1-r64",
    "googlenet-r64",
    "resnet18-r32",
];

/// Most bytes of a layer's weights; of longer ones there are fewer output channels.
const WEIGHT_BYTES: usize = 128 << 10;

/// Output channels of a part of a layer whose filters come one after the other.
const PART: usize = 6;

/// Shapes of inputs for operators on whole pictures, in which rows, columns and channels vary
/// apart from each other.
const PICTURES: [[usize; 3]; 12] = [
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
    [16, 4, 1],
    [3, 20, 52],
];

/// Numbers of classes.
const CLASSES: [usize; 8] = [2, 4, 10, 12, 35, 100, 300, 1000];

/// The models that a kernel is calibrated with.
pub fn models(kernel: Kernel) -> Vec<Model> {
    let activation = Activation::None;
    match kernel {
        Kernel::Conv => convs()
            .into_iter()
            .chain(LEFT_OVER.iter().map(conv))
            .chain(OFF_ZERO.iter().map(|layer| off_zero(conv(layer))))
            .chain(of_networks(|op| matches!(op, Op::Conv { groups: 1, .. }), 0))
            .collect(),
        Kernel::ConvMaxPool => convs()
            .into_iter()
            .chain(LONG.iter().map(|(input, size, channels)| {
                let op = Op::Conv { window: window(*size, 1, true), groups: 1, activation };
                weighted(*input, op, &[*channels, *size, *size, input[2]], 0)
            }))
            // Smaller ones no pool fits behind.
            .filter(|conv| sides(conv).into_iter().all(|side| side > 3))
            .enumerate()
            .flat_map(|(index, conv)| {
                let (size, stride, same) = POOLS[index % POOLS.len()];
                let pools = [window(2, 2, false), window(size, stride, same)];
                pools.map(|window| pooled(conv.clone(), window))
            })
            .collect(),
        Kernel::Depthwise => {
            let plain = DEPTHWISE.iter().map(|(input, size, stride, multiplier)| {
                (input, window(*size, *stride, true), *multiplier)
            });
            let others = PIXEL_BY_PIXEL.iter().map(|(input, size, stride, dilation)| {
                let pad = dilation * (size - 1) / 2;
                let padding = Padding { top: pad, left: pad, bottom: pad, right: pad };
                let dilation = [*dilation; 2];
                (input, Window { dilation, padding, ..window(*size, *stride, true) }, 1)
            });
            plain
                .chain(others)
                .map(|(input, window, multiplier)| {
                    let weights = [1, window.size[0], window.size[1], input[2] * multiplier];
                    let op = Op::DepthwiseConv { window, multiplier, activation };
                    weighted(*input, op, &weights, 3)
                })
                .chain(of_networks(|op| matches!(op, Op::DepthwiseConv { .. }), 3))
                .collect()
        }
        Kernel::TransposeConv => TRANSPOSED
            .iter()
            .map(|(input, size, stride, channels)| {
                let window = window(*size, *stride, true);
                let weights = [*channels, *size, *size, input[2]];
                weighted(*input, Op::TransposeConv { window, activation }, &weights, 0)
            })
            .collect(),
        Kernel::FullyConnected => CONNECTED
            .iter()
            .map(|(inputs, outputs)| {
                let op = Op::FullyConnected { activation };
                weighted([1, 1, *inputs], op, &[*outputs, *inputs], 0)
            })
            .flat_map(|model| [off_zero(model.clone()), model])
            .collect(),
        Kernel::MaxPool => pools(|window| Op::MaxPool { window, activation: Activation::Relu6 })
            .into_iter()
            .chain(pools(|window| Op::MaxPool { window, activation }))
            .collect(),
        Kernel::AveragePool => pools(|window| Op::AveragePool {
            window,
            count_padding: false,
            uncounted: [0, 0],
            halves_up: false,
            activation,
        }),
        Kernel::Mean => [vec![1, 2], vec![3], vec![2], vec![1, 2, 3]]
            .into_iter()
            .flat_map(|axes| pictures(|_| Op::Mean { axes: axes.clone(), keep_dims: true }))
            .collect(),
        Kernel::Add => pairs(&Op::Add { activation }),
        Kernel::Sub => pairs(&Op::Sub { activation }),
        Kernel::Mul => pairs(&Op::Mul { activation }),
        Kernel::Maximum => pairs(&Op::Maximum),
        Kernel::Minimum => pairs(&Op::Minimum),
        Kernel::Prelu => pairs(&Op::Prelu),
        Kernel::Requantise => concats(),
        Kernel::Lut => pictures(|_| Op::Requantise),
        Kernel::Pad => [[(1, 1), (1, 1)], [(0, 1), (0, 1)], [(2, 0), (3, 3)]]
            .into_iter()
            .flat_map(|[rows, columns]| {
                pictures(|_| Op::Pad { amounts: vec![(0, 0), rows, columns, (0, 0)], filler: 0.0 })
            })
            .collect(),
        Kernel::Gather => moves(),
        Kernel::ResizeNearest => resizes(ResizeMode::Nearest),
        Kernel::ResizeBilinear => resizes(ResizeMode::Bilinear),
        Kernel::Softmax => scores(&Op::Softmax),
        Kernel::LogSoftmax => scores(&Op::LogSoftmax),
        Kernel::LocalResponse => {
            pictures(|_| Op::LocalResponseNorm { size: 5, alpha: 1e-3, beta: 0.75, bias: 1.0 })
        }
        Kernel::ArgMax => {
            (1..4).flat_map(|axis| pictures(|_| Op::ArgMax { axis, keep_dims: true })).collect()
        }
    }
}

/// The models with which transformed weights are calibrated: every fourth one clamped.
pub fn transformed() -> Vec<Model> {
    TRANSFORMED
        .iter()
        .enumerate()
        .map(|(index, (input, channels, same))| {
            let activation = if index % 4 == 3 { Activation::Relu6 } else { Activation::None };
            let op = Op::Conv { window: window(3, 1, *same), groups: 1, activation };
            weighted(*input, op, &[*channels, 3, 3, input[2]], 0)
        })
        .collect()
}

/// The models with which sparse weights are calibrated: every fourth one clamped.
pub fn sparse() -> Vec<Model> {
    let model = |(index, &(input, size, stride, channels, same, sparsity)): (usize, &_)| {
        let activation = if index % 4 == 3 { Activation::Relu6 } else { Activation::None };
        let dense = match size {
            0 => weighted(input, Op::FullyConnected { activation }, &[channels, input[2]], 0),
            _ => {
                let op = Op::Conv { window: window(size, stride, same), groups: 1, activation };
                weighted(input, op, &[channels, size, size, input[2]], 0)
            }
        };
        pruned(dense, sparsity)
    };
    SPARSE.iter().enumerate().map(model).collect()
}

/// The layers of networks with such an operator, each once, as models; those whose weights
/// have their output channels along `axis` 0 in parts too.
fn of_networks(is_meant: impl Fn(&Op) -> bool, axis: usize) -> Vec<Model> {
    let mut layers = Vec::new();
    for name in NETWORKS {
        let network = tilewright_zoo::network(name).expect("it is in the zoo");
        let network = network.int8().expect("its scales are analytic");
        for node in network.nodes.iter().filter(|node| is_meant(&node.op)) {
            let shape = |operand: usize| &network.tensor(node.inputs[operand]).shape;
            let (input, mut weights) =
                (shape(0).hwc().expect("a picture"), shape(1).dims().to_vec());
            // With a range of its own a layer has nothing to clamp.
            let mut op = node.op.clone();
            if let Some(activation) = op.activation_mut() {
                *activation = Activation::None;
            }
            let filter: usize = weights[1..].iter().product();
            for most in [WEIGHT_BYTES / filter, PART] {
                if axis == 0 {
                    weights[0] = weights[0].min(most);
                }
                let layer = (input, op.clone(), weights.clone());
                if !layers.contains(&layer) {
                    layers.push(layer);
                }
            }
        }
    }
    layers.into_iter().map(|(input, op, weights)| weighted(input, op, &weights, axis)).collect()
}

/// Rows and columns of what a model makes.
fn sides(model: &Model) -> [usize; 2] {
    let made = model.outputs.first().map_or(&[][..], |id| model.tensor(*id).shape.dims());
    [1, 2].map(|axis| made.get(axis).copied().unwrap_or(0))
}

fn conv((input, size, stride, channels, same): &([usize; 3], usize, usize, usize, bool)) -> Model {
    let window = window(*size, *stride, *same);
    let weights = [*channels, *size, *size, input[2]];
    let op = Op::Conv { window, groups: 1, activation: Activation::None };
    weighted(*input, op, &weights, 0)
}

fn convs() -> Vec<Model> {
    let activation = Activation::None;
    let plain = CONVS.iter().map(conv);
    let grouped = GROUPED.iter().map(|(input, size, channels, groups, dilation)| {
        let window = Window { dilation: [*dilation; 2], ..window(*size, 1, *dilation == 1) };
        let weights = [*channels, *size, *size, input[2] / groups];
        let op = Op::Conv { window, groups: *groups, activation };
        weighted(*input, op, &weights, 0)
    });
    plain.chain(grouped).collect()
}

fn pictures(op: impl Fn([usize; 3]) -> Op) -> Vec<Model> {
    PICTURES.iter().map(|picture| plain(*picture, &op(*picture))).collect()
}

/// Scores of as many classes as networks have, and pictures.
fn scores(op: &Op) -> Vec<Model> {
    let vectors = CLASSES.iter().map(|classes| plain([1, 1, *classes], op));
    vectors.chain(pictures(|_| op.clone())).collect()
}

fn pools(op: impl Fn(Window) -> Op) -> Vec<Model> {
    let mut models = Vec::new();
    for picture in PICTURES {
        for (size, stride, same) in [(2, 2, false), (3, 2, false), (3, 1, false), (3, 1, true)] {
            if picture[0] >= size && picture[1] >= size {
                models.push(plain(picture, &op(window(size, stride, same))));
            }
        }
        if picture[0] == picture[1] {
            models.push(plain(picture, &op(window(picture[0], 1, false))));
        }
    }
    models
}

/// Second operands as large as the first, one for each channel, for each pixel, and for all.
fn pairs(op: &Op) -> Vec<Model> {
    let mut models = Vec::new();
    for [h, w, c] in PICTURES {
        for second in [[h, w, c], [1, 1, c], [h, w, 1], [1, 1, 1]] {
            models.push(pair([h, w, c], second, op));
        }
    }
    models
}

/// Concatenations along channels and rows, with scales that change and that stay.
fn concats() -> Vec<Model> {
    let mut models = Vec::new();
    for picture in PICTURES {
        models.push(concat(picture, 3, 0.07));
        models.push(concat(picture, 3, SCALE));
        models.push(concat(picture, 1, 0.07));
        models.push(concat(picture, 1, SCALE));
    }
    models
}

fn moves() -> Vec<Model> {
    let slice = |[h, w, c]: [usize; 3], stride: isize, channels: usize| Op::Slice {
        begin: vec![0, h - 1, 0, 0],
        size: vec![1, h, w.div_ceil(2), channels.min(c)],
        stride: vec![1, -1, stride, 1],
    };
    let mut models: Vec<Model> = pictures(|picture| slice(picture, 2, usize::MAX));
    models.extend(pictures(|picture| slice(picture, 1, 5)));
    models.extend(pictures(|_| Op::Transpose { permutation: vec![0, 2, 1, 3] }));
    models.extend(pictures(|_| Op::Transpose { permutation: vec![0, 3, 1, 2] }));
    for picture in PICTURES.into_iter().filter(|[h, w, _]| h % 2 == 0 && w % 2 == 0) {
        models.push(plain(picture, &Op::SpaceToDepth { block: 2 }));
    }
    for picture in PICTURES.into_iter().filter(|[_, _, c]| c % 4 == 0) {
        models.push(plain(picture, &Op::DepthToSpace { block: 2 }));
    }
    models
}

fn resizes(mode: ResizeMode) -> Vec<Model> {
    pictures(|_| Op::Resize { mode, align_corners: false, half_pixel_centers: true, places: None })
}

/// A square window; `same`: padded by half of it on each side.
pub fn window(size: usize, stride: usize, same: bool) -> Window {
    let pad = if same { (size - 1) / 2 } else { 0 };
    let padding = Padding { top: pad, left: pad, bottom: pad, right: pad };
    Window { size: [size; 2], stride: [stride; 2], dilation: [1; 2], padding }
}
