//! Kernels that take whole dimensions together, against their definitions.

use crate::support::place::{Placed, layout};
use crate::support::tiles::{areas, tile_of};
use crate::support::{Numbers, Tensor, definition};
use proptest::prelude::*;
use tilewright_kernels::{
    Axis, Layout, LocalResponse, LogSoftmax, Mean, Multiplier, Output, Source, Target, Tile,
    arg_max, local_response, log_softmax, mean, pack, words,
};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn means_follow_their_definition(shape in [1usize..6, 1..6, 1..40], over: [bool; 3], seed: u64) {
        let numbers = &mut Numbers::new(seed);
        let x = numbers.tensor(shape);
        let (low, high) = (numbers.byte(), numbers.byte());
        let output = Output { zero: numbers.byte(), min: low.min(high), max: low.max(high) };
        let op = Mean { over, input_zero: numbers.byte(), factor: numbers.factor(0), output };
        let runs = [mean, words::mean];
        let all = |axis: usize, at: usize| if over[axis] { 0..shape[axis] } else { at..at + 1 };
        let size = [0, 1, 2].map(|axis| if over[axis] { 1 } else { shape[axis] });
        let expected = Tensor::from_fn(size, |oy, ox, oc| {
            let mut sum = 0;
            for y in all(0, oy) {
                for x_ in all(1, ox) {
                    for c in all(2, oc) {
                        let value = x.get(y as i64, x_ as i64, c).unwrap();
                        sum += i64::from(value) - i64::from(op.input_zero);
                    }
                }
            }
            definition::finish(sum, op.factor, &output)
        });
        for area in areas(numbers, size, 1) {
            let needed = [0, 1, 2].map(|axis| if over[axis] { 0..shape[axis] } else { area[axis].clone() });
            let from = layout(numbers, &needed, false);
            let input = Placed::filled(numbers, &x, &needed, from);
            let to = layout(numbers, &area, false);
            for run in runs {
                let mut placed = Placed::empty(numbers, to);
                let before = placed.bytes.clone();
                let source = Source::new(&input.bytes, from).unwrap();
                let target = &mut Target::new(&mut placed.bytes, to).unwrap();
                run(&op, &tile_of(&area), &source, target).unwrap();
                placed.check(&before, &expected, &area);
            }
        }
    }

    #[test]
    fn the_first_largest_is_found(shape in [1usize..6, 1..6, 1..9], axis in 0usize..3, seed: u64) {
        let numbers = &mut Numbers::new(seed);
        let mut x = numbers.tensor(shape);
        // Few different values, so that some are equal.
        x.data.iter_mut().for_each(|value| *value = *value / 60 * 60);
        let mut size = shape;
        size[axis] = 1;
        let index = |at: [usize; 3]| -> i32 {
            let value = |i: usize| {
                let mut at = at;
                at[axis] = i;
                x.get(at[0] as i64, at[1] as i64, at[2]).unwrap()
            };
            let largest = (0..shape[axis]).map(value).max().unwrap();
            (0..shape[axis]).find(|i| value(*i) == largest).unwrap() as i32
        };
        // Four bytes for each result.
        let expected = Tensor::from_fn([size[0], size[1], size[2] * 4], |y, x_, byte| {
            index([y, x_, byte / 4]).to_le_bytes()[byte % 4] as i8
        });
        let which = [Axis::Rows, Axis::Columns, Axis::Channels][axis];
        for area in areas(numbers, expected.shape, 4) {
            let mut needed = [area[0].clone(), area[1].clone(), area[2].start / 4..area[2].end / 4];
            needed[axis] = 0..shape[axis];
            let from = layout(numbers, &needed, false);
            let input = Placed::filled(numbers, &x, &needed, from);
            let to = layout(numbers, &area, false);
            let mut placed = Placed::empty(numbers, to);
            let before = placed.bytes.clone();
            let source = Source::new(&input.bytes, from).unwrap();
            let target = &mut Target::new(&mut placed.bytes, to).unwrap();
            arg_max(which, &tile_of(&area), &source, target).unwrap();
            placed.check(&before, &expected, &area);
        }
    }

    #[test]
    fn responses_are_normalised_by_their_neighbours(
        shape in [1usize..4, 1..4, 1..20], around in [0usize..5, 0..5], seed: u64
    ) {
        let numbers = &mut Numbers::new(seed);
        let x = numbers.tensor(shape);
        let output = Output { zero: numbers.byte(), ..Output::FULL };
        let table: Vec<i32> = (0..400).map(|_| (numbers.next() >> 33) as i32).collect();
        let input_zero = numbers.byte();
        let shift = -(numbers.below(8) as i32);
        // The sums at which the entries stand: more than nine squares can make.
        let places: Vec<i64> = (0..32)
            .chain((1..22).flat_map(|bits| (16..32).map(move |entry| entry << bits)))
            .collect();
        let expected = Tensor::from_fn(shape, |y, x_, c| {
            let value = |c: usize| {
                i64::from(x.get(y as i64, x_ as i64, c).unwrap()) - i64::from(input_zero)
            };
            let first = c.saturating_sub(around[0]);
            let last = (c + around[1]).min(shape[2] - 1);
            let sum: i64 = (first..=last).map(|c| value(c) * value(c)).sum();
            let index = places.iter().rposition(|place| *place <= sum).unwrap();
            let (low, high) = (places[index], places[index + 1]);
            let (from, to) = (i64::from(table[index]), i64::from(table[index + 1]));
            let multiplier = from + ((to - from) * (sum - low)).div_euclid(high - low);
            let factor = Multiplier { multiplier: multiplier as i32, shift };
            definition::finish(value(c), factor, &output)
        });
        let packed = pack::factors(&table);
        let factors = packed.as_chunks().0;
        let op = LocalResponse { around, input_zero, factors, shift, output };
        for dense in [true, false] {
            let area = [0..shape[0], 0..shape[1], 0..shape[2]];
            let from = layout(numbers, &area, dense);
            let input = Placed::filled(numbers, &x, &area, from);
            let to = layout(numbers, &area, dense);
            let mut placed = Placed::empty(numbers, to);
            let before = placed.bytes.clone();
            let source = Source::new(&input.bytes, from).unwrap();
            let target = &mut Target::new(&mut placed.bytes, to).unwrap();
            local_response(&op, &tile_of(&area), &source, target).unwrap();
            placed.check(&before, &expected, &area);
        }
    }

    /// The fixed-point logarithm is within a step of the real one.
    #[test]
    fn log_softmax_is_close_to_the_real_one(
        channels in 1usize..40, pixels in 1usize..4, scale in 0.01f64..0.3, seed: u64
    ) {
        let numbers = &mut Numbers::new(seed);
        let x = numbers.tensor([1, pixels, channels]);
        let multiplier = |real: f64| {
            let shift = real.log2().floor() as i32 + 1;
            let multiplier = (real / f64::from(shift).exp2() * f64::from(1u32 << 31)) as i32;
            Multiplier { multiplier, shift }
        };
        let factor = scale * f64::from(1 << 26);
        let forward = multiplier(factor);
        let radius = f64::from((1 << 5) - 1) * f64::from(1 << 26) / f64::from(forward.shift).exp2();
        let op = LogSoftmax {
            scale: forward,
            reverse: multiplier(1.0 / factor),
            smallest_difference: -(radius.floor() as i32),
        };
        let bytes: Vec<u8> = x.data.iter().map(|b| *b as u8).collect();
        let whole = Layout::whole(1, pixels, channels);
        let mut logs = vec![0; bytes.len()];
        let target = &mut Target::new(&mut logs, whole).unwrap();
        let tile = Tile::whole(&whole, &whole);
        log_softmax(&op, &tile, &Source::new(&bytes, whole).unwrap(), target).unwrap();
        for (x, logs) in x.data.chunks(channels).zip(logs.chunks(channels)) {
            let largest = f64::from(*x.iter().max().unwrap());
            let differences: Vec<f64> =
                x.iter().map(|x| (f64::from(*x) - largest) * scale).collect();
            let sum: f64 = differences.iter().map(|difference| difference.exp()).sum();
            for ((difference, log), x) in differences.iter().zip(logs).zip(x) {
                let found = f64::from(*log as i8) - 127.0;
                // Differences that the fixed point cannot hold end at the smallest result.
                if f64::from(*x) - largest < f64::from(op.smallest_difference) {
                    prop_assert_eq!(*log as i8, i8::MIN);
                    continue;
                }
                let real = ((difference - sum.ln()) * 16.0).max(-255.0);
                prop_assert!((found - real).abs() <= 0.51, "{found} for {real}");
            }
        }
    }
}
