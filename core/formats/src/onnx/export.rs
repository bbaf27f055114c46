//! ONNX out: float models, operator set 14. Images are NCHW in the file, so that tensors of rank 4
//! have their dimensions permuted on the way; others stay as they are.
//!
//! The file is written in pieces. Weights are read value by value from their source while they are
//! written, so that a network of seeded weights needs no more memory than one piece.

mod graph;
mod node;

use std::borrow::Cow;

use crate::numbers::signed;
use crate::onnx::messages::tensor_proto::DataType;
use crate::onnx::messages::{ModelProto, OperatorSetIdProto, StringStringEntryProto, TensorProto};
use prost::Message;
use thiserror::Error;
use tilewright_model::{Data, Model, Seeded, Source};

/// Operator set of the files.
const OPSET: i64 = 14;

/// Version of the file format that came with it.
const IR_VERSION: i64 = 7;

/// Longest file: protobuf messages are shorter than 2 GiB.
const LONGEST: u64 = (1 << 31) - 1;

/// Values written at a time.
const PIECE: usize = 1 << 14;

/// Why a model was not written.
#[derive(Debug, Error)]
pub enum ExportError<E> {
    /// ONNX has no such operator, or not in this form.
    #[error("node '{node}' ({op}) has no form in ONNX: {reason}")]
    Node {
        /// The node.
        node: String,
        /// Its operator.
        op: String,
        /// What is missing.
        reason: &'static str,
    },
    /// The model is not of floats.
    #[error("tensor '{tensor}' is not of 32-bit floats: only float models are written")]
    NotFloat {
        /// The tensor.
        tensor: String,
    },
    /// The file would be too long.
    #[error("the file would have {bytes} bytes; ONNX files end at 2 GiB")]
    TooLarge {
        /// Its bytes.
        bytes: u64,
    },
    /// The writer failed.
    #[error(transparent)]
    Write(E),
}

/// A constant of the file.
struct Initializer<'m> {
    name: String,
    /// Dimensions in the file.
    dims: Vec<usize>,
    values: Values<'m>,
}

/// Where its values come from.
enum Values<'m> {
    /// Value `i` of the file is value `order(i)` of the model's tensor.
    Floats {
        from: Floats<'m>,
        strides: Vec<usize>,
    },
    Integers(Vec<i64>),
    Own(Vec<f32>),
}

enum Floats<'m> {
    Inline(Cow<'m, [f32]>),
    Seeded(Seeded, f32),
}

impl<'m> Floats<'m> {
    fn of(source: &'m Source) -> Option<Self> {
        match source {
            Source::Inline(data) => match data.as_ref() {
                Data::F32(values) => Some(Self::Inline(Cow::Borrowed(values))),
                _ => None,
            },
            Source::Seeded(seeded) => Some(Self::Seeded(*seeded, seeded.scale()?)),
            Source::Ranged(ranged) => match ranged.values() {
                Data::F32(values) if values.len() == ranged.len() => {
                    Some(Self::Inline(Cow::Owned(values)))
                }
                _ => None,
            },
        }
    }

    fn at(&self, index: usize) -> f32 {
        match self {
            Self::Inline(values) => values.get(index).copied().unwrap_or_default(),
            Self::Seeded(seeded, scale) => f32::from(seeded.integer(index)) * scale,
        }
    }
}

