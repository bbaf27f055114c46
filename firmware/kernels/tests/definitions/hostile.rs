//! Kernels refuse nonsense; they never panic, and write nothing outside of their target.

use crate::support::Numbers;
use proptest::prelude::*;
use tilewright_kernels::{
    Add, AveragePool, Axis, Bilinear, Channels, Conv, ConvMaxPool, Counted, FullyConnected, Gather,
    KernelError, Layout, LocalResponse, LogSoftmax, Mean, Mul, Multiplier, Nearest, Output, Pad,
    Pool, Prelu, Requantise, Softmax, Source, Stride, Target, Tile, TransposeConv, Window, add,
    arg_max, average_pool, conv, conv_max_pool, depthwise, fully_connected, gather, local_response,
    log_softmax, lut, max_pool, maximum, mean, minimum, mul, pack, pad, paired, prelu, requantise,
    resize_bilinear, resize_nearest, softmax, sub, transpose_conv,
};

/// Kernels that [`run`] knows.
const KERNELS: usize = 25;

/// A small number mostly, sometimes a bad one.
fn count(numbers: &mut Numbers) -> usize {
    const BAD: [usize; 6] = [0, usize::MAX, usize::MAX / 2, 1 << 31, 1 << 32, 1 << 62];
    if numbers.below(12) == 0 { BAD[numbers.below(BAD.len())] } else { 1 + numbers.below(6) }
}

fn place(numbers: &mut Numbers) -> i32 {
    const BAD: [i32; 4] = [i32::MIN, i32::MAX, i32::MIN + 1, 1 << 30];
    if numbers.below(12) == 0 { BAD[numbers.below(BAD.len())] } else { numbers.below(5) as i32 - 1 }
}

fn layout(numbers: &mut Numbers, channels: usize) -> Layout {
    if channels < 7 && numbers.below(3) == 0 {
        return Layout::whole(1 + numbers.below(3), 1 + numbers.below(3), channels);
    }
    Layout {
        rows: count(numbers),
        columns: count(numbers),
        channels,
        first: [place(numbers), place(numbers)],
        row_pitch: count(numbers).saturating_mul(8),
        column_pitch: if numbers.below(2) == 0 { channels } else { count(numbers) },
        ring_rows: count(numbers).saturating_add(2),
        ring_first: numbers.below(3),
    }
}

fn factor(numbers: &mut Numbers) -> Multiplier {
    Multiplier {
        multiplier: numbers.next() as i32,
        shift: (numbers.next() as i32) >> numbers.below(32),
    }
}

