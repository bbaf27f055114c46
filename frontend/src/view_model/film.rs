//! A plan as a film: what each memory holds at a time, and what core and engines do.

mod head;
mod map;
mod replay;
mod stage;

pub use head::{Head, Move, Times};
pub use map::{Colours, Grid, colour};
pub use replay::Replay;
pub use stage::{Rect, Stage, TITLE};

use std::collections::BTreeMap;

use tilewright_plan::{CyclePoint, Hertz, LaneKind, Space};
use tilewright_report::{
    Access, Came, Held, Occupancy, Place, Slice, SliceKind, Stay, Timeline, short_name,
};

use super::figures;
use super::layers::kernel_title;
use super::memory::memory_words;
use super::timeline::lane_title;
use crate::message::PlanFacts;

/// A memory over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    /// For both sections of flash, that of weights.
    pub space: Space,
    /// How many of its bytes the plan uses, from its first on.
    pub bytes: u64,
    /// What it holds when.
    pub occupancy: Occupancy,
    /// Whether nothing but a boot program reads it, whose steps are no part of the film.
    pub is_for_boot: bool,
}

impl Memory {
    /// Its name.
    #[must_use]
    pub const fn title(&self) -> &'static str {
        match self.space {
            Space::Arena => "SRAM",
            Space::Weights | Space::Constants => "Flash",
            Space::ExternalRam => "External RAM",
            Space::ExternalFlash => "External flash",
            Space::Card => "SD card",
        }
    }
}

/// Memories from the farthest to the nearest; flash is both of its sections.
const FAR_TO_NEAR: [Space; 5] =
    [Space::Card, Space::ExternalFlash, Space::ExternalRam, Space::Weights, Space::Arena];

/// A plan as it was predicted to run, or ran.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Film {
    /// Those that it uses, from the farthest to the nearest; SRAM is the last.
    pub memories: Vec<Memory>,
    pub times: Times,
    /// When most of SRAM is held.
    pub peak_us: f64,
    /// When the core first waits.
    pub stall_us: Option<f64>,
    /// What each lane does, in order; the core is the first.
    lanes: Vec<Lane>,
    /// Bytes of flash before the section of constants.
    weight_bytes: u64,
    clock: Hertz,
}

#[derive(Clone, Debug, PartialEq)]
struct Lane {
    kind: LaneKind,
    slices: Vec<Slice>,
    /// Of each slice that works: which of its layer's in its frame it is, from 1 on.
    parts: Vec<u32>,
    /// How many there are, by frame and layer.
    counts: BTreeMap<(u32, u16), u32>,
}

/// What happens to bytes at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// An engine brings them.
    Arrives,
    /// The core writes them.
    Written,
    /// They are needed later.
    Kept,
}

/// Bytes that lie together and hold one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Area {
    /// First byte, one past the last.
    pub bytes: [u64; 2],
    pub held: Held,
    pub phase: Phase,
    /// What they are, for people.
    pub name: String,
}

/// Bytes of one of the film's memories that a lane touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touched {
    /// Number of the memory.
    pub memory: usize,
    pub bytes: [u64; 2],
    pub access: Access,
}

/// What a lane does at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct Act {
    pub lane: LaneKind,
    pub slice: Slice,
    /// Which of its layer's steps it is in its frame, from 1 on, and of how many.
    pub part: [u32; 2],
    /// How much of it is done, from 0 to 1.
    pub share: f64,
    pub touched: Vec<Touched>,
}