impl Initializer<'_> {
    fn elements(&self) -> u64 {
        self.dims.iter().map(|dim| *dim as u64).product()
    }

    fn bytes(&self) -> u64 {
        let each = if matches!(self.values, Values::Integers(_)) { 8 } else { 4 };
        self.elements() * each
    }

    /// The message without its values.
    fn head(&self) -> Vec<u8> {
        let integers = matches!(self.values, Values::Integers(_));
        let kind = if integers { DataType::Int64 } else { DataType::Float };
        let tensor = TensorProto {
            name: self.name.clone(),
            dims: self.dims.iter().map(|dim| signed(*dim)).collect(),
            data_type: kind as i32,
            ..TensorProto::default()
        };
        let mut head = tensor.encode_to_vec();
        head.extend(key(RAW_DATA, self.bytes()));
        head
    }

    fn write<E>(&self, write: &mut Write<'_, E>) -> Result<(), E> {
        match &self.values {
            Values::Integers(values) => pieces(values.iter().map(|v| v.to_le_bytes()), write),
            Values::Own(values) => pieces(values.iter().map(|v| v.to_le_bytes()), write),
            Values::Floats { from, strides } => {
                let mut counter = vec![0usize; self.dims.len()];
                let mut offset = 0usize;
                let values = (0..self.elements()).map(|_| {
                    let value = from.at(offset).to_le_bytes();
                    for axis in (0..counter.len()).rev() {
                        counter[axis] += 1;
                        offset += strides[axis];
                        if counter[axis] < self.dims[axis] {
                            break;
                        }
                        offset -= counter[axis] * strides[axis];
                        counter[axis] = 0;
                    }
                    value
                });
                pieces(values, write)
            }
        }
    }
}

/// Takes the next bytes of the file.
type Write<'w, E> = dyn FnMut(&[u8]) -> Result<(), E> + 'w;

fn pieces<E, const N: usize>(
    values: impl Iterator<Item = [u8; N]>,
    write: &mut Write<'_, E>,
) -> Result<(), E> {
    let mut piece = Vec::with_capacity(PIECE * N);
    for value in values {
        piece.extend_from_slice(&value);
        if piece.len() >= PIECE * N {
            write(&piece)?;
            piece.clear();
        }
    }
    if piece.is_empty() { Ok(()) } else { write(&piece) }
}

/// Field numbers of what is written by hand.
const GRAPH: u64 = 7;
const INITIALIZER: u64 = 5;
const RAW_DATA: u64 = 9;

/// Key and length of a field of bytes.
fn key(field: u64, length: u64) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(12);
    prost::encoding::encode_varint(field << 3 | 2, &mut bytes);
    prost::encoding::encode_varint(length, &mut bytes);
    bytes
}

/// Writes a float model as ONNX, piece by piece, in order.
///
/// # Errors
/// If the model is not float, has an operator without a form in ONNX, or the file would be longer
/// than 2 GiB, all before the first piece is written; and whatever `write` fails with.
pub fn export<E>(model: &Model, write: &mut Write<'_, E>) -> Result<(), ExportError<E>> {
    let (graph, initializers) = graph::graph(model)?;
    let graph = graph.encode_to_vec();
    let heads: Vec<Vec<u8>> = initializers.iter().map(Initializer::head).collect();
    let lengths: Vec<u64> =
        heads.iter().zip(&initializers).map(|(head, i)| head.len() as u64 + i.bytes()).collect();
    let keys: Vec<Vec<u8>> = lengths.iter().map(|length| key(INITIALIZER, *length)).collect();
    let constants: u64 =
        keys.iter().zip(&lengths).map(|(key, length)| key.len() as u64 + length).sum();
    let start = start(model);
    let whole = graph.len() as u64 + constants;
    let bytes = start.len() as u64 + 12 + whole;
    if bytes > LONGEST {
        return Err(ExportError::TooLarge { bytes });
    }
    let mut put = |bytes: &[u8]| write(bytes).map_err(ExportError::Write);
    put(&start)?;
    put(&key(GRAPH, whole))?;
    put(&graph)?;
    for ((key, head), initializer) in keys.iter().zip(&heads).zip(&initializers) {
        put(key)?;
        put(head)?;
        initializer.write(&mut put)?;
    }
    Ok(())
}

/// Everything but the graph.
fn start(model: &Model) -> Vec<u8> {
    let metadata = model
        .metadata
        .iter()
        .map(|(key, value)| StringStringEntryProto { key: key.clone(), value: value.clone() });
    let proto = ModelProto {
        ir_version: IR_VERSION,
        producer_name: "tilewright".to_owned(),
        producer_version: env!("CARGO_PKG_VERSION").to_owned(),
        opset_import: vec![OperatorSetIdProto { version: OPSET, ..Default::default() }],
        metadata_props: metadata.collect(),
        ..ModelProto::default()
    };
    proto.encode_to_vec()
}
