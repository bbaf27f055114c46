//! Tensors that are stored without their zeros.

use fb::{DimensionType, SparseIndexVector};
use proptest::prelude::*;
use tilewright_model::Model;
use tilewright_tflite_schema as fb;

use super::build::{File, Level, Sparsity, Tensor};
use crate::{FormatError, Limits, open};

/// Weights of 4 outputs and 8 inputs: in each row every block of four values is whole or zero.
fn dense() -> Vec<u8> {
    let row = |first: [u8; 4], second: [u8; 4]| [first, second].concat();
    [
        row([1, 2, 3, 4], [0; 4]),
        row([0; 4], [0; 4]),
        row([5, 0, 6, 7], [8, 9, 0, 10]),
        row([0; 4], [11, 12, 13, 14]),
    ]
    .concat()
}

/// Rows whole, then a list of columns of blocks, then blocks whole.
fn blocks(indices: SparseIndexVector) -> Sparsity {
    Sparsity {
        order: vec![0, 1, 2],
        blocks: vec![1],
        levels: vec![
            Level { kind: DimensionType::DENSE, size: 4, lists: [vec![], vec![]] },
            Level {
                kind: DimensionType::SPARSE_CSR,
                size: 0,
                lists: [vec![0, 1, 1, 3, 4], vec![0, 0, 1, 1]],
            },
            Level { kind: DimensionType::DENSE, size: 4, lists: [vec![], vec![]] },
        ],
        indices,
    }
}

/// The bytes that blocks hold.
fn stored() -> Vec<u8> {
    vec![1, 2, 3, 4, 5, 0, 6, 7, 8, 9, 0, 10, 11, 12, 13, 14]
}

/// y = W x; the weights perhaps through an operator that makes them dense.
fn file(weights: Tensor, is_densified: bool) -> File {
    let options: Option<(fb::BuiltinOptions, super::build::Options)> =
        Some((fb::BuiltinOptions::FullyConnectedOptions, |b| {
            let args = fb::FullyConnectedOptionsArgs::default();
            fb::FullyConnectedOptions::create(b, &args).as_union_value()
        }));
    let file = File::default()
        .tensor(Tensor::int8("x", &[1, 8], 0.5, 0))
        .tensor(weights)
        .tensor(Tensor::int8("y", &[1, 4], 0.5, 0));
    let connected = fb::BuiltinOperator::FULLY_CONNECTED;
    match is_densified {
        false => file.operator(connected, &[0, 1, -1], &[2], options),
        true => file
            .tensor(Tensor::int8("whole", &[4, 8], 0.25, 0))
            .operator(fb::BuiltinOperator::DENSIFY, &[1], &[3], None)
            .operator(connected, &[0, 3, -1], &[2], options),
    }
    .interface(&[0], &[2])
}

fn opened(file: &File) -> Result<Model, FormatError> {
    open("x.tflite", &file.bytes(), &Limits::default(), &[])
}

fn weights(model: &Model) -> Vec<i8> {
    let source = model.tensor(model.nodes[0].inputs[1]).source.as_ref().unwrap();
    source.values().as_i8().unwrap().to_vec()
}

fn tensor(data: Vec<u8>) -> Tensor {
    Tensor::int8("w", &[4, 8], 0.25, 0).data(data)
}

#[test]
fn sparse_weights_are_read_with_their_zeros() {
    let expected = weights(&opened(&file(tensor(dense()), false)).unwrap());
    for indices in [
        SparseIndexVector::Int32Vector,
        SparseIndexVector::Uint16Vector,
        SparseIndexVector::Uint8Vector,
    ] {
        for is_densified in [false, true] {
            let sparse = Tensor { sparsity: Some(blocks(indices)), ..tensor(stored()) };
            let model = opened(&file(sparse, is_densified)).unwrap();
            assert!(model.is_int8());
            assert_eq!(weights(&model), expected, "{indices:?}");
        }
    }
    // Value by value, columns before rows.
    let by_column = Sparsity {
        order: vec![1, 0],
        blocks: vec![],
        levels: vec![
            Level { kind: DimensionType::DENSE, size: 8, lists: [vec![], vec![]] },
            Level {
                kind: DimensionType::SPARSE_CSR,
                size: 0,
                lists: [
                    vec![0, 2, 3, 5, 7, 9, 11, 12, 14],
                    vec![0, 2, 0, 0, 2, 0, 2, 2, 3, 2, 3, 3, 2, 3],
                ],
            },
        ],
        indices: SparseIndexVector::Uint8Vector,
    };
    let values = vec![1, 5, 2, 3, 6, 4, 7, 8, 11, 9, 12, 13, 10, 14];
    let sparse = Tensor { sparsity: Some(by_column), ..tensor(values) };
    assert_eq!(weights(&opened(&file(sparse, false)).unwrap()), expected);
}

#[test]
fn forms_that_do_not_fit_are_named() {
    type Change = dyn Fn(&mut Sparsity, &mut Vec<u8>);
    let refused = |change: &Change| {
        let (mut sparsity, mut data) = (blocks(SparseIndexVector::Int32Vector), stored());
        change(&mut sparsity, &mut data);
        let sparse = Tensor { sparsity: Some(sparsity), ..tensor(data) };
        opened(&file(sparse, false)).unwrap_err().to_string()
    };
    let cases: [(&Change, &str); 8] = [
        (&|_, data| data.truncate(12), "fewer values"),
        (&|_, data| data.push(1), "more values"),
        (&|s, _| s.order = vec![0, 1, 1], "does not fit its shape"),
        (&|s, _| s.blocks = vec![2], "does not fit its shape"),
        (&|s, _| s.levels[1].lists[1][3] = 9, "out of its shape"),
        (&|s, _| s.levels[1].lists[0].truncate(3), "lacks a segment"),
        (&|s, _| s.levels[1].lists[0][4] = 7, "lacks indices"),
        (&|s, _| s.levels[0].size = 1 << 30, "lacks a segment"),
    ];
    for (change, word) in cases {
        let text = refused(change);
        assert!(text.contains(word), "{text}");
    }
    // Few bytes must not fill the memory.
    let mut sparse =
        Tensor { sparsity: Some(blocks(SparseIndexVector::Int32Vector)), ..tensor(stored()) };
    sparse.dims = vec![1 << 12, 1 << 14];
    assert!(opened(&file(sparse, false)).unwrap_err().to_string().contains("16 bytes of values"));
}

proptest! {
    #[test]
    fn any_numbers_are_read_or_refused(
        order in proptest::collection::vec(-1i32..5, 0..5),
        map in proptest::collection::vec(-1i32..4, 0..4),
        size in -1i32..1 << 20,
        lists in [proptest::collection::vec(-1i32..9, 0..9), proptest::collection::vec(-1i32..9, 0..9)],
    ) {
        let mut sparsity = blocks(SparseIndexVector::Int32Vector);
        (sparsity.order, sparsity.blocks) = (order, map);
        sparsity.levels[0].size = size;
        sparsity.levels[1].lists = lists;
        let sparse = Tensor { sparsity: Some(sparsity), ..tensor(stored()) };
        let _ = opened(&file(sparse, false));
    }
}
