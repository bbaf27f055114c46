//! Outputs that are constant, and weights that int8 does not hold: what the model says of them.

use tilewright_model::quantise::{QuantiseOptions, quantise};
use tilewright_model::{Data, Model, int8};

use super::build::Attribute::Int;
use super::build::File;
use crate::onnx::messages::TensorProto;
use crate::onnx::messages::tensor_proto::DataType;
use crate::{Limits, open};

#[test]
fn constant_outputs_are_left_out_and_noted() {
    let file = File::new()
        .input("x", &["1", "3"])
        .floats("anchors", &[2, 3], vec![0.5; 6])
        .node("Relu", &["x"], "y", &[])
        .node("Shape", &["y"], "size", &[])
        .output("anchors")
        .output("y")
        .output("size");
    let model = open("x", &file.bytes(), &Limits::default(), &[]).unwrap();
    let names: Vec<&str> = model.outputs.iter().map(|id| model.tensor(*id).name.as_str()).collect();
    assert_eq!(names, ["y"]);
    assert_eq!(
        model.notes,
        [
            "Output 'anchors' is left out: it is constant. The file has its values, 6 in all.",
            "Output 'size' is left out: it is constant. The file has its values, 2 in all.",
        ]
    );
    // A quantised model keeps its notes.
    let sets = [vec![Data::F32(vec![-1.0, 0.0, 1.0])]];
    let (quantised, _) = quantise(&model, &sets, &QuantiseOptions::default()).unwrap();
    assert_eq!(quantised.notes, model.notes);
}

#[test]
fn a_model_of_constants_alone_is_refused() {
    let alone = File::new().input("x", &["1", "3"]).floats("c", &[2], vec![0.5; 2]).output("c");
    let error = open("x", &alone.bytes(), &Limits::default(), &[]).unwrap_err();
    assert!(error.to_string().contains("has no output that is computed"), "{error}");
}

/// A convolution of uint8 weights, 2 channels of 4, each with a zero point of its own.
fn of_bytes(values: [u8; 8], zeros: [u8; 2]) -> File {
    let bytes = |name: &str, dims: &[i64], raw: &[u8]| TensorProto {
        name: name.to_owned(),
        dims: dims.to_vec(),
        data_type: DataType::Uint8 as i32,
        raw_data: raw.to_vec().into(),
        ..Default::default()
    };
    let mut file = File::new()
        .input("x", &["1", "4", "1", "1"])
        .floats("sx", &[], vec![0.5])
        .floats("sw", &[2], vec![0.25, 0.125])
        .floats("sy", &[], vec![1.0])
        .node("QuantizeLinear", &["x", "sx", "zx"], "q", &[])
        .node("DequantizeLinear", &["q", "sx", "zx"], "d", &[])
        .node("DequantizeLinear", &["w", "sw", "zw"], "dw", &[("axis", Int(0))])
        .node("Conv", &["d", "dw"], "c", &[])
        .node("QuantizeLinear", &["c", "sy", "zx"], "r", &[])
        .node("DequantizeLinear", &["r", "sy", "zx"], "y", &[])
        .output("y");
    for tensor in
        [bytes("w", &[2, 4, 1, 1], &values), bytes("zw", &[2], &zeros), bytes("zx", &[], &[128])]
    {
        file.graph().initializer.push(tensor);
    }
    file
}

/// Zero points of several channels become one where int8 holds all steps from it, with no value
/// changed; else the weights are rounded, and the model says so.
#[test]
fn zero_points_of_channels_become_one() {
    let opened = |values, zeros| {
        open("x", &of_bytes(values, zeros).bytes(), &Limits::default(), &[]).unwrap()
    };
    let weights = |model: &Model| {
        let tensor = model.tensor(model.nodes[0].inputs[1]);
        let steps: Vec<i32> = match &*tensor.source.as_ref().unwrap().values() {
            Data::I8(values) => values.iter().map(|value| i32::from(*value)).collect(),
            other => panic!("{other:?}"),
        };
        let quantisation = tensor.quantisation.clone().unwrap();
        let steps: Vec<i32> = steps.iter().map(|step| step - quantisation.zero()).collect();
        (steps, quantisation)
    };
    let (values, zeros) = ([10, 0, 200, 90, 130, 255, 50, 60], [60, 140]);
    let model = opened(values, zeros);
    assert!(model.is_int8() && model.notes.is_empty());
    let (steps, quantisation) = weights(&model);
    assert_eq!(steps, [-50, -60, 140, 30, -10, 115, -90, -80]);
    assert_eq!(quantisation.zeros, [-13, -13]);
    assert_eq!(quantisation.scales, [0.25, 0.125]);
    // What the node computes: (x − 0) · steps · scales, in whole steps of the result.
    let x = Data::I8(vec![4, -4, 2, 0]);
    let result = int8::run(&model, &[x], &mut |_, _| {}).unwrap();
    // 0.5 · 0.25 · 320 and 0.5 · 0.125 · −680, saturated nowhere.
    assert_eq!(result[0].as_i8().unwrap(), [40, -43]);

    let wide = opened([0, 255, 1, 2, 0, 255, 3, 4], [10, 250]);
    let (_, quantisation) = weights(&wide);
    assert_eq!(quantisation.zeros, [0, 0]);
    assert_ne!(quantisation.scales, [0.25, 0.125]);
    assert_eq!(
        wide.notes,
        [
            "Weights 'w' are rounded to int8 anew: they are -250 to 245 steps from their zero points, \
          of which each channel has its own, and one for all would not do."
        ]
    );
}
