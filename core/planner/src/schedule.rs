//! From cut layers to a plan: what lies where, what happens in which order, and the steps of all lanes.
//!
//! A [`Schedule`] says in numbers how operators ([`operator`]) are cut ([`cut`]) into tasks of the core and what they
//! need in SRAM ([`work`]). Layouts give that places there ([`place`]); [`room`] finds those that are free earliest.
//! [`issue`] puts tasks and moves into one order, the [`sequence`], with all addresses. [`emit`] makes lanes of steps
//! of it, which wait for each other where they touch the same bytes ([`hazards`]). [`depth_first`] says in which order the
//! layers of a depth-first group make rows. [`frames`] repeats tasks for several
//! frames; [`boot`] brings what stays.

pub mod boot;
pub mod cut;
pub mod depth_first;
pub mod emit;
pub mod frames;
pub mod hazards;
pub mod issue;
pub mod operator;
pub mod place;
pub mod room;
pub mod sequence;
pub mod work;

use crate::{PlanError, Stop};
use cut::{Channels, Group};
use depth_first::Network;
use emit::emit;
use frames::{Frames, MOST_FRAMES};
use issue::{at_first_use, demand_then_stores};
use operator::{Operator, SECTOR};
use place::{Phase, Pools, Slots, gaps, held, pools, slots};
use sequence::{Engine, Sequence};
use serde::{Deserialize, Serialize};
use tilewright_board::Board;
use tilewright_plan::{Bytes, Plan, Space};
use work::Work;

/// How a lowered plan's layers are cut, and where what they need lies in SRAM: absolute numbers, which give the same
/// plan whatever memory there is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// The layers in groups, in order.
    pub groups: Vec<Group>,
    /// Where what comes and goes lies.
    pub layout: Layout,
    /// The frames of a program, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frames: Option<Frames>,
}

/// Why a schedule from elsewhere does not fit a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// The layer's number; nothing if there is none of these.
    pub layer: Option<usize>,
    /// What about it.
    pub what: &'static str,
}

/// Where what comes to SRAM and goes from there lies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Layout {
    /// Where there is room earliest beside activations.
    Gaps {
        /// Bytes of SRAM.
        sram: u64,
        /// How many tasks ahead it comes at most.
        ahead: u32,
    },
    /// In buffers that tiles have by turns.
    Slots(Vec<Phase>),
    /// In buffers of one size.
    Pools(Pools),
}

/// Most bytes of anything in SRAM: addresses have 32 bits.
const MOST: u64 = 1 << 32;
/// Units of work of a step.
const STEP: u64 = 100;

impl Schedule {
    /// The tasks of one frame, with what they need.
    pub fn work(&self, lowered: &Plan, operators: &[Operator<'_>]) -> Work {
        cut::cut(lowered, operators, &self.groups)
    }

    /// What of a schedule from elsewhere cannot be, whatever the plan.
    pub fn fault(&self) -> Option<&'static str> {
        let most = |bytes: &[u64]| bytes.iter().any(|bytes| *bytes > MOST);
        let cuts = || self.groups.iter().flat_map(|group| &group.cuts);
        if cuts().any(|cut| !cut.unit.is_power_of_two() || cut.unit > SECTOR) {
            return Some("copies begin and end at multiples of a power of two up to 512 bytes");
        }
        if cuts().any(|cut| cut.operators.is_empty() || cut.operators.iter().any(|c| c.each == 0)) {
            return Some("a cut has operators, each of which makes channels");
        }
        let is_large = match &self.layout {
            Layout::Gaps { sram, .. } => most(&[*sram]),
            Layout::Slots(phases) => phases.iter().any(|phase| {
                let Slots { base, tiny, third, fourth, parameters, output } = phase.slots;
                most(&[base, tiny, third, fourth, parameters, output])
            }),
            Layout::Pools(pools) => most(&pools.numbers()) || most(&[pools.end()]),
        };
        if is_large {
            return Some("SRAM has no more than 4 GiB");
        }
        let Frames { count, batch, .. } = self.frames?;
        if !matches!(self.layout, Layout::Gaps { .. }) {
            return Some("several frames have the layout 'gaps'");
        }
        let is_whole =
            (1..=MOST_FRAMES).contains(&count) && batch > 0 && count.is_multiple_of(batch);
        (!is_whole).then_some("a program has 1 to 16 frames, in batches that divide them")
    }

