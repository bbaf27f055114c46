//! Files that must be refused, and with which words.

use proptest::prelude::*;

use tilewright_model::quantise::{QuantiseOptions, quantise};
use tilewright_model::{Data, Tensor};

use super::build::Attribute::{Float, Int, Ints};
use super::build::File;
use super::noise;
use crate::onnx::messages::tensor_proto::DataType;
use crate::{FormatError, Limits, open};

fn refusal(bytes: &[u8]) -> FormatError {
    open("x.onnx", bytes, &Limits::default(), &[]).unwrap_err()
}

fn small() -> File {
    File::new()
        .input("x", &["N", "1", "8", "8"])
        .weights("k", &[2, 1, 3, 3])
        .node("Conv", &["x", "k"], "c", &[])
        .node("Relu", &["c"], "y", &[])
        .output("y")
}

#[test]
fn other_files_are_told_apart() {
    let cases: [(&[u8], &str); 5] = [
        (b"", "the file is empty"),
        (b"PK\x03\x04..........", "ZIP archive"),
        (b"\x89PNG\r\n\x1a\n", "picture"),
        (b"hello, I am no model at all", "first bytes"),
        (b"\x08\x08", "no graph"),
    ];
    for (bytes, words) in cases {
        let error = refusal(bytes);
        assert!(matches!(error, FormatError::NotAModel { .. }), "{error}");
        assert!(error.to_string().contains(words), "{error}");
        assert!(error.to_string().contains("Known formats: ONNX"), "{error}");
    }
}

#[test]
fn every_truncation_is_refused() {
    let bytes = small().bytes();
    for length in 0..bytes.len() {
        refusal(&bytes[..length]);
    }
    let error = refusal(&bytes[..bytes.len() - 40]);
    assert!(matches!(error, FormatError::Damaged { .. }), "{error}");
    assert!(error.to_string().contains("reaches beyond the end"), "{error}");
}

#[test]
fn bits_beyond_a_16_bit_float_are_refused() {
    let file = |kind: DataType, last: i32| {
        let mut file = small();
        let kernel = &mut file.graph().initializer[0];
        kernel.raw_data.clear();
        kernel.data_type = kind.into();
        kernel.int32_data = [vec![0x3c00; 17], vec![last]].concat();
        file.bytes()
    };
    for kind in [DataType::Float16, DataType::Bfloat16] {
        open("x", &file(kind, 0xbc00), &Limits::default(), &[]).unwrap();
        for beyond in [0x1_3c00, -1] {
            let text = refusal(&file(kind, beyond)).to_string();
            assert!(text.contains("'k'") && text.contains(&beyond.to_string()), "{text}");
        }
    }
}

#[test]
fn unsupported_operators_are_all_named() {
    let mut file = small().node("Einsum", &["y"], "z", &[]).node("Relu", &["z"], "v", &[]).node(
        "Attention",
        &["v"],
        "w",
        &[],
    );
    file.graph().node[4].domain = "com.example".to_owned();
    file.graph().node[4].name = "head".to_owned();
    let error = refusal(&file.bytes());
    let FormatError::UnsupportedOperators { first, all } = &error else { panic!("{error}") };
    assert_eq!((first.op.as_str(), first.node.as_str(), first.index), ("Einsum", "z", 2));
    assert_eq!((all[1].op.as_str(), all[1].node.as_str()), ("com.example.Attention", "head"));
    assert_eq!(
        error.to_string(),
        "unsupported operator Einsum (node 2 'z'); 2 unsupported nodes in all: 1 Einsum, 1 com.example.Attention"
    );
}

#[test]
fn dynamic_dimensions_are_asked_for() {
    let file = File::new()
        .input("x", &["N", "1", "height", "8"])
        .weights("k", &[2, 1, 3, 3])
        .node("Conv", &["x", "k"], "y", &[])
        .output("y");
    let error = refusal(&file.bytes());
    let expected =
        FormatError::DynamicDimensions { input: "x".to_owned(), dims: vec!["height".to_owned()] };
    assert_eq!(error, expected);
    let both =
        File::new().input("x", &["N", "1", "height", "width"]).input("z", &["1", "height", "d"]);
    let both = both.node("Relu", &["x"], "y", &[]).output("y");
    assert_eq!(
        refusal(&both.bytes()).to_string(),
        "input 'x' has no fixed size for dimensions 'height', 'width', 'd': give them"
    );
    let dims = [("height".to_owned(), 6), ("N".to_owned(), 2)];
    let model = open("x.onnx", &file.bytes(), &Limits::default(), &dims).unwrap();
    assert_eq!(model.tensor(model.outputs[0]).shape.dims(), [2, 4, 6, 2]);
    let dims = [("height".to_owned(), 6), ("hieght".to_owned(), 6)];
    let error = open("x.onnx", &file.bytes(), &Limits::default(), &dims).unwrap_err();
    assert!(error.to_string().ends_with("these are: 'N', 'height'"), "{error}");
    let shapeless = File::new().input("x", &[]).node("Relu", &["x"], "y", &[]).output("y");
    assert!(refusal(&shapeless.bytes()).to_string().contains("has no shape"));
    let unnamed = File::new().input("x", &["1", "0"]).node("Relu", &["x"], "y", &[]).output("y");
    let FormatError::DynamicDimensions { dims, .. } = refusal(&unnamed.bytes()) else { panic!() };
    assert_eq!(dims, ["x[1]"]);
    let dims = [(dims[0].clone(), 5)];
    assert!(open("x.onnx", &unnamed.bytes(), &Limits::default(), &dims).is_ok());
}

