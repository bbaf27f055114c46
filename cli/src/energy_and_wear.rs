//! What a plan costs while it is used: energy of a frame, and wear of the card.

use serde_json::{Map, Value, json};
use tilewright_app::RunResult;
use tilewright_board::{Board, Card};
use tilewright_image::Checks;
use tilewright_plan::{LaneKind, Micros};
use tilewright_planner::simulate::checking;
use tilewright_planner::{Integrity, Options, Planned};
use tilewright_report::{Energy, Kind, NoPower, PlanReport, Timeline, Wear};

use crate::text::{Facts, bytes, decimal_bytes, joules, micros, number, years};

/// How a plan is used: on a board with a card, a frame each period.
#[derive(Debug)]
pub struct Use<'u> {
    board: &'u Board,
    card: Option<Card>,
    period: Option<Micros>,
    integrity: Integrity,
}

/// What it costs then.
#[derive(Debug)]
pub struct EnergyAndWear {
    /// Checking what comes from the card, and the time that it takes of the core.
    checks: Option<(Checks, Micros)>,
    energy: Option<Result<Energy, NoPower>>,
    wear: Option<Wear>,
}

impl<'u> Use<'u> {
    /// With the card of these options.
    #[must_use]
    pub fn new(board: &'u Board, options: &Options, period: Option<Micros>) -> Self {
        Self { board, card: options.card_in(board), period, integrity: Integrity::Trusted }
    }

    /// The same with this done about wrong bytes from the card.
    #[must_use]
    pub fn checked(self, integrity: Integrity) -> Self {
        Self { integrity, ..self }
    }

    /// Of the predicted run.
    #[must_use]
    pub fn of_plan(&self, planned: &Planned) -> EnergyAndWear {
        self.energy_and_wear(planned, &planned.report, &planned.timeline)
    }

    /// Of an emulated run of the plan.
    #[must_use]
    pub fn of_run(&self, planned: &Planned, result: &RunResult) -> EnergyAndWear {
        let latency_us = Some(result.latency_us);
        let report = PlanReport { latency_us, ..planned.report.clone() };
        self.energy_and_wear(planned, &report, &result.timeline)
    }

    fn energy_and_wear(
        &self,
        planned: &Planned,
        report: &PlanReport,
        timeline: &Timeline,
    ) -> EnergyAndWear {
        let (board, card) = (self.board, self.card.as_ref());
        let is_timed = report.latency_us.is_some() && !timeline.slices.is_empty();
        let energy = || Energy::of(timeline, &planned.traffic, board, card, report.frames);
        let used = card.filter(|_| timeline.lanes.contains(&LaneKind::Card));
        let checks = self.integrity.keeps().then(|| Checks::of(&planned.plan));
        let checks = checks.filter(|checks| checks.copy_checksums > 0);
        EnergyAndWear {
            checks: checks.map(|checks| {
                let cycles = checking(board, checks.checked_bytes.0, checks.tags);
                (checks, cycles.at(board.core.clock.hertz))
            }),
            energy: is_timed.then(energy),
            wear: used.and_then(|card| Wear::of(report, card, self.period)),
        }
    }
}

