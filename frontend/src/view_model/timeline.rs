//! The lanes of a predicted and a counted run on one axis of time.

mod frames;
mod held;
mod levels;

use std::iter;

use tilewright_plan::{CyclePoint, LaneKind};
use tilewright_report::{Kind, LayerRow, SliceKind, Timeline, short_name};

use super::figures;
use super::layers::Family;
use crate::message::PlanFacts;
pub use frames::Frames;
pub use held::HeldBytes;
pub use levels::{Levels, Seen, Window};

/// What a pixel of a lane can be filled with: the families of layers, in the order of
/// [`Family::ALL`], each in the shade of even and of odd layers, waiting, and driver overhead.
pub const CLASSES: usize = 2 * Family::ALL.len() + 2;
/// The class of waiting.
pub const STALL: u8 = 2 * Family::ALL.len() as u8;
/// The class of driver overhead.
pub const DRIVER_OVERHEAD: u8 = STALL + 1;

/// What the bars of layers are coloured by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colours {
    /// By the family of the layer, neighbours in two shades.
    #[default]
    Family,
    /// Each layer in a colour of its own, by turns: [`LAYER_COLOURS`] of them.
    Layer,
}

/// Colours that layers take by turns: those of the families but the last, whose grey is like waiting.
pub const LAYER_COLOURS: usize = 2 * (Family::ALL.len() - 1);

/// The class of a layer that is coloured for itself: neighbours differ in hue, not in shade alone.
#[must_use]
pub const fn class_of_layer(layer: usize) -> usize {
    let hues = LAYER_COLOURS / 2;
    2 * (layer % hues) + layer / hues % 2
}

/// The family of a class, and whether it is the shade of odd layers; nothing for waiting and driver overhead.
#[must_use]
pub fn family_of(class: usize) -> Option<(Family, bool)> {
    Family::ALL.get(class / 2).map(|family| (*family, class % 2 == 1))
}

/// A stretch of a lane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    /// Start in microseconds.
    pub start_us: f64,
    /// End in microseconds.
    pub end_us: f64,
    /// Instructions of a computation, bytes of a copy.
    pub amount: u64,
    pub layer: u16,
    /// Frame; the first is 0.
    pub frame: u32,
    /// The lane of its timeline that a stall waits for, if that is known.
    pub waits_for: Option<u8>,
    /// What it is filled with: below [`CLASSES`].
    pub class: u8,
    /// What happens.
    pub kind: SliceKind,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Lane {
    /// What it is.
    pub lane: LaneKind,
    /// Name.
    pub title: String,
    /// Whether its instructions were counted.
    pub is_counted: bool,
    /// How its times came to be.
    pub time: Kind,
    /// Where the lanes of its timeline begin.
    pub first: usize,
    /// Its bars, in order.
    pub bars: Vec<Bar>,
    levels: Levels,
}

/// Lanes on one axis.
#[derive(Clone, Debug, Default)]
pub struct Lanes {
    /// Lanes: those of the prediction, then those of what was seen.
    pub lanes: Vec<Lane>,
    /// End of the axis in microseconds.
    pub end_us: f64,
    /// When the frames of the prediction are worked on.
    pub frames: Frames,
    /// What of SRAM the prediction holds.
    pub held: HeldBytes,
    /// Which classes there are, in order.
    pub classes: [bool; CLASSES],
    /// All lanes in a sentence.
    pub summary: String,
}

impl PartialEq for Lanes {
    /// What is the same value is not looked through: that is asked for each drawing.
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other) || (self.end_us == other.end_us && self.lanes == other.lanes)
    }
}

/// A timeline that is drawn beside the prediction, and the word for it.
pub type Beside<'t> = (&'t Timeline, &'static str);