#[test]
fn wrong_attributes_name_the_node() {
    let conv = |attributes: &[(&str, super::build::Attribute)]| {
        let file = File::new().input("x", &["1", "1", "8", "8"]).weights("k", &[2, 1, 3, 3]);
        refusal(&file.node("Conv", &["x", "k"], "y", attributes).output("y").bytes()).to_string()
    };
    for (name, value, words) in [
        ("strides", vec![0, 1], "attribute strides"),
        ("strides", vec![1], "attribute strides"),
        ("pads", vec![-1, 0, 0, 0], "attribute pads"),
        ("pads", vec![i64::MAX; 4], "attribute pads"),
        ("dilations", vec![9, 9], "does not fit"),
        ("kernel_shape", vec![5, 5], "kernel_shape"),
    ] {
        let message = conv(&[(name, Ints(value))]);
        assert!(message.starts_with("node 0 'y' (Conv): "), "{message}");
        assert!(message.contains(words), "{message}");
    }
    assert!(conv(&[("group", Int(0))]).contains("0 groups"));
    assert!(conv(&[("group", Int(-1))]).contains("groups"));
}

#[test]
fn constants_of_one_number_are_made_only_where_there_is_room() {
    let filled =
        |dims: &[i64]| File::new().ints("s", dims).node("ConstantOfShape", &["s"], "c", &[]);
    let read = filled(&[1, 130_000_000])
        .input("x", &["1", "130000000"])
        .node("Add", &["x", "c"], "y", &[])
        .output("y");
    let message = refusal(&read.bytes()).to_string();
    // What the file holds itself, two dimensions, counts eight times.
    let limit = (1 << 23) + 2 * 8;
    assert!(message.contains("130000000") && message.contains(&limit.to_string()), "{message}");
    // Two that are read together, each of which has room.
    let both = filled(&[1, 5_000_000])
        .node("ConstantOfShape", &["s"], "d", &[])
        .input("x", &["1", "5000000"])
        .node("Add", &["x", "c"], "z", &[])
        .node("Add", &["z", "d"], "y", &[])
        .output("y");
    assert!(matches!(refusal(&both.bytes()), FormatError::TooLarge { .. }));
    // Weights are read layer by layer.
    let weights = filled(&[10_000, 12_000])
        .input("x", &["1", "10000"])
        .node("MatMul", &["x", "c"], "y", &[])
        .output("y");
    let model = open("x.onnx", &weights.bytes(), &Limits::default(), &[]).unwrap();
    assert!(model.tensors.iter().filter_map(|tensor| tensor.source.as_ref()?.data()).count() == 0);
    let scaled = filled(&[10_000, 12_000])
        .input("x", &["1", "10000"])
        .node("Gemm", &["x", "c"], "y", &[("alpha", Float(2.0))])
        .output("y");
    assert!(matches!(refusal(&scaled.bytes()), FormatError::TooLarge { .. }));
}

#[test]
fn huge_sizes_allocate_nothing() {
    let wide = File::new()
        .input("x", &["1", "9223372036854775807", "9223372036854775807"])
        .node("Relu", &["x"], "y", &[])
        .output("y");
    assert!(matches!(refusal(&wide.bytes()), FormatError::TooLarge { .. }));
    let filled = File::new()
        .ints("s", &[1 << 40, 1 << 20])
        .input("x", &["1"])
        .node("ConstantOfShape", &["s"], "c", &[])
        .node("Add", &["x", "c"], "y", &[])
        .output("y");
    assert!(matches!(refusal(&filled.bytes()), FormatError::TooLarge { .. }));
    let padded = File::new()
        .input("x", &["1", "1", "4000", "4000"])
        .ints("p", &[0, 0, 1 << 24, 1 << 24, 0, 0, 0, 0])
        .node("Pad", &["x", "p"], "y", &[])
        .output("y");
    assert!(matches!(refusal(&padded.bytes()), FormatError::TooLarge { .. }));
    let limits = Limits { file_bytes: 10, ..Limits::default() };
    let error = open("x.onnx", &small().bytes(), &limits, &[]).unwrap_err();
    assert!(error.to_string().starts_with("too large: the file's bytes"), "{error}");
    // A file of nothing but empty nodes.
    let mut bytes = vec![0x3a, 0x80, 0x80, 0x80, 0x02];
    bytes.extend([0x0a, 0x00].repeat(2 << 20));
    assert!(matches!(refusal(&bytes), FormatError::TooLarge { .. }));
}

