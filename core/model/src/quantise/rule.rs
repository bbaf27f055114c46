//! From the values seen to the range that int8 shall represent.

use std::fmt;
use std::str::FromStr;

use super::calibrate::Range;
use super::histogram::Histogram;

/// How the range of an activation follows from the values seen. Values beyond the range saturate;
/// the values inside have a finer scale for it. Constants always keep their whole range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RangeRule {
    /// From the smallest to the largest value: nothing seen saturates.
    #[default]
    MinMax,
    /// So that a share of the values lies inside and at most half of the rest on either side.
    Percentile(Percentile),
    /// With the least expected squared error: a twelfth of a squared step for each value inside,
    /// none for zeros, the squared distance from the end for each value outside.
    Mse,
}

/// A share of values, more than a half and at most all, in steps of 0.0001 %.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Percentile {
    millionths: u32,
}

const WHOLE: u32 = 1_000_000;

impl Percentile {
    /// A share in percent, rounded to 0.0001 %; nothing unless it is above 50 and at most 100.
    #[must_use]
    pub fn new(percent: f64) -> Option<Self> {
        let millionths = libm::round(percent * 1e4);
        let inside = millionths > f64::from(WHOLE / 2) && millionths <= f64::from(WHOLE);
        inside.then_some(Self { millionths: millionths as u32 })
    }

    /// The share in percent.
    #[must_use]
    pub fn percent(self) -> f64 {
        f64::from(self.millionths) / 1e4
    }
}

/// 99.99 %.
impl Default for Percentile {
    fn default() -> Self {
        Self { millionths: 999_900 }
    }
}

/// As [`RangeRule::from_str`] reads it.
impl fmt::Display for RangeRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MinMax => formatter.write_str("minmax"),
            Self::Percentile(share) => write!(formatter, "percentile={}", share.percent()),
            Self::Mse => formatter.write_str("mse"),
        }
    }
}

/// A word that is no rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is no way to calibrate: known are minmax, percentile (of 99.99), percentile=P with P \
     above 50 and at most 100, and mse"
)]
pub struct UnknownRule(pub String);

impl FromStr for RangeRule {
    type Err = UnknownRule;

    fn from_str(text: &str) -> Result<Self, UnknownRule> {
        let unknown = || UnknownRule(text.to_owned());
        match text.split_once('=') {
            None if text == "minmax" => Ok(Self::MinMax),
            None if text == "percentile" => Ok(Self::Percentile(Percentile::default())),
            None if text == "mse" => Ok(Self::Mse),
            Some(("percentile", percent)) => {
                let percent = percent.parse().ok().and_then(Percentile::new);
                percent.map(Self::Percentile).ok_or_else(unknown)
            }
            _ => Err(unknown()),
        }
    }
}

impl RangeRule {
    /// Whether the rule needs to know how often values occur.
    pub(super) const fn counts(self) -> bool {
        !matches!(self, Self::MinMax)
    }

    /// The range to represent, inside the one that was seen.
    pub(super) fn choose(self, seen: Range, histogram: &Histogram) -> Range {
        match self {
            Self::MinMax => seen,
            Self::Percentile(share) => percentile(seen, histogram, share),
            Self::Mse => least_error(seen, histogram),
        }
    }
}

fn percentile(seen: Range, histogram: &Histogram, share: Percentile) -> Range {
    let outside = u128::from(histogram.total()) * u128::from(WHOLE - share.millionths);
    let most = outside / u128::from(2 * WHOLE);
    let width = histogram.width();
    let mut cut = 0;
    let mut stays = |count: u64| {
        cut += u128::from(count);
        cut > most
    };
    let lowest = histogram.negative().find(|bin| stays(bin.count)).map_or(0.0, |bin| bin.low);
    cut = 0;
    let mut stays = |count: u64| {
        cut += u128::from(count);
        cut > most
    };
    let highest = histogram.positive().rev().find(|bin| stays(bin.count));
    let highest = highest.map_or(0.0, |bin| bin.low + width);
    // A bin may reach beyond what was seen.
    let (lowest, highest) = (lowest as f32, highest as f32);
    Range {
        low: if lowest > seen.low { lowest } else { seen.low },
        high: if highest < seen.high { highest } else { seen.high },
    }
}

