//! Each operator with its attributes, against tract.

use super::build::Attribute::{Float, Int, Ints, Text};
use super::build::{Attribute, File};
use super::{against_tract, names};
use crate::input::Pixels;
use crate::{FormatError, Limits, open};
use tilewright_model::{Data, float};

/// A file of one node over an image of 2×`channels`×9×7 and further operands.
fn one(op: &str, others: &[&str], attributes: &[(&str, Attribute)], channels: &str) -> File {
    let inputs: Vec<&str> = ["x"].into_iter().chain(others.iter().copied()).collect();
    File::new()
        .input("x", &["2", channels, "9", "7"])
        .node(op, &inputs, "y", attributes)
        .output("y")
}

const IMAGE: &[&[usize]] = &[&[2, 4, 9, 7]];

/// Operator expected, weights' dimensions, attributes.
type Convolution = (&'static str, Vec<i64>, Vec<(&'static str, Attribute)>);

#[test]
fn convolutions() {
    let cases: Vec<Convolution> = vec![
        ("Conv2D", vec![3, 4, 3, 3], vec![]),
        ("Conv2D", vec![3, 4, 1, 3], vec![("pads", Ints(vec![0, 1, 2, 0]))]),
        ("Conv2D", vec![3, 4, 3, 2], vec![("strides", Ints(vec![2, 3]))]),
        ("Conv2D", vec![5, 4, 3, 3], vec![("dilations", Ints(vec![2, 1]))]),
        ("Conv2D", vec![6, 2, 3, 3], vec![("group", Int(2))]),
        ("DepthwiseConv2D", vec![4, 1, 3, 3], vec![("group", Int(4))]),
        ("DepthwiseConv2D", vec![12, 1, 3, 2], vec![("group", Int(4))]),
        (
            "Conv2D",
            vec![3, 4, 3, 3],
            vec![("auto_pad", Text("SAME_UPPER")), ("strides", Ints(vec![2, 2]))],
        ),
        (
            "DepthwiseConv2D",
            vec![4, 1, 4, 2],
            vec![
                ("group", Int(4)),
                ("auto_pad", Text("SAME_LOWER")),
                ("kernel_shape", Ints(vec![4, 2])),
            ],
        ),
        ("Conv2D", vec![3, 4, 3, 3], vec![("auto_pad", Text("VALID"))]),
    ];
    for (index, (expected, weights, attributes)) in cases.iter().enumerate() {
        for bias in [false, true] {
            let others = if bias { vec!["w", "b"] } else { vec!["w"] };
            let file = one("Conv", &others, attributes, "4").weights("w", weights);
            let file = file.weights("b", &[weights[0]]);
            let model = against_tract(&file.bytes(), IMAGE);
            assert_eq!(names(&model), [*expected], "case {index}");
        }
    }
}

#[test]
fn pools() {
    let size = |size: [i64; 2]| ("kernel_shape", Ints(size.to_vec()));
    let cases: Vec<Vec<(&str, Attribute)>> = vec![
        vec![size([2, 2]), ("strides", Ints(vec![2, 2]))],
        vec![size([3, 2]), ("pads", Ints(vec![1, 0, 1, 1]))],
        vec![size([3, 3]), ("strides", Ints(vec![2, 2])), ("auto_pad", Text("SAME_UPPER"))],
        vec![size([2, 2]), ("strides", Ints(vec![2, 2])), ("ceil_mode", Int(1))],
        vec![size([3, 3]), ("strides", Ints(vec![3, 3])), ("ceil_mode", Int(1))],
    ];
    for attributes in &cases {
        for (op, expected) in [("MaxPool", "MaxPool2D"), ("AveragePool", "AveragePool2D")] {
            let model = against_tract(&one(op, &[], attributes, "4").bytes(), IMAGE);
            assert_eq!(names(&model), [expected]);
        }
    }
    let counted = [
        size([3, 3]),
        ("pads", Ints(vec![1, 1, 1, 1])),
        ("strides", Ints(vec![2, 2])),
        ("count_include_pad", Int(1)),
    ];
    against_tract(&one("AveragePool", &[], &counted, "4").bytes(), IMAGE);
    against_tract(&one("GlobalAveragePool", &[], &[], "4").bytes(), IMAGE);
    against_tract(&one("GlobalMaxPool", &[], &[], "4").bytes(), IMAGE);
    for keep in [0, 1] {
        let axes = [("axes", Ints(vec![2, -1])), ("keepdims", Int(keep))];
        let model = against_tract(&one("ReduceMean", &[], &axes, "4").bytes(), IMAGE);
        assert_eq!(names(&model)[0], "AveragePool2D");
    }
}

