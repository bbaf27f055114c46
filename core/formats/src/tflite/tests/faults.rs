//! Files that are wrong.

use proptest::prelude::*;
use tilewright_tflite_schema as fb;

use super::build::{File, Tensor};
use crate::{FormatError, Limits, open};

/// y = relu(x), int8.
fn small() -> File {
    File::default()
        .tensor(Tensor::int8("x", &[1, 4], 0.5, 3))
        .tensor(Tensor::int8("y", &[1, 4], 0.25, -128))
        .operator(fb::BuiltinOperator::RELU, &[0], &[1], None)
        .interface(&[0], &[1])
}

fn refusal(file: &File) -> String {
    refused(&file.bytes()).to_string()
}

fn refused(bytes: &[u8]) -> FormatError {
    open("x.tflite", bytes, &Limits::default(), &[]).unwrap_err()
}

#[test]
fn the_small_file_opens() {
    let model = open("x.tflite", &small().bytes(), &Limits::default(), &[]).unwrap();
    assert!(model.is_int8());
    assert_eq!(model.name, "x");
}

#[test]
fn wrong_indices_are_named() {
    let mut file = small();
    file.operators[0].1 = vec![7];
    assert!(refusal(&file).contains("operator 0 names tensor 7 of 2"));
    let mut file = small();
    file.inputs = vec![-5];
    assert!(refusal(&file).contains("list of inputs names tensor -5"));
    let mut file = small();
    file.outputs = vec![];
    assert!(refusal(&file).contains("no output"));
}

#[test]
fn wrong_quantisation_is_named() {
    for (scale, words) in [(0.0, "scale 0"), (f32::NAN, "scale NaN"), (-1.0, "scale -1")] {
        let mut file = small();
        file.tensors[1].scales = vec![scale];
        let text = refusal(&file);
        assert!(text.contains("'y'") && text.contains(words), "{text}");
    }
    let mut file = small();
    file.tensors[0].zeros = vec![300];
    assert!(refusal(&file).contains("'x': its zero point 300"));
    let mut file = small();
    file.tensors[0].scales = vec![0.5; 3];
    assert!(refusal(&file).contains("3 scales"));
}

#[test]
fn wrong_shapes_and_sizes_are_named() {
    let mut file = small();
    file.tensors[0].dims = vec![1 << 30, 1 << 30, 1 << 30];
    assert!(matches!(refused(&file.bytes()), FormatError::TooLarge { .. }));
    let mut file = small();
    file.tensors[1].dims = vec![2, 2];
    assert!(refusal(&file).contains("its result is 1×4, but the file says 2×2"));
    let mut file = small();
    file.tensors[0].dims = vec![-3, 4];
    assert!(refusal(&file).contains("'x': dimensions [-3, 4]"));
    let mut file = small();
    file.tensors[0].data = vec![1, 2, 3];
    assert!(refusal(&file).contains("3 bytes of values"));
}

#[test]
fn cycles_and_repetitions_are_named() {
    let mut file = small();
    file.operators[0].1 = vec![1];
    assert!(refusal(&file).contains("made by no operator before it"));
    let mut file = small().operator(fb::BuiltinOperator::RELU, &[0], &[1], None);
    file.outputs = vec![1];
    assert!(refusal(&file).contains("made twice"));
}

