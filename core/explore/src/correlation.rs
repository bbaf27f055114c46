//! Rank correlations of Spearman (1904) and Kendall (1945, with ties: tau-b).

/// Two figures of one thing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// What is to predict.
    pub of: f64,
    /// What it is to predict.
    pub with: f64,
}

/// Pairs of things by how both figures order them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// Both figures order them alike.
    pub alike: u64,
    /// The figures order them in opposite ways.
    pub opposite: u64,
    /// Equal in what is to predict alone.
    pub tied_of: u64,
    /// Equal in what is to be predicted alone.
    pub tied_with: u64,
}

impl Order {
    /// Of all pairs of things.
    #[must_use]
    pub fn of(pairs: &[Pair]) -> Self {
        let mut order = Self::default();
        for (index, one) in pairs.iter().enumerate() {
            for other in &pairs[index + 1..] {
                let (of, with) = (one.of.total_cmp(&other.of), one.with.total_cmp(&other.with));
                match (of.is_eq(), with.is_eq()) {
                    (true, true) => {}
                    (true, false) => order.tied_of += 1,
                    (false, true) => order.tied_with += 1,
                    (false, false) if of == with => order.alike += 1,
                    (false, false) => order.opposite += 1,
                }
            }
        }
        order
    }

    /// Kendall's tau-b; nothing if one of both figures is the same everywhere.
    #[must_use]
    pub fn kendall(&self) -> Option<f64> {
        let decided = self.alike + self.opposite;
        let root = libm::sqrt((decided + self.tied_of) as f64 * (decided + self.tied_with) as f64);
        (root > 0.0).then(|| (self.alike as f64 - self.opposite as f64) / root)
    }

    /// Of the pairs that differ in both figures, the part that both order alike.
    #[must_use]
    pub fn in_order(&self) -> Option<f64> {
        let decided = self.alike + self.opposite;
        (decided > 0).then(|| self.alike as f64 / decided as f64)
    }
}

/// The places of values in ascending order, from 1 on; equals share the mean of theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    for equals in order.chunk_by(|a, b| values[*a].total_cmp(&values[*b]).is_eq()) {
        let before = order.partition_point(|at| values[*at].total_cmp(&values[equals[0]]).is_lt());
        let mean = before as f64 + (equals.len() as f64 + 1.0) / 2.0;
        equals.iter().for_each(|at| ranks[*at] = mean);
    }
    ranks
}

/// Spearman's rank correlation: Pearson's of the ranks, where equals share the mean of theirs. Nothing if one of both
/// figures is the same everywhere.
#[must_use]
pub fn spearman(pairs: &[Pair]) -> Option<f64> {
    let of = ranks(&pairs.iter().map(|pair| pair.of).collect::<Vec<_>>());
    let with = ranks(&pairs.iter().map(|pair| pair.with).collect::<Vec<_>>());
    let mean = (pairs.len() as f64 + 1.0) / 2.0;
    let product = |a: &[f64], b: &[f64]| -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean)).sum()
    };
    let root = libm::sqrt(product(&of, &of) * product(&with, &with));
    (root > 0.0).then(|| product(&of, &with) / root)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(of: &[f64], with: &[f64]) -> Vec<Pair> {
        of.iter().zip(with).map(|(of, with)| Pair { of: *of, with: *with }).collect()
    }

    fn near(found: Option<f64>, expected: f64) {
        let found = found.unwrap();
        assert!((found - expected).abs() < 1e-12, "{found} instead of {expected}");
    }

    #[test]
    fn orders_that_are_the_same_or_opposite_have_one_or_minus_one() {
        let same = pairs(&[1.0, 5.0, 9.0, 10.0], &[2.0, 3.0, 50.0, 51.0]);
        near(spearman(&same), 1.0);
        near(Order::of(&same).kendall(), 1.0);
        near(Order::of(&same).in_order(), 1.0);
        let opposite = pairs(&[1.0, 5.0, 9.0], &[-2.0, -3.0, -50.0]);
        near(spearman(&opposite), -1.0);
        near(Order::of(&opposite).kendall(), -1.0);
        near(Order::of(&opposite).in_order(), 0.0);
    }

    #[test]
    fn values_without_ties_are_those_computed_by_hand() {
        // Four ranks differ by one: 1 - 6 · 4 / (5 · 24).
        let five = pairs(&[1.0, 2.0, 3.0, 4.0, 5.0], &[1.0, 3.0, 2.0, 6.0, 4.5]);
        near(spearman(&five), 0.8);
        // Two of ten pairs are opposite.
        near(Order::of(&five).kendall(), 0.6);
        near(Order::of(&five).in_order(), 0.8);
    }

    #[test]
    fn ties_are_those_computed_by_hand() {
        assert_eq!(ranks(&[7.0, 3.0, 7.0, 1.0]), [3.5, 2.0, 3.5, 1.0]);
        let four = pairs(&[1.0, 2.0, 2.0, 3.0], &[1.0, 2.0, 3.0, 3.0]);
        // Ranks 1, 2.5, 2.5, 4 and 1, 2, 3.5, 3.5, less 2.5: 3.75 / sqrt(4.5 · 4.5).
        near(spearman(&four), 3.75 / 4.5);
        let order = Order::of(&four);
        assert_eq!(order, Order { alike: 4, opposite: 0, tied_of: 1, tied_with: 1 });
        near(order.kendall(), 4.0 / 5.0);
        let three = pairs(&[1.0, 1.0, 2.0], &[3.0, 2.0, 1.0]);
        // Ranks 1.5, 1.5, 3 and 3, 2, 1, less 2: -1.5 / sqrt(1.5 · 2).
        near(spearman(&three), -1.5 / libm::sqrt(3.0));
        near(Order::of(&three).kendall(), -2.0 / libm::sqrt(6.0));
    }

    #[test]
    fn what_orders_nothing_has_no_correlation() {
        for (of, with) in [(&[][..], &[][..]), (&[1.0], &[2.0]), (&[1.0, 1.0], &[2.0, 3.0])] {
            let pairs = pairs(of, with);
            assert_eq!(spearman(&pairs), None);
            assert_eq!(Order::of(&pairs).kendall(), None);
            assert_eq!(Order::of(&pairs).in_order(), None);
        }
    }
}
