//! Kernels with weights without their zeros against the definitions.

use crate::support::{Numbers, Tensor, definition};
use crate::windows::{Part, case, check_tiles, output};
use proptest::prelude::*;
use tilewright_kernels::{
    Channel, Channels, Conv, FullyConnected, KernelError, Layout, Output, Source, Target, Tile,
    Window, pack, paired, paired::SparseWeights,
};

const PIXEL: Window = Window { size: [1; 2], stride: [1; 2], dilation: [1; 2], padding: [0; 2] };

fn packed(
    weights: &[i8],
    channels: &[Channel],
    length: usize,
    input_zero: i8,
    block: usize,
) -> (Vec<u8>, Vec<u8>) {
    (
        pack::sparse_weights(weights, length, block),
        pack::paired_constants(channels, input_zero, weights, length),
    )
}

/// Weights of which so many hundredths are zero, one by one or in pairs of neighbours.
fn pruned(numbers: &mut Numbers, count: usize, sparsity: usize, in_pairs: bool) -> Vec<i8> {
    let mut weights = numbers.bytes(count);
    for group in weights.chunks_mut(if in_pairs { 2 } else { 1 }) {
        if numbers.below(100) < sparsity {
            group.fill(0);
        }
    }
    weights
}

/// Channels whose rows are together.
fn block() -> impl Strategy<Value = usize> {
    prop_oneof![Just(2usize), Just(16), Just(32), Just(paired::SPARSE_BLOCK)]
}

/// A convolution by rows of blocks as large as they may be.
fn conv(
    op: &Conv,
    tile: &Tile,
    input: &Source<'_>,
    output: &mut Target<'_>,
    rows: &[u8],
    channels: Channels<'_>,
) -> Result<(), KernelError> {
    let weights = SparseWeights { rows, block: paired::SPARSE_BLOCK };
    paired::sparse_conv(op, tile, input, output, weights, channels)
}

fn sparsity() -> impl Strategy<Value = usize> {
    prop_oneof![Just(0usize), Just(50), Just(80), Just(95), Just(100)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn conv_follows_its_definition(
        case in case(), more in 0usize..4, outputs in 1usize..40, wide in 0usize..8,
        sparsity in sparsity(), in_pairs: bool
    ) {
        let numbers = &mut Numbers::new(case.seed);
        let window = case.op(numbers, 1).window;
        let area = window.size[0] * window.size[1];
        let inputs = match wide {
            // More columns than a row has.
            0 => 1300 / area + more,
            1 => 512usize.div_ceil(area) + more,
            2..5 => (more + 1) * 4,
            _ => case.channels[0],
        };
        // More than one block of channels.
        let outputs = if wide == 5 { outputs + 120 } else { outputs };
        let op = Conv { weight_zero: 0, ..case.op(numbers, 1) };
        let x = case.tensor(numbers, inputs);
        let filter = area * inputs;
        let weights = pruned(numbers, outputs * filter, sparsity, in_pairs);
        let channels = numbers.channels(outputs);
        let expected = definition::conv(&op, &x, &weights, &channels, case.output());
        let part: &Part<'_> = &|range: std::ops::Range<usize>| {
            let weights = &weights[range.start * filter..range.end * filter];
            packed(weights, &channels[range], filter, op.input_zero, paired::SPARSE_BLOCK)
        };
        check_tiles(numbers, conv, &op, &x, &expected, part, 1, |_| 0..inputs).unwrap();
    }

    #[test]
    fn long_filters_of_many_channels_follow_their_definition(
        inputs in 500usize..1100, outputs in 100usize..300, size in [1usize..3, 1..6],
        sparsity in sparsity(), block in block(), seed: u64
    ) {
        let numbers = &mut Numbers::new(seed);
        let op = Conv {
            window: PIXEL,
            groups: 1,
            input_zero: numbers.byte(),
            weight_zero: 0,
            output: output(numbers),
        };
        let x = numbers.tensor([size[0], size[1], inputs]);
        let weights = pruned(numbers, outputs * inputs, sparsity, true);
        let channels = numbers.channels(outputs);
        let expected = definition::conv(&op, &x, &weights, &channels, size);
        let (packed, constants) = packed(&weights, &channels, inputs, op.input_zero, block);
        let made = whole(&op, &x, [&packed, &constants], outputs, block).unwrap();
        // Filters are cut between blocks.
        let first = outputs.min(block);
        let cut = pack::sparse_weights(&weights[..first * inputs], inputs, block).len();
        let parts = [(&packed[..cut], 0..first), (&packed[cut..], first..outputs)];
        for (rows, range) in parts.into_iter().filter(|(_, range)| !range.is_empty()) {
            let constants = &constants[12 * range.start..12 * range.end];
            let part = whole(&op, &x, [rows, constants], range.len(), block).unwrap();
            let all = made.chunks(outputs).map(|pixel| &pixel[range.clone()]);
            prop_assert!(part.chunks(range.len()).eq(all));
        }
        prop_assert_eq!(made, expected.data);
    }

    #[test]
    fn fully_connected_follows_its_definition(
        inputs in 1usize..1300, outputs in 1usize..150, sparsity in sparsity(), block in block(),
        seed: u64
    ) {
        let numbers = &mut Numbers::new(seed);
        let op = FullyConnected {
            input_zero: numbers.byte(), weight_zero: 0, output: output(numbers),
        };
        let x = numbers.tensor([1, 1, inputs]);
        let weights = pruned(numbers, outputs * inputs, sparsity, false);
        let channels = numbers.channels(outputs);
        let conv = Conv {
            window: PIXEL, groups: 1, input_zero: op.input_zero, weight_zero: 0, output: op.output,
        };
        let expected = definition::conv(&conv, &x, &weights, &channels, [1, 1]);
        let (weights, constants) = packed(&weights, &channels, inputs, op.input_zero, block);
        let bytes: Vec<u8> = x.data.iter().map(|byte| *byte as u8).collect();
        let (from, to) = (Layout::whole(1, 1, inputs), Layout::whole(1, 1, outputs));
        let mut made = vec![0; outputs];
        let (input, mut target) = (Source::new(&bytes, from), Target::new(&mut made, to));
        paired::sparse_fully_connected(
            &op, &Tile::whole(&from, &to), &input.unwrap(), target.as_mut().unwrap(),
            SparseWeights { rows: &weights, block },
            Channels::new(&constants),
        ).unwrap();
        prop_assert_eq!(made.iter().map(|byte| *byte as i8).collect::<Vec<_>>(), expected.data);
    }

    /// Rows may name any column and any weights: what is no row is refused, and nothing else.
    #[test]
    fn any_bytes_are_rows_or_refused(
        inputs in 1usize..600, outputs in 1usize..8, broken in 0usize..4000, byte: u8, seed: u64
    ) {
        let numbers = &mut Numbers::new(seed);
        let op = Conv {
            window: PIXEL, groups: 1, input_zero: 0, weight_zero: 0, output: Output::FULL,
        };
        let x = numbers.tensor([1, 5, inputs]);
        let weights = numbers.bytes(outputs * inputs);
        let (mut weights, constants) =
            packed(&weights, &numbers.channels(outputs), inputs, op.input_zero, 128);
        let place = broken % weights.len();
        weights[place] = byte;
        let refused = whole(&op, &x, [&weights, &constants], outputs, 128).err();
        prop_assert!(matches!(refused, None | Some(KernelError::ConstantsTooShort)));
    }
}

