//! LeNet-5's geometry with made-up weights: as an image, and computed by calling kernels in turn.

use crate::image::{Tables, op};
use tilewright_kernels::{
    Channel, Channels, Conv, FullyConnected, Layout, Multiplier, Output, Pool, Softmax, Source,
    Target, Window, conv, fully_connected, max_pool, pack, softmax,
};
use tilewright_kernels::{KernelError, Tile};
use tilewright_plan::{Kernel, Op, Space, View};

/// Input shape: height, width, channels.
pub const INPUT: [usize; 3] = [32, 32, 1];

/// A layer: kernel, window, output shape.
const LAYERS: [(&str, Kernel, u16, [usize; 3]); 8] = [
    ("c1", Kernel::Conv, 5, [28, 28, 6]),
    ("s2", Kernel::MaxPool, 2, [14, 14, 6]),
    ("c3", Kernel::Conv, 5, [10, 10, 16]),
    ("s4", Kernel::MaxPool, 2, [5, 5, 16]),
    ("c5", Kernel::FullyConnected, 1, [1, 1, 120]),
    ("f6", Kernel::FullyConnected, 1, [1, 1, 84]),
    ("output", Kernel::FullyConnected, 1, [1, 1, 10]),
    ("softmax", Kernel::Softmax, 1, [1, 1, 10]),
];

const SOFTMAX: Softmax = Softmax {
    scale: Multiplier { multiplier: 1_717_986_918, shift: 23 },
    smallest_difference: -248,
};

fn noise(seed: u32, index: usize) -> u32 {
    let mixed = (index as u32 ^ seed.rotate_left(9)).wrapping_mul(0x9e37_79b1);
    (mixed ^ mixed >> 15).wrapping_mul(0x85eb_ca77) >> 7
}

/// An input from a seed.
pub fn input(seed: u32) -> Vec<u8> {
    (0..INPUT.iter().product()).map(|index| noise(seed, index) as u8).collect()
}

/// Weights and constants of a layer: how many weights a channel, how many channels.
fn parameters(seed: u32, per_channel: usize, channels: usize) -> (Vec<i8>, Vec<Channel>) {
    let weights = (0..per_channel * channels).map(|index| noise(seed, index) as i8).collect();
    let channel = |index: usize| Channel {
        bias: (noise(seed + 1, index) % 4096) as i32 - 2048,
        factor: Multiplier {
            multiplier: (1 << 30) + (noise(seed + 2, index) << 6 & 0x3fff_ffff) as i32,
            shift: -(per_channel.ilog2() as i32) / 2 - 6,
        },
    };
    (weights, (0..channels).map(channel).collect())
}

/// Zero points of a layer's input and output: they differ from layer to layer.
fn zeros(layer: usize) -> [i8; 2] {
    [-128 + 9 * layer as i8, -128 + 9 * (layer as i8 + 1)]
}

/// The network as tables; activations alternate between two places.
pub fn tables() -> Tables {
    let mut tables = Tables::default();
    let place = |index: usize, [h, w, c]: [usize; 3]| {
        let offset = if index.is_multiple_of(2) { 0 } else { 4736 };
        View::whole(Space::Arena, offset, h as u16, w as u16, c as u32)
    };
    let mut from = place(0, INPUT);
    let first = from;
    for (index, (name, kernel, window, shape)) in LAYERS.into_iter().enumerate() {
        let to = place(index + 1, shape);
        let [input_zero, output_zero] = zeros(index).map(i16::from);
        let mut layer = Op {
            window: [window; 2],
            stride: [if kernel == Kernel::MaxPool { 2 } else { 1 }; 2],
            input_zero: [input_zero, 0],
            output_zero,
            ..op(kernel)
        };
        let mut operands = vec![from, to];
        if matches!(kernel, Kernel::Conv | Kernel::FullyConnected) {
            let per_channel = per_channel(kernel, window, &from);
            let (weights, channels) = parameters(index as u32, per_channel, shape[2]);
            let filters = layer.filters_for(&from);
            assert!(filters.are_paired());
            let bytes = filters.bytes as usize;
            operands.push(tables.weights(&pack::paired_weights(&weights, per_channel, bytes)));
            let zero = zeros(index)[0];
            let constants = pack::paired_constants(&channels, zero, &weights, per_channel);
            operands.push(tables.constants(&constants));
        }
        if kernel == Kernel::Softmax {
            let Softmax { scale, smallest_difference } = SOFTMAX;
            layer.scalars[..3].copy_from_slice(&[
                scale.multiplier,
                scale.shift,
                smallest_difference,
            ]);
        }
        tables.layer(name, layer, &operands);
        from = to;
    }
    tables.arena_bytes = 4736 + 4736;
    tables.io(first, &[]);
    let digits: Vec<String> = (0..10).map(|digit| format!("digit {digit}")).collect();
    tables.io(from, &digits.iter().map(String::as_str).collect::<Vec<_>>());
    tables.program();
    tables
}

fn per_channel(kernel: Kernel, window: u16, from: &View) -> usize {
    match kernel {
        Kernel::Conv => usize::from(window).pow(2) * from.c as usize,
        _ => from.elements() as usize,
    }
}

/// The network by calling the kernels in turn, each on whole tensors.
pub fn compute(input: &[u8]) -> Result<Vec<u8>, KernelError> {
    let mut x = input.to_vec();
    let mut shape = INPUT;
    for (index, (_, kernel, window, to)) in LAYERS.into_iter().enumerate() {
        let layout = Layout::whole(to[0], to[1], to[2]);
        let from = Layout::whole(shape[0], shape[1], shape[2]);
        let tile = Tile::whole(&from, &layout);
        let mut y = vec![0; to.iter().product()];
        let source = Source::new(&x, from)?;
        let mut target = Target::new(&mut y, layout)?;
        let [input_zero, zero] = zeros(index);
        let output = Output { zero, ..Output::FULL };
        let stride = if kernel == Kernel::MaxPool { 2 } else { 1 };
        let window = Window {
            size: [usize::from(window); 2],
            stride: [stride; 2],
            dilation: [1; 2],
            padding: [0; 2],
        };
        let per_channel = match kernel {
            Kernel::Conv => window.size[0] * window.size[1] * shape[2],
            _ => x.len(),
        };
        let (weights, channels) = parameters(index as u32, per_channel, to[2]);
        let weights: Vec<u8> = weights.iter().map(|weight| *weight as u8).collect();
        let constants = pack::channel_constants(&channels);
        let channels = Channels::new(&constants);
        match kernel {
            Kernel::Conv => {
                let op = Conv { window, groups: 1, input_zero, weight_zero: 0, output };
                conv(&op, &tile, &source, &mut target, &weights, channels)?;
            }
            Kernel::FullyConnected => {
                let op = FullyConnected { input_zero, weight_zero: 0, output };
                fully_connected(&op, &tile, &source, &mut target, &weights, channels)?;
            }
            Kernel::Softmax => softmax(&SOFTMAX, &tile, &source, &mut target)?,
            _ => max_pool(&Pool { window, output }, &tile, &source, &mut target)?,
        }
        (x, shape) = (y, to);
    }
    Ok(x)
}
