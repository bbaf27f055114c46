//! Images and signals resized. Expected values are those of the standard's reference, which are ONNX
//! Runtime's too unless said otherwise.

use tilewright_model::{Data, Model, Op, float};

use super::build::Attribute::{Ints, Text};
use super::build::File;
use super::{against_tract, names};
use crate::{FormatError, Limits, open};

const SIGNAL: [f32; 5] = [1.0, 5.0, -2.0, 8.0, 3.0];

/// A resize of a picture of one row.
struct Case {
    mode: &'static str,
    grid: &'static str,
    rounding: &'static str,
    scale: f32,
}

impl Case {
    fn file(&self, dims: &[&str]) -> File {
        let mut scales = vec![1.0; dims.len()];
        scales[dims.len() - 1] = self.scale;
        File::new()
            .opset(19)
            .input("x", dims)
            .floats("s", &[dims.len() as i64], scales)
            .node(
                "Resize",
                &["x", "", "s"],
                "y",
                &[
                    ("mode", Text(self.mode)),
                    ("coordinate_transformation_mode", Text(self.grid)),
                    ("nearest_mode", Text(self.rounding)),
                ],
            )
            .output("y")
    }
}

fn opened(file: &File) -> Model {
    open("x", &file.bytes(), &Limits::default(), &[]).unwrap()
}

fn run(model: &Model, values: &[f32]) -> Vec<f32> {
    let result = float::run(model, &[Data::F32(values.to_vec())], &mut |_, _| {}).unwrap();
    result[0].as_f32().unwrap().to_vec()
}

fn assert_near(found: &[f32], expected: &[f32], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}: {found:?}");
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() < 1e-4, "{what}: {found:?}, expected {expected:?}");
    }
}

#[test]
fn linear_by_scales_that_give_no_whole_size() {
    let expected: [(&str, f32, &[f32]); 8] = [
        ("half_pixel", 1.5, &[1.0, 3.0, 3.83333, -0.83333, 3.0, 7.16667, 3.83333]),
        ("half_pixel", 0.7, &[1.85714, 0.5, 7.64286]),
        ("half_pixel", 0.3, &[3.83333]),
        ("asymmetric", 1.5, &[1.0, 3.66667, 2.66667, -2.0, 4.66667, 6.33333, 3.0]),
        ("asymmetric", 0.7, &[1.0, 2.0, 6.57143]),
        // ONNX Runtime cuts the size first here: 1, −2 and 3.
        ("align_corners", 0.7, &[1.0, 0.8, 7.0]),
        ("pytorch_half_pixel", 1.5, &[1.0, 3.0, 3.83333, -0.83333, 3.0, 7.16667, 3.83333]),
        ("half_pixel_symmetric", 0.7, &[3.28571, -2.0, 5.85714]),
    ];
    for (grid, scale, values) in expected {
        for dims in [&["1", "1", "1", "5"][..], &["1", "1", "5"]] {
            let case = Case { mode: "linear", grid, rounding: "floor", scale };
            let model = opened(&case.file(dims));
            assert_near(&run(&model, &SIGNAL), values, &format!("{grid} by {scale}, {dims:?}"));
        }
    }
}

#[test]
fn nearest_by_scales_that_give_no_whole_size() {
    let expected: [(&str, &str, [f32; 7]); 5] = [
        ("half_pixel", "floor", [1.0, 1.0, 5.0, 5.0, -2.0, 8.0, 8.0]),
        ("half_pixel", "round_prefer_floor", [1.0, 1.0, 5.0, -2.0, -2.0, 8.0, 3.0]),
        ("half_pixel", "round_prefer_ceil", [1.0, 5.0, 5.0, -2.0, 8.0, 8.0, 3.0]),
        ("half_pixel_symmetric", "floor", [1.0, 1.0, 5.0, -2.0, -2.0, 8.0, 3.0]),
        ("align_corners", "round_prefer_floor", [1.0, 5.0, 5.0, -2.0, -2.0, 8.0, 3.0]),
    ];
    for (grid, rounding, values) in expected {
        let model = opened(
            &Case { mode: "nearest", grid, rounding, scale: 1.5 }.file(&["1", "1", "1", "5"]),
        );
        // One operator, whichever pixels they are.
        assert_eq!(names(&model), ["ResizeNearest"], "{grid}, {rounding}");
        assert_near(&run(&model, &SIGNAL), &values, &format!("{grid}, {rounding}"));
    }
}

