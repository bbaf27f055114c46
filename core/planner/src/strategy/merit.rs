//! Which of two plans is better: every search of `auto` asks here what its objective makes least.

use crate::costs::CostCache;
use crate::{Objective, Options, PlanError, Planned, report, simulate};
use std::cmp::Ordering;
use tilewright_board::Board;
use tilewright_plan::{Bytes, CyclePoint, Micros, Plan, Space};
use tilewright_report::{Alternative, Energy, Timeline, least_power_mw};

/// What one frame of a plan costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Merit {
    /// Whether SRAM, flash and external memories hold it.
    pub fits: bool,
    /// The tensor arena.
    pub arena: Bytes,
    /// The predicted latency.
    pub latency: Micros,
    /// Microjoules; nothing unless energy is the objective and sources tell all of its power.
    pub energy_uj: Option<f64>,
    /// Bytes that the card takes; nothing unless wear is the objective.
    pub card_written_bytes: Option<f64>,
}

impl From<&Alternative> for Merit {
    fn from(one: &Alternative) -> Self {
        Self {
            fits: one.fits,
            arena: *one.sram_bytes,
            latency: *one.latency_us,
            energy_uj: one.energy_uj.map(|energy| *energy),
            card_written_bytes: one.card_written_bytes.map(|bytes| *bytes),
        }
    }
}

impl Merit {
    /// The better one is less. Plans that fit come first; energy that nobody knows comes last.
    pub fn compared(&self, other: &Self, objective: Objective) -> Ordering {
        let key = |one: &Self| {
            let (time, arena) = (one.latency.0, one.arena.0 as f64);
            match objective {
                Objective::Latency => [time, arena, 0.0],
                Objective::Memory => [arena, time, 0.0],
                Objective::Energy => [one.energy_uj.unwrap_or(f64::INFINITY), time, arena],
                Objective::Wear => [one.card_written_bytes.unwrap_or(0.0), time, arena],
            }
        };
        let figures = key(self).into_iter().zip(key(other));
        let figures = figures.map(|(one, other)| one.total_cmp(&other));
        figures.fold(other.fits.cmp(&self.fits), Ordering::then)
    }

    /// Whether it is better.
    pub fn is_better(&self, other: &Self, objective: Objective) -> bool {
        self.compared(other, objective).is_lt()
    }
}

/// A plan's predicted run.
#[derive(Clone, Copy, Debug)]
pub struct Judged {
    /// When all frames end.
    pub end: CyclePoint,
    /// What it is compared by.
    pub merit: Merit,
}

impl Judged {
    /// Predicts the run of a plan.
    ///
    /// # Errors
    /// [`PlanError::Stopped`] if nobody waits any more.
    pub fn predicted(
        plan: &Plan,
        fits: bool,
        costs: &CostCache,
        (board, options): (&Board, &Options),
    ) -> Result<Self, PlanError> {
        let timeline = simulate::predict(plan, board, costs, options)?;
        Ok(Self::of((plan, fits), &timeline, options.frames.get(), (board, options)))
    }

    /// Of a plan that was told already, of as many frames.
    pub fn told(planned: &Planned, board: &Board, options: &Options) -> Self {
        let Planned { plan, timeline, report, .. } = planned;
        Self::of((plan, report.fits), timeline, report.frames.max(1), (board, options))
    }

    fn of(
        (plan, fits): (&Plan, bool),
        timeline: &Timeline,
        frames: u32,
        (board, options): (&Board, &Options),
    ) -> Self {
        let end = timeline.end();
        let all = end.since(CyclePoint::default()).at(board.core.clock.hertz);
        let energy = || {
            let card = options.card_in(board);
            let traffic = simulate::traffic(plan, board, card.as_ref(), timeline, frames);
            let energy = Energy::of(timeline, &traffic, board, card.as_ref(), frames).ok()?;
            Some(energy.middle_uj())
        };
        let written = written(plan, timeline, options.objective);
        let merit = Merit {
            fits,
            arena: plan.space(Space::Arena),
            latency: Micros(all.0 / f64::from(frames)),
            energy_uj: match options.objective {
                Objective::Energy => energy(),
                Objective::Latency | Objective::Memory | Objective::Wear => None,
            },
            card_written_bytes: written.map(|Bytes(all)| all as f64 / f64::from(frames)),
        };
        Self { end, merit }
    }

