//! What a plan costs while it is used: energy of a frame, and wear of the card.

use serde::Serialize;
use tilewright_board::{Board, Card};
use tilewright_image::Checks;
use tilewright_plan::{Bytes, LaneKind, Micros};
use tilewright_planner::simulate::checking;
use tilewright_planner::{Integrity, Options, Planned};
use tilewright_report::{
    Counted, Energy, Modelled, NoPower, PlanReport, RunResult, Timeline, Wear,
};

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
    pub checks: Option<(Checks, Micros)>,
    /// Energy of a frame; nothing if nothing is timed.
    pub energy: Option<Result<Energy, NoPower>>,
    /// Wear of the card; nothing if none is used.
    pub wear: Option<Wear>,
}

impl<'u> Use<'u> {
    /// With the card of these options; frames follow each other at once if no period is given.
    #[must_use]
    pub fn new(board: &'u Board, options: &Options, period: Option<Micros>) -> Self {
        Self { board, card: options.card_in(board), period, integrity: options.integrity }
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

/// The keys of energy and wear in reports.
#[derive(Clone, Debug, Serialize)]
pub struct EnergyAndWearView<'e> {
    /// What checking the card's bytes takes; null if nothing is checked.
    pub integrity: Option<IntegrityView>,
    /// Energy of a frame; null if it is not known.
    pub energy: Option<Modelled<&'e Energy>>,
    /// Why it is not known.
    pub energy_unknown: Option<String>,
    /// Wear of the card; null if none is used.
    pub wear: Option<Modelled<&'e Wear>>,
}

/// What checking the card's bytes takes.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct IntegrityView {
    /// Checksums, or tags, in flash.
    pub checksums: Counted<u64>,
    /// Bytes of flash for them.
    pub flash_bytes: Counted<Bytes>,
    /// Checksums, or tags, of sectors that programs write.
    pub sector_checksums: Counted<u64>,
    /// Bytes of SRAM for them.
    pub sram_bytes: Counted<Bytes>,
    /// Bytes that are checked in a frame.
    pub checked_bytes: Counted<Bytes>,
    /// Bytes that come or go without.
    pub unchecked_bytes: Counted<Bytes>,
    /// Tags that are made or compared in a frame; null if nothing is sealed.
    pub tags_a_frame: Option<Counted<u64>>,
    /// Time of the core.
    pub core_us: Modelled<Micros>,
}

impl EnergyAndWear {
    /// Energy of a frame, the middle of its range, if it is known.
    #[must_use]
    pub fn energy_uj(&self) -> Option<f64> {
        self.energy.as_ref().and_then(|energy| energy.as_ref().ok()).map(Energy::middle_uj)
    }

    /// The keys in reports.
    #[must_use]
    pub fn view(&self) -> EnergyAndWearView<'_> {
        let (energy, energy_unknown) = match &self.energy {
            Some(Ok(energy)) => (Some(energy.into()), None),
            Some(Err(missing)) => (None, Some(missing.to_string())),
            None => (None, None),
        };
        let integrity = self.checks.map(|(checks, core_us)| IntegrityView {
            checksums: checks.copy_checksums.into(),
            flash_bytes: checks.image_bytes().into(),
            sector_checksums: checks.sector_checksums.into(),
            sram_bytes: checks.arena_bytes.into(),
            checked_bytes: checks.checked_bytes.into(),
            unchecked_bytes: checks.unchecked_bytes.into(),
            tags_a_frame: checks.tags.map(Counted::new),
            core_us: core_us.into(),
        });
        EnergyAndWearView {
            integrity,
            energy,
            energy_unknown,
            wear: self.wear.as_ref().map(Modelled::new),
        }
    }
}