/// The lanes of a plan's prediction and of what was seen of it.
#[must_use]
pub fn lanes(plan: &PlanFacts, beside: &[Beside<'_>], colours: Colours) -> Lanes {
    let rows = plan.report.layers.iter().enumerate();
    let class = |(layer, row): (usize, &LayerRow)| match colours {
        Colours::Family => class_of(&row.op, layer),
        Colours::Layer => class_of_layer(layer) as u8,
    };
    let families: Vec<u8> = rows.map(class).collect();
    let held = HeldBytes::of(&plan.occupancy, plan.timeline.clock_hz);
    let mut lanes = Lanes { held, frames: Frames::of(&plan.timeline), ..Lanes::default() };
    for (timeline, word) in iter::once(&(&plan.timeline, "predicted")).chain(beside) {
        let count = |lane| timeline.slices.iter().filter(|s| usize::from(s.lane) == lane).count();
        let mut bars: Vec<Vec<Bar>> =
            (0..timeline.lanes.len()).map(|lane| Vec::with_capacity(count(lane))).collect();
        for slice in &timeline.slices {
            let Some(lane) = bars.get_mut(usize::from(slice.lane)) else { continue };
            let micros = |point: CyclePoint| point.since(CyclePoint(0)).at(timeline.clock_hz).0;
            let start_us = micros(slice.start);
            let of_layer = families.get(usize::from(slice.layer)).copied().unwrap_or(STALL - 1);
            lane.push(Bar {
                start_us,
                end_us: micros(slice.end).max(start_us),
                amount: if slice.kind == SliceKind::Compute {
                    slice.instructions
                } else {
                    slice.bytes
                },
                layer: slice.layer,
                frame: slice.frame,
                waits_for: slice.waits_for,
                class: match slice.kind {
                    SliceKind::Compute | SliceKind::Copy => of_layer,
                    SliceKind::Stall => STALL,
                    SliceKind::DriverOverhead => DRIVER_OVERHEAD,
                },
                kind: slice.kind,
            });
        }
        let first = lanes.lanes.len();
        for (lane, bars) in timeline.lanes.iter().zip(bars) {
            lanes.lanes.push(Lane {
                lane: *lane,
                title: format!("{}, {word}", lane_title(*lane)),
                is_counted: bars.iter().any(|b| b.kind == SliceKind::Compute && b.amount > 0),
                time: timeline.cycles_kind,
                first,
                levels: Levels::of(&bars),
                bars,
            });
        }
    }
    for bar in lanes.lanes.iter().flat_map(|lane| &lane.bars) {
        lanes.end_us = lanes.end_us.max(bar.end_us);
        lanes.classes[usize::from(bar.class)] = true;
    }
    lanes.summary = lanes.summed();
    lanes
}

fn class_of(kernel: &str, layer: usize) -> u8 {
    let family = Family::of(kernel);
    let place = Family::ALL.iter().position(|known| *known == family);
    place.map_or(STALL - 1, |at| (2 * at + layer % 2) as u8)
}

/// A lane, for people.
#[must_use]
pub const fn lane_title(lane: LaneKind) -> &'static str {
    match lane {
        LaneKind::Core => "Core",
        LaneKind::Dma => "DMA",
        LaneKind::Card => "Card",
    }
}

impl Lane {
    /// What is seen of it in `room` pixels.
    #[must_use]
    pub fn seen(&self, window: Window, room: f64) -> Seen {
        self.levels.seen(&self.bars, window, room)
    }

    /// The bar at a time, or the nearest within `reach_us`.
    #[must_use]
    pub fn at(&self, at_us: f64, reach_us: f64) -> Option<usize> {
        let next = self.bars.partition_point(|bar| bar.start_us <= at_us);
        let apart = |index: &usize| {
            let bar = &self.bars[*index];
            (bar.start_us - at_us).max(at_us - bar.end_us).max(0.0)
        };
        let near = [next.checked_sub(1), (next < self.bars.len()).then_some(next)];
        let nearest = near.into_iter().flatten().min_by(|a, b| apart(a).total_cmp(&apart(b)))?;
        (apart(&nearest) <= reach_us).then_some(nearest)
    }

    /// Time that it works, and that it waits, in microseconds.
    #[must_use]
    pub fn busy_us(&self) -> [f64; 2] {
        let mut busy = [0.0, 0.0];
        for bar in &self.bars {
            busy[usize::from(bar.kind == SliceKind::Stall)] += bar.end_us - bar.start_us;
        }
        busy
    }

    /// Time that it waits, by the lane of its timeline that it waits for, if that is known.
    #[must_use]
    pub fn waits(&self) -> Vec<(Option<u8>, f64)> {
        let mut waits: Vec<(Option<u8>, f64)> = Vec::new();
        for bar in self.bars.iter().filter(|bar| bar.kind == SliceKind::Stall) {
            let time = bar.end_us - bar.start_us;
            match waits.iter_mut().find(|(by, _)| *by == bar.waits_for) {
                Some((_, sum)) => *sum += time,
                None => waits.push((bar.waits_for, time)),
            }
        }
        waits
    }

