//! Convolution with max pooling against the two definitions, one behind the other.

use crate::paired::pack_conv;
use crate::support::place::{Placed, layout};
use crate::support::tiles::{areas, seen};
use crate::support::{Numbers, Tensor, definition};
use proptest::prelude::*;
use tilewright_kernels::{
    Channel, Channels, Conv, ConvMaxPool, KernelError, Layout, Output, Pool, Source, Target, Tile,
    Window, conv_max_pool, pack, paired,
};

/// Size, stride, padding and dilation of the convolution; size, stride, padding and padding behind
/// of the pool; length of the input and padding behind it.
type Axis = ([usize; 2], [i32; 3], [usize; 2], [i32; 2], usize);

#[derive(Clone, Debug)]
struct Case {
    axes: [Axis; 2],
    channels: [usize; 3],
    seed: u64,
}

fn axis() -> impl Strategy<Value = Axis> {
    ([1usize..5, 0..4], [1i32..4, 0..4, 1..3], [1usize..5, 0..4], [1i32..5, 0..4], 1usize..14)
}

fn case() -> impl Strategy<Value = Case> {
    (axis(), axis(), [1usize..6, 1..41, 1..4], any::<u64>()).prop_filter_map(
        "windows must fit",
        |(y, x, channels, seed)| {
            let case = Case { axes: [y, x], channels, seed };
            let fits = |size: [usize; 2]| size.iter().all(|length| *length > 0);
            (fits(case.conv_size()) && fits(case.output_size())).then_some(case)
        },
    )
}

impl Case {
    fn input(&self) -> [usize; 2] {
        [self.axes[0].4, self.axes[1].4]
    }

    fn conv_window(&self) -> Window {
        let each = |value: fn(&Axis) -> i32| [value(&self.axes[0]), value(&self.axes[1])];
        Window {
            size: [self.axes[0].0[0], self.axes[1].0[0]],
            stride: each(|axis| axis.1[0]),
            padding: each(|axis| axis.1[1]),
            dilation: each(|axis| axis.1[2]),
        }
    }

    fn conv_size(&self) -> [usize; 2] {
        let window = self.conv_window();
        [0, 1].map(|axis| {
            definition::output_size(&window, axis, self.input()[axis], self.axes[axis].0[1])
        })
    }

    /// Each window sees an output of the convolution: padding below the window, at both ends.
    fn pool_window(&self) -> Window {
        let size = [0, 1].map(|axis| self.axes[axis].2[0].min(self.conv_size()[axis].max(1)));
        let padding = [0, 1].map(|axis| self.axes[axis].3[1].min(size[axis] as i32 - 1));
        let stride = [self.axes[0].3[0], self.axes[1].3[0]];
        Window { size, stride, padding, dilation: [1; 2] }
    }

    fn output_size(&self) -> [usize; 2] {
        let window = self.pool_window();
        [0, 1].map(|axis| {
            let end = self.axes[axis].2[1].min(window.size[axis] - 1);
            definition::output_size(&window, axis, self.conv_size()[axis], end)
        })
    }
}

/// Weights and constants of the whole layer.
struct Constants {
    weights: Vec<i8>,
    channels: Vec<Channel>,
    filter: usize,
}

fn constants(numbers: &mut Numbers, op: &Conv, inputs: usize, outputs: usize) -> Constants {
    let filter = op.window.size[0] * op.window.size[1] * inputs;
    Constants {
        weights: numbers.bytes(outputs * filter),
        channels: numbers.channels(outputs),
        filter,
    }
}

