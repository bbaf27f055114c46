//! Small graphs for tests.

use crate::{Activation, DType, Data, Model, Node, Op, Shape, Source, Tensor, TensorId, Window};

/// A float chain under construction: each node reads the one before.
pub(crate) struct Build {
    pub(crate) model: Model,
    pub(crate) last: TensorId,
}

impl Build {
    pub(crate) fn new(input: &[usize]) -> Self {
        let mut model = Model { name: "test".to_owned(), ..Model::default() };
        let last = model.add_tensor(float("input", input));
        model.inputs.push(last);
        Self { model, last }
    }

    pub(crate) fn constant(&mut self, dims: &[usize], values: Vec<f32>) -> TensorId {
        let name = format!("constant {}", self.model.tensors.len());
        let mut tensor = float(&name, dims);
        tensor.source = Some(Source::inline(Data::F32(values)));
        self.model.add_tensor(tensor)
    }

    /// A node over the last result and further operands.
    pub(crate) fn node(&mut self, op: Op, others: Vec<TensorId>) -> TensorId {
        let mut inputs = vec![self.last];
        inputs.extend(others);
        self.node_of(op, inputs)
    }

    pub(crate) fn node_of(&mut self, op: Op, inputs: Vec<TensorId>) -> TensorId {
        self.reshaped(op, inputs, None)
    }

    pub(crate) fn reshape(&mut self, dims: &[usize]) -> TensorId {
        self.reshaped(Op::Reshape, vec![self.last], Some(dims))
    }

    /// A node whose operator leaves the size of its result open.
    pub(crate) fn shaped(&mut self, op: Op, inputs: Vec<TensorId>, dims: &[usize]) -> TensorId {
        self.reshaped(op, inputs, Some(dims))
    }

    fn reshaped(&mut self, op: Op, inputs: Vec<TensorId>, dims: Option<&[usize]>) -> TensorId {
        let index = self.model.nodes.len();
        let mut result = float(&format!("result {index}"), dims.unwrap_or(&[]));
        if let Op::ArgMax { .. } = op {
            result.dtype = DType::I32;
        }
        let output = self.model.add_tensor(result);
        let node = Node { name: format!("node {index}"), op, inputs, outputs: vec![output] };
        let shape = crate::infer::result_shape(&self.model, &node).unwrap();
        self.model.tensors[output.0].shape = shape;
        self.model.nodes.push(node);
        self.last = output;
        output
    }

    pub(crate) fn conv(
        &mut self,
        window: Window,
        dims: &[usize],
        weights: Vec<f32>,
        bias: Option<Vec<f32>>,
        groups: usize,
    ) -> TensorId {
        let mut others = vec![self.constant(dims, weights)];
        others.extend(bias.map(|bias| self.constant(&[dims[0]], bias)));
        self.node(Op::Conv { window, groups, activation: Activation::None }, others)
    }

    pub(crate) fn depthwise(
        &mut self,
        window: Window,
        multiplier: usize,
        weights: Vec<f32>,
        bias: Option<Vec<f32>>,
    ) -> TensorId {
        let channels = weights.len() / (window.size[0] * window.size[1]);
        let dims = [1, window.size[0], window.size[1], channels];
        let mut others = vec![self.constant(&dims, weights)];
        others.extend(bias.map(|bias| self.constant(&[channels], bias)));
        let activation = Activation::None;
        self.node(Op::DepthwiseConv { window, multiplier, activation }, others)
    }

    pub(crate) fn dense(&mut self, outputs: usize, weights: Vec<f32>, bias: Option<Vec<f32>>) {
        let inputs = weights.len() / outputs;
        let mut others = vec![self.constant(&[outputs, inputs], weights)];
        others.extend(bias.map(|bias| self.constant(&[outputs], bias)));
        self.node(Op::FullyConnected { activation: Activation::None }, others);
    }

    /// Makes the last result the model's output.
    pub(crate) fn finish(&mut self) {
        self.model.outputs = vec![self.last];
        self.model.verify().unwrap();
    }
}

/// A float tensor without values.
pub(crate) fn float(name: &str, dims: &[usize]) -> Tensor {
    Tensor {
        name: name.to_owned(),
        shape: Shape::new(dims),
        dtype: DType::F32,
        quantisation: None,
        source: None,
    }
}

/// Values between −1 and 1 that look random but are the same everywhere.
pub(crate) fn noise(count: usize, seed: u32) -> Vec<f32> {
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(12_345);
    (0..count)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / 8_388_608.0 - 1.0
        })
        .collect()
}
