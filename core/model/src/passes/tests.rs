use super::*;
use crate::fixtures::{Build, noise};
use crate::op::{Activation, Padding, Unary};
use crate::{Data, Op, TensorId, Window, float};

/// Optimises, and holds the result against the original on noise.
fn optimised(build: &Build) -> (Model, Vec<PassRecord>) {
    let (model, records) = optimise(build.model.clone()).unwrap();
    let count = build.model.tensor(build.model.inputs[0]).shape.elements().unwrap();
    let input = [Data::F32(noise(count, 7).iter().map(|v| v * 4.0).collect())];
    let before = float::run(&build.model, &input, &mut |_, _| {}).unwrap();
    let after = float::run(&model, &input, &mut |_, _| {}).unwrap();
    let pairs = before[0].as_f32().unwrap().iter().zip(after[0].as_f32().unwrap());
    for (before, after) in pairs {
        assert!((before - after).abs() <= 1e-4 * (1.0 + before.abs()), "{before} became {after}");
    }
    assert_eq!(before[0].len(), after[0].len());
    (model, records)
}

fn names(model: &Model) -> Vec<&str> {
    model.nodes.iter().map(|node| node.op.name()).collect()
}

fn batch_norm(build: &mut Build, channels: usize) {
    let mut others = Vec::new();
    for (seed, offset) in [(1, 2.0), (2, 0.0), (3, 0.0), (4, 1.5)] {
        let values = noise(channels, seed).iter().map(|v| v + offset).collect();
        others.push(build.constant(&[channels], values));
    }
    build.node(Op::BatchNorm { epsilon: 1e-3 }, others);
}

#[test]
fn a_convolution_takes_in_pad_batch_norm_bias_and_activation() {
    let mut build = Build::new(&[1, 4, 4, 2]);
    build.node(Op::Pad { amounts: vec![(0, 0), (1, 0), (2, 1), (0, 0)], filler: 0.0 }, vec![]);
    build.conv(Window::dense([2, 2]), &[3, 2, 2, 2], noise(24, 9), Some(noise(3, 5)), 1);
    batch_norm(&mut build, 3);
    let shape = build.model.tensor(build.last).shape.clone();
    let rows = shape.elements().unwrap() / 3;
    let offset = build.constant(shape.dims(), [0.25, -0.5, 1.0].repeat(rows));
    build.node(Op::Add { activation: Activation::None }, vec![offset]);
    build.node(Op::Activation(Activation::Relu), vec![]);
    build.node(Op::Activation(Activation::Relu6), vec![]);
    build.finish();
    let name = build.model.tensor(build.last).name.clone();
    let (model, records) = optimised(&build);
    let Op::Conv { window, activation, .. } = &model.nodes[0].op else { panic!("{model:?}") };
    assert_eq!(model.nodes.len(), 1);
    assert_eq!(*activation, Activation::Relu6);
    assert_eq!(window.padding, Padding { top: 1, left: 2, bottom: 0, right: 1 });
    assert_eq!(model.tensors.len(), 4, "input, weights, bias, output");
    assert_eq!(model.tensor(model.outputs[0]).name, name, "outputs keep their names");
    let passes: Vec<_> = records.iter().map(|record| record.pass).collect();
    let expected =
        ["fold batch norm", "fold affine", "fuse activation", "fuse pad", "remove dead nodes"];
    assert_eq!(passes, expected);
}

#[test]
fn batch_norm_folds_into_depthwise_with_a_multiplier() {
    let mut build = Build::new(&[1, 3, 3, 2]);
    build.depthwise(Window::dense([3, 3]), 2, noise(36, 1), None);
    batch_norm(&mut build, 4);
    build.finish();
    assert_eq!(names(&optimised(&build).0), ["DepthwiseConv2D"]);
}

#[test]
fn batch_norm_without_weights_around_becomes_depthwise() {
    let mut build = Build::new(&[1, 3, 3, 4]);
    batch_norm(&mut build, 4);
    build.node(Op::Activation(Activation::Relu), vec![]);
    build.finish();
    assert_eq!(names(&optimised(&build).0), ["DepthwiseConv2D"]);

    let mut build = Build::new(&[2, 4]);
    batch_norm(&mut build, 4);
    build.node(Op::Softmax, vec![]);
    build.finish();
    let (model, _) = optimised(&build);
    assert_eq!(names(&model), ["Reshape", "DepthwiseConv2D", "Reshape", "Softmax"]);
}

