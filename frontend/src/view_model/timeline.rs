//! A predicted and a counted run on one axis of time.

use tilewright_plan::LaneKind;
use tilewright_report::{Kind, SliceKind, Timeline};

use super::figures;
use super::layers::Family;
use crate::message::PlanFacts;

/// A stretch of a lane.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// Layer.
    pub layer: usize,
    /// Colour.
    pub family: Family,
    /// What happens.
    pub kind: SliceKind,
    /// Start in microseconds.
    pub start_us: f64,
    /// End in microseconds.
    pub end_us: f64,
    /// In words.
    pub title: String,
}

/// A lane.
#[derive(Clone, Debug, PartialEq)]
pub struct LaneView {
    /// Name.
    pub title: String,
    /// How its instructions came to be.
    pub kind: Kind,
    /// Its bars, in order.
    pub bars: Vec<Bar>,
}

/// Lanes on one axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimelineView {
    /// Lanes: those of the prediction, then those of the run.
    pub lanes: Vec<LaneView>,
    /// End of the axis in microseconds.
    pub end_us: f64,
}

/// The lanes of a plan's prediction and, if there is one, of its run.
#[must_use]
pub fn view(plan: &PlanFacts, run: Option<&Timeline>) -> TimelineView {
    let mut view = TimelineView::default();
    for (timeline, word) in [(Some(&plan.timeline), "predicted"), (run, "run")] {
        let Some(timeline) = timeline else { continue };
        for (index, lane) in timeline.lanes.iter().enumerate() {
            view.lanes.push(LaneView {
                title: format!("{}, {word}", lane_title(*lane)),
                kind: timeline.instructions_kind,
                bars: bars(timeline, index, plan),
            });
        }
    }
    let ends = view.lanes.iter().flat_map(|lane| &lane.bars).map(|bar| bar.end_us);
    view.end_us = ends.fold(0.0, f64::max);
    view
}

const fn lane_title(lane: LaneKind) -> &'static str {
    match lane {
        LaneKind::Core => "Core",
        LaneKind::Dma => "DMA",
        LaneKind::Card => "Card",
    }
}

fn bars(timeline: &Timeline, lane: usize, plan: &PlanFacts) -> Vec<Bar> {
    let micros = |point: tilewright_plan::CyclePoint| {
        point.since(tilewright_plan::CyclePoint(0)).at(timeline.clock_hz).0
    };
    let slices = timeline.slices.iter().filter(|slice| usize::from(slice.lane) == lane);
    slices
        .map(|slice| {
            let layer = usize::from(slice.layer);
            let row = plan.report.layers.get(layer);
            let name = row.map_or("?", |row| figures::short_name(&row.name));
            let (start_us, end_us) = (micros(slice.start), micros(slice.end));
            let time = figures::duration(end_us - start_us);
            let title = match slice.kind {
                SliceKind::Compute => {
                    let instructions = figures::grouped(slice.instructions);
                    let kind = timeline.instructions_kind.word();
                    format!("{name}: {time} modelled, {instructions} instructions {kind}")
                }
                SliceKind::Copy => {
                    format!("{name}: copies {} in {time}", figures::bytes(slice.bytes))
                }
                SliceKind::Stall => format!("{name}: waits {time}"),
            };
            let family = Family::of(row.map_or("", |row| row.op.as_str()));
            Bar { layer, family, kind: slice.kind, start_us, end_us, title }
        })
        .collect()
}

impl TimelineView {
    /// Round points on the axis, zero included, with their texts.
    #[must_use]
    pub fn ticks(&self, most: usize) -> Vec<(f64, String)> {
        let step = figures::axis_step(self.end_us, most, false);
        (0..64)
            .map(|index| f64::from(index) * step)
            .take_while(|value| *value <= self.end_us)
            .map(|value| (value, figures::duration(value)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view_model::fixture;

    #[test]
    fn prediction_and_run_share_the_axis() {
        let plan = fixture::plan();
        let mut run = plan.timeline.clone();
        run.instructions_kind = Kind::Counted;
        run.slices[2].end.0 += 2_160;
        let view = view(&plan, Some(&run));
        assert_eq!(view.lanes.len(), 2);
        assert_eq!(view.lanes[1].kind, Kind::Counted);
        let last = view.lanes[1].bars.last().unwrap();
        assert!((last.end_us - view.end_us).abs() < 1e-9);
        assert!(view.lanes[0].bars.last().unwrap().end_us < view.end_us);
        assert!(last.title.contains("counted"), "{}", last.title);
    }

    #[test]
    fn ticks_are_round_and_on_the_axis() {
        let plan = fixture::plan();
        let view = view(&plan, None);
        let ticks = view.ticks(5);
        assert_eq!(ticks[0].1, "0 µs");
        assert!(ticks.len() >= 2 && ticks.iter().all(|(at, _)| *at <= view.end_us));
    }
}
