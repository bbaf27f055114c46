//! Constant values of a file.

use half::f16;

use crate::onnx::messages::{
    TensorProto,
    tensor_proto::{DataLocation, DataType},
};
use crate::{FormatError, Limits, elements};

/// Values as the importer computes with them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Values {
    Float(Vec<f32>),
    Int(Vec<i64>),
}

/// A constant with its ONNX shape, row-major.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Constant {
    pub(crate) name: String,
    pub(crate) dims: Vec<usize>,
    pub(crate) values: Values,
}

impl Constant {
    pub(crate) fn floats(&self) -> Option<&[f32]> {
        if let Values::Float(values) = &self.values { Some(values) } else { None }
    }

    pub(crate) fn ints(&self) -> Option<&[i64]> {
        if let Values::Int(values) = &self.values { Some(values) } else { None }
    }

    pub(crate) fn len(&self) -> usize {
        match &self.values {
            Values::Float(values) => values.len(),
            Values::Int(values) => values.len(),
        }
    }

    /// Reads a tensor; takes its bytes out of the message.
    pub(crate) fn read(mut proto: TensorProto, limits: &Limits) -> Result<Self, FormatError> {
        let name = std::mem::take(&mut proto.name);
        let bad = |reason: String| FormatError::Interface { name: name.clone(), reason };
        if proto.data_location == DataLocation::External as i32 || !proto.external_data.is_empty() {
            return Err(bad("its values are in another file, which is not supported".to_owned()));
        }
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
        let values = decode(&mut proto).map_err(bad)?;
        let constant = Self { name: name.clone(), dims, values };
        if constant.len() != count {
            return Err(bad(format!("{} values for {count} elements", constant.len())));
        }
        Ok(constant)
    }
}

fn decode(proto: &mut TensorProto) -> Result<Values, String> {
    let raw = std::mem::take(&mut proto.raw_data);
    let dtype = DataType::try_from(proto.data_type).unwrap_or(DataType::Undefined);
    Ok(match dtype {
        DataType::Float if raw.is_empty() => Values::Float(std::mem::take(&mut proto.float_data)),
        DataType::Float => Values::Float(words(&raw, f32::from_le_bytes)?),
        DataType::Double if raw.is_empty() => {
            Values::Float(proto.double_data.iter().map(|value| *value as f32).collect())
        }
        DataType::Double => Values::Float(words(&raw, |b| f64::from_le_bytes(b) as f32)?),
        DataType::Int64 if raw.is_empty() => Values::Int(std::mem::take(&mut proto.int64_data)),
        DataType::Int64 => Values::Int(words(&raw, i64::from_le_bytes)?),
        DataType::Int32 | DataType::Int8 | DataType::Uint8 | DataType::Bool if raw.is_empty() => {
            Values::Int(proto.int32_data.iter().map(|value| i64::from(*value)).collect())
        }
        DataType::Int32 => Values::Int(words(&raw, |b| i64::from(i32::from_le_bytes(b)))?),
        DataType::Int8 => Values::Int(raw.iter().map(|b| i64::from(b.cast_signed())).collect()),
        DataType::Float16 if raw.is_empty() => {
            let half = |bits: &i32| f16::from_bits(*bits as u16).to_f32();
            Values::Float(proto.int32_data.iter().map(half).collect())
        }
        DataType::Float16 => Values::Float(words(&raw, |b| f16::from_le_bytes(b).to_f32())?),
        DataType::Bool | DataType::Uint8 => {
            Values::Int(raw.iter().map(|byte| i64::from(*byte)).collect())
        }
        other => return Err(format!("element type {} is not supported", other.name())),
    })
}

fn words<const N: usize, T>(raw: &[u8], read: impl Fn([u8; N]) -> T) -> Result<Vec<T>, String> {
    let (words, rest) = raw.as_chunks::<N>();
    if !rest.is_empty() {
        return Err(format!("{} bytes are no whole number of elements", raw.len()));
    }
    Ok(words.iter().map(|word| read(*word)).collect())
}
