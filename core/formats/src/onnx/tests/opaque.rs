//! Operators that nothing here computes: they open where the shapes of their results are known.

use super::build::Attribute::{Float, Int, Ints, Text};
use super::build::{Attribute, File};
use crate::onnx::messages::tensor_proto::DataType;
use crate::onnx::messages::{AttributeProto, attribute_proto::AttributeType, type_proto};
use crate::{FormatError, Limits, open};
use tilewright_model::{DType, Data, Model, float};

fn opened(file: &File) -> Model {
    open("x.onnx", &file.bytes(), &Limits::default(), &[]).unwrap()
}

fn outputs(model: &Model) -> Vec<Vec<usize>> {
    model.outputs.iter().map(|id| model.tensor(*id).shape.dims().to_vec()).collect()
}

/// A recurrent operator of 6 hidden values over 5 times 2 rows of 4, with all its results.
fn recurrent(op: &str, gates: i64, directions: i64, others: &[(&str, Attribute)]) -> File {
    let mut file = File::new()
        .input("x", &["5", "2", "4"])
        .weights("w", &[directions, gates * 6, 4])
        .weights("r", &[directions, gates * 6, 6])
        .node(op, &["x", "w", "r", "", ""], "all", others);
    let results = if op == "LSTM" { &["last", "cell"][..] } else { &["last"][..] };
    file.graph().node[0].output.extend(results.iter().map(|name| (*name).to_owned()));
    results.iter().fold(file.output("all"), |file, name| file.output(name))
}

#[test]
fn recurrent_operators_have_the_standards_shapes() {
    let hidden = || ("hidden_size", Int(6));
    let lstm = opened(&recurrent("LSTM", 4, 1, &[hidden()]));
    assert_eq!(lstm.opaque_operators(), ["LSTM"]);
    assert_eq!(outputs(&lstm), [vec![5, 1, 2, 6], vec![1, 2, 6], vec![1, 2, 6]]);
    let both = [("direction", Text("bidirectional")), ("layout", Int(1))];
    let gru = opened(&recurrent("GRU", 3, 2, &both));
    assert_eq!(outputs(&gru), [vec![5, 2, 2, 6], vec![5, 2, 6]]);
    let rnn = opened(&recurrent("RNN", 1, 1, &[hidden(), ("direction", Text("reverse"))]));
    assert_eq!(outputs(&rnn), [vec![5, 1, 2, 6], vec![1, 2, 6]]);
    // Two that leave results out.
    let mut file = recurrent("LSTM", 4, 1, &[hidden()]);
    let graph = file.graph();
    graph.node[0].output = vec![String::new(), "last".to_owned()];
    let mut second = graph.node[0].clone();
    second.output = vec![String::new(), String::new(), "cell".to_owned()];
    graph.node.push(second);
    graph.output.remove(0);
    assert_eq!(outputs(&opened(&file)), [vec![1, 2, 6], vec![1, 2, 6]]);
}

/// With the shape of the result in the file the operator is named; without it the file is refused.
#[test]
fn what_is_not_supported_opens_where_shapes_are_stated() {
    let turned = File::new()
        .input("x", &["1", "2", "8"])
        .node("DepthToSpace", &["x"], "y", &[("blocksize", Int(2)), ("mode", Text("XYZ"))])
        .output("y");
    let error = open("x.onnx", &turned.bytes(), &Limits::default(), &[]).unwrap_err();
    assert!(matches!(&error, FormatError::Unsupported { node, .. } if node == "y"), "{error}");
    let mut stated = turned;
    let graph = stated.graph();
    let mut shape = graph.input[0].clone();
    shape.name = "y".to_owned();
    graph.output[0] = shape;
    let model = opened(&stated);
    assert_eq!(model.opaque_operators(), ["DepthToSpace (mode XYZ is not supported)"]);
    assert_eq!(outputs(&model), [[1, 2, 8]]);
    // What is wrong stays wrong.
    stated.graph().node[0].attribute[0].i = 0;
    let error = open("x.onnx", &stated.bytes(), &Limits::default(), &[]).unwrap_err();
    assert!(matches!(error, FormatError::Node { .. }), "{error}");
}

