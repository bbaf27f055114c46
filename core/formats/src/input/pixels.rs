//! What a network takes for a pixel: the range that it was trained on.

use std::fmt::{Display, Formatter};
use std::str::FromStr;

use thiserror::Error;
use tilewright_model::Model;

/// The key of a model's range among what its file says of itself.
const KEY: &str = "pixels";
/// Mean and deviation of ImageNet's pixels in red, green and blue, as most networks of PyTorch take them.
const IMAGENET: [[f32; 3]; 2] = [[123.675, 116.28, 103.53], [58.395, 57.12, 57.375]];
const IMAGENET_NAME: &str = "imagenet";

/// Real value = (byte − mean) / deviation, for bytes from 0 to 255; one mean and deviation, or one for each channel.
#[derive(Clone, Debug, PartialEq)]
pub struct Pixels {
    means: Vec<f32>,
    deviations: Vec<f32>,
}

/// A text that is no range of pixels.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "'{0}' is no range of pixels: known are LOW..HIGH such as -1..1, imagenet, and MEAN/DEVIATION of bytes such as \
     127.5/127.5 or 124,116,104/58,57,57"
)]
pub struct UnknownPixels(String);

impl Pixels {
    /// Means and deviations of bytes, one for each channel or one for all.
    #[must_use]
    pub fn new(means: Vec<f32>, deviations: Vec<f32>) -> Option<Self> {
        let is_one_of_each = means.len() == deviations.len() && matches!(means.len(), 1 | 3 | 4);
        let are_finite = means.iter().chain(&deviations).all(|value| value.is_finite());
        let divide = deviations.iter().all(|deviation| *deviation > 0.0);
        (is_one_of_each && are_finite && divide).then_some(Self { means, deviations })
    }

    /// What the model takes, if its file or a person said it.
    #[must_use]
    pub fn of(model: &Model) -> Option<Self> {
        model.metadata.get(KEY)?.parse().ok()
    }

    /// Makes this what the model takes.
    pub fn set(&self, model: &mut Model) {
        model.metadata.insert(KEY.to_owned(), self.to_string());
    }

    /// The real value of a pixel from 0 (dark) to 1.
    #[must_use]
    pub fn real(&self, pixel: f32, channel: usize) -> f32 {
        let at = if self.means.len() == 1 { 0 } else { channel };
        let of = |list: &[f32], other: f32| list.get(at).copied().unwrap_or(other);
        (pixel * 255.0 - of(&self.means, 0.0)) / of(&self.deviations, 255.0)
    }
}

impl FromStr for Pixels {
    type Err = UnknownPixels;

    fn from_str(text: &str) -> Result<Self, UnknownPixels> {
        let numbers = |list: &str| -> Option<Vec<f32>> {
            list.split(',').map(|number| number.trim().parse().ok()).collect()
        };
        let read = || {
            if text.eq_ignore_ascii_case(IMAGENET_NAME) {
                return Self::new(IMAGENET[0].to_vec(), IMAGENET[1].to_vec());
            }
            if let Some((means, deviations)) = text.split_once('/') {
                return Self::new(numbers(means)?, numbers(deviations)?);
            }
            let (low, high) = text.split_once("..")?;
            let (low, high): (f32, f32) = (low.trim().parse().ok()?, high.trim().parse().ok()?);
            let deviation = 255.0 / (high - low);
            Self::new(vec![-low * deviation], vec![deviation])
        };
        read().ok_or_else(|| UnknownPixels(text.chars().take(80).collect()))
    }
}

impl Display for Pixels {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        if (self.means.as_slice(), self.deviations.as_slice()) == (&IMAGENET[0], &IMAGENET[1]) {
            return formatter.write_str(IMAGENET_NAME);
        }
        if let ([_], [deviation]) = (self.means.as_slice(), self.deviations.as_slice()) {
            let ends = [0.0, 1.0].map(|pixel| self.real(pixel, 0));
            let are_short = ends.iter().all(|end| end.fract() == 0.0 && end.abs() < 1e6);
            if are_short && (255.0 / (ends[1] - ends[0]) - deviation).abs() < deviation * 1e-6 {
                return write!(formatter, "{}..{}", ends[0], ends[1]);
            }
        }
        let list =
            |values: &[f32]| values.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        write!(formatter, "{}/{}", list(&self.means), list(&self.deviations))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_and_written_as_people_say_them() {
        for (text, written, ends) in [
            ("0..1", "0..1", [0.0, 1.0]),
            (" -1 .. 1 ", "-1..1", [-1.0, 1.0]),
            ("127.5/127.5", "-1..1", [-1.0, 1.0]),
            ("0/1", "0..255", [0.0, 255.0]),
            ("ImageNet", "imagenet", [-2.117_904, 2.248_908_3]),
            ("127/128", "127/128", [-127.0 / 128.0, 1.0]),
        ] {
            let pixels: Pixels = text.parse().unwrap();
            assert_eq!(pixels.to_string(), written);
            assert_eq!(written.parse::<Pixels>().unwrap(), pixels, "{text}");
            for (pixel, end) in [0.0, 1.0].into_iter().zip(ends) {
                assert!((pixels.real(pixel, 0) - end).abs() < 1e-5, "{text}");
            }
        }
        let colours: Pixels = "124,116,104/58,57,50".parse().unwrap();
        assert_eq!(colours.to_string(), "124,116,104/58,57,50");
        assert_eq!(colours.real(1.0, 2), 151.0 / 50.0);
    }

    #[test]
    fn what_is_no_range_is_refused() {
        for text in
            ["", "1", "1..0", "1..1", "0..NaN", "a..b", "1,2/3,4", "1/0", "1,2,3/4", "inf/1"]
        {
            assert!(text.parse::<Pixels>().is_err(), "{text}");
        }
    }
}
