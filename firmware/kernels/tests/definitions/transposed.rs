//! Transposed convolution against its definition: each input adds to the outputs that it reaches.

use crate::support::place::{Area, Placed, layout};
use crate::support::tiles::{areas, tile_of};
use crate::support::{Numbers, Tensor, definition};
use proptest::prelude::*;
use std::ops::Range;
use tilewright_kernels::{
    Channel, Channels, Output, Source, Target, TransposeConv, Window, pack, transpose_conv,
};

/// The definition: inputs scatter their products.
fn scatter(
    op: &TransposeConv,
    x: &Tensor,
    weights: &[i8],
    channels: &[Channel],
    size: [usize; 2],
) -> Tensor {
    let [kh, kw] = op.window.size;
    let [h, w, inputs] = x.shape;
    let outputs = channels.len();
    let mut sums = vec![0i64; size[0] * size[1] * outputs];
    for y in 0..h {
        for x_ in 0..w {
            for ky in 0..kh {
                for kx in 0..kw {
                    let reached = |axis: usize, at: usize, tap: usize| {
                        let window = &op.window;
                        at as i64 * i64::from(window.stride[axis]) - i64::from(window.padding[axis])
                            + tap as i64 * i64::from(window.dilation[axis])
                    };
                    let (oy, ox) = (reached(0, y, ky), reached(1, x_, kx));
                    if oy < 0 || ox < 0 || oy >= size[0] as i64 || ox >= size[1] as i64 {
                        continue;
                    }
                    let pixel = oy as usize * size[1] + ox as usize;
                    for oc in 0..outputs {
                        for ic in 0..inputs {
                            let value = i64::from(x.get(y as i64, x_ as i64, ic).unwrap());
                            let weight = weights[((oc * kh + ky) * kw + kx) * inputs + ic];
                            sums[pixel * outputs + oc] += (value - i64::from(op.input_zero))
                                * (i64::from(weight) - i64::from(op.weight_zero));
                        }
                    }
                }
            }
        }
    }
    Tensor::from_fn([size[0], size[1], outputs], |y, x_, c| {
        let sum = sums[(y * size[1] + x_) * outputs + c] + i64::from(channels[c].bias);
        definition::finish(sum, channels[c].factor, &op.output)
    })
}

/// Input rows or columns that can reach a part of the output; one that cannot if there is none.
fn reaching(window: &Window, axis: usize, output: &Range<usize>, input: usize) -> Range<usize> {
    let reaches = |at: &usize| {
        (0..window.size[axis]).any(|tap| {
            let place = *at as i64 * i64::from(window.stride[axis])
                - i64::from(window.padding[axis])
                + tap as i64 * i64::from(window.dilation[axis]);
            place >= output.start as i64 && place < output.end as i64
        })
    };
    let first = (0..input).find(reaches).unwrap_or(0);
    first..(first..input).rfind(reaches).unwrap_or(first) + 1
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn transpose_conv_follows_its_definition(
        taps in [1usize..5, 1..5], stride in [1i32..4, 1..4], dilation in [1i32..3, 1..3],
        padding in [0i32..4, 0..4], input in [1usize..6, 1..6], more in [0usize..4, 0..4],
        channels in [1usize..9, 1..9], seed: u64
    ) {
        let numbers = &mut Numbers::new(seed);
        let window = Window { size: taps, stride, dilation, padding };
        let output = Output { zero: numbers.byte(), ..Output::FULL };
        let [input_zero, weight_zero] = [numbers.byte(), numbers.weight_zero()];
        let op = TransposeConv { window, input_zero, weight_zero, output };
        let [inputs, outputs] = channels;
        let x = numbers.tensor([input[0], input[1], inputs]);
        let filter = taps[0] * taps[1] * inputs;
        let weights = numbers.bytes(filter * outputs);
        let channels: Vec<Channel> = (0..outputs)
            .map(|_| Channel { bias: (numbers.next() >> 46) as i32, factor: numbers.factor(0) })
            .collect();
        let size = [0, 1].map(|axis| {
            let reach = (input[axis] as i32 - 1) * stride[axis] - padding[axis]
                + (taps[axis] as i32 - 1) * dilation[axis] + 1;
            reach.max(1) as usize + more[axis]
        });
        let expected = scatter(&op, &x, &weights, &channels, size);
        for area in areas(numbers, expected.shape, 1) {
            let range: Range<usize> = area[2].clone();
            let part = &weights[range.start * filter..range.end * filter];
            let part = pack::weights(pack::Weights::Conv, part);
            let constants = pack::channel_constants(&channels[range]);
            let needed: Area = [
                reaching(&window, 0, &area[0], input[0]),
                reaching(&window, 1, &area[1], input[1]),
                0..inputs,
            ];
            let from = layout(numbers, &needed, false);
            let placed = Placed::filled(numbers, &x, &needed, from);
            let to = layout(numbers, &area, false);
            let mut result = Placed::empty(numbers, to);
            let before = result.bytes.clone();
            let mut tile = tile_of(&area);
            tile.valid_start = [needed[0].start as i32, needed[1].start as i32];
            tile.valid_end = [needed[0].end as i32, needed[1].end as i32];
            transpose_conv(
                &op,
                &tile,
                &Source::new(&placed.bytes, from).unwrap(),
                &mut Target::new(&mut result.bytes, to).unwrap(),
                &part,
                Channels::new(&constants),
            )
            .unwrap();
            result.check(&before, &expected, &area);
        }
    }
}
