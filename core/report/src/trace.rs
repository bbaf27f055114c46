//! Timelines as a trace that Perfetto opens: Chrome's trace event format, one track a resource.

use serde::Serialize;

use crate::memory_map::MemoryMap;
use crate::plan_report::PlanReport;
use crate::timeline::{SliceKind, Timeline};
use tilewright_plan::{CyclePoint, LaneKind};

/// A trace; serialised as JSON it is a file that Perfetto opens.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Trace {
    trace_events: Vec<TraceEvent>,
    display_time_unit: &'static str,
}

#[derive(Debug, Serialize)]
struct TraceEvent {
    name: String,
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
    #[serde(skip_serializing_if = "Arguments::is_empty")]
    args: Arguments,
}

#[derive(Debug, Default, Serialize)]
struct Arguments {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    layer: Option<String>,
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
}

impl Arguments {
    const fn is_empty(&self) -> bool {
        self.name.is_none() && self.layer.is_none() && self.bytes.is_none()
    }
}

impl Trace {
    /// A trace without anything in it.
    #[must_use]
    pub const fn new() -> Self {
        Self { trace_events: Vec::new(), display_time_unit: "ns" }
    }

    /// Adds a plan as a process: a track for each lane, and the live bytes as a counter.
    pub fn add(&mut self, report: &PlanReport, memory: &MemoryMap, timeline: &Timeline) {
        let pid = self.trace_events.iter().map(|event| event.pid).max().unwrap_or(0) + 1;
        let title = format!(
            "{} on {}, strategy {} (instructions {}, time {})",
            report.model,
            report.board,
            report.strategy,
            timeline.instructions_kind.word(),
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
        let micros = |point: CyclePoint| point.since(CyclePoint(0)).at(timeline.clock_hz).0;
        let layer_name = |layer: u16| report.layers.get(usize::from(layer)).map(|l| l.name.clone());
        let mut begun = None;
        for slice in &timeline.slices {
            let layer = layer_name(slice.layer);
            let (name, category) = match slice.kind {
                SliceKind::Compute => (layer.clone().unwrap_or_default(), "compute"),
                SliceKind::Copy => (format!("copy {}", layer.clone().unwrap_or_default()), "copy"),
                SliceKind::Handling => ("handling".to_owned(), "handling"),
                SliceKind::Stall => {
                    let lane = slice.waits_for.and_then(|at| timeline.lanes.get(usize::from(at)));
                    let name = lane.map(|kind| format!("waits for {}", lane_name(*kind)));
                    (name.unwrap_or_else(|| "stall".to_owned()), "stall")
                }
            };
            let cycles = slice.end.since(slice.start);
            self.trace_events.push(TraceEvent {
                name,
                phase: 'X',
                pid,
                tid: u32::from(slice.lane) + 1,
                ts: micros(slice.start),
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
            });
            if slice.lane == 0 && slice.kind == SliceKind::Compute && begun != Some(slice.layer) {
                begun = Some(slice.layer);
                let row = memory.rows.get(usize::from(slice.layer));
                self.count(pid, micros(slice.start), row.map_or(0, |row| row.live_bytes.0));
            }
        }
        self.count(pid, micros(timeline.end()), 0);
    }

    fn count(&mut self, pid: u32, ts: f64, bytes: u64) {
        self.trace_events.push(TraceEvent {
            name: "live SRAM".to_owned(),
            phase: 'C',
            pid,
            tid: 0,
            ts,
            dur: None,
            category: "",
            args: Arguments { bytes: Some(bytes), ..Arguments::default() },
        });
    }
}

fn named(what: &str, name: String, pid: u32, tid: u32) -> TraceEvent {
    TraceEvent {
        name: what.to_owned(),
        phase: 'M',
        pid,
        tid,
        ts: 0.0,
        dur: None,
        category: "",
        args: Arguments { name: Some(name), ..Arguments::default() },
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

    #[test]
    fn each_resource_has_a_track_and_slices_keep_their_times() {
        let plan = fixture::plan();
        let memory = MemoryMap::of(&plan);
        let (report, timeline) = (fixture::report(&memory), fixture::timeline());
        let mut trace = Trace::new();
        trace.add(&report, &memory, &timeline);
        trace.add(&report, &memory, &timeline);
        let events = |phase: char| trace.trace_events.iter().filter(move |e| e.phase == phase);
        let names: Vec<_> = events('M').filter_map(|e| e.args.name.as_deref()).collect();
        assert_eq!(names.len(), 2 * 3, "{names:?}");
        assert_eq!(&names[1..3], ["core", "DMA"]);
        let slices: Vec<_> = events('X').filter(|e| e.pid == 1).collect();
        assert_eq!(slices.len(), timeline.slices.len());
        assert_eq!((slices[0].ts, slices[0].dur, slices[0].tid), (0.0, Some(10.0), 1));
        assert_eq!((slices[2].tid, slices[2].args.bytes), (2, Some(64)));
        let live: Vec<_> = events('C').filter(|e| e.pid == 2).map(|e| e.args.bytes).collect();
        assert_eq!(live, [Some(48), Some(40), Some(0)], "and nothing at the end");
    }
}
