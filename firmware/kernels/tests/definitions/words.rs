//! Kernels that take four channels at a time, against their definitions: whole, in tiles, pitched,
//! in rings.

use crate::support::{Numbers, Tensor, definition};
use crate::windows::{channel_constants, check_tiles, output};
use proptest::prelude::*;
use tilewright_kernels::{Conv, Window, pack, words};

/// A depthwise convolution with a window that is computed in planes.
#[derive(Clone, Debug)]
struct Case {
    window: Window,
    input: [usize; 2],
    end_padding: [usize; 2],
    channels: usize,
    seed: u64,
}

fn case() -> impl Strategy<Value = Case> {
    let sides = (1usize..40, 1usize..72, 0usize..7, 0usize..7);
    let window = (prop_oneof![Just(3usize), Just(5), Just(7)], 1i32..3, 0i32..7, 0i32..7);
    (window, sides, 1usize..11, any::<u64>()).prop_filter_map(
        "the window must fit",
        |((taps, stride, top, left), (rows, columns, bottom, right), channels, seed)| {
            let window = Window {
                size: [taps; 2],
                stride: [stride; 2],
                dilation: [1; 2],
                padding: [top, left],
            };
            let end_padding = [bottom, right];
            let case = Case { window, input: [rows, columns], end_padding, channels, seed };
            case.output().iter().all(|size| *size > 0).then_some(case)
        },
    )
}

impl Case {
    fn output(&self) -> [usize; 2] {
        [0, 1].map(|axis| {
            definition::output_size(&self.window, axis, self.input[axis], self.end_padding[axis])
        })
    }

    /// Compares the kernel with the definition, in tiles.
    fn check(&self) {
        let numbers = &mut Numbers::new(self.seed);
        let input_zero = numbers.byte();
        let output = output(numbers);
        let op = Conv { window: self.window, groups: 1, input_zero, weight_zero: 0, output };
        let outputs = self.channels;
        let x: Tensor = numbers.tensor([self.input[0], self.input[1], outputs]);
        let taps = op.window.size[0] * op.window.size[1];
        let weights = numbers.bytes(taps * outputs);
        let mut channels = channel_constants(numbers, outputs);
        if numbers.below(2) == 0 {
            // All in the fast domain, whose limits are the extremes.
            for channel in &mut channels {
                channel.bias = channel.bias.clamp(1 - (1 << 29), (1 << 29) - 1);
                channel.factor.shift = -1 - numbers.below(22) as i32;
            }
        }
        let expected = definition::depthwise(&op, &x, &weights, &channels, self.output());
        let part = |range: std::ops::Range<usize>| {
            let rows = weights.chunks(outputs).flat_map(|tap| tap[range.clone()].to_vec());
            let rows: Vec<i8> = rows.collect();
            let weights = pack::weights(pack::Weights::Depthwise, &rows);
            (weights, pack::channel_constants(&channels[range]))
        };
        let run = words::depthwise;
        check_tiles(numbers, run, &op, &x, &expected, &part, 1, |channels| channels.clone())
            .unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn planes_follow_the_definition(case in case()) {
        case.check();
    }
}

#[test]
fn whole_images_of_every_window() {
    for taps in [3, 5, 7] {
        for stride in [1, 2] {
            for (padding, size) in [(taps / 2, [24, 24]), ((taps - 1) / 2, [13, 51]), (0, [9, 8])] {
                let window = Window {
                    size: [taps; 2],
                    stride: [stride; 2],
                    dilation: [1; 2],
                    padding: [padding as i32; 2],
                };
                let end_padding = [padding; 2];
                Case { window, input: size, end_padding, channels: 8, seed: 7 }.check();
            }
        }
    }
}
