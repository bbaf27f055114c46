//! PNG pictures as images of a tensor's height, width and channels.

use std::io::Cursor;

use crate::numbers::whole;
use png::{ColorType, Decoder, Limits, Transformations};
use tilewright_model::Tensor;

use super::{InputError, MOST_PADDING};

/// Bytes that decoding may take: enough for 64 megapixels in colour.
const DECODING_BYTES: usize = 256 << 20;
/// Most pixels on a side: what resizing holds between its two axes grows with the longer one.
const LONGEST_SIDE: u32 = 1 << 16;
/// Most values that resizing holds between its two axes.
const RESIZING_VALUES: usize = 64 << 20;

/// Pixels in [0, 1], row-major, channels innermost.
struct Picture {
    height: usize,
    width: usize,
    channels: usize,
    values: Vec<f32>,
}

/// Decodes, converts and fits a picture to a tensor of batch 1.
pub(super) fn read(tensor: &Tensor, bytes: &[u8]) -> Result<Vec<f32>, InputError> {
    let given = decode(bytes)?;
    let mismatch = |takes: String| InputError::Mismatch {
        tensor: tensor.name.clone(),
        takes,
        given: format!("a picture of {}×{}", given.width, given.height),
    };
    let dims = tensor.shape.dims();
    let [1, height, width, channels @ (1 | 3 | 4)] = *dims else {
        // A vector of the picture's pixels.
        if tensor.shape.elements() == Some(given.height * given.width) {
            return Ok(convert(&given, 1).values);
        }
        return Err(mismatch(format!("{} and no picture", tensor.shape)));
    };
    let picture = convert(&given, channels);
    let lacks = |wanted: usize, has: usize| wanted.checked_sub(has).filter(|d| *d <= MOST_PADDING);
    Ok(match (lacks(height, picture.height), lacks(width, picture.width)) {
        (Some(0), Some(0)) => picture.values,
        (Some(rows), Some(columns)) => centre(&picture, [height, width], [rows / 2, columns / 2]),
        _ => resize(&picture, [height, width]).ok_or_else(too_large)?,
    })
}

fn too_large() -> InputError {
    InputError::Picture("it is too large".to_owned())
}

fn decode(bytes: &[u8]) -> Result<Picture, InputError> {
    let fault = |error: png::DecodingError| InputError::Picture(error.to_string());
    let mut decoder =
        Decoder::new_with_limits(Cursor::new(bytes), Limits { bytes: DECODING_BYTES });
    decoder.set_transformations(Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().map_err(fault)?;
    if reader.info().width.max(reader.info().height) > LONGEST_SIDE {
        return Err(too_large());
    }
    let size =
        reader.output_buffer_size().filter(|size| *size <= DECODING_BYTES).ok_or_else(too_large)?;
    let mut pixels = vec![0; size];
    let info = reader.next_frame(&mut pixels).map_err(fault)?;
    pixels.truncate(info.buffer_size());
    let channels = match info.color_type {
        ColorType::Grayscale => 1,
        ColorType::GrayscaleAlpha => 2,
        ColorType::Rgb => 3,
        ColorType::Rgba => 4,
        ColorType::Indexed => return Err(InputError::Picture("its palette is missing".to_owned())),
    };
    Ok(Picture {
        height: info.height as usize,
        width: info.width as usize,
        channels,
        values: pixels.iter().map(|byte| f32::from(*byte) / 255.0).collect(),
    })
}

/// Grey from colour by luminance (ITU-R BT.601); transparency only where four channels are taken.
fn convert(picture: &Picture, channels: usize) -> Picture {
    if picture.channels == channels {
        return Picture { values: picture.values.clone(), ..*picture };
    }
    let mut values = Vec::with_capacity(picture.values.len() / picture.channels * channels);
    for pixel in picture.values.chunks_exact(picture.channels) {
        let (colour, alpha) = match *pixel {
            [grey] => ([grey; 3], 1.0),
            [grey, alpha] => ([grey; 3], alpha),
            [r, g, b] => ([r, g, b], 1.0),
            [r, g, b, alpha, ..] => ([r, g, b], alpha),
            [] => ([0.0; 3], 1.0),
        };
        match channels {
            1 if picture.channels < 3 => values.push(colour[0]),
            1 => values.push(0.299 * colour[0] + 0.587 * colour[1] + 0.114 * colour[2]),
            3 => values.extend(colour),
            _ => values.extend([colour[0], colour[1], colour[2], alpha]),
        }
    }
    Picture { channels, values, ..*picture }
}

fn centre(picture: &Picture, [height, width]: [usize; 2], before: [usize; 2]) -> Vec<f32> {
    let row = picture.width * picture.channels;
    let mut result = vec![0.0; height * width * picture.channels];
    for (y, values) in picture.values.chunks_exact(row.max(1)).enumerate() {
        let start = ((y + before[0]) * width + before[1]) * picture.channels;
        result[start..start + row].copy_from_slice(values);
    }
    result
}

/// For each place along an axis of `to`, the places along one of `from` that it covers and their
/// weights, which add up to 1: shares of area when shrinking, linear when growing.
fn coverage(from: usize, to: usize) -> Vec<Vec<(usize, f32)>> {
    let ratio = from as f32 / to as f32;
    (0..to)
        .map(|place| {
            if to >= from {
                let at = ((place as f32 + 0.5) * ratio - 0.5).clamp(0.0, (from - 1) as f32);
                let low = whole(at.into()).min(from - 1);
                let part = at - low as f32;
                return vec![(low, 1.0 - part), ((low + 1).min(from - 1), part)];
            }
            let (start, end) = (place as f32 * ratio, (place + 1) as f32 * ratio);
            let last = whole(end.ceil().into()).min(from);
            (whole(start.into())..last)
                .map(|at| {
                    let share = (end.min((at + 1) as f32) - start.max(at as f32)).max(0.0);
                    (at, share / ratio)
                })
                .collect()
        })
        .collect()
}

/// Nothing if too many values would lie between the two axes.
fn resize(picture: &Picture, [height, width]: [usize; 2]) -> Option<Vec<f32>> {
    let channels = picture.channels;
    let between = picture.height.checked_mul(width)?.checked_mul(channels)?;
    if between > RESIZING_VALUES {
        return None;
    }
    let columns = coverage(picture.width, width);
    let mut narrow: Vec<f32> = Vec::with_capacity(between);
    for row in picture.values.chunks_exact((picture.width * channels).max(1)) {
        for covered in &columns {
            for c in 0..channels {
                narrow.push(covered.iter().map(|(x, share)| row[x * channels + c] * share).sum());
            }
        }
    }
    let pitch = width * channels;
    let mut result: Vec<f32> = Vec::with_capacity(height * pitch);
    for covered in coverage(picture.height, height) {
        for at in 0..pitch {
            result.push(covered.iter().map(|(y, share)| narrow[y * pitch + at] * share).sum());
        }
    }
    Some(result)
}
