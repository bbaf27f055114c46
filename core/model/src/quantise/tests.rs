use super::*;
use crate::fixtures::{Build, noise};
use crate::op::{Activation, Padding};
use crate::{ResizeMode, Seeded, Unary, Window, int8, integer};

fn samples(dims: usize) -> Vec<Vec<Data>> {
    (0..6)
        .map(|seed| {
            let mut values: Vec<f32> = noise(dims, seed).iter().map(|v| (v + 1.0) / 2.0).collect();
            values[0] = 0.0;
            values[1] = 1.0;
            vec![Data::F32(values)]
        })
        .collect()
}

fn same() -> Window {
    let padding = Padding { top: 1, left: 1, bottom: 1, right: 1 };
    Window { padding, ..Window::dense([3, 3]) }
}

/// Every operator with an int8 form.
fn network() -> Build {
    let mut build = Build::new(&[1, 8, 8, 3]);
    build.conv(same(), &[8, 3, 3, 3], noise(216, 1), Some(noise(8, 2)), 1);
    let relu = build.node(Op::Activation(Activation::Relu6), vec![]);
    build.depthwise(same(), 1, noise(72, 3), Some(noise(8, 4)));
    let other = build.last;
    build.node_of(Op::Add { activation: Activation::Relu }, vec![relu, other]);
    let sum = build.last;
    build.conv(Window::dense([1, 1]), &[4, 1, 1, 4], noise(16, 5), None, 2);
    let narrow = build.last;
    build.node_of(Op::Concat { axis: 3 }, vec![sum, narrow]);
    build.node(Op::Pad { amounts: vec![(0, 0), (1, 0), (0, 1), (0, 0)], filler: 0.0 }, vec![]);
    let window = Window { stride: [2, 2], ..Window::dense([2, 2]) };
    build.node(Op::MaxPool { window, activation: Activation::None }, vec![]);
    let window = Window::dense([2, 2]);
    build.node(
        Op::AveragePool {
            window,
            count_padding: false,
            uncounted: [0, 0],
            halves_up: false,
            activation: Activation::None,
        },
        vec![],
    );
    build.node(Op::Transpose { permutation: vec![0, 3, 1, 2] }, vec![]);
    let features = build.model.tensor(build.last).shape.elements().unwrap();
    build.reshape(&[1, features]);
    let weights = noise(features * 10, 6).iter().map(|v| v / 8.0).collect();
    build.dense(10, weights, Some(noise(10, 7)));
    build.node(Op::Softmax, vec![]);
    build.finish();
    build
}

/// A filler outside of what the samples reach is within the scale, unless only pools look at it.
#[test]
fn scales_hold_what_pads_fill_with() {
    let scale = |filler: f32, pools: bool| {
        let mut build = Build::new(&[1, 4, 4, 2]);
        build.node(Op::Pad { amounts: vec![(0, 0), (1, 0), (0, 1), (0, 0)], filler }, vec![]);
        match pools {
            true => {
                let window = Window { stride: [2, 2], ..Window::dense([2, 2]) };
                build.node(Op::MaxPool { window, activation: Activation::None }, vec![])
            }
            false => build.node(Op::Activation(Activation::Relu), vec![]),
        };
        build.finish();
        let samples = [vec![Data::F32(noise(32, 1))]];
        let (model, _) = quantise(&build.model, &samples, &QuantiseOptions::default()).unwrap();
        model.tensor(model.inputs[0]).quantisation.as_ref().unwrap().scale(0)
    };
    assert!(scale(0.0, false) < 2.01 / 255.0);
    assert!(scale(-3.0, false) > 3.0 / 255.0);
    assert!(scale(-3.0, true) < 2.01 / 255.0);
}

#[test]
fn every_operator_stays_close_to_float() {
    let build = network();
    let (model, report) =
        quantise(&build.model, &samples(192), &QuantiseOptions::default()).unwrap();
    assert_eq!(report.samples, 6);
    assert_eq!(report.compared, 4);
    assert_eq!(report.tensors.len(), 1 + build.model.nodes.len());
    for tensor in &report.tensors {
        assert!(tensor.sqnr_db > 25.0, "{tensor:?}");
        assert_eq!(tensor.saturated, 0, "{tensor:?}");
    }
    let input = model.tensor(model.inputs[0]);
    assert_eq!(input.quantisation, Some(Quantisation::per_tensor(1.0 / 255.0, -128)));
    assert_eq!(input.name, "input");
    let again = quantise(&build.model, &samples(192), &QuantiseOptions::default()).unwrap();
    assert_eq!(again.0, model);
}

