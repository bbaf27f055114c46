//! Least squares of relative errors with coefficients that are not negative.

/// Sweeps of coordinate descent; features that grow together need many.
const SWEEPS: usize = 200_000;
/// A sweep that moves no coefficient by more than this, in units of the feature, is the last.
const STILL: f64 = 1e-7;

/// Thousandths for each unit of each feature, so that the sum of squared relative errors is least.
/// All rows of `features` are equally long.
pub fn coefficients(features: &[Vec<u64>], values: &[u64]) -> Vec<u64> {
    part_of(features, values, values)
}

/// The same of values that are a part of `wholes`: errors are relative to these.
pub fn part_of(features: &[Vec<u64>], values: &[u64], wholes: &[u64]) -> Vec<u64> {
    let count = features.first().map_or(0, Vec::len);
    let share = |value: u64, whole: u64| value as f64 / whole.max(1) as f64;
    // Columns divided by the whole; they should sum up to these parts of it.
    let columns: Vec<Vec<f64>> = (0..count)
        .map(|feature| {
            let rows = features.iter().zip(wholes);
            rows.map(|(row, whole)| share(row[feature], *whole)).collect()
        })
        .collect();
    let parts: Vec<f64> = values.iter().zip(wholes).map(|(v, w)| share(*v, *w)).collect();
    // Products of all pairs of columns: a step needs no more of the rows.
    let products: Vec<Vec<f64>> =
        columns.iter().map(|a| columns.iter().map(|b| dot(a, b)).collect()).collect();
    // What each column still has in common with the rest that is not explained.
    let mut left: Vec<f64> = columns.iter().map(|column| dot(column, &parts)).collect();
    let mut coefficients = vec![0.0f64; count];
    for _ in 0..SWEEPS {
        let mut moved = 0.0f64;
        for (feature, products) in products.iter().enumerate() {
            let square = products[feature];
            if square == 0.0 {
                continue;
            }
            let before = coefficients[feature];
            let after = (before + left[feature] / square).max(0.0);
            let change = after - before;
            coefficients[feature] = after;
            moved = moved.max(change.abs());
            for (left, product) in left.iter_mut().zip(products) {
                *left -= product * change;
            }
        }
        if moved < STILL {
            break;
        }
    }
    coefficients.into_iter().map(|coefficient| (coefficient * 1000.0).round() as u64).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exact_law_is_found() {
        let features: Vec<Vec<u64>> =
            (1..40).map(|i| vec![1, i * i % 17 + 1, i, i * 3 % 11 + 1, i * i * 7 + 5]).collect();
        let law = [300, 12, 7, 0, 3];
        let value = |row: &Vec<u64>| row.iter().zip(law).map(|(x, c)| x * c).sum::<u64>();
        let values: Vec<u64> = features.iter().map(value).collect();
        let milli = coefficients(&features, &values);
        for (found, meant) in milli.into_iter().zip(law) {
            assert!(found.abs_diff(meant * 1000) <= 50, "{found} for {meant}");
        }
    }
}