    /// From the first beginning to the last end of a layer on this lane.
    #[must_use]
    pub fn extent(&self, layer: usize) -> Option<[f64; 2]> {
        let of_layer = |bar: &&Bar| usize::from(bar.layer) == layer;
        let first = self.bars.iter().find(of_layer)?;
        let last = self.bars.iter().rev().find(of_layer)?;
        Some([first.start_us, last.end_us])
    }
}

impl Lanes {
    /// What a waiting bar waits for: the lane, and that of its bars with whose end the wait ends.
    #[must_use]
    pub fn cause(&self, lane: usize, bar: &Bar) -> Option<(usize, Option<usize>)> {
        let by = self.lanes.get(lane)?.first + usize::from(bar.waits_for?);
        let other = self.lanes.get(by)?;
        let ended = other.bars.partition_point(|b| b.end_us <= bar.end_us + 1e-6).checked_sub(1);
        let while_waiting = |at: &usize| {
            let ended = &other.bars[*at];
            ended.end_us > bar.start_us && ended.kind != SliceKind::Stall
        };
        Some((by, ended.filter(while_waiting)))
    }

    /// A bar in words.
    #[must_use]
    pub fn words(&self, plan: &PlanFacts, lane: usize, index: usize) -> String {
        let Some(bar) = self.lanes.get(lane).and_then(|lane| lane.bars.get(index)) else {
            return String::new();
        };
        let name = match bar.frame {
            0 => layer_name(plan, bar.layer).to_owned(),
            frame => format!("{} of frame {}", layer_name(plan, bar.layer), frame + 1),
        };
        let time = figures::duration(bar.end_us - bar.start_us);
        match bar.kind {
            SliceKind::Compute => {
                let counted = match bar.amount {
                    0 => String::new(),
                    count => format!(", {} instructions counted", figures::grouped(count)),
                };
                let kind = self.lanes[lane].time.word();
                format!("{name}: {time} {kind}{counted}")
            }
            SliceKind::Copy => format!("{name}: copies {} in {time}", figures::bytes(bar.amount)),
            SliceKind::DriverOverhead => {
                format!("{name}: {time} to make its step ready, and for copies")
            }
            SliceKind::Stall => match self.cause(lane, bar) {
                Some((by, cause)) => {
                    let by = &self.lanes[by];
                    let cause = cause.map(|cause| {
                        let cause = &by.bars[cause];
                        let of = layer_name(plan, cause.layer);
                        match cause.kind {
                            SliceKind::Copy => format!(" ({of}, {})", figures::bytes(cause.amount)),
                            _ => format!(" ({of})"),
                        }
                    });
                    let title = lane_title(by.lane);
                    format!("{name}: waits {time} for {title}{}", cause.unwrap_or_default())
                }
                None => format!("{name}: waits {time}"),
            },
        }
    }

    fn summed(&self) -> String {
        let lane = |lane: &Lane| {
            let [works, _] = lane.busy_us().map(figures::duration);
            let mut words = format!("{}: works {works}", lane.title);
            for (by, waits) in lane.waits() {
                words += &format!(", waits {}", figures::duration(waits));
                if let Some(by) = by.and_then(|by| self.lanes.get(lane.first + usize::from(by))) {
                    words += &format!(" for {}", lane_title(by.lane));
                }
            }
            words
        };
        self.lanes.iter().map(lane).collect::<Vec<_>>().join("; ")
    }

    /// Whether nothing happens at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lanes.iter().all(|lane| lane.bars.is_empty())
    }
}