/// Runs the layer in tiles, contiguous and not, and compares each with the whole.
fn check(
    numbers: &mut Numbers,
    op: &ConvMaxPool,
    x: &Tensor,
    made: &Constants,
    whole: &Tensor,
    in_pairs: bool,
) {
    let channel_step = match op.conv.groups {
        1 => 1 + usize::from(in_pairs),
        _ => whole.shape[2],
    };
    for dense in [true, false] {
        for area in areas(numbers, whole.shape, channel_step) {
            let needed = |axis: usize| {
                let conv = seen(&op.pool, axis, &area[axis], op.conv_size[axis] as usize);
                seen(&op.conv.window, axis, &conv, x.shape[axis])
            };
            let box_ = [needed(0), needed(1), 0..x.shape[2]];
            let tile = Tile {
                output_start: [area[0].start as i32, area[1].start as i32],
                output_size: [area[0].len(), area[1].len()],
                channels: area[2].len(),
                valid_start: [box_[0].start as i32, box_[1].start as i32],
                valid_end: [box_[0].end as i32, box_[1].end as i32],
            };
            let of = &area[2];
            let bytes = &made.weights[of.start * made.filter..of.end * made.filter];
            let channels = &made.channels[of.clone()];
            let (weights, channels) = match in_pairs {
                true => pack_conv(bytes, channels, made.filter, op.conv.input_zero),
                false => {
                    (pack::weights(pack::Weights::Conv, bytes), pack::channel_constants(channels))
                }
            };
            let run = if in_pairs { paired::conv_max_pool } else { conv_max_pool };
            let from = layout(numbers, &box_, dense);
            let input = Placed::filled(numbers, x, &box_, from);
            let to = layout(numbers, &area, dense);
            let mut output = Placed::empty(numbers, to);
            let before = output.bytes.clone();
            run(
                op,
                &tile,
                &Source::new(&input.bytes, input.layout).unwrap(),
                &mut Target::new(&mut output.bytes, output.layout).unwrap(),
                &weights,
                Channels::new(&channels),
            )
            .unwrap();
            output.check(&before, whole, &area);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn fused_pooling_is_convolution_then_pooling(case in case(), long: bool) {
        let numbers = &mut Numbers::new(case.seed);
        let [mut inputs, outputs, groups] = case.channels;
        let window = case.conv_window();
        if long {
            // Long filters are computed in another way than short ones.
            inputs *= 700 / (window.size[0] * window.size[1] * inputs) + 1;
        }
        let outputs = if long { outputs.min(6) } else { outputs } * groups;
        let zero = numbers.byte();
        let clamp = |numbers: &mut Numbers| {
            let (a, b) = (numbers.byte(), numbers.byte());
            match numbers.below(2) {
                0 => (i8::MIN, i8::MAX),
                _ => (a.min(b), a.max(b)),
            }
        };
        let (conv, pool) = (clamp(numbers), clamp(numbers));
        let op = Conv {
            window,
            groups,
            input_zero: numbers.byte(),
            weight_zero: numbers.weight_zero(),
            output: Output { zero, min: conv.0, max: conv.1 },
        };
        let x = numbers.tensor([case.input()[0], case.input()[1], inputs * groups]);
        let made = constants(numbers, &op, inputs, outputs);
        let between =
            definition::conv(&op, &x, &made.weights, &made.channels, case.conv_size());
        let after = Pool {
            window: case.pool_window(),
            output: Output { zero, min: pool.0, max: pool.1 },
        };
        let whole = definition::max_pool(&after, &between, case.output_size());
        // What the two clamps come to, one behind the other.
        let both = |value: i8| value.clamp(pool.0, pool.1);
        let output = Output { zero, min: both(conv.0), max: both(conv.1) };
        let fused = ConvMaxPool {
            conv: Conv { output, ..op },
            pool: after.window,
            conv_size: case.conv_size().map(|size| size as i32),
        };
        check(numbers, &fused, &x, &made, &whole, false);
        if groups == 1 && op.weight_zero == 0 {
            check(numbers, &fused, &x, &made, &whole, true);
        }
    }
}

#[test]
fn negative_results_are_not_raised_to_zero() {
    let window = Window { size: [1, 1], stride: [1, 1], dilation: [1, 1], padding: [0, 0] };
    let output = Output { zero: 0, min: i8::MIN, max: i8::MAX };
    let op = ConvMaxPool {
        conv: Conv { window, groups: 1, input_zero: 0, weight_zero: 0, output },
        pool: Window { size: [2, 2], stride: [2, 2], ..window },
        conv_size: [2, 2],
    };
    let factor = tilewright_kernels::Multiplier::ONE;
    let constants = pack::channel_constants(&[Channel { bias: 0, factor }]);
    let layout = Layout::whole(1, 1, 1);
    let tile = Tile { valid_end: [2, 2], ..Tile::whole(&layout, &layout) };
    let input = [-5i8, -7, -3, -9].map(|value| value as u8);
    let mut bytes = [0; 1];
    let source = Source::new(&input, Layout::whole(2, 2, 1)).unwrap();
    let target = &mut Target::new(&mut bytes, layout).unwrap();
    let channels = Channels::new(&constants);
    let nothing = ConvMaxPool { pool: Window { padding: [2, 0], ..op.pool }, ..op };
    let refused = conv_max_pool(&nothing, &tile, &source, target, &[1], channels);
    assert_eq!(refused, Err(KernelError::Shape));
    conv_max_pool(&op, &tile, &source, target, &[1], channels).unwrap();
    assert_eq!(bytes, [-3i8 as u8]);
}
