//! What lies where in a memory over time: bytes from the start of the step that writes them to the end
//! of the last that reads them, before they are written again.

use std::ops::Range;

use tilewright_plan::{CyclePoint, Space};

use super::{Came, Held, Occupancy, Stay};
use crate::accesses::{Access, Accesses};
use crate::timeline::{Slice, SliceKind, Timeline};

impl Occupancy {
    /// What of a memory is held while the steps run as a timeline says. What no step writes, such as the input, is held
    /// from its frame's beginning; what no step reads, such as the output, to its frame's end; weights that no step
    /// writes stay for all of it.
    #[must_use]
    pub fn over_time(accesses: &Accesses, timeline: &Timeline, space: Space) -> Self {
        let mut slices: Vec<&Slice> =
            timeline.slices.iter().filter(|slice| slice.kind.works()).collect();
        slices.sort_by_key(|slice| (slice.start, slice.end));
        let mut memory = Memory::new(&slices);
        for slice in slices {
            let of_step = accesses.of_step(slice.lane, slice.step);
            for (place, access) in of_step.filter(|(place, _)| place.space == space) {
                match access {
                    Access::Read(held) => memory.read(place.bytes, slice, held),
                    Access::Write => memory.write(place.bytes, slice),
                }
            }
        }
        memory.finish()
    }
}

/// Half-open.
type Bytes = [u64; 2];

/// Bytes that one value holds.
#[derive(Clone, Copy)]
struct Segment {
    start: u64,
    end: u64,
    since: CyclePoint,
    /// When the last step that touched it has ended.
    until: CyclePoint,
    frame: u32,
    layer: u16,
    /// What it was read as.
    held: Option<Held>,
    came: Came,
}

struct Memory {
    /// In order; they do not overlap.
    segments: Vec<Segment>,
    /// When each frame begins and ends.
    frames: Vec<[CyclePoint; 2]>,
    stays: Vec<Stay>,
}

impl Memory {
    fn new(slices: &[&Slice]) -> Self {
        let mut frames: Vec<[CyclePoint; 2]> = Vec::new();
        for slice in slices {
            let frame = slice.frame as usize;
            if frames.len() <= frame {
                frames.resize(frame + 1, [CyclePoint(u64::MAX), CyclePoint(0)]);
            }
            let [begin, end] = &mut frames[frame];
            (*begin, *end) = ((*begin).min(slice.start), (*end).max(slice.end));
        }
        Self { segments: Vec::new(), frames, stays: Vec::new() }
    }

    /// The numbers of what lies in `bytes`, cut at its borders.
    fn within(&mut self, bytes: Bytes) -> Range<usize> {
        let [first, end] = bytes.map(|border| {
            let before = self.segments.partition_point(|segment| segment.start < border);
            if let Some(last) = before.checked_sub(1).map(|last| &mut self.segments[last])
                && last.end > border
            {
                let right = Segment { start: border, ..*last };
                last.end = border;
                self.segments.insert(before, right);
            }
            before
        });
        first..end
    }

    fn read(&mut self, bytes: Bytes, slice: &Slice, held: Held) {
        let new = Segment {
            start: bytes[0],
            end: bytes[1],
            since: self.begin(slice),
            until: slice.end,
            frame: slice.frame,
            layer: slice.layer,
            held: Some(held),
            came: Came::Given,
        };
        let mut gaps = Vec::new();
        let mut next = bytes[0];
        for number in self.within(bytes) {
            let segment = self.segments[number];
            if next < segment.start {
                gaps.push(Segment { start: next, end: segment.start, ..new });
            }
            next = segment.end;
            let own = &mut self.segments[number];
            // The host has written another frame's value meanwhile.
            if segment.came == Came::Given && segment.frame < slice.frame {
                *own = Segment { start: segment.start, end: segment.end, ..new };
                self.close(segment, new.since);
                continue;
            }
            own.until = segment.until.max(slice.end);
            // What is read both ways is an input.
            own.held = Some(segment.held.map_or(held, |known| known.min(held)));
        }
        if next < bytes[1] {
            gaps.push(Segment { start: next, ..new });
        }
        for gap in gaps {
            let at = self.segments.partition_point(|segment| segment.start < gap.start);
            self.segments.insert(at, gap);
        }
    }

    fn write(&mut self, bytes: Bytes, slice: &Slice) {
        let (frame, layer) = (slice.frame, slice.layer);
        let new = Segment {
            start: bytes[0],
            end: bytes[1],
            since: slice.start,
            until: slice.end,
            frame,
            layer,
            held: None,
            came: if slice.kind == SliceKind::Copy { Came::Brought } else { Came::Computed },
        };
        let within = self.within(bytes);
        let mut made = Vec::with_capacity(1);
        let mut next = bytes[0];
        for number in within.clone() {
            let segment = self.segments[number];
            // Parts of one value whose extents overlap.
            let is_same =
                segment.held.is_none() && (segment.frame, segment.layer) == (frame, layer);
            if !is_same {
                self.close(segment, slice.start);
                continue;
            }
            if next < segment.start {
                made.push(Segment { start: next, end: segment.start, ..new });
            }
            next = segment.end;
            made.push(Segment { until: slice.end, ..segment });
        }
        if next < bytes[1] {
            made.push(Segment { start: next, ..new });
        }
        match (within.len(), made.as_slice()) {
            (1, [one]) => self.segments[within.start] = *one,
            _ => drop(self.segments.splice(within, made)),
        }
    }

