//! Tables of the file, and how they become bytes.

use flatbuffers::{FlatBufferBuilder, WIPOffset};
use tilewright_tflite_schema as fb;

use super::options::Options;
use crate::numbers::word;

/// Values of constants begin at multiples of this in the file, as the format demands.
const OF_VALUES: usize = 16;

/// Zero points have 64 bits.
const OF_ZEROS: usize = 8;

/// Bytes that tables take besides what they hold, from above.
const OVERHEAD: u64 = 256;

/// How integers stand for real numbers.
#[derive(Clone, Debug)]
pub(super) struct Scaled {
    pub(super) scales: Vec<f32>,
    pub(super) zeros: Vec<i64>,
    pub(super) axis: i32,
}

#[derive(Clone, Debug)]
pub(super) struct Tensor {
    pub(super) name: String,
    pub(super) dims: Vec<i32>,
    pub(super) kind: fb::TensorType,
    pub(super) scaled: Option<Scaled>,
    pub(super) data: Option<Vec<u8>>,
}

#[derive(Clone, Debug)]
pub(super) struct Operator {
    pub(super) code: fb::BuiltinOperator,
    pub(super) version: i32,
    pub(super) options: Options,
    pub(super) inputs: Vec<i32>,
    pub(super) outputs: Vec<i32>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    pub(super) name: &'static str,
    pub(super) tensors: Vec<Tensor>,
    pub(super) operators: Vec<Operator>,
    pub(super) inputs: Vec<i32>,
    pub(super) outputs: Vec<i32>,
}

impl Graph {
    /// Adds a tensor and gives its index.
    pub(super) fn tensor(&mut self, tensor: Tensor) -> i32 {
        self.tensors.push(tensor);
        // A graph of more tensors is longer than a file may be.
        i32::try_from(self.tensors.len() - 1).unwrap_or(i32::MAX)
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct File {
    pub(super) graphs: Vec<Graph>,
    pub(super) description: Option<String>,
}

impl File {
    /// Its length, from above.
    pub(super) fn most_bytes(&self) -> u64 {
        let of_tensor = |tensor: &Tensor| {
            let data = tensor.data.as_ref().map_or(0, Vec::len);
            let scales = tensor.scaled.as_ref().map_or(0, |scaled| scaled.scales.len());
            (data + 12 * scales + 4 * tensor.dims.len() + tensor.name.len()) as u64 + OVERHEAD
        };
        let of_operator = |operator: &Operator| {
            4 * (operator.inputs.len() + operator.outputs.len()) as u64 + OVERHEAD
        };
        let of_graph = |graph: &Graph| {
            let tensors: u64 = graph.tensors.iter().map(of_tensor).sum();
            tensors + graph.operators.iter().map(of_operator).sum::<u64>()
        };
        let description = self.description.as_ref().map_or(0, String::len) as u64;
        self.graphs.iter().map(of_graph).sum::<u64>() + description + 16 * OVERHEAD
    }

    /// The file. It is written from its end, and parts are aligned towards that: behind the last
    /// part with such needs stands what makes the whole a multiple of the largest.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let bytes = self.written(0);
        match bytes.len() % OF_VALUES {
            0 => bytes,
            rest => self.written(OF_VALUES - rest),
        }
    }

    fn written(&self, filler: usize) -> Vec<u8> {
        let mut b = FlatBufferBuilder::new();
        let mut buffers = vec![fb::Buffer::create(&mut b, &fb::BufferArgs::default())];
        let mut codes: Vec<(fb::BuiltinOperator, i32)> = Vec::new();
        let graphs: Vec<_> = self
            .graphs
            .iter()
            .map(|graph| write_graph(graph, &mut b, &mut buffers, &mut codes))
            .collect();
        let codes: Vec<_> = codes
            .into_iter()
            .map(|(code, version)| {
                let deprecated_builtin_code = i8::try_from(code.0).unwrap_or(i8::MAX);
                let args = fb::OperatorCodeArgs {
                    deprecated_builtin_code,
                    version,
                    builtin_code: code,
                    ..Default::default()
                };
                fb::OperatorCode::create(&mut b, &args)
            })
            .collect();
        fill(&mut b, filler);
        let subgraphs = Some(b.create_vector(&graphs));
        let operator_codes = Some(b.create_vector(&codes));
        let buffers = Some(b.create_vector(&buffers));
        let description = self.description.as_ref().map(|text| b.create_string(text));
        let args = fb::ModelArgs {
            version: 3,
            operator_codes,
            subgraphs,
            description,
            buffers,
            ..Default::default()
        };
        let model = fb::Model::create(&mut b, &args);
        fb::finish_model_buffer(&mut b, model);
        b.finished_data().to_vec()
    }
}

/// Adds so many bytes, a multiple of 4, behind those that are there, filled up to a multiple of 4.
fn fill(b: &mut FlatBufferBuilder<'_>, bytes: usize) {
    if let Some(values) = bytes.checked_sub(4) {
        // A vector's length takes 4 bytes.
        b.create_vector(&vec![0u8; values]);
    }
}

/// Fills up so that a vector of so many bytes, written next, begins at a multiple of `alignment`.
fn align(b: &mut FlatBufferBuilder<'_>, bytes: usize, alignment: usize) {
    let used = b.unfinished_data().len();
    let begins = |filler: usize| match filler {
        0 => (used + bytes).next_multiple_of(4),
        _ => (used.next_multiple_of(4) + filler + bytes).next_multiple_of(4),
    };
    let fits = |filler: &usize| begins(*filler).is_multiple_of(alignment);
    let filler = (0..=alignment).step_by(4).find(fits);
    fill(b, filler.unwrap_or(0));
}

type Buffers<'b> = Vec<WIPOffset<fb::Buffer<'b>>>;

fn write_tensor<'b>(
    tensor: &Tensor,
    b: &mut FlatBufferBuilder<'b>,
    buffers: &mut Buffers<'b>,
) -> WIPOffset<fb::Tensor<'b>> {
    // The first buffer is empty: that of tensors without values.
    let mut buffer = 0;
    if let Some(data) = &tensor.data {
        align(b, data.len(), OF_VALUES);
        let data = Some(b.create_vector(data));
        buffer = word(buffers.len());
        buffers.push(fb::Buffer::create(b, &fb::BufferArgs { data, ..Default::default() }));
    }
    let quantization = tensor.scaled.as_ref().map(|scaled| {
        let zeros: Vec<fb::Long> = scaled.zeros.iter().map(|zero| (*zero).into()).collect();
        align(b, zeros.len() * OF_ZEROS, OF_ZEROS);
        let zero_point = Some(b.create_vector(&zeros));
        let scale = Some(b.create_vector(&scaled.scales));
        let args = fb::QuantizationParametersArgs {
            scale,
            zero_point,
            quantized_dimension: scaled.axis,
            ..Default::default()
        };
        fb::QuantizationParameters::create(b, &args)
    });
    let shape = Some(b.create_vector(&tensor.dims));
    let name = Some(b.create_string(&tensor.name));
    let type_ = tensor.kind;
    // Without this a tensor of no dimensions is one of unknown dimensions.
    let has_rank = true;
    let args =
        fb::TensorArgs { shape, type_, buffer, name, quantization, has_rank, ..Default::default() };
    fb::Tensor::create(b, &args)
}

