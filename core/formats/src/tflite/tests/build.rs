//! Builds TensorFlow Lite files.

use flatbuffers::{FlatBufferBuilder, UnionWIPOffset, WIPOffset};
use tilewright_tflite_schema as fb;

/// A tensor of a file under construction.
#[derive(Clone, Debug)]
pub(super) struct Tensor {
    pub(super) name: &'static str,
    pub(super) dims: Vec<i32>,
    pub(super) kind: fb::TensorType,
    pub(super) scales: Vec<f32>,
    pub(super) zeros: Vec<i64>,
    pub(super) axis: i32,
    pub(super) data: Vec<u8>,
    pub(super) is_variable: bool,
    pub(super) sparsity: Option<Sparsity>,
}

/// How a tensor is stored without its zeros.
#[derive(Clone, Debug)]
pub(super) struct Sparsity {
    pub(super) order: Vec<i32>,
    pub(super) blocks: Vec<i32>,
    pub(super) levels: Vec<Level>,
    /// How wide lists are.
    pub(super) indices: fb::SparseIndexVector,
}

/// A level of it.
#[derive(Clone, Debug)]
pub(super) struct Level {
    pub(super) kind: fb::DimensionType,
    pub(super) size: i32,
    /// Segments, and indices.
    pub(super) lists: [Vec<i32>; 2],
}

impl Sparsity {
    fn write<'b>(&self, b: &mut FlatBufferBuilder<'b>) -> WIPOffset<fb::SparsityParameters<'b>> {
        let levels: Vec<_> = self
            .levels
            .iter()
            .map(|level| {
                let is_listed = level.kind == fb::DimensionType::SPARSE_CSR;
                let kind = if is_listed { self.indices } else { fb::SparseIndexVector::NONE };
                let lists = level.lists.each_ref().map(|list| self.list(b, list));
                let [segments, indices] = lists.map(|list| is_listed.then_some(list));
                let args = fb::DimensionMetadataArgs {
                    format: level.kind,
                    dense_size: level.size,
                    array_segments_type: kind,
                    array_segments: segments,
                    array_indices_type: kind,
                    array_indices: indices,
                };
                fb::DimensionMetadata::create(b, &args)
            })
            .collect();
        let traversal_order = Some(b.create_vector(&self.order));
        let block_map = Some(b.create_vector(&self.blocks));
        let dim_metadata = Some(b.create_vector(&levels));
        let args = fb::SparsityParametersArgs { traversal_order, block_map, dim_metadata };
        fb::SparsityParameters::create(b, &args)
    }

    fn list(&self, b: &mut FlatBufferBuilder<'_>, list: &[i32]) -> WIPOffset<UnionWIPOffset> {
        match self.indices {
            fb::SparseIndexVector::Uint16Vector => {
                let list: Vec<u16> = list.iter().map(|value| *value as u16).collect();
                let values = Some(b.create_vector(&list));
                fb::Uint16Vector::create(b, &fb::Uint16VectorArgs { values }).as_union_value()
            }
            fb::SparseIndexVector::Uint8Vector => {
                let list: Vec<u8> = list.iter().map(|value| *value as u8).collect();
                let values = Some(b.create_vector(&list));
                fb::Uint8Vector::create(b, &fb::Uint8VectorArgs { values }).as_union_value()
            }
            _ => {
                let values = Some(b.create_vector(list));
                fb::Int32Vector::create(b, &fb::Int32VectorArgs { values }).as_union_value()
            }
        }
    }
}

impl Tensor {
    pub(super) fn new(name: &'static str, dims: &[i32], kind: fb::TensorType) -> Self {
        Self {
            name,
            dims: dims.to_vec(),
            kind,
            scales: Vec::new(),
            zeros: Vec::new(),
            axis: 0,
            data: Vec::new(),
            is_variable: false,
            sparsity: None,
        }
    }

    pub(super) fn int8(name: &'static str, dims: &[i32], scale: f32, zero: i64) -> Self {
        Self::new(name, dims, fb::TensorType::INT8).quantised(scale, zero)
    }

    pub(super) fn uint8(name: &'static str, dims: &[i32], scale: f32, zero: i64) -> Self {
        Self::new(name, dims, fb::TensorType::UINT8).quantised(scale, zero)
    }

    fn quantised(mut self, scale: f32, zero: i64) -> Self {
        self.scales = vec![scale];
        self.zeros = vec![zero];
        self
    }

    pub(super) fn variable(mut self) -> Self {
        self.is_variable = true;
        self
    }

    pub(super) fn data(mut self, data: Vec<u8>) -> Self {
        self.data = data;
        self
    }
}

/// Writes an operator's options.
pub(super) type Options = for<'b> fn(&mut FlatBufferBuilder<'b>) -> WIPOffset<UnionWIPOffset>;

/// A file under construction.
#[derive(Clone, Default)]
pub(super) struct File {
    pub(super) tensors: Vec<Tensor>,
    pub(super) operators: Vec<(fb::BuiltinOperator, Vec<i32>, Vec<i32>)>,
    pub(super) options: Vec<Option<(fb::BuiltinOptions, Options)>>,
    /// Name of the custom operators.
    pub(super) custom: &'static str,
    /// A second graph, which the first one may call.
    pub(super) second: Option<Box<File>>,
    /// What it says of its use; empty for nothing.
    pub(super) metadata: Vec<u8>,
    pub(super) inputs: Vec<i32>,
    pub(super) outputs: Vec<i32>,
}