    fn begin(&self, slice: &Slice) -> CyclePoint {
        self.frames.get(slice.frame as usize).map_or(slice.start, |[begin, _]| *begin)
    }

    /// Ends a value, at the latest when the next takes its place.
    fn close(&mut self, segment: Segment, next: CyclePoint) {
        let end = match (segment.held, self.frames.get(segment.frame as usize)) {
            (None, Some([_, end])) => segment.until.max(*end),
            (Some(Held::Weights), Some([_, end])) if segment.came == Came::Given => *end,
            _ => segment.until,
        };
        let until = end.min(next);
        if until > segment.since {
            let Segment { start, end, since, layer, came, .. } = segment;
            let held = segment.held.unwrap_or(Held::Results);
            self.stays.push(Stay { from: start, to: end, since, until, layer, held, came });
        }
    }

    fn finish(mut self) -> Occupancy {
        for segment in std::mem::take(&mut self.segments) {
            self.close(segment, CyclePoint(u64::MAX));
        }
        Occupancy::of(self.stays)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn slice(start: u64, end: u64, frame: u32, layer: u16) -> Slice {
        Slice {
            lane: 0,
            kind: SliceKind::Compute,
            waits_for: None,
            layer,
            step: 0,
            frame,
            start: CyclePoint(start),
            end: CyclePoint(end),
            instructions: 0,
            bytes: 0,
        }
    }

    fn seen(memory: Memory) -> Vec<(u64, [u64; 3])> {
        memory.finish().changes().iter().map(|change| (change.at.0, change.bytes)).collect()
    }

    #[test]
    fn a_value_is_held_from_its_write_to_its_last_read() {
        let (load, compute, next) = (slice(0, 10, 0, 0), slice(12, 20, 0, 0), slice(20, 30, 0, 1));
        let mut memory = Memory::new(&[&load, &compute, &next]);
        memory.write([0, 100], &load);
        memory.read([0, 100], &compute, Held::Weights);
        memory.read([200, 240], &compute, Held::Inputs);
        memory.write([300, 350], &compute);
        memory.read([300, 350], &next, Held::Inputs);
        memory.write([0, 60], &next);
        assert_eq!(
            seen(memory),
            // The input is there from the beginning, the output stays to the end.
            [(0, [40, 100, 0]), (12, [90, 100, 0]), (20, [50, 0, 60]), (30, [0, 0, 0])]
        );
    }

    #[test]
    fn what_overlaps_in_place_counts_once() {
        let (first, second, third) = (slice(0, 10, 0, 0), slice(10, 20, 0, 0), slice(20, 30, 0, 1));
        let mut memory = Memory::new(&[&first, &second, &third]);
        // Two writes of one layer with interleaved channels.
        memory.write([0, 64], &first);
        memory.write([1, 65], &second);
        memory.read([0, 65], &third, Held::Inputs);
        memory.write([0, 65], &third);
        let held = [(0, [64, 0, 0]), (10, [65, 0, 0]), (20, [0, 0, 65]), (30, [0, 0, 0])];
        assert_eq!(seen(memory), held);
    }

    #[test]
    fn what_comes_to_the_same_place_is_held_by_turns() {
        let copy = |start, end| Slice { kind: SliceKind::Copy, ..slice(start, end, 0, 0) };
        let (first, second) = (copy(0, 10), copy(20, 30));
        let (reads, again) = (slice(10, 20, 0, 0), slice(30, 40, 0, 0));
        let mut memory = Memory::new(&[&first, &reads, &second, &again]);
        // Whole sectors come, of which the last bytes are read by nobody.
        memory.write([0, 100], &first);
        memory.read([0, 90], &reads, Held::Weights);
        memory.write([0, 100], &second);
        memory.read([0, 90], &again, Held::Weights);
        let most = seen(memory).iter().map(|(_, bytes)| bytes.iter().sum::<u64>()).max();
        assert_eq!(most, Some(100));
    }

    #[test]
    fn each_frame_has_an_input_of_its_own() {
        let (first, second) = (slice(0, 10, 0, 0), slice(15, 25, 1, 0));
        let mut memory = Memory::new(&[&first, &second]);
        memory.read([0, 8], &first, Held::Inputs);
        memory.read([0, 8], &second, Held::Inputs);
        assert_eq!(
            seen(memory),
            [(0, [8, 0, 0]), (10, [0, 0, 0]), (15, [8, 0, 0]), (25, [0, 0, 0])]
        );
    }
}
