//! Single layers that the format says in another way.

use tilewright_model::{
    Activation, Model, Op, Padding, Places, Quantisation, ResizeMode, Unary, Window,
};
use tilewright_tflite_schema as fb;

use super::{Build, assert_same};
use crate::Limits;
use crate::tflite::verified_file::{code, verified};
use crate::{export_tflite, open};

use fb::BuiltinOperator as Code;

/// The operators of the file of a model, which stays as it is.
fn operators(model: &Model) -> Vec<Code> {
    assert_same(model);
    let bytes = export_tflite(model).unwrap();
    let file = verified(&bytes, &Limits::default()).unwrap();
    let graph = file.subgraphs().unwrap().get(0);
    let operators = graph.operators().unwrap();
    operators.iter().map(|operator| code(&file, &operator, 0).unwrap().0).collect()
}

fn window(size: usize, stride: usize, [top, left, bottom, right]: [usize; 4]) -> Window {
    let padding = Padding { top, left, bottom, right };
    Window { size: [size; 2], stride: [stride; 2], dilation: [1, 1], padding }
}

/// A layer over an image of 7×8, with a result of the same quantisation where `keeps`.
fn layer(window: Window, keeps: bool, op: impl Fn(Window) -> Op) -> Model {
    let mut build = Build::default();
    let x = build.input(&[1, 7, 8, 3], 0.043, -12);
    let [rows, columns] = window.output([7, 8]).unwrap();
    let op = op(window);
    let inputs = match op {
        Op::Conv { .. } => {
            let weights = build.weights(&[3, window.size[0], window.size[1], 3], Some(0), 0);
            vec![x, weights, build.bias(3)]
        }
        _ => vec![x],
    };
    let (scale, zero) = if keeps { (0.043, -12) } else { (0.11, 9) };
    let y = build.tensor(&[1, rows, columns, 3], scale, zero);
    build.node(op, &inputs, y);
    build.done(y)
}

#[test]
fn padding_that_no_scheme_says_goes_in_front() {
    let conv = |window| Op::Conv { window, groups: 1, activation: Activation::Relu };
    let of = |pads, stride| operators(&layer(window(3, stride, pads), false, conv));
    assert_eq!(of([0, 0, 0, 0], 1), [Code::CONV_2D]);
    assert_eq!(of([1, 1, 1, 1], 1), [Code::CONV_2D]);
    // Seven rows in steps of two: SAME pads both sides, and of eight columns the end alone.
    assert_eq!(of([1, 0, 1, 1], 2), [Code::CONV_2D]);
    assert_eq!(of([1, 1, 1, 1], 2), [Code::PAD, Code::CONV_2D]);
    assert_eq!(of([2, 0, 0, 1], 1), [Code::PAD, Code::CONV_2D]);
    let largest = |window| Op::MaxPool { window, activation: Activation::None };
    let model = layer(window(3, 2, [1, 1, 1, 1]), true, largest);
    assert_eq!(operators(&model), [Code::PADV2, Code::MAX_POOL_2D]);
}

#[test]
fn means_count_the_padding_that_they_counted() {
    let mean = |count_padding, uncounted| {
        move |window| Op::AveragePool {
            window,
            count_padding,
            uncounted,
            halves_up: false,
            activation: Activation::None,
        }
    };
    let pooled = [Code::AVERAGE_POOL_2D];
    let same = layer(window(3, 1, [1, 1, 1, 1]), true, mean(false, [0, 0]));
    assert_eq!(operators(&same), pooled);
    let counted = layer(window(3, 2, [1, 1, 1, 1]), true, mean(true, [0, 0]));
    assert_eq!(operators(&counted), [Code::PAD, Code::AVERAGE_POOL_2D]);
    let at_the_top = layer(window(3, 1, [1, 1, 0, 0]), true, mean(false, [0, 0]));
    assert_eq!(operators(&at_the_top), [Code::AVERAGE_POOL_2D, Code::SLICE]);
    let strided = layer(window(3, 2, [1, 1, 1, 1]), true, mean(false, [0, 0]));
    assert_eq!(operators(&strided), [Code::AVERAGE_POOL_2D, Code::STRIDED_SLICE]);
    // Means of TensorFlow Lite's uint8 round halves up.
    let up = |window| Op::AveragePool {
        window,
        count_padding: false,
        uncounted: [0, 0],
        halves_up: true,
        activation: Activation::None,
    };
    let model = layer(window(2, 2, [0, 0, 0, 0]), true, up);
    let again = assert_same(&model);
    assert!(!again.file_types.inputs.is_empty(), "the file is of uint8");
}

