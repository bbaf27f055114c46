//! Labelled images: idx files of MNIST and its kin, plain or packed; or an array whose images are of ten classes in turn.

use std::borrow::Cow;
use std::io::Read;

use flate2::read::GzDecoder;
use thiserror::Error;

use crate::idx::{IdxError, idx_images, idx_labels, is_idx_images};
use crate::input::{NpyError, NpyValues, parse_npy};

/// How packed files begin.
const PACKED: [u8; 2] = [0x1f, 0x8b];

/// Classes of the images of an array, which come in turn.
const CLASSES: u8 = 10;

/// Most bytes that a packed file may hold.
pub const MOST_UNPACKED: u64 = 256 << 20;

/// Images of one size, each with its class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelledImages {
    /// In pixels.
    pub height: usize,
    /// In pixels.
    pub width: usize,
    /// Images × height × width, 0 to 255.
    pub pixels: Vec<u8>,
    /// The class of each.
    pub labels: Vec<u8>,
}

/// Why files hold no labelled images.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LabelledError {
    /// What is packed in one is damaged.
    #[error("a file cannot be unpacked: {0}")]
    Packed(String),
    /// What is packed in one is too much.
    #[error("a file holds more than {MOST_UNPACKED} bytes")]
    TooLong,
    /// The file of images.
    #[error("the file of images is damaged: {0}")]
    Images(IdxError),
    /// The file of labels.
    #[error("the file of labels is damaged: {0}")]
    Labels(IdxError),
    /// They do not belong together.
    #[error("there are {labels} labels for {images} images")]
    Count {
        /// How many labels.
        labels: usize,
        /// How many images.
        images: usize,
    },
    /// The array.
    #[error("the array is wrong: {0}")]
    Array(NpyError),
    /// The array holds something else.
    #[error("the array has the dimensions {0:?}")]
    Dims(Vec<usize>),
    /// The array holds other values.
    #[error("the array holds no unsigned bytes")]
    NoBytes,
    /// Neither one array nor two idx files.
    #[error("there are {0} files where a file of images and one of labels should be, or one array")]
    Files(usize),
}

/// The bytes that are packed with gzip in these; or these, if nothing is.
///
/// # Errors
/// [`LabelledError::Packed`], [`LabelledError::TooLong`].
pub fn unpacked(bytes: &[u8]) -> Result<Cow<'_, [u8]>, LabelledError> {
    if !bytes.starts_with(&PACKED) {
        return Ok(Cow::Borrowed(bytes));
    }
    let mut unpacked = Vec::new();
    match GzDecoder::new(bytes).take(MOST_UNPACKED + 1).read_to_end(&mut unpacked) {
        Ok(length) if length as u64 <= MOST_UNPACKED => Ok(Cow::Owned(unpacked)),
        Ok(_) => Err(LabelledError::TooLong),
        Err(error) => Err(LabelledError::Packed(error.to_string())),
    }
}

impl LabelledImages {
    /// At most `most` images of these files: one array, or images and labels in any order.
    ///
    /// # Errors
    /// [`LabelledError`].
    pub fn of_files(files: &[&[u8]], most: usize) -> Result<Self, LabelledError> {
        let files: Vec<_> = files.iter().map(|file| unpacked(file)).collect::<Result<_, _>>()?;
        match &files[..] {
            [array] => Self::of_array(array, most),
            [labels, images] if is_idx_images(images) => Self::of_idx(images, labels, most),
            [images, labels] => Self::of_idx(images, labels, most),
            _ => Err(LabelledError::Files(files.len())),
        }
    }

    /// At most `most` images of idx files that are not packed.
    ///
    /// # Errors
    /// [`LabelledError::Images`], [`LabelledError::Labels`], [`LabelledError::Count`].
    pub fn of_idx(images: &[u8], labels: &[u8], most: usize) -> Result<Self, LabelledError> {
        let images = idx_images(images).map_err(LabelledError::Images)?;
        let labels = idx_labels(labels).map_err(LabelledError::Labels)?;
        if labels.len() != images.count {
            return Err(LabelledError::Count { labels: labels.len(), images: images.count });
        }
        let count = images.count.min(most);
        Ok(Self {
            height: images.height,
            width: images.width,
            pixels: images.pixels[..count * images.height * images.width].to_vec(),
            labels: labels[..count].to_vec(),
        })
    }

    /// At most `most` images of an array of bytes, images × height × width or with a last dimension of 1, whose
    /// images are of ten classes in turn.
    ///
    /// # Errors
    /// [`LabelledError::Array`], [`LabelledError::Dims`], [`LabelledError::NoBytes`].
    pub fn of_array(bytes: &[u8], most: usize) -> Result<Self, LabelledError> {
        let array = parse_npy(bytes).map_err(LabelledError::Array)?;
        let [count, height, width] = match array.dims[..] {
            [count, height, width] | [count, height, width, 1] => [count, height, width],
            _ => return Err(LabelledError::Dims(array.dims)),
        };
        let NpyValues::U8(mut pixels) = array.values else { return Err(LabelledError::NoBytes) };
        let count = count.min(most);
        pixels.truncate(count.saturating_mul(height).saturating_mul(width));
        let labels = (0..CLASSES).cycle().take(count).collect();
        Ok(Self { height, width, pixels, labels })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    const IMAGES: [u8; 22] =
        [0, 0, 8, 3, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 2, 10, 11, 12, 13, 14, 15];
    const LABELS: [u8; 11] = [0, 0, 8, 1, 0, 0, 0, 3, 7, 8, 9];

    #[test]
    fn two_files_are_images_and_labels_in_any_order_packed_or_not() {
        let images = packed(&IMAGES);
        for files in [[&IMAGES[..], &LABELS], [&LABELS, &images]] {
            let found = LabelledImages::of_files(&files, 2).unwrap();
            assert_eq!([found.height, found.width], [1, 2]);
            assert_eq!(
                (&found.pixels[..], &found.labels[..]),
                (&[10, 11, 12, 13][..], &[7, 8][..])
            );
        }
        let few = [0, 0, 8, 1, 0, 0, 0, 1, 7];
        let error = LabelledImages::of_files(&[&IMAGES, &few], 2).unwrap_err();
        assert_eq!(error, LabelledError::Count { labels: 1, images: 3 });
    }

    #[test]
    fn an_array_has_ten_classes_in_turn() {
        let bytes = include_bytes!("../../../models/fashion-mobilenet.calibration.npy");
        let found = LabelledImages::of_files(&[bytes], 12).unwrap();
        assert_eq!([found.height, found.width, found.pixels.len()], [28, 28, 12 * 784]);
        assert_eq!(found.labels, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1]);
    }

    #[test]
    fn what_holds_no_images_is_refused() {
        let of = |files: &[&[u8]]| LabelledImages::of_files(files, 9).unwrap_err();
        assert!(matches!(of(&[]), LabelledError::Files(0)));
        assert!(matches!(of(&[&IMAGES]), LabelledError::Array(_)));
        assert!(matches!(of(&[&IMAGES, &IMAGES]), LabelledError::Labels(_)));
        assert!(matches!(of(&[&LABELS, &LABELS]), LabelledError::Images(_)));
        assert!(matches!(of(&[&packed(&IMAGES)[..20], &LABELS]), LabelledError::Packed(_)));
    }
}
