//! Timelines as a table: a row for each stretch of a lane.

use crate::csv::csv_row;
use crate::schedule::Schedule;
use crate::timeline::SliceKind;
use tilewright_plan::{CyclePoint, LaneKind};

/// The timelines of a schedule as CSV, each with a word that says what it is. Times are in microseconds.
#[must_use]
pub fn slices_csv(schedule: &Schedule<'_>) -> String {
    let report = schedule.report;
    let head = [
        "timeline",
        "lane",
        "kind",
        "frame",
        "layer",
        "name",
        "step",
        "start_us",
        "end_us",
        "instructions",
        "bytes",
        "waits_for",
    ];
    let mut text = csv_row(&head.map(str::to_owned));
    for (word, timeline) in schedule.timelines() {
        let micros = |point: CyclePoint| point.since(CyclePoint(0)).at(timeline.clock_hz).0;
        let lane = |at: u8| {
            let kind = timeline.lanes.get(usize::from(at)).copied();
            let name = kind.map_or("", lane_word);
            format!("{name} {at}")
        };
        for slice in &timeline.slices {
            let kind = match slice.kind {
                SliceKind::Compute => "compute",
                SliceKind::Copy => "copy",
                SliceKind::Stall => "stall",
                SliceKind::DriverOverhead => "driver_overhead",
            };
            let name =
                report.layers.get(usize::from(slice.layer)).map_or("", |row| row.name.as_str());
            text.push_str(&csv_row(&[
                word.to_owned(),
                lane(slice.lane),
                kind.to_owned(),
                slice.frame.to_string(),
                slice.layer.to_string(),
                name.to_owned(),
                slice.step.to_string(),
                format!("{:.3}", micros(slice.start)),
                format!("{:.3}", micros(slice.end)),
                slice.instructions.to_string(),
                slice.bytes.to_string(),
                slice.waits_for.map(lane).unwrap_or_default(),
            ]));
        }
    }
    text
}

const fn lane_word(kind: LaneKind) -> &'static str {
    match kind {
        LaneKind::Core => "core",
        LaneKind::Dma => "dma",
        LaneKind::Card => "card",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::memory_map::MemoryMap;
    use crate::occupancy::Occupancy;

    #[test]
    fn each_slice_has_a_row() {
        let memory = &MemoryMap::of(&fixture::plan());
        let (report, timeline) = (&fixture::report(memory), &fixture::timeline());
        let (predicted, run, occupancy) = (timeline, Some(timeline), &Occupancy::default());
        let text = slices_csv(&Schedule { report, memory, predicted, occupancy, run });
        assert_eq!(text.lines().count(), 1 + 2 * timeline.slices.len());
        let first = text.lines().nth(1).unwrap();
        assert!(first.starts_with("predicted,core 0,compute,0,0,first,0,0.000,10.000,"), "{first}");
    }
}
