//! Kernels without a window against their definitions.

use crate::support::place::{Placed, layout};
use crate::support::tiles::{areas, tile_of};
use crate::support::{Numbers, Tensor, definition};
use proptest::prelude::*;
use tilewright_kernels::{
    Channel, Channels, FullyConnected, Layout, Multiplier, Output, Pad, Requantise, Softmax,
    Source, Target, Tile, fully_connected, pack, pad, requantise, softmax,
};

fn output(numbers: &mut Numbers) -> Output {
    let (a, b) = (numbers.byte(), numbers.byte());
    Output { zero: numbers.byte(), min: a.min(b), max: a.max(b) }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn fully_connected_follows_its_definition(
        shape in [1usize..4, 1..4, 1..40], outputs in 1usize..14, seed: u64
    ) {
        let numbers = &mut Numbers::new(seed);
        let x = numbers.tensor(shape);
        let inputs = x.data.len();
        let weights = numbers.bytes(inputs * outputs);
        let channels: Vec<Channel> = (0..outputs)
            .map(|_| Channel { bias: (numbers.next() >> 46) as i32, factor: numbers.factor(0) })
            .collect();
        let [input_zero, weight_zero] = [numbers.byte(), numbers.weight_zero()];
        let op = FullyConnected { input_zero, weight_zero, output: output(numbers) };
        let expected = definition::fully_connected(&op, &x, &weights, &channels);
        for area in areas(numbers, expected.shape, 1) {
            let range = area[2].clone();
            let weights = &weights[range.start * inputs..range.end * inputs];
            let weights = pack::weights(pack::Weights::FullyConnected, weights);
            let constants = pack::channel_constants(&channels[range]);
            let bytes: Vec<u8> = x.data.iter().map(|b| *b as u8).collect();
            let to = layout(numbers, &area, false);
            let mut placed = Placed::empty(numbers, to);
            let before = placed.bytes.clone();
            fully_connected(
                &op,
                &tile_of(&area),
                &Source::new(&bytes, Layout::whole(shape[0], shape[1], shape[2])).unwrap(),
                &mut Target::new(&mut placed.bytes, placed.layout).unwrap(),
                &weights,
                Channels::new(&constants),
            )
            .unwrap();
            placed.check(&before, &expected, &area);
        }
    }

    #[test]
    fn requantise_follows_its_definition(shape in [1usize..6, 1..6, 1..12], seed: u64) {
        let numbers = &mut Numbers::new(seed);
        let x = numbers.tensor(shape);
        let op = Requantise {
            input_zero: numbers.byte(),
            factor: numbers.factor(3),
            output: output(numbers),
        };
        let expected = definition::requantise(&op, &x);
        for dense in [true, false] {
            for area in areas(numbers, shape, 1) {
                let at = layout(numbers, &area, dense);
                let mut input = Placed::filled(numbers, &x, &area, at);
                // The box may stand elsewhere in its own tensor.
                input.layout.first = [input.layout.first[0] + 5, input.layout.first[1] - 3];
                let to = layout(numbers, &area, dense);
                let mut placed = Placed::empty(numbers, to);
                let before = placed.bytes.clone();
                let source = Source::new(&input.bytes, input.layout).unwrap();
                let target = &mut Target::new(&mut placed.bytes, to).unwrap();
                requantise(&op, &tile_of(&area), &source, target).unwrap();
                placed.check(&before, &expected, &area);
            }
        }
    }

    #[test]
    fn requantising_by_one_copies(shape in [1usize..6, 1..6, 1..12], seed: u64) {
        let numbers = &mut Numbers::new(seed);
        let x = numbers.tensor(shape);
        let zero = numbers.byte();
        let op = Requantise {
            input_zero: zero,
            factor: Multiplier::ONE,
            output: Output { zero, ..Output::FULL },
        };
        let bytes: Vec<u8> = x.data.iter().map(|b| *b as u8).collect();
        let whole = Layout::whole(shape[0], shape[1], shape[2]);
        let mut copy = vec![0; bytes.len()];
        let target = &mut Target::new(&mut copy, whole).unwrap();
        let tile = Tile::whole(&whole, &whole);
        requantise(&op, &tile, &Source::new(&bytes, whole).unwrap(), target).unwrap();
        prop_assert_eq!(&copy, &bytes);
        // The arithmetic of the general path copies as well.
        prop_assert_eq!(definition::requantise(&op, &x).data, x.data);
    }

    #[test]
    fn pad_follows_its_definition(
        shape in [1usize..6, 1..6, 1..6], padding in [0usize..3, 0..3], more in [0usize..3, 0..3],
        seed: u64
    ) {
        let numbers = &mut Numbers::new(seed);
        let x = numbers.tensor(shape);
        let size = [0, 1].map(|axis| shape[axis] + padding[axis] + more[axis]);
        let zero = numbers.byte();
        let expected = definition::pad(padding, zero, &x, size);
        let op = Pad { padding: padding.map(|p| p as i32), before: 0, zero };
        for dense in [true, false] {
            for area in areas(numbers, expected.shape, 1) {
                let needed = [0..shape[0], 0..shape[1], area[2].clone()];
                let from = layout(numbers, &needed, dense);
                let input = Placed::filled(numbers, &x, &needed, from);
                let to = layout(numbers, &area, dense);
                let mut placed = Placed::empty(numbers, to);
                let before = placed.bytes.clone();
                let source = Source::new(&input.bytes, input.layout).unwrap();
                let target = &mut Target::new(&mut placed.bytes, to).unwrap();
                pad(&op, &tile_of(&area), &source, target).unwrap();
                placed.check(&before, &expected, &area);
            }
        }
    }

    #[test]
    fn pad_of_channels_follows_its_definition(
        shape in [1usize..6, 1..6, 1..40], padding in [0usize..3, 0..3], before in 0usize..6,
        behind in 0usize..6, more in [0usize..3, 0..3], seed: u64
    ) {
        let numbers = &mut Numbers::new(seed);
        let x = numbers.tensor(shape);
        let size = [0, 1].map(|axis| shape[axis] + padding[axis] + more[axis]);
        let zero = numbers.byte();
        let expected =
            Tensor::from_fn([size[0], size[1], before + shape[2] + behind], |y, x_, c| {
                let at = [y as i64 - padding[0] as i64, x_ as i64 - padding[1] as i64];
                let channel = c.checked_sub(before);
                channel.and_then(|c| x.get(at[0], at[1], c)).unwrap_or(zero)
            });
        let op = Pad { padding: padding.map(|p| p as i32), before, zero };
        for area in areas(numbers, [size[0], size[1], 1], 1) {
            let area = [area[0].clone(), area[1].clone(), 0..expected.shape[2]];
            let needed = [0..shape[0], 0..shape[1], 0..shape[2]];
            let from = layout(numbers, &needed, false);
            let input = Placed::filled(numbers, &x, &needed, from);
            let to = layout(numbers, &area, false);
            let mut placed = Placed::empty(numbers, to);
            let unwritten = placed.bytes.clone();
            let source = Source::new(&input.bytes, input.layout).unwrap();
            let target = &mut Target::new(&mut placed.bytes, to).unwrap();
            pad(&op, &tile_of(&area), &source, target).unwrap();
            placed.check(&unwritten, &expected, &area);
        }
    }

    /// The fixed-point softmax is within one step of the real one, and its shares add up.
    #[test]
    fn softmax_is_close_to_the_real_one(
        channels in 1usize..40, pixels in 1usize..4, scale in 0.01f64..0.3, seed: u64
    ) {
        let numbers = &mut Numbers::new(seed);
        let x = numbers.tensor([1, pixels, channels]);
        let real = scale * f64::from(1 << 26);
        let shift = real.log2().floor() as i32 + 1;
        let multiplier = (real / f64::from(shift).exp2() * f64::from(1u32 << 31)) as i32;
        let smallest_difference = -((f64::from((1 << 5) - 1) * f64::from(1 << 26)
            / f64::from(shift).exp2()).floor() as i32);
        let op = Softmax { scale: Multiplier { multiplier, shift }, smallest_difference };
        let bytes: Vec<u8> = x.data.iter().map(|b| *b as u8).collect();
        let whole = Layout::whole(1, pixels, channels);
        let mut shares = vec![0; bytes.len()];
        let target = &mut Target::new(&mut shares, whole).unwrap();
        let tile = Tile::whole(&whole, &whole);
        softmax(&op, &tile, &Source::new(&bytes, whole).unwrap(), target).unwrap();
        for (x, shares) in x.data.chunks(channels).zip(shares.chunks(channels)) {
            let largest = f64::from(*x.iter().max().unwrap());
            let exp: Vec<f64> =
                x.iter().map(|x| ((f64::from(*x) - largest) * scale).exp()).collect();
            let sum: f64 = exp.iter().sum();
            for (exp, share) in exp.iter().zip(shares) {
                let share = f64::from(*share as i8) + 128.0;
                let real = (exp / sum * 256.0).min(255.0);
                prop_assert!((share - real).abs() <= 1.0, "{share} for {real}");
            }
        }
    }
}