#[test]
fn batch_norm_folds_forward_into_a_dense_layer() {
    let mut build = Build::new(&[2, 4]);
    batch_norm(&mut build, 4);
    build.dense(3, noise(12, 3), None);
    build.finish();
    assert_eq!(names(&optimised(&build).0), ["FullyConnected"]);
}

#[test]
fn results_that_others_read_are_left_alone() {
    let mut build = Build::new(&[1, 2, 2, 2]);
    let conv = build.conv(Window::dense([1, 1]), &[2, 1, 1, 2], noise(4, 2), None, 1);
    build.node(Op::Activation(Activation::Relu), vec![]);
    build.node(Op::Add { activation: Activation::None }, vec![conv]);
    build.finish();
    assert_eq!(names(&optimised(&build).0), ["Conv2D", "ReLU", "Add"]);
}

#[test]
fn a_pad_before_a_pool_stays() {
    let mut build = Build::new(&[1, 2, 2, 1]);
    build.node(Op::Pad { amounts: vec![(0, 0), (1, 1), (1, 1), (0, 0)], filler: 0.0 }, vec![]);
    let window = Window::dense([2, 2]);
    build.node(Op::MaxPool { window, activation: Activation::None }, vec![]);
    build.finish();
    assert_eq!(names(&optimised(&build).0), ["Pad", "MaxPool2D"]);
}

#[test]
fn transposes_cancel_shrink_to_reshapes_or_go_into_weights() {
    let permutation = vec![0, 3, 1, 2];
    let mut build = Build::new(&[1, 2, 3, 4]);
    build.node(Op::Transpose { permutation: permutation.clone() }, vec![]);
    build.node(Op::Transpose { permutation: vec![0, 2, 3, 1] }, vec![]);
    build.node(Op::Activation(Activation::Relu), vec![]);
    build.finish();
    assert_eq!(names(&optimised(&build).0), ["ReLU"]);

    let mut build = Build::new(&[1, 1, 1, 4]);
    build.node(Op::Transpose { permutation: permutation.clone() }, vec![]);
    build.node(Op::Softmax, vec![]);
    build.finish();
    let (model, _) = optimise(build.model.clone()).unwrap();
    assert_eq!(names(&model), ["Reshape", "Softmax"]);

    let mut build = Build::new(&[2, 2, 3, 4]);
    build.node(Op::Transpose { permutation }, vec![]);
    build.reshape(&[2, 24]);
    build.dense(3, noise(72, 3), Some(noise(3, 4)));
    build.finish();
    assert_eq!(names(&optimised(&build).0), ["Reshape", "FullyConnected"]);
}

#[test]
fn activation_moves_up_past_a_reshape() {
    let mut build = Build::new(&[1, 2, 2, 1]);
    build.conv(Window::dense([1, 1]), &[2, 1, 1, 1], noise(2, 2), None, 1);
    build.reshape(&[1, 8]);
    build.node(Op::Activation(Activation::Relu), vec![]);
    build.finish();
    let (model, _) = optimised(&build);
    assert_eq!(names(&model), ["Conv2D", "Reshape"]);
    assert_eq!(model.nodes[0].op.activation(), Some(Activation::Relu));
}

#[test]
fn constants_identities_and_dead_nodes_go() {
    let mut build = Build::new(&[2, 2]);
    let input = build.last;
    let left = build.constant(&[2, 2], vec![1., 2., 3., 4.]);
    let right = build.constant(&[2, 2], vec![10., 20., 30., 40.]);
    let sum = build.node_of(Op::Add { activation: Activation::None }, vec![left, right]);
    build.node_of(Op::Softmax, vec![input]);
    build.node_of(Op::Add { activation: Activation::None }, vec![input, sum]);
    build.reshape(&[4]);
    build.reshape(&[2, 2]);
    build.node(Op::Transpose { permutation: vec![0, 1] }, vec![]);
    build.finish();
    let (model, _) = optimised(&build);
    assert_eq!(names(&model), ["Add"]);
    assert_eq!(model.tensors.len(), 3);
}

