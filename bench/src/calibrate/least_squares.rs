//! Least squares of relative errors with coefficients that are not negative.

/// Sweeps of coordinate descent; features that grow together need many.
const SWEEPS: usize = 200_000;
/// The same from what is nearly best.
const FEW_SWEEPS: usize = 5_000;
/// A sweep that moves no coefficient by more than this, in units of the feature, is the last.
const STILL: f64 = 1e-7;

/// How much errors may grow without the features that are left out, as a multiple of what they are with all of them.
const GROWS: f64 = 1.25;
/// Errors up to which features are left out in any case, in thousandths: the root of the mean square, and the largest.
const MEAN_PERMILLE: f64 = 8.0;
const LARGEST_PERMILLE: f64 = 30.0;

/// Thousandths for each unit of each feature, so that the sum of squared relative errors is least: of as few
/// features as explain the values about as well as all of them. All rows of `features` are equally long.
pub fn coefficients(features: &[Vec<u64>], values: &[u64]) -> Vec<u64> {
    part_of(features, values, values)
}

/// The same of values that are a part of `wholes`: errors are relative to these.
pub fn part_of(features: &[Vec<u64>], values: &[u64], wholes: &[u64]) -> Vec<u64> {
    let problem = Problem::of(features, values, wholes);
    let all: Vec<usize> = (0..problem.columns.len()).collect();
    let mut best = problem.fitted(&vec![0.0; all.len()], &all, SWEEPS);
    let [mean, largest] = problem.errors(&best);
    let most = [(mean, MEAN_PERMILLE), (largest, LARGEST_PERMILLE)]
        .map(|(error, least)| (error * GROWS).max(least / 1e3));
    loop {
        let used: Vec<usize> = all.iter().copied().filter(|feature| best[*feature] > 0.0).collect();
        let without = used.iter().map(|feature| {
            let others: Vec<usize> = used.iter().copied().filter(|used| used != feature).collect();
            let fitted = problem.fitted(&best, &others, FEW_SWEEPS);
            (problem.errors(&fitted), fitted)
        });
        let next = without.min_by(|([a, _], _), ([b, _], _)| a.total_cmp(b));
        match next {
            Some(([mean, largest], fitted)) if mean <= most[0] && largest <= most[1] => {
                best = fitted
            }
            _ => break,
        }
    }
    best.into_iter().map(|coefficient| (coefficient * 1000.0).round() as u64).collect()
}

/// Features and values as parts of the whole.
struct Problem {
    columns: Vec<Vec<f64>>,
    parts: Vec<f64>,
    /// Products of all pairs of columns, and of each with the values: a step needs no more of the rows.
    products: Vec<Vec<f64>>,
    own: Vec<f64>,
}

impl Problem {
    fn of(features: &[Vec<u64>], values: &[u64], wholes: &[u64]) -> Self {
        let count = features.first().map_or(0, Vec::len);
        let share = |value: u64, whole: u64| value as f64 / whole.max(1) as f64;
        let columns: Vec<Vec<f64>> = (0..count)
            .map(|feature| {
                let rows = features.iter().zip(wholes);
                rows.map(|(row, whole)| share(row[feature], *whole)).collect()
            })
            .collect();
        let parts: Vec<f64> = values.iter().zip(wholes).map(|(v, w)| share(*v, *w)).collect();
        let products =
            columns.iter().map(|a| columns.iter().map(|b| dot(a, b)).collect()).collect();
        let own = columns.iter().map(|column| dot(column, &parts)).collect();
        Self { columns, parts, products, own }
    }

    /// The best coefficients of these features, found from others in so many sweeps.
    fn fitted(&self, start: &[f64], used: &[usize], sweeps: usize) -> Vec<f64> {
        let mut coefficients = vec![0.0f64; start.len()];
        used.iter().for_each(|feature| coefficients[*feature] = start[*feature]);
        // What each column still has in common with the rest that is not explained.
        let mut left = self.own.clone();
        for feature in used {
            for (left, product) in left.iter_mut().zip(&self.products[*feature]) {
                *left -= product * coefficients[*feature];
            }
        }
        for _ in 0..sweeps {
            let mut moved = 0.0f64;
            for feature in used {
                let products = &self.products[*feature];
                let square = products[*feature];
                if square == 0.0 {
                    continue;
                }
                let before = coefficients[*feature];
                let after = (before + left[*feature] / square).max(0.0);
                let change = after - before;
                coefficients[*feature] = after;
                moved = moved.max(change.abs());
                for (left, product) in left.iter_mut().zip(products) {
                    *left -= product * change;
                }
            }
            if moved < STILL {
                break;
            }
        }
        coefficients
    }

    /// The root of the mean square of the errors, and the largest.
    fn errors(&self, coefficients: &[f64]) -> [f64; 2] {
        let errors: Vec<f64> = self
            .parts
            .iter()
            .enumerate()
            .map(|(row, part)| {
                let found =
                    self.columns.iter().zip(coefficients).map(|(column, c)| column[row] * c);
                (found.sum::<f64>() - part).abs()
            })
            .collect();
        let mean = dot(&errors, &errors) / errors.len().max(1) as f64;
        [mean.sqrt(), errors.into_iter().fold(0.0, f64::max)]
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exact_law_is_found_of_what_counts() {
        let features: Vec<Vec<u64>> =
            (1..40).map(|i| vec![1, i * i % 17 + 1, i, i * 3 % 11 + 1, i * i * 7 + 5]).collect();
        let found = |law: [u64; 5]| {
            let value = |row: &Vec<u64>| row.iter().zip(law).map(|(x, c)| x * c).sum::<u64>();
            let values: Vec<u64> = features.iter().map(value).collect();
            coefficients(&features, &values)
        };
        let law = [300, 40, 30, 0, 3];
        for (found, meant) in found(law).into_iter().zip(law) {
            assert!(found.abs_diff(meant * 1000) <= 50, "{found} for {meant}");
        }
        // What adds a thousandth or two to each value has no coefficient.
        assert_eq!(found([3000, 0, 0, 1, 30])[3], 0);
    }
}
