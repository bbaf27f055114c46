//! NumPy's array files, as far as inputs need them.
//!
//! The format is a magic number, a version, and a header in the form of a Python dictionary.

use crate::numbers::single;
use thiserror::Error;

/// First bytes of such a file.
pub(super) const MAGIC: &[u8] = b"\x93NUMPY";

/// Values of an array, row-major.
#[derive(Clone, Debug, PartialEq)]
pub enum NpyValues {
    /// 32-bit floats.
    F32(Vec<f32>),
    /// Unsigned bytes.
    U8(Vec<u8>),
    /// Signed bytes.
    I8(Vec<i8>),
}

impl NpyValues {
    /// Number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::F32(values) => values.len(),
            Self::U8(values) => values.len(),
            Self::I8(values) => values.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// An array.
#[derive(Clone, Debug, PartialEq)]
pub struct NpyArray {
    /// Dimensions.
    pub dims: Vec<usize>,
    /// Values.
    pub values: NpyValues,
}

/// What is wrong with an array file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NpyError {
    /// Not such a file, or cut off.
    #[error("it is cut off or damaged: {0}")]
    Damaged(&'static str),
    /// A kind of array that is not supported.
    #[error("{0}; supported are float32, float64 and integers in C order")]
    Unsupported(String),
}

/// An array file of 32-bit floats, in C order, little-endian.
#[must_use]
pub fn write(dims: &[usize], values: &[f32]) -> Vec<u8> {
    let dims: String = dims.iter().map(|dim| format!("{dim}, ")).collect();
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({dims}), }}");
    // Magic number, version, length, header and a line's end are a multiple of 64 bytes.
    const BEFORE: usize = MAGIC.len() + 2 + 2;
    let length = (BEFORE + header.len() + 1).next_multiple_of(64) - BEFORE;
    let mut bytes = MAGIC.to_vec();
    bytes.extend([1, 0]);
    bytes.extend(u16::try_from(length).unwrap_or(u16::MAX).to_le_bytes());
    bytes.extend(format!("{header:<width$}\n", width = length - 1).bytes());
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    bytes
}

/// Most bytes of a header. NumPy takes 10,000.
const LONGEST_HEADER: usize = 1 << 16;

/// Reads an array file.
///
/// # Errors
/// If it is damaged, or holds other than floats or integers in C order. Wider numbers become 32-bit floats.
pub fn parse(bytes: &[u8]) -> Result<NpyArray, NpyError> {
    let rest = bytes.strip_prefix(MAGIC).ok_or(NpyError::Damaged("no magic number"))?;
    let (length, start) = match *rest {
        [1, _, low, high, ..] => (usize::from(u16::from_le_bytes([low, high])), 4),
        [2 | 3, _, a, b, c, d, ..] => (u32::from_le_bytes([a, b, c, d]) as usize, 6),
        _ => return Err(NpyError::Damaged("no version")),
    };
    if length > LONGEST_HEADER {
        return Err(NpyError::Damaged("the header is too long"));
    }
    let end = length.checked_add(start).ok_or(NpyError::Damaged("the header's length"))?;
    let header = rest.get(start..end).ok_or(NpyError::Damaged("the header is cut off"))?;
    let header = std::str::from_utf8(header).map_err(|_| NpyError::Damaged("the header's text"))?;
    let body = &rest[end..];

    let kind = text(field(header, "descr")?).ok_or(NpyError::Damaged("no element type"))?;
    if field(header, "fortran_order")?.starts_with("True") {
        return Err(NpyError::Unsupported("an array in Fortran order".to_owned()));
    }
    let dims = tuple(field(header, "shape")?).ok_or(NpyError::Damaged("no shape"))?;
    let values = match kind {
        "<f4" | "=f4" => {
            let (words, rest) = body.as_chunks::<4>();
            if !rest.is_empty() {
                return Err(NpyError::Damaged("the last value is cut off"));
            }
            NpyValues::F32(words.iter().map(|word| f32::from_le_bytes(*word)).collect())
        }
        "|u1" | "u1" => NpyValues::U8(body.to_vec()),
        "|i1" | "i1" => NpyValues::I8(body.iter().map(|byte| byte.cast_signed()).collect()),
        "<f8" | "=f8" => wide(body, |bytes| single(f64::from_le_bytes(bytes)))?,
        "<i8" | "=i8" => wide(body, |bytes| i64::from_le_bytes(bytes) as f32)?,
        "<i4" | "=i4" => wide(body, |bytes| i32::from_le_bytes(bytes) as f32)?,
        "<i2" | "=i2" => wide(body, |bytes| f32::from(i16::from_le_bytes(bytes)))?,
        "<u2" | "=u2" => wide(body, |bytes| f32::from(u16::from_le_bytes(bytes)))?,
        other => return Err(NpyError::Unsupported(format!("elements of type {other}"))),
    };
    let count = dims.iter().try_fold(1usize, |product, dim| product.checked_mul(*dim));
    if count != Some(values.len()) {
        return Err(NpyError::Damaged("its values differ from its shape"));
    }
    Ok(NpyArray { dims, values })
}

/// Numbers of N bytes as 32-bit floats.
fn wide<const N: usize>(body: &[u8], real: fn([u8; N]) -> f32) -> Result<NpyValues, NpyError> {
    let (words, rest) = body.as_chunks::<N>();
    if !rest.is_empty() {
        return Err(NpyError::Damaged("the last value is cut off"));
    }
    Ok(NpyValues::F32(words.iter().map(|word| real(*word)).collect()))
}

/// What follows a key of the header.
fn field<'h>(header: &'h str, key: &str) -> Result<&'h str, NpyError> {
    ['\'', '"']
        .iter()
        .find_map(|quote| header.split_once(&format!("{quote}{key}{quote}")))
        .and_then(|(_, rest)| rest.trim_start().strip_prefix(':'))
        .map(str::trim_start)
        .ok_or(NpyError::Damaged("a key is missing in the header"))
}

fn text(value: &str) -> Option<&str> {
    let quote = value.chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
    value[1..].split_once(quote).map(|(text, _)| text)
}

fn tuple(value: &str) -> Option<Vec<usize>> {
    let (inside, _) = value.strip_prefix('(')?.split_once(')')?;
    let numbers = inside.split(',').map(str::trim).filter(|number| !number.is_empty());
    numbers.map(|number| number.parse().ok()).collect()
}
