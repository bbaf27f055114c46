//! Sums over the samples, and what they say.

use tilewright_report::Agreement;

/// Sums of one tensor's values over the samples.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    signal: f64,
    other: f64,
    product: f64,
    noise: f64,
    largest: f64,
    rows: u64,
    agreeing: u64,
    is_seen: bool,
    /// Whether a value was infinite or no number.
    pub(crate) is_unfit: bool,
}

impl Tally {
    /// Adds values beside those of the opinion; `row` is the length of the last dimension of an
    /// output.
    pub(crate) fn add(&mut self, opinion: &[f32], values: &[f32], row: Option<usize>) {
        self.is_seen = true;
        for (real, value) in opinion.iter().zip(values) {
            let (real, value) = (f64::from(*real), f64::from(*value));
            let difference = value - real;
            self.is_unfit |= !difference.is_finite();
            self.signal += real * real;
            self.other += value * value;
            self.product += real * value;
            self.noise += difference * difference;
            self.largest = self.largest.max(difference.abs());
        }
        let Some(row) = row.filter(|row| *row > 1) else { return };
        for (real, value) in opinion.chunks_exact(row).zip(values.chunks_exact(row)) {
            self.rows += 1;
            self.agreeing += u64::from(largest(real) == largest(value));
        }
    }

    /// What the sums say; nothing if nothing was added or a value was no number.
    pub(crate) fn agreement(&self) -> Option<Agreement> {
        let length = libm::sqrt(self.signal) * libm::sqrt(self.other);
        (self.is_seen && !self.is_unfit).then(|| Agreement {
            sqnr_db: decibels(self.signal, self.noise),
            max_difference: self.largest,
            cosine: (length > 0.0).then(|| (self.product / length).clamp(-1.0, 1.0)),
            top1_agreement: (self.rows > 0).then(|| self.agreeing as f64 / self.rows as f64),
        })
    }
}

/// A ratio of powers in decibels, from −200 to 200; nothing if there is no noise.
pub(crate) fn decibels(signal: f64, noise: f64) -> Option<f64> {
    (noise > 0.0).then(|| match signal > 0.0 {
        true => (10.0 * libm::log10(signal / noise)).clamp(-200.0, 200.0),
        false => -200.0,
    })
}

fn largest(values: &[f32]) -> usize {
    (1..values.len()).fold(0, |best, index| if values[index] > values[best] { index } else { best })
}
