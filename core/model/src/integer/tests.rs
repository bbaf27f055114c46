use super::*;
use crate::{Activation, DType, Data, Op, Padding, Places, Shape, Source, TensorId, Window};

fn tensor(name: &str, dims: &[usize], scale: f32, zero: i32) -> Tensor {
    Tensor {
        name: name.to_owned(),
        shape: Shape::new(dims),
        dtype: DType::I8,
        quantisation: Some(Quantisation::per_tensor(scale, zero)),
        source: None,
    }
}

fn node(op: Op, inputs: &[TensorId], output: TensorId) -> Node {
    Node { name: "n".to_owned(), op, inputs: inputs.to_vec(), outputs: vec![output] }
}

#[test]
fn multipliers_are_normalised() {
    assert_eq!(multiplier(0.0).unwrap(), Multiplier::default());
    assert_eq!(multiplier(0.25).unwrap(), Multiplier { q31: 1 << 30, shift: -1 });
    assert_eq!(multiplier(1.0).unwrap(), Multiplier { q31: 1 << 30, shift: 1 });
    assert_eq!(multiplier(7.25).unwrap(), Multiplier { q31: 1_946_157_056, shift: 3 });
    // The significand rounds up to one.
    assert_eq!(multiplier(1.0 - 1e-12).unwrap(), Multiplier { q31: 1 << 30, shift: 1 });
    assert_eq!(multiplier(1e-30).unwrap(), Multiplier::default());
    for value in [-0.5, f64::NAN, f64::INFINITY, 2_147_483_648.0] {
        assert!(multiplier(value).is_err(), "{value}");
    }
}

#[test]
fn fixed_point_rounds_as_the_reference() {
    assert_eq!(saturating_rounding_doubling_high_mul(i32::MIN, i32::MIN), i32::MAX);
    assert_eq!(saturating_rounding_doubling_high_mul(1, 1 << 30), 1);
    assert_eq!(saturating_rounding_doubling_high_mul(-1, 1 << 30), 0);
    assert_eq!(saturating_rounding_doubling_high_mul(-3, 1 << 30), -1);
    let quotients: Vec<i32> = [-6, -5, -3, -2, -1, 0, 1, 2, 3, 5, 6]
        .map(|v| rounding_divide_by_power_of_two(v, 2))
        .into();
    assert_eq!(quotients, [-2, -1, -1, -1, 0, 0, 0, 1, 1, 1, 2]);
    assert_eq!(rounding_divide_by_power_of_two(i32::MIN, 31), -1);
    assert_eq!(rounding_divide_by_power_of_two(-7, 0), -7);
    assert_eq!(multiply_by_quantised_multiplier(100, 1 << 30, 3), 400);
    assert_eq!(multiply_by_quantised_multiplier(100, 1 << 30, -3), 6);
}

#[test]
fn bilinear_steps_that_lead_behind_the_input_are_refused() {
    let params = |input: usize, output: usize, half_pixel_centers| {
        let mut model = Model::default();
        let x = model.add_tensor(tensor("x", &[1, 1, input, 1], 0.5, 3));
        let y = model.add_tensor(tensor("y", &[1, 1, output, 1], 0.5, 3));
        let mode = crate::ResizeMode::Bilinear;
        let op = Op::Resize { mode, align_corners: false, half_pixel_centers, places: None };
        bilinear(&model, &node(op, &[x], y))
    };
    assert!(params(4, 2048, false).is_ok() && params(7, 2304, true).is_ok());
    // 4096 / 2700 is 1.52, rounded to 2: the last column would be at 5.27 of 4, or at 4.77.
    for half in [false, true] {
        let error = params(4, 2700, half).unwrap_err().to_string();
        assert!(error.contains("more than the input has"), "{error}");
    }
}

#[test]
fn convolution_channels_follow_the_weights_scales() {
    let mut model = Model::default();
    let input = model.add_tensor(tensor("in", &[1, 4, 4, 1], 0.5, 3));
    let mut weights = tensor("w", &[2, 1, 1, 1], 0.5, 0);
    weights.quantisation =
        Some(Quantisation { scales: vec![0.5, 0.25], zeros: vec![0, 0], axis: Some(0) });
    let weights = model.add_tensor(weights);
    let bias = model.add_tensor(Tensor {
        name: "b".to_owned(),
        shape: Shape::new([2]),
        dtype: DType::I32,
        quantisation: None,
        source: Some(Source::inline(Data::I32(vec![7, -9]))),
    });
    let output = model.add_tensor(tensor("out", &[1, 4, 4, 2], 1.0, 0));
    let window =
        Window { size: [1, 1], stride: [1, 1], dilation: [1, 1], padding: Padding::default() };
    let op = Op::Conv { window, groups: 1, activation: Activation::Relu6 };
    let conv = node(op, &[input, weights, bias], output);
    assert_eq!(
        channels(&model, &conv).unwrap(),
        [
            Channel { bias: 7, multiplier: 1 << 30, shift: -1 },
            Channel { bias: -9, multiplier: 1 << 30, shift: -2 },
        ]
    );
    assert_eq!(clamp(&model, &conv).unwrap(), (0, 6));
    let short = node(conv.op.clone(), &[input], output);
    assert!(matches!(channels(&model, &short), Err(IntegerError::Node { .. })));
}

