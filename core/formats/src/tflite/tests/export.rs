//! Files that are written: read again, they give the same values.

mod layers;
mod models;
mod refused;

use tilewright_model::{
    DType, Data, Model, Node, Op, Quantisation, Shape, Source, Tensor, TensorId, int8,
};

use crate::{Limits, export_tflite, open};

/// A model that was written and read again.
fn again(model: &Model) -> Model {
    let bytes = export_tflite(model).unwrap_or_else(|error| panic!("{}: {error}", model.name));
    assert_eq!(bytes.len() % 16, 0, "{}", model.name);
    let again = open("x.tflite", &bytes, &Limits::default(), &[]);
    let again = again.unwrap_or_else(|error| panic!("{}: {error}", model.name));
    assert_eq!(again.opaque_in_words(), None, "{}", model.name);
    again
}

/// Values of xorshift64*; states begin as the model says.
fn inputs(model: &Model, seed: u64) -> Vec<Data> {
    let mut state = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut next = || {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 56) as u8
    };
    let of_input = |(at, id): (usize, &TensorId)| {
        let count = model.tensor(*id).shape.elements().unwrap();
        if let Some(first) = model.first_state(at) {
            return first;
        }
        let bytes: Vec<i8> = (0..count).map(|_| next().cast_signed()).collect();
        match model.tensor(*id).dtype {
            DType::F32 => Data::F32(bytes.iter().map(|byte| f32::from(*byte) / 64.0).collect()),
            _ => Data::I8(bytes),
        }
    };
    model.inputs.iter().enumerate().map(of_input).collect()
}

/// Asserts that a model gives the same int8 values once it was written and read again; gives that.
fn assert_same(model: &Model) -> Model {
    let again = again(model);
    for seed in 0..2 {
        let given = inputs(model, seed);
        let run = |model: &Model| int8::run(model, &given, &mut |_, _| {}).unwrap();
        assert_eq!(run(model), run(&again), "{}, seed {seed}", model.name);
    }
    again
}

/// A model as it grows.
#[derive(Default)]
struct Build {
    model: Model,
}

impl Build {
    fn tensor(&mut self, dims: &[usize], scale: f32, zero: i32) -> TensorId {
        let quantisation = Some(Quantisation::per_tensor(scale, zero));
        let name = format!("t{}", self.model.tensors.len());
        let (shape, dtype) = (Shape::new(dims), DType::I8);
        self.model.add_tensor(Tensor { name, shape, dtype, quantisation, source: None })
    }

    fn input(&mut self, dims: &[usize], scale: f32, zero: i32) -> TensorId {
        let id = self.tensor(dims, scale, zero);
        self.model.inputs.push(id);
        id
    }

    /// Weights with a scale for each slice along `axis`, or one for all and this zero point.
    fn weights(&mut self, dims: &[usize], axis: Option<usize>, zero: i32) -> TensorId {
        let slices = axis.map_or(1, |axis| dims[axis]);
        let count: usize = dims.iter().product();
        let values = (0..count).map(|at| (at as i32 * 37 % 251 - 125) as i8).collect();
        let id = self.tensor(dims, 1.0, 0);
        self.model.tensors[id.0].quantisation = Some(Quantisation {
            scales: (0..slices).map(|at| 0.0031 + at as f32 * 0.0007).collect(),
            zeros: vec![zero; slices],
            axis,
        });
        self.model.tensors[id.0].source = Some(Source::inline(Data::I8(values)));
        id
    }

    fn bias(&mut self, count: usize) -> TensorId {
        let values = (0..count).map(|at| at as i32 * 311 - 700).collect();
        let name = format!("t{}", self.model.tensors.len());
        self.model.add_tensor(Tensor {
            name,
            shape: Shape::new([count]),
            dtype: DType::I32,
            quantisation: None,
            source: Some(Source::inline(Data::I32(values))),
        })
    }

    fn node(&mut self, op: Op, inputs: &[TensorId], output: TensorId) -> TensorId {
        let name = format!("n{}", self.model.nodes.len());
        self.model.nodes.push(Node { name, op, inputs: inputs.to_vec(), outputs: vec![output] });
        output
    }

    /// The model with this output.
    fn done(mut self, output: TensorId) -> Model {
        self.model.outputs.push(output);
        self.model.verify().unwrap();
        self.model
    }
}
