//! Nonsense for each kernel, and the call with it.

use crate::support::Numbers;
use tilewright_kernels::{
    Add, AveragePool, Axis, Bilinear, Channels, Conv, ConvMaxPool, Counted, FullyConnected, Gather,
    KernelError, Layout, LocalResponse, LogSoftmax, Mean, Mul, Multiplier, Nearest, Output, Pad,
    Pool, Prelu, Requantise, Softmax, Source, Stride, Target, Tile, TransposeConv, Window, arg_max,
    gather, local_response, log_softmax, lut, maximum, minimum, mul, pack, pad, paired, portable,
    prelu, requantise, resize_bilinear, resize_nearest, softmax, transpose_conv, words,
};

/// Kernels that [`Case::call`] knows.
pub const KERNELS: usize = 34;

/// The first of those that compute what an earlier one does: see [`same_as`].
const OTHERS: usize = 24;

/// The portable kernel that computes the same.
pub fn same_as(kernel: usize) -> usize {
    match kernel {
        24 => 5,
        25 => 9,
        26 => 4,
        27 => 1,
        28 => 3,
        29 => 17,
        30 => 0,
        31 => 2,
        32 => 23,
        kernel => kernel,
    }
}

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

/// What a kernel is called with, but for the numbers of its operator.
#[derive(Clone, Debug)]
pub struct Case {
    pub from: Layout,
    pub to: Layout,
    pub tile: Tile,
    pub window: Window,
    pub groups: usize,
    pub zeros: [i8; 2],
    pub output: Output,
    pub input: Vec<u8>,
    /// The target's bytes.
    pub before: Vec<u8>,
    pub weights: Vec<u8>,
    pub constants: Vec<u8>,
    /// Both in pairs of channels, if there are as many.
    pairs: Option<[Vec<u8>; 2]>,
}

impl Case {
    pub fn new(numbers: &mut Numbers, kernel: usize) -> Self {
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
        let mut bytes =
            |count: usize| numbers.bytes(count).iter().map(|byte| *byte as u8).collect::<Vec<u8>>();
        let (input, before) = (bytes(300), bytes(300));
        let weights: Vec<u8> = input.iter().cycle().take(numbers.below(2000)).copied().collect();
        let of_channels = numbers.below(12);
        let channels = numbers.channels(of_channels);
        let [one, other] = [numbers.byte(), numbers.byte()];
        let output = Output { zero: numbers.byte(), min: one.min(other), max: one.max(other) };
        // What pairs of channels can hold, mostly.
        let is_plain = kernel >= 30 && numbers.below(4) > 0;
        let zeros = [numbers.byte(), if is_plain { 0 } else { numbers.weight_zero() }];
        let vector = kernel == 31;
        let length = match vector {
            true => from.rows.checked_mul(from.columns),
            false => window.size[0].checked_mul(window.size[1]),
        };
        let length = length.and_then(|area| area.checked_mul(from.channels));
        let length = length.filter(|length| (1..=2000).contains(length));
        let pairs = length.map(|length| {
            let size =
                if vector { paired::vector_bytes(length) } else { paired::conv_bytes(length) };
            let natural: Vec<i8> = weights.iter().map(|byte| *byte as i8).collect();
            let constants = pack::paired_constants(&channels, zeros[0], &natural, length);
            [pack::paired_weights(&natural, length, size), constants]
        });
        let groups = if is_plain || numbers.below(2) == 0 { 1 } else { count(numbers) };
        let constants = pack::channel_constants(&channels);
        Self {
            from,
            to,
            tile,
            window,
            groups,
            zeros,
            output,
            input,
            before,
            weights,
            constants,
            pairs,
        }
    }

