//! Constant values of a file.

use std::cell::OnceCell;
use std::sync::Arc;

use half::{bf16, f16};
use tilewright_model::{DType, Data, Ranged, Store};

use super::external;
use super::messages::{TensorProto, tensor_proto::DataType};
use super::skeleton::{Initializer, Place};
use crate::numbers::single;
use crate::{FormatError, Limits, ModelFile, elements};

/// Floats from this many elements on stay in their file.
const STORED: usize = 1 << 20;

/// Elements that constants of one float everywhere may hold in memory together; the others are made
/// when they are read.
const MOST_FILLED: usize = 1 << 24;

/// Values as the importer computes with them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Values {
    Float(Vec<f32>),
    Int(Vec<i64>),
    Stored(Stored),
}

/// Floats that are read when they are asked for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stored {
    pub(crate) ranged: Ranged,
    read: OnceCell<Vec<f32>>,
    /// Whether no file holds them: they are one float everywhere.
    is_filled: bool,
}

/// A constant with its ONNX shape, row-major.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Constant {
    pub(crate) name: String,
    pub(crate) dims: Vec<usize>,
    pub(crate) values: Values,
}

/// One float as often as asked for.
#[derive(Debug)]
struct Filled {
    value: f32,
    bytes: u64,
}

impl Store for Filled {
    fn size(&self) -> u64 {
        self.bytes
    }

    fn read(&self, offset: u64, length: usize) -> Option<Vec<u8>> {
        let end = offset.checked_add(length as u64)?;
        let is_whole = offset.is_multiple_of(4) && length.is_multiple_of(4);
        (is_whole && end <= self.bytes).then(|| self.value.to_le_bytes().repeat(length / 4))
    }
}

/// Bytes of a store.
pub(crate) struct Piece {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) place: Place,
}

impl Constant {
    /// The values, if they are floats; read now if they were not.
    pub(crate) fn floats(&self) -> Option<&[f32]> {
        match &self.values {
            Values::Float(values) => Some(values),
            Values::Int(_) => None,
            Values::Stored(stored) => {
                let read = || match stored.ranged.values() {
                    Data::F32(values) => values,
                    _ => Vec::new(),
                };
                Some(stored.read.get_or_init(read))
                    .filter(|values| values.len() == self.len())
                    .map(Vec::as_slice)
            }
        }
    }

    /// The floats that stay in their file, if they do.
    pub(crate) fn stored(&self) -> Option<&Ranged> {
        if let Values::Stored(stored) = &self.values { Some(&stored.ranged) } else { None }
    }

    pub(crate) fn ints(&self) -> Option<&[i64]> {
        if let Values::Int(values) = &self.values { Some(values) } else { None }
    }

    pub(crate) fn len(&self) -> usize {
        match &self.values {
            Values::Float(values) => values.len(),
            Values::Int(values) => values.len(),
            Values::Stored(stored) => stored.ranged.len(),
        }
    }

    /// Elements that no file holds and that reading them would make.
    pub(crate) fn unmade(&self) -> usize {
        match &self.values {
            Values::Stored(stored) if stored.is_filled && stored.read.get().is_none() => self.len(),
            _ => 0,
        }
    }

    /// One float everywhere; a large one takes no memory, nor does one beyond `filled` elements of
    /// others.
    pub(crate) fn filled(
        name: String,
        dims: Vec<usize>,
        count: usize,
        value: f32,
        filled: usize,
    ) -> Self {
        let values = if count >= STORED || filled.saturating_add(count) > MOST_FILLED {
            let store = Arc::new(Filled { value, bytes: count as u64 * 4 });
            let ranged = Ranged::new(store, 0, count, DType::F32);
            Values::Stored(Stored { ranged, read: OnceCell::new(), is_filled: true })
        } else {
            Values::Float(vec![value; count])
        };
        Self { name, dims, values }
    }

    /// Reads an initializer.
    pub(crate) fn of_initializer(
        initializer: Initializer,
        file: &ModelFile<'_>,
        limits: &Limits,
    ) -> Result<Self, FormatError> {
        let Initializer { tensor, place } = initializer;
        let piece = place.map(|place| Piece { store: Arc::clone(&file.bytes), place });
        Self::read(tensor, piece, file, limits)
    }

