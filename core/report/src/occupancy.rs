//! What of a memory is held over time.

mod over_time;

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

/// How bytes came to be where they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Came {
    /// Nothing in the program writes them: they are there from its frame's beginning, or from boot on.
    Given,
    /// A kernel wrote them.
    Computed,
    /// An engine brought them, or they arrived.
    Brought,
}

/// Bytes that one value holds for some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stay {
    /// First byte, counted from the memory's first that the plan may use.
    pub from: u64,
    /// One past the last.
    pub to: u64,
    /// From when on.
    pub since: CyclePoint,
    /// Until when.
    pub until: CyclePoint,
    /// The layer that writes or first reads them: position in the plan's order.
    pub layer: u16,
    /// What for.
    pub held: Held,
    /// How they came.
    pub came: Came,
}

impl Stay {
    /// Number of bytes.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.to - self.from
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

/// What lies where in a memory over time: places are the plan's, times those of a timeline.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Occupancy {
    /// How many bytes are held from when on, which follows from the stays: pages look at it for each drawing.
    changes: Vec<Occupied>,
    stays: Vec<Stay>,
}

impl Occupancy {
    /// Of stays that do not overlap: no byte holds two values at a time.
    #[must_use]
    pub fn of(mut stays: Vec<Stay>) -> Self {
        stays.sort_by_key(|stay| (stay.since, stay.from));
        Self { changes: changes(&stays), stays }
    }

    /// What stays where, in order of time.
    #[must_use]
    pub fn stays(&self) -> &[Stay] {
        &self.stays
    }

    /// How many bytes are held from when on, in order of time; before the first nothing is held.
    #[must_use]
    pub fn changes(&self) -> &[Occupied] {
        &self.changes
    }

    /// The most that is held at once.
    #[must_use]
    pub fn peak(&self) -> u64 {
        self.changes.iter().map(|change| change.bytes.iter().sum()).max().unwrap_or(0)
    }
}

fn changes(stays: &[Stay]) -> Vec<Occupied> {
    let mut events: Vec<(CyclePoint, bool, Stay)> = Vec::with_capacity(2 * stays.len());
    for stay in stays {
        events.extend([(stay.since, true, *stay), (stay.until, false, *stay)]);
    }
    // What is given back at a time goes before what is taken.
    events.sort_by_key(|(at, is_taken, _)| (*at, *is_taken));
    let mut changes: Vec<Occupied> = Vec::new();
    let mut bytes = [0u64; Held::ALL.len()];
    for (at, is_taken, stay) in events {
        let of = &mut bytes[stay.held as usize];
        *of = if is_taken { *of + stay.bytes() } else { of.saturating_sub(stay.bytes()) };
        match changes.last_mut() {
            Some(last) if last.at >= at => last.bytes = bytes,
            _ => changes.push(Occupied { at, bytes }),
        }
    }
    changes.dedup_by_key(|change| change.bytes);
    changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::stay;

    #[test]
    fn what_leaves_goes_before_what_comes_and_what_does_not_change_is_no_change() {
        let occupancy = Occupancy::of(vec![
            stay([0, 9], [5, 7], Held::Weights),
            stay([9, 10], [0, 5], Held::Inputs),
            stay([9, 10], [5, 7], Held::Inputs),
            stay([0, 3], [7, 9], Held::Weights),
        ]);
        let seen: Vec<_> = occupancy.changes().iter().map(|c| (c.at.0, c.bytes)).collect();
        assert_eq!(seen, [(0, [1, 0, 0]), (5, [1, 9, 0]), (7, [0, 3, 0]), (9, [0, 0, 0])]);
        assert_eq!(occupancy.stays()[0].since, CyclePoint(0));
    }
}
