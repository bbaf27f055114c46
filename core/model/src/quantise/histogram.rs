//! How often values occur, in bounded memory and whatever the order that they come in.

use super::calibrate::Range;

/// Bins on each side of zero, as a power of two. The bins of one side that reaches farther are at
/// least half in use: four or more for each of the 255 steps of an int8 tensor.
const SIDE_BITS: i32 = 11;
const SIDE: i32 = 1 << SIDE_BITS;

/// Counts of values in bins whose width is a power of two. When a value lies beyond the last bin,
/// the width doubles and pairs of bins merge, which loses nothing: the bins are the ones that
/// would have been counted with the final width from the start. So the counts depend on the values
/// seen and not on their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Histogram {
    /// Values that are zero, which every quantisation represents exactly.
    pub(super) zeros: u64,
    /// Values in [i × width, (i + 1) × width) for i from −2048 to 2047; empty while only zeros
    /// were seen.
    counts: Vec<u64>,
    /// The width is 2 to this power.
    exponent: i32,
}

/// A bin that is not empty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bin {
    /// Lower end; the bin spans `low` to `low` + width.
    pub(super) low: f64,
    pub(super) count: u64,
}

impl Histogram {
    /// Counts finite values that lie in `range`.
    pub(super) fn include(&mut self, values: &[f32], range: Range) {
        let largest = if range.high > -range.low { range.high } else { -range.low };
        if largest > 0.0 {
            self.fit(largest);
        }
        let per_width = libm::ldexp(1.0, -self.exponent);
        for value in values {
            if *value == 0.0 {
                self.zeros += 1;
                continue;
            }
            // A power of two scales exactly, so that this is the true floor.
            let scaled = f64::from(*value) * per_width;
            let towards_zero = scaled as i32;
            let index = towards_zero - i32::from(f64::from(towards_zero) > scaled) + SIDE;
            if let Some(count) = self.counts.get_mut(index as usize) {
                *count += 1;
            }
        }
    }

    /// Widens the bins until they reach `largest`, which is positive.
    fn fit(&mut self, largest: f32) {
        let exponent = libm::ilogbf(largest) + 1 - SIDE_BITS;
        if self.counts.is_empty() {
            self.counts = vec![0; 2 * SIDE as usize];
            self.exponent = exponent;
        }
        let doublings = exponent - self.exponent;
        if doublings <= 0 {
            return;
        }
        let mut merged = vec![0; self.counts.len()];
        for (index, count) in (-SIDE..SIDE).zip(&self.counts) {
            // An arithmetic shift rounds down.
            merged[((index >> doublings.min(31)) + SIDE) as usize] += count;
        }
        self.counts = merged;
        self.exponent = exponent;
    }

    /// Width of a bin.
    pub(super) fn width(&self) -> f64 {
        libm::ldexp(1.0, self.exponent)
    }

    /// Number of values, zeros among them.
    pub(super) fn total(&self) -> u64 {
        self.zeros + self.counts.iter().sum::<u64>()
    }

    /// Bins of negative values that are not empty, the one farthest from zero first.
    pub(super) fn negative(&self) -> impl DoubleEndedIterator<Item = Bin> + '_ {
        self.bins(-SIDE..0)
    }

    /// Bins of positive values that are not empty, the one nearest to zero first.
    pub(super) fn positive(&self) -> impl DoubleEndedIterator<Item = Bin> + '_ {
        self.bins(0..SIDE)
    }

    fn bins(&self, range: std::ops::Range<i32>) -> impl DoubleEndedIterator<Item = Bin> + '_ {
        let width = self.width();
        range.filter_map(move |index| {
            let count = *self.counts.get((index + SIDE) as usize)?;
            (count > 0).then_some(Bin { low: f64::from(index) * width, count })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(parts: &[&[f32]]) -> Histogram {
        let mut histogram = Histogram::default();
        let mut range = Range::default();
        for part in parts {
            assert!(range.include(part));
            histogram.include(part, range);
        }
        histogram
    }

    fn value() -> impl Strategy<Value = f32> {
        prop_oneof![
            Just(0.0f32),
            Just(-0.0f32),
            Just(f32::MAX),
            Just(f32::from_bits(1)),
            -1.0f32..1.0,
            -1e-30f32..1e-30,
            -1e20f32..1e20,
        ]
    }

    proptest! {
        #[test]
        fn the_order_of_values_and_samples_is_of_no_matter(
            values in prop::collection::vec(value(), 1..60), cut in 0usize..60, turn in 0usize..60,
        ) {
            let whole = of(&[&values]);
            let (first, second) = values.split_at(cut.min(values.len()));
            prop_assert_eq!(&of(&[first, second]), &whole);
            prop_assert_eq!(&of(&[second, first]), &whole);
            let mut turned = values.clone();
            turned.rotate_left(turn % values.len());
            let one_by_one: Vec<&[f32]> = turned.chunks(1).collect();
            prop_assert_eq!(&of(&one_by_one), &whole);
            prop_assert_eq!(whole.total(), values.len() as u64);
        }

        #[test]
        fn each_value_lies_in_its_bin(value in value()) {
            let histogram = of(&[&[value]]);
            let bins: Vec<Bin> = histogram.negative().chain(histogram.positive()).collect();
            prop_assert_eq!(bins.len(), usize::from(value != 0.0));
            for bin in bins {
                let value = f64::from(value);
                prop_assert!(bin.low <= value && value < bin.low + histogram.width());
            }
        }
    }
}
