//! Random int8 models with everything that passes look for: each pass leaves their outputs as they
//! are, to the bit.

use proptest::prelude::*;

use super::{PASSES, optimise};
use crate::fixtures::{Build, noise};
use crate::op::{Activation, Op, Padding, Unary, Window};
use crate::quantise::{QuantiseOptions, quantise};
use crate::{Data, Model, TensorId, int8};

struct Random(u32);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 10) as usize % limit
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn activation(&mut self) -> Activation {
        [Activation::None, Activation::Relu, Activation::Relu6, Activation::ReluN1To1]
            [self.below(4)]
    }

    /// Weights of which some output and some input channels are zero.
    fn weights(&mut self, outputs: usize, taps: usize, inputs: usize) -> Vec<f32> {
        let mut weights = noise(outputs * taps * inputs, self.0);
        let rows: Vec<bool> = (0..outputs).map(|_| self.chance(30)).collect();
        let columns: Vec<bool> = (0..inputs).map(|_| inputs > 1 && self.chance(25)).collect();
        for (index, weight) in weights.iter_mut().enumerate() {
            if rows[index / (taps * inputs)] || columns[index % inputs] {
                *weight = 0.0;
            }
        }
        weights
    }
}

fn dims(build: &Build) -> [usize; 4] {
    build.model.tensor(build.last).shape.dims().try_into().unwrap()
}

fn window(random: &mut Random) -> Window {
    let padding = match random.chance(50) {
        true => Padding { top: 1, left: 1, bottom: 1, right: 1 },
        false => Padding::default(),
    };
    Window { padding, ..Window::dense([3, 3]) }
}

fn layer(build: &mut Build, random: &mut Random) {
    let [_, h, w, c] = dims(build);
    let seed = random.0;
    let image = build.last;
    let large = h >= 4 && w >= 4;
    match random.below(13) {
        0 if large => {
            let (window, outputs) = (window(random), random.below(5) + 1);
            let weights = random.weights(outputs, 9, c);
            let bias = random.chance(70).then(|| noise(outputs, seed));
            build.conv(window, &[outputs, 3, 3, c], weights, bias, 1);
        }
        1 | 2 => {
            let outputs = random.below(6) + 1;
            let weights = random.weights(outputs, 1, c);
            let bias = random.chance(70).then(|| noise(outputs, seed));
            build.conv(Window::dense([1, 1]), &[outputs, 1, 1, c], weights, bias, 1);
        }
        3 if large => {
            let window = window(random);
            let weights = random.weights(9, 1, c);
            build.depthwise(window, 1, weights, Some(noise(c, seed)));
        }
        4 => {
            let activation = random.activation();
            build.node(Op::Activation(activation), vec![]);
        }
        5 => {
            let unary = [Unary::HardSwish, Unary::Tanh, Unary::LeakyRelu { alpha: 0.2 }];
            build.node(Op::Unary(unary[random.below(3)]), vec![]);
        }
        6 if large => {
            let window = Window { stride: [2, 2], ..window(random) };
            let activation = random.activation();
            build.node(
                match random.chance(50) {
                    true => Op::MaxPool { window, activation },
                    false => {
                        let count_padding = random.chance(50);
                        Op::AveragePool {
                            window,
                            count_padding,
                            uncounted: [0, 0],
                            halves_up: false,
                            activation,
                        }
                    }
                },
                vec![],
            );
        }
        7 => {
            let other = build.node(Op::Activation(Activation::Relu), vec![]);
            let again = build.node_of(Op::Activation(Activation::Relu), vec![image]);
            build.node_of(Op::Add { activation: random.activation() }, vec![other, again]);
        }
        8 => {
            let other = build.node(Op::Unary(Unary::Abs), vec![]);
            build.node_of(Op::Concat { axis: 3 }, vec![image, other]);
        }
        9 => {
            build.node(
                Op::Pad { amounts: vec![(0, 0), (1, 0), (1, 1), (0, 0)], filler: 0.0 },
                vec![],
            );
        }
        10 => {
            build.node(Op::Transpose { permutation: vec![0, 3, 1, 2] }, vec![]);
            build.node(Op::Activation(Activation::Relu), vec![]);
            build.node(Op::Transpose { permutation: vec![0, 2, 3, 1] }, vec![]);
        }
        11 => {
            // A dimension of 1 behind rows and columns.
            build.reshape(&[h, w, 1, c]);
            let image = build.last;
            let other = build.node(Op::Unary(Unary::Abs), vec![]);
            let axis = [0, 1, 3][random.below(3)];
            build.node_of(Op::Concat { axis }, vec![image, other]);
            let amounts = vec![(0, 1), (1, 0), (0, 0), (0, 0)];
            let padded = build.node(Op::Pad { amounts, filler: 0.0 }, vec![]);
            let other = build.node(Op::Unary(Unary::Abs), vec![]);
            build.node_of(Op::Add { activation: random.activation() }, vec![padded, other]);
            let [h, w, _, c] = dims(build);
            build.reshape(&[1, h, w, c]);
        }
        _ => {
            build.reshape(&[1, h * w, c]);
            build.node(Op::Activation(Activation::None), vec![]);
            build.reshape(&[1, h, w, c]);
        }
    }
}

