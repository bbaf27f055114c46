//! Convolutions and pools against their definitions: whole, in tiles, pitched, in rings.

use crate::support::place::{Placed, layout};
use crate::support::tiles::{areas, tile};
use crate::support::{Numbers, Tensor, definition};
use proptest::prelude::*;
use tilewright_kernels::{
    AveragePool, Channel, Channels, Conv, Counted, KernelError, Multiplier, Output, Pool, Source,
    Target, Tile, Window, average_pool, conv, depthwise, max_pool, pack, words,
};

#[derive(Clone, Debug)]
pub struct Case {
    window: Window,
    input: [usize; 2],
    end_padding: [usize; 2],
    /// Channels of a group in, out, and groups.
    pub channels: [usize; 3],
    pub seed: u64,
}

pub fn case() -> impl Strategy<Value = Case> {
    let axis = || (1usize..6, 1i32..4, 1i32..4, 0i32..4, 1usize..12, 0usize..4);
    (axis(), axis(), [1usize..11, 1..11, 1..4], any::<u64>()).prop_filter_map(
        "the window must fit",
        |(y, x, channels, seed)| {
            let window = Window {
                size: [y.0, x.0],
                stride: [y.1, x.1],
                dilation: [y.2, x.2],
                padding: [y.3, x.3],
            };
            let case = Case { window, input: [y.4, x.4], end_padding: [y.5, x.5], channels, seed };
            case.output().iter().all(|size| *size > 0).then_some(case)
        },
    )
}

impl Case {
    pub fn output(&self) -> [usize; 2] {
        [0, 1].map(|axis| {
            definition::output_size(&self.window, axis, self.input[axis], self.end_padding[axis])
        })
    }

    pub fn op(&self, numbers: &mut Numbers, groups: usize) -> Conv {
        let [input_zero, weight_zero] = [numbers.byte(), numbers.weight_zero()];
        Conv { window: self.window, groups, input_zero, weight_zero, output: output(numbers) }
    }

    pub fn tensor(&self, numbers: &mut Numbers, channels: usize) -> Tensor {
        numbers.tensor([self.input[0], self.input[1], channels])
    }
}

pub fn output(numbers: &mut Numbers) -> Output {
    let (a, b) = (numbers.byte(), numbers.byte());
    if numbers.below(2) == 0 {
        Output { zero: numbers.byte(), ..Output::FULL }
    } else {
        Output { zero: numbers.byte(), min: a.min(b), max: a.max(b) }
    }
}

pub fn channel_constants(numbers: &mut Numbers, count: usize) -> Vec<Channel> {
    let channel = |_| Channel {
        bias: match numbers.below(6) {
            0 => i32::MAX,
            1 => i32::MIN,
            _ => (numbers.next() >> 48) as i32 - (1 << 15),
        },
        factor: Multiplier {
            multiplier: (1 << 30) + (numbers.next() >> 35) as i32 % (1 << 30),
            shift: 2 - numbers.below(14) as i32,
        },
    };
    (0..count).map(channel).collect()
}

/// What is computed of a channel range: weights and constants packed for it.
pub type Part<'p> = dyn Fn(std::ops::Range<usize>) -> (Vec<u8>, Vec<u8>) + 'p;