impl Film {
    /// Of a plan as a timeline says.
    #[must_use]
    pub fn of(plan: &PlanFacts, timeline: &Timeline) -> Self {
        let clock = timeline.clock_hz;
        let micros = |at: CyclePoint| at.since(CyclePoint(0)).at(clock).0;
        let weight_bytes = plan.accesses.bytes_of(Space::Weights);
        let memory = |space: Space| {
            let over_time = |space| Occupancy::over_time(&plan.accesses, timeline, space);
            let mut occupancy = over_time(space);
            let mut bytes = bytes_in(plan, space);
            if space == Space::Weights {
                let behind = over_time(Space::Constants);
                let moved = behind.stays().iter().map(|stay| Stay {
                    from: stay.from + weight_bytes,
                    to: stay.to + weight_bytes,
                    ..*stay
                });
                occupancy = Occupancy::of(occupancy.stays().iter().copied().chain(moved).collect());
                bytes += bytes_in(plan, Space::Constants);
            }
            let is_for_boot = space != Space::Arena && occupancy.stays().is_empty();
            if is_for_boot {
                occupancy = Occupancy::of(vec![Stay {
                    from: 0,
                    to: bytes,
                    since: CyclePoint(0),
                    until: timeline.end(),
                    layer: 0,
                    held: Held::Weights,
                    came: Came::Given,
                }]);
            }
            (bytes > 0 || space == Space::Arena).then_some(Memory {
                space,
                bytes,
                occupancy,
                is_for_boot,
            })
        };
        let memories: Vec<Memory> = FAR_TO_NEAR.into_iter().filter_map(memory).collect();
        let changes = memories.last().map_or(&[][..], |sram| sram.occupancy.changes());
        let held = |bytes: &[u64]| bytes.iter().sum::<u64>();
        let most = changes.iter().map(|change| held(&change.bytes)).max();
        let peak = changes.iter().find(|change| Some(held(&change.bytes)) == most);
        let waits = |slice: &&Slice| slice.lane == 0 && slice.kind == SliceKind::Stall;
        let stall = timeline.slices.iter().filter(waits).map(|slice| slice.start).min();
        let works = timeline.slices.iter().filter(|slice| slice.kind.works());
        let mut tasks: Vec<CyclePoint> = works.map(|slice| slice.start).collect();
        tasks.sort_unstable();
        tasks.dedup();
        let lanes = timeline.lanes.iter().zip(0..).map(|(kind, number): (_, u8)| {
            let of_lane = timeline.slices.iter().filter(|slice| slice.lane == number);
            Lane::of(*kind, of_lane.copied().collect())
        });
        Self {
            times: Times {
                tasks_us: tasks.into_iter().map(micros).collect(),
                end_us: micros(timeline.end()),
            },
            peak_us: peak.map_or(0.0, |change| micros(change.at)),
            stall_us: stall.map(micros),
            lanes: lanes.collect(),
            weight_bytes,
            memories,
            clock,
        }
    }