    /// No plan that ends then or later is better; nothing if no end tells that.
    pub fn limit(&self, objective: Objective, board: &Board) -> Option<CyclePoint> {
        let Self { end, merit } = self;
        match objective {
            Objective::Latency => Some(*end),
            Objective::Memory => None,
            Objective::Wear if merit.card_written_bytes == Some(0.0) => Some(*end),
            Objective::Wear => Some(CyclePoint(u64::MAX)),
            // As long a run takes as much in the state that draws least.
            Objective::Energy => {
                let used_mw = merit.energy_uj? * 1e3 / merit.latency.0;
                Some(scaled(*end, used_mw / least_power_mw(board)?))
            }
        }
    }
}

/// Bytes that all frames write to the card; nothing unless wear is the objective.
pub fn written(plan: &Plan, timeline: &Timeline, objective: Objective) -> Option<Bytes> {
    (objective == Objective::Wear).then(|| report::written_to_card(plan, timeline).1)
}

/// An end so many times later, no earlier for rounding.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates; ends are not negative"
)]
fn scaled(end: CyclePoint, times: f64) -> CyclePoint {
    end.max(CyclePoint((end.0 as f64 * times).ceil() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(end: u64, energy_uj: Option<f64>, written: f64) -> Judged {
        let card_written_bytes = Some(written);
        let (fits, arena, latency) = (true, Bytes(1), Micros(end as f64));
        let merit = Merit { fits, arena, latency, energy_uj, card_written_bytes };
        Judged { end: CyclePoint(end), merit }
    }

    #[test]
    fn what_fits_comes_first_then_the_objective_then_time() {
        let is_better = |a: &Judged, b: &Judged, objective| {
            let is = a.merit.is_better(&b.merit, objective);
            assert!(!(is && b.merit.is_better(&a.merit, objective)));
            is
        };
        let [fast, thrifty] = [judged(10, Some(9.0), 512.0), judged(20, Some(8.0), 0.0)];
        assert!(is_better(&fast, &thrifty, Objective::Latency));
        assert!(is_better(&fast, &thrifty, Objective::Memory), "of equal arenas the faster");
        assert!(is_better(&thrifty, &fast, Objective::Energy));
        assert!(is_better(&thrifty, &fast, Objective::Wear));
        assert!(is_better(&judged(10, None, 0.0), &thrifty, Objective::Wear));
        assert!(is_better(&thrifty, &judged(10, None, 0.0), Objective::Energy), "nobody knows it");
        let mut large = thrifty;
        large.merit.fits = false;
        assert!(is_better(&fast, &large, Objective::Energy));
    }

    #[test]
    fn plans_are_left_out_by_time_only_where_it_decides() {
        let board = tilewright_board::find("stm32f746g-disco").unwrap();
        let limit = |judged: Judged, objective| judged.limit(objective, &board).map(|end| end.0);
        let inside_uj = 645.0 * 1e3 / 1e3;
        assert_eq!(limit(judged(1_000, None, 0.0), Objective::Memory), None);
        assert_eq!(limit(judged(1_000, None, 0.0), Objective::Wear), Some(1_000));
        assert_eq!(limit(judged(1_000, None, 1.0), Objective::Wear), Some(u64::MAX));
        assert_eq!(limit(judged(1_000, None, 1.0), Objective::Energy), None);
        assert_eq!(limit(judged(1_000, Some(inside_uj), 0.0), Objective::Energy), Some(1_000));
        // Twice the energy leaves a plan inside twice the time.
        assert_eq!(
            limit(judged(1_000, Some(2.0 * inside_uj), 0.0), Objective::Energy),
            Some(2_000)
        );
    }
}
