//! Loss against cost: section 3.1.2 of Sadiq's thesis.

use serde::{Deserialize, Serialize};

/// How a search weighs cost against loss: L = L_ce + Γ · L_com^β (equation 3.8).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TradeOff {
    /// Γ: 0 searches for accuracy alone.
    pub weight: f64,
    /// β, which brings costs of millions of cycles to the size of losses.
    pub exponent: f64,
}

impl TradeOff {
    /// β as the thesis uses it, found by trial from [`equalising_exponent`] on (3.1.2.2).
    pub const EXPONENT: f64 = 0.27;

    /// Γ as the thesis searches with it (3.2.1).
    pub const WEIGHTS: [f64; 3] = [0.01, 0.02, 0.04];

    /// With the thesis' exponent.
    #[must_use]
    pub const fn weighing(weight: f64) -> Self {
        Self { weight, exponent: Self::EXPONENT }
    }

    /// What the search minimises, from a cross entropy and a cost in cycles. A cost below 0 counts as 0.
    #[must_use]
    pub fn loss(&self, cross_entropy: f64, cost: f64) -> f64 {
        cross_entropy + self.weight * libm::pow(cost.max(0.0), self.exponent)
    }

    /// The loss' derivative by the cost in cycles. It has no bound towards a cost of 0; costs below 1 count as 1.
    #[must_use]
    pub fn slope(&self, cost: f64) -> f64 {
        self.weight * self.exponent * libm::pow(cost.max(1.0), self.exponent - 1.0)
    }
}

/// A trained network: a row of table 3.3.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observation {
    /// Its cross entropy at the end.
    pub cross_entropy: f64,
    /// Its cells' cost in cycles.
    pub cost: f64,
}

impl Observation {
    /// Table 3.3, as equation 3.10 has it: the expensive cells, then the cheap ones.
    pub const TABLE_3_3: [Self; 2] = [
        Self { cross_entropy: 9.32e-2, cost: 1_244_160.0 },
        Self { cross_entropy: 3.11e-1, cost: 322_560.0 },
    ];
}

/// Newton's method starts here, above the root: the function is convex, so that it nears the root from one side.
const FIRST_EXPONENT: f64 = 1.0;

/// Steps that suffice: far from the root each takes about 1 / ln(cost) off.
const MOST_STEPS: u32 = 1000;

/// The β with which two networks have the same loss at Γ = 1, by Newton's method: equation 3.11. Nothing, if the
/// more expensive network is not the more accurate one, or a cost is below 1.
#[must_use]
pub fn equalising_exponent(expensive: Observation, cheap: Observation) -> Option<f64> {
    let gained = cheap.cross_entropy - expensive.cross_entropy;
    let is_posed = cheap.cost >= 1.0 && expensive.cost > cheap.cost && gained > 0.0;
    if !(is_posed && gained.is_finite() && expensive.cost.is_finite()) {
        return None;
    }
    let mut exponent = FIRST_EXPONENT;
    for _ in 0..MOST_STEPS {
        let powers = [expensive, cheap].map(|network| libm::pow(network.cost, exponent));
        let slope = powers[0] * libm::log(expensive.cost) - powers[1] * libm::log(cheap.cost);
        let step = (powers[0] - powers[1] - gained) / slope;
        if !step.is_finite() {
            return None;
        }
        exponent -= step;
        if step.abs() < 1e-12 {
            return Some(exponent);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponent_that_equalises_table_3_3_is_the_thesis() {
        let [expensive, cheap] = Observation::TABLE_3_3;
        let found = equalising_exponent(expensive, cheap).unwrap();
        assert!((found - 6.64e-2).abs() < 5e-5, "{found}");
        let equal = TradeOff { weight: 1.0, exponent: found };
        let [a, b] = [expensive, cheap].map(|row| equal.loss(row.cross_entropy, row.cost));
        assert!((a - b).abs() < 1e-9, "{a} and {b}");
    }

    #[test]
    fn where_nothing_is_to_equalise_there_is_no_exponent() {
        let [expensive, cheap] = Observation::TABLE_3_3;
        assert_eq!(equalising_exponent(cheap, expensive), None);
        assert_eq!(equalising_exponent(expensive, expensive), None);
        for cost in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(equalising_exponent(expensive, Observation { cost, ..cheap }), None);
            assert_eq!(equalising_exponent(Observation { cost, ..expensive }, cheap), None);
        }
        let certain = Observation { cross_entropy: f64::INFINITY, ..cheap };
        assert_eq!(equalising_exponent(expensive, certain), None);
    }

    #[test]
    fn slopes_are_those_of_the_loss() {
        let trade_off = TradeOff::weighing(0.02);
        for cost in [2.0, 27_648.0, 1e6] {
            let step = cost * 1e-6;
            let [above, below] = [cost + step, cost - step].map(|cost| trade_off.loss(0.5, cost));
            let slope = (above - below) / (2.0 * step);
            assert!((slope / trade_off.slope(cost) - 1.0).abs() < 1e-4, "{cost}");
        }
        assert_eq!(TradeOff::weighing(0.0).loss(0.25, 1e6), 0.25);
        assert_eq!(TradeOff::weighing(0.04).loss(0.25, 0.0), 0.25);
        assert!(trade_off.slope(0.0).is_finite());
    }
}
