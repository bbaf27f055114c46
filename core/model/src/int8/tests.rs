//! The interpreter against loops over single elements, written from the definitions.

use proptest::prelude::*;

use super::*;
use crate::fixtures::noise;
use crate::op::{Activation, Padding};
use crate::{Data, Source};

fn integers(count: usize, seed: u32) -> Vec<i8> {
    noise(count, seed).iter().map(|value| (value * 127.9) as i8).collect()
}

fn tensor(name: &str, dims: &[usize], scale: f32, zero: i32) -> Tensor {
    Tensor {
        name: name.to_owned(),
        shape: Shape::new(dims),
        dtype: DType::I8,
        quantisation: Some(Quantisation::per_tensor(scale, zero)),
        source: None,
    }
}

/// A model of one node; the first tensor is the input, the last the output.
fn single(op: Op, mut operands: Vec<Tensor>, output: (f32, i32)) -> Model {
    let mut model = Model { name: "test".to_owned(), ..Model::default() };
    operands.push(tensor("output", &[], output.0, output.1));
    for operand in operands {
        let id = model.add_tensor(operand);
        if !model.tensor(id).is_constant() {
            model.inputs.push(id);
        }
    }
    let result = model.inputs.pop().unwrap();
    let inputs = (0..result.0).map(TensorId).collect();
    model.nodes.push(Node { name: "node".to_owned(), op, inputs, outputs: vec![result] });
    model.outputs.push(result);
    let shape = crate::infer::result_shape(&model, &model.nodes[0]).unwrap();
    model.tensors[result.0].shape = shape;
    model
}

fn result(model: &Model, inputs: &[Vec<i8>]) -> Vec<i8> {
    let inputs: Vec<Data> = inputs.iter().map(|values| Data::I8(values.clone())).collect();
    run(model, &inputs, &mut |_, _| {}).unwrap()[0].as_i8().unwrap().to_vec()
}

fn window() -> impl Strategy<Value = Window> {
    let pair = |low, high| prop::array::uniform2(low..=high);
    (pair(1usize, 3usize), pair(1, 3), pair(1, 2), prop::array::uniform4(0usize..=1)).prop_map(
        |(size, stride, dilation, [top, left, bottom, right])| Window {
            size,
            stride,
            dilation,
            padding: Padding { top, left, bottom, right },
        },
    )
}

/// Value at a row, column and channel; nothing in the padding.
fn at(values: &[i8], image: [usize; 3], y: isize, x: isize, c: usize) -> Option<i32> {
    let [height, width, channels] = image;
    let inside = (0..height as isize).contains(&y) && (0..width as isize).contains(&x);
    inside.then(|| i32::from(values[(y as usize * width + x as usize) * channels + c]))
}

fn source(window: &Window, oy: usize, ox: usize, ky: usize, kx: usize) -> (isize, isize) {
    let place = |o: usize, k: usize, axis: usize, before: usize| {
        (o * window.stride[axis] + k * window.dilation[axis]) as isize - before as isize
    };
    (place(oy, ky, 0, window.padding.top), place(ox, kx, 1, window.padding.left))
}

/// Weights and bias with a scale for each channel.
fn weighted(dims: &[usize], axis: usize, seed: u32) -> [Tensor; 2] {
    let channels = dims[axis];
    let mut weights = tensor("weights", dims, 1.0, 0);
    weights.quantisation = Some(Quantisation {
        scales: (0..channels).map(|c| 0.01 + 0.003 * c as f32).collect(),
        zeros: vec![0; channels],
        axis: Some(axis),
    });
    weights.source = Some(Source::inline(Data::I8(integers(dims.iter().product(), seed))));
    let bias = noise(channels, seed + 1).iter().map(|v| (v * 3000.0) as i32).collect();
    let bias = Tensor {
        name: "bias".to_owned(),
        shape: Shape::new([channels]),
        dtype: DType::I32,
        quantisation: None,
        source: Some(Source::inline(Data::I32(bias))),
    };
    [weights, bias]
}

