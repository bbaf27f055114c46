//! The layers that kernels are measured on, with what is asked of them and what CMSIS-NN takes.

use tilewright_model::{Activation, Model, Op, Quantisation, TensorId};
use tilewright_planner::Packing;

use crate::calibrate::layers::build::{SCALE, pair, plain, pruned, weighted};
use crate::calibrate::layers::window;

/// What instructions are divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nominal multiply-accumulates, padding included.
    Mac,
    /// Elements of the output.
    Output,
    /// Elements of the input.
    Input,
}

impl Unit {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mac => "mac",
            Self::Output => "output",
            Self::Input => "input",
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Layer {
    /// Name: operator, window, input, output channels; what of it is left out, where it is too
    /// large for a board's SRAM or flash.
    pub name: &'static str,
    kind: Kind,
    /// How its weights are packed.
    pub packing: Packing,
    /// Hundredths of its weights that are zero.
    sparsity: u8,
    /// What instructions are divided by.
    pub unit: Unit,
    /// Most instructions a unit on the Cortex-M4.
    pub goal: f64,
    /// Most cycles a unit on the Cortex-M7, where that is asked.
    pub cycle_goal: Option<f64>,
    /// Instructions a unit of CMSIS-NN v7.0.0+43 at its best of four compilers' settings, on
    /// Cortex-M4 and Cortex-M7: counted in the same way, with input zero point -128.
    pub cmsis_nn: [Option<f64>; 2],
}

/// Rows, columns, channels of the input; window; stride; output channels.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Conv([usize; 3], usize, usize),
    Depthwise([usize; 3], usize, usize),
    Connected(usize, usize),
    MaxPool([usize; 3], usize),
    AveragePool([usize; 3]),
    Add([usize; 3]),
    Softmax(usize),
}

const fn layer(name: &'static str, kind: Kind, goal: f64, cmsis_nn: [f64; 2]) -> Layer {
    let cmsis_nn = [Some(cmsis_nn[0]), Some(cmsis_nn[1])];
    let packing = Packing::Plain;
    Layer { name, kind, packing, sparsity: 0, unit: Unit::Mac, goal, cycle_goal: None, cmsis_nn }
}

const fn other(name: &'static str, kind: Kind, unit: Unit, goal: f64, cmsis_nn: f64) -> Layer {
    let (packing, cmsis_nn) = (Packing::Plain, [Some(cmsis_nn), None]);
    Layer { name, kind, packing, sparsity: 0, unit, goal, cycle_goal: None, cmsis_nn }
}

const fn within(layer: Layer, cycles: f64) -> Layer {
    Layer { cycle_goal: Some(cycles), ..layer }
}

/// The same layer in the wider and faster packing, with this goal.
const fn faster(layer: Layer, name: &'static str, goal: f64) -> Layer {
    Layer { name, packing: Packing::Fast, goal, cycle_goal: None, ..layer }
}

/// A layer with so many hundredths of zeros, stored without them.
const fn sparse(name: &'static str, kind: Kind, sparsity: u8, goal: f64) -> Layer {
    let packing = Packing::Sparse;
    let cmsis_nn = [None; 2];
    Layer { name, kind, packing, sparsity, unit: Unit::Mac, goal, cycle_goal: None, cmsis_nn }
}

/// A layer with all weights, beside which the same one is sparse.
const fn dense(name: &'static str, kind: Kind, goal: f64) -> Layer {
    let packing = Packing::Plain;
    Layer { packing, ..sparse(name, kind, 0, goal) }
}

use Kind::{Add, AveragePool, Connected, Conv, Depthwise, MaxPool, Softmax};