#[test]
fn an_identity_between_input_and_output_stays() {
    let mut build = Build::new(&[2, 2]);
    build.node(Op::Activation(Activation::None), vec![]);
    build.finish();
    assert_eq!(names(&optimised(&build).0), ["Identity"]);
}

#[test]
fn arithmetic_with_constants_goes_into_weights_or_becomes_products() {
    let none = Activation::None;
    let mut build = Build::new(&[1, 3, 3, 2]);
    let range = build.constant(&[1], vec![255.0]);
    build.node(Op::Div { activation: none }, vec![range]);
    build.conv(Window::dense([2, 2]), &[3, 2, 2, 2], noise(24, 9), Some(noise(3, 5)), 1);
    let factors = build.constant(&[3], vec![2.0, -0.5, 1.5]);
    build.node(Op::Mul { activation: none }, vec![factors]);
    let offset = build.constant(&[1], vec![0.25]);
    build.node(Op::Sub { activation: none }, vec![offset]);
    let divisors = build.constant(&[1, 1, 1, 3], vec![2.0, 4.0, 8.0]);
    build.node(Op::Div { activation: Activation::Relu }, vec![divisors]);
    build.finish();
    let (model, _) = optimised(&build);
    assert_eq!(names(&model), ["Mul", "Conv2D"]);
    assert_eq!(model.nodes[1].op.activation(), Some(Activation::Relu));
}

#[test]
fn transposes_meet_behind_what_lies_between_them() {
    let mut build = Build::new(&[1, 2, 3, 4]);
    let first = build.node(Op::Transpose { permutation: vec![0, 3, 1, 2] }, vec![]);
    build.node(Op::Unary(crate::Unary::Abs), vec![]);
    build.node(Op::Pad { amounts: vec![(0, 0), (1, 0), (0, 2), (0, 0)], filler: 0.0 }, vec![]);
    let input = build.model.inputs[0];
    let other = build.node_of(Op::Transpose { permutation: vec![0, 3, 1, 2] }, vec![input]);
    build.node(Op::Pad { amounts: vec![(0, 0), (1, 0), (0, 2), (0, 0)], filler: 0.0 }, vec![]);
    let [left, right] = [build.model.nodes[2].outputs[0], build.last];
    build.node_of(Op::Add { activation: Activation::None }, vec![left, right]);
    build.node(Op::Transpose { permutation: vec![0, 2, 3, 1] }, vec![]);
    build.finish();
    assert_ne!(first, other);
    assert!(!names(&optimised(&build).0).contains(&"Transpose"));
}

#[test]
fn only_what_makes_no_difference_becomes_padding() {
    let pads = |filler: f32, window: Window, pools: bool| {
        let mut build = Build::new(&[1, 5, 4, 2]);
        build.node(Op::Pad { amounts: vec![(0, 0), (1, 1), (2, 0), (0, 0)], filler }, vec![]);
        if pools {
            build.node(Op::MaxPool { window, activation: Activation::None }, vec![]);
        } else {
            build.conv(window, &[3, 3, 3, 2], noise(54, 9), None, 1);
        }
        build.finish();
        names(&optimised(&build).0).contains(&"Pad")
    };
    let three = Window { stride: [2, 2], ..Window::dense([3, 3]) };
    assert!(!pads(f32::NEG_INFINITY, three, true));
    assert!(!pads(f32::MIN, three, true));
    assert!(pads(-9.0, three, true) && pads(0.0, three, true));
    assert!(!pads(0.0, three, false) && pads(0.5, three, false));
    // Windows that would see nothing but padding, and such with holes.
    assert!(pads(f32::MIN, Window::dense([3, 2]), true));
    assert!(pads(f32::MIN, Window { dilation: [1, 2], ..three }, true));
}

#[test]
fn a_faulty_model_is_named_so() {
    let mut build = Build::new(&[2, 2]);
    build.node(Op::Softmax, vec![]);
    build.finish();
    build.model.tensors[build.last.0].shape = crate::Shape::new([4, 1]);
    let error = optimise(build.model).unwrap_err();
    assert_eq!(error.pass, "import");
    assert!(error.to_string().contains("its result is 4×1 but should be 2×2"), "{error}");
}