    /// Whether a row and column of the target's box are the tile's.
    pub fn is_in_tile(&self, kernel: usize, row: usize, column: usize) -> bool {
        // A fully connected layer has one pixel, whatever the tile's size.
        let size = if matches!(kernel, 2 | 31) { [1; 2] } else { self.tile.output_size };
        let inside = |axis: usize, at: usize| {
            // Boxes lie at coordinates that wrap.
            let place = self.to.first[axis].wrapping_add(at as i32);
            (place.wrapping_sub(self.tile.output_start[axis]) as u32 as usize) < size[axis]
        };
        inside(0, row) && inside(1, column)
    }

    pub fn convolution(&self) -> Conv {
        let Self { window, groups, zeros: [input_zero, weight_zero], output, .. } = *self;
        Conv { window, groups, input_zero, weight_zero, output }
    }

    pub fn average_pool(&self, numbers: &mut Numbers) -> AveragePool {
        let Self { window, zeros: [zero, _], output, .. } = *self;
        let counted = Counted { end: [place(numbers), place(numbers)], zero };
        let counted = (numbers.below(2) == 0).then_some(counted);
        let pool = Pool { window, output };
        AveragePool { pool, counted, halves_up: numbers.below(2) == 0 }
    }

    /// Calls the kernel; the same numbers give the same operator.
    pub fn call(
        &self,
        kernel: usize,
        numbers: &mut Numbers,
        input: &Source<'_>,
        target: &mut Target<'_>,
    ) -> Result<(), KernelError> {
        let Self { window, zeros: [input_zero, weight_zero], output, .. } = *self;
        let (mut tile, pool) = (self.tile, Pool { window, output });
        let (mut weights, mut constants) = (&self.weights[..], &self.constants[..]);
        if kernel >= OTHERS
            && let Some([pairs, of_pairs]) = &self.pairs
        {
            (weights, constants) = (pairs, of_pairs);
        }
        let channels = Channels::new(constants);
        match kernel {
            0 | 1 | 27 | 30 => {
                let run = match kernel {
                    0 => portable::conv,
                    1 => portable::depthwise,
                    27 => words::depthwise,
                    _ => paired::conv,
                };
                // Depthwise weights are in their natural order.
                let (weights, channels) = match kernel {
                    27 => (&self.weights[..], Channels::new(&self.constants)),
                    _ => (weights, channels),
                };
                run(&self.convolution(), &tile, input, target, weights, channels)
            }
            2 | 31 => {
                let op = FullyConnected { input_zero, weight_zero, output };
                let run =
                    if kernel == 2 { portable::fully_connected } else { paired::fully_connected };
                run(&op, &tile, input, target, weights, channels)
            }
            3 | 28 => {
                let run = if kernel == 3 { portable::max_pool } else { words::max_pool };
                run(&pool, &tile, input, target)
            }
            4 | 26 => {
                let run = if kernel == 4 { portable::average_pool } else { words::average_pool };
                run(&self.average_pool(numbers), &tile, input, target)
            }
            5 | 9 | 24 | 25 => {
                let op = Add {
                    input_zero: [input_zero; 2],
                    input: [factor(numbers), factor(numbers)],
                    sum: factor(numbers),
                    output,
                };
                let run = match kernel {
                    5 => portable::add,
                    9 => portable::sub,
                    24 => words::add,
                    _ => words::sub,
                };
                run(&op, &tile, input, input, target)
            }
            6 => {
                let op = Requantise { input_zero, factor: factor(numbers), output };
                requantise(&op, &tile, input, target)
            }
            7 => {
                let op =
                    Pad { padding: window.padding, before: numbers.below(3), zero: input_zero };
                pad(&op, &tile, input, target)
            }
            8 => {
                let smallest_difference = place(numbers);
                let op = Softmax { scale: factor(numbers), smallest_difference };
                softmax(&op, &tile, input, target)
            }
            11 => {
                let op = Mul { input_zero: [input_zero; 2], product: factor(numbers), output };
                mul(&op, &tile, input, input, target)
            }
            12 => maximum(&output, &tile, input, input, target),
            13 => minimum(&output, &tile, input, input, target),
            14 => {
                let (positive, negative) = (factor(numbers), factor(numbers));
                let op = Prelu { input_zero: [input_zero; 2], positive, negative, output };
                prelu(&op, &tile, input, input, target)
            }
            10 | 15 => lut(&pack::table(|x| x.wrapping_add(input_zero)), &tile, input, target),
            16 => {
                let [rows, columns] = tile.output_size;
                let sizes = [rows, 1, columns, 1, tile.channels, count(numbers).min(2)];
                let mut step = || [place(numbers) as isize, isize::MIN, 1][numbers.below(8).min(2)];
                let dimensions = sizes.map(|size| Stride { size, step: step() });
                let op = Gather { start: numbers.below(200), dimensions, split: [2, 2] };
                gather(&op, &tile, &self.input, target)
            }
            17 | 29 => {
                let over = [0; 3].map(|_: u8| numbers.below(3) == 0);
                let op = Mean { over, input_zero, factor: factor(numbers), output };
                let run = if kernel == 17 { portable::mean } else { words::mean };
                run(&op, &tile, input, target)
            }
            18 => {
                let op = TransposeConv { window, input_zero, weight_zero, output };
                transpose_conv(&op, &tile, input, target, weights, channels)
            }
            19 => {
                let table: Vec<u16> = (0..8).map(|_| count(numbers) as u16).collect();
                let table = pack::nearest(&table[..4], &table[4..]);
                let op = Nearest::new(&table, numbers.below(9)).ok_or(KernelError::Shape)?;
                resize_nearest(&op, &tile, input, target)
            }
            20 => {
                let mut number = || place(numbers).saturating_mul(300);
                let op = Bilinear { step: [number(), number()], first: [number(), number()] };
                if numbers.below(2) == 0 {
                    resize_bilinear(&op, &tile, input, target)
                } else {
                    let (scale, reverse) = (factor(numbers), factor(numbers));
                    let op = LogSoftmax { scale, reverse, smallest_difference: place(numbers) };
                    log_softmax(&op, &tile, input, target)
                }
            }
            22 => {
                let factors = constants.as_chunks().0;
                let around = [count(numbers), count(numbers)];
                let shift = factor(numbers).shift;
                let op = LocalResponse { around, input_zero, factors, shift, output };
                local_response(&op, &tile, input, target)
            }
            23 | 32 => {
                let mut pool =
                    Window { size: [2, 1], stride: [1, 2], padding: [0; 2], dilation: [1; 2] };
                if numbers.below(4) == 0 {
                    pool.size = [count(numbers).min(70_000), count(numbers).min(70_000)];
                    pool.stride = [place(numbers), place(numbers)];
                    pool.padding = [place(numbers), place(numbers)];
                }
                let conv_size = [1 + numbers.below(8) as i32, numbers.below(8) as i32];
                let Layout { first, rows, columns, .. } = self.from;
                if numbers.below(4) > 0 {
                    let [y, x] = first;
                    tile.valid_start = first;
                    tile.valid_end = [y.wrapping_add(rows as i32), x.wrapping_add(columns as i32)];
                }
                let op = ConvMaxPool { conv: self.convolution(), pool, conv_size };
                let run =
                    if kernel == 23 { portable::conv_max_pool } else { paired::conv_max_pool };
                run(&op, &tile, input, target, weights, channels)
            }
            33 => {
                let mut op = self.convolution();
                if numbers.below(4) > 0 {
                    op.window = Window { size: [3; 2], stride: [1; 2], dilation: [1; 2], ..window };
                }
                let (weights, channels) = (&self.weights[..], Channels::new(&self.constants));
                paired::winograd(&op, &tile, input, target, weights, channels)
            }
            _ => {
                let axis = [Axis::Rows, Axis::Columns, Axis::Channels][numbers.below(3)];
                arg_max(axis, &tile, input, target)
            }
        }
    }
}