/// What a sum becomes, in 64 bits and one expression for each rounding.
fn rescaled(model: &Model, channel: usize, sum: i64) -> i8 {
    let node = &model.nodes[0];
    let params = integer::channels(model, node).unwrap()[channel];
    let sum = sum + i64::from(params.bias);
    let product = (sum << params.shift.max(0)) * i64::from(params.multiplier);
    let high = (product + (1 << 30)).div_euclid(1 << 31);
    let right = (-params.shift).max(0) as u32;
    let half = if right == 0 { 0 } else { 1i64 << (right - 1) };
    // Ties away from zero.
    let rounded = (high.abs() + half) >> right;
    let zero = i64::from(model.tensors.last().unwrap().quantisation.as_ref().unwrap().zero());
    let (low, top) = integer::clamp(model, node).unwrap();
    (rounded * high.signum() + zero).clamp(i64::from(low), i64::from(top)) as i8
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn convolution(
        window in window(),
        groups in 1usize..=2,
        inputs in 1usize..=5,
        outputs in 1usize..=3,
        zero in -128i32..=127,
        seed in 0u32..1000,
    ) {
        let image = [6, 7, inputs * groups];
        let [kh, kw] = window.size;
        let activation = [Activation::None, Activation::Relu, Activation::Relu6][seed as usize % 3];
        let op = Op::Conv { window, groups, activation };
        let [weights, bias] = weighted(&[outputs * groups, kh, kw, inputs], 0, seed);
        let taps = weights.source.as_ref().unwrap().data().unwrap().as_i8().unwrap().to_vec();
        let input = tensor("input", &[1, 6, 7, inputs * groups], 0.05, zero);
        let model = single(op, vec![input, weights, bias], (0.04, -20));
        let values = integers(image.iter().product(), seed + 5);
        let mut expected = Vec::new();
        let [oh, ow] = window.output([6, 7]).unwrap();
        for (oy, ox) in (0..oh).flat_map(|y| (0..ow).map(move |x| (y, x))) {
            for o in 0..outputs * groups {
                let mut sum = 0i64;
                for (ky, kx) in (0..kh).flat_map(|y| (0..kw).map(move |x| (y, x))) {
                    let (y, x) = source(&window, oy, ox, ky, kx);
                    for i in 0..inputs {
                        let channel = o / outputs * inputs + i;
                        let Some(value) = at(&values, image, y, x, channel) else { continue };
                        let tap = taps[((o * kh + ky) * kw + kx) * inputs + i];
                        sum += i64::from(value - zero) * i64::from(tap);
                    }
                }
                expected.push(rescaled(&model, o, sum));
            }
        }
        prop_assert_eq!(result(&model, &[values]), expected);
    }

    #[test]
    fn depthwise(
        window in window(),
        channels in 1usize..=9,
        multiplier in 1usize..=3,
        zero in -128i32..=127,
        seed in 0u32..1000,
    ) {
        let image = [6, 7, channels];
        let [kh, kw] = window.size;
        let op = Op::DepthwiseConv { window, multiplier, activation: Activation::Relu };
        let [weights, bias] = weighted(&[1, kh, kw, channels * multiplier], 3, seed);
        let taps = weights.source.as_ref().unwrap().data().unwrap().as_i8().unwrap().to_vec();
        let input = tensor("input", &[1, 6, 7, channels], 0.05, zero);
        let model = single(op, vec![input, weights, bias], (0.02, -100));
        let values = integers(image.iter().product(), seed + 5);
        let mut expected = Vec::new();
        let [oh, ow] = window.output([6, 7]).unwrap();
        for (oy, ox) in (0..oh).flat_map(|y| (0..ow).map(move |x| (y, x))) {
            for (c, m) in (0..channels).flat_map(|c| (0..multiplier).map(move |m| (c, m))) {
                let o = c * multiplier + m;
                let mut sum = 0i64;
                for (ky, kx) in (0..kh).flat_map(|y| (0..kw).map(move |x| (y, x))) {
                    let (y, x) = source(&window, oy, ox, ky, kx);
                    if let Some(value) = at(&values, image, y, x, c) {
                        let tap = taps[(ky * kw + kx) * channels * multiplier + o];
                        sum += i64::from(value - zero) * i64::from(tap);
                    }
                }
                expected.push(rescaled(&model, o, sum));
            }
        }
        prop_assert_eq!(result(&model, &[values]), expected);
    }

    #[test]
    fn pools(window in window(), zero in -128i32..=127, seed in 0u32..1000) {
        let image = [6, 7, 3];
        let values = integers(126, seed);
        let activation = Activation::None;
        let quantised = (0.05, zero);
        let [oh, ow] = window.output([6, 7]).unwrap();
        let reach = |axis: usize| (window.size[axis] - 1) * window.dilation[axis] + 1;
        let padding = window.padding;
        prop_assume!(padding.top.max(padding.bottom) < reach(0));
        prop_assume!(padding.left.max(padding.right) < reach(1));
        let (mut largest, mut means, mut padded) = (Vec::new(), Vec::new(), Vec::new());
        for (oy, ox) in (0..oh).flat_map(|y| (0..ow).map(move |x| (y, x))) {
            for c in 0..3 {
                let taps = (0..window.size[0])
                    .flat_map(|ky| (0..window.size[1]).map(move |kx| (ky, kx)));
                let seen: Vec<Option<i32>> = taps
                    .map(|(ky, kx)| source(&window, oy, ox, ky, kx))
                    .map(|(y, x)| at(&values, image, y, x, c))
                    .collect();
                let inside: Vec<i32> = seen.iter().copied().flatten().collect();
                let mean = |values: &[i32]| {
                    let sum: i32 = values.iter().sum();
                    libm::round(f64::from(sum) / values.len() as f64) as i8
                };
                largest.push(*inside.iter().max().unwrap() as i8);
                means.push(mean(&inside));
                let filled: Vec<i32> = seen.iter().map(|value| value.unwrap_or(zero)).collect();
                padded.push(mean(&filled));
            }
        }
        let pool = |op| {
            let input = tensor("input", &[1, 6, 7, 3], 0.05, zero);
            result(&single(op, vec![input], quantised), std::slice::from_ref(&values))
        };
        prop_assert_eq!(pool(Op::MaxPool { window, activation }), largest);
        for (count_padding, expected) in [(false, means), (true, padded)] {
            prop_assert_eq!(pool(Op::AveragePool { window, count_padding, uncounted: [0, 0], halves_up: false, activation }), expected);
        }
    }

    #[test]
    fn sums_shares_and_requantised_parts_are_close_to_real(
        scales in prop::array::uniform3(0.01f32..0.2),
        zeros in prop::array::uniform3(-100i32..=100),
        seed in 0u32..1000,
    ) {
        let [first, second] = [integers(40, seed), integers(40, seed + 1)];
        let real = |values: &[i8], index: usize| {
            Quantisation::per_tensor(scales[index], zeros[index]).dequantise(values)
        };
        let operands = || {
            let operand = |index: usize| {
                tensor(&format!("operand {index}"), &[4, 10], scales[index], zeros[index])
            };
            vec![operand(0), operand(1)]
        };
        let output = Quantisation::per_tensor(scales[2], zeros[2]);
        let near = |result: &[i8], expected: &[f32]| {
            let expected = output.quantise(expected);
            result.iter().zip(&expected).all(|(a, b)| (i32::from(*a) - i32::from(*b)).abs() <= 1)
        };
        let inputs = [first.clone(), second.clone()];
        let to = (scales[2], zeros[2]);

        let sum = Op::Add { activation: Activation::None };
        let got = result(&single(sum, operands(), to), &inputs);
        let expected: Vec<f32> =
            real(&first, 0).iter().zip(real(&second, 1)).map(|(a, b)| a + b).collect();
        prop_assert!(near(&got, &expected));

        let got = result(&single(Op::Concat { axis: 0 }, operands(), to), &inputs);
        prop_assert!(near(&got, &[real(&first, 0), real(&second, 1)].concat()));

        let relu = Op::Activation(Activation::Relu);
        let got = result(&single(relu, operands()[..1].to_vec(), to), &inputs[..1]);
        let expected: Vec<f32> = real(&first, 0).iter().map(|value| value.max(0.0)).collect();
        prop_assert!(near(&got, &expected));

        let model = single(Op::Softmax, operands()[..1].to_vec(), (1.0 / 256.0, -128));
        let got = result(&model, &inputs[..1]);
        for (row, real) in got.chunks(10).zip(real(&first, 0).chunks(10)) {
            let total: f32 = real.iter().map(|value| value.exp()).sum();
            for (share, value) in row.iter().zip(real) {
                let expected = (value.exp() / total * 256.0 - 128.0).min(127.0);
                prop_assert!((f32::from(*share) - expected).abs() <= 1.0);
            }
        }
    }
}