/// Every operator that `network` lacks; one whose results nobody reads ends each line.
fn wide_network() -> Build {
    let mut build = Build::new(&[1, 8, 8, 4]);
    let none = Activation::None;
    build.conv(same(), &[8, 3, 3, 4], noise(288, 1), Some(noise(8, 2)), 1);
    let image = build.last;
    let unary = |build: &mut Build, unary| build.node_of(Op::Unary(unary), vec![image]);
    let sigmoid = unary(&mut build, Unary::Sigmoid);
    let tanh = unary(&mut build, Unary::Tanh);
    let swish = unary(&mut build, Unary::HardSwish);
    let leaky = unary(&mut build, Unary::LeakyRelu { alpha: 0.1 });
    let gate = build.constant(&[8], noise(8, 3));
    build.node_of(Op::Mul { activation: none }, vec![swish, gate]);
    let gated = build.node_of(Op::Mul { activation: none }, vec![build.last, sigmoid]);
    let less = build.node_of(Op::Sub { activation: none }, vec![gated, tanh]);
    let larger = build.node_of(Op::Maximum, vec![less, sigmoid]);
    let ceiling = build.constant(&[1], vec![0.75]);
    let smaller = build.node_of(Op::Minimum, vec![larger, ceiling]);
    let slopes = build.constant(&[1, 1, 8], noise(8, 4));
    build.node_of(Op::Prelu, vec![leaky, slopes]);
    build.node_of(Op::Add { activation: none }, vec![build.last, smaller]);
    let slice =
        Op::Slice { begin: vec![0, 7, 0, 1], size: vec![1, 8, 8, 6], stride: vec![1, -1, 1, 1] };
    build.node(slice, vec![]);
    let norm = Op::LocalResponseNorm { size: 5, alpha: 0.5, beta: 0.75, bias: 1.0 };
    build.node(norm, vec![]);
    build.node(Op::SpaceToDepth { block: 2 }, vec![]);
    build.node(Op::DepthToSpace { block: 2 }, vec![]);
    let window = Window { stride: [2, 2], ..Window::dense([2, 2]) };
    let weights = build.constant(&[4, 2, 2, 6], noise(96, 5));
    let op = Op::TransposeConv { window, activation: none };
    let input = build.last;
    build.shaped(op, vec![input, weights], &[1, 16, 16, 4]);
    for mode in [ResizeMode::Bilinear, ResizeMode::Nearest] {
        let op = Op::Resize { mode, align_corners: false, half_pixel_centers: true, places: None };
        build.shaped(op, vec![build.last], &[1, 9, 13, 4]);
    }
    build.node(Op::Mean { axes: vec![1, 2], keep_dims: false }, vec![]);
    let logits = build.last;
    build.node(Op::LogSoftmax, vec![]);
    build.finish();
    let scores = build.last;
    build.node_of(Op::ArgMax { axis: 1, keep_dims: true }, vec![logits]);
    build.model.outputs = vec![scores, build.last];
    build.model.verify().unwrap();
    build
}

#[test]
fn every_further_operator_stays_close_to_float() {
    let build = wide_network();
    let (model, report) =
        quantise(&build.model, &samples(256), &QuantiseOptions::default()).unwrap();
    // All but the index.
    assert_eq!(report.tensors.len(), build.model.nodes.len());
    for tensor in &report.tensors {
        assert!(tensor.sqnr_db > 20.0, "{tensor:?}");
        // 1 lies beyond the scale that is prescribed for tanh.
        let is_tanh = tensor.scale == 1.0 / 128.0;
        assert!(tensor.saturated == 0 || is_tanh, "{tensor:?}");
    }
    let requantised = model.nodes.iter().filter(|node| node.op == Op::Requantise);
    assert_eq!(requantised.count(), 1, "the sigmoid, whose scale is fixed, for the maximum");
    let quantisation = |id: TensorId| model.tensor(id).quantisation.clone();
    let minimum = model.nodes.iter().find(|node| node.op == Op::Minimum).unwrap();
    assert_eq!(quantisation(minimum.inputs[1]), quantisation(minimum.outputs[0]));
    let image = samples(256).remove(0);
    let input = quantisation(model.inputs[0]).unwrap().quantise(image[0].as_f32().unwrap());
    let outputs = int8::run(&model, &[Data::I8(input)], &mut |_, _| {}).unwrap();
    let scores = outputs[0].as_i8().unwrap();
    let best = scores.iter().zip(0..).max_by_key(|(score, index)| (**score, -index)).unwrap().1;
    assert_eq!(outputs[1].as_i32().unwrap(), [best]);
}