#[test]
fn activations_and_normalisation() {
    assert_eq!(names(&against_tract(&one("Relu", &[], &[], "4").bytes(), IMAGE)), ["ReLU"]);
    let file = one("Clip", &["low", "high"], &[], "4").floats("low", &[], vec![0.0]).floats(
        "high",
        &[],
        vec![6.0],
    );
    assert_eq!(names(&against_tract(&file.bytes(), IMAGE)), ["ReLU6"]);
    let file = one("Clip", &["low"], &[], "4").floats("low", &[], vec![0.0]);
    assert_eq!(names(&against_tract(&file.bytes(), IMAGE)), ["ReLU"]);
    let attributes = [("min", Float(0.0)), ("max", Float(6.0))];
    let file = one("Clip", &[], &attributes, "4").opset(6);
    assert_eq!(names(&against_tract(&file.bytes(), IMAGE)), ["ReLU6"]);

    let others = ["scale", "offset", "mean", "variance"];
    let file = one("BatchNormalization", &others, &[("epsilon", Float(0.01))], "4")
        .weights("scale", &[4])
        .weights("offset", &[4])
        .weights("mean", &[4])
        .floats("variance", &[4], vec![0.5, 1.0, 2.0, 0.25]);
    assert_eq!(names(&against_tract(&file.bytes(), IMAGE)), ["DepthwiseConv2D"]);
}

#[test]
fn arithmetic_with_constants() {
    for op in ["Add", "Sub", "Mul", "Div"] {
        for dims in [vec![1, 4, 1, 1], vec![4, 1, 1], vec![], vec![1]] {
            let count = dims.iter().product::<i64>() as usize;
            let values: Vec<f32> = (0..count).map(|v| v as f32 - 2.5).collect();
            let file = one(op, &["c"], &[], "4").floats("c", &dims, values);
            assert_eq!(names(&against_tract(&file.bytes(), IMAGE)), ["DepthwiseConv2D"]);
        }
    }
    let file = File::new()
        .input("x", &["2", "4", "9", "7"])
        .weights("c", &[9, 7])
        .node("Add", &["c", "x"], "y", &[])
        .output("y");
    assert_eq!(names(&against_tract(&file.bytes(), IMAGE)), ["Add"]);
    let file = File::new()
        .input("x", &["2", "4"])
        .floats("c", &[], vec![1.0])
        .node("Sub", &["c", "x"], "y", &[])
        .output("y");
    against_tract(&file.bytes(), &[&[2, 4]]);
}

#[test]
fn sums_and_concatenations() {
    let pair = || File::new().input("a", &["1", "3", "4", "5"]).input("b", &["1", "3", "4", "5"]);
    let dims: &[&[usize]] = &[&[1, 3, 4, 5], &[1, 3, 4, 5]];
    let file = pair().node("Add", &["a", "b"], "y", &[]).output("y");
    assert_eq!(names(&against_tract(&file.bytes(), dims)), ["Add"]);
    let file = pair().node("Sum", &["a", "b", "a"], "y", &[]).output("y");
    assert_eq!(names(&against_tract(&file.bytes(), dims)), ["Add", "Add"]);
    for axis in [1, 2, -1] {
        let file = pair()
            .weights("c", &[1, 3, 4, 5])
            .node("Concat", &["a", "c", "b"], "y", &[("axis", Int(axis))])
            .output("y");
        assert_eq!(names(&against_tract(&file.bytes(), dims)), ["Concat"]);
    }
}

