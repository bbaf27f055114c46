//! Kernels of two operands, broadcast or not, against their definitions.

use crate::support::place::{Area, Placed, layout};
use crate::support::tiles::{areas, tile_of};
use crate::support::{Numbers, Tensor, definition};
use proptest::prelude::*;
use tilewright_kernels::{
    Add, KernelError, Layout, Mul, Multiplier, Output, Prelu, Source, Target, Tile, add, maximum,
    minimum, mul, prelu, sub, words,
};

/// A kernel run on two boxes.
type Run<'r> =
    dyn Fn(&Tile, &Source<'_>, &Source<'_>, &mut Target<'_>) -> Result<(), KernelError> + 'r;

/// What one element of the result is.
type Each<'e> = dyn Fn(i8, i8) -> i8 + 'e;

/// The element that stands at a place of the result: an operand of one row, column or channel is
/// repeated.
fn repeated(x: &Tensor, [y, column, c]: [usize; 3]) -> i8 {
    let at = |axis: usize, place: usize| if x.shape[axis] == 1 { 0 } else { place };
    x.get(at(0, y) as i64, at(1, column) as i64, at(2, c)).unwrap()
}

/// The part of an operand that an area of the result needs.
fn needed(x: &Tensor, area: &Area) -> Area {
    [0, 1, 2].map(|axis| if x.shape[axis] == 1 { 0..1 } else { area[axis].clone() })
}

fn check(
    numbers: &mut Numbers,
    shape: [usize; 3],
    operands: [&Tensor; 2],
    run: &Run<'_>,
    each: &Each<'_>,
) {
    let expected = Tensor::from_fn(shape, |y, x, c| {
        let [a, b] = operands.map(|operand| repeated(operand, [y, x, c]));
        each(a, b)
    });
    for dense in [true, false] {
        for area in areas(numbers, shape, 1) {
            let [a, mut b] = operands.map(|operand| {
                let area = needed(operand, &area);
                let at = layout(numbers, &area, dense);
                Placed::filled(numbers, operand, &area, at)
            });
            // The box may stand elsewhere in its own tensor.
            b.layout.first = [b.layout.first[0] + 5, b.layout.first[1] - 3];
            let to = layout(numbers, &area, dense);
            let mut placed = Placed::empty(numbers, to);
            let before = placed.bytes.clone();
            let target = &mut Target::new(&mut placed.bytes, to).unwrap();
            let a = Source::new(&a.bytes, a.layout).unwrap();
            let b = Source::new(&b.bytes, b.layout).unwrap();
            run(&tile_of(&area), &a, &b, target).unwrap();
            placed.check(&before, &expected, &area);
        }
    }
}

fn output(numbers: &mut Numbers) -> Output {
    let (a, b) = (numbers.byte(), numbers.byte());
    Output { zero: numbers.byte(), min: a.min(b), max: a.max(b) }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn pairs_follow_their_definitions(
        shape in [1usize..6, 1..6, 1..12], broadcast: [[bool; 3]; 2], seed: u64
    ) {
        let numbers = &mut Numbers::new(seed);
        let [a, b] = broadcast.map(|broadcast| {
            numbers.tensor([0, 1, 2].map(|axis| if broadcast[axis] { 1 } else { shape[axis] }))
        });
        let shape = [0, 1, 2].map(|axis| a.shape[axis].max(b.shape[axis]));
        let operands = [&a, &b];
        let input_zero = [numbers.byte(), numbers.byte()];
        let output = output(numbers);
        // Mostly the larger scale's factor is one half.
        let mut input = [numbers.factor(0), numbers.factor(0)];
        if let Some(larger) = input.get_mut(numbers.below(3)) {
            *larger = Multiplier { multiplier: 1 << 30, shift: 0 };
        }
        let op = Add {
            input_zero,
            input,
            sum: numbers.factor(-12),
            output,
        };
        let part = |value: i8, input: usize| {
            let value = (i64::from(value) - i64::from(input_zero[input])) * (1 << 20);
            i64::from(definition::scale(value as i32, op.input[input]))
        };
        let run = |tile: &Tile, a: &Source<'_>, b: &Source<'_>, to: &mut Target<'_>| add(&op, tile, a, b, to);
        let sum = |a, b| definition::finish(part(a, 0) + part(b, 1), op.sum, &output);
        check(numbers, shape, operands, &run, &sum);
        let run = |tile: &Tile, a: &Source<'_>, b: &Source<'_>, to: &mut Target<'_>| words::add(&op, tile, a, b, to);
        check(numbers, shape, operands, &run, &sum);
        let run = |tile: &Tile, a: &Source<'_>, b: &Source<'_>, to: &mut Target<'_>| sub(&op, tile, a, b, to);
        let difference = |a, b| definition::finish(part(a, 0) - part(b, 1), op.sum, &output);
        check(numbers, shape, operands, &run, &difference);
        let run = |tile: &Tile, a: &Source<'_>, b: &Source<'_>, to: &mut Target<'_>| words::sub(&op, tile, a, b, to);
        check(numbers, shape, operands, &run, &difference);
        let op = Mul { input_zero, product: numbers.factor(0), output };
        let run = |tile: &Tile, a: &Source<'_>, b: &Source<'_>, to: &mut Target<'_>| mul(&op, tile, a, b, to);
        let plain = |value: i8, input: usize| i64::from(value) - i64::from(input_zero[input]);
        check(numbers, shape, operands, &run, &|a, b| {
            definition::finish(plain(a, 0) * plain(b, 1), op.product, &output)
        });
        let op = Prelu { input_zero, positive: numbers.factor(2), negative: numbers.factor(0), output };
        let run = |tile: &Tile, a: &Source<'_>, b: &Source<'_>, to: &mut Target<'_>| prelu(&op, tile, a, b, to);
        check(numbers, shape, operands, &run, &|a, b| match plain(a, 0) {
            x @ 0.. => definition::finish(x, op.positive, &output),
            x => definition::finish(x * plain(b, 1), op.negative, &output),
        });
        let run = |tile: &Tile, a: &Source<'_>, b: &Source<'_>, to: &mut Target<'_>| maximum(&output, tile, a, b, to);
        check(numbers, shape, operands, &run, &|a, b| {
            i8::clamp(if a > b { a } else { b }, output.min, output.max)
        });
        let run = |tile: &Tile, a: &Source<'_>, b: &Source<'_>, to: &mut Target<'_>| minimum(&output, tile, a, b, to);
        check(numbers, shape, operands, &run, &|a, b| {
            i8::clamp(if a < b { a } else { b }, output.min, output.max)
        });
    }
}

#[test]
fn sums_of_many_elements_take_a_table() {
    let numbers = &mut Numbers::new(3);
    let shape = [9, 11, 16];
    let (a, b) = (numbers.tensor(shape), numbers.tensor(shape));
    for _ in 0..40 {
        let half = Multiplier { multiplier: 1 << 30, shift: 0 };
        let mut input = [half, numbers.factor(0)];
        if numbers.below(2) == 0 {
            input.reverse();
        }
        let output = Output { zero: numbers.byte(), ..Output::FULL };
        let input_zero = [numbers.byte(), numbers.byte()];
        let op = Add { input_zero, input, sum: numbers.factor(-12), output };
        let bytes = [&a, &b].map(|x| x.data.iter().map(|byte| *byte as u8).collect::<Vec<u8>>());
        let whole = Layout::whole(shape[0], shape[1], shape[2]);
        let [a, b] = [0, 1].map(|index| Source::new(&bytes[index], whole).unwrap());
        let tile = Tile::whole(&whole, &whole);
        for (run, same) in [(words::add, add), (words::sub, sub)] as [(PairRun, PairRun); 2] {
            let made = [run, same].map(|run| {
                let mut made = vec![0; bytes[0].len()];
                run(&op, &tile, &a, &b, &mut Target::new(&mut made, whole).unwrap()).unwrap();
                made
            });
            assert_eq!(made[0], made[1], "{op:?}");
        }
    }
}

type PairRun =
    fn(&Add, &Tile, &Source<'_>, &Source<'_>, &mut Target<'_>) -> Result<(), KernelError>;

#[test]
fn operands_that_do_not_broadcast_are_refused() {
    let (two, three) = (Layout::whole(1, 1, 2), Layout::whole(1, 1, 3));
    let a = Source::new(&[1, 2], two).unwrap();
    let b = Source::new(&[1, 2, 3], three).unwrap();
    let mut bytes = [0; 3];
    let mut target = Target::new(&mut bytes, three).unwrap();
    let tile = Tile::whole(&three, &three);
    assert_eq!(maximum(&Output::FULL, &tile, &a, &b, &mut target), Err(KernelError::Shape));
    // Rows that are neither one nor as many as the tile's.
    let rows = Layout::whole(2, 1, 3);
    let a = Source::new(&[0; 6], rows).unwrap();
    let high = Layout::whole(3, 1, 3);
    let mut bytes = [0; 9];
    let mut target = Target::new(&mut bytes, high).unwrap();
    let tile = Tile::whole(&high, &high);
    assert_eq!(maximum(&Output::FULL, &tile, &a, &b, &mut target), Err(KernelError::OutOfBounds));
}