/// All layers.
pub const LAYERS: &[Layer] = &[
    layer("conv 3x3 32x32x3 to 32", Conv([32, 32, 3], 3, 32), 1.4, [3.60, 3.89]),
    layer("conv 3x3 16x16x32 to 32", Conv([16, 16, 32], 3, 32), 1.0, [1.74, 1.53]),
    within(layer("conv 3x3 8x8x64 to 64", Conv([8, 8, 64], 3, 64), 1.0, [1.57, 1.35]), 0.75),
    faster(
        layer("", Conv([16, 16, 32], 3, 32), 0.0, [1.74, 1.53]),
        "conv 3x3 16x16x32 to 32, transformed weights",
        0.6,
    ),
    faster(
        layer("", Conv([8, 8, 64], 3, 64), 0.0, [1.57, 1.35]),
        "conv 3x3 8x8x64 to 64, transformed weights",
        0.6,
    ),
    layer("conv 5x5 32x32x3 to 32", Conv([32, 32, 3], 5, 32), 1.2, [2.62, 2.54]),
    layer("conv 5x5 16x16x32 to 16", Conv([16, 16, 32], 5, 16), 1.0, [1.77, 1.54]),
    layer(
        "pointwise 14x56x24 to 144 (14 of 56 rows)",
        Conv([14, 56, 24], 1, 144),
        1.25,
        [3.03, 3.02],
    ),
    within(
        layer("pointwise 14x14x96 to 576", Conv([14, 14, 96], 1, 576), 0.95, [1.80, 1.71]),
        0.75,
    ),
    layer("pointwise 7x7x320 to 1280", Conv([7, 7, 320], 1, 1280), 0.92, [1.58, 1.37]),
    layer("depthwise 3x3 48x48x32", Depthwise([48, 48, 32], 3, 1), 1.9, [7.43, 7.63]),
    layer("depthwise 3x3 24x24x96", Depthwise([24, 24, 96], 3, 1), 1.9, [7.21, 7.40]),
    layer("depthwise 3x3 12x12x192", Depthwise([12, 12, 192], 3, 1), 2.0, [7.00, 7.20]),
    layer("depthwise 3x3 stride 2 48x48x32", Depthwise([48, 48, 32], 3, 2), 2.6, [7.44, 7.63]),
    layer("depthwise 5x5 24x24x96", Depthwise([24, 24, 96], 5, 1), 1.4, [8.72, 8.76]),
    layer("depthwise 7x7 14x14x96", Depthwise([14, 14, 96], 7, 1), 1.3, [7.75, 7.77]),
    layer("fully connected 1024 to 10", Connected(1024, 10), 1.25, [1.81, 1.93]),
    layer("fully connected 256 to 256", Connected(256, 256), 1.25, [1.81, 1.93]),
    layer(
        "fully connected 1024 to 500 (500 of 1000 rows)",
        Connected(1024, 500),
        1.2,
        [1.80, 1.76],
    ),
    layer(
        "fully connected 4096 to 125 (125 of 1000 rows)",
        Connected(4096, 125),
        1.2,
        [1.80, 1.76],
    ),
    dense("pointwise 28x28x64 to 128", Conv([28, 28, 64], 1, 128), 1.0),
    dense("pointwise 28x28x32 to 64", Conv([28, 28, 32], 1, 64), 1.15),
    // Of what the dense layer takes: 0.45 from 64 inputs on, 0.6 of 32, 0.5 where fully connected, less from 50 % on.
    sparse("pointwise 14x14x96 to 576, 80 % sparse", Conv([14, 14, 96], 1, 576), 80, 0.41),
    sparse("pointwise 28x28x64 to 128, 80 % sparse", Conv([28, 28, 64], 1, 128), 80, 0.44),
    sparse("pointwise 28x28x64 to 128, 50 % sparse", Conv([28, 28, 64], 1, 128), 50, 0.98),
    sparse("pointwise 28x28x32 to 64, 80 % sparse", Conv([28, 28, 32], 1, 64), 80, 0.66),
    sparse("pointwise 28x28x32 to 64, 50 % sparse", Conv([28, 28, 32], 1, 64), 50, 1.10),
    sparse("conv 3x3 8x8x64 to 64, 80 % sparse", Conv([8, 8, 64], 3, 64), 80, 0.41),
    sparse("fully connected 256 to 256, 80 % sparse", Connected(256, 256), 80, 0.6),
    sparse("fully connected 1024 to 500, 80 % sparse", Connected(1024, 500), 80, 0.6),
    other("max pool 2x2 32x32x32", MaxPool([32, 32, 32], 2), Unit::Output, 6.0, 37.9),
    other("average pool 7x7x1280", AveragePool([7, 7, 1280]), Unit::Input, 1.5, 5.31),
    other("add 28x28x32", Add([28, 28, 32]), Unit::Output, 12.0, 60.8),
    other("softmax 1000", Softmax(1000), Unit::Output, 60.0, 408.0),
];

