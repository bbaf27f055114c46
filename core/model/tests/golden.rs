//! The int8 interpreter against what TensorFlow Lite's reference kernels gave for single operators:
//! `golden/cases.txt`, recorded by `golden/record.py`, where the format is described.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeMap;

use tilewright_model::{
    Activation, DType, Data, Model, Node, Op, Padding, Quantisation, ResizeMode, Shape, Source,
    Tensor, TensorId, Unary, Window, int8,
};

const CASES: &str = include_str!("golden/cases.txt");

struct Case {
    name: String,
    keys: BTreeMap<String, String>,
    operands: Vec<(Tensor, Option<Data>)>,
    output: Tensor,
    expected: Data,
}

impl Case {
    fn number<T: std::str::FromStr>(&self, key: &str) -> T {
        let value = self.keys.get(key).unwrap_or_else(|| panic!("{} has no {key}", self.name));
        value.parse().unwrap_or_else(|_| panic!("{} has a bad {key}", self.name))
    }

    fn flag(&self, key: &str) -> bool {
        self.number::<u8>(key) == 1
    }

    fn activation(&self) -> Activation {
        match self.keys.get("activation").map_or("none", String::as_str) {
            "relu" => Activation::Relu,
            "relu6" => Activation::Relu6,
            "relu_n1_to_1" => Activation::ReluN1To1,
            _ => Activation::None,
        }
    }
}

fn bytes(hex: &str) -> Vec<u8> {
    let digit = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(digit).collect()
}

fn tensor(role: &str, line: &[&str], index: usize) -> (Tensor, Data) {
    let [shape, scales, zero, values] = line else { panic!("{line:?}") };
    let dims: Vec<usize> = match *shape {
        "scalar" => Vec::new(),
        dims => dims.split('x').map(|dim| dim.parse().unwrap()).collect(),
    };
    let values = bytes(values);
    let is_wide = values.len() == 4 * dims.iter().product::<usize>();
    let data = match is_wide {
        true => {
            let words = values.chunks_exact(4);
            Data::I32(words.map(|w| i32::from_be_bytes(w.try_into().unwrap())).collect())
        }
        false => Data::I8(values.iter().map(|byte| *byte as i8).collect()),
    };
    let quantisation = (!is_wide && *scales != "-").then(|| {
        let scale = |bits: &str| f32::from_bits(u32::from_str_radix(bits, 16).unwrap());
        let scales: Vec<f32> = scales.split(',').map(scale).collect();
        let axis = role.strip_prefix("axis").map(|axis| axis.parse().unwrap());
        Quantisation { zeros: vec![zero.parse().unwrap(); scales.len()], scales, axis }
    });
    let tensor = Tensor {
        name: format!("t{index}"),
        shape: Shape::new(dims),
        dtype: data.dtype(),
        quantisation,
        source: None,
    };
    (tensor, data)
}

fn cases() -> Vec<Case> {
    CASES.split("case ").skip(1).map(case).collect()
}

fn case(text: &str) -> Case {
    let mut lines = text.lines();
    let mut words = lines.next().unwrap().split(' ');
    let name = words.next().unwrap().to_owned();
    let keys = words.map(|word| word.split_once('=').unwrap());
    let keys = keys.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    let mut operands = Vec::new();
    for (index, line) in lines.enumerate() {
        let words: Vec<&str> = line.split(' ').collect();
        let (mut tensor, data) = tensor(words[0], &words[1..], index);
        match words[0] {
            "in" => operands.push((tensor, Some(data))),
            "out" => return Case { name, keys, operands, output: tensor, expected: data },
            _ => {
                tensor.source = Some(Source::inline(data));
                operands.push((tensor, None));
            }
        }
    }
    panic!("{name} has no result")
}

/// Padding that TensorFlow Lite calls "same".
fn same(input: [usize; 2], size: [usize; 2], stride: [usize; 2], dilation: [usize; 2]) -> Padding {
    let pad = |axis: usize| {
        let outputs = input[axis].div_ceil(stride[axis]);
        let reach = (outputs - 1) * stride[axis] + (size[axis] - 1) * dilation[axis] + 1;
        let total = reach.saturating_sub(input[axis]);
        (total / 2, total - total / 2)
    };
    let ((top, bottom), (left, right)) = (pad(0), pad(1));
    Padding { top, left, bottom, right }
}

fn window(case: &Case, weights: bool) -> Window {
    let input = case.operands[0].0.shape.hwc().unwrap();
    // A row that is pooled whole, where the recording says how long it is.
    let whole = case.keys.contains_key("columns").then(|| [1, case.number("columns")]);
    let number = |key: &str| if case.keys.contains_key(key) { case.number(key) } else { 1 };
    let size = match weights {
        true => [case.operands[1].0.shape.dims()[1], case.operands[1].0.shape.dims()[2]],
        false => whole.unwrap_or([3, 3]),
    };
    let stride = if weights { [number("stride"); 2] } else { whole.unwrap_or([2, 2]) };
    let dilation = [number("dilation"); 2];
    let padding = same([input[0], input[1]], size, stride, dilation);
    Window { size, stride, dilation, padding }
}