    /// Whether there is nothing to be seen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.times.tasks_us.is_empty()
    }

    /// What kinds of lanes it has, the core first.
    pub fn lane_kinds(&self) -> impl Iterator<Item = LaneKind> {
        self.lanes.iter().map(|lane| lane.kind)
    }

    /// The last step of the core that has ended at a time; nothing before the first.
    #[must_use]
    pub fn ended(&self, at_us: f64) -> Option<u32> {
        let slices = &self.lanes.first()?.slices;
        let at = self.cycles(at_us);
        let before = slices.partition_point(|slice| slice.start < at);
        let mut ended = slices[..before].iter().rev();
        let last = ended.find(|slice| slice.kind == SliceKind::Compute && slice.end <= at);
        last.map(|slice| slice.step)
    }

    /// When the first step of a layer begins.
    #[must_use]
    pub fn begins_us(&self, layer: usize) -> Option<f64> {
        let slices = self.lanes.first()?.slices.iter();
        let mut of_layer = slices.filter(|slice| usize::from(slice.layer) == layer);
        Some(self.micros(of_layer.find(|slice| slice.kind == SliceKind::Compute)?.start))
    }

    /// The layer that the core works for at a time, or worked for last.
    #[must_use]
    pub fn layer(&self, at_us: f64) -> Option<usize> {
        let slices = &self.lanes.first()?.slices;
        let began = slices.partition_point(|slice| slice.start <= self.cycles(at_us));
        Some(slices.get(began.saturating_sub(1))?.layer.into())
    }

    /// What lanes do at a time; those that do nothing are left out.
    #[must_use]
    pub fn acts(&self, plan: &PlanFacts, at_us: f64) -> Vec<Act> {
        let at = self.cycles(at_us);
        let act = |lane: &Lane| {
            let number = lane.slices.partition_point(|slice| slice.start <= at).checked_sub(1)?;
            let slice = *lane.slices.get(number).filter(|slice| slice.end > at)?;
            let [since, whole] = [at, slice.end].map(|to| to.since(slice.start).0 as f64);
            let of = lane.counts.get(&(slice.frame, slice.layer)).copied().unwrap_or(1);
            let places = plan.accesses.of_step(slice.lane, slice.step);
            let places = places.filter(|_| slice.kind.works());
            Some(Act {
                lane: lane.kind,
                slice,
                part: [lane.parts.get(number).copied().unwrap_or(1), of],
                share: since / whole,
                touched: places.filter_map(|(place, access)| self.touched(place, access)).collect(),
            })
        };
        self.lanes.iter().filter_map(act).collect()
    }

    fn touched(&self, place: Place, access: Access) -> Option<Touched> {
        let (space, before) = match place.space {
            Space::Constants => (Space::Weights, self.weight_bytes),
            space => (space, 0),
        };
        let memory = self.memories.iter().position(|memory| memory.space == space)?;
        Some(Touched { memory, bytes: place.bytes.map(|byte| byte + before), access })
    }

    /// What a memory holds at a time, in order of the bytes; what is free is left out.
    #[must_use]
    pub fn areas(&self, plan: &PlanFacts, memory: &Memory, acts: &[Act], at_us: f64) -> Vec<Area> {
        // At its end, what was held last.
        let at = self.cycles(at_us.min(self.times.end_us)).0;
        let at = CyclePoint(if at_us >= self.times.end_us { at.saturating_sub(1) } else { at });
        let stays = memory.occupancy.stays();
        let began = &stays[..stays.partition_point(|stay| stay.since <= at)];
        let mut there: Vec<&Stay> = began.iter().filter(|stay| stay.until > at).collect();
        there.sort_by_key(|stay| stay.from);
        let mut areas: Vec<Area> = Vec::new();
        for stay in there {
            let (held, name) = self.content(plan, memory, stay);
            let bytes = [stay.from, stay.to];
            let area = Area { bytes, held, phase: self.phase(memory, bytes, acts), name };
            match areas.last_mut() {
                Some(last)
                    if last.bytes[1] == bytes[0]
                        && (last.held, last.phase, &last.name)
                            == (area.held, area.phase, &area.name) =>
                {
                    last.bytes[1] = bytes[1];
                }
                _ => areas.push(area),
            }
        }
        areas
    }

    fn phase(&self, memory: &Memory, bytes: [u64; 2], acts: &[Act]) -> Phase {
        let writes = |act: &Act| {
            act.touched.iter().any(|touched| {
                touched.access == Access::Write
                    && self.memories[touched.memory].space == memory.space
                    && touched.bytes[0] < bytes[1]
                    && bytes[0] < touched.bytes[1]
            })
        };
        match acts.iter().find(|act| writes(act)) {
            Some(act) if act.lane == LaneKind::Core => Phase::Written,
            Some(_) => Phase::Arrives,
            None => Phase::Kept,
        }
    }

    /// What a stay is for, and its name.
    fn content(&self, plan: &PlanFacts, memory: &Memory, stay: &Stay) -> (Held, String) {
        let layer = usize::from(stay.layer);
        let row = plan.memory.rows.get(layer);
        let of_layer = row.map_or("", |row| short_name(&row.name));
        if memory.is_for_boot {
            return (Held::Weights, "copied at boot".to_owned());
        }
        if memory.space != Space::Arena {
            let is_there = |tensor: &&tilewright_report::PlacedTensor| {
                let [from, to] = tensor.range();
                tensor.space == memory.space && from <= stay.from && stay.from < to
            };
            // Of tensors that lie in one place after each other, that of the layer.
            let lives = |tensor: &tilewright_report::PlacedTensor| {
                (tensor.first as usize..tensor.end as usize).contains(&layer)
            };
            let there = plan.tensors.iter().filter(is_there);
            if let Some(tensor) = there.max_by_key(|tensor| lives(tensor)) {
                return (Held::Inputs, short_name(&tensor.name).to_owned());
            }
            let is_constant = memory.space == Space::Weights && stay.from >= self.weight_bytes;
            let what = if is_constant { "constants" } else { "weights" };
            return (Held::Weights, format!("{what} of {of_layer}"));
        }
        let tensor = |tensors: Option<&Vec<u32>>| {
            let number = *tensors?.first()? as usize;
            plan.tensors.get(number).map(|tensor| short_name(&tensor.name))
        };
        let name = match (stay.held, stay.came) {
            (Held::Weights, _) => format!("weights of {of_layer}"),
            (Held::Results, Came::Brought) => {
                "rest of whole sectors, which nothing reads".to_owned()
            }
            (_, Came::Computed) => match tensor(row.map(|row| &row.writes)) {
                Some(tensor) => format!("{tensor}, made by {of_layer}"),
                None => format!("what {of_layer} made"),
            },
            (_, Came::Given | Came::Brought) => match tensor(row.map(|row| &row.reads)) {
                Some(tensor) => format!("{tensor}, for {of_layer}"),
                None => format!("input of {of_layer}"),
            },
        };
        (stay.held, name)
    }

    /// What each lane does, a sentence for each.
    #[must_use]
    pub fn words(&self, plan: &PlanFacts, acts: &[Act], at_us: f64) -> Vec<String> {
        if at_us >= self.times.end_us {
            return vec![format!("It has ended, after {}.", figures::duration(self.times.end_us))];
        }
        let done = |act: &Act| figures::percent(act.share, 1.0);
        let sentence = |act: &Act| {
            let title = lane_title(act.lane);
            let row = plan.memory.rows.get(usize::from(act.slice.layer));
            let name = row.map_or("", |row| short_name(&row.name));
            match act.slice.kind {
                SliceKind::Compute => {
                    let op = row.map_or_else(String::new, |row| kernel_title(&row.op));
                    format!("{title}: {name} ({op}{}), {} done.", act.part_words(), done(act))
                }
                SliceKind::Copy => {
                    let place = |wanted: bool| {
                        let is_wanted =
                            |touched: &&Touched| (touched.access == Access::Write) == wanted;
                        let touched = act.touched.iter().find(is_wanted)?;
                        Some(self.memories.get(touched.memory)?.space)
                    };
                    let bytes = figures::bytes(act.slice.bytes);
                    let moved = match [place(false), place(true)] {
                        [Some(from), Some(Space::Arena)] => {
                            format!("brings {bytes} from {}", memory_words(from))
                        }
                        [_, Some(to)] => format!("writes {bytes} to {}", memory_words(to)),
                        _ => format!("moves {bytes}"),
                    };
                    format!("{title}: {moved} for {name}, {} done.", done(act))
                }
                SliceKind::Stall => {
                    let awaited = act.slice.waits_for.and_then(|lane| {
                        self.lanes.get(usize::from(lane)).map(|lane| lane_title(lane.kind))
                    });
                    let awaited =
                        awaited.map_or_else(String::new, |lane| format!(" for the {lane}"));
                    format!("{title}: waits{awaited}, before {name}.")
                }
                SliceKind::DriverOverhead => format!("{title}: makes the next step ready."),
            }
        };
        if acts.is_empty() {
            return vec!["Nothing happens.".to_owned()];
        }
        acts.iter().map(sentence).collect()
    }

    fn cycles(&self, at_us: f64) -> CyclePoint {
        // Times come from cycles: the nearest is the one.
        CyclePoint((at_us * self.clock.0 as f64 / 1e6).round().max(0.0) as u64)
    }

    fn micros(&self, at: CyclePoint) -> f64 {
        at.since(CyclePoint(0)).at(self.clock).0
    }
}

