//! Least squares of relative errors with coefficients that are not negative.

use tilewright_planner::costs::FEATURES;

/// Sweeps of coordinate descent; it converges long before on five coefficients.
const SWEEPS: usize = 20_000;

/// Thousandths for each unit of each feature, so that the sum of squared relative errors is least.
pub fn coefficients(features: &[[u64; FEATURES]], values: &[u64]) -> [u64; FEATURES] {
    // Rows divided by their value: the fitted sum should be 1.
    let rows: Vec<[f64; FEATURES]> = features
        .iter()
        .zip(values)
        .map(|(row, value)| row.map(|feature| feature as f64 / (*value).max(1) as f64))
        .collect();
    let mut coefficients = [0.0f64; FEATURES];
    let mut residuals = vec![1.0f64; rows.len()];
    for _ in 0..SWEEPS {
        for feature in 0..FEATURES {
            let column = rows.iter().map(|row| row[feature]);
            let square: f64 = column.clone().map(|x| x * x).sum();
            if square == 0.0 {
                continue;
            }
            let gradient: f64 = column.clone().zip(&residuals).map(|(x, r)| x * r).sum();
            let before = coefficients[feature];
            let after = (before + gradient / square).max(0.0);
            coefficients[feature] = after;
            for (x, residual) in column.zip(&mut residuals) {
                *residual -= x * (after - before);
            }
        }
    }
    coefficients.map(|coefficient| (coefficient * 1000.0).round() as u64)
}

/// Largest relative error of the fit, in thousandths.
pub fn worst_permille(
    features: &[[u64; FEATURES]],
    values: &[u64],
    milli: &[u64; FEATURES],
) -> u64 {
    let errors = features.iter().zip(values).map(|(row, value)| {
        let sum: u64 = row.iter().zip(milli).map(|(x, c)| x * c).sum();
        (sum / 1000).abs_diff(*value) * 1000 / (*value).max(1)
    });
    errors.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exact_law_is_found() {
        let features: Vec<[u64; FEATURES]> =
            (1..40).map(|i| [1, i * i % 17 + 1, i, i * 3 % 11 + 1, i * i * 7 + 5]).collect();
        let values: Vec<u64> =
            features.iter().map(|f| 300 + 12 * f[1] + 7 * f[2] + 3 * f[4]).collect();
        let milli = coefficients(&features, &values);
        assert!(worst_permille(&features, &values, &milli) <= 3, "{milli:?}");
    }
}
