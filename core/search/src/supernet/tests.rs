//! Gradients against differences.

use super::*;

const SIZES: Sizes = Sizes { cells: 3, steps: 2, channels: 4, side: 8, colours: 1, classes: 3 };

struct Fixture {
    net: Supernet,
    weights: Vec<f32>,
    shares: Shares,
    batch: Batch,
}

fn fixture() -> Fixture {
    let net = Supernet::new(SIZES);
    let mut random = Random::new(5, 0);
    let weights = net.begin(&mut random);
    let mut cell = || -> Vec<[f32; CHOICES]> {
        (0..rows(SIZES.steps)).map(|_| std::array::from_fn(|_| 0.2 + random.within(0.1))).collect()
    };
    let shares = [cell(), cell()];
    let labels = vec![0, 1, 2, 1, 0, 2];
    let pixels = (0..labels.len() * SIZES.side * SIZES.side).map(|_| random.within(1.0)).collect();
    Fixture { net, weights, shares, batch: Batch { pixels, labels } }
}

impl Fixture {
    fn loss(&self, weights: &[f32], shares: &Shares) -> f64 {
        self.net.pass(&self.batch, shares, weights, Wanted::Weights).loss
    }
}

#[test]
fn gradients_by_each_layers_weights_are_differences() {
    let all = fixture();
    let pass = all.net.pass(&all.batch, &all.shares, &all.weights, Wanted::Weights);
    let mut layers = 0;
    for slot in all.net.layout.slots() {
        let along = slot.of(&pass.by_weights);
        let square: f64 = along.iter().map(|by| f64::from(*by) * f64::from(*by)).sum();
        assert!(square > 0.0, "layer {layers} learns nothing");
        // A step along the gradient that should change the loss by so much; rectifiers bend larger ones.
        let step = (5e-4 / square) as f32;
        let at = |step: f32| {
            let mut weights = all.weights.clone();
            let moved = slot.of_mut(&mut weights).iter_mut().zip(along);
            moved.for_each(|(weight, by)| *weight += step * by);
            all.loss(&weights, &all.shares)
        };
        let found = (at(step) - at(-step)) / (2.0 * f64::from(step) * square);
        assert!((found - 1.0).abs() < 0.05, "layer {layers}: {found}");
        layers += 1;
    }
    // The stem; each cell's inputs, one of which is halved; twelve for each node with edges; two more for each that is
    // halved; classifier and bias.
    assert_eq!(layers, 1 + (2 + 2 + 3) + 3 * 3 * 12 + 2 * 2 * 2 + 2);
}

#[test]
fn gradients_by_each_share_are_differences() {
    let all = fixture();
    let pass = all.net.pass(&all.batch, &all.shares, &all.weights, Wanted::Architecture);
    assert!(pass.by_weights.is_empty());
    let largest = pass.by_shares.iter().flatten().flatten().fold(0.0f32, |m, by| m.max(by.abs()));
    for kind in [0, 1] {
        for row in 0..rows(SIZES.steps) {
            for choice in 0..CHOICES {
                let at = |step: f32| {
                    let mut shares = all.shares.clone();
                    shares[kind][row][choice] += step;
                    all.loss(&all.weights, &shares)
                };
                let found = (at(2e-4) - at(-2e-4)) / 4e-4;
                let by = f64::from(pass.by_shares[kind][row][choice]);
                let allowed = 0.03 * f64::from(largest);
                assert!((found - by).abs() < allowed, "{kind} {row} {choice}: {found} and {by}");
            }
        }
    }
}

#[test]
fn passes_of_either_kind_agree_on_the_loss() {
    let all = fixture();
    let pass = |wanted| all.net.pass(&all.batch, &all.shares, &all.weights, wanted);
    let (weights, shares) = (pass(Wanted::Weights), pass(Wanted::Architecture));
    assert_eq!(weights.loss.to_bits(), shares.loss.to_bits());
    assert!(weights.by_shares.iter().flatten().flatten().all(|by| *by == 0.0));
}