#[test]
fn a_private_operand_of_a_concatenation_takes_its_scale() {
    let build = network();
    let (model, _) = quantise(&build.model, &samples(192), &QuantiseOptions::default()).unwrap();
    let concat = model.nodes.iter().find(|node| node.op.name() == "Concat").unwrap();
    let quantisation = |id: TensorId| model.tensor(id).quantisation.clone();
    assert_eq!(quantisation(concat.inputs[1]), quantisation(concat.outputs[0]));
}

#[test]
fn degenerate_weights_keep_valid_multipliers() {
    let mut build = Build::new(&[1, 4, 4, 1]);
    // A dead channel with a bias, one with weights far too small for its bias, an ordinary one,
    // and one that cancels to nothing.
    build.conv(
        Window::dense([1, 1]),
        &[4, 1, 1, 1],
        vec![0.0, 1e-20, 1.0, -1e-9],
        Some(vec![3.0, -1000.0, 0.0, 0.0]),
        1,
    );
    build.conv(Window::dense([4, 4]), &[2, 4, 4, 4], vec![0.0; 128], None, 1);
    build.finish();
    let (model, report) =
        quantise(&build.model, &samples(16), &QuantiseOptions::default()).unwrap();
    for node in &model.nodes {
        for channel in integer::channels(&model, node).unwrap() {
            assert!(channel.shift <= 0 && channel.multiplier > 0, "{channel:?}");
            assert!(channel.bias.unsigned_abs() <= 1 << 30, "{channel:?}");
        }
    }
    assert!(report.tensors[1].sqnr_db > 40.0, "{:?}", report.tensors[1]);
    let zero = model.tensor(model.outputs[0]).quantisation.as_ref().unwrap().zero() as i8;
    let result = int8::run(&model, &[Data::I8(vec![5; 16])], &mut |_, _| {}).unwrap();
    assert_eq!(result[0].as_i8().unwrap(), [zero, zero]);
}

#[test]
fn faulty_samples_and_weights_are_named() {
    let options = QuantiseOptions::default();
    let mut build = Build::new(&[1, 2]);
    build.dense(1, vec![1.0, 1.0], None);
    build.finish();
    assert_eq!(quantise(&build.model, &[], &options).unwrap_err(), QuantiseError::NoSamples);
    let bad = vec![vec![Data::F32(vec![0.0; 2])], vec![Data::F32(vec![1.0, f32::NAN])]];
    let error = quantise(&build.model, &bad, &options).unwrap_err();
    assert_eq!(error, QuantiseError::NotFinite { tensor: "input".to_owned(), sample: 1 });
    let mut build = Build::new(&[1, 2]);
    build.dense(1, vec![1.0, f32::INFINITY], None);
    build.finish();
    assert!(quantise(&build.model, &samples(2), &options).is_err());
}

#[test]
fn every_rule_is_order_free_and_names_faulty_samples() {
    let build = network();
    let mut set = samples(192);
    for rule in ["minmax", "percentile=99", "mse"].map(|word| word.parse().unwrap()) {
        let options = QuantiseOptions { rule, report_samples: 6 };
        let (model, report) = quantise(&build.model, &set, &options).unwrap();
        assert_eq!(report.rule, rule);
        set.reverse();
        assert_eq!(quantise(&build.model, &set, &options).unwrap().0, model, "{rule}");
        set.rotate_left(2);
        assert_eq!(quantise(&build.model, &set, &options).unwrap().0, model, "{rule}");
        assert_eq!(quantise(&build.model, &[], &options).unwrap_err(), QuantiseError::NoSamples);
        let mut faulty = set.clone();
        let Data::F32(values) = &mut faulty[4][0] else { panic!() };
        values[3] = f32::NAN;
        let error = quantise(&build.model, &faulty, &options).unwrap_err();
        assert_eq!(error, QuantiseError::NotFinite { tensor: "input".to_owned(), sample: 4 });
    }
}

