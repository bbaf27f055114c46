//! Weights from a seed: as many as a network needs, without a byte of them kept.
//!
//! Each weight is an integer in −127..=127, all equally likely but 0, which is twice as likely as
//! another: mean 0, variance [`Seeded::VARIANCE`]. Weight `i` is byte `i % 8` of SplitMix64's
//! output at step `i / 8` after the seed, so that any range can be made by itself. The float form
//! of the same weights is a scale times these integers: quantising it is exact.

use std::ops::Range;

use crate::data::Data;
use crate::tensor::DType;

/// Integers from a seed, as int8 or, scaled, as floats.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Seeded {
    seed: u64,
    elements: usize,
    /// Floats are integers times this; int8 if there is none.
    scale: Option<f32>,
}

/// SplitMix64's increment.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Weights that one output of the generator gives.
const LANES: usize = 8;

impl Seeded {
    /// Variance of the integers: 2 · (1² + … + 127²) / 256.
    pub const VARIANCE: f64 = 5397.5;

    /// `elements` floats: `scale` times the integers.
    #[must_use]
    pub const fn floats(seed: u64, elements: usize, scale: f32) -> Self {
        Self { seed, elements, scale: Some(scale) }
    }

    /// The integers of the same weights.
    #[must_use]
    pub const fn integers(self) -> Self {
        Self { scale: None, ..self }
    }

    /// What floats are multiples of; nothing for integers.
    #[must_use]
    pub const fn scale(&self) -> Option<f32> {
        self.scale
    }

    /// Element type.
    #[must_use]
    pub const fn dtype(&self) -> DType {
        if self.scale.is_some() { DType::F32 } else { DType::I8 }
    }

    /// Number of elements.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.elements
    }

    /// Whether there are no elements.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.elements == 0
    }

    /// The integer at `index`.
    #[must_use]
    pub fn integer(&self, index: usize) -> i8 {
        integer(self.word(index / LANES), index % LANES)
    }

    /// All values.
    #[must_use]
    pub fn values(&self) -> Data {
        match self.scale {
            Some(scale) => Data::F32(self.all(|value| f32::from(value) * scale)),
            None => Data::I8(self.all(|value| value)),
        }
    }

    /// The integers in a range.
    #[must_use]
    pub fn integers_in(&self, range: Range<usize>) -> Vec<i8> {
        self.some(range.start.min(self.elements)..range.end.min(self.elements), |value| value)
    }

    fn all<T>(&self, value: impl Fn(i8) -> T) -> Vec<T> {
        self.some(0..self.elements, value)
    }

    fn some<T>(&self, range: Range<usize>, value: impl Fn(i8) -> T) -> Vec<T> {
        // Eight at a time: large networks have more than a hundred million.
        let (first, last) = (range.start.div_ceil(LANES), range.end / LANES);
        let mut values = Vec::with_capacity(range.len());
        let single = |index: usize| value(self.integer(index));
        values.extend((range.start..range.end.min(first * LANES)).map(single));
        for block in first..last {
            let word = self.word(block);
            values.extend(std::array::from_fn::<_, LANES, _>(|lane| value(integer(word, lane))));
        }
        values.extend((range.start.max(first * LANES).max(last * LANES)..range.end).map(single));
        values
    }

    /// SplitMix64 at step `block`.
    fn word(&self, block: usize) -> u64 {
        let mut z = self.seed.wrapping_add((block as u64).wrapping_add(1).wrapping_mul(STEP));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// −128, which has no opposite, becomes 0.
const fn integer(word: u64, lane: usize) -> i8 {
    let value = (word >> (8 * lane)) as u8 as i8;
    if value == i8::MIN { 0 } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_of_a_range_are_those_of_all() {
        let seeded = Seeded::floats(7, 45, 0.5).integers();
        let all = seeded.integers_in(0..45);
        assert_eq!(seeded.values().as_i8().unwrap(), all);
        for start in 0..=45 {
            for end in start..=45 {
                assert_eq!(seeded.integers_in(start..end), all[start..end], "{start}..{end}");
            }
        }
        assert_eq!(seeded.integers_in(40..60), all[40..]);
    }

    #[test]
    fn words_are_those_of_splitmix64() {
        // The first outputs for seed 1234567 of the published C implementation.
        let seeded = Seeded::floats(1_234_567, 0, 1.0);
        assert_eq!(seeded.word(0), 6_457_827_717_110_365_317);
        assert_eq!(seeded.word(1), 3_203_168_211_198_807_973);
        assert_eq!(seeded.word(2), 9_817_491_932_198_370_423);
    }

    #[test]
    fn floats_are_scaled_integers_and_any_index_can_be_asked_for() {
        let floats = Seeded::floats(7, 1_003, 0.25);
        let integers = floats.integers();
        let (floats, whole) = (floats.values(), integers.values());
        let (floats, whole) = (floats.as_f32().unwrap(), whole.as_i8().unwrap());
        assert_eq!((floats.len(), whole.len()), (1_003, 1_003));
        for (index, (float, whole)) in floats.iter().zip(whole).enumerate() {
            assert_eq!(*float, f32::from(*whole) * 0.25);
            assert_eq!(*whole, integers.integer(index));
        }
    }

    #[test]
    fn mean_and_variance_are_as_stated() {
        let values = Seeded::floats(3, 1 << 20, 1.0).integers().values();
        let values = values.as_i8().unwrap();
        let count = values.len() as f64;
        let mean = values.iter().map(|v| f64::from(*v)).sum::<f64>() / count;
        let square = values.iter().map(|v| f64::from(*v) * f64::from(*v)).sum::<f64>() / count;
        assert!(mean.abs() < 0.3, "{mean}");
        assert!((square / Seeded::VARIANCE - 1.0).abs() < 0.005, "{square}");
        let exact = (1..=127).map(|v| f64::from(v * v)).sum::<f64>() * 2.0 / 256.0;
        assert_eq!(exact, Seeded::VARIANCE);
        assert!(values.contains(&-127) && values.contains(&127) && !values.contains(&-128));
    }
}
