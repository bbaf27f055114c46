//! Convolutions with transformed weights against their definitions.

use crate::support::{Numbers, Tensor, definition};
use crate::windows::{Part, check_tiles, output};
use proptest::prelude::*;
use tilewright_kernels::{
    Channel, Channels, Conv, KernelError, Layout, Multiplier, Output, Source, Target, Tile, Window,
    pack, paired,
};

const WINDOW: Window = Window { size: [3; 2], stride: [1; 2], dilation: [1; 2], padding: [1; 2] };

fn packed(
    weights: &[i8],
    channels: &[Channel],
    inputs: usize,
    input_zero: i8,
) -> (Vec<u8>, Vec<u8>) {
    (
        pack::winograd_weights(weights, inputs),
        pack::paired_constants(channels, input_zero, weights, 9 * inputs),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn conv_follows_its_definition(
        size in [3usize..13, 3..13],
        padding in [0i32..4, 0..4],
        behind in [0usize..4, 0..4],
        (fours, outputs) in prop_oneof![(1usize..10, 1usize..20), (1usize..28, 1usize..5), (1usize..4, 30usize..80)],
        seed: u64,
    ) {
        let numbers = &mut Numbers::new(seed);
        let (inputs, window) = (4 * fours, Window { padding, ..WINDOW });
        let op = Conv {
            window,
            groups: 1,
            input_zero: numbers.byte(),
            weight_zero: 0,
            output: output(numbers),
        };
        let x = numbers.tensor([size[0], size[1], inputs]);
        let weights = numbers.bytes(outputs * 9 * inputs);
        let channels = numbers.channels(outputs);
        let made = [0, 1].map(|axis| definition::output_size(&window, axis, size[axis], behind[axis]));
        let expected = definition::conv(&op, &x, &weights, &channels, made);
        let part: &Part<'_> = &|range: std::ops::Range<usize>| {
            let weights = &weights[range.start * 9 * inputs..range.end * 9 * inputs];
            packed(weights, &channels[range], inputs, op.input_zero)
        };
        check_tiles(numbers, paired::winograd, &op, &x, &expected, part, 2, |_| 0..inputs).unwrap();
    }
}

/// A whole layer of 2x2 pixels.
fn small(
    op: &Conv,
    x: &Tensor,
    weights: &[u8],
    constants: &[u8],
    outputs: usize,
) -> Result<Vec<u8>, KernelError> {
    let bytes: Vec<u8> = x.data.iter().map(|byte| *byte as u8).collect();
    let mut made = vec![0; 4 * outputs];
    let [h, w, inputs] = x.shape;
    let (from, to) = (Layout::whole(h, w, inputs), Layout::whole(2, 2, outputs));
    paired::winograd(
        op,
        &Tile::whole(&from, &to),
        &Source::new(&bytes, from).unwrap(),
        &mut Target::new(&mut made, to).unwrap(),
        weights,
        Channels::new(constants),
    )?;
    Ok(made)
}

#[test]
fn sums_of_the_most_channels_stay_exact() {
    let inputs = paired::WINOGRAD_INPUTS;
    for (value, weight, zero) in [(i8::MIN, i8::MIN, i8::MAX), (i8::MAX, i8::MIN, i8::MIN)] {
        for least in [1 << 27, 1] {
            let bias = if (value < 0) == (weight < 0) { least } else { -least };
            let channels =
                [Channel { bias, factor: Multiplier { multiplier: i32::MAX, shift: -22 } }; 2];
            let op = Conv {
                window: Window { padding: [0; 2], ..WINDOW },
                groups: 1,
                input_zero: zero,
                weight_zero: 0,
                output: Output::FULL,
            };
            let x = Tensor { shape: [4, 4, inputs], data: vec![value; 16 * inputs] };
            let weights = vec![weight; 2 * 9 * inputs];
            let expected = definition::conv(&op, &x, &weights, &channels, [2, 2]);
            let (weights, constants) = packed(&weights, &channels, inputs, zero);
            let made = small(&op, &x, &weights, &constants, 2).unwrap();
            assert_eq!(made.iter().map(|byte| *byte as i8).collect::<Vec<_>>(), expected.data);
        }
    }
}

#[test]
fn what_it_cannot_compute_is_refused() {
    let op =
        Conv { window: WINDOW, groups: 1, input_zero: 0, weight_zero: 0, output: Output::FULL };
    let run = |op: &Conv, inputs: usize, bytes: usize, constants: usize| {
        let x = Tensor { shape: [2, 2, inputs], data: vec![0; 4 * inputs] };
        small(op, &x, &vec![0; bytes], &vec![0; constants], 3).err()
    };
    let bytes = 4 * paired::winograd_bytes(8);
    assert_eq!(run(&op, 8, bytes, 36), None);
    assert_eq!(run(&op, 8, bytes - 1, 36), Some(KernelError::ConstantsTooShort));
    assert_eq!(run(&op, 8, bytes, 35), Some(KernelError::ConstantsTooShort));
    let shape = Some(KernelError::Shape);
    assert_eq!([run(&op, 7, bytes, 36), run(&op, 6, bytes, 36)], [shape; 2]);
    let many = paired::WINOGRAD_INPUTS + 4;
    assert_eq!(run(&op, many, 4 * paired::winograd_bytes(many), 36), shape);
    let others = [
        Conv { window: Window { size: [3, 1], ..WINDOW }, ..op },
        Conv { window: Window { stride: [1, 2], ..WINDOW }, ..op },
        Conv { window: Window { dilation: [2, 1], ..WINDOW }, ..op },
        Conv { groups: 2, ..op },
        Conv { weight_zero: 1, ..op },
    ];
    for op in others {
        assert_eq!(run(&op, 8, bytes, 36), shape);
    }
}
