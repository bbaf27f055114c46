//! What of SRAM is held over time.

use serde::{Deserialize, Serialize};
use tilewright_plan::CyclePoint;

/// What bytes are held for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Held {
    /// Activations that a later step reads.
    Inputs,
    /// Weights and constants.
    Weights,
    /// Results that are to leave, or that nothing but the host reads.
    Results,
}

impl Held {
    /// All of them, in the order of [`Occupied::bytes`].
    pub const ALL: [Self; 3] = [Self::Inputs, Self::Weights, Self::Results];

    /// For people.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Inputs => "inputs",
            Self::Weights => "weights",
            Self::Results => "results",
        }
    }
}

/// What is held from a time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Occupied {
    /// From when on.
    pub at: CyclePoint,
    /// Bytes, one entry for each of [`Held::ALL`].
    pub bytes: [u64; 3],
}

/// What of SRAM is held over time: bytes counted, times those of a timeline.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Occupancy {
    changes: Vec<Occupied>,
}

impl Occupancy {
    /// Notes what is held from `at` on, which is not before what was noted last.
    pub fn note(&mut self, at: CyclePoint, bytes: [u64; 3]) {
        match self.changes.last_mut() {
            Some(last) if last.at >= at => last.bytes = bytes,
            Some(last) if last.bytes == bytes => {}
            _ => self.changes.push(Occupied { at, bytes }),
        }
    }

    /// The changes, in order of time; before the first nothing is held.
    #[must_use]
    pub fn changes(&self) -> &[Occupied] {
        &self.changes
    }

    /// The most that is held at once.
    #[must_use]
    pub fn peak(&self) -> u64 {
        self.changes.iter().map(|change| change.bytes.iter().sum()).max().unwrap_or(0)
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.changes = Vec::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_noted_last_of_a_time_counts() {
        let mut occupancy = Occupancy::default();
        occupancy.note(CyclePoint(0), [1, 0, 0]);
        occupancy.note(CyclePoint(5), [1, 0, 0]);
        occupancy.note(CyclePoint(7), [9, 9, 9]);
        occupancy.note(CyclePoint(7), [2, 3, 0]);
        let seen: Vec<_> = occupancy.changes().iter().map(|c| (c.at.0, c.bytes)).collect();
        assert_eq!(seen, [(0, [1, 0, 0]), (7, [2, 3, 0])]);
        assert_eq!(occupancy.peak(), 5);
    }
}