#[test]
fn dense_layers() {
    let input = || File::new().input("x", &["3", "6"]);
    let dims: &[&[usize]] = &[&[3, 6]];
    for (transposed, shape) in [(1, [5, 6]), (0, [6, 5])] {
        let attributes = [("transB", Int(transposed)), ("alpha", Float(0.5)), ("beta", Float(2.0))];
        let file = input()
            .weights("w", &shape)
            .weights("b", &[5])
            .node("Gemm", &["x", "w", "b"], "y", &attributes)
            .output("y");
        assert_eq!(names(&against_tract(&file.bytes(), dims)), ["FullyConnected"]);
    }
    let file = input()
        .weights("w", &[6, 5])
        .weights("b", &[5])
        .node("MatMul", &["x", "w"], "z", &[])
        .node("Add", &["b", "z"], "y", &[])
        .output("y");
    let model = against_tract(&file.bytes(), dims);
    assert_eq!(names(&model), ["FullyConnected"]);
    assert_eq!(model.nodes[0].inputs.len(), 3, "the bias is folded in");
    let file = File::new()
        .input("x", &["2", "4", "6"])
        .weights("w", &[6, 5])
        .node("MatMul", &["x", "w"], "z", &[])
        .node("Flatten", &["z"], "y", &[])
        .output("y");
    against_tract(&file.bytes(), &[&[2, 4, 6]]);
}

#[test]
fn matrices_that_stand_before_a_vector() {
    let file = File::new()
        .input("x", &["6"])
        .weights("w", &[5, 6])
        .weights("b", &[5])
        .node("MatMul", &["w", "x"], "m", &[])
        .node("Add", &["m", "b"], "h", &[])
        .node("Relu", &["h"], "y", &[])
        .output("y");
    let model = against_tract(&file.bytes(), &[&[6]]);
    assert!(names(&model).contains(&"FullyConnected"), "{:?}", names(&model));
}

#[test]
fn flattening_goes_into_the_weights() {
    let head = |flat: &str, others: &[&str], attributes: &[(&str, Attribute)]| {
        let inputs: Vec<&str> = ["c"].into_iter().chain(others.iter().copied()).collect();
        File::new()
            .input("x", &["N", "3", "6", "5"])
            .weights("k", &[2, 3, 2, 2])
            .weights("w", &[40, 4])
            .node("Conv", &["x", "k"], "c", &[])
            .node(flat, &inputs, "f", attributes)
            .node("Gemm", &["f", "w"], "g", &[])
            .node("Softmax", &["g"], "y", &[])
            .output("y")
    };
    let expected = ["Conv2D", "Reshape", "FullyConnected", "Softmax"];
    let dims: &[&[usize]] = &[&[1, 3, 6, 5]];
    let model = against_tract(&head("Flatten", &[], &[]).bytes(), dims);
    assert_eq!(names(&model), expected);
    let file = head("Reshape", &["s"], &[]).ints("s", &[0, -1]);
    assert_eq!(names(&against_tract(&file.bytes(), dims)), expected);
}

#[test]
fn shapes_that_exporters_compute() {
    // x.view(x.size(0), -1) as PyTorch writes it.
    let file = File::new()
        .input("x", &["batch", "3", "2", "5"])
        .ints("zero", &[0])
        .ints("axes", &[0])
        .ints("rest", &[-1])
        .weights("w", &[30, 4])
        .node("Shape", &["x"], "s", &[])
        .node("Gather", &["s", "zero"], "n", &[("axis", Int(0))])
        .node("Squeeze", &["n", "axes"], "n0", &[])
        .node("Unsqueeze", &["n0", "axes"], "n1", &[])
        .node("Slice", &["s", "zero", "axes"], "none", &[])
        .node("Concat", &["none", "n1", "rest"], "t", &[("axis", Int(0))])
        .node("Reshape", &["x", "t"], "f", &[])
        .node("MatMul", &["f", "w"], "y", &[])
        .output("y");
    against_tract(&file.bytes(), &[&[1, 3, 2, 5]]);
}