/// Fractions of each end that are tried.
const FRACTIONS: u32 = 128;

/// Steps between the smallest and the largest 8-bit value.
const STEPS: f64 = 255.0;

/// What lies beyond one end that is cut to some fraction.
#[derive(Clone, Copy)]
struct Cut {
    end: f64,
    count: u64,
    /// Sum of squared distances from `end`.
    error: f64,
}

/// All cuts of one side, from the whole end to almost nothing. `bins` are distances of bins'
/// centres from zero with their counts, the farthest first.
fn cuts(end: f64, width: f64, bins: &[(f64, u64)]) -> Vec<Cut> {
    if end <= 0.0 {
        return vec![Cut { end: 0.0, count: 0, error: 0.0 }];
    }
    let mut cuts = Vec::with_capacity(FRACTIONS as usize);
    let (mut count, mut sum, mut squares) = (0u64, 0.0, 0.0);
    let mut rest = bins.iter().peekable();
    for fraction in (1..=FRACTIONS).rev() {
        let end = end * f64::from(fraction) / f64::from(FRACTIONS);
        // A bin that the end lies in counts as inside.
        while let Some((centre, bin)) = rest.next_if(|(centre, _)| centre - width / 2.0 > end) {
            // In widths: the sums keep their precision.
            let distance = centre / width;
            count += bin;
            sum += distance * *bin as f64;
            squares += distance * distance * *bin as f64;
        }
        let at = end / width;
        let error = squares - 2.0 * at * sum + at * at * count as f64;
        cuts.push(Cut { end, count, error: error.max(0.0) * width * width });
    }
    cuts
}