pub type Run =
    fn(&Conv, &Tile, &Source<'_>, &mut Target<'_>, &[u8], Channels<'_>) -> Result<(), KernelError>;

/// Runs a convolution in tiles, contiguous and not, and compares each with the whole.
#[allow(clippy::too_many_arguments)]
pub fn check_tiles(
    numbers: &mut Numbers,
    run: Run,
    op: &Conv,
    x: &Tensor,
    expected: &Tensor,
    part: &Part<'_>,
    channel_step: usize,
    inputs_of: impl Fn(&std::ops::Range<usize>) -> std::ops::Range<usize>,
) -> Result<(), KernelError> {
    for dense in [true, false] {
        for area in areas(numbers, expected.shape, channel_step) {
            let (tile, needed) = tile(&op.window, &area, x, inputs_of(&area[2]));
            let (weights, constants) = part(area[2].clone());
            let from = layout(numbers, &needed, dense);
            let input = Placed::filled(numbers, x, &needed, from);
            let to = layout(numbers, &area, dense);
            let mut output = Placed::empty(numbers, to);
            let before = output.bytes.clone();
            run(
                op,
                &tile,
                &Source::new(&input.bytes, input.layout)?,
                &mut Target::new(&mut output.bytes, output.layout)?,
                &weights,
                Channels::new(&constants),
            )?;
            output.check(&before, expected, &area);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn conv_follows_its_definition(case in case(), wide: bool) {
        let numbers = &mut Numbers::new(case.seed);
        let [mut group_inputs, group_outputs, groups] = case.channels;
        if wide {
            // Long filters are computed in another way than short ones.
            group_inputs *= 700 / (case.window.size[0] * case.window.size[1] * group_inputs) + 1;
        }
        let op = case.op(numbers, groups);
        let x = case.tensor(numbers, group_inputs * groups);
        let outputs = group_outputs * groups;
        let filter = op.window.size[0] * op.window.size[1] * group_inputs;
        let weights = numbers.bytes(outputs * filter);
        let channels = channel_constants(numbers, outputs);
        let expected = definition::conv(&op, &x, &weights, &channels, case.output());
        let part = |range: std::ops::Range<usize>| (
            pack::weights(pack::Weights::Conv, &weights[range.start * filter..range.end * filter]),
            pack::channel_constants(&channels[range]),
        );
        // The channels of a grouped convolution are cut by another op with fewer groups.
        let (step, all) = if groups == 1 { (1, 0..x.shape[2]) } else { (outputs, 0..x.shape[2]) };
        check_tiles(numbers, conv, &op, &x, &expected, &part, step, |_| all.clone()).unwrap();
    }

    #[test]
    fn depthwise_follows_its_definition(case in case(), multiplier in 1usize..4, wide in 0usize..3) {
        let numbers = &mut Numbers::new(case.seed);
        let op = case.op(numbers, multiplier);
        let inputs = case.channels[0] + wide * 8;
        let x = case.tensor(numbers, inputs);
        let outputs = inputs * multiplier;
        let taps = op.window.size[0] * op.window.size[1];
        let weights = numbers.bytes(taps * outputs);
        let channels = channel_constants(numbers, outputs);
        let expected = definition::depthwise(&op, &x, &weights, &channels, case.output());
        let part = |range: std::ops::Range<usize>| {
            let rows = weights.chunks(outputs).flat_map(|tap| tap[range.clone()].to_vec());
            let rows: Vec<i8> = rows.collect();
            let weights = pack::weights(pack::Weights::Depthwise, &rows);
            (weights, pack::channel_constants(&channels[range]))
        };
        check_tiles(numbers, depthwise, &op, &x, &expected, &part, multiplier, |channels| {
            channels.start / multiplier..channels.end / multiplier
        })
        .unwrap();
    }

    #[test]
    fn pools_follow_their_definitions(case in case(), wide in 0usize..3) {
        let numbers = &mut Numbers::new(case.seed);
        let x = case.tensor(numbers, case.channels[0] + 8 * wide);
        let mut window = case.window;
        // Each window must see input: padding below what the window reaches, at both ends.
        let mut size = [0; 2];
        for (axis, size) in size.iter_mut().enumerate() {
            window.dilation[axis] = 1;
            window.size[axis] = window.size[axis].min(case.input[axis]);
            let most = window.size[axis] - 1;
            window.padding[axis] = window.padding[axis].min(most as i32);
            let end = case.end_padding[axis].min(most);
            *size = definition::output_size(&window, axis, case.input[axis], end);
        }
        let op = Pool { window, output: output(numbers) };
        let halves_up = numbers.below(2) == 0;
        let average = |counted| AveragePool { pool: op, counted, halves_up };
        let plain = average(None);
        // Padding counts to some place at or behind the input's end.
        let end = [0, 1].map(|axis| (case.input[axis] + numbers.below(3)) as i32);
        let padded = average(Some(Counted { end, zero: numbers.byte() }));
        let runs: [(&PoolRun<'_>, Tensor); 6] = [
            (&|tile, from, to| max_pool(&op, tile, from, to), definition::max_pool(&op, &x, size)),
            (
                &|tile, from, to| words::max_pool(&op, tile, from, to),
                definition::max_pool(&op, &x, size),
            ),
            (
                &|tile, from, to| words::average_pool(&plain, tile, from, to),
                definition::average_pool(&plain, &x, size),
            ),
            (
                &|tile, from, to| words::average_pool(&padded, tile, from, to),
                definition::average_pool(&padded, &x, size),
            ),
            (
                &|tile, from, to| average_pool(&plain, tile, from, to),
                definition::average_pool(&plain, &x, size),
            ),
            (
                &|tile, from, to| average_pool(&padded, tile, from, to),
                definition::average_pool(&padded, &x, size),
            ),
        ];
        for (run, expected) in runs {
            for dense in [true, false] {
                for area in areas(numbers, expected.shape, 1) {
                    let (tile, needed) = tile(&window, &area, &x, area[2].clone());
                    let from = layout(numbers, &needed, dense);
                    let input = Placed::filled(numbers, &x, &needed, from);
                    let to = layout(numbers, &area, dense);
                    let mut placed = Placed::empty(numbers, to);
                    let before = placed.bytes.clone();
                    let source = Source::new(&input.bytes, input.layout).unwrap();
                    let mut target = Target::new(&mut placed.bytes, placed.layout).unwrap();
                    run(&tile, &source, &mut target).unwrap();
                    placed.check(&before, &expected, &area);
                }
            }
        }
    }
}

type PoolRun<'r> = dyn Fn(&Tile, &Source<'_>, &mut Target<'_>) -> Result<(), KernelError> + 'r;

#[test]
fn a_pool_that_sees_nothing_is_refused() {
    let op = Pool {
        window: Window { size: [1, 1], stride: [1, 1], dilation: [1, 1], padding: [3, 0] },
        output: Output::FULL,
    };
    let layout = tilewright_kernels::Layout::whole(1, 1, 4);
    let tile = Tile::whole(&layout, &layout);
    let mut bytes = [0; 4];
    let input = Source::new(&[1, 2, 3, 4], layout).unwrap();
    let output = &mut Target::new(&mut bytes, layout).unwrap();
    assert_eq!(max_pool(&op, &tile, &input, output), Err(KernelError::Shape));
    for counted in [None, Some(Counted { end: [1, 1], zero: 0 })] {
        let op = AveragePool { pool: op, counted, halves_up: false };
        assert_eq!(average_pool(&op, &tile, &input, output), Err(KernelError::Shape));
    }
}