#[test]
fn images_that_come_channels_last() {
    let file = File::new()
        .input("x", &["1", "6", "5", "3"])
        .weights("k", &[2, 3, 3, 3])
        .node("Transpose", &["x"], "t", &[("perm", Ints(vec![0, 3, 1, 2]))])
        .node("Conv", &["t", "k"], "c", &[("pads", Ints(vec![1, 1, 1, 1]))])
        .node("Transpose", &["c"], "u", &[("perm", Ints(vec![0, 2, 3, 1]))])
        .node("ReduceMean", &["u"], "y", &[("axes", Ints(vec![1, 2])), ("keepdims", Int(0))])
        .output("y");
    let model = against_tract(&file.bytes(), &[&[1, 6, 5, 3]]);
    assert_eq!(names(&model), ["Conv2D", "AveragePool2D", "Reshape"]);
    assert_eq!(model.tensor(model.inputs[0]).shape.dims(), [1, 6, 5, 3]);

    let file = File::new()
        .input("x", &["1", "30"])
        .ints("s", &[1, 1, 6, 5])
        .weights("k", &[2, 1, 3, 3])
        .node("Reshape", &["x", "s"], "t", &[])
        .node("Conv", &["t", "k"], "y", &[])
        .output("y");
    assert_eq!(names(&against_tract(&file.bytes(), &[&[1, 30]])), ["Reshape", "Conv2D"]);
}

#[test]
fn images_that_are_flattened_at_once_are_images_still() {
    let file = File::new()
        .input("x", &["1", "3", "4", "5"])
        .weights("w", &[60, 2])
        .node("Flatten", &["x"], "f", &[])
        .node("MatMul", &["f", "w"], "y", &[])
        .output("y");
    let model = against_tract(&file.bytes(), &[&[1, 3, 4, 5]]);
    assert_eq!(names(&model), ["Reshape", "FullyConnected"]);
    assert_eq!(model.tensor(model.inputs[0]).shape.dims(), [1, 4, 5, 3]);
}

#[test]
fn shape_operators() {
    let file = one("Squeeze", &["axes"], &[], "1").ints("axes", &[1]);
    against_tract(&file.bytes(), &[&[2, 1, 9, 7]]);
    let file = File::new()
        .input("x", &["1", "4", "9", "7"])
        .node("GlobalAveragePool", &["x"], "p", &[])
        .ints("axes", &[2, 3])
        .node("Squeeze", &["p", "axes"], "y", &[])
        .output("y");
    let model = against_tract(&file.bytes(), &[&[1, 4, 9, 7]]);
    assert_eq!(names(&model), ["AveragePool2D", "Reshape"]);
    let file = File::new()
        .input("x", &["2", "6"])
        .ints("axes", &[0, 3])
        .node("Unsqueeze", &["x", "axes"], "u", &[])
        .node("Squeeze", &["u", "axes"], "y", &[])
        .output("y");
    assert_eq!(names(&against_tract(&file.bytes(), &[&[2, 6]])), ["Reshape"]);
    let file = one("Transpose", &[], &[("perm", Ints(vec![2, 0, 3, 1]))], "4");
    assert_eq!(names(&against_tract(&file.bytes(), IMAGE)), ["Transpose"]);
    let file = File::new()
        .input("x", &["1", "4"])
        .node("Identity", &["x"], "a", &[])
        .node("Dropout", &["a"], "b", &[])
        .node("Relu", &["b"], "y", &[])
        .output("y");
    assert_eq!(names(&against_tract(&file.bytes(), &[&[1, 4]])), ["ReLU"]);
}

