//! Outputs that TFLite 2.14's reference kernels gave (`BUILTIN_REF` resolver), where a definition
//! in real numbers would not tell every bit.

use tilewright_kernels::{Layout, Multiplier, Softmax, Source, Target, Tile, softmax};

/// Input scale's multiplier, shift and smallest difference; what makes the inputs; the outputs.
type Case = ([i32; 3], [i32; 2], &'static [i8]);

const SOFTMAX: &[Case] = &[
    // Input scale 0.0123.
    (
        [1690499072, 20, -1984],
        [1, 4],
        &[
            -122, -122, -121, -120, -119, -117, -122, -120, -118, -121, -119, -122, -119, -121,
            -117, -120, -122, -117, -119, -120, -121, -121, -122, -122, -122, -121, -121, -120,
            -118, -117, -122, -120,
        ],
    ),
    // Input scale 0.047.
    (
        [1614907648, 22, -496],
        [1, 4],
        &[
            -127, -126, -126, -125, -122, -116, -127, -124, -117, -126, -121, -127, -121, -126,
            -116, -124, -126, -113, -121, -124, -125, -126, -126, -126, -126, -126, -125, -124,
            -120, -113, -126, -124, -116, -126, -121, -126, -121, -126, -117, -124, -126, -115,
            -122, -124, -126, -126, -127, -104,
        ],
    ),
    // Input scale 0.17.
    (
        [1460288896, 24, -124],
        [3, 1],
        &[
            -128, -128, -128, -128, -128, -113, -128, -128, -126, -128, -128, -128, -128, -128,
            -119, -128, -128, 101, -128, -128, -128, -128, -128, -128,
        ],
    ),
    // Input scale 0.31.
    (
        [1331439872, 25, -62],
        [5, 16],
        &[
            -127, -127, -126, -124, -120, -101, -127, -124, -108, -126, -117, -127, -117, -126,
            -101, -122, -127, -91, -117, -122, -125, -126, -127, -127, -127, -126, -125, -122,
            -117, -91, -127, -122,
        ],
    ),
];

#[test]
fn softmax_gives_what_tflite_gave() {
    for ([multiplier, shift, smallest_difference], [start, divisor], expected) in SOFTMAX {
        let input: Vec<u8> = (0..expected.len() as i32)
            .map(|i| (((i * i * 37 + i * 91 + start) / 7 % 256 - 128) / divisor) as u8)
            .collect();
        let layout = Layout::whole(1, 1, input.len());
        let mut output = vec![0; input.len()];
        let op = Softmax {
            scale: Multiplier { multiplier: *multiplier, shift: *shift },
            smallest_difference: *smallest_difference,
        };
        let source = Source::new(&input, layout).unwrap();
        let target = &mut Target::new(&mut output, layout).unwrap();
        softmax(&op, &Tile::whole(&layout, &layout), &source, target).unwrap();
        let output: Vec<i8> = output.into_iter().map(|byte| byte as i8).collect();
        assert_eq!(output, *expected, "multiplier {multiplier}");
    }
}
