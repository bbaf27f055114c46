//! Inputs for models from files: pictures, sounds, NumPy arrays and archives of them, raw int8.

mod npy;
mod npz;
mod pixels;
mod png_file;
pub mod sound;

use crate::numbers::integer;
use thiserror::Error;
use tilewright_model::{DType, Data, Shape, Tensor};

pub use npy::{NpyArray, NpyError, NpyValues, parse as parse_npy, write as write_npy};
pub use pixels::{Pixels, UnknownPixels};

/// Largest difference in height or width that is padded instead of resized.
const MOST_PADDING: usize = 8;

/// Why a file is no input for a tensor.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InputError {
    /// Neither a picture nor an array, nor raw bytes of the right number.
    #[error(
        "not an input: known are PNG pictures, WAV sounds, NumPy arrays (.npy, .npz), and raw int8 of {0} bytes"
    )]
    Unknown(usize),
    /// The picture cannot be decoded.
    #[error("the picture cannot be decoded: {0}")]
    Picture(String),
    /// The array cannot be read.
    #[error("the array cannot be read: {0}")]
    Npy(#[from] NpyError),
    /// The archive of arrays cannot be read.
    #[error("the archive cannot be read: {0}")]
    Archive(String),
    /// The sound cannot be read.
    #[error("the sound cannot be read: {0}")]
    Sound(String),
    /// A value that is infinite or no number.
    #[error("value {index} of the array is {value}, but inputs are finite numbers")]
    NotFinite {
        /// Its position in the array, from 0 on.
        index: usize,
        /// NaN, inf or -inf.
        value: String,
    },
    /// Values do not fit the tensor.
    #[error("input '{tensor}' takes {takes}, but {given} came")]
    Mismatch {
        /// The input.
        tensor: String,
        /// Shape or channels that it takes.
        takes: String,
        /// What was given.
        given: String,
    },
}

/// Reads one input for `tensor`, which is float, or int8 with its quantisation; layout NHWC.
///
/// A PNG becomes what `pixels` says, else pixel / 255; then for an int8 tensor whose values go beyond that (−1…1, 0…255,
/// normalised), darkest to lightest becomes least to largest. It becomes grey or colour as the tensor has 1, 3 or 4 channels; centred between
/// zeros where it is smaller by 8 pixels or less in both directions (28×28 in 32×32), else resized
/// by area or linearly. A `.npy` holds the tensor's elements, or several samples of which the
/// first is taken: floats as they are, unsigned bytes as pixels, signed bytes as quantised values.
/// A `.npz` holds such arrays: that with the tensor's name is taken, else the first that fits. Of a WAV file the loudest
/// part is taken. Anything else of the tensor's size is raw int8.
///
/// # Errors
/// If the bytes are none of these or do not fit the tensor. Never panics on any bytes.
pub fn read(tensor: &Tensor, pixels: Option<&Pixels>, bytes: &[u8]) -> Result<Data, InputError> {
    let count = tensor.shape.elements().unwrap_or(usize::MAX);
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        return Ok(from_pixels(tensor, pixels, png_file::read(tensor, bytes)?));
    }
    if sound::is_sound(bytes) {
        let listening = sound::Listening::new(tensor, bytes)?;
        return Ok(listening.input(tensor, listening.loudest()));
    }
    if is_archive(bytes) || bytes.starts_with(npy::MAGIC) {
        return Ok(samples_of(tensor, pixels, bytes, 1)?.swap_remove(0));
    }
    if bytes.len() == count {
        let integers = bytes.iter().map(|byte| byte.cast_signed()).collect();
        return Ok(from_integers(tensor, integers));
    }
    Err(InputError::Unknown(count))
}

/// One input for each of several tensors, of the arrays of a `.npz` file: by their names, else in their order.
///
/// # Errors
/// If it is no such archive, or an array does not fit.
pub fn several(
    tensors: &[Tensor],
    pixels: Option<&Pixels>,
    bytes: &[u8],
) -> Result<Vec<Data>, InputError> {
    let arrays = npz::parse(bytes)?;
    let is_of_one = |name: &String| tensors.iter().any(|tensor| tensor.name == *name);
    let mut unnamed = arrays.iter().filter(|named| !is_of_one(&named.name));
    let one = |tensor: &Tensor| {
        let named = arrays.iter().find(|named| named.name == tensor.name);
        let named = named.or_else(|| unnamed.next()).ok_or_else(|| InputError::Mismatch {
            tensor: tensor.name.clone(),
            takes: tensor.shape.to_string(),
            given: format!("only {} arrays", arrays.len()),
        })?;
        Ok(from_array(tensor, pixels, &named.array, 1)?.swap_remove(0))
    };
    tensors.iter().map(one).collect()
}

/// Most samples of a file: each takes memory of its own.
const MOST_SAMPLES: usize = 1 << 20;

/// Whether bytes may be a `.npz` file.
#[must_use]
pub fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(npz::MAGIC)
}

/// All samples of a `.npy` file, or of the array that fits in a `.npz` file, as inputs of `tensor`: its size must be a multiple of the tensor's,
/// and with rank 4 its last dimensions the tensor's, or those with channels first.
///
/// # Errors
/// If the bytes are no such array.
pub fn samples(
    tensor: &Tensor,
    pixels: Option<&Pixels>,
    bytes: &[u8],
) -> Result<Vec<Data>, InputError> {
    samples_of(tensor, pixels, bytes, MOST_SAMPLES)
}

