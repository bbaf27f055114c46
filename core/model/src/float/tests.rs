use super::*;
use crate::fixtures::Build;
use crate::op::{Activation, Padding};

fn run_one(build: &Build, inputs: &[Vec<f32>]) -> Vec<f32> {
    let inputs: Vec<Data> = inputs.iter().map(|values| Data::F32(values.clone())).collect();
    let results = run(&build.model, &inputs, &mut |_, _| {}).unwrap();
    results[0].as_f32().unwrap().to_vec()
}

#[test]
fn convolution_by_hand() {
    // A 2×2 box filter over 3×3, padded one row above; second channel doubles it.
    let mut build = Build::new(&[1, 3, 3, 1]);
    let window = Window {
        size: [2, 2],
        stride: [1, 1],
        dilation: [1, 1],
        padding: Padding { top: 1, ..Padding::default() },
    };
    build.conv(window, &[2, 2, 2, 1], vec![1., 1., 1., 1., 2., 2., 2., 2.], Some(vec![0.5, 0.]), 1);
    build.finish();
    let result = run_one(&build, &[(1..=9).map(|v| v as f32).collect()]);
    assert_eq!(result, [3.5, 6., 5.5, 10., 12.5, 24., 16.5, 32., 24.5, 48., 28.5, 56.]);
}

#[test]
fn grouped_convolution_keeps_groups_apart() {
    let mut build = Build::new(&[1, 1, 1, 4]);
    build.conv(Window::dense([1, 1]), &[2, 1, 1, 2], vec![1., 10., 100., 1000.], None, 2);
    build.finish();
    assert_eq!(run_one(&build, &[vec![1., 2., 3., 4.]]), [21., 4300.]);
}

#[test]
fn depthwise_multiplier_places_channels_side_by_side() {
    let mut build = Build::new(&[1, 1, 2, 2]);
    build.depthwise(Window::dense([1, 2]), 2, vec![1., 2., 3., 4., 10., 20., 30., 40.], None);
    build.finish();
    // Pixels (1, 2) and (3, 4): channel 0 feeds outputs 0 and 1.
    assert_eq!(run_one(&build, &[vec![1., 2., 3., 4.]]), [31., 62., 126., 168.]);
}

#[test]
fn pools_ignore_padding_unless_told() {
    let window = Window {
        size: [2, 2],
        stride: [2, 2],
        dilation: [1, 1],
        padding: Padding { top: 1, left: 1, bottom: 0, right: 0 },
    };
    let input: Vec<f32> = vec![-1., -2., -3., -4., -5., -6., -7., -8., -9.];
    let mut results = Vec::new();
    for op in [
        Op::MaxPool { window, activation: Activation::None },
        Op::AveragePool {
            window,
            count_padding: false,
            uncounted: [0, 0],
            halves_up: false,
            activation: Activation::None,
        },
        Op::AveragePool {
            window,
            count_padding: true,
            uncounted: [0, 0],
            halves_up: false,
            activation: Activation::Relu,
        },
    ] {
        let mut build = Build::new(&[1, 3, 3, 1]);
        build.node(op, vec![]);
        build.finish();
        results.push(run_one(&build, std::slice::from_ref(&input)));
    }
    assert_eq!(results[0], [-1., -2., -4., -5.]);
    assert_eq!(results[1], [-1., -2.5, -5.5, -7.]);
    assert_eq!(results[2], [0.; 4]);
}