fn operator(case: &mut Case) -> Op {
    let activation = case.activation();
    match case.name.as_str() {
        "sigmoid" => Op::Unary(Unary::Sigmoid),
        "tanh" => Op::Unary(Unary::Tanh),
        "hard_swish" => Op::Unary(Unary::HardSwish),
        "abs" => Op::Unary(Unary::Abs),
        "exp" => Op::Unary(Unary::Exp),
        "gelu" => Op::Unary(Unary::Gelu { approximate: case.flag("approximate") }),
        "leaky_relu" => Op::Unary(Unary::LeakyRelu { alpha: case.number("alpha") }),
        "relu" => Op::Activation(Activation::Relu),
        "relu6" => Op::Activation(Activation::Relu6),
        "relu_n1_to_1" => Op::Activation(Activation::ReluN1To1),
        "requantise" => Op::Requantise,
        "add" => Op::Add { activation },
        "sub" => Op::Sub { activation },
        "mul" => Op::Mul { activation },
        "maximum" => Op::Maximum,
        "minimum" => Op::Minimum,
        "prelu" => Op::Prelu,
        "mean" => {
            let axes: String = case.number("axes");
            let axes = axes.split(',').map(|axis| axis.parse().unwrap()).collect();
            Op::Mean { axes, keep_dims: case.flag("keep") }
        }
        "arg_max" => Op::ArgMax { axis: case.number("axis"), keep_dims: false },
        "softmax" => Op::Softmax,
        "log_softmax" => Op::LogSoftmax,
        "resize_bilinear" | "resize_nearest" => Op::Resize {
            mode: match case.name.ends_with("nearest") {
                true => ResizeMode::Nearest,
                false => ResizeMode::Bilinear,
            },
            align_corners: case.flag("align"),
            half_pixel_centers: case.flag("half"),
            places: None,
        },
        "transpose_conv" => {
            case.operands.swap(0, 1);
            let size: usize = case.number("kernel");
            let stride: usize = case.number("stride");
            let output = case.output.shape.hwc().unwrap();
            let padding = match case.flag("same") {
                true => same([output[0], output[1]], [size; 2], [stride; 2], [1, 1]),
                false => Padding::default(),
            };
            let window = Window { size: [size; 2], stride: [stride; 2], dilation: [1, 1], padding };
            Op::TransposeConv { window, activation }
        }
        "conv" => {
            let groups = if case.keys.contains_key("groups") { case.number("groups") } else { 1 };
            Op::Conv { window: window(case, true), groups, activation }
        }
        "depthwise" => Op::DepthwiseConv {
            window: window(case, true),
            multiplier: case.number("multiplier"),
            activation,
        },
        "fully_connected" => Op::FullyConnected { activation },
        "average_pool" => Op::AveragePool {
            window: window(case, false),
            count_padding: false,
            uncounted: [0, 0],
            halves_up: false,
            activation: match case.keys.contains_key("columns") {
                true => Activation::None,
                false => Activation::Relu6,
            },
        },
        "max_pool" => Op::MaxPool { window: window(case, false), activation: Activation::Relu6 },
        "space_to_depth" => Op::SpaceToDepth { block: case.number("block") },
        "depth_to_space" => Op::DepthToSpace { block: case.number("block") },
        other => panic!("unknown operator {other}"),
    }
}

#[test]
fn single_operators_give_what_tensorflow_lite_gives() {
    let mut failed = Vec::new();
    let mut count = 0;
    for mut case in cases() {
        let op = operator(&mut case);
        let mut model = Model::default();
        let mut inputs = Vec::new();
        for (operand, data) in &case.operands {
            let id = model.add_tensor(operand.clone());
            if let Some(data) = data {
                model.inputs.push(id);
                inputs.push(data.clone());
            }
        }
        let operands = (0..case.operands.len()).map(TensorId).collect();
        let result = model.add_tensor(case.output.clone());
        model.outputs.push(result);
        model.nodes.push(Node {
            name: case.name.clone(),
            op,
            inputs: operands,
            outputs: vec![result],
        });
        let found = match int8::run(&model, &inputs, &mut |_, _| {}) {
            Ok(mut found) => found.remove(0),
            Err(error) => panic!("{} {:?}: {error}", case.name, case.keys),
        };
        count += 1;
        if found != case.expected {
            failed.push(difference(&case, &found));
        }
    }
    assert!(failed.is_empty(), "{} of {count} differ:\n{}", failed.len(), failed.join("\n"));
    assert!(count > 100, "{count} cases");
}

fn difference(case: &Case, found: &Data) -> String {
    let wide = |data: &Data| -> Vec<i32> {
        match data.dtype() {
            DType::I8 => data.as_i8().unwrap().iter().map(|v| i32::from(*v)).collect(),
            _ => data.as_i32().unwrap().to_vec(),
        }
    };
    let (found, expected) = (wide(found), wide(&case.expected));
    let pairs = found.iter().zip(&expected).enumerate().filter(|(_, (a, b))| a != b);
    let first: Vec<_> = pairs.clone().take(4).collect();
    format!(
        "{} {:?}: {} of {}, such as {first:?}",
        case.name,
        case.keys,
        pairs.count(),
        found.len()
    )
}