#[test]
fn rising_functions_come_to_stand_behind_max_pools() {
    let window = Window { stride: [2, 2], ..Window::dense([3, 3]) };
    let pool = Op::MaxPool { window, activation: Activation::None };
    let of = |unary: Unary| {
        let mut build = Build::new(&[1, 7, 7, 2]);
        build.conv(Window::dense([1, 1]), &[3, 1, 1, 2], noise(6, 9), Some(noise(3, 5)), 1);
        build.node(Op::Unary(unary), vec![]);
        build.node(pool.clone(), vec![]);
        build.finish();
        optimised(&build).0
    };
    let tanh = of(Unary::Tanh);
    assert_eq!(names(&tanh), ["Conv2D", "MaxPool2D", "Tanh"]);
    assert_eq!(tanh.nodes[1].inputs, tanh.nodes[0].outputs);
    // A falling function, and one that falls in part, stay where they are.
    for unary in [Unary::LeakyRelu { alpha: -0.5 }, Unary::HardSwish, Unary::Abs] {
        assert_eq!(names(&of(unary))[2], "MaxPool2D", "{unary:?}");
    }
}

/// A batch normalisation that is one factor and one summand.
fn uniform(build: &mut Build, input: TensorId, factor: f32, summand: f32) -> TensorId {
    let mut inputs = vec![input];
    for value in [factor, summand, 0.0, 1.0] {
        inputs.push(build.constant(&[3], vec![value; 3]));
    }
    build.node_of(Op::BatchNorm { epsilon: 0.0 }, inputs)
}

#[test]
fn gates_that_are_written_out_become_one_operator() {
    let product = Op::Mul { activation: Activation::None };
    // The product before or behind the division, or none; a sigmoid.
    for (way, expected) in
        [("last", "HardSwish"), ("first", "HardSwish"), ("none", "HardSigmoid"), ("silu", "SiLU")]
    {
        let mut build = Build::new(&[1, 2, 2, 3]);
        let x = build.node(Op::Unary(Unary::Tanh), vec![]);
        if way == "silu" {
            let gate = build.node(Op::Unary(Unary::Sigmoid), vec![]);
            build.node_of(product.clone(), vec![gate, x]);
        } else {
            let sum = uniform(&mut build, x, 1.0, 3.0);
            let mut value = build.node_of(Op::Activation(Activation::Relu6), vec![sum]);
            if way == "first" {
                value = build.node_of(product.clone(), vec![x, value]);
            }
            value = uniform(&mut build, value, 1.0 / 6.0, 0.0);
            if way == "last" {
                build.node_of(product.clone(), vec![value, x]);
            }
        }
        build.finish();
        assert_eq!(names(&optimised(&build).0), ["Tanh", expected], "{way}");
    }
}

#[test]
fn a_gate_that_others_read_or_that_has_a_scale_of_its_own_stays() {
    let product = Op::Mul { activation: Activation::None };
    for shared in [false, true] {
        let mut build = Build::new(&[1, 2, 2, 3]);
        let x = build.node(Op::Unary(Unary::Tanh), vec![]);
        let gate = build.node(Op::Unary(Unary::Sigmoid), vec![]);
        build.node_of(product.clone(), vec![x, gate]);
        if shared {
            build.node(Op::Add { activation: Activation::None }, vec![gate]);
        } else {
            let scale = crate::Quantisation::per_tensor(1.0 / 256.0, -128);
            build.model.tensors[gate.0].quantisation = Some(scale);
        }
        build.finish();
        assert_eq!(names(&optimised(&build).0)[..3], ["Tanh", "Sigmoid", "Mul"]);
    }
}

#[test]
fn batch_norm_goes_through_a_reshape_into_the_weights_before_it() {
    let mut build = Build::new(&[4, 5]);
    build.dense(6, noise(30, 4), None);
    build.reshape(&[1, 2, 2, 6]);
    batch_norm(&mut build, 6);
    build.finish();
    assert_eq!(names(&optimised(&build).0), ["FullyConnected", "Reshape"]);
}