#[test]
fn moving_operators() {
    let input: Vec<f32> = (0..6).map(|v| v as f32).collect();
    let mut build = Build::new(&[1, 2, 3]);
    build.node(Op::Transpose { permutation: vec![2, 0, 1] }, vec![]);
    build.finish();
    assert_eq!(run_one(&build, std::slice::from_ref(&input)), [0., 3., 1., 4., 2., 5.]);

    let mut build = Build::new(&[1, 2, 3]);
    build.node(Op::Pad { amounts: vec![(0, 0), (1, 0), (1, 1)], filler: 0.0 }, vec![]);
    build.finish();
    assert_eq!(
        run_one(&build, std::slice::from_ref(&input)),
        [0., 0., 0., 0., 0., 0., 0., 1., 2., 0., 0., 3., 4., 5., 0.]
    );

    let mut build = Build::new(&[2, 3]);
    let first = build.last;
    let other = build.constant(&[2, 1], vec![7., 8.]);
    build.node_of(Op::Concat { axis: 1 }, vec![first, other, first]);
    build.finish();
    assert_eq!(run_one(&build, &[input]), [0., 1., 2., 7., 0., 1., 2., 3., 4., 5., 8., 3., 4., 5.]);
}

#[test]
fn softmax_sums_to_one_and_survives_large_logits() {
    let mut build = Build::new(&[2, 3]);
    build.node(Op::Softmax, vec![]);
    build.finish();
    let result = run_one(&build, &[vec![1000., 1000., -1000., 0., 1., 2.]]);
    assert_eq!(&result[..3], [0.5, 0.5, 0.0]);
    assert!((result[3..].iter().sum::<f32>() - 1.0).abs() < 1e-6);
    assert!((result[5] - 0.665_240_94).abs() < 1e-6);
}

#[test]
fn wrong_inputs_are_refused() {
    let mut build = Build::new(&[1, 3]);
    build.node(Op::Activation(Activation::Relu6), vec![]);
    build.finish();
    let short = run(&build.model, &[Data::F32(vec![0.0; 2])], &mut |_, _| {});
    assert!(matches!(short, Err(RunError::Input { taken: 3, given: 2, .. })), "{short:?}");
    let typed = run(&build.model, &[Data::I8(vec![0; 3])], &mut |_, _| {});
    assert!(matches!(typed, Err(RunError::Input { .. })));
    let none = run(&build.model, &[], &mut |_, _| {});
    assert!(matches!(none, Err(RunError::InputCount { given: 0, taken: 1 })));
    assert_eq!(run_one(&build, &[vec![-1., 3., 9.]]), [0., 3., 6.]);
}

#[test]
fn each_node_is_observed_in_order() {
    let mut build = Build::new(&[1, 2]);
    build.node(Op::Activation(Activation::Relu), vec![]);
    let relu = build.last;
    build.node_of(Op::Add { activation: Activation::None }, vec![relu, relu]);
    build.finish();
    let mut seen = Vec::new();
    let input = [Data::F32(vec![-1., 2.])];
    let results = run(&build.model, &input, &mut |id, data| {
        seen.push((id.0, data[0].as_f32().unwrap().to_vec()));
    });
    assert_eq!(seen, [(0, vec![0., 2.]), (1, vec![0., 4.])]);
    assert_eq!(results.unwrap()[0].as_f32().unwrap(), [0., 4.]);
}

#[test]
fn a_run_stops_inside_a_node_and_never_gives_half_a_result() {
    let mut build = Build::new(&[1, 32, 32, 1]);
    build.conv(Window::dense([1, 1]), &[2, 1, 1, 1], vec![1., 2.], None, 1);
    build.finish();
    let interpreter = Interpreter::new(&build.model).unwrap();
    let inputs = [Data::F32(vec![1.0; 1024])];
    let whole = interpreter.run(&inputs, &mut |_, _| {}).unwrap();
    let mut most = 0;
    for patience in 0.. {
        let looks = std::cell::Cell::new(0);
        // Says yes once only, at any look: that must be enough.
        let stop = || looks.replace(looks.get() + 1) == patience;
        let mut seen = 0;
        let result = interpreter.run_until(&inputs, &mut |_, _| seen += 1, &stop);
        match result {
            Err(error) => {
                assert_eq!((error, seen), (RunError::Stopped, 0));
                most = patience;
            }
            Ok(result) => {
                assert_eq!(result, whole);
                break;
            }
        }
    }
    assert!(most >= 16, "1024 pixels are worth more looks than {most}");
}