#[test]
fn pads() {
    let amounts = [0, 0, 1, 2, 0, 0, 0, 1];
    let file = one("Pad", &["p"], &[], "4").ints("p", &amounts);
    assert_eq!(names(&against_tract(&file.bytes(), IMAGE)), ["Pad"]);
    let file = File::new()
        .input("x", &["2", "4", "9", "7"])
        .ints("p", &amounts)
        .weights("k", &[2, 4, 3, 3])
        .node("Pad", &["x", "p"], "q", &[])
        .node("Conv", &["q", "k"], "y", &[("pads", Ints(vec![0, 1, 1, 0]))])
        .output("y");
    assert_eq!(names(&against_tract(&file.bytes(), IMAGE)), ["Conv2D"]);
    let old = [("pads", Ints(amounts.to_vec())), ("value", Float(0.0))];
    against_tract(&one("Pad", &[], &old, "4").opset(10).bytes(), IMAGE);
    let old = [("pads", Ints(amounts.to_vec())), ("value", Float(1.5))];
    against_tract(&one("Pad", &[], &old, "4").opset(10).bytes(), IMAGE);
    let file = one("Pad", &["p", "v"], &[], "4").ints("p", &amounts).floats("v", &[], vec![-0.25]);
    assert_eq!(names(&against_tract(&file.bytes(), IMAGE)), ["Pad"]);
    for mode in ["reflect", "edge"] {
        let file = one("Pad", &["p"], &[("mode", Text(mode))], "4").ints("p", &amounts);
        let model = against_tract(&file.bytes(), IMAGE);
        assert_eq!(model.tensor(model.outputs[0]).shape.dims(), [2, 10, 10, 4]);
    }
    let window = [("kernel_shape", Ints(vec![3, 3])), ("strides", Ints(vec![2, 2]))];
    let file = File::new()
        .input("x", &["2", "4", "9", "7"])
        .ints("p", &amounts)
        .floats("v", &[], vec![f32::NEG_INFINITY])
        .node("Pad", &["x", "p", "v"], "q", &[])
        .node("MaxPool", &["q"], "y", &window)
        .output("y");
    assert_eq!(names(&against_tract(&file.bytes(), IMAGE)), ["MaxPool2D"]);
}

#[test]
fn softmax_over_any_axis() {
    for axis in [1, -1, 2] {
        against_tract(&one("Softmax", &[], &[("axis", Int(axis))], "4").bytes(), IMAGE);
    }
    // Before version 13 the dimensions from the axis on took part together.
    against_tract(&one("Softmax", &[], &[], "4").opset(11).bytes(), IMAGE);
    let file = File::new()
        .opset(9)
        .input("x", &["1", "4", "3", "3"])
        .node("GlobalAveragePool", &["x"], "p", &[])
        .node("Softmax", &["p"], "y", &[("axis", Int(1))])
        .output("y");
    assert_eq!(
        names(&against_tract(&file.bytes(), &[&[1, 4, 3, 3]])),
        ["AveragePool2D", "Softmax"]
    );
}

#[test]
fn several_outputs_keep_their_names_and_order() {
    let file = File::new()
        .metadata("labels", "cat, dog")
        .input("x", &["1", "3", "4", "4"])
        .weights("k", &[2, 3, 1, 1])
        .node("Conv", &["x", "k"], "c", &[])
        .node("Relu", &["c"], "r", &[])
        .output("r")
        .output("c");
    let model = against_tract(&file.bytes(), &[&[1, 3, 4, 4]]);
    let outputs: Vec<&str> =
        model.outputs.iter().map(|id| model.tensor(*id).name.as_str()).collect();
    assert_eq!(outputs, ["r", "c"]);
    assert_eq!(model.labels(), ["cat", "dog"]);
    assert_eq!(model.name, "test");
}

#[test]
fn exporters_have_words_of_their_own_for_classes_and_pixels() {
    let file = File::new()
        .metadata("names", "{0: 'cat', 1: \"cow's\"}")
        .metadata("Image.NominalPixelRange", "Normalized_1_1")
        .input("x", &["1", "2"])
        .node("Relu", &["x"], "y", &[])
        .output("y");
    let model = against_tract(&file.bytes(), &[&[1, 2]]);
    assert_eq!(model.labels(), ["cat", "cow's"]);
    assert_eq!(Pixels::of(&model), "-1..1".parse().ok());
}

#[test]
fn a_channel_shuffle_is_one_transpose() {
    let file = File::new()
        .input("x", &["1", "3", "5", "4"])
        .weights("k", &[6, 3, 1, 1])
        .ints("apart", &[1, 2, 3, 5, 4])
        .ints("back", &[1, -1, 5, 4])
        .weights("l", &[6, 1, 3, 3])
        .node("Conv", &["x", "k"], "c", &[])
        .node("Reshape", &["c", "apart"], "r", &[])
        .node("Transpose", &["r"], "t", &[("perm", Ints(vec![0, 2, 1, 3, 4]))])
        .node("Reshape", &["t", "back"], "b", &[])
        .node("Conv", &["b", "l"], "y", &[("group", Int(6))])
        .output("y");
    let model = against_tract(&file.bytes(), &[&[1, 3, 5, 4]]);
    let expected = ["Conv2D", "Reshape", "Transpose", "Reshape", "DepthwiseConv2D"];
    assert_eq!(names(&model), expected);
}