fn model(seed: u32) -> Model {
    let mut random = Random(seed.wrapping_mul(2_654_435_761).wrapping_add(99));
    let mut build = Build::new(&[1, 9, 8, 3]);
    for _ in 0..random.below(9) + 2 {
        layer(&mut build, &mut random);
    }
    let [_, _, _, channels] = dims(&build);
    if random.chance(60) {
        build.node(Op::Mean { axes: vec![1, 2], keep_dims: false }, vec![]);
        let weights = random.weights(4, 1, channels);
        build.dense(4, weights, Some(noise(4, seed)));
    }
    build.finish();
    let samples: Vec<Vec<Data>> = (0..2).map(|n| vec![Data::F32(noise(216, seed + n))]).collect();
    let (model, _) = quantise(&build.model, &samples, &QuantiseOptions::default()).unwrap();
    model
}

fn outputs(model: &Model) -> Vec<Data> {
    let input = (0..216u32).map(|value| (value * 37 % 256) as u8 as i8).collect();
    int8::run(model, &[Data::I8(input)], &mut |_, _| {}).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn each_pass_keeps_every_bit(seed in 0u32..1_000_000) {
        let mut model = model(seed);
        let expected = outputs(&model);
        for (name, run) in PASSES {
            run(&mut model);
            let verified = model.verify();
            prop_assert!(verified.is_ok(), "{name}: {verified:?}");
            prop_assert_eq!(&outputs(&model), &expected, "{}", name);
        }
        let (model, _) = optimise(model).unwrap();
        prop_assert_eq!(&outputs(&model), &expected);
    }
}

/// The test above would show nothing if passes found nothing.
#[test]
fn random_models_give_every_pass_something_to_do() {
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..200 {
        let (_, records) = optimise(model(seed)).unwrap();
        seen.extend(records.iter().map(|record| record.pass));
    }
    // Float only: an int8 model has no batch normalisation, and its scales are its own.
    let float_only =
        ["fold batch norm", "fold affine", "fold constants", "fuse hard sigmoid", "fuse swish"];
    for (name, _) in PASSES.iter().filter(|(name, _)| !float_only.contains(name)) {
        assert!(seen.contains(name), "{name} did nothing; {seen:?} did");
    }
}

fn macs(model: &Model) -> u64 {
    model.nodes.iter().map(|node| model.macs(node)).sum()
}

#[test]
fn dead_channels_go_with_what_feeds_them() {
    // Of eight channels four stay; if five could go, four stay all the same: words of them.
    [7, 6].into_iter().for_each(dead_channels_go_from);
}

/// Channels from `last` on are dead, besides three others.
fn dead_channels_go_from(last: usize) {
    let mut build = Build::new(&[1, 4, 4, 2]);
    // Channel 1 is relu(-1) = 0 and channel 2 is 0.5, whatever the input; nobody reads channel 3.
    let mut weights = noise(16, 3);
    weights[2..6].fill(0.0);
    weights[2 * last..].fill(0.0);
    let bias = vec![0.1, -1.0, 0.5, 0.2, 0.1, 0.3, 0.2, 0.1];
    build.conv(Window::dense([1, 1]), &[8, 1, 1, 2], weights, Some(bias), 1);
    build.node(Op::Activation(Activation::Relu), vec![]);
    let mut taps = noise(72, 4);
    taps.iter_mut().skip(3).step_by(8).for_each(|weight| *weight = 0.0);
    build.depthwise(Window::dense([3, 3]), 1, taps, Some(noise(8, 5)));
    build.conv(Window::dense([1, 1]), &[3, 1, 1, 8], noise(24, 6), None, 1);
    build.finish();
    let samples = vec![vec![Data::F32(noise(32, 7))]];
    let (int8_model, _) = quantise(&build.model, &samples, &QuantiseOptions::default()).unwrap();
    for model in [build.model.clone(), int8_model] {
        let (after, _) = optimise(model.clone()).unwrap();
        // Four of eight channels stay in each of the first layers, and four columns in the last.
        assert_eq!(macs(&after), 4 * (16 * 2 + 4 * 9 + 4 * 3), "{:?}", after.nodes);
        let input = match model.tensor(TensorId(0)).quantisation.as_ref() {
            Some(scale) => Data::I8(scale.quantise(&noise(32, 8))),
            None => Data::F32(noise(32, 8)),
        };
        let run = |model: &Model| match input.dtype() {
            crate::DType::I8 => int8::run(model, std::slice::from_ref(&input), &mut |_, _| {}),
            _ => crate::float::run(model, std::slice::from_ref(&input), &mut |_, _| {}),
        };
        let (before, after) = (run(&model).unwrap(), run(&after).unwrap());
        if let (Some(before), Some(after)) = (before[0].as_f32(), after[0].as_f32()) {
            assert!(before.iter().zip(after).all(|(a, b)| (a - b).abs() < 1e-5));
        } else {
            assert_eq!(before, after);
        }
    }
}
