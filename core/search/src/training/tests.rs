//! Gradients against differences, and folded networks against those that learnt.

use tilewright_model::{Data, float};
use tilewright_zoo::Stack;
use tilewright_zoo::cells::Genotype;

use super::*;
use crate::kernels::entropy::Entropy;

const SIDE: usize = 9;

/// All operations that are searched, on images of odd sides too.
fn model() -> Model {
    let text = "Genotype(normal=[('max_pool_3x3', 0), ('sep_conv_3x3', 1), ('avg_pool_3x3', 2), \
                ('dil_conv_5x5', 0)], normal_concat=range(2, 4), \
                reduce=[('skip_connect', 0), ('sep_conv_5x5', 1), ('avg_pool_3x3', 0), \
                ('max_pool_3x3', 1), ('dil_conv_3x3', 2), ('skip_connect', 3)], \
                reduce_concat=range(2, 5))";
    let genotype: Genotype = text.parse().unwrap();
    let stack = Stack { cells: 3, channels: 4, resolution: SIDE, colours: 1 };
    tilewright_zoo::of_genotype(&genotype, &stack).unwrap().float().clone()
}

struct Fixture {
    model: Model,
    network: Network,
    weights: Vec<f32>,
    batch: Batch,
}

fn fixture() -> Fixture {
    let model = model();
    let network = Network::of(&model).unwrap();
    let mut random = Random::new(3, 0);
    let weights = network.layout.begin(&mut random);
    let labels = vec![0, 1, 2, 1, 0, 9];
    let pixels = (0..labels.len() * SIDE * SIDE).map(|_| random.within(1.0)).collect();
    Fixture { model, network, weights, batch: Batch { pixels, labels } }
}

#[test]
fn gradients_by_each_layers_weights_are_differences() {
    let Fixture { network, weights, batch, .. } = fixture();
    let pass = network.pass(&batch, &weights);
    let mut learning = 0;
    for (index, slot) in network.layout.slots().iter().enumerate() {
        let along = slot.of(&pass.by_weights);
        let square: f64 = along.iter().map(|by| f64::from(*by) * f64::from(*by)).sum();
        // What a batch normalisation behind it takes away again, changes nothing.
        if square < 1e-9 {
            continue;
        }
        let step = (5e-4 / square) as f32;
        let at = |step: f32| {
            let mut weights = weights.clone();
            let moved = slot.of_mut(&mut weights).iter_mut().zip(along);
            moved.for_each(|(weight, by)| *weight += step * by);
            network.pass(&batch, &weights).loss
        };
        let found = (at(step) - at(-step)) / (2.0 * f64::from(step) * square);
        assert!((found - 1.0).abs() < 0.05, "layer {index}: {found}");
        learning += 1;
    }
    assert!(learning > network.layout.slots().len() * 3 / 4, "{learning}");
}

#[test]
fn a_folded_network_computes_what_the_learning_one_did() {
    let Fixture { model, network, weights, batch } = fixture();
    let pass = network.pass(&batch, &weights);
    let moments = network.moments(&batch, &weights);
    let folded = network.folded(&model, &weights, &moments);
    let images = batch.pixels.chunks_exact(SIDE * SIDE).zip(&batch.labels);
    let losses = images.map(|(image, label)| {
        let values = float::run(&folded, &[Data::F32(image.to_vec())], &mut |_, _| {}).unwrap();
        Entropy::of(values[0].as_f32().unwrap(), usize::from(*label)).loss
    });
    let mean = losses.sum::<f64>() / batch.labels.len() as f64;
    assert!((mean - pass.loss).abs() < 1e-3, "{mean} and {}", pass.loss);
}

/// Stripes of four directions, each image another one.
fn samples(side: usize) -> Arc<Samples> {
    let (mut images, mut labels) = (Vec::new(), Vec::new());
    for index in 0..64 {
        for at in 0..side * side {
            let (x, y) = (at % side, at / side);
            let along = [x, y, x + y, x + side - y][index % 4] + index / 4;
            images.push((along % 4 / 2 * 200 + (index * 31 + y * 17 + x * 7) % 50) as u8);
        }
        labels.push((index % 4) as u8);
    }
    Arc::new(Samples::new(&images, [side, side], &labels, side).unwrap())
}

fn settings() -> TrainingSettings {
    TrainingSettings { epochs: 4, batch: 16, ..TrainingSettings::default() }
}

fn in_turn(count: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..count).for_each(work);
}

#[test]
fn a_training_that_goes_on_is_the_same_bit_for_bit_and_learns() {
    let new = || Training::new(settings(), model(), samples(SIDE)).unwrap();
    let mut whole = new();
    while whole.advance(&in_turn).unwrap() {}
    let mut part = new();
    for _ in 0..whole.steps() {
        let bytes = part.state().unwrap();
        part = new();
        part.resume(&bytes).unwrap();
        // Backwards: who computes a part first does not matter.
        assert!(part.advance(&|count, work| (0..count).rev().for_each(work)).unwrap());
    }
    assert!(!part.advance(&in_turn).unwrap());
    assert_eq!(part.state().unwrap(), whole.state().unwrap());
    let [first, .., last] = whole.log() else { panic!("{:?}", whole.log()) };
    assert!(last.loss < 0.5 * first.loss && last.accuracy > 0.9, "{:?}", whole.log());
    let model = whole.model(&in_turn);
    let samples = samples(SIDE);
    let right = (0..samples.images()).filter(|index| {
        let image = Data::F32(samples.image(*index, 1).collect());
        let values = float::run(&model, &[image], &mut |_, _| {}).unwrap();
        let values = values[0].as_f32().unwrap();
        let most = values.iter().fold(f32::MIN, |most, value| most.max(*value));
        values[usize::from(samples.labels()[*index])] == most
    });
    assert!(right.count() > 58);
}

#[test]
fn what_cannot_be_trained_is_said() {
    let said = |settings, model, samples| {
        Training::new(settings, model, samples).map(|_| ()).unwrap_err().to_string()
    };
    assert!(said(settings(), model(), samples(8)).contains("8x8 pixels, the model takes 9x9x1"));
    let none = TrainingSettings { epochs: 0, ..settings() };
    assert!(said(none, model(), samples(SIDE)).contains("0 epochs"));
    let swish = tilewright_zoo::network("mobilenet-v3-large").unwrap().float().clone();
    assert!(said(settings(), swish, samples(SIDE)).contains("no operator that can be trained"));
    let mut other = Training::new(settings(), model(), samples(SIDE)).unwrap();
    let bytes = other.state().unwrap();
    other.begun.settings.seed = 1;
    assert!(other.resume(&bytes).unwrap_err().to_string().contains("other settings"));
    assert!(other.resume(&bytes[..20]).is_err());
}