impl Act {
    /// Which of its layer's steps it is, if there are several, and of which frame.
    #[must_use]
    pub fn part_words(&self) -> String {
        let part = match self.part {
            [_, 0 | 1] => String::new(),
            [number, of] => format!(", part {number} of {of}"),
        };
        match self.slice.frame {
            0 => part,
            frame => format!("{part}, frame {}", frame + 1),
        }
    }
}

impl Lane {
    fn of(kind: LaneKind, mut slices: Vec<Slice>) -> Self {
        slices.sort_by_key(|slice| (slice.start, slice.end));
        let mut counts: BTreeMap<(u32, u16), u32> = BTreeMap::new();
        let part = |slice: &Slice| {
            let count = counts.entry((slice.frame, slice.layer)).or_default();
            *count += u32::from(slice.kind.works());
            (*count).max(1)
        };
        let parts = slices.iter().map(part).collect();
        Self { kind, slices, parts, counts }
    }
}

/// How many bytes of a memory hold all that the plan has there.
fn bytes_in(plan: &PlanFacts, space: Space) -> u64 {
    let tensors = plan.tensors.iter().filter(|tensor| tensor.space == space);
    let tensors = tensors.map(|tensor| tensor.range()[1]).max().unwrap_or(0);
    let arena = if space == Space::Arena { plan.report.peak_sram_bytes.0 } else { 0 };
    plan.accesses.bytes_of(space).max(tensors).max(arena)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view_model::fixture;

    /// A film of the small plan, and what is seen of it at a share of a step of the core.
    fn seen(step: f64) -> (Film, Vec<Act>, Vec<Area>) {
        let plan = fixture::plan();
        let film = Film::of(&plan, &plan.timeline);
        let at_us = step * 10.0;
        let acts = film.acts(&plan, at_us);
        let areas = film.areas(&plan, film.memories.last().unwrap(), &acts, at_us);
        (film, acts, areas)
    }

    #[test]
    fn memories_stand_from_far_to_near() {
        let (film, ..) = seen(0.0);
        let memories: Vec<_> = film.memories.iter().map(|m| (m.title(), m.bytes)).collect();
        assert_eq!(memories, [("Flash", 794), ("SRAM", 48)]);
        assert_eq!(film.times, Times { tasks_us: vec![0.0, 10.0, 20.0], end_us: 30.0 });
        assert_eq!((film.peak_us, film.stall_us), (0.0, None));
    }

    #[test]
    fn each_time_tells_what_lies_where_and_what_is_done_with_it() {
        let at = |step: f64| -> Vec<([u64; 2], Phase, String)> {
            seen(step).2.into_iter().map(|area| (area.bytes, area.phase, area.name)).collect()
        };
        let [input, first, second] =
            ["t0, for first", "t1, made by first", "t2, made by second"].map(str::to_owned);
        assert_eq!(
            at(0.5),
            [([0, 16], Phase::Kept, input), ([16, 48], Phase::Written, first.clone())]
        );
        assert_eq!(
            at(1.0),
            [([0, 10], Phase::Written, second), ([16, 48], Phase::Kept, first)],
            "the step begins"
        );
        assert_eq!(at(3.0).len(), 2, "at the end, what was held last");
        let plan = fixture::plan();
        let (film, acts, _) = seen(0.5);
        let flash = film.areas(&plan, &film.memories[0], &acts, 5.0);
        let flash: Vec<_> = flash.into_iter().map(|area| (area.bytes, area.name)).collect();
        assert_eq!(flash[0], ([0, 18], "weights of first".to_owned()));
        assert!(flash.last().unwrap().1.starts_with("constants of"), "{flash:?}");
    }

    #[test]
    fn acts_tell_how_far_a_step_is_and_what_it_touches() {
        let (film, acts, _) = seen(1.25);
        assert_eq!(acts.len(), 1);
        assert_eq!((acts[0].share, acts[0].part), (0.25, [1, 1]));
        let touched: Vec<_> = acts[0].touched.iter().map(|t| (t.memory, t.access)).collect();
        assert_eq!(touched[0], (1, Access::Read(Held::Inputs)));
        assert!(touched.contains(&(0, Access::Read(Held::Weights))));
        assert_eq!(touched.last(), Some(&(1, Access::Write)));
        let plan = fixture::plan();
        let words = film.words(&plan, &acts, 12.5);
        assert_eq!(words, ["Core: second (fully connected), 25 % done."]);
        assert!(film.words(&plan, &[], 30.0)[0].starts_with("It has ended"));
        assert_eq!((film.layer(12.5), film.begins_us(2)), (Some(1), Some(20.0)));
        assert_eq!([film.ended(5.0), film.ended(10.0), film.ended(30.0)], [None, Some(0), Some(2)]);
    }
}
