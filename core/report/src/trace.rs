//! Timelines as a trace that Perfetto opens: Chrome's trace event format, one track a resource.

use std::borrow::Cow;

use serde::Serialize;

use crate::occupancy::{Held, Occupancy};
use crate::schedule::{Schedule, ends_of_waits};
use crate::timeline::{Slice, SliceKind, Timeline};
use tilewright_plan::{CyclePoint, LaneKind};

/// A trace; serialised as JSON it is a file that Perfetto opens. Times are in microseconds.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Trace<'p> {
    trace_events: Vec<TraceEvent<'p>>,
    display_time_unit: &'static str,
    #[serde(skip)]
    flows: u64,
}

#[derive(Debug, Default, Serialize)]
struct TraceEvent<'p> {
    name: Cow<'p, str>,
    #[serde(rename = "ph")]
    phase: char,
    pid: u32,
    tid: u32,
    /// Microseconds.
    ts: f64,
    /// Microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    #[serde(rename = "cat", skip_serializing_if = "str::is_empty")]
    category: &'static str,
    /// Which arrow it begins or ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    /// What the end of an arrow belongs to.
    #[serde(rename = "bp", skip_serializing_if = "str::is_empty")]
    binding: &'static str,
    #[serde(skip_serializing_if = "Arguments::is_empty")]
    args: Arguments<'p>,
}

#[derive(Debug, Default, Serialize)]
struct Arguments<'p> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<Cow<'p, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    layer: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frame: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cycles: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    /// What of SRAM is held.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    held: Option<HeldBytes>,
}

/// Bytes of SRAM, one series for each of [`Held::ALL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
struct HeldBytes {
    inputs: u64,
    weights: u64,
    results: u64,
}

impl From<[u64; Held::ALL.len()]> for HeldBytes {
    fn from([inputs, weights, results]: [u64; Held::ALL.len()]) -> Self {
        Self { inputs, weights, results }
    }
}

impl Arguments<'_> {
    const fn is_empty(&self) -> bool {
        self.name.is_none() && self.layer.is_none() && self.held.is_none()
    }
}

impl<'p> Trace<'p> {
    /// A trace without anything in it.
    #[must_use]
    pub const fn new() -> Self {
        Self { trace_events: Vec::new(), display_time_unit: "ns", flows: 0 }
    }

    /// Adds a schedule, each timeline as a process: a track for each lane, arrows from what ended a wait
    /// to what had waited, and what of SRAM the prediction holds as a counter.
    pub fn add(&mut self, schedule: &Schedule<'p>) {
        for (word, timeline) in schedule.timelines() {
            let pid = self.trace_events.iter().map(|event| event.pid).max().unwrap_or(0) + 1;
            self.lanes(schedule, word, timeline, pid);
            self.waits(timeline, pid);
            if word == "predicted" {
                self.held(schedule.occupancy, timeline, pid);
            }
        }
    }