#[test]
fn faulty_constants_are_named() {
    let with = |values: Vec<f32>, dims: &[i64]| {
        let file = File::new().input("x", &["1", "2"]).floats("weights", dims, values);
        refusal(&file.node("MatMul", &["x", "weights"], "y", &[]).output("y").bytes())
    };
    let error = with(vec![1.0, f32::NAN], &[2, 1]);
    assert_eq!(error, FormatError::NotFinite { tensor: "weights".to_owned() });
    assert!(with(vec![1.0], &[2, 1]).to_string().contains("4 bytes for 2 elements"));
    assert!(matches!(with(vec![1.0], &[-2, 1]), FormatError::Interface { .. }));
}

#[test]
fn graphs_that_make_no_sense_are_refused() {
    let unknown = File::new().input("x", &["1"]).node("Relu", &["z"], "y", &[]).output("y");
    assert!(refusal(&unknown.bytes()).to_string().contains("operand 'z' is made by no node"));
    let twice = small().node("Relu", &["x"], "y", &[]);
    assert!(refusal(&twice.bytes()).to_string().contains("made twice"));
    let same = small().input("x", &["1"]);
    assert!(refusal(&same.bytes()).to_string().contains("two inputs have this name"));
    let nothing = File::new().input("x", &["1"]).node("Relu", &["x"], "y", &[]);
    assert!(refusal(&nothing.bytes()).to_string().contains("no output"));
    let missing = File::new().input("x", &["1"]).node("Relu", &["x"], "y", &[]).output("q");
    assert!(refusal(&missing.bytes()).to_string().contains("never made"));
}

fn lenet() -> Option<Vec<u8>> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/lenet5.onnx");
    std::fs::read(path).ok()
}

/// Either a model or words, never a panic; and what the model is, if small, can be quantised or
/// words say why not.
fn survives(bytes: &[u8]) {
    let limits = Limits { tensor_elements: 1 << 22, total_elements: 1 << 23, ..Limits::default() };
    let model = match open("x.onnx", bytes, &limits, &[]) {
        Ok(model) => model,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let elements = |tensor: &Tensor| tensor.shape.elements().unwrap();
    let macs: u64 = model.nodes.iter().map(|node| model.macs(node)).sum();
    if macs > 1 << 22 || model.tensors.iter().any(|tensor| elements(tensor) > 1 << 14) {
        return;
    }
    let sample = |scale: f32| -> Vec<Data> {
        let values = |count| noise(count, 1).iter().map(|value| value * scale).collect();
        model.inputs.iter().map(|id| Data::F32(values(elements(model.tensor(*id))))).collect()
    };
    match quantise(&model, &[sample(1.0), sample(0.1)], &QuantiseOptions::default()) {
        Ok((quantised, _)) => quantised.verify().unwrap(),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(3000) })]

    #[test]
    fn mutated_files_never_panic(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut bytes = small()
            .ints("s", &[0, -1])
            .weights("w", &[72, 3])
            .node("Reshape", &["y", "s"], "f", &[])
            .node("Gemm", &["f", "w"], "g", &[("transB", Int(0))])
            .node("Softmax", &["g"], "p", &[("axis", Int(-1))])
            .output("p")
            .bytes();
        for (at, value) in edits {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        survives(&bytes);
    }

    #[test]
    fn mutated_lenet_never_panics(
        edits in prop::collection::vec((0usize..4000, any::<u8>(), any::<bool>()), 1..6),
    ) {
        // Edits near both ends, where the structure is; weights lie between.
        let Some(mut bytes) = lenet() else { return Ok(()) };
        for (at, value, from_end) in edits {
            let at = if from_end { bytes.len() - 1 - at } else { at };
            bytes[at] = value;
        }
        survives(&bytes);
    }

    #[test]
    fn random_bytes_never_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        survives(&bytes);
        bytes.insert(0, 0x3a);
        survives(&bytes);
    }
}