/// A whole layer.
fn whole(
    op: &Conv,
    x: &Tensor,
    [rows, constants]: [&[u8]; 2],
    outputs: usize,
    block: usize,
) -> Result<Vec<i8>, KernelError> {
    let bytes: Vec<u8> = x.data.iter().map(|byte| *byte as u8).collect();
    let [h, w, inputs] = x.shape;
    let mut made = vec![0; h * w * outputs];
    let (from, to) = (Layout::whole(h, w, inputs), Layout::whole(h, w, outputs));
    paired::sparse_conv(
        op,
        &Tile::whole(&from, &to),
        &Source::new(&bytes, from).unwrap(),
        &mut Target::new(&mut made, to).unwrap(),
        SparseWeights { rows, block },
        Channels::new(constants),
    )?;
    Ok(made.iter().map(|byte| *byte as i8).collect())
}

#[test]
fn rows_take_three_bytes_for_each_pair_and_a_word() {
    // None, one, four and five pairs that are not zero; the third row's are apart.
    let mut weights = [0i8; 4 * 600];
    weights[601] = 5;
    for column in [0, 3, 510, 511, 513, 598] {
        weights[1200 + column] = -1;
    }
    weights[1800..1809].fill(7);
    let packed = pack::sparse_weights(&weights, 600, 128);
    // Of 512 columns, then of the other 88.
    assert_eq!(packed.len(), [16, 16, 16, 28, 16, 16, 16, 16].iter().sum::<usize>());
    assert_eq!(packed[16..20], [12, 0, 3, 0]);
}

#[test]
fn what_it_cannot_compute_is_refused() {
    let op = Conv { window: PIXEL, groups: 1, input_zero: 0, weight_zero: 0, output: Output::FULL };
    let x = Tensor { shape: [2, 2, 8], data: vec![1; 32] };
    let run = |op: &Conv, weights: &[u8], constants: usize| {
        whole(op, &x, [weights, &vec![0; constants]], 3, 128).err()
    };
    let weights = pack::sparse_weights(&[1; 24], 8, 128);
    let short = Some(KernelError::ConstantsTooShort);
    assert_eq!(run(&op, &weights, 36), None);
    assert_eq!(run(&op, &weights[..weights.len() - 4], 36), short);
    // Rows that begin elsewhere, and more than there are channels.
    assert_eq!(run(&op, &weights[4..], 36), short);
    let row = weights.len() / 3;
    assert_eq!(run(&op, &[&weights[..], &weights[..row]].concat(), 36), short);
    assert_eq!(run(&op, &weights, 35), short);
    for (place, byte) in [(0, 0), (0, 8), (0, 24), (1, 1), (2, 4)] {
        let mut weights = weights.clone();
        weights[place] = byte;
        assert_eq!(run(&op, &weights, 36), short, "{byte} at {place}");
    }
    for op in [Conv { groups: 2, ..op }, Conv { weight_zero: 1, ..op }] {
        assert_eq!(run(&op, &weights, 36), Some(KernelError::Shape));
    }
    let long = Tensor { shape: [2, 2, 600], data: vec![1; 2400] };
    for (block, refused) in [(0, true), (1, false), (128, false), (129, true)] {
        let weights = pack::sparse_weights(&[1; 1800], 600, block);
        let made = whole(&op, &long, [&weights, &[0; 36]], 3, block);
        assert_eq!(made.err(), refused.then_some(KernelError::Shape), "{block}");
    }
}