#[test]
fn uint8_weights_keep_a_zero_point_only_where_they_need_it() {
    let weights = |values: Vec<u8>, zeros: Vec<i64>| {
        let mut weights = Tensor::uint8("w", &[2, 2], 0.5, 100).data(values);
        weights.scales.resize(zeros.len(), 0.5);
        weights.zeros = zeros;
        File::default()
            .tensor(Tensor::uint8("x", &[1, 2], 0.5, 128))
            .tensor(weights)
            .tensor(Tensor::uint8("y", &[1, 2], 0.5, 128))
            .operator(
                fb::BuiltinOperator::FULLY_CONNECTED,
                &[0, 1, -1],
                &[2],
                Some((fb::BuiltinOptions::FullyConnectedOptions, |b| {
                    let args = fb::FullyConnectedOptionsArgs::default();
                    fb::FullyConnectedOptions::create(b, &args).as_union_value()
                })),
            )
            .interface(&[0], &[2])
    };
    let zero = |values| {
        let bytes = weights(values, vec![100]).bytes();
        let model = open("x", &bytes, &Limits::default(), &[]).unwrap();
        let weights = model.tensors.iter().find(|tensor| tensor.name == "w").unwrap();
        weights.quantisation.as_ref().unwrap().zero()
    };
    assert_eq!(zero(vec![0, 227, 1, 2]), 0);
    assert_eq!(zero(vec![0, 255, 1, 2]), 100 - 128);
    let text = refusal(&weights(vec![0, 255, 1, 2], vec![100, 100]));
    assert!(text.contains("-100 to 155 steps") && text.contains("'w'"), "{text}");
}

#[test]
fn a_computed_bias_that_its_type_does_not_hold_is_refused() {
    let layer = |given: Tensor| {
        let bias = Tensor::new("b", &[2], fb::TensorType::INT32);
        File::default()
            .tensor(Tensor::int8("x", &[1, 2], 0.5, 0))
            .tensor(Tensor::int8("w", &[2, 2], 0.5, 0).data(vec![1, 2, 3, 4]))
            .tensor(given)
            .tensor(bias)
            .tensor(Tensor::int8("y", &[1, 2], 0.5, 0))
            .operator(fb::BuiltinOperator::CAST, &[2], &[3], None)
            .operator(
                fb::BuiltinOperator::FULLY_CONNECTED,
                &[0, 1, 3],
                &[4],
                Some((fb::BuiltinOptions::FullyConnectedOptions, |b| {
                    let args = fb::FullyConnectedOptionsArgs::default();
                    fb::FullyConnectedOptions::create(b, &args).as_union_value()
                })),
            )
            .interface(&[0], &[4])
    };
    let floats = |values: [f32; 2]| {
        let data = values.map(f32::to_le_bytes).concat();
        layer(Tensor::new("given", &[2], fb::TensorType::FLOAT32).data(data))
    };
    let integers = |values: [i64; 2]| {
        let data = values.map(i64::to_le_bytes).concat();
        layer(Tensor::new("given", &[2], fb::TensorType::INT64).data(data))
    };
    for right in [floats([5.5, -3e8]), integers([i32::MIN.into(), i32::MAX.into()])] {
        open("x", &right.bytes(), &Limits::default(), &[]).unwrap();
    }
    let wrong = [
        (floats([5.0, 3e9]), "3000000000"),
        (floats([f32::NEG_INFINITY, 0.0]), "-9223372036854775808"),
        (integers([0, (1 << 32) + 5]), "4294967301"),
    ];
    for (file, value) in wrong {
        let text = refusal(&file);
        assert!(text.contains(&format!("'b' has the value {value}, which int32")), "{text}");
    }
}

#[test]
fn cut_and_other_files_are_told_apart() {
    let bytes = small().bytes();
    for length in 8..bytes.len() {
        let error = refused(&bytes[..length]);
        assert!(matches!(error, FormatError::Damaged { .. }), "{length}: {error}");
    }
    assert!(refused(b"\x1c\0\0\0TFL3....").to_string().contains("damaged"));
}

proptest! {
    #[test]
    fn mutated_files_never_panic(changes in prop::collection::vec((any::<u16>(), any::<u8>()), 1..12)) {
        let mut bytes = small().bytes();
        for (at, value) in changes {
            let at = usize::from(at) % bytes.len();
            bytes[at] = value;
        }
        let limits = Limits { tensor_elements: 1 << 16, ..Limits::default() };
        let _ = open("x.tflite", &bytes, &limits, &[]);
    }
}