/// Layers of which it is asked from how many zeros on they are faster without them.
pub const SWEPT: &[Layer] = &[
    dense("pointwise 28x28x32 to 64", Conv([28, 28, 32], 1, 64), 0.0),
    dense("pointwise 28x28x64 to 128", Conv([28, 28, 64], 1, 128), 0.0),
    dense("pointwise 14x14x96 to 576", Conv([14, 14, 96], 1, 576), 0.0),
    dense("conv 3x3 8x8x64 to 64", Conv([8, 8, 64], 3, 64), 0.0),
    dense("fully connected 256 to 256", Connected(256, 256), 0.0),
    dense("fully connected 1024 to 500", Connected(1024, 500), 0.0),
];

impl Layer {
    /// The same with so many hundredths of zeros, stored without them where that takes fewer bytes.
    pub const fn with_zeros(self, sparsity: u8) -> Self {
        Self { packing: Packing::Sparse, sparsity, ..self }
    }

    /// A model of this layer alone: seeded weights, requantised for each channel, padded so that
    /// the output is as large as the input, divided by the stride.
    pub fn model(&self) -> Model {
        let activation = Activation::None;
        let mut model = match self.kind {
            Conv(input, size, channels) => {
                let op = Op::Conv { window: window(size, 1, true), groups: 1, activation };
                weighted(input, op, &[channels, size, size, input[2]], 0)
            }
            Depthwise(input, size, stride) => {
                let op = Op::DepthwiseConv {
                    window: window(size, stride, true),
                    multiplier: 1,
                    activation,
                };
                weighted(input, op, &[1, size, size, input[2]], 3)
            }
            Connected(inputs, outputs) => {
                let op = Op::FullyConnected { activation };
                weighted([1, 1, inputs], op, &[outputs, inputs], 0)
            }
            MaxPool(input, size) => {
                plain(input, &Op::MaxPool { window: window(size, size, false), activation })
            }
            AveragePool(input) => {
                let op = Op::AveragePool {
                    window: window(input[0], 1, false),
                    count_padding: false,
                    uncounted: [0, 0],
                    halves_up: false,
                    activation,
                };
                plain(input, &op)
            }
            Add(input) => pair(input, input, &Op::Add { activation }),
            Softmax(classes) => plain([1, 1, classes], &Op::Softmax),
        };
        if self.unit == Unit::Mac {
            let input: TensorId = model.inputs[0];
            model.tensors[input.0].quantisation = Some(Quantisation::per_tensor(SCALE, -128));
        }
        self.name.clone_into(&mut model.name);
        if self.sparsity > 0 { pruned(model, self.sparsity) } else { model }
    }

    /// How many units a model of it has.
    pub fn units(&self, model: &Model) -> u64 {
        let elements = |id: TensorId| model.tensor(id).shape.elements().unwrap_or(0) as u64;
        match self.unit {
            Unit::Mac => model.nodes.iter().map(|node| model.macs(node)).sum(),
            Unit::Output => model.outputs.iter().map(|id| elements(*id)).sum(),
            Unit::Input => model.inputs.iter().map(|id| elements(*id)).sum(),
        }
    }
}
