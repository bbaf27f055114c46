//! A schedule as files show it elsewhere: what was predicted and, beside it, what ran.

use serde::{Serialize, Serializer};

use crate::accesses::Accesses;
use crate::kinds::with_kinds;
use crate::memory_map::{MemoryMap, PlacedTensor};
use crate::occupancy::Occupancy;
use crate::plan_report::PlanReport;
use crate::timeline::{Slice, SliceKind, Timeline};

/// What files of schedules are made of; serialised as JSON it is the file that holds everything.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Schedule<'p> {
    /// The plan's figures.
    #[serde(serialize_with = "of_plan")]
    pub report: &'p PlanReport,
    /// The plan's memory.
    pub memory: &'p MemoryMap,
    /// What was predicted.
    pub predicted: &'p Timeline,
    /// What of SRAM the prediction holds, in cycles of its clock.
    pub occupancy: &'p Occupancy,
    /// What ran, if it did.
    pub run: Option<&'p Timeline>,
}

/// A schedule, with what only pictures of it need.
#[derive(Clone, Copy, Debug)]
pub struct Pictured<'p> {
    /// The schedule.
    pub schedule: Schedule<'p>,
    /// What its steps touch.
    pub accesses: &'p Accesses,
    /// The plan's tensors.
    pub tensors: &'p [PlacedTensor],
}

fn of_plan<S: Serializer>(report: &&PlanReport, serializer: S) -> Result<S::Ok, S::Error> {
    with_kinds(*report, serializer)
}

impl<'p> Schedule<'p> {
    /// The timelines, each with a word that says what it is.
    pub fn timelines(&self) -> impl Iterator<Item = (&'static str, &'p Timeline)> {
        let timelines = [("predicted", Some(self.predicted)), ("run", self.run)];
        timelines.into_iter().filter_map(|(word, timeline)| Some((word, timeline?)))
    }
}

/// What ends waits: for each slice that waits, the slice of the other lane with whose end its wait
/// ends, and the slice of its own lane that begins then. Pairs of indices into the timeline's slices.
#[must_use]
pub fn ends_of_waits(timeline: &Timeline) -> Vec<[usize; 2]> {
    // The working slices of each lane, in order, and how many of them ended before what is looked at.
    let mut lanes = vec![Vec::new(); timeline.lanes.len()];
    for (index, slice) in timeline.slices.iter().enumerate() {
        if let Some(lane) = lanes.get_mut(usize::from(slice.lane))
            && slice.kind != SliceKind::Stall
        {
            lane.push(index);
        }
    }
    let at = |index: usize| -> &Slice { &timeline.slices[index] };
    let mut pairs = Vec::new();
    for wait in timeline.slices.iter().filter(|slice| slice.kind == SliceKind::Stall) {
        let Some(other) = wait.waits_for.and_then(|lane| lanes.get(usize::from(lane))) else {
            continue;
        };
        let Some(own) = lanes.get(usize::from(wait.lane)) else { continue };
        let ended = other.partition_point(|index| at(*index).end <= wait.end).checked_sub(1);
        let cause = ended.map(|ended| other[ended]).filter(|index| at(*index).end > wait.start);
        let next = own.get(own.partition_point(|index| at(*index).start < wait.end)).copied();
        if let (Some(cause), Some(next)) = (cause, next) {
            pairs.push([cause, next]);
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn a_wait_ends_with_the_copy_that_it_waited_for() {
        let mut timeline = fixture::timeline();
        assert!(ends_of_waits(&timeline).is_empty());
        // The second layer waits from 10 to 12, for a copy that ends then.
        timeline.slices[1].start.0 = 12;
        timeline.slices[2].end.0 = 12;
        let wait = Slice {
            kind: SliceKind::Stall,
            waits_for: Some(1),
            start: timeline.slices[0].end,
            end: timeline.slices[1].start,
            ..timeline.slices[1]
        };
        timeline.slices.insert(1, wait);
        assert_eq!(ends_of_waits(&timeline), [[3, 2]]);
        // What ended before the wait began did not end it.
        timeline.slices[3].end.0 = 9;
        assert!(ends_of_waits(&timeline).is_empty());
    }
}