#[test]
fn sizes_that_are_computed() {
    // As exporters write an upsampling to twice the size, and a flattening.
    let file = File::new()
        .input("x", &["1", "3", "5", "4"])
        .ints("two", &[2])
        .ints("three", &[3])
        .ints("one", &[1])
        .ints("rest", &[-1])
        .node("Shape", &["x"], "s", &[])
        .node("Slice", &["s", "two", "four"], "hw", &[])
        .ints("four", &[4])
        .node("Mul", &["hw", "two"], "double", &[])
        .node("Slice", &["s", "zero", "two"], "nc", &[])
        .ints("zero", &[0])
        .node("Concat", &["nc", "double"], "size", &[("axis", Int(0))])
        .node("Resize", &["x", "", "", "size"], "r", &[("mode", Text("nearest"))])
        .node("Gather", &["s", "one"], "c", &[])
        .node("Concat", &["c", "rest"], "flat", &[("axis", Int(0))])
        .node("Reshape", &["r", "flat"], "f", &[])
        .node("Relu", &["f"], "y", &[])
        .output("y");
    let model = open("test.onnx", &file.bytes(), &crate::Limits::default(), &[]).unwrap();
    assert_eq!(model.tensor(model.outputs[0]).shape.dims(), [3, 80]);
}

#[test]
fn parts_by_number() {
    let of = |index: &str| {
        File::new()
            .input("x", &["2", "4", "9", "7"])
            .ints("ones", &[1])
            .ints("apart", &[0, 2])
            .node("Gather", &["x", index], "g", &[("axis", Int(1))])
            .node("Relu", &["g"], "y", &[])
            .output("y")
    };
    for index in ["ones", "apart"] {
        let model = against_tract(&of(index).bytes(), IMAGE);
        assert_eq!(names(&model), ["Slice", "ReLU"]);
    }
    let file = File::new()
        .input("x", &["2", "4"])
        .node("Gather", &["x", "second"], "g", &[("axis", Int(1))])
        .node("Relu", &["g"], "y", &[])
        .output("y");
    let mut file = file.ints("second", &[1]);
    file.graph().initializer[0].dims.clear();
    assert_eq!(names(&against_tract(&file.bytes(), &[&[2, 4]])), ["Slice", "Reshape", "ReLU"]);
}

/// A constant vector is a matrix of one row or column that the result does not have.
#[test]
fn vectors_beside_a_matrix() {
    for (operands, length) in [(["x", "w"], 6), (["w", "x"], 4)] {
        let file = File::new()
            .input("x", &["2", "4", "6"])
            .weights("w", &[length])
            .node("MatMul", &operands, "m", &[])
            .node("Relu", &["m"], "y", &[])
            .output("y");
        let model = against_tract(&file.bytes(), &[&[2, 4, 6]]);
        assert_eq!(model.tensor(model.outputs[0]).shape.dims(), [2, 10 - length as usize]);
    }
    let both = File::new()
        .input("x", &["2", "4"])
        .input("w", &["4"])
        .node("MatMul", &["x", "w"], "y", &[])
        .output("y");
    let error = open("x", &both.bytes(), &Limits::default(), &[]).unwrap_err();
    assert!(matches!(error, FormatError::Unsupported { .. }), "{error}");
}

/// Before version 7 the slopes of channels have no dimensions behind them.
#[test]
fn slopes_of_channels_in_old_files() {
    let file = File::new()
        .opset(6)
        .input("x", &["1", "2", "1", "3"])
        .floats("slopes", &[2], vec![0.5, 2.0])
        .node("PRelu", &["x", "slopes"], "y", &[])
        .output("y");
    let model = open("x", &file.bytes(), &Limits::default(), &[]).unwrap();
    let image = Data::F32(vec![-1.0, -1.0, 2.0, 2.0, -3.0, -3.0]);
    let result = float::run(&model, &[image], &mut |_, _| {}).unwrap();
    assert_eq!(result[0].as_f32().unwrap(), [-0.5, -2.0, 2.0, 2.0, -1.5, -6.0]);
}
