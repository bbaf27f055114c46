//! What a schedule is made with, and its figures.

use tilewright_board::Board;
use tilewright_report::{Kind, sentence};

use super::figures;
use super::overview::Fact;
use crate::message::{Integrity, PlanFacts, PlanSettings};

pub use super::fragment::MOST_FRAMES;

/// Least and most of what can be moved.
pub type Range = (u64, u64);

/// What can be moved of a schedule, for a strategy on a board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Movable {
    /// Clock in hertz, and its range.
    pub clock: (u64, Range),
    /// Bytes of a buffer, of strategies with buffers of one size.
    pub buffer: Option<(u64, Range)>,
    /// Bytes a second that the card reads at, of strategies that use it.
    pub card: Option<(u64, Range)>,
}

/// The strategy with buffers of one size on a card.
const SWAP: &str = "swap";
/// Buffers that `swap` has at least: the largest is a quarter of SRAM.
const FEWEST_BUFFERS: u64 = 4;
/// Fewer frames in a unit of time are told of a longer one.
const LEAST_RATE: f64 = 0.1;

/// What can be moved with these settings; `uses_card`: whether the shown plan does.
#[must_use]
pub fn movable(settings: &PlanSettings, board: &Board, uses_card: bool) -> Movable {
    let own = board.core.clock.hertz.0;
    let clock = (settings.clock_hz.unwrap_or(own), (8_000_000, own.max(480_000_000)));
    let swaps = settings.strategy == SWAP;
    let sram = settings.sram_bytes.map_or(board.arena().0, |sram| sram.min(board.arena().0));
    let largest = (sram / FEWEST_BUFFERS).max(1);
    let buffer = settings.buffer_bytes.unwrap_or(largest).min(largest);
    let card = settings.card(board).filter(|_| swaps || uses_card).map(|card| {
        let most = board.slot.as_ref().map_or(u64::MAX, |slot| slot.bytes_per_second);
        let most = most.clamp(1_000_000, 100_000_000);
        (card.read.bytes_per_second.min(most), (250_000, most))
    });
    Movable { clock, buffer: swaps.then_some((buffer, (1_024.min(largest), largest))), card }
}

/// The figures of a schedule.
#[must_use]
pub fn facts(plan: &PlanFacts) -> Vec<Fact> {
    let report = &plan.report;
    let frames = report.frames.max(1);
    let mut facts = Vec::new();
    let Some(latency) = report.latency_us else { return facts };
    let all = if frames > 1 { format!("of {frames} frames") } else { String::new() };
    facts.push(Fact {
        title: "Time",
        id: "time",
        value: figures::duration(latency.0),
        detail: match report.bound_us {
            Some(bound) if bound.0 < latency.0 => {
                let bound = figures::duration(bound.0);
                if all.is_empty() {
                    format!("none below {bound}")
                } else {
                    format!("{all}; none below {bound}")
                }
            }
            _ => all,
        },
        kind: latency.kind(),
    });
    if frames > 1 {
        let second = f64::from(frames) / latency.0 * 1e6;
        // What takes minutes a frame is counted by the hour, not told as 0.00 a second.
        let units = [("Frames a second", 1.0), ("Frames a minute", 60.0)];
        let (title, times) = units
            .into_iter()
            .find(|(_, times)| second * times >= LEAST_RATE)
            .unwrap_or(("Frames an hour", 3600.0));
        let rate = second * times;
        facts.push(Fact {
            title,
            id: "rate",
            value: figures::fixed(rate, if rate < 10.0 { 2 } else { 1 }),
            detail: "fill and drain included".to_owned(),
            kind: latency.kind(),
        });
    }
    let share = |micros: f64| format!("{} of the time", figures::percent(micros, latency.0));
    let times = [
        ("The core computes", "compute", report.compute_us),
        ("Engines copy", "transfer", report.transfer_us),
        ("The core waits", "stall", report.stall_us),
    ];
    for (title, id, time) in times {
        let Some(time) = time else { continue };
        let (value, detail) = (figures::duration(time.0), share(time.0));
        facts.push(Fact { title, id, value, detail, kind: time.kind() });
    }
    let to_card = match (report.written_bytes.0, report.card_written_bytes.0) {
        (0, _) => String::new(),
        (all, card) if all == card => "; all to the card".to_owned(),
        (_, 0) => "; to external RAM".to_owned(),
        (_, card) => format!("; {} of it to the card", figures::binary(card)),
    };
    let moved = [
        ("Read outside of the chip", "read", report.read_bytes, ""),
        ("Written outside of the chip", "written", report.written_bytes, &*to_card),
    ];
    for (title, id, bytes, more) in moved {
        let (value, detail) = (figures::binary(bytes.0), figures::bytes(bytes.0) + more);
        facts.push(Fact { title, id, value, detail, kind: bytes.kind() });
    }
    if let Some(checks) = &plan.checks {
        let [title, each] = match plan.settings.integrity {
            Integrity::Sealed => ["Encrypted", "tags"],
            _ => ["Checked", "checksums"],
        };
        let [stored, kept] = [checks.stored, checks.kept].map(figures::grouped);
        let (value, detail) =
            (figures::binary(checks.bytes), format!("{stored} {each} in flash, {kept} in SRAM"));
        facts.push(Fact { title, id: "checked", value, detail, kind: Kind::Counted });
        let (value, detail) = (figures::duration(checks.core_us), share(checks.core_us));
        facts.push(Fact {
            title: "The core for that",
            id: "checking",
            value,
            detail,
            kind: Kind::Modelled,
        });
    }
    facts
}

