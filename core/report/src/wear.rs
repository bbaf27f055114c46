//! How long a card lasts that a plan writes to (SwapNN, section 5.4).
//!
//! Bytes and write commands are the plan's. Each command may begin and end inside what a card programs at once, which bounds the
//! amplification. Endurance is a range with its source in `boards/cards/`.

use serde::{Deserialize, Serialize};
use tilewright_board::Card;
use tilewright_plan::{Bytes, Micros};

use crate::plan_report::PlanReport;

const DAY_US: f64 = 86_400e6;
const DAYS_A_YEAR: f64 = 365.0;

/// How fast a plan wears a card out. Bytes of a frame are counted, all else is modelled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wear {
    /// The card's class.
    pub card: String,
    /// Its size.
    pub card_bytes: Bytes,
    /// Time from one frame to the next.
    pub period_us: Micros,
    /// Bytes that a frame writes to the card.
    pub frame_written_bytes: f64,
    /// Bytes that a day writes to the card.
    pub day_written_bytes: f64,
    /// Least and most of what the card programs for each byte that it is given; nothing if nothing
    /// is written. Most: each command begins and ends inside of what the card programs at once.
    pub amplification: Option<[f64; 2]>,
    /// Times that a cell can be written, least and most.
    pub cycles: [u32; 2],
    /// Years until the cells have been written so often, least and most; nothing if nothing is
    /// written.
    pub years: Option<[f64; 2]>,
    /// What happens then.
    pub then: String,
    /// Years until half of the cells have failed, where the card's source says how often they can be
    /// written, as if the card programmed no more than it is given.
    pub half_years: Option<f64>,
    /// Where the card's numbers come from.
    pub source: String,
}

impl Wear {
    /// What the frames of `report`, of which one begins every `period`, do to `card`; nothing given:
    /// they follow each other at once, as they do if a period is shorter than a frame takes. Nothing
    /// if the plan has no times or no source says how long the card lasts.
    #[must_use]
    pub fn of(report: &PlanReport, card: &Card, period: Option<Micros>) -> Option<Self> {
        let endurance = card.endurance.as_ref()?;
        let frames = f64::from(report.frames.max(1));
        let frame = report.latency_us?.0 / frames;
        let period = period.map_or(frame, |period| period.0.max(frame));
        let written = report.card_written_bytes.0 as f64 / frames;
        let day = if period > 0.0 { written * DAY_US / period } else { 0.0 };
        let is_written = day > 0.0;
        let partly = 2 * u128::from(endurance.program_bytes) * u128::from(*report.card_writes);
        let most = 1.0 + partly as f64 / (report.card_written_bytes.0 as f64).max(1.0);
        let last = |cycles: u32, amplification: f64| years(card.bytes, cycles, day, amplification);
        let [least, highest] = endurance.cycles;
        Some(Self {
            card: card.id.clone(),
            card_bytes: card.bytes,
            period_us: Micros(period),
            frame_written_bytes: written,
            day_written_bytes: day,
            amplification: is_written.then_some([1.0, most]),
            cycles: endurance.cycles,
            years: is_written.then(|| [last(least, most), last(highest, 1.0)]),
            then: endurance.then.clone(),
            half_years: endurance.half_cycles.filter(|_| is_written).map(|half| last(half, 1.0)),
            source: endurance.source.clone(),
        })
    }
}

/// Years until all cells of a card of this size have been written `cycles` times.
fn years(card: Bytes, cycles: u32, day_bytes: f64, amplification: f64) -> f64 {
    card.0 as f64 * f64::from(cycles) / (day_bytes * amplification) / DAYS_A_YEAR
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::memory_map::MemoryMap;

    fn paper_card() -> Card {
        tilewright_board::find_card("paper-swapnn").unwrap()
    }

    fn report(latency_us: f64, written: u64, writes: u64) -> PlanReport {
        let mut report = fixture::report(&MemoryMap::of(&fixture::plan()));
        report.latency_us = Some(Micros(latency_us).into());
        report.card_written_bytes = Bytes(written).into();
        report.card_writes = writes.into();
        report
    }

    /// The years that section 5.4 prints for a card of 64 GB, from the bytes a day that it prints.
    #[test]
    fn the_papers_years_follow_from_its_bytes_a_day() {
        let printed = [
            ("MobileNet", 123e9, [2.4, 4.5], 7.5),
            ("AlexNet", 2.8e9, [104.0, 200.0], 328.0),
            ("VGG16", 2.0e9, [145.0, 280.0], 460.0),
        ];
        let card = Card { bytes: Bytes(64_000_000_000), ..paper_card() };
        let near = |made: f64, printed: f64| (made / printed - 1.0).abs() < 0.02;
        for (network, day, [first, last], half) in printed {
            // One frame a second, in writes so long that their ends do not matter.
            let wear = Wear::of(&report(1e6, (day / 86_400.0) as u64, 0), &card, None).unwrap();
            let [least, most] = wear.years.unwrap();
            assert!(near(least, first) && near(most, last), "{network}: {wear:?}");
            assert!(near(wear.half_years.unwrap(), half), "{network}: {wear:?}");
        }
    }

    #[test]
    fn a_period_makes_frames_rarer_but_never_faster_than_they_are() {
        let card = paper_card();
        let of = |period: Option<f64>| {
            Wear::of(&report(2e6, 1_000_000, 10), &card, period.map(Micros)).unwrap()
        };
        let at_once = of(None);
        assert_eq!(at_once.day_written_bytes, 1e6 * 43_200.0);
        assert_eq!(of(Some(1.0)), at_once);
        let rare = of(Some(20e6));
        assert!((rare.day_written_bytes * 10.0 - at_once.day_written_bytes).abs() < 1.0);
        assert!(rare.years.unwrap()[0] > 9.9 * at_once.years.unwrap()[0]);
    }

    #[test]
    fn short_writes_are_amplified_and_none_wear_nothing() {
        let card = paper_card();
        let program = card.endurance.as_ref().unwrap().program_bytes;
        let of = |written, writes| Wear::of(&report(1e6, written, writes), &card, None).unwrap();
        let sectors = of(512 * 100, 100);
        assert_eq!(sectors.amplification, Some([1.0, 1.0 + 2.0 * program as f64 / 512.0]));
        assert!(sectors.years.unwrap()[0] < sectors.years.unwrap()[1] / 50.0);
        let none = of(0, 0);
        assert_eq!((none.years, none.half_years, none.amplification), (None, None, None));
        let nothing = Card { endurance: None, ..card };
        assert_eq!(Wear::of(&report(1e6, 1, 1), &nothing, None), None);
    }
}
