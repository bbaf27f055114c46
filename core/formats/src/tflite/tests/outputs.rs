//! Outputs that are constant.

use tilewright_model::{Data, FileType, int8};
use tilewright_tflite_schema as fb;

use super::build::{File, Tensor};
use crate::{Limits, open};

use fb::BuiltinOperator as Code;

/// As a detector that gives its anchors: two outputs are computed, three are constant, of which an
/// operator makes one.
fn detector() -> File {
    let floats = fb::TensorType::FLOAT32;
    File::default()
        .tensor(Tensor::uint8("x", &[1, 4], 0.5, 128))
        .tensor(Tensor::int8("anchors", &[1, 4], 0.5, 0).data(vec![1, 2, 3, 4]))
        .tensor(Tensor::uint8("y", &[1, 4], 0.5, 128))
        .tensor(Tensor::new("numbers", &[4], floats).data(vec![0; 16]))
        .tensor(Tensor::int8("positive", &[1, 4], 0.5, 0))
        .tensor(Tensor::uint8("z", &[1, 4], 0.5, 128))
        .operator(Code::RELU, &[0], &[2], None)
        .operator(Code::RELU, &[1], &[4], None)
        .operator(Code::RELU6, &[0], &[5], None)
        .interface(&[0], &[1, 2, 3, 4, 5])
}

#[test]
fn constant_outputs_are_left_out_and_noted() {
    let model = open("x.tflite", &detector().bytes(), &Limits::default(), &[]).unwrap();
    let names: Vec<&str> = model.outputs.iter().map(|id| model.tensor(*id).name.as_str()).collect();
    assert_eq!(names, ["y", "z"]);
    assert_eq!(
        model.notes,
        ["anchors", "numbers", "positive"].map(|name| format!(
            "Output '{name}' is left out: it is constant. The file has its values, 4 in all."
        ))
    );
    // What is known of outputs by position is of those that are left.
    let types: Vec<(usize, FileType)> = model.file_types.outputs.clone().into_iter().collect();
    assert_eq!(types, [(0, FileType::Uint8), (1, FileType::Uint8)]);
    let result = int8::run(&model, &[Data::I8(vec![-3, 0, 5, 20])], &mut |_, _| {}).unwrap();
    assert_eq!(result[0].as_i8().unwrap(), [0, 0, 5, 20]);
    assert_eq!(result[1].as_i8().unwrap(), [0, 0, 5, 12]);
}

#[test]
fn a_file_of_constant_outputs_alone_is_refused() {
    let mut file = detector();
    for outputs in [vec![1, 3], vec![4]] {
        file.outputs = outputs;
        let error = open("x.tflite", &file.bytes(), &Limits::default(), &[]).unwrap_err();
        let words = error.to_string();
        assert!(
            words.contains("no output that is computed") || words.contains("are constant"),
            "{words}"
        );
    }
}
