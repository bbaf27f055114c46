//! A plan as `plan` gives it to scripts: one flat object.

use serde::Serialize;
use tilewright_planner::Planned;
use tilewright_report::{Modelled, PlanReport, WithKinds};

use crate::energy_and_wear::{EnergyAndWear, EnergyAndWearView};
use crate::memory_view::MemoryView;
use crate::quantise::Prepared;

/// A plan's keys, on what the model was quantised, the memory map, energy and wear.
#[derive(Clone, Debug, Serialize)]
pub struct PlanView<'p> {
    /// The plan's keys, with the energy of a frame.
    #[serde(flatten)]
    pub report: PlanReport,
    /// How the model became int8.
    pub samples: &'p str,
    /// What was left out of the model's file, or changed.
    pub notes: &'p [String],
    /// The memory map.
    pub memory: MemoryView,
    /// Energy of a frame and wear of the card.
    #[serde(flatten)]
    pub energy_and_wear: EnergyAndWearView<'p>,
}

impl<'p> PlanView<'p> {
    /// The view of a plan of this model, with the kinds of its figures.
    #[must_use]
    pub fn of(
        planned: &Planned,
        prepared: &'p Prepared,
        used: &'p EnergyAndWear,
    ) -> WithKinds<Self> {
        let mut report = planned.report.clone();
        report.energy_uj = used.energy_uj().map(Modelled::new).or(report.energy_uj);
        WithKinds::of(Self {
            report,
            samples: &prepared.samples,
            notes: &prepared.model.notes,
            memory: MemoryView::of(planned),
            energy_and_wear: used.view(),
        })
    }
}
