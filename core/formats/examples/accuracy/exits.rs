//! A model's outputs as exits: the first whose top-1 probability is above a threshold answers, else
//! the last.

use super::{Outputs, largest};

const THRESHOLDS: [f32; 7] = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99];

/// Accuracy, and the share of inputs that each output answers, one line for each threshold.
pub fn print(outputs: &Outputs, labels: &[usize]) {
    let part = |count: usize| format!("{:.2} %", 100.0 * count as f64 / labels.len() as f64);
    for threshold in THRESHOLDS {
        let (mut right, mut answered) = (0, vec![0; outputs.len()]);
        for (input, label) in labels.iter().enumerate() {
            let is_sure = |at: &usize| outputs[*at][input].iter().any(|value| *value > threshold);
            let at = (0..outputs.len() - 1).find(is_sure).unwrap_or(outputs.len() - 1);
            answered[at] += 1;
            right += usize::from(largest(&outputs[at][input]) == Some(*label));
        }
        let shares: Vec<String> = answered.into_iter().map(part).collect();
        println!(
            "  threshold {threshold:<4}  accuracy {}, answered {}",
            part(right),
            shares.join(", ")
        );
    }
}
