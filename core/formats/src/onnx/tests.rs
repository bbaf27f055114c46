//! Files made by hand, opened and held against tract; damaged ones.

mod build;
mod faults;
mod files;
mod opaque;
mod operators;
mod oracle;
mod order;
mod outputs;
mod pick;
mod recorded;
mod requantised;
mod resize;
mod stored;

use tilewright_model::{Data, Model, float};

use crate::{Limits, open};
use oracle::Array;

/// Values between −1 and 1 that look random but are the same everywhere.
fn noise(count: usize, seed: u32) -> Vec<f32> {
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(12_345);
    (0..count)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / 8_388_608.0 - 1.0
        })
        .collect()
}

/// A file's array in the graph's layout: images with channels last, unless the graph's shape says
/// that they were so in the file.
fn to_graph(array: &Array, shape: &[usize]) -> Vec<f32> {
    let last: Vec<usize> = match *array.dims {
        [n, c, h, w] => vec![n, h, w, c],
        [n, c, w] => vec![n, w, c],
        _ => array.dims.clone(),
    };
    if array.dims.len() < 3 || (array.dims == shape && last != shape) {
        assert_eq!(array.dims, shape);
        return array.values.clone();
    }
    assert_eq!(last, shape);
    let [n, c] = [array.dims[0], array.dims[1]];
    let plane: usize = array.dims[2..].iter().product();
    let mut values = Vec::new();
    for batch in array.values.chunks_exact(plane * c) {
        values.extend((0..plane).flat_map(|at| (0..c).map(move |c| batch[c * plane + at])));
    }
    assert_eq!(values.len(), n * plane * c);
    values
}

/// Opens the file and holds its results on noise against tract's.
fn against_tract(bytes: &[u8], dims: &[&[usize]]) -> Model {
    let model = open("test.onnx", bytes, &Limits::default(), &[]).unwrap();
    let arrays: Vec<Array> = dims
        .iter()
        .enumerate()
        .map(|(index, dims)| Array {
            dims: dims.to_vec(),
            values: noise(dims.iter().product(), index as u32 + 3)
                .iter()
                .map(|v| v * 3.0)
                .collect(),
        })
        .collect();
    let expected = oracle::run(bytes, &arrays).unwrap();
    let inputs: Vec<Data> = arrays
        .iter()
        .zip(&model.inputs)
        .map(|(array, id)| Data::F32(to_graph(array, model.tensor(*id).shape.dims())))
        .collect();
    let results = float::run(&model, &inputs, &mut |_, _| {}).unwrap();
    assert_eq!(results.len(), expected.len());
    for ((result, expected), id) in results.iter().zip(&expected).zip(&model.outputs) {
        let expected = to_graph(expected, model.tensor(*id).shape.dims());
        let largest = expected.iter().fold(0.0f32, |most, value| most.max(value.abs()));
        for (index, (a, b)) in result.as_f32().unwrap().iter().zip(&expected).enumerate() {
            let off = (a - b).abs();
            assert!(off <= 1e-4 * largest.max(1e-3), "value {index}: {a}, but tract has {b}");
        }
    }
    model
}

fn names(model: &Model) -> Vec<&str> {
    model.nodes.iter().map(|node| node.op.name()).collect()
}