    /// The same with the rows that the layers of depth-first groups make.
    ///
    /// # Errors
    /// Names the layer whose operators are not made once each, or cannot be made so.
    pub fn resolved(
        &self,
        network: &Network<'_>,
        operators: &[Operator<'_>],
    ) -> Result<Self, Misfit> {
        let mut schedule = self.clone();
        let mut next = 0;
        for group in &mut schedule.groups {
            let mut layers = Vec::new();
            for Channels { operator, .. } in group.cuts.iter().flat_map(|cut| &cut.operators) {
                let layer = operators.get(next).map(|operator| operator.step.layer.into());
                let layer = layer.filter(|_| *operator == next);
                layers.push(layer.ok_or(Misfit { layer, what: "its operators are not cut once" })?);
                next += 1;
            }
            let misfit = |what| Misfit { layer: layers.first().copied(), what };
            let Some(fineness) = group.depth_first else {
                for cut in &group.cuts {
                    let own = cut.operators.iter().map(|c| &operators[c.operator]);
                    let own: Vec<&Operator<'_>> = own.collect();
                    if !cut.covers(&own) {
                        let layer = own.first().map(|operator| operator.step.layer.into());
                        return Err(Misfit { layer, what: "its tiles are not all of its rows" });
                    }
                }
                continue;
            };
            let range = layers.first().zip(layers.last());
            let range = range.map_or(0..0, |(first, last)| *first..last + 1);
            let is_each = layers.iter().copied().eq(range.clone());
            if !is_each || group.cuts.iter().any(|cut| cut.operators.len() != 1) {
                return Err(misfit("layers go together that do not follow each other"));
            }
            let found = network.depth_first(range, fineness, &[]);
            group.made = found.ok_or_else(|| misfit("it cannot be made in rows"))?.made;
        }
        match operators.get(next) {
            Some(missing) => {
                let layer = Some(missing.step.layer.into());
                Err(Misfit { layer, what: "its operators are not cut once" })
            }
            None => Ok(schedule),
        }
    }

    /// The plan of these tasks; nothing if there is no room for what they need.
    ///
    /// # Errors
    /// [`PlanError::Stopped`] if nobody waits any more.
    pub fn plan(
        &self,
        lowered: &Plan,
        work: &Work,
        board: &Board,
        stop: &Stop,
    ) -> Result<Option<Plan>, PlanError> {
        let Some(frames) = &self.frames else {
            return self.placed(lowered, (work, &held(lowered, work)), board, stop);
        };
        match frames.repeated(lowered, work) {
            Some((plan, work, held)) => self.placed(&plan, (&work, &held), board, stop),
            None => Ok(None),
        }
    }

    fn placed(
        &self,
        lowered: &Plan,
        (work, held): (&Work, &[room::Taken]),
        board: &Board,
        stop: &Stop,
    ) -> Result<Option<Plan>, PlanError> {
        let offsets = match &self.layout {
            Layout::Gaps { sram, ahead } => gaps(work, held, *sram, *ahead, stop)?,
            Layout::Slots(phases) => slots(work, phases),
            Layout::Pools(buffers) => pools(work, buffers),
        };
        let Some(offsets) = offsets else { return Ok(None) };
        let end = match &self.layout {
            Layout::Gaps { .. } => {
                let ends = work.residences.iter().zip(&offsets).map(|(load, at)| at + load.bytes);
                ends.max().unwrap_or(0)
            }
            Layout::Slots(phases) => phases.iter().map(|p| p.slots.end()).max().unwrap_or(0),
            Layout::Pools(buffers) => buffers.end(),
        };
        let arena = Bytes(end).max(lowered.space(Space::Arena));
        stop.after(STEP * (work.tasks.len() + work.residences.len()) as u64)?;
        let events = match self.layout {
            Layout::Pools(_) => demand_then_stores(work, &offsets),
            Layout::Gaps { .. } | Layout::Slots(_) => at_first_use(work, &offsets),
        };
        Ok(Some(emit(lowered, Sequence { arena, engines: Engine::of(board), events })))
    }
}