    fn lanes(
        &mut self,
        schedule: &Schedule<'p>,
        word: &'static str,
        timeline: &'p Timeline,
        pid: u32,
    ) {
        let report = schedule.report;
        let counted = match timeline.slices.iter().any(|slice| slice.instructions > 0) {
            true => format!("instructions {}, ", timeline.instructions_kind.word()),
            false => String::new(),
        };
        let title = format!(
            "{} on {}, strategy {}: {word} ({counted}time {})",
            report.model,
            report.board,
            report.strategy,
            timeline.cycles_kind.word()
        );
        self.trace_events.push(named("process_name", title, pid, 0));
        for (tid, kind) in (1u32..).zip(&timeline.lanes) {
            let mut name = lane_name(*kind).to_owned();
            let before = timeline.lanes.iter().take(tid as usize - 1).filter(|k| *k == kind);
            match before.count() {
                0 => {}
                same => name.push_str(&format!(" {}", same + 1)),
            }
            self.trace_events.push(named("thread_name", name, pid, tid));
        }
        let layer_name = |layer: u16| -> Option<&'p str> {
            report.layers.get(usize::from(layer)).map(|layer| layer.name.as_str())
        };
        for slice in &timeline.slices {
            let layer = layer_name(slice.layer);
            let of_layer = layer.unwrap_or_default();
            let (name, category) = match slice.kind {
                SliceKind::Compute => (Cow::Borrowed(of_layer), "compute"),
                SliceKind::Copy => (Cow::Owned(format!("copy {of_layer}")), "copy"),
                SliceKind::DriverOverhead => (Cow::Borrowed("driver_overhead"), "driver_overhead"),
                SliceKind::Stall => {
                    let lane = slice.waits_for.and_then(|at| timeline.lanes.get(usize::from(at)));
                    (Cow::Borrowed(lane.map_or("stall", |kind| wait_name(*kind))), "stall")
                }
            };
            let cycles = slice.end.since(slice.start);
            self.trace_events.push(TraceEvent {
                name,
                phase: 'X',
                pid,
                tid: track(slice),
                ts: micros(timeline, slice.start),
                dur: Some(cycles.at(timeline.clock_hz).0),
                category,
                args: Arguments {
                    layer,
                    step: Some(slice.step),
                    frame: Some(slice.frame),
                    cycles: Some(cycles.0),
                    instructions: (slice.instructions > 0).then_some(slice.instructions),
                    bytes: (slice.bytes > 0).then_some(slice.bytes),
                    ..Arguments::default()
                },
                ..TraceEvent::default()
            });
        }
    }

    /// Arrows. An end of one belongs to the slice that it lies in, so none lies on a border.
    fn waits(&mut self, timeline: &Timeline, pid: u32) {
        for [cause, next] in ends_of_waits(timeline) {
            let [cause, next] = [cause, next].map(|index| &timeline.slices[index]);
            self.flows += 1;
            let inside = |slice: &Slice| {
                (slice.end.since(slice.start).at(timeline.clock_hz).0 / 2.0).min(1.0)
            };
            let end = |phase, slice: &Slice, ts, binding| TraceEvent {
                name: Cow::Borrowed("ends the wait"),
                phase,
                pid,
                tid: track(slice),
                ts,
                category: "wait",
                id: Some(self.flows),
                binding,
                ..TraceEvent::default()
            };
            let from = micros(timeline, cause.end) - inside(cause);
            let to = micros(timeline, next.start) + inside(next);
            let ends = [end('s', cause, from, ""), end('f', next, to, "e")];
            self.trace_events.extend(ends);
        }
    }

    fn held(&mut self, occupancy: &Occupancy, timeline: &Timeline, pid: u32) {
        // Nothing is said where it is not known.
        let Some(last) = occupancy.changes().last() else { return };
        let end = (timeline.end() > last.at).then_some((timeline.end(), [0; Held::ALL.len()]));
        let changes = occupancy.changes().iter().map(|change| (change.at, change.bytes));
        for (at, bytes) in changes.chain(end) {
            self.trace_events.push(TraceEvent {
                name: Cow::Borrowed("SRAM held, bytes"),
                phase: 'C',
                pid,
                ts: micros(timeline, at),
                args: Arguments { held: Some(bytes.into()), ..Arguments::default() },
                ..TraceEvent::default()
            });
        }
    }
}

/// The track of a slice's lane.
fn track(slice: &Slice) -> u32 {
    u32::from(slice.lane) + 1
}

fn micros(timeline: &Timeline, point: CyclePoint) -> f64 {
    point.since(CyclePoint(0)).at(timeline.clock_hz).0
}

fn named(what: &'static str, name: String, pid: u32, tid: u32) -> TraceEvent<'static> {
    TraceEvent {
        name: Cow::Borrowed(what),
        phase: 'M',
        pid,
        tid,
        args: Arguments { name: Some(Cow::Owned(name)), ..Arguments::default() },
        ..TraceEvent::default()
    }
}

const fn wait_name(kind: LaneKind) -> &'static str {
    match kind {
        LaneKind::Core => "waits for core",
        LaneKind::Dma => "waits for DMA",
        LaneKind::Card => "waits for card",
    }
}