/// What the lanes do for a layer, in a sentence.
#[must_use]
pub fn layer_words(lanes: &Lanes, layer: usize) -> String {
    let lane = |lane: &Lane| {
        let (mut works, mut waits, mut count) = (0.0, 0.0, 0u64);
        let (mut moved, mut instructions) = (0, 0);
        for bar in lane.bars.iter().filter(|bar| usize::from(bar.layer) == layer) {
            let time = bar.end_us - bar.start_us;
            match bar.kind {
                SliceKind::Stall => waits += time,
                SliceKind::DriverOverhead => works += time,
                SliceKind::Compute => {
                    (works, count, instructions) =
                        (works + time, count + 1, instructions + bar.amount);
                }
                SliceKind::Copy => {
                    (works, count, moved) = (works + time, count + 1, moved + bar.amount);
                }
            }
        }
        let mut words = format!("{}: {}", lane.title, figures::duration(works));
        if count > 1 {
            words += &format!(" in {} steps", figures::grouped(count));
        }
        if instructions > 0 {
            words += &format!(", {} instructions counted", figures::grouped(instructions));
        }
        if moved > 0 {
            words += &format!(", {}", figures::bytes(moved));
        }
        if waits > 0.0 {
            words += &format!(", waits {}", figures::duration(waits));
        }
        (count > 0 || waits > 0.0).then_some(words)
    };
    lanes.lanes.iter().filter_map(lane).collect::<Vec<_>>().join("; ")
}

/// Name of a layer of a plan.
pub fn layer_name(plan: &PlanFacts, layer: u16) -> &str {
    let row = plan.report.layers.get(usize::from(layer));
    row.map_or("?", |row| short_name(&row.name))
}

