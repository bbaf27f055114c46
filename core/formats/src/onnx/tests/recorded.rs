//! Operators on integers, beside what ONNX Runtime makes of them, recorded by
//! `models/golden/onnx_operators.py`.

use std::collections::BTreeMap;
use std::path::Path;

use tilewright_model::{Data, Model, TensorId, int8};

use super::to_graph;
use crate::onnx::tests::oracle::Array;
use crate::{Limits, open};

fn bytes(hexadecimal: &str) -> Vec<u8> {
    let digits = hexadecimal.as_bytes().chunks(2);
    digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

/// Values of a tensor in the file's order, as the graph has them: channels last, as int8.
fn in_graph(model: &Model, id: TensorId, values: &[u8], unsigned: bool) -> Vec<i8> {
    let shape = model.tensor(id).shape.dims().to_vec();
    let mut dims = shape.clone();
    if dims.len() > 2 {
        dims[1..].rotate_right(1);
    }
    let shift = |byte: &u8| if unsigned { byte ^ 0x80 } else { *byte }.cast_signed();
    let values = values.iter().map(|byte| f32::from(shift(byte))).collect();
    to_graph(&Array { dims, values }, &shape).iter().map(|value| *value as i8).collect()
}

/// How many results there are, how many of them are equal, and how far the others are apart at most.
fn compare(name: &str, given: &[u8], expected: &[u8]) -> (usize, usize, i32) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/golden/onnx");
    let file = std::fs::read(folder.join(format!("{name}.onnx"))).unwrap();
    let model = open(name, &file, &Limits::default(), &[]).unwrap();
    assert!(model.is_int8(), "{name}");
    let unsigned = name.ends_with("uint8");
    let mut rest = given;
    let mut inputs = Vec::new();
    for id in &model.inputs {
        let (values, behind) = rest.split_at(model.tensor(*id).shape.elements().unwrap());
        inputs.push(Data::I8(in_graph(&model, *id, values, unsigned)));
        rest = behind;
    }
    assert!(rest.is_empty(), "{name}");
    let results = int8::run(&model, &inputs, &mut |_, _| {}).unwrap();
    let expected = in_graph(&model, model.outputs[0], expected, unsigned);
    let found = results[0].as_i8().unwrap();
    assert_eq!(found.len(), expected.len(), "{name}");
    let apart = found.iter().zip(&expected).map(|(a, b)| i32::from(*a).abs_diff(i32::from(*b)));
    let apart: Vec<i32> = apart.map(u32::cast_signed).collect();
    let equal = apart.iter().filter(|steps| **steps == 0).count();
    (apart.len(), equal, apart.into_iter().max().unwrap_or(0))
}

/// ONNX Runtime multiplies by floats and rounds halves to even; here integers are followed.
#[test]
fn operators_on_integers_are_a_step_from_onnx_runtime_at_most() {
    let records = include_str!("../../../../../models/golden/onnx/records.txt");
    let mut seen = BTreeMap::new();
    for record in records.lines() {
        let [name, given, expected] = record.split(' ').collect::<Vec<_>>()[..] else {
            panic!("a record has three words: {record}");
        };
        let (count, equal, furthest) = compare(name, &bytes(given), &bytes(expected));
        println!("{name}: {equal} of {count} equal, furthest {furthest}");
        assert!(furthest <= 1, "{name}: {furthest} steps");
        assert!(equal * 100 >= count * 85, "{name}: {equal} of {count} equal");
        seen.insert(name, count);
    }
    assert_eq!(seen.len(), 23);
}