const fn lane_name(kind: LaneKind) -> &'static str {
    match kind {
        LaneKind::Core => "core",
        LaneKind::Dma => "DMA",
        LaneKind::Card => "card",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::memory_map::MemoryMap;

    #[test]
    fn each_resource_has_a_track_and_slices_keep_their_times() {
        let memory = MemoryMap::of(&fixture::plan());
        let (report, mut timeline) = (fixture::report(&memory), fixture::timeline());
        // The second layer waits for its copy.
        timeline.slices[1].start.0 = 12;
        timeline.slices[2].end.0 = 12;
        let [first, second, copy] = [0, 1, 2].map(|index| timeline.slices[index]);
        let wait = Slice {
            kind: SliceKind::Stall,
            waits_for: Some(1),
            start: first.end,
            end: second.start,
            ..second
        };
        timeline.slices = vec![first, wait, second, copy];
        let occupancy = Occupancy::of(vec![
            fixture::stay([0, 16], [0, 20], Held::Inputs),
            fixture::stay([16, 24], [0, 20], Held::Results),
            fixture::stay([0, 4], [20, 30], Held::Weights),
        ]);
        let (predicted, run) = (&timeline, Some(&timeline));
        let schedule =
            Schedule { report: &report, memory: &memory, predicted, occupancy: &occupancy, run };
        let mut trace = Trace::new();
        trace.add(&schedule);
        let events = |phase: char| trace.trace_events.iter().filter(move |e| e.phase == phase);
        let names: Vec<_> = events('M').filter_map(|e| e.args.name.as_deref()).collect();
        assert_eq!(names.len(), 2 * 3, "{names:?}");
        assert_eq!(&names[1..3], ["core", "DMA"]);
        assert!(names[0].contains(": predicted (") && names[3].contains(": run ("), "{names:?}");
        let slices: Vec<_> = events('X').filter(|e| e.pid == 1).collect();
        assert_eq!(slices.len(), timeline.slices.len());
        assert_eq!((slices[0].ts, slices[0].dur, slices[0].tid), (0.0, Some(10.0), 1));
        assert_eq!(slices[1].name, "waits for DMA");
        assert_eq!((slices[3].tid, slices[3].args.bytes), (2, Some(64)));
        // Of both timelines an arrow each, from within the copy to within the layer.
        let ends: Vec<_> = events('s').zip(events('f')).collect();
        assert_eq!(ends.len(), 2);
        for (pid, (from, to)) in (1..).zip(ends) {
            assert_eq!((from.pid, from.tid, to.pid, to.tid), (pid, 2, pid, 1));
            assert_eq!((from.id, to.binding), (to.id, "e"));
            assert!(from.ts < 12.0 && to.ts > 12.0, "{from:?} {to:?}");
        }
        // What is held is told of the prediction alone, as it is told elsewhere.
        let held: Vec<_> = events('C').map(|e| (e.pid, e.ts, e.args.held)).collect();
        let bytes = |bytes: [u64; 3]| Some(HeldBytes::from(bytes));
        let expected =
            [(1, 0.0, bytes([16, 0, 8])), (1, 20.0, bytes([0, 4, 0])), (1, 30.0, bytes([0; 3]))];
        assert_eq!(held, expected, "and nothing at the end");
    }

    #[test]
    fn nothing_is_said_of_sram_where_it_is_not_known() {
        let memory = MemoryMap::of(&fixture::plan());
        let (report, predicted) = (&fixture::report(&memory), &fixture::timeline());
        let (memory, occupancy) = (&memory, &Occupancy::default());
        let mut trace = Trace::new();
        trace.add(&Schedule { report, memory, predicted, occupancy, run: None });
        assert!(trace.trace_events.iter().all(|event| event.phase != 'C'));
    }
}