#[test]
fn rules_that_cut_an_outlier_bring_the_output_nearer() {
    let mut build = Build::new(&[1, 32, 32, 3]);
    build.conv(Window::dense([1, 1]), &[4, 1, 1, 3], noise(12, 1), None, 1);
    build.finish();
    let mut set: Vec<_> = (0..100).map(|seed| vec![Data::F32(noise(3072, seed))]).collect();
    let Data::F32(values) = &mut set[99][0] else { panic!() };
    values[100] = 40.0;
    let output = |rule: &str| {
        let options = QuantiseOptions { rule: rule.parse().unwrap(), report_samples: 99 };
        let report = quantise(&build.model, &set, &options).unwrap().1;
        let last = report.tensors.last().unwrap().clone();
        assert_eq!(last.values, 99 * 4096);
        assert!(last.saturation() < 0.01, "{last:?}");
        last.sqnr_db
    };
    let (minmax, percentile, mse) = (output("minmax"), output("percentile=99.9"), output("mse"));
    assert!(percentile > minmax + 10.0, "{minmax} {percentile}");
    assert!(mse > minmax + 1.5, "{minmax} {mse}");
}

#[test]
fn calibration_stops_in_either_half() {
    let build = network();
    let sample = &samples(192)[0];
    let options = QuantiseOptions::default();
    let stopped = QuantiseError::Run(RunError::Stopped);
    let mut calibration = Calibration::new(&build.model, &options).unwrap();
    assert_eq!(calibration.observe_until(sample, &|| true), Err(stopped.clone()));
    let mut calibration = Calibration::new(&build.model, &options).unwrap();
    calibration.observe_until(sample, &|| false).unwrap();
    assert_eq!(calibration.finish_until(&|| true).unwrap_err(), stopped);
}

/// A convolution with bias over an 8×8 image, its weights from a seed.
fn seeded_conv() -> (Model, Vec<Range>) {
    let mut build = Build::new(&[1, 8, 8, 3]);
    build.conv(Window::dense([3, 3]), &[5, 3, 3, 3], noise(135, 1), Some(noise(5, 2)), 1);
    build.finish();
    let mut model = build.model;
    let weights = model.nodes[0].inputs[1];
    model.tensors[weights.0].source = Some(Source::Seeded(Seeded::floats(9, 135, 0.003_906_25)));
    let ranges = vec![Range { low: -1.0, high: 1.0 }; model.tensors.len()];
    (model, ranges)
}

#[test]
fn seeded_weights_quantise_to_the_seeds_integers() {
    let (model, ranges) = seeded_conv();
    let seeded = quantise_with(&model, &ranges).unwrap();
    let of = |model: &Model| model.tensor(model.nodes[0].inputs[1]).clone();
    assert!(matches!(of(&seeded).source, Some(Source::Seeded(_))));
    // The same weights inline, with one that reaches the largest integer in each channel.
    let mut inline = model.clone();
    let mut values = of(&model).source.unwrap().values().as_f32().unwrap().to_vec();
    for channel in values.chunks_exact_mut(27) {
        channel[0] = 127.0 * 0.003_906_25;
    }
    let id = inline.nodes[0].inputs[1];
    inline.tensors[id.0].source = Some(Source::inline(Data::F32(values)));
    let inline = quantise_with(&inline, &ranges).unwrap();
    assert_eq!(of(&seeded).quantisation, of(&inline).quantisation);
    let (seeded, inline) = (of(&seeded).source.unwrap(), of(&inline).source.unwrap());
    let (seeded, inline) = (seeded.values(), inline.values());
    for (index, (seeded, inline)) in
        seeded.as_i8().unwrap().iter().zip(inline.as_i8().unwrap()).enumerate()
    {
        assert_eq!(*inline, if index % 27 == 0 { 127 } else { *seeded });
    }
}

#[test]
fn ranges_must_be_there_and_finite() {
    let (model, mut ranges) = seeded_conv();
    ranges[0].high = f32::INFINITY;
    assert!(matches!(quantise_with(&model, &ranges), Err(QuantiseError::NotFinite { .. })));
    assert!(matches!(quantise_with(&model, &[]), Err(QuantiseError::NotFinite { .. })));
}

/// What a clip cuts off takes no steps of the 8 bits of what is before it.
#[test]
fn a_clip_decides_about_the_range_before_it() {
    let mut build = Build::new(&[1, 8, 8, 3]);
    build.conv(same(), &[8, 3, 3, 3], noise(216, 1).iter().map(|w| w * 40.0).collect(), None, 1);
    let before = build.last;
    build.node(Op::Unary(Unary::Clip { low: 0.0, high: 0.5 }), vec![]);
    build.finish();
    let (quantised, _) =
        quantise(&build.model, &samples(8 * 8 * 3), &QuantiseOptions::default()).unwrap();
    let name = &build.model.tensor(before).name;
    let tensor = quantised.tensors.iter().find(|tensor| tensor.name == *name).unwrap();
    let scale = tensor.quantisation.as_ref().unwrap().scale(0);
    assert!(scale < 0.01, "{scale}");
}
