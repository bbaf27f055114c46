//! What can be said of a tensor's values before anything runs: the statistics from which weights
//! and int8 scales follow.
//!
//! Weights are independent of what they multiply, have mean 0 and a variance v of our choice. A sum
//! over n taps then has mean 0 and variance n · v · E[x²] (Glorot and Bengio 2010; He et al. 2015,
//! section 2.2), and is close to normal. Each layer's v is chosen so that this variance is 1, or 2
//! before a function that halves the second moment: so activations neither vanish nor explode,
//! whatever the depth. Taps that fall into the padding are not counted in n.
//!
//! An int8 scale covers [`DEVIATIONS`] standard deviations around the mean, or [`LONG_TAILED`] where
//! channels differ more than a normal variable. The price is a bit of resolution; saturation would
//! cost more.

/// Standard deviations of a result that its int8 range covers. The true deviation strays from the
/// expected one by some tens of percent in deep networks.
const DEVIATIONS: f64 = 6.0;

/// The same for depthwise layers, whose sums are over few taps of one channel, for residual sums, whose
/// summands depend on each other, and for the layers between narrow cells, whose errors grow with the stack.
const LONG_TAILED: f64 = 9.0;

/// Share of a window's variance that its mean keeps: neighbouring pixels of a channel resemble each
/// other. Where they did not, the mean over n pixels would keep 1/n.
const POOLED: f64 = 0.8;

/// Points at which a density is summed.
const POINTS: u32 = 256;

/// Mean, second moment and range of a tensor's values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Statistics {
    pub(crate) mean: f64,
    /// E[x²].
    pub(crate) square: f64,
    /// Smallest value that int8 has to hold.
    pub(crate) low: f64,
    /// Largest value that int8 has to hold.
    pub(crate) high: f64,
}

impl Statistics {
    /// Uniform between 0 and 1: a picture.
    pub(crate) const PIXELS: Self = Self { mean: 0.5, square: 1.0 / 3.0, low: 0.0, high: 1.0 };

    /// Values of mean 0 and this variance, before an activation.
    pub(crate) fn sum(variance: f64, is_long_tailed: bool) -> Self {
        let deviations = if is_long_tailed { LONG_TAILED } else { DEVIATIONS };
        let reach = deviations * libm::sqrt(variance);
        Self { mean: 0.0, square: variance, low: -reach, high: reach }
    }

    /// One value only.
    pub(crate) const fn constant(value: f64) -> Self {
        Self { mean: value, square: value * value, low: value, high: value }
    }

    pub(crate) fn variance(self) -> f64 {
        (self.square - self.mean * self.mean).max(0.0)
    }

    /// Values of this mean and variance, in a range no wider than `low` to `high`.
    fn within(mean: f64, variance: f64, low: f64, high: f64) -> Self {
        let reach = LONG_TAILED * libm::sqrt(variance);
        let square = mean * mean + variance;
        Self { mean, square, low: low.max(mean - reach), high: high.min(mean + reach) }
    }

    /// A function of normal values of this mean and variance.
    pub(crate) fn map(self, function: impl Fn(f64) -> f64) -> Self {
        let deviation = libm::sqrt(self.variance());
        let (mut weight, mut mean, mut square) = (0.0, 0.0, 0.0);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for point in 0..POINTS {
            let part = (f64::from(point) + 0.5) / f64::from(POINTS);
            let z = (part - 0.5) * 2.0 * LONG_TAILED;
            let density = libm::exp(-0.5 * z * z);
            let value = function(self.mean + deviation * z);
            weight += density;
            mean += density * value;
            square += density * value * value;
            let at = function(self.low + part * (self.high - self.low));
            (low, high) = (low.min(at), high.max(at));
        }
        for end in [self.low, self.high] {
            let at = function(end);
            (low, high) = (low.min(at), high.max(at));
        }
        Self { mean: mean / weight, square: square / weight, low, high }
    }

    /// Sum of independent values.
    pub(crate) fn plus(self, other: Self) -> Self {
        let variance = self.variance() + other.variance();
        Self::within(self.mean + other.mean, variance, self.low + other.low, self.high + other.high)
    }

    /// Product of independent values. Its range is that of all products: a gate that opens for a
    /// channel lets it pass as it is.
    pub(crate) fn times(self, other: Self) -> Self {
        let corners = [
            self.low * other.low,
            self.low * other.high,
            self.high * other.low,
            self.high * other.high,
        ];
        let low = corners.iter().copied().fold(f64::INFINITY, f64::min);
        let high = corners.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Self { mean: self.mean * other.mean, square: self.square * other.square, low, high }
    }

    /// Values times a positive factor.
    pub(crate) fn scaled(self, factor: f64) -> Self {
        Self {
            mean: self.mean * factor,
            square: self.square * factor * factor,
            low: self.low * factor,
            high: self.high * factor,
        }
    }

    /// Means over windows of `taps` values. The range stays that of the values: int8 pooling keeps
    /// its operand's quantisation.
    pub(crate) fn pooled(self, taps: usize) -> Self {
        let variance = self.variance() * (POOLED + (1.0 - POOLED) / taps.max(1) as f64);
        Self { square: self.mean * self.mean + variance, ..self }
    }

    /// Largest values of windows: about one standard deviation up, somewhat less spread.
    pub(crate) fn largest(self) -> Self {
        let mean = self.mean + libm::sqrt(self.variance());
        Self { mean, square: mean * mean + 0.7 * self.variance(), ..self }
    }

    /// `parts` one beside the other, each with its number of channels.
    pub(crate) fn beside(parts: &[(Self, usize)]) -> Self {
        let all = parts.iter().map(|(_, channels)| *channels).sum::<usize>().max(1) as f64;
        let mut result =
            Self { mean: 0.0, square: 0.0, low: f64::INFINITY, high: f64::NEG_INFINITY };
        for (part, channels) in parts {
            let share = *channels as f64 / all;
            result.mean += share * part.mean;
            result.square += share * part.square;
            result.low = result.low.min(part.low);
            result.high = result.high.max(part.high);
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 2e-3, "{found} instead of {expected}");
    }

    #[test]
    fn rectifying_a_normal_variable_halves_its_second_moment() {
        let relu = Statistics::sum(2.0, false).map(|x| x.max(0.0));
        near(relu.square, 1.0);
        near(relu.mean, libm::sqrt(2.0 / (2.0 * std::f64::consts::PI)));
        near(relu.low, 0.0);
        near(relu.high, 6.0 * std::f64::consts::SQRT_2);
    }

    #[test]
    fn sums_and_products_of_independent_values() {
        let (a, b) = (Statistics::PIXELS, Statistics::sum(4.0, false));
        let sum = a.plus(b);
        near(sum.mean, 0.5);
        near(sum.variance(), 4.0 + 1.0 / 12.0);
        let product = a.times(b);
        near(product.mean, 0.0);
        near(product.square, 4.0 / 3.0);
        near(product.high, 12.0);
    }

    #[test]
    fn parts_count_by_their_channels() {
        let both =
            Statistics::beside(&[(Statistics::constant(1.0), 3), (Statistics::constant(-1.0), 1)]);
        near(both.mean, 0.5);
        near(both.square, 1.0);
        assert_eq!((both.low, both.high), (-1.0, 1.0));
    }
}
