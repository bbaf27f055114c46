//! What classes' values say of an image.

/// The cross entropy of an image, and its gradient.
#[derive(Clone, Debug)]
pub(crate) struct Entropy {
    pub loss: f64,
    /// Whether the image's class has the largest value.
    pub is_right: bool,
    /// The gradient by the classes' values.
    pub by_values: Vec<f32>,
}

impl Entropy {
    /// Of the softmax of `values`; `label` is one of them.
    pub fn of(values: &[f32], label: usize) -> Self {
        let most = values.iter().fold(f32::NEG_INFINITY, |most, value| most.max(*value));
        let powers: Vec<f64> =
            values.iter().map(|value| libm::exp(f64::from(*value) - f64::from(most))).collect();
        let sum: f64 = powers.iter().sum();
        let mut by_values: Vec<f32> = powers.iter().map(|power| (power / sum) as f32).collect();
        by_values[label] -= 1.0;
        Self {
            loss: libm::log(sum) + f64::from(most) - f64::from(values[label]),
            is_right: values[label] == most,
            by_values,
        }
    }
}