fn samples_of(
    tensor: &Tensor,
    pixels: Option<&Pixels>,
    bytes: &[u8],
    most: usize,
) -> Result<Vec<Data>, InputError> {
    if is_archive(bytes) {
        let arrays = npz::parse(bytes)?;
        let fits = |array: &NpyArray| from_array(tensor, pixels, array, 1).is_ok();
        let array = npz::array_for(&arrays, &tensor.name, fits);
        let array = array.ok_or(NpyError::Damaged("no arrays"))?;
        return from_array(tensor, pixels, array, most);
    }
    from_array(tensor, pixels, &npy::parse(bytes)?, most)
}

/// The first samples of an array, as many as `most`.
fn from_array(
    tensor: &Tensor,
    pixels: Option<&Pixels>,
    array: &NpyArray,
    most: usize,
) -> Result<Vec<Data>, InputError> {
    let count = tensor.shape.elements().unwrap_or(0);
    let mismatch = || InputError::Mismatch {
        tensor: tensor.name.clone(),
        takes: tensor.shape.to_string(),
        given: format!("an array of {}", Shape::new(array.dims.clone())),
    };
    let given = array.values.len();
    if count == 0 || given == 0 || !given.is_multiple_of(count) {
        return Err(mismatch());
    }
    if let NpyValues::F32(values) = &array.values
        && let Some(index) = values.iter().position(|value| !value.is_finite())
    {
        return Err(InputError::NotFinite { index, value: values[index].to_string() });
    }
    let moved = channels_first(tensor, array);
    if let ([_, inner @ ..], [_, sample @ ..]) = (tensor.shape.dims(), array.dims.as_slice())
        && inner.len() == 3
        && sample.len() == 3
        && inner != sample
        && moved.is_none()
    {
        return Err(mismatch());
    }
    let sample = |index: usize| -> Data {
        let range = index * count..(index + 1) * count;
        match &array.values {
            NpyValues::F32(values) => from_real(tensor, reorder(&values[range], moved)),
            NpyValues::U8(values) => {
                let shares: Vec<f32> =
                    values[range].iter().map(|v| f32::from(*v) / 255.0).collect();
                from_real(tensor, normalised(tensor, pixels, reorder(&shares, moved)))
            }
            NpyValues::I8(values) => from_integers(tensor, reorder(&values[range], moved)),
        }
    };
    Ok((0..(given / count).min(most)).map(sample).collect())
}

/// Height, width and channels, if the array's samples have channels first where the tensor's have
/// them last.
fn channels_first(tensor: &Tensor, array: &NpyArray) -> Option<[usize; 3]> {
    let [_, height, width, channels] = *tensor.shape.dims() else { return None };
    let last = array.dims.len().checked_sub(3).map(|start| &array.dims[start..])?;
    let first_matches = last == [channels, height, width] && last != [height, width, channels];
    first_matches.then_some([height, width, channels])
}

fn reorder<T: Copy>(values: &[T], channels_first: Option<[usize; 3]>) -> Vec<T> {
    let Some([height, width, channels]) = channels_first else { return values.to_vec() };
    let plane = height * width;
    values
        .chunks_exact((plane * channels).max(1))
        .flat_map(|image| {
            (0..plane).flat_map(move |pixel| (0..channels).map(move |c| image[c * plane + pixel]))
        })
        .collect()
}

fn from_real(tensor: &Tensor, values: Vec<f32>) -> Data {
    match (&tensor.quantisation, tensor.dtype) {
        (Some(quantisation), DType::I8) => Data::I8(quantisation.quantise(&values)),
        _ => Data::F32(values),
    }
}

/// Pixels from 0 to 1 as the network takes them.
fn normalised(tensor: &Tensor, pixels: Option<&Pixels>, mut values: Vec<f32>) -> Vec<f32> {
    let channels = tensor.shape.dims().last().copied().unwrap_or(1).max(1);
    if let Some(pixels) = pixels {
        for pixel in values.chunks_mut(channels) {
            for (channel, value) in pixel.iter_mut().enumerate() {
                *value = pixels.real(*value, channel);
            }
        }
    }
    values
}

/// Pixels from 0 to 1. Where int8 stands for much less or more than that and nobody says what for, the model was trained on
/// another range: then all of int8 is used, as networks for pictures are quantised.
fn from_pixels(tensor: &Tensor, pixels: Option<&Pixels>, values: Vec<f32>) -> Data {
    if pixels.is_some() {
        return from_real(tensor, normalised(tensor, pixels, values));
    }
    let range = tensor.quantisation.as_ref().map(|quantisation| {
        let scale = quantisation.scales.first().copied().unwrap_or(1.0);
        let zero = quantisation.zero();
        [-128 - zero, 127 - zero].map(|steps| scale * steps as f32)
    });
    match range {
        Some([least, largest]) if tensor.dtype == DType::I8 && (least < -0.25 || largest > 1.5) => {
            let pixel = |value: &f32| {
                i8::try_from(integer((value * 255.0).round()).clamp(0, 255) - 128)
                    .unwrap_or_default()
            };
            Data::I8(values.iter().map(pixel).collect())
        }
        _ => from_real(tensor, values),
    }
}

/// For a float tensor, which has no quantisation, −128…127 stand for 0…1.
fn from_integers(tensor: &Tensor, values: Vec<i8>) -> Data {
    if tensor.dtype == DType::I8 {
        return Data::I8(values);
    }
    Data::F32(values.iter().map(|value| (f32::from(*value) + 128.0) / 255.0).collect())
}

#[cfg(test)]
mod tests;