#[test]
fn transposed_windows_are_cut_where_no_scheme_is_so() {
    for (padding, size, expected) in [
        ([0, 0], [15, 17], vec![Code::TRANSPOSE_CONV, Code::RELU]),
        ([1, 1], [13, 15], vec![Code::TRANSPOSE_CONV, Code::RELU]),
        ([2, 0], [13, 17], vec![Code::TRANSPOSE_CONV, Code::SLICE, Code::RELU]),
        ([0, 0], [13, 15], vec![Code::TRANSPOSE_CONV, Code::SLICE, Code::RELU]),
    ] {
        let mut build = Build::default();
        let x = build.input(&[1, 7, 8, 3], 0.043, -12);
        let weights = build.weights(&[4, 3, 3, 3], Some(0), 0);
        let bias = build.bias(4);
        let y = build.tensor(&[1, size[0], size[1], 4], 0.09, 5);
        let window = window(3, 2, [padding[0], padding[1], 0, 0]);
        let op = Op::TransposeConv { window, activation: Activation::Relu };
        build.node(op, &[x, weights, bias], y);
        assert_eq!(operators(&build.done(y)), expected);
    }
}

#[test]
fn a_single_output_with_its_own_scale_is_a_convolution() {
    let mut build = Build::default();
    let x = build.input(&[2, 19], 0.0371, 4);
    let weights = build.weights(&[1, 19], Some(0), 0);
    let bias = build.bias(1);
    let y = build.tensor(&[2, 1], 0.0123, -7);
    build.node(Op::FullyConnected { activation: Activation::None }, &[x, weights, bias], y);
    assert_eq!(operators(&build.done(y)), [Code::RESHAPE, Code::CONV_2D, Code::RESHAPE]);
}

#[test]
fn weights_with_a_zero_point_make_a_file_of_uint8() {
    let conv = |window| Op::Conv { window, groups: 1, activation: Activation::None };
    let mut model = layer(window(3, 1, [1, 1, 1, 1]), false, conv);
    model.short_products = true;
    let weights = model.nodes[0].inputs[1];
    model.tensors[weights.0].quantisation = Some(Quantisation::per_tensor(0.0041, 17));
    let again = assert_same(&model);
    assert!(again.short_products);
    assert_eq!(again.file_types.inputs.len(), 1);
}

/// A function of values from one quantisation to another.
fn function(op: Op, from: (f32, i32), to: (f32, i32)) -> Model {
    let mut build = Build::default();
    let x = build.input(&[1, 256], from.0, from.1);
    let y = build.tensor(&[1, 256], to.0, to.1);
    build.node(op, &[x], y);
    build.done(y)
}

#[test]
fn functions_become_operators_with_the_same_values() {
    let plain = (0.05, 3);
    let of = |op, to| operators(&function(op, plain, to));
    let clip = Op::Unary(Unary::Clip { low: -1.5, high: 2.0 });
    assert_eq!(of(clip.clone(), plain), [Code::MAXIMUM, Code::MINIMUM]);
    let low = Op::Unary(Unary::Clip { low: -1.5, high: f32::INFINITY });
    assert_eq!(of(low, plain), [Code::MAXIMUM]);
    assert_eq!(of(clip, (0.0731, -5)), [Code::QUANTIZE, Code::MAXIMUM, Code::MINIMUM]);
    assert_eq!(of(Op::Activation(Activation::None), plain), [Code::RESHAPE]);
    assert_eq!(of(Op::Requantise, (0.07, 0)), [Code::QUANTIZE]);
    assert_eq!(of(Op::Unary(Unary::Sigmoid), (1.0 / 256.0, -128)), [Code::LOGISTIC]);
    // TensorFlow Lite has sigmoids of one quantisation alone.
    let other = of(Op::Unary(Unary::Sigmoid), (1.0 / 256.0, 0));
    assert_eq!(other, [Code::LOGISTIC, Code::QUANTIZE]);
}