impl Window {
    /// Round points in it, at most about `most`, with their texts: exact, however near they are.
    #[must_use]
    pub fn ticks(self, most: usize) -> Vec<(f64, String)> {
        let step = figures::axis_step(self.length(), most, false);
        let (unit, word) = match self.to_us {
            to if to < 1e3 => (1.0, "µs"),
            to if to < 1e6 => (1e3, "ms"),
            _ => (1e6, "s"),
        };
        let decimals = (0..9).find(|n| 10f64.powi(-n) <= step / unit * 1.000_1).unwrap_or(9);
        let first = (self.from_us / step).ceil();
        (0..64)
            .map(|index| (first + f64::from(index)) * step)
            .take_while(|at| *at <= self.to_us)
            .map(|at| (at, format!("{} {word}", figures::fixed(at / unit, decimals as u32))))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view_model::fixture;
    use tilewright_report::Slice;

    #[test]
    fn prediction_and_run_share_the_axis() {
        let plan = fixture::plan();
        let mut run = plan.timeline.clone();
        run.slices[2].end.0 += 2_160;
        run.slices.iter_mut().for_each(|slice| slice.instructions = 1_100);
        let lanes = lanes(&plan, &[(&run, "run")], Colours::Family);
        assert_eq!(lanes.lanes.len(), 2);
        let last = lanes.lanes[1].bars.len() - 1;
        assert!((lanes.lanes[1].bars[last].end_us - lanes.end_us).abs() < 1e-9);
        assert!(lanes.lanes[0].bars.last().unwrap().end_us < lanes.end_us);
        assert!(lanes.words(&plan, 1, last).contains("counted"));
    }

    /// A core that computes layer after layer, each after a copy over DMA that takes as long and that
    /// it waits for.
    fn waiting() -> (PlanFacts, Lanes) {
        let mut plan = fixture::plan();
        plan.timeline.lanes = vec![LaneKind::Core, LaneKind::Dma];
        let mut slices = Vec::new();
        for compute in &plan.timeline.slices {
            let length = compute.end.0 - compute.start.0;
            let at = |after: u64| CyclePoint(2 * compute.start.0 + after);
            let copied = Slice { start: at(0), end: at(length), ..*compute };
            slices.extend([
                Slice { lane: 1, kind: SliceKind::Copy, bytes: 512, ..copied },
                Slice { kind: SliceKind::Stall, waits_for: Some(1), ..copied },
                Slice { start: at(length), end: at(2 * length), ..*compute },
            ]);
        }
        plan.timeline.slices = slices;
        let lanes = lanes(&plan, &[], Colours::Family);
        (plan, lanes)
    }

    #[test]
    fn a_wait_says_what_it_waited_for() {
        let (plan, lanes) = waiting();
        let core = &lanes.lanes[0];
        let stalls = core.bars.iter().filter(|bar| bar.kind == SliceKind::Stall).count();
        assert_eq!(stalls, 3);
        let words = lanes.words(&plan, 0, 0);
        assert!(words.contains("waits") && words.contains("for DMA (first, 512 B)"), "{words}");
        assert!(lanes.words(&plan, 1, 1).contains("copies 512 B"));
        let [works, waits] = core.busy_us();
        assert!((works - waits).abs() < 1e-9, "{works} {waits}");
        assert!(lanes.summary.contains("Core, predicted: works"), "{}", lanes.summary);
        assert!(lanes.summary.contains("for DMA"), "{}", lanes.summary);
        assert!(lanes.classes[usize::from(STALL)]);
    }

    #[test]
    fn what_ended_before_a_wait_is_not_its_cause() {
        let (mut plan, before) = waiting();
        let last = *plan.timeline.slices.last().unwrap();
        let end = CyclePoint(last.end.0 + 2_160);
        let late =
            Slice { kind: SliceKind::Stall, waits_for: Some(1), start: last.end, end, ..last };
        plan.timeline.slices.push(late);
        let lanes = lanes(&plan, &[], Colours::Family);
        let words = lanes.words(&plan, 0, before.lanes[0].bars.len());
        assert!(words.ends_with("for DMA"), "{words}");
    }

    #[test]
    fn neighbouring_layers_differ_and_frames_are_told_apart() {
        let (mut plan, one) = waiting();
        assert!(one.frames.ends().is_empty() && one.frames.words()[0].is_empty());
        let core = &one.lanes[0];
        let shade = |layer: u16| core.bars.iter().find(|b| b.layer == layer && b.class != STALL);
        assert_ne!(shade(0).unwrap().class % 2, shade(1).unwrap().class % 2);
        let later = plan.timeline.slices.clone();
        plan.timeline.slices.extend(later.into_iter().map(|slice| {
            let later = |at: CyclePoint| CyclePoint(at.0 + 4_320);
            Slice { frame: 1, start: later(slice.start), end: later(slice.end), ..slice }
        }));
        let two = lanes(&plan, &[], Colours::Family);
        let frames = two.frames.ends();
        assert_eq!(frames.len(), 2);
        assert!(frames[1][0] < frames[0][1], "they overlap");
        let [words, short] = two.frames.words();
        assert!(short.len() <= 54 && short.starts_with("2 frames"), "{short}");
        assert!(words.contains("2 frames") && words.contains("2 under way"), "{words}");
    }

    #[test]
    fn layers_take_colours_by_turns() {
        let colours: Vec<usize> = (0..LAYER_COLOURS).map(class_of_layer).collect();
        let mut sorted = colours.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), LAYER_COLOURS, "{colours:?}");
        assert!(colours.windows(2).all(|two| two[0] / 2 != two[1] / 2), "{colours:?}");
        assert_eq!(class_of_layer(LAYER_COLOURS), class_of_layer(0));
        let (plan, _) = waiting();
        let lanes = lanes(&plan, &[], Colours::Layer);
        for bar in lanes.lanes.iter().flat_map(|lane| &lane.bars) {
            let waits = bar.kind == SliceKind::Stall;
            let class = if waits { STALL.into() } else { class_of_layer(bar.layer.into()) };
            assert_eq!(usize::from(bar.class), class, "{bar:?}");
        }
    }

    #[test]
    fn bars_are_found_under_the_pointer() {
        let (_, lanes) = waiting();
        let lane = &lanes.lanes[0];
        for (index, bar) in lane.bars.iter().enumerate() {
            assert_eq!(lane.at((bar.start_us + bar.end_us) / 2.0, 0.0), Some(index));
        }
        let end = lane.bars.last().unwrap().end_us;
        assert_eq!(lane.at(end + 1.0, 0.5), None);
        assert_eq!(lane.at(end + 1.0, 2.0), Some(lane.bars.len() - 1));
        assert_eq!(lane.extent(1), Some([lane.bars[2].start_us, lane.bars[3].end_us]));
        assert_eq!(lane.extent(99), None);
    }

    #[test]
    fn ticks_are_round_exact_and_in_the_window() {
        let ticks = Window::all(30.0).ticks(5);
        assert_eq!(ticks[0].1, "0 µs");
        assert!(ticks.len() >= 2 && ticks.iter().all(|(at, _)| *at <= 30.0));
        let near = Window { from_us: 1_234_567.1, to_us: 1_234_568.2 }.ticks(4);
        assert!(near.len() >= 2, "{near:?}");
        assert_eq!(near[0].1, "1.2345675 s");
        assert_ne!(near[0].1, near[1].1);
    }
}