    /// Reads a tensor whose values are a piece of the file, in the message or in another file.
    pub(crate) fn read(
        mut proto: TensorProto,
        piece: Option<Piece>,
        file: &ModelFile<'_>,
        limits: &Limits,
    ) -> Result<Self, FormatError> {
        let name = std::mem::take(&mut proto.name);
        let bad = |reason: String| FormatError::Interface { name: name.clone(), reason };
        if proto.segment.is_some() {
            return Err(bad("it is split into segments".to_owned()));
        }
        let dims: Vec<usize> = proto
            .dims
            .iter()
            .map(|dim| usize::try_from(*dim).ok())
            .collect::<Option<_>>()
            .ok_or_else(|| bad(format!("dimensions {:?}", proto.dims)))?;
        let count = elements(&name, &dims, limits)?;
        let dtype = DataType::try_from(proto.data_type).unwrap_or(DataType::Undefined);
        let bytes = width(dtype).ok_or_else(|| bad(unsupported(dtype)))?.checked_mul(count);
        let bytes = bytes.ok_or_else(|| bad(format!("dimensions {dims:?}")))? as u64;
        let piece = match external::location(&proto, &name)? {
            Some(location) => Some(location.find(&name, bytes, file)?),
            None => piece,
        };
        let values = match piece {
            Some(piece) if piece.place.length != bytes => {
                let length = piece.place.length;
                return Err(bad(format!("{length} bytes for {count} elements")));
            }
            Some(piece) if dtype == DataType::Float && count >= STORED => {
                let ranged = Ranged::new(piece.store, piece.place.offset, count, DType::F32);
                if !ranged.is_finite() {
                    return Err(FormatError::NotFinite { tensor: name });
                }
                Values::Stored(Stored { ranged, read: OnceCell::new(), is_filled: false })
            }
            Some(Piece { store, place }) => {
                let length = usize::try_from(bytes).unwrap_or(usize::MAX);
                let raw = store.read(place.offset, length).filter(|raw| raw.len() == length);
                of_bytes(dtype, &raw.ok_or_else(|| bad("its values cannot be read".to_owned()))?)
            }
            None if proto.raw_data.is_empty() => listed(dtype, &mut proto).map_err(bad)?,
            None if proto.raw_data.len() as u64 != bytes => {
                let length = proto.raw_data.len();
                return Err(bad(format!("{length} bytes for {count} elements")));
            }
            None => of_bytes(dtype, &proto.raw_data),
        };
        let constant = Self { name: name.clone(), dims, values };
        if constant.len() != count {
            return Err(bad(format!("{} values for {count} elements", constant.len())));
        }
        Ok(constant)
    }
}

fn unsupported(dtype: DataType) -> String {
    format!("element type {} is not supported", dtype.name())
}

/// Bytes of an element; nothing of types that are not supported.
const fn width(dtype: DataType) -> Option<usize> {
    Some(match dtype {
        DataType::Int8 | DataType::Uint8 | DataType::Bool => 1,
        DataType::Float16 | DataType::Bfloat16 | DataType::Int16 | DataType::Uint16 => 2,
        DataType::Float | DataType::Int32 | DataType::Uint32 => 4,
        DataType::Double | DataType::Int64 | DataType::Uint64 => 8,
        _ => return None,
    })
}

/// Values from the message's field for their type.
fn listed(dtype: DataType, proto: &mut TensorProto) -> Result<Values, String> {
    let bits = || proto.int32_data.iter();
    let halves = |float: fn(u16) -> f32| {
        let half = |bits: &i32| {
            u16::try_from(*bits).map(float).map_err(|_| {
                format!(
                    "{bits} stands for one of its 16-bit floats, whose bits are 0 to 65535: \
                     export the model again"
                )
            })
        };
        bits().map(half).collect::<Result<_, _>>().map(Values::Float)
    };
    Ok(match dtype {
        DataType::Float => Values::Float(std::mem::take(&mut proto.float_data)),
        DataType::Double => {
            Values::Float(proto.double_data.iter().map(|value| single(*value)).collect())
        }
        DataType::Float16 => halves(|bits| f16::from_bits(bits).to_f32())?,
        DataType::Bfloat16 => halves(|bits| bf16::from_bits(bits).to_f32())?,
        DataType::Int64 => Values::Int(std::mem::take(&mut proto.int64_data)),
        DataType::Uint32 | DataType::Uint64 => {
            Values::Int(proto.uint64_data.iter().map(|value| saturated(*value)).collect())
        }
        _ => Values::Int(bits().map(|value| i64::from(*value)).collect()),
    })
}

/// Values from little-endian bytes, a whole number of them.
fn of_bytes(dtype: DataType, raw: &[u8]) -> Values {
    match dtype {
        DataType::Float => Values::Float(words(raw, f32::from_le_bytes)),
        DataType::Double => Values::Float(words(raw, |b| single(f64::from_le_bytes(b)))),
        DataType::Float16 => Values::Float(words(raw, |b| f16::from_le_bytes(b).to_f32())),
        DataType::Bfloat16 => Values::Float(words(raw, |b| bf16::from_le_bytes(b).to_f32())),
        DataType::Int64 => Values::Int(words(raw, i64::from_le_bytes)),
        DataType::Uint64 => Values::Int(words(raw, |b| saturated(u64::from_le_bytes(b)))),
        DataType::Int32 => Values::Int(words(raw, |b| i64::from(i32::from_le_bytes(b)))),
        DataType::Uint32 => Values::Int(words(raw, |b| i64::from(u32::from_le_bytes(b)))),
        DataType::Int16 => Values::Int(words(raw, |b| i64::from(i16::from_le_bytes(b)))),
        DataType::Uint16 => Values::Int(words(raw, |b| i64::from(u16::from_le_bytes(b)))),
        DataType::Int8 => Values::Int(words(raw, |b| i64::from(i8::from_le_bytes(b)))),
        _ => Values::Int(words(raw, |[byte]: [u8; 1]| i64::from(byte))),
    }
}

fn saturated(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

fn words<const N: usize, T>(raw: &[u8], read: impl Fn([u8; N]) -> T) -> Vec<T> {
    raw.as_chunks::<N>().0.iter().map(|word| read(*word)).collect()
}