/// Runs a kernel on nonsense; whether it was refused.
fn run(numbers: &mut Numbers, kernel: usize) -> Result<(), KernelError> {
    let channels = count(numbers);
    let (from, mut to) = (layout(numbers, channels), layout(numbers, channels));
    if kernel == 21 && numbers.below(4) > 0 {
        // Results of four bytes.
        to = layout(numbers, 4);
    }
    let tile = Tile {
        output_start: [place(numbers), place(numbers)],
        // A kernel may visit every output: no more than memory could hold.
        output_size: [numbers.below(5), numbers.below(5)],
        channels: if numbers.below(4) == 0 { count(numbers) } else { to.channels },
        valid_start: [place(numbers), place(numbers)],
        valid_end: [place(numbers), place(numbers)],
    };
    let window = Window {
        size: [count(numbers).min(70_000), count(numbers).min(70_000)],
        stride: [place(numbers), place(numbers)],
        dilation: [place(numbers), place(numbers)],
        padding: [place(numbers), place(numbers)],
    };
    let input: Vec<u8> = numbers.bytes(300).iter().map(|byte| *byte as u8).collect();
    let weights: Vec<u8> = input.iter().cycle().take(numbers.below(2000)).copied().collect();
    let constants = &input[..numbers.below(300)];
    let mut bytes = vec![0; 300];
    let flat = &input[..];
    let input = Source::new(&input, from)?;
    let target = &mut Target::new(&mut bytes, to)?;
    let output = Output { zero: numbers.byte(), min: numbers.byte(), max: numbers.byte() };
    let [input_zero, weight_zero] = [0; 2].map(|_: u8| numbers.byte());
    let channels = Channels::new(constants);
    let groups = if numbers.below(2) == 0 { 1 } else { count(numbers) };
    let convolution = Conv { window, groups, input_zero, weight_zero, output };
    let pool = Pool { window, output };
    match kernel {
        0 => conv(&convolution, &tile, &input, target, &weights, channels),
        1 => depthwise(&convolution, &tile, &input, target, &weights, channels),
        2 => {
            let op = FullyConnected { input_zero, weight_zero, output };
            fully_connected(&op, &tile, &input, target, &weights, channels)
        }
        3 => max_pool(&pool, &tile, &input, target),
        4 => {
            let counted = Counted { end: [place(numbers), place(numbers)], zero: input_zero };
            let counted = (numbers.below(2) == 0).then_some(counted);
            average_pool(
                &AveragePool { pool, counted, halves_up: numbers.below(2) == 0 },
                &tile,
                &input,
                target,
            )
        }
        5 => {
            let input_factors = [factor(numbers), factor(numbers)];
            let op = Add {
                input_zero: [input_zero; 2],
                input: input_factors,
                sum: factor(numbers),
                output,
            };
            add(&op, &tile, &input, &input, target)
        }
        6 => {
            let op = Requantise { input_zero, factor: factor(numbers), output };
            requantise(&op, &tile, &input, target)
        }
        7 => {
            let op = Pad { padding: window.padding, before: numbers.below(3), zero: input_zero };
            pad(&op, &tile, &input, target)
        }
        8 => {
            let smallest_difference = place(numbers);
            let op = Softmax { scale: factor(numbers), smallest_difference };
            softmax(&op, &tile, &input, target)
        }
        9 | 10 => {
            let op = Add {
                input_zero: [input_zero; 2],
                input: [factor(numbers), factor(numbers)],
                sum: factor(numbers),
                output,
            };
            let run = if kernel == 9 { sub } else { add };
            run(&op, &tile, &input, &input, target)
        }
        11 => {
            let op = Mul { input_zero: [input_zero; 2], product: factor(numbers), output };
            mul(&op, &tile, &input, &input, target)
        }
        12 => maximum(&output, &tile, &input, &input, target),
        13 => minimum(&output, &tile, &input, &input, target),
        14 => {
            let (positive, negative) = (factor(numbers), factor(numbers));
            let op = Prelu { input_zero: [input_zero; 2], positive, negative, output };
            prelu(&op, &tile, &input, &input, target)
        }
        15 => lut(&pack::table(|x| x.wrapping_add(input_zero)), &tile, &input, target),
        16 => {
            let [rows, columns] = tile.output_size;
            let sizes = [rows, 1, columns, 1, tile.channels, count(numbers).min(2)];
            let mut step = || [place(numbers) as isize, isize::MIN, 1][numbers.below(8).min(2)];
            let dimensions = sizes.map(|size| Stride { size, step: step() });
            let op = Gather { start: numbers.below(200), dimensions, split: [2, 2] };
            gather(&op, &tile, flat, target)
        }
        17 => {
            let over = [0; 3].map(|_: u8| numbers.below(3) == 0);
            let op = Mean { over, input_zero, factor: factor(numbers), output };
            mean(&op, &tile, &input, target)
        }
        18 => {
            let op = TransposeConv { window, input_zero, weight_zero, output };
            transpose_conv(&op, &tile, &input, target, &weights, channels)
        }
        19 => {
            let table: Vec<u16> = (0..8).map(|_| count(numbers) as u16).collect();
            let table = pack::nearest(&table[..4], &table[4..]);
            let op = Nearest::new(&table, numbers.below(9)).ok_or(KernelError::Shape)?;
            resize_nearest(&op, &tile, &input, target)
        }
        20 => {
            let mut number = || place(numbers).saturating_mul(300);
            let op = Bilinear { step: [number(), number()], first: [number(), number()] };
            if numbers.below(2) == 0 {
                resize_bilinear(&op, &tile, &input, target)
            } else {
                let (scale, reverse) = (factor(numbers), factor(numbers));
                let op = LogSoftmax { scale, reverse, smallest_difference: place(numbers) };
                log_softmax(&op, &tile, &input, target)
            }
        }
        22 => {
            let factors = constants.as_chunks().0;
            let around = [count(numbers), count(numbers)];
            let shift = factor(numbers).shift;
            let op = LocalResponse { around, input_zero, factors, shift, output };
            local_response(&op, &tile, &input, target)
        }
        23 => {
            let mut pool =
                Window { size: [2, 1], stride: [1, 2], padding: [0; 2], dilation: [1; 2] };
            if numbers.below(4) == 0 {
                pool.size = [count(numbers).min(70_000), count(numbers).min(70_000)];
                pool.stride = [place(numbers), place(numbers)];
                pool.padding = [place(numbers), place(numbers)];
            }
            let conv_size = [1 + numbers.below(8) as i32, numbers.below(8) as i32];
            let [y, x] = from.first;
            let valid_end = [y.wrapping_add(from.rows as i32), x.wrapping_add(from.columns as i32)];
            let inside = Tile { valid_start: from.first, valid_end, ..tile };
            let tile = if numbers.below(4) == 0 { tile } else { inside };
            let op = ConvMaxPool { conv: convolution, pool, conv_size };
            conv_max_pool(&op, &tile, &input, target, &weights, channels)
        }
        24 => {
            let mut op = convolution;
            if numbers.below(4) > 0 {
                op.window = Window { size: [3; 2], stride: [1; 2], dilation: [1; 2], ..window };
                (op.groups, op.weight_zero) = (1, 0);
            }
            paired::winograd(&op, &tile, &input, target, &weights, channels)
        }
        _ => {
            let axis = [Axis::Rows, Axis::Columns, Axis::Channels][numbers.below(3)];
            arg_max(axis, &tile, &input, target)
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    #[test]
    fn nonsense_is_refused_or_survived(seed: u64) {
        let numbers = &mut Numbers::new(seed);
        for round in 0..2200 {
            let _ = run(numbers, round % KERNELS);
        }
    }
}

/// The test above would say little if all were refused.
#[test]
fn each_kernel_accepts_some_nonsense() {
    let numbers = &mut Numbers::new(7);
    for kernel in 0..KERNELS {
        let accepted = (0..30_000).filter(|_| run(numbers, kernel).is_ok()).count();
        assert!(accepted > 20, "kernel {kernel} accepted {accepted}");
    }
}
