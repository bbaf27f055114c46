//! Kernels with weights in pairs of channels against the definitions.

use crate::support::place::{Placed, layout};
use crate::support::tiles::{areas, tile_of};
use crate::support::{Numbers, definition};
use crate::windows::{Part, case, check_tiles, output};
use proptest::prelude::*;
use tilewright_kernels::{
    Channel, Channels, Conv, FullyConnected, KernelError, Layout, Output, Source, Target, Tile,
    Window, pack, paired,
};

/// Weights and constants of a convolution.
pub fn pack_conv(
    weights: &[i8],
    channels: &[Channel],
    length: usize,
    input_zero: i8,
) -> (Vec<u8>, Vec<u8>) {
    (
        pack::paired_weights(weights, length, paired::conv_bytes(length)),
        pack::paired_constants(channels, input_zero, weights, length),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn conv_follows_its_definition(
        case in case(), more in 0usize..4, outputs in 1usize..40, wide in 0usize..8
    ) {
        let numbers = &mut Numbers::new(case.seed);
        let window = case.op(numbers, 1).window;
        let area = window.size[0] * window.size[1];
        let inputs = match wide {
            // Longer than what is held at once.
            0 => 1300 / area + more,
            1 => 640usize.div_ceil(area) + more,
            // Whole words.
            2..5 => (more + 1) * 4,
            _ => case.channels[0],
        };
        let outputs = if wide < 2 { outputs % 6 + 1 } else { outputs };
        let op = Conv { weight_zero: 0, ..case.op(numbers, 1) };
        let x = case.tensor(numbers, inputs);
        let filter = area * inputs;
        let weights = numbers.bytes(outputs * filter);
        let channels = numbers.channels(outputs);
        let expected = definition::conv(&op, &x, &weights, &channels, case.output());
        let part: &Part<'_> = &|range: std::ops::Range<usize>| {
            let weights = &weights[range.start * filter..range.end * filter];
            pack_conv(weights, &channels[range], filter, op.input_zero)
        };
        check_tiles(numbers, paired::conv, &op, &x, &expected, part, 2, |_| 0..inputs).unwrap();
    }

    #[test]
    fn pointwise_follows_its_definition(
        inputs in 1usize..200, outputs in 1usize..200, size in [1usize..5, 1..7], seed: u64
    ) {
        let numbers = &mut Numbers::new(seed);
        let window = Window { size: [1; 2], stride: [1; 2], dilation: [1; 2], padding: [0; 2] };
        let op = Conv {
            window,
            groups: 1,
            input_zero: numbers.byte(),
            weight_zero: 0,
            output: output(numbers),
        };
        let x = numbers.tensor([size[0], size[1], inputs]);
        let weights = numbers.bytes(outputs * inputs);
        let channels = numbers.channels(outputs);
        let expected = definition::conv(&op, &x, &weights, &channels, size);
        let part: &Part<'_> = &|range: std::ops::Range<usize>| {
            let weights = &weights[range.start * inputs..range.end * inputs];
            pack_conv(weights, &channels[range], inputs, op.input_zero)
        };
        check_tiles(numbers, paired::conv, &op, &x, &expected, part, 2, |_| 0..inputs).unwrap();
    }

    #[test]
    fn fully_connected_follows_its_definition(
        inputs in prop_oneof![1usize..200, 2500usize..6000], outputs in 1usize..70, seed: u64
    ) {
        let numbers = &mut Numbers::new(seed);
        let outputs = if inputs > 200 { outputs.min(35) } else { outputs };
        let x = numbers.tensor([1, 1, inputs]);
        let weights = numbers.bytes(inputs * outputs);
        let channels = numbers.channels(outputs);
        let op = FullyConnected {
            input_zero: numbers.byte(),
            weight_zero: 0,
            output: output(numbers),
        };
        let expected = definition::fully_connected(&op, &x, &weights, &channels);
        for area in areas(numbers, expected.shape, 2) {
            let range = area[2].clone();
            let weights = &weights[range.start * inputs..range.end * inputs];
            let constants =
                pack::paired_constants(&channels[range], op.input_zero, weights, inputs);
            let weights = pack::paired_weights(weights, inputs, paired::vector_bytes(inputs));
            let bytes: Vec<u8> = x.data.iter().map(|b| *b as u8).collect();
            let to = layout(numbers, &area, false);
            let mut placed = Placed::empty(numbers, to);
            let before = placed.bytes.clone();
            paired::fully_connected(
                &op,
                &tile_of(&area),
                &Source::new(&bytes, Layout::whole(1, 1, inputs)).unwrap(),
                &mut Target::new(&mut placed.bytes, placed.layout).unwrap(),
                &weights,
                Channels::new(&constants),
            )
            .unwrap();
            placed.check(&before, &expected, &area);
        }
    }
}

#[test]
fn sums_of_the_longest_filter_stay_exact() {
    let length = paired::LONGEST;
    for (value, weight, zero) in [(i8::MIN, i8::MIN, i8::MAX), (i8::MAX, i8::MIN, i8::MIN)] {
        let bias = if (value < 0) == (weight < 0) { 1 << 27 } else { -(1 << 27) };
        let factor = tilewright_kernels::Multiplier { multiplier: i32::MAX, shift: -22 };
        let channels = [Channel { bias, factor }];
        let weights = vec![weight; length];
        let op = FullyConnected { input_zero: zero, weight_zero: 0, output: Output::FULL };
        let x = crate::support::Tensor { shape: [1, 1, length], data: vec![value; length] };
        let expected = definition::fully_connected(&op, &x, &weights, &channels);
        let bytes = vec![value as u8; length];
        let mut result = [0u8];
        let packed = pack::paired_weights(&weights, length, paired::vector_bytes(length));
        paired::fully_connected(
            &op,
            &Tile::whole(&Layout::whole(1, 1, length), &Layout::whole(1, 1, 1)),
            &Source::new(&bytes, Layout::whole(1, 1, length)).unwrap(),
            &mut Target::new(&mut result, Layout::whole(1, 1, 1)).unwrap(),
            &packed,
            Channels::new(&pack::paired_constants(&channels, zero, &weights, length)),
        )
        .unwrap();
        assert_eq!(result[0] as i8, expected.data[0]);
    }
}

#[test]
fn what_pairs_cannot_hold_is_refused() {
    let window = Window { size: [1; 2], stride: [1; 2], dilation: [1; 2], padding: [0; 2] };
    let op = Conv { window, groups: 1, input_zero: 0, weight_zero: 0, output: Output::FULL };
    let layout = Layout::whole(1, 1, 4);
    let tile = Tile::whole(&layout, &layout);
    let mut bytes = [0; 4];
    let constants = [0; 48];
    let mut run = |op: &Conv, weights: &[u8], constants: &[u8]| {
        let source = Source::new(&[1, 2, 3, 4], layout).unwrap();
        let target = &mut Target::new(&mut bytes, layout).unwrap();
        paired::conv(op, &tile, &source, target, weights, Channels::new(constants))
    };
    assert_eq!(run(&op, &[0; 16], &constants), Ok(()));
    let short = Err(KernelError::ConstantsTooShort);
    assert_eq!(run(&op, &[0; 15], &constants), short);
    assert_eq!(run(&op, &[0; 16], &constants[..47]), short);
    assert_eq!(run(&Conv { groups: 2, ..op }, &[0; 16], &constants), Err(KernelError::Shape));
    assert_eq!(run(&Conv { weight_zero: 1, ..op }, &[0; 16], &constants), Err(KernelError::Shape));
}
