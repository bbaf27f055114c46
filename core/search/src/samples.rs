//! Images with classes, as a search takes them.

use thiserror::Error;

use crate::fingerprint::fingerprint;

/// Most classes.
const MOST_CLASSES: usize = 100;

/// Grey images of one size, with a class each.
#[derive(Clone, Debug, PartialEq)]
pub struct Samples {
    side: usize,
    classes: usize,
    /// Images × height × width × 1, from 0 to 1.
    pixels: Vec<f32>,
    labels: Vec<u8>,
}

/// Images and their classes.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    /// Images × height × width × colours.
    pub pixels: Vec<f32>,
    pub labels: Vec<u8>,
}

/// Why there are no samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SamplesError {
    /// An image without pixels.
    #[error("images of {height}x{width} pixels have none to resize")]
    NoPixels {
        /// Height in pixels.
        height: usize,
        /// Width in pixels.
        width: usize,
    },
    /// The numbers do not fit each other.
    #[error("there are {pixels} pixels where {images} labels need {images} times {height}x{width}")]
    Count {
        /// Values of images.
        pixels: usize,
        /// Labels.
        images: usize,
        /// Height in pixels.
        height: usize,
        /// Width in pixels.
        width: usize,
    },
    /// Too few or too many classes.
    #[error("the labels name {classes} classes: give 2 to {MOST_CLASSES}")]
    Classes {
        /// How many.
        classes: usize,
    },
    /// Too few images.
    #[error(
        "there are {images} images: give 4 at least, two to train with and two to validate with"
    )]
    TooFew {
        /// How many.
        images: usize,
    },
}

impl Samples {
    /// Images of bytes, 0 to 255, resized to `side` × `side` by the means of what each pixel covers.
    ///
    /// # Errors
    /// [`SamplesError`].
    pub fn new(
        images: &[u8],
        [height, width]: [usize; 2],
        labels: &[u8],
        side: usize,
    ) -> Result<Self, SamplesError> {
        if height == 0 || width == 0 || side == 0 {
            return Err(SamplesError::NoPixels { height, width });
        }
        let size = height.saturating_mul(width);
        if size.checked_mul(labels.len()) != Some(images.len()) {
            let (pixels, images) = (images.len(), labels.len());
            return Err(SamplesError::Count { pixels, images, height, width });
        }
        if labels.len() < 4 {
            return Err(SamplesError::TooFew { images: labels.len() });
        }
        let classes = labels.iter().map(|label| usize::from(*label) + 1).max().unwrap_or(0);
        if !(2..=MOST_CLASSES).contains(&classes) {
            return Err(SamplesError::Classes { classes });
        }
        let (down, across) = (covers(height, side), covers(width, side));
        let mut pixels = Vec::with_capacity(labels.len() * side * side);
        for image in images.chunks_exact(size) {
            for rows in &down {
                for columns in &across {
                    let mut sum = 0.0;
                    for row in rows {
                        for column in columns {
                            let value = f32::from(image[row.at * width + column.at]);
                            sum += row.part * column.part * value;
                        }
                    }
                    pixels.push(sum / 255.0);
                }
            }
        }
        Ok(Self { side, classes, pixels, labels: labels.to_vec() })
    }

    /// Height and width in pixels.
    #[must_use]
    pub const fn side(&self) -> usize {
        self.side
    }

    /// How many classes there are.
    #[must_use]
    pub const fn classes(&self) -> usize {
        self.classes
    }

    /// How many images there are.
    #[must_use]
    pub const fn images(&self) -> usize {
        self.labels.len()
    }

    /// Pixels of an image, height × width × colours, from 0 to 1: each colour is the grey.
    ///
    /// # Panics
    /// If there is no such image.
    pub fn image(&self, index: usize, colours: usize) -> impl Iterator<Item = f32> + '_ {
        let size = self.side * self.side;
        let grey = &self.pixels[index * size..][..size];
        grey.iter().flat_map(move |pixel| std::iter::repeat_n(*pixel, colours))
    }

    /// The class of each image.
    #[must_use]
    pub fn labels(&self) -> &[u8] {
        &self.labels
    }

    /// These images, in so many colours.
    pub(crate) fn batch(&self, images: impl Iterator<Item = usize>, colours: usize) -> Batch {
        let mut batch = Batch { pixels: Vec::new(), labels: Vec::new() };
        for index in images {
            batch.pixels.extend(self.image(index, colours));
            batch.labels.push(self.labels[index]);
        }
        batch
    }

    /// A number that other samples hardly have.
    pub(crate) fn fingerprint(&self) -> u64 {
        let bytes = self.pixels.iter().flat_map(|pixel| pixel.to_bits().to_le_bytes());
        fingerprint(bytes.chain(self.labels.iter().copied()))
    }
}

/// A pixel that another one covers in part.
struct Cover {
    at: usize,
    /// Of what the other covers.
    part: f32,
}

/// What each of `to` pixels covers of `from` ones in a row.
fn covers(from: usize, to: usize) -> Vec<Vec<Cover>> {
    let length = from as f32 / to as f32;
    let cover = |pixel: usize| {
        let (begin, end) = (pixel as f32 * length, (pixel + 1) as f32 * length);
        let last = (end.ceil() as usize).min(from);
        let part = |at: usize| (end.min((at + 1) as f32) - begin.max(at as f32)).max(0.0) / length;
        (begin as usize..last).map(|at| Cover { at, part: part(at) }).collect()
    };
    (0..to).map(cover).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_keep_their_mean() {
        let image: Vec<u8> = (0..28 * 28).map(|at| (at % 251) as u8).collect();
        let images = image.repeat(4);
        let samples = Samples::new(&images, [28, 28], &[0, 1, 2, 9], 16).unwrap();
        assert_eq!([samples.images(), samples.classes(), samples.side()], [4, 10, 16]);
        let before = image.iter().map(|value| f32::from(*value)).sum::<f32>() / 784.0 / 255.0;
        let after = samples.image(3, 1).sum::<f32>() / 256.0;
        assert!((before - after).abs() < 1e-4, "{before} {after}");
        let same = Samples::new(&images, [28, 28], &[0, 1, 2, 9], 28).unwrap();
        assert!((same.image(0, 3).nth(301).unwrap() - 100.0 / 255.0).abs() < 1e-6);
        assert_ne!(same.fingerprint(), samples.fingerprint());
    }

    #[test]
    fn what_does_not_fit_is_said() {
        let said = |images: &[u8], size, labels: &[u8]| {
            Samples::new(images, size, labels, 8).unwrap_err().to_string()
        };
        assert!(said(&[0; 15], [2, 2], &[0, 1, 0, 1]).contains("15 pixels"));
        assert!(said(&[0; 16], [2, 2], &[0, 0, 0, 0]).contains("1 classes"));
        assert!(said(&[0; 12], [2, 2], &[0, 1, 0]).contains("3 images"));
        assert!(said(&[], [0, 2], &[]).contains("0x2"));
        assert!(said(&[], [usize::MAX, 2], &[0; 4]).contains("pixels"));
    }
}
