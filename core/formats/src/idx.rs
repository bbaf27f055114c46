//! The files of MNIST and its kin: images and labels of bytes, after a header of big-endian numbers.

use thiserror::Error;

/// Bytes of unsigned values, with the number of dimensions.
const IMAGES: u32 = 0x0000_0803;
const LABELS: u32 = 0x0000_0801;

/// Images of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdxImages<'b> {
    /// How many.
    pub count: usize,
    /// In pixels.
    pub height: usize,
    /// In pixels.
    pub width: usize,
    /// Images × height × width, 0 to 255.
    pub pixels: &'b [u8],
}

/// Why bytes are no idx file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum IdxError {
    /// They begin otherwise.
    #[error("the file begins with {found:#010x} where {expected:#010x} should stand")]
    Kind {
        /// What there is, or zeros after an early end.
        found: u32,
        /// What should be.
        expected: u32,
    },
    /// The header and what follows do not fit.
    #[error("the file has {bytes} bytes of values where its header says {expected}")]
    Length {
        /// How many there are.
        bytes: usize,
        /// How many there should be; `u128`, for a header may say anything.
        expected: u128,
    },
}

fn number(bytes: &[u8], index: usize) -> u32 {
    let four = bytes.get(4 * index..4 * index + 4).and_then(|four| four.try_into().ok());
    u32::from_be_bytes(four.unwrap_or_default())
}

fn values(bytes: &[u8], expected: u32, dims: usize) -> Result<&[u8], IdxError> {
    let found = number(bytes, 0);
    if found != expected {
        return Err(IdxError::Kind { found, expected });
    }
    let values = bytes.get(4 + 4 * dims..).unwrap_or_default();
    let expected = (1..=dims).map(|dim| u128::from(number(bytes, dim))).product();
    if values.len() as u128 != expected || bytes.len() < 4 + 4 * dims {
        return Err(IdxError::Length { bytes: values.len(), expected });
    }
    Ok(values)
}

/// Whether bytes begin as those of an `idx3-ubyte` file do.
pub(crate) fn is_idx_images(bytes: &[u8]) -> bool {
    number(bytes, 0) == IMAGES
}

/// Images of an `idx3-ubyte` file.
///
/// # Errors
/// [`IdxError`].
pub fn idx_images(bytes: &[u8]) -> Result<IdxImages<'_>, IdxError> {
    let pixels = values(bytes, IMAGES, 3)?;
    let [count, height, width] = [1, 2, 3].map(|dim| number(bytes, dim) as usize);
    Ok(IdxImages { count, height, width, pixels })
}

/// Labels of an `idx1-ubyte` file.
///
/// # Errors
/// [`IdxError`].
pub fn idx_labels(bytes: &[u8]) -> Result<&[u8], IdxError> {
    values(bytes, LABELS, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(kind: u32, dims: &[u32], values: usize) -> Vec<u8> {
        let head = [&[kind], dims].concat();
        let mut bytes: Vec<u8> = head.iter().flat_map(|number| number.to_be_bytes()).collect();
        bytes.resize(bytes.len() + values, 7);
        bytes
    }

    #[test]
    fn headers_say_what_follows() {
        let bytes = file(IMAGES, &[2, 3, 4], 24);
        let images = idx_images(&bytes).unwrap();
        assert_eq!([images.count, images.height, images.width], [2, 3, 4]);
        assert_eq!(images.pixels, [7; 24]);
        assert_eq!(idx_labels(&file(LABELS, &[5], 5)), Ok(&[7u8; 5][..]));
    }

    #[test]
    fn what_is_no_file_is_refused() {
        assert!(matches!(idx_images(&file(LABELS, &[5], 5)), Err(IdxError::Kind { .. })));
        assert!(matches!(idx_labels(&[]), Err(IdxError::Kind { found: 0, .. })));
        for (dims, values) in [([2, 3, 4], 23), ([2, 3, 4], 25), ([u32::MAX; 3], 9)] {
            let bytes = file(IMAGES, &dims, values);
            assert!(matches!(idx_images(&bytes), Err(IdxError::Length { .. })));
        }
        for length in 0..16 {
            assert!(idx_images(&file(IMAGES, &[0, 0, 0], 0)[..length]).is_err());
        }
    }
}
