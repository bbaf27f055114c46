//! Memory of plans whose tensors lie outside: SRAM holds buffers, whose contents change over time.

use tilewright_plan::{CyclePoint, Space};
use tilewright_report::{Held, Pool};

use crate::message::PlanFacts;
use crate::view_model::figures;
use crate::view_model::timeline::{HeldBytes, Window};

/// A stretch of SRAM over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Band {
    /// First byte, one past the last.
    pub bytes: [u64; 2],
    /// What it is, in words; empty of SRAM that is not split.
    pub title: String,
    /// What of [`Held::ALL`] it holds, in the order in which that is stacked.
    pub holds: Vec<Held>,
}

/// What buffers hold over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffers {
    /// All of SRAM that is used, from its first byte on.
    pub bands: Vec<Band>,
    /// What is held when.
    pub held: HeldBytes,
    /// All of the time.
    pub window: Window,
    /// What is drawn.
    pub title: String,
}

/// What buffers hold; nothing of plans whose tensors lie in SRAM, or of which nothing is known.
#[must_use]
pub fn buffers(plan: &PlanFacts) -> Option<Buffers> {
    if !is_buffered(plan) {
        return None;
    }
    let timeline = &plan.timeline;
    let held = HeldBytes::of(&plan.occupancy, timeline.clock_hz);
    let end = timeline.end().since(CyclePoint(0)).at(timeline.clock_hz);
    let arena = plan.memory.arena_bytes.0;
    let mut first = 0;
    let mut bands: Vec<Band> = plan
        .report
        .pools
        .iter()
        .map(|pool| {
            let bytes = [first, first + pool.bytes.0];
            first = bytes[1];
            Band { bytes, title: pool_words(pool), holds: vec![pool.held] }
        })
        .collect();
    let title = match bands.len() {
        0 => {
            bands.push(Band { bytes: [0, arena], title: String::new(), holds: Held::ALL.into() });
            "SRAM over time: what it holds, at each moment"
        }
        _ => "SRAM over time: pools of buffers, and what of each is taken",
    };
    Some(Buffers { bands, held, window: Window::all(end.0), title: title.to_owned() })
}

/// Whether SRAM holds buffers instead of tensors.
pub fn is_buffered(plan: &PlanFacts) -> bool {
    let has_tensors = plan.tensors.iter().any(|tensor| tensor.space == Space::Arena);
    plan.memory.space == Space::Arena && !has_tensors && !plan.occupancy.changes().is_empty()
}

fn pool_words(pool: &Pool) -> String {
    let each = figures::binary(pool.bytes.0 / u64::from(pool.buffers.max(1)));
    let all = figures::binary(pool.bytes.0);
    match pool.buffers {
        1 => format!("{}: 1 buffer of {each}", pool.held.words()),
        many => format!("{}: {many} buffers of {each}, {all}", pool.held.words()),
    }
}

impl Buffers {
    /// What is held at a share of the time, in words.
    #[must_use]
    pub fn words(&self, share: f64) -> String {
        let at = self.window.from_us + share.clamp(0.0, 1.0) * self.window.length();
        format!("SRAM at {}: {}.", figures::duration(at), self.held.words(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view_model::fixture;
    use tilewright_plan::Bytes;
    use tilewright_report::Occupancy;

    fn swapped(pools: &[(Held, u32, u64)]) -> PlanFacts {
        let mut plan = fixture::plan();
        for tensor in &mut plan.tensors {
            tensor.space = Space::Card;
        }
        let mut occupancy = Occupancy::default();
        occupancy.note(CyclePoint(0), [16, 0, 0]);
        occupancy.note(CyclePoint(10), [16, 32, 16]);
        plan.occupancy = occupancy;
        let pool = |(held, buffers, bytes): &(Held, u32, u64)| Pool {
            held: *held,
            buffers: *buffers,
            bytes: Bytes(*bytes),
        };
        plan.report.pools = pools.iter().map(pool).collect();
        plan
    }

    #[test]
    fn pools_lie_one_above_the_other_and_say_how_many_buffers_they_have() {
        let pools = [(Held::Inputs, 1, 16), (Held::Weights, 2, 32), (Held::Results, 1, 16)];
        let buffers = buffers(&swapped(&pools)).unwrap();
        let places: Vec<_> = buffers.bands.iter().map(|band| band.bytes).collect();
        assert_eq!(places, [[0, 16], [16, 48], [48, 64]]);
        assert_eq!(buffers.bands[0].title, "inputs: 1 buffer of 16 B");
        assert_eq!(buffers.bands[1].title, "weights: 2 buffers of 16 B, 32 B");
        assert!(buffers.words(1.0).contains("weights 32 B"), "{}", buffers.words(1.0));
    }

    #[test]
    fn sram_that_is_not_split_is_one_band_and_tensors_have_none() {
        let whole = buffers(&swapped(&[])).unwrap();
        assert_eq!(whole.bands.len(), 1);
        assert_eq!(whole.bands[0].holds, Held::ALL);
        assert_eq!(buffers(&fixture::plan()), None);
    }
}
