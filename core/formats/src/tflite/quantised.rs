//! Values of constants, and quantisation as the graph has it.

use half::f16;
use tilewright_model::Quantisation;
use tilewright_tflite_schema as fb;

use super::verified_file::Stored;
use crate::numbers::single;

/// What uint8 values and zero points lose to become int8.
const SHIFT: i32 = 128;

/// The tensor's quantisation in the graph, if it has one.
pub(super) fn quantisation(stored: &Stored<'_>) -> Option<Quantisation> {
    let stated = stored.quantisation.as_ref()?;
    let shift = if stored.kind == fb::TensorType::UINT8 { SHIFT } else { 0 };
    Some(Quantisation {
        scales: stated.scales.clone(),
        zeros: stated.zeros.iter().map(|zero| i32::from(*zero) - shift).collect(),
        axis: (stated.scales.len() > 1).then_some(stated.axis),
    })
}

/// int8 values of a constant of int8 or uint8, with the zero point of [`quantisation`].
pub(super) fn int8(stored: &Stored<'_>) -> Option<Vec<i8>> {
    let bytes = stored.data.as_deref()?;
    match stored.kind {
        fb::TensorType::INT8 => Some(bytes.iter().map(|byte| byte.cast_signed()).collect()),
        fb::TensorType::UINT8 => {
            Some(bytes.iter().map(|byte| (byte ^ 0x80).cast_signed()).collect())
        }
        _ => None,
    }
}

/// For each value of a constant of int8 or uint8 the slice that its scale belongs to.
fn slice_of(stored: &Stored<'_>) -> impl Fn(usize) -> usize + use<> {
    let slices = stored.quantisation.as_ref().map_or(1, |stated| stated.scales.len());
    let axis = stored.quantisation.as_ref().map_or(0, |stated| stated.axis);
    let inner: usize = if slices == 1 {
        usize::MAX
    } else {
        stored.dims.get(axis + 1..).unwrap_or_default().iter().product()
    };
    move |position| position / inner.max(1) % slices
}

/// Weights of 8 bits: without zero point, as value − zero for each, where all differences fit
/// int8; else as they are, if they have one zero point.
///
/// Nothing if the constant is none of 8 bits with quantisation.
///
/// # Errors
/// If a difference does not fit int8, and there are several zero points.
pub(super) fn weights(stored: &Stored<'_>) -> Result<Option<(Vec<i8>, Quantisation)>, String> {
    let (Some(mut quantisation), Some(values)) = (quantisation(stored), int8(stored)) else {
        return Ok(None);
    };
    if quantisation.zeros.iter().all(|zero| *zero == 0) {
        return Ok(Some((values, quantisation)));
    }
    let slice = slice_of(stored);
    let differences = values
        .iter()
        .enumerate()
        .map(|(position, value)| i32::from(*value) - quantisation.zeros[slice(position)]);
    let Ok(values) = differences.clone().map(i8::try_from).collect() else {
        if quantisation.axis.is_none() {
            return Ok(Some((values, quantisation)));
        }
        let (low, high) = differences.fold((0, 0), |(l, h), d| (l.min(d), h.max(d)));
        return Err(format!(
            "its {} weights '{}' are {low} to {high} steps away from their zero points, one for \
             each channel, which does not fit int8: convert the model again with int8 quantisation",
            stored.kind_name(),
            stored.name
        ));
    };
    quantisation.zeros.fill(0);
    Ok(Some((values, quantisation)))
}

/// Real values of a constant: floats, halves, or 8 bits with quantisation.
pub(super) fn floats(stored: &Stored<'_>) -> Option<Vec<f32>> {
    let bytes = stored.data.as_deref()?;
    Some(match stored.kind {
        fb::TensorType::FLOAT32 => words(bytes, f32::from_le_bytes),
        fb::TensorType::FLOAT16 => words(bytes, |word| f16::from_le_bytes(word).to_f32()),
        fb::TensorType::FLOAT64 => words(bytes, |word| single(f64::from_le_bytes(word))),
        fb::TensorType::INT8 | fb::TensorType::UINT8 => {
            let quantisation = quantisation(stored)?;
            let slice = slice_of(stored);
            let real = |(position, value): (usize, i8)| {
                let slice = slice(position);
                let zero = quantisation.zeros.get(slice).copied().unwrap_or(0);
                (i32::from(value) - zero) as f32 * quantisation.scale(slice)
            };
            int8(stored)?.into_iter().enumerate().map(real).collect()
        }
        _ => return None,
    })
}

/// Values of a constant of integers that are no real numbers: shapes, axes, biases.
pub(super) fn ints(stored: &Stored<'_>) -> Option<Vec<i64>> {
    let bytes = stored.data.as_deref()?;
    Some(match stored.kind {
        fb::TensorType::INT32 => words(bytes, |word| i64::from(i32::from_le_bytes(word))),
        fb::TensorType::UINT32 => words(bytes, |word| i64::from(u32::from_le_bytes(word))),
        fb::TensorType::INT64 => words(bytes, i64::from_le_bytes),
        fb::TensorType::INT16 => words(bytes, |word| i64::from(i16::from_le_bytes(word))),
        fb::TensorType::BOOL => bytes.iter().map(|byte| i64::from(*byte != 0)).collect(),
        _ => return None,
    })
}

/// Whether the integer is one of this type. Those of 64 bits are cut to `i64` where they are made.
pub(super) fn fits(kind: fb::TensorType, value: i64) -> bool {
    match kind {
        fb::TensorType::INT8 => i8::try_from(value).is_ok(),
        fb::TensorType::UINT8 => u8::try_from(value).is_ok(),
        fb::TensorType::INT16 => i16::try_from(value).is_ok(),
        fb::TensorType::UINT16 => u16::try_from(value).is_ok(),
        fb::TensorType::INT32 => i32::try_from(value).is_ok(),
        fb::TensorType::UINT32 => u32::try_from(value).is_ok(),
        _ => true,
    }
}

fn words<const N: usize, T>(bytes: &[u8], read: impl Fn([u8; N]) -> T) -> Vec<T> {
    bytes.as_chunks::<N>().0.iter().map(|word| read(*word)).collect()
}