#[test]
fn addition_uses_twice_the_larger_scale() {
    let mut model = Model::default();
    let first = model.add_tensor(tensor("a", &[4], 0.5, 0));
    let second = model.add_tensor(tensor("b", &[4], 0.25, 0));
    let output = model.add_tensor(tensor("c", &[4], 1.0, 0));
    let op = Op::Add { activation: Activation::None };
    let params = add(&model, &node(op.clone(), &[first, second], output)).unwrap();
    assert_eq!(params.first, Multiplier { q31: 1 << 30, shift: 0 });
    assert_eq!(params.second, Multiplier { q31: 1 << 30, shift: -1 });
    assert_eq!(params.output, Multiplier { q31: 1 << 30, shift: -19 });
    let tiny = model.add_tensor(tensor("d", &[4], 1e-8, 0));
    assert!(add(&model, &node(op, &[first, second], tiny)).is_err());
}

#[test]
fn softmax_has_five_integer_bits() {
    let mut model = Model::default();
    let input = model.add_tensor(tensor("a", &[1, 10], 0.1, 0));
    let output = model.add_tensor(tensor("b", &[1, 10], 1.0 / 256.0, -128));
    let params = softmax(&model, &node(Op::Softmax, &[input], output)).unwrap();
    // 0.1 × 2^26 = 6710886.5 = 0.8 × 2^23.
    assert_eq!(params.left_shift, 23);
    assert_eq!(params.diff_min, -248);
    assert!((i64::from(params.multiplier) - 1_717_986_944).abs() < 64, "{params:?}");
    assert!(softmax(&model, &node(Op::Softmax, &[input], input)).is_err());
}

#[test]
fn clamp_of_an_activation_respects_int8() {
    let range = |activation, scale, zero| {
        activation_range(activation, &Quantisation::per_tensor(scale, zero))
    };
    assert_eq!(range(Activation::None, 0.1, 0), (-128, 127));
    assert_eq!(range(Activation::Relu, 0.1, -128), (-128, 127));
    assert_eq!(range(Activation::Relu, 0.1, 5), (5, 127));
    assert_eq!(range(Activation::Relu6, 0.1, 0), (0, 60));
    assert_eq!(range(Activation::Relu6, 1e-12, 0), (0, 127));
}

fn resized(input: usize, output: usize, mode: crate::ResizeMode, places: Places) -> Model {
    let mut model = Model::default();
    let x = model.add_tensor(tensor("x", &[1, 1, input, 1], 0.5, 3));
    let y = model.add_tensor(tensor("y", &[1, 1, output, 1], 0.5, 3));
    let whole = Places { first: 0.0, step: 1.0 };
    let (align_corners, half_pixel_centers) = (false, false);
    let places = Some([whole, places]);
    model.nodes.push(node(Op::Resize { mode, align_corners, half_pixel_centers, places }, &[x], y));
    (model.inputs, model.outputs) = (vec![x], vec![y]);
    model
}

#[test]
fn places_of_their_own_lead_to_pixels_and_between_them() {
    let run = |mode, output, places| {
        let model = resized(5, output, mode, places);
        model.verify().unwrap();
        let values = vec![10, 50, -20, 80, 31];
        let result = crate::int8::run(&model, &[crate::Data::I8(values)], &mut |_, _| {}).unwrap();
        result[0].as_i8().unwrap().to_vec()
    };
    let places = Places { first: -0.25, step: 0.75 };
    // At −0.25, 0.5, 1.25, 2, 2.75, 3.5 and 4.25.
    let linear = run(crate::ResizeMode::Bilinear, 7, places);
    assert_eq!(linear, [10, 30, 33, -20, 55, 56, 31]);
    assert_eq!(run(crate::ResizeMode::Nearest, 7, places), [10, 10, 50, -20, -20, 80, 31]);
    let twice = Places { first: 1.0, step: 1.5 };
    assert_eq!(run(crate::ResizeMode::Bilinear, 2, twice), [50, 30]);
}

#[test]
fn places_outside_of_the_image_are_refused() {
    let verified =
        |first, step| resized(5, 7, crate::ResizeMode::Bilinear, Places { first, step }).verify();
    assert!(verified(-1.0, 0.5).is_ok() && verified(0.0, 0.8).is_ok());
    for (first, step) in [(-1.5, 0.5), (0.0, 0.9), (4.0, -0.5), (f32::NAN, 0.5), (0.0, f32::NAN)] {
        let error = verified(first, step).unwrap_err().to_string();
        assert!(error.contains("lie outside of 5"), "{error}");
    }
}