#[test]
fn products_of_activations_may_be_turned() {
    let product = |flag: &str| {
        let file = File::new().input("a", &["3", "4"]).input("b", &["3", "5"]);
        opened(&file.node("Gemm", &["a", "b"], "y", &[(flag, Int(1))]).output("y"))
    };
    assert_eq!(outputs(&product("transA")), [[4, 5]]);
    let square = File::new().input("a", &["3", "4"]).input("b", &["5", "4"]);
    let square = square.node("Gemm", &["a", "b"], "y", &[("transB", Int(1))]).output("y");
    assert_eq!(outputs(&opened(&square)), [[3, 5]]);
}

/// What left the standard is computed: of values 0 to 35 in an image of 1×2×3×6.
#[test]
fn experimental_operators_compute() {
    let run = |op: &str, attributes: &[(&str, Attribute)], floats: Option<(&str, Vec<f32>)>| {
        let mut file = File::new()
            .input("x", &["1", "2", "3", "6"])
            .node(op, &["x"], "y", attributes)
            .output("y");
        if let Some((name, floats)) = floats {
            file.graph().node[0].attribute.push(AttributeProto {
                name: name.to_owned(),
                floats,
                r#type: AttributeType::Floats as i32,
                ..Default::default()
            });
        }
        let model = opened(&file);
        // Pixel after pixel: channel 0 holds 0 to 17, channel 1 the rest.
        let pixels = (0..18).flat_map(|pixel| [pixel as f32, pixel as f32 + 18.0]).collect();
        let result = float::run(&model, &[Data::F32(pixels)], &mut |_, _| {}).unwrap();
        (outputs(&model).remove(0), result[0].as_f32().unwrap().to_vec())
    };
    let (dims, scaled) =
        run("ImageScaler", &[("scale", Float(2.0))], Some(("bias", vec![1.0, -1.0])));
    assert_eq!(dims, [1, 3, 6, 2]);
    assert_eq!(scaled[..4], [1.0, 35.0, 3.0, 37.0]);
    let (_, affine) = run("Affine", &[("alpha", Float(3.0)), ("beta", Float(0.5))], None);
    assert_eq!(affine[..4], [0.5, 54.5, 3.5, 57.5]);
    let (dims, cropped) = run("Crop", &[("border", Ints(vec![1, 2, 3, 0]))], None);
    assert_eq!((dims, cropped), (vec![1, 1, 2, 2], vec![13.0, 31.0, 14.0, 32.0]));
    let border = ("border", Ints(vec![1, 1, 0, 0]));
    let (dims, cropped) = run("Crop", &[border, ("scale", Ints(vec![1, 2]))], None);
    assert_eq!((dims, cropped), (vec![1, 1, 2, 2], vec![7.0, 25.0, 8.0, 26.0]));
    let bad = File::new()
        .input("x", &["1", "2", "3", "6"])
        .node("Crop", &["x"], "y", &[("border", Ints(vec![1, 2, i64::MAX, 5]))])
        .output("y");
    assert!(open("x.onnx", &bad.bytes(), &Limits::default(), &[]).is_err());
}