/// Grids that TensorFlow Lite has take no places of their own, single pixels included.
#[test]
fn grids_of_whole_sizes_are_tensorflow_lites() {
    let of = |grid: &'static str, sizes: [i64; 4]| {
        let attributes = [("mode", Text("linear")), ("coordinate_transformation_mode", Text(grid))];
        File::new()
            .input("x", &["1", "2", "4", "5"])
            .ints("n", &sizes)
            .node("Resize", &["x", "", "", "n"], "y", &attributes)
            .output("y")
    };
    let grids = ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"];
    for (grid, flags) in
        grids.into_iter().zip([(false, true), (false, false), (true, false), (false, true)])
    {
        let file = of(grid, [1, 2, 7, 8]);
        let model = against_tract(&file.bytes(), &[&[1, 2, 4, 5]]);
        let Op::Resize { align_corners, half_pixel_centers, places, .. } = model.nodes[0].op else {
            panic!("{:?}", model.nodes[0].op);
        };
        assert_eq!(((align_corners, half_pixel_centers), places), (flags, None), "{grid}");
    }
    let image: Vec<f32> = (0..40).map(|value| value as f32).collect();
    // In the graph channels come last: the first pixel of a row of both channels.
    let single = |grid| run(&opened(&of(grid, [1, 2, 1, 5])), &image)[..2].to_vec();
    assert_eq!(single("pytorch_half_pixel"), [0.0, 1.0]);
    assert_eq!(single("align_corners"), [0.0, 1.0]);
    assert_eq!(single("half_pixel"), [15.0, 16.0]);
}

#[test]
fn parts_and_kept_ratios() {
    let part = |end: f32| {
        File::new()
            .input("x", &["1", "1", "1", "5"])
            .floats("r", &[8], vec![0.0, 0.0, 0.0, 0.25, 1.0, 1.0, 1.0, end])
            .ints("n", &[1, 1, 1, 4])
            .node(
                "Resize",
                &["x", "r", "", "n"],
                "y",
                &[
                    ("mode", Text("linear")),
                    ("coordinate_transformation_mode", Text("tf_crop_and_resize")),
                ],
            )
            .output("y")
    };
    assert_near(&run(&opened(&part(0.75)), &SIGNAL), &[5.0, 0.33333, 1.33333, 8.0], "part");
    let error = open("x", &part(1.25).bytes(), &Limits::default(), &[]).unwrap_err();
    assert!(error.to_string().contains("from 0.25 to 1.25 of the image is outside"), "{error}");
    assert!(matches!(error, FormatError::Unsupported { node, .. } if node == "y"));
    let kept = |policy| {
        let file = File::new()
            .opset(19)
            .input("x", &["1", "1", "4", "6"])
            .ints("n", &[7, 9])
            .node(
                "Resize",
                &["x", "", "", "n"],
                "y",
                &[("keep_aspect_ratio_policy", Text(policy)), ("axes", Ints(vec![2, 3]))],
            )
            .output("y");
        let model = opened(&file);
        model.tensor(model.outputs[0]).shape.dims().to_vec()
    };
    assert_eq!(kept("stretch"), [1, 7, 9, 1]);
    // The least and the largest scale, 1.5 and 1.75.
    assert_eq!(kept("not_larger"), [1, 6, 9, 1]);
    assert_eq!(kept("not_smaller"), [1, 7, 11, 1]);
}