fn least_error(seen: Range, histogram: &Histogram) -> Range {
    let width = histogram.width();
    let low: Vec<_> =
        histogram.negative().map(|bin| (-(bin.low + width / 2.0), bin.count)).collect();
    let high: Vec<_> =
        histogram.positive().rev().map(|bin| (bin.low + width / 2.0, bin.count)).collect();
    let values: u64 = low.iter().chain(&high).map(|(_, count)| count).sum();
    let low = cuts(f64::from(-seen.low), width, &low);
    let high = cuts(f64::from(seen.high), width, &high);
    let mut best = (f64::INFINITY, seen);
    // The widest comes first and wins among equals.
    for low in &low {
        for high in &high {
            let step = (low.end + high.end) / STEPS;
            let inside = (values - low.count - high.count) as f64;
            let error = low.error + high.error + inside * step * step / 12.0;
            if error < best.0 {
                best = (error, Range { low: -low.end as f32, high: high.end as f32 });
            }
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::super::scales::from_range;
    use super::*;
    use crate::fixtures::noise;
    use proptest::prelude::*;

    fn chosen(rule: RangeRule, values: &[f32]) -> Range {
        let mut seen = Range::default();
        assert!(seen.include(values));
        let mut histogram = Histogram::default();
        histogram.include(values, seen);
        rule.choose(seen, &histogram)
    }

    /// Mean squared error of int8 for values.
    fn error(range: Range, values: &[f32]) -> f64 {
        let quantisation = from_range(range, 0.0);
        let back = quantisation.dequantise(&quantisation.quantise(values));
        let square = |(a, b): (&f32, &f32)| f64::from(a - b) * f64::from(a - b);
        values.iter().zip(&back).map(square).sum::<f64>() / values.len() as f64
    }

    const PERCENTILE: RangeRule = RangeRule::Percentile(Percentile { millionths: 999_900 });

    #[test]
    fn an_outlier_is_cut_by_percentile_and_by_least_error() {
        // With an end e the outlier costs (30 − e)², the others 400,000 ((e + 1)/255)²/12 together:
        // least at 19.5.
        let mut values = noise(400_000, 3);
        values[777] = 30.0;
        let [whole, percentile, least] =
            [RangeRule::MinMax, PERCENTILE, RangeRule::Mse].map(|rule| chosen(rule, &values));
        assert_eq!(whole.high, 30.0);
        assert!(percentile.high < 1.1 && percentile.low > -1.1, "{percentile:?}");
        assert!((least.high - 19.5).abs() < 0.3, "{least:?}");
        let others: Vec<f32> = values.iter().copied().filter(|value| *value < 2.0).collect();
        assert!(error(percentile, &others) < error(whole, &others) / 100.0);
        assert!(error(least, &values) < error(whole, &values) * 0.9);
        assert!(error(least, &values) < error(percentile, &values));
    }

    #[test]
    fn what_has_no_outlier_keeps_its_range() {
        let values = noise(5_000, 4);
        let whole = chosen(RangeRule::MinMax, &values);
        let least = chosen(RangeRule::Mse, &values);
        assert!(least.high > 0.98 * whole.high && least.low < 0.98 * whole.low, "{least:?}");
        // Fewer values than one in ten thousand on either side.
        assert_eq!(chosen(PERCENTILE, &values), whole);
        assert_eq!(chosen("percentile=100".parse().unwrap(), &values), whole);
    }

    #[test]
    fn constants_and_zeros_have_ranges() {
        for rule in [RangeRule::MinMax, PERCENTILE, RangeRule::Mse] {
            assert_eq!(chosen(rule, &[0.0; 9]), Range::default(), "{rule}");
            assert_eq!(chosen(rule, &[]), Range::default(), "{rule}");
            assert_eq!(chosen(rule, &[2.5; 9]), Range { low: 0.0, high: 2.5 }, "{rule}");
            assert_eq!(chosen(rule, &[-7.0; 9]), Range { low: -7.0, high: 0.0 }, "{rule}");
            let extremes = chosen(rule, &[f32::MAX, -f32::MAX]);
            assert!(extremes.low.is_finite() && extremes.high.is_finite(), "{rule}");
        }
    }

    #[test]
    fn words_are_rules() {
        for (text, rule) in [
            ("minmax", RangeRule::MinMax),
            ("mse", RangeRule::Mse),
            ("percentile=99.99", PERCENTILE),
            ("percentile=99.9999", RangeRule::Percentile(Percentile { millionths: 999_999 })),
        ] {
            assert_eq!(text.parse(), Ok(rule));
            assert_eq!(rule.to_string(), text);
        }
        assert_eq!("percentile".parse(), Ok(PERCENTILE));
        for wrong in ["", "max", "mse=1", "percentile=", "percentile=50", "percentile=100.1"] {
            assert_eq!(wrong.parse::<RangeRule>(), Err(UnknownRule(wrong.to_owned())));
        }
        assert!("percentile=NaN".parse::<RangeRule>().is_err());
    }

    proptest! {
        #[test]
        fn ranges_stay_inside_what_was_seen(
            values in prop::collection::vec(prop_oneof![Just(0.0f32), -1.0f32..1.0, -1e9f32..1e9], 1..200),
            percent in 51.0f64..100.0,
        ) {
            let whole = chosen(RangeRule::MinMax, &values);
            let share = RangeRule::Percentile(Percentile::new(percent).unwrap());
            for rule in [share, RangeRule::Mse] {
                let range = chosen(rule, &values);
                prop_assert!(whole.low <= range.low && range.low <= 0.0, "{rule} {range:?}");
                prop_assert!(0.0 <= range.high && range.high <= whole.high, "{rule} {range:?}");
            }
            let range = chosen(share, &values);
            let outside = values.iter().filter(|v| **v < range.low || **v > range.high).count();
            prop_assert!(outside as f64 <= values.len() as f64 * (1.0 - percent / 100.0) + 1e-3);
        }

        #[test]
        fn least_error_is_about_the_least(
            // Steps far smaller than the values, so that rounding errors are uniform.
            scale in 1.0f32..10.0, outliers in 0usize..20, seed in 0u32..1000,
        ) {
            let mut values = noise(3_000, seed);
            values.iter_mut().take(outliers).for_each(|value| *value *= scale);
            let least = error(chosen(RangeRule::Mse, &values), &values);
            let whole = error(chosen(RangeRule::MinMax, &values), &values);
            prop_assert!(least <= whole * 1.15, "{least} {whole}");
        }
    }
}