fn write_graph<'b>(
    graph: &Graph,
    b: &mut FlatBufferBuilder<'b>,
    buffers: &mut Buffers<'b>,
    codes: &mut Vec<(fb::BuiltinOperator, i32)>,
) -> WIPOffset<fb::SubGraph<'b>> {
    let tensors: Vec<_> =
        graph.tensors.iter().map(|tensor| write_tensor(tensor, b, buffers)).collect();
    let mut operators = Vec::with_capacity(graph.operators.len());
    for operator in &graph.operators {
        let code = (operator.code, operator.version);
        let index = codes.iter().position(|known| *known == code).unwrap_or_else(|| {
            codes.push(code);
            codes.len() - 1
        });
        let (builtin_options_type, builtin_options) = operator.options.write(b);
        let inputs = Some(b.create_vector(&operator.inputs));
        let outputs = Some(b.create_vector(&operator.outputs));
        let args = fb::OperatorArgs {
            opcode_index: word(index),
            inputs,
            outputs,
            builtin_options_type,
            builtin_options,
            ..Default::default()
        };
        operators.push(fb::Operator::create(b, &args));
    }
    let tensors = Some(b.create_vector(&tensors));
    let inputs = Some(b.create_vector(&graph.inputs));
    let outputs = Some(b.create_vector(&graph.outputs));
    let operators = Some(b.create_vector(&operators));
    let name = Some(b.create_string(graph.name));
    fb::SubGraph::create(b, &fb::SubGraphArgs { tensors, inputs, outputs, operators, name })
}
