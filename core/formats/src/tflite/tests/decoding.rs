//! Networks that end before what decodes their outputs.

use flatbuffers::FlatBufferBuilder;
use tilewright_model::{Data, Model, int8};
use tilewright_tflite_schema as fb;

use super::build::{File, Options, Tensor};
use crate::{Limits, open};

use fb::BuiltinOperator as Code;

fn opened(file: &File) -> Model {
    open("x.tflite", &file.bytes(), &Limits::default(), &[]).unwrap()
}

fn outputs(file: &File) -> Vec<String> {
    let model = opened(file);
    model.outputs.iter().map(|id| model.tensor(*id).name.clone()).collect()
}

#[test]
fn a_network_ends_before_what_decodes_its_outputs() {
    let floats = |name, dims: &[i32]| Tensor::new(name, dims, fb::TensorType::FLOAT32);
    let mut file = File::default()
        .tensor(Tensor::int8("x", &[1, 8], 0.5, 0))
        .tensor(Tensor::int8("codes", &[1, 8], 0.5, 0))
        .tensor(Tensor::int8("scores", &[1, 8], 0.5, 0))
        .tensor(Tensor::int8("anchors", &[2, 4], 0.5, 0).data(vec![1; 8]))
        .tensor(floats("boxes", &[1, 10, 4]))
        .tensor(floats("classes", &[1, 10]))
        .operator(Code::RELU, &[0], &[1], None)
        .operator(Code::RELU6, &[0], &[2], None)
        .operator(Code::CUSTOM, &[1, 2, 3], &[4, 5], None)
        .interface(&[0], &[4, 5]);
    file.custom = "TFLite_Detection_PostProcess";
    let model = opened(&file);
    assert_eq!(outputs(&file), ["codes", "scores"]);
    assert!(model.opaque_operators().is_empty());
    let [note] = &model.notes[..] else { panic!("{:?}", model.notes) };
    assert!(note.contains("'codes'") && note.contains("'scores'"), "{note}");
    let result = int8::run(&model, &[Data::I8(vec![-1, 0, 1, 2, 3, 4, 5, 20])], &mut |_, _| {});
    assert_eq!(result.unwrap()[1].as_i8().unwrap(), [0, 0, 1, 2, 3, 4, 5, 12]);
    // What else is an output stays one.
    file.outputs = vec![4, 1];
    assert_eq!(outputs(&file), ["codes", "scores"]);
    file.outputs = vec![0, 4, 5];
    assert_eq!(outputs(&file), ["x.2", "codes", "scores"]);
    // Somebody reads the boxes, or another operator makes them.
    file.outputs = vec![5, 6];
    let read =
        file.clone().tensor(floats("read", &[1, 10, 4])).operator(Code::RELU, &[4], &[6], None);
    assert_eq!(outputs(&read), ["classes", "read"]);
    file.outputs = vec![4, 5];
    file.custom = "Other";
    assert_eq!(outputs(&file), ["boxes", "classes"]);
}

#[test]
fn a_segmentation_ends_before_its_scores_are_enlarged_and_chosen_from() {
    let between: Options = |b: &mut FlatBufferBuilder<'_>| {
        let args = fb::ResizeBilinearOptionsArgs { half_pixel_centers: true, ..Default::default() };
        fb::ResizeBilinearOptions::create(b, &args).as_union_value()
    };
    let between = Some((fb::BuiltinOptions::ResizeBilinearOptions, between));
    let number = |name, dims: &[i32]| Tensor::new(name, dims, fb::TensorType::INT32);
    let words = |words: [i32; 2]| words.map(i32::to_le_bytes).concat();
    let mut file = File::default()
        .tensor(Tensor::uint8("x", &[1, 2, 2, 3], 0.5, 128))
        .tensor(Tensor::uint8("scores", &[1, 2, 2, 3], 0.5, 128))
        .tensor(number("size", &[2]).data(words([5, 5])))
        .tensor(Tensor::uint8("large", &[1, 5, 5, 3], 0.5, 128))
        .tensor(number("axis", &[]).data(3i32.to_le_bytes().to_vec()))
        .tensor(Tensor::new("classes", &[1, 5, 5], fb::TensorType::INT64))
        .tensor(Tensor::uint8("other", &[1, 5, 5, 3], 0.5, 128))
        .operator(Code::RELU, &[0], &[1], None)
        .operator(Code::RESIZE_BILINEAR, &[1, 2], &[3], between)
        .operator(Code::ARG_MAX, &[3, 4], &[5], None)
        .interface(&[0], &[5]);
    assert_eq!(outputs(&file), ["scores"]);
    let [note] = &opened(&file).notes[..] else { panic!() };
    assert!(note.contains("ends before RESIZE_BILINEAR") && note.contains("'scores'"), "{note}");
    // What computes with the enlarged scores needs them.
    file = file.operator(Code::RELU6, &[3], &[6], None);
    file.outputs = vec![5, 6];
    assert_eq!(outputs(&file), ["classes", "other"]);
    assert_eq!(opened(&file).opaque_operators().len(), 1);
}