impl EnergyAndWear {
    /// In words.
    pub fn tell(&self, facts: &mut Facts) {
        let kind = Some(Kind::Modelled);
        if let Some((checks, time)) = &self.checks {
            let [checked, unchecked] =
                [checks.checked_bytes, checks.unchecked_bytes].map(|b| bytes(b.0));
            let (name, each) = match checks.tags {
                None => ("integrity", "checksums"),
                Some(_) => ("encryption", "tags"),
            };
            let what = format!(
                "{} {each} in flash, {} in SRAM: {checked} a frame, {unchecked} without",
                number(checks.copy_checksums),
                number(checks.sector_checksums)
            );
            facts.add(name, what, Some(Kind::Counted));
            facts.add(
                "",
                format!("{} of the core for them, in the latency predicted", micros(time.0)),
                kind,
            );
        }
        match &self.energy {
            Some(Ok(energy)) => {
                let [least, most] = energy.mean_mw;
                let power = range(&format!("{least:.0}"), &format!("{most:.0}"));
                let [least, most] = energy.frame_uj.map(joules);
                let text = format!("{} a frame, {power} mW on average", range(&least, &most));
                facts.add("energy", text, kind);
                for state in &energy.states {
                    let [least, most] = state.power_mw.map(|power| power.to_string());
                    let (power, time) = (range(&least, &most), micros(state.time_us.0));
                    let what = state.state.words();
                    facts.add("", format!("{power} mW for {time}: {what}"), None);
                }
            }
            Some(Err(missing)) => facts.add("energy", format!("unknown: {missing}"), None),
            None => {}
        }
        let Some(wear) = &self.wear else { return };
        let frame = decimal_bytes(wear.frame_written_bytes);
        let day = decimal_bytes(wear.day_written_bytes);
        facts.add("card takes", format!("{frame} a frame, {day} a day"), kind);
        facts.add("a frame each", micros(wear.period_us.0), kind);
        let (Some([least, most]), Some([once, often])) = (wear.years, wear.amplification) else {
            facts.add("card lasts", "nothing wears it: nothing is written", kind);
            return;
        };
        facts.add("card lasts", range(&years(least), &years(most)), kind);
        let [few, many] = wear.cycles.map(|cycles| number(cycles.into()));
        let size = decimal_bytes(wear.card_bytes.0 as f64);
        let until = format!(
            "until {}: {size} of {few} to {many} cycles, {once:.1} to {often:.1} bytes programmed for \
             each written",
            wear.then
        );
        facts.add("", until, None);
        if let Some(half) = wear.half_years {
            facts.add("half of its cells", years(half), kind);
        }
    }

    /// The keys `integrity`, `energy`, `energy_unknown` and `wear`, and their kinds.
    pub fn insert(&self, all: &mut Map<String, Value>) {
        let (energy, unknown) = match &self.energy {
            Some(Ok(energy)) => (json!(energy), Value::Null),
            Some(Err(missing)) => (Value::Null, json!(missing.to_string())),
            None => (Value::Null, Value::Null),
        };
        if let Some(Ok(energy)) = &self.energy {
            all.insert("energy_uj".to_owned(), json!(energy.middle_uj()));
        }
        let checks = self.checks.map(|(checks, time)| {
            json!({
                "checksums": checks.copy_checksums,
                "flash_bytes": checks.image_bytes(),
                "sector_checksums": checks.sector_checksums,
                "sram_bytes": checks.arena_bytes,
                "checked_bytes": checks.checked_bytes,
                "unchecked_bytes": checks.unchecked_bytes,
                "tags_a_frame": checks.tags,
                "core_us": time,
            })
        });
        all.insert("integrity".to_owned(), json!(checks));
        all.insert("energy".to_owned(), energy);
        all.insert("energy_unknown".to_owned(), unknown);
        all.insert("wear".to_owned(), json!(self.wear));
        if let Some(Value::Object(kinds)) = all.get_mut("kinds") {
            let counted = [
                "checksums",
                "flash_bytes",
                "sector_checksums",
                "sram_bytes",
                "checked_bytes",
                "unchecked_bytes",
                "tags_a_frame",
            ];
            kinds.extend(counted.map(|key| (format!("integrity.{key}"), json!(Kind::Counted))));
            kinds.insert("integrity.core_us".to_owned(), json!(Kind::Modelled));
            kinds.extend(["energy", "wear"].map(|key| (key.to_owned(), json!(Kind::Modelled))));
        }
    }
}

/// One of both if they read the same.
fn range(least: &str, most: &str) -> String {
    if least == most { most.to_owned() } else { format!("{least} to {most}") }
}
