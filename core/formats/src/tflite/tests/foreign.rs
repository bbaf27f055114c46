//! Files with element types that nothing here computes with: they open, and their operators are
//! named.

use proptest::prelude::*;
use tilewright_model::{DType, FileType, Model, Op, TensorId};
use tilewright_tflite_schema as fb;

use super::build::{File, Tensor};
use crate::{Limits, open};

use fb::BuiltinOperator as Code;
use fb::TensorType as Type;

fn opened(file: &File) -> Model {
    open("x.tflite", &file.bytes(), &Limits::default(), &[]).unwrap()
}

fn kind(model: &Model, ids: &[TensorId]) -> Vec<(DType, Option<usize>)> {
    ids.iter().map(|id| (model.tensor(*id).dtype, model.tensor(*id).bytes())).collect()
}

/// Sound of 16 bits as audio networks have it, with a reshape between two operators.
fn sound() -> File {
    let wide = |name, dims: &[i32]| Tensor {
        scales: vec![0.25],
        zeros: vec![0],
        ..Tensor::new(name, dims, Type::INT16)
    };
    File::default()
        .tensor(wide("x", &[1, 6, 4]))
        .tensor(wide("doubled", &[1, 6, 4]))
        .tensor(
            Tensor::new("shape", &[2], Type::INT32).data([1i32, 24].map(i32::to_le_bytes).concat()),
        )
        .tensor(wide("flat", &[1, 24]))
        .tensor(Tensor::int8("y", &[1, 24], 0.5, 3))
        .tensor(Tensor::int8("z", &[1, 24], 0.5, 3))
        .operator(Code::ADD, &[0, 0], &[1], None)
        .operator(Code::RESHAPE, &[1, 2], &[3], None)
        .operator(Code::QUANTIZE, &[3], &[4], None)
        .operator(Code::RELU, &[4], &[5], None)
        .interface(&[0], &[5])
}

#[test]
fn sound_of_16_bits_opens_with_its_operators_named() {
    let model = opened(&sound());
    assert_eq!(model.opaque_operators(), ["ADD (of int16)", "QUANTIZE (of int16)"]);
    let names: Vec<&str> = model.nodes.iter().map(|node| node.op.name()).collect();
    assert_eq!(names, ["ADD (of int16)", "Reshape", "QUANTIZE (of int16)", "ReLU"]);
    assert_eq!(kind(&model, &model.inputs), [(DType::I16, Some(48))]);
    assert_eq!(kind(&model, &model.nodes[0].outputs), [(DType::I16, Some(48))]);
    assert_eq!(kind(&model, &model.outputs), [(DType::I8, Some(24))]);
}

#[test]
fn inputs_of_other_types_open() {
    let one = |code, x: Tensor, y: Tensor| {
        opened(
            &File::default()
                .tensor(x)
                .tensor(y)
                .operator(code, &[0], &[1], None)
                .interface(&[0], &[1]),
        )
    };
    let model = one(
        Code::CAST,
        Tensor::new("x", &[1, 5], Type::UINT8),
        Tensor::new("y", &[1, 5], Type::FLOAT32),
    );
    assert_eq!(model.opaque_operators(), ["CAST (of uint8 without a scale)"]);
    assert_eq!(kind(&model, &model.inputs), [(DType::U8, Some(5))]);
    for (of, word, dtype, bytes, file_type) in [
        (Type::INT16, "int16", DType::I16, 10, None),
        (Type::UINT16, "uint16", DType::I16, 10, Some(FileType::Uint16)),
        (Type::INT32, "int32", DType::I32, 20, None),
        (Type::UINT32, "uint32", DType::I32, 20, Some(FileType::Uint32)),
        (Type::INT64, "int64", DType::I32, 20, Some(FileType::Int64)),
        (Type::UINT64, "uint64", DType::I64, 40, Some(FileType::Uint64)),
        (Type::BOOL, "bool", DType::U8, 5, Some(FileType::Bool)),
        (Type::INT8, "int8 without a scale", DType::U8, 5, Some(FileType::Int8)),
    ] {
        let model = one(Code::ABS, Tensor::new("x", &[1, 5], of), Tensor::new("y", &[1, 5], of));
        assert_eq!(model.opaque_operators(), [format!("ABS (of {word})")]);
        let [input, output] = [&model.inputs, &model.outputs].map(|ids| kind(&model, ids));
        assert_eq!((input[0], output[0]), ((dtype, Some(bytes)), (dtype, Some(bytes))));
        assert_eq!(model.file_types.inputs.get(&0), file_type.as_ref());
        assert_eq!(model.file_types.outputs.get(&0), file_type.as_ref());
    }
    // Values are moved where the graph can.
    let moved = one(
        Code::SQUEEZE,
        Tensor::new("x", &[1, 5], Type::INT16),
        Tensor::new("y", &[5], Type::INT16),
    );
    assert_eq!(moved.nodes.len(), 1);
    assert_eq!(moved.nodes[0].op, Op::Reshape);
}

/// An operator from int8 to int16, and a model whose output is its input.
#[test]
fn results_of_16_bits_open() {
    let file = File::default()
        .tensor(Tensor::int8("x", &[1, 5], 0.5, 1))
        .tensor(Tensor::new("y", &[1, 5], Type::INT16))
        .operator(Code::QUANTIZE, &[0], &[1], None)
        .interface(&[0], &[1, 1]);
    let model = opened(&file);
    assert_eq!(model.opaque_operators(), ["QUANTIZE (of int16)"]);
    assert_eq!(kind(&model, &model.outputs), [(DType::I16, Some(10)); 2]);
    let same = File::default().tensor(Tensor::new("x", &[1, 5], Type::INT16)).interface(&[0], &[0]);
    assert_eq!(opened(&same).nodes[0].op, Op::Reshape);
}

proptest! {
    #[test]
    fn mutated_sound_never_panics(changes in prop::collection::vec((any::<u16>(), any::<u8>()), 1..12)) {
        let mut bytes = sound().bytes();
        for (at, value) in changes {
            let at = usize::from(at) % bytes.len();
            bytes[at] = value;
        }
        let limits = Limits { tensor_elements: 1 << 16, ..Limits::default() };
        if let Ok(model) = open("x.tflite", &bytes, &limits, &[]) {
            model.verify().unwrap();
        }
    }
}