#[test]
fn operands_of_a_concatenation_are_rescaled_before() {
    let mut build = Build::default();
    let a = build.input(&[1, 4, 4, 3], 0.05, 3);
    let b = build.input(&[1, 4, 4, 5], 0.031, -7);
    let y = build.tensor(&[1, 4, 4, 8], 0.05, 3);
    build.node(Op::Concat { axis: 3 }, &[a, b], y);
    let model = build.done(y);
    let found = operators(&model);
    assert_eq!(found.last(), Some(&Code::CONCATENATION));
    assert_eq!(found.len(), 2);
}

#[test]
fn rows_at_places_of_their_own_lie_among_those_of_a_grid() {
    for mode in [ResizeMode::Nearest, ResizeMode::Bilinear] {
        let mut build = Build::default();
        let x = build.input(&[1, 6, 5, 2], 0.05, 3);
        let y = build.tensor(&[1, 8, 7, 2], 0.05, 3);
        let places = [Places { first: 0.75, step: 0.5 }, Places { first: -0.25, step: 0.5 }];
        let (align_corners, half_pixel_centers) = (false, false);
        let places = Some(places);
        build.node(Op::Resize { mode, align_corners, half_pixel_centers, places }, &[x], y);
        let found = operators(&build.done(y));
        assert_eq!(found.last(), Some(&Code::SLICE), "{mode:?}");
    }
}

#[test]
fn slices_go_backwards_to_the_first_element() {
    let mut build = Build::default();
    let x = build.input(&[1, 9], 0.05, 3);
    let y = build.tensor(&[1, 4], 0.05, 3);
    let (begin, size, stride) = (vec![0, 7], vec![1, 4], vec![1, -2]);
    build.node(Op::Slice { begin, size, stride }, &[x], y);
    let z = build.tensor(&[1, 4], 0.05, 3);
    let (begin, size, stride) = (vec![0, 3], vec![1, 4], vec![1, -1]);
    build.node(Op::Slice { begin, size, stride }, &[y], z);
    assert_eq!(operators(&build.done(z)), [Code::STRIDED_SLICE, Code::STRIDED_SLICE]);
}

#[test]
fn a_mean_over_no_dimensions_changes_the_quantisation() {
    let mut build = Build::default();
    let x = build.input(&[1, 9], 0.05, 3);
    let y = build.tensor(&[1, 9], 0.021, -8);
    build.node(Op::Mean { axes: Vec::new(), keep_dims: true }, &[x], y);
    assert_eq!(operators(&build.done(y)), [Code::QUANTIZE]);
}

#[test]
fn values_begin_where_the_format_wants_them() {
    let conv = |window| Op::Conv { window, groups: 1, activation: Activation::Relu };
    let model = layer(window(3, 2, [1, 1, 1, 1]), false, conv);
    let bytes = export_tflite(&model).unwrap();
    let file = verified(&bytes, &Limits::default()).unwrap();
    let begin = bytes.as_ptr() as usize;
    let mut seen = 0;
    for data in file.buffers().unwrap().iter().filter_map(|buffer| buffer.data()) {
        assert_eq!((data.bytes().as_ptr() as usize - begin) % 16, 0);
        seen += 1;
    }
    // Weights, bias and what the pad adds.
    assert_eq!(seen, 3);
    assert!(open("x", &bytes, &Limits::default(), &[]).is_ok());
}
