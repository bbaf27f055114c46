//! What of SRAM is held over time, in every size: the most of each pixel.

use tilewright_plan::{CyclePoint, Hertz};
use tilewright_report::{Held, Occupancy};

use super::Window;
use crate::view_model::figures;

/// How many changes, or groups, a group joins.
const EACH: usize = 8;

/// Bytes for each of [`Held::ALL`].
pub type Parts = [u64; Held::ALL.len()];

/// What of SRAM is held over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeldBytes {
    at_us: Vec<f64>,
    bytes: Vec<Parts>,
    /// For each group of changes the one that holds most; groups of groups above.
    most: Vec<Vec<u32>>,
    /// The most that is held at once.
    pub peak: u64,
}

impl HeldBytes {
    /// On the axis of a clock.
    #[must_use]
    pub fn of(occupancy: &Occupancy, clock: Hertz) -> Self {
        let changes = occupancy.changes();
        let micros = |at: CyclePoint| at.since(CyclePoint(0)).at(clock).0;
        let mut held = Self {
            at_us: changes.iter().map(|change| micros(change.at)).collect(),
            bytes: changes.iter().map(|change| change.bytes).collect(),
            most: Vec::new(),
            peak: changes.iter().map(|change| change.bytes.iter().sum()).max().unwrap_or(0),
        };
        let mut below: Vec<u32> = (0..changes.len() as u32).collect();
        while below.len() > 1 {
            let joined: Vec<u32> = below.chunks(EACH).map(|group| held.largest(group)).collect();
            held.most.push(joined.clone());
            below = joined;
        }
        held
    }

    /// Whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.at_us.is_empty()
    }

    fn largest(&self, members: &[u32]) -> u32 {
        let total = |index: &&u32| self.bytes[**index as usize].iter().sum::<u64>();
        members.iter().max_by_key(total).copied().unwrap_or(0)
    }

    /// What is held at a time.
    #[must_use]
    pub fn at(&self, at_us: f64) -> Parts {
        let next = self.at_us.partition_point(|at| *at <= at_us);
        next.checked_sub(1).map_or(Parts::default(), |index| self.bytes[index])
    }

    /// For each of `pixels` pixels of a window what is held when most is.
    #[must_use]
    pub fn columns(&self, window: Window, pixels: usize) -> Vec<Parts> {
        let pixel = window.length() / pixels.max(1) as f64;
        let mut first = self.at_us.partition_point(|at| *at <= window.from_us);
        (0..pixels)
            .map(|index| {
                let to_us = window.from_us + (index + 1) as f64 * pixel;
                let count = self.at_us[first..].partition_point(|at| *at < to_us);
                // What was held before still is when the pixel begins.
                let most = self.most_of(first.saturating_sub(1), first + count);
                first += count;
                most.filter(|index| self.at_us[*index] < to_us)
                    .map_or(Parts::default(), |index| self.bytes[index])
            })
            .collect()
    }

    /// Of the changes from `first` to before `end` the one that holds most.
    fn most_of(&self, mut first: usize, mut end: usize) -> Option<usize> {
        let mut found: Vec<u32> = Vec::new();
        let mut level = 0;
        let member = |level: usize, index: usize| match usize::checked_sub(level, 1) {
            None => index as u32,
            Some(above) => self.most[above][index],
        };
        // Whole groups are taken on the level above; what is left over at both ends here.
        while first < end {
            let is_top = level >= self.most.len();
            while first < end && (is_top || !first.is_multiple_of(EACH)) {
                found.push(member(level, first));
                first += 1;
            }
            while first < end && !end.is_multiple_of(EACH) {
                end -= 1;
                found.push(member(level, end));
            }
            (first, end, level) = (first / EACH, end / EACH, level + 1);
        }
        (!found.is_empty()).then(|| self.largest(&found) as usize)
    }

    /// What is held at a time, in words.
    #[must_use]
    pub fn words(&self, at_us: f64) -> String {
        let parts = self.at(at_us);
        let part = |(held, bytes): (Held, u64)| {
            (bytes > 0).then(|| format!("{} {}", held.words(), figures::bytes(bytes)))
        };
        let parts: Vec<String> = Held::ALL.into_iter().zip(parts).filter_map(part).collect();
        if parts.is_empty() { "nothing is held".to_owned() } else { parts.join(", ") }
    }
}

#[cfg(test)]
mod tests {
    use tilewright_report::{Came, Stay};

    use super::*;

    /// Changes at irregular times, from a generator: the same each time.
    fn many(count: u64) -> HeldBytes {
        let mut stays = Vec::new();
        let (mut state, mut at) = (7u32, 0u64);
        let mut next = |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            u64::from((state >> 8) % below)
        };
        for _ in 0..count {
            at += 1 + next(50);
            let (from, bytes, held) = (1_000 * next(9), 1 + next(1_000), next(3));
            stays.push(Stay {
                from,
                to: from + bytes,
                since: CyclePoint(at),
                until: CyclePoint(at + 1 + next(200)),
                layer: 0,
                held: Held::ALL[held as usize],
                came: Came::Computed,
            });
        }
        HeldBytes::of(&Occupancy::of(stays), Hertz(1_000_000))
    }

    fn slowly(held: &HeldBytes, from: f64, to: f64) -> u64 {
        let inside = held.at_us.iter().zip(&held.bytes).filter(|(at, _)| **at > from && **at < to);
        let inside = inside.map(|(_, bytes)| bytes.iter().sum()).max().unwrap_or(0);
        inside.max(held.at(from).iter().sum())
    }

    #[test]
    fn each_pixel_has_the_most_of_its_time() {
        let held = many(5_000);
        let end = *held.at_us.last().unwrap();
        for (from_us, to_us) in [(0.0, end), (end * 0.3, end * 0.31), (end * 0.9, end * 1.13)] {
            let window = Window { from_us, to_us };
            let pixel = window.length() / 200.0;
            for (index, parts) in held.columns(window, 200).into_iter().enumerate() {
                let from = from_us + index as f64 * pixel;
                let (is, should) = (parts.iter().sum::<u64>(), slowly(&held, from, from + pixel));
                assert_eq!(is, should, "pixel {index} of {window:?}");
            }
        }
        assert_eq!(held.columns(Window::all(end), 1)[0].iter().sum::<u64>(), held.peak);
    }

    #[test]
    fn before_the_first_change_nothing_is_held() {
        let held = many(3);
        assert_eq!(held.at(-1.0), Parts::default());
        assert_eq!(held.words(-1.0), "nothing is held");
        let words: Vec<_> = held.at_us.iter().map(|at| held.words(*at)).collect();
        assert!(words.iter().any(|words| words.contains("results")), "{words:?}");
        assert!(
            HeldBytes::default().columns(Window::all(1.0), 4).iter().flatten().all(|b| *b == 0)
        );
    }
}