impl File {
    pub(super) fn tensor(mut self, tensor: Tensor) -> Self {
        self.tensors.push(tensor);
        self
    }

    pub(super) fn operator(
        mut self,
        code: fb::BuiltinOperator,
        inputs: &[i32],
        outputs: &[i32],
        options: Option<(fb::BuiltinOptions, Options)>,
    ) -> Self {
        self.operators.push((code, inputs.to_vec(), outputs.to_vec()));
        self.options.push(options);
        self
    }

    pub(super) fn interface(mut self, inputs: &[i32], outputs: &[i32]) -> Self {
        self.inputs = inputs.to_vec();
        self.outputs = outputs.to_vec();
        self
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut b = FlatBufferBuilder::new();
        let mut buffers = vec![fb::Buffer::create(&mut b, &fb::BufferArgs::default())];
        let mut codes = Vec::new();
        let mut graphs = vec![self.graph(&mut b, &mut buffers, &mut codes)];
        if let Some(second) = &self.second {
            graphs.push(second.graph(&mut b, &mut buffers, &mut codes));
        }
        let subgraphs = Some(b.create_vector(&graphs));
        let operator_codes = Some(b.create_vector(&codes));
        let metadata = (!self.metadata.is_empty()).then(|| {
            let data = Some(b.create_vector(&self.metadata));
            let args = fb::BufferArgs { data, ..Default::default() };
            buffers.push(fb::Buffer::create(&mut b, &args));
            let name = Some(b.create_string("TFLITE_METADATA"));
            let args = fb::MetadataArgs { name, buffer: buffers.len() as u32 - 1 };
            let entry = fb::Metadata::create(&mut b, &args);
            b.create_vector(&[entry])
        });
        let buffers = Some(b.create_vector(&buffers));
        let args = fb::ModelArgs {
            version: 3,
            operator_codes,
            subgraphs,
            buffers,
            metadata,
            ..Default::default()
        };
        let model = fb::Model::create(&mut b, &args);
        fb::finish_model_buffer(&mut b, model);
        b.finished_data().to_vec()
    }

    fn graph<'b>(
        &self,
        b: &mut FlatBufferBuilder<'b>,
        buffers: &mut Vec<WIPOffset<fb::Buffer<'b>>>,
        codes: &mut Vec<WIPOffset<fb::OperatorCode<'b>>>,
    ) -> WIPOffset<fb::SubGraph<'b>> {
        let mut tensors = Vec::new();
        for tensor in &self.tensors {
            let mut buffer = 0;
            if !tensor.data.is_empty() {
                let data = Some(b.create_vector(&tensor.data));
                buffer = buffers.len() as u32;
                buffers.push(fb::Buffer::create(b, &fb::BufferArgs { data, ..Default::default() }));
            }
            let scale = Some(b.create_vector(&tensor.scales));
            let zeros: Vec<fb::Long> = tensor.zeros.iter().map(|zero| (*zero).into()).collect();
            let zero_point = Some(b.create_vector(&zeros));
            let quantization = Some(fb::QuantizationParameters::create(
                b,
                &fb::QuantizationParametersArgs {
                    scale,
                    zero_point,
                    quantized_dimension: tensor.axis,
                    ..Default::default()
                },
            ));
            let shape = Some(b.create_vector(&tensor.dims));
            let name = Some(b.create_string(tensor.name));
            let (type_, quantization) = (tensor.kind, quantization);
            let is_variable = tensor.is_variable;
            let sparsity = tensor.sparsity.as_ref().map(|sparsity| sparsity.write(b));
            let args = fb::TensorArgs {
                shape,
                type_,
                buffer,
                name,
                quantization,
                is_variable,
                sparsity,
                ..Default::default()
            };
            tensors.push(fb::Tensor::create(b, &args));
        }
        let mut operators = Vec::new();
        for ((code, inputs, outputs), options) in self.operators.iter().zip(&self.options) {
            let index = codes.len();
            let is_custom = *code == fb::BuiltinOperator::CUSTOM;
            let custom_code = is_custom.then(|| b.create_string(self.custom));
            codes.push(fb::OperatorCode::create(
                b,
                &fb::OperatorCodeArgs {
                    deprecated_builtin_code: code.0.min(127) as i8,
                    builtin_code: *code,
                    custom_code,
                    version: 1,
                },
            ));
            let written = options.as_ref().map(|(_, write)| write(b));
            let inputs = Some(b.create_vector(inputs));
            let outputs = Some(b.create_vector(outputs));
            operators.push(fb::Operator::create(
                b,
                &fb::OperatorArgs {
                    opcode_index: index as u32,
                    inputs,
                    outputs,
                    builtin_options_type: options
                        .as_ref()
                        .map_or(fb::BuiltinOptions::NONE, |o| o.0),
                    builtin_options: written,
                    ..Default::default()
                },
            ));
        }
        let tensors = Some(b.create_vector(&tensors));
        let inputs = Some(b.create_vector(&self.inputs));
        let outputs = Some(b.create_vector(&self.outputs));
        let operators = Some(b.create_vector(&operators));
        let args = fb::SubGraphArgs { tensors, inputs, outputs, operators, ..Default::default() };
        fb::SubGraph::create(b, &args)
    }
}