#[test]
fn pad_fills_with_the_zero_point() {
    let op = Op::Pad { amounts: vec![(0, 1), (1, 0)], filler: 0.0 };
    let model = single(op, vec![tensor("input", &[1, 2], 0.5, -7)], (0.5, -7));
    assert_eq!(result(&model, &[vec![3, 4]]), [-7, 3, 4, -7, -7, -7]);
}

#[test]
fn pad_fills_with_the_nearest_step() {
    for (filler, step) in [(0.9, -5), (-1.3, -10), (1e9, 127), (f32::NEG_INFINITY, -128)] {
        let op = Op::Pad { amounts: vec![(0, 1), (1, 0)], filler };
        let model = single(op, vec![tensor("input", &[1, 2], 0.5, -7)], (0.5, -7));
        assert_eq!(result(&model, &[vec![3, 4]]), [step, 3, 4, step, step, step], "{filler}");
    }
    let pad = |filler| Op::Pad { amounts: vec![(0, 1), (1, 0)], filler };
    let mut model = single(pad(0.0), vec![tensor("input", &[1, 2], 0.5, -7)], (0.5, -7));
    model.nodes[0].op = pad(f32::NAN);
    assert!(model.verify().unwrap_err().to_string().contains("filler"));
}

#[test]
fn softmax_of_equal_values_shares_alike() {
    let model = single(Op::Softmax, vec![tensor("input", &[1, 4], 0.1, 0)], (1.0 / 256.0, -128));
    assert_eq!(result(&model, &[vec![9; 4]]), [-64; 4]);
    assert_eq!(result(&model, &[vec![127, -128, -128, -128]]), [127, -128, -128, -128]);
}

#[test]
fn a_pool_that_changes_scales_is_refused() {
    let op = Op::MaxPool { window: Window::dense([1, 1]), activation: Activation::None };
    let model = single(op, vec![tensor("input", &[1, 1, 1, 1], 0.1, 0)], (0.2, 0));
    let refused = run(&model, &[Data::I8(vec![0])], &mut |_, _| {});
    assert!(matches!(refused, Err(RunError::Unsupported { .. })));
}

#[test]
fn a_float_model_is_refused() {
    let mut build = crate::fixtures::Build::new(&[1, 2]);
    build.node(Op::Softmax, vec![]);
    build.finish();
    assert!(matches!(Interpreter::new(&build.model), Err(RunError::Unsupported { .. })));
}