#[test]
fn pads_repeat_what_they_surround() {
    let run = |mode: &'static str, amounts: [i64; 2]| {
        let file = File::new()
            .input("x", &["1", "4"])
            .ints("p", &[0, amounts[0], 0, amounts[1]])
            .node("Pad", &["x", "p"], "y", &[("mode", Text(mode))])
            .output("y");
        let model = open("x", &file.bytes(), &Limits::default(), &[]).map_err(|e| e.to_string())?;
        let input = [Data::F32(vec![0.0, 1.0, 2.0, 3.0])];
        let result = float::run(&model, &input, &mut |_, _| {}).unwrap();
        Ok::<_, String>(result[0].as_f32().unwrap().to_vec())
    };
    assert_eq!(run("reflect", [2, 1]).unwrap(), [2.0, 1.0, 0.0, 1.0, 2.0, 3.0, 2.0]);
    assert_eq!(run("reflect", [0, 3]).unwrap(), [0.0, 1.0, 2.0, 3.0, 2.0, 1.0, 0.0]);
    assert_eq!(run("edge", [2, 1]).unwrap(), [0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 3.0]);
    assert!(run("reflect", [4, 0]).unwrap_err().contains("4 and 0 elements around 4"));
    assert!(run("edge", [0, 1 << 20]).is_err());
    assert!(run("wrap", [1, 1]).unwrap_err().contains("mode wrap"));
}

/// Words by their numbers, looked up in a table; and what else takes integers.
#[test]
fn integer_inputs_open() {
    let typed = |mut file: File, kind: DataType| {
        let Some(type_proto::Value::TensorType(tensor)) =
            file.graph().input[0].r#type.as_mut().and_then(|kind| kind.value.as_mut())
        else {
            panic!()
        };
        tensor.elem_type = kind as i32;
        file
    };
    let words = File::new()
        .input("x", &["N", "7"])
        .weights("table", &[100, 6])
        .ints("flat", &[7])
        .node("Reshape", &["x", "flat"], "r", &[])
        .node("Gather", &["table", "r"], "g", &[])
        .node("Relu", &["g"], "y", &[])
        .output("y");
    for (kind, dtype) in [(DataType::Int64, DType::I64), (DataType::Int32, DType::I32)] {
        let model = opened(&typed(words.clone(), kind));
        assert_eq!(model.opaque_operators(), ["Gather"]);
        assert_eq!(model.tensor(model.inputs[0]).dtype, dtype);
        assert_eq!(outputs(&model), [[7, 6]]);
        assert_eq!(model.tensor(model.outputs[0]).dtype, DType::F32);
    }
    let cast = File::new()
        .input("x", &["1", "7"])
        .node("Cast", &["x"], "c", &[("to", Int(1))])
        .node("Relu", &["c"], "y", &[])
        .output("y");
    let model = opened(&typed(cast, DataType::Bool));
    assert_eq!((model.opaque_operators(), outputs(&model)), (vec!["Cast"], vec![vec![1, 7]]));
    let same = File::new().input("x", &["1", "7"]).node("Identity", &["x"], "y", &[]).output("y");
    let model = opened(&typed(same, DataType::Uint16));
    assert_eq!(model.tensor(model.outputs[0]).dtype, DType::I16);
    let sum = File::new().input("x", &["1", "7"]).node("Add", &["x", "x"], "y", &[]).output("y");
    let error = open("x", &typed(sum, DataType::Int64).bytes(), &Limits::default(), &[]);
    assert!(error.unwrap_err().to_string().ends_with("(Add) is not supported: of int64"));
}

/// The size that stands for a symbol of an input stands for it in results too.
#[test]
fn stated_shapes_know_the_inputs_symbols() {
    let mut file = File::new()
        .input("x", &["N", "2", "size"])
        .node("Einsum", &["x"], "e", &[])
        .node("Relu", &["e"], "y", &[])
        .output("y");
    let graph = file.graph();
    let mut stated = graph.input[0].clone();
    stated.name = "e".to_owned();
    graph.value_info.push(stated);
    let dims = [("size".to_owned(), 9)];
    let model = open("x", &file.bytes(), &Limits::default(), &dims).unwrap();
    assert_eq!((model.opaque_operators(), outputs(&model)), (vec!["Einsum"], vec![vec![1, 2, 9]]));
    let error = open("x", &file.bytes(), &Limits::default(), &[]).unwrap_err();
    assert!(matches!(error, FormatError::DynamicDimensions { .. }), "{error}");
}