/// Why there is nothing to see; nothing if there is.
#[must_use]
pub fn nothing(plan: &PlanFacts) -> Option<String> {
    if !plan.timeline.slices.is_empty() {
        return None;
    }
    Some(match plan.report.no_program() {
        Some(why) => format!("There is no schedule: {}", sentence(&why.what)),
        None => "There is no schedule: the plan does not fit. The overview says what would help."
            .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view_model::fixture;

    #[test]
    fn buffers_and_card_move_only_where_they_are_used() {
        let (board, settings) = (fixture::board(), fixture::settings());
        let resident = movable(&settings, &board, false);
        assert_eq!((resident.buffer, resident.card), (None, None));
        assert_eq!(resident.clock.0, board.core.clock.hertz.0);
        let swap = PlanSettings {
            strategy: "swap".to_owned(),
            sram_bytes: Some(65_536),
            buffer_bytes: Some(1 << 30),
            ..settings
        };
        let swap = movable(&swap, &board, false);
        assert_eq!(swap.buffer, Some((16_384, (1_024, 16_384))));
        let (rate, (least, most)) = swap.card.unwrap();
        assert!(least <= rate && rate <= most && most <= 24_000_000);
    }

    /// VGG16 of the paper takes eleven minutes a frame.
    #[test]
    fn slow_frames_are_counted_by_the_hour() {
        let mut plan = fixture::plan();
        plan.report.frames = 10;
        let mut rate = |seconds: f64| {
            plan.report.latency_us = Some(tilewright_plan::Micros(10.0 * seconds * 1e6).into());
            let facts = facts(&plan);
            let rate = facts.iter().find(|fact| fact.id == "rate").unwrap();
            (rate.title, rate.value.clone())
        };
        assert_eq!(rate(0.25), ("Frames a second", "4.00".to_owned()));
        assert_eq!(rate(30.0), ("Frames a minute", "2.00".to_owned()));
        assert_eq!(rate(720.0), ("Frames an hour", "5.00".to_owned()));
    }

    #[test]
    fn what_is_written_says_where_to() {
        let mut plan = fixture::plan();
        let mut detail = |all: u64, card: u64| {
            plan.report.written_bytes = tilewright_plan::Bytes(all).into();
            plan.report.card_written_bytes = tilewright_plan::Bytes(card).into();
            facts(&plan).into_iter().find(|fact| fact.id == "written").unwrap().detail
        };
        assert_eq!(detail(512, 0), "512 B; to external RAM");
        assert_eq!(detail(512, 512), "512 B; all to the card");
        assert_eq!(detail(512, 100), "512 B; 100 B of it to the card");
        assert_eq!(detail(0, 0), "0 B");
    }

    #[test]
    fn figures_say_of_how_many_frames_they_are() {
        let mut plan = fixture::plan();
        let ids = |plan: &PlanFacts| facts(plan).iter().map(|fact| fact.id).collect::<Vec<_>>();
        assert!(!ids(&plan).contains(&"rate"));
        plan.report.frames = 10;
        assert!(ids(&plan).contains(&"rate"));
        assert!(facts(&plan)[0].detail.contains("10 frames"));
        assert_eq!(nothing(&plan), None);
        plan.timeline.slices.clear();
        assert!(nothing(&plan).unwrap().contains("does not fit"));
    }
}
