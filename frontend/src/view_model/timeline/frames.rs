//! When each frame of a run is worked on.

use tilewright_plan::CyclePoint;
use tilewright_report::{SliceKind, Timeline};

use crate::view_model::figures;

/// A frame that ends later than this part of the time that all of them take did not end before the next
/// ones could: they end together.
const TOGETHER: f64 = 2.0 / 3.0;

/// From when to when each frame is worked on, if there are several.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frames {
    ends: Vec<[f64; 2]>,
    lines: Vec<usize>,
}

impl Frames {
    /// Of a timeline.
    #[must_use]
    pub fn of(timeline: &Timeline) -> Self {
        let mut frames: Vec<[CyclePoint; 2]> = Vec::new();
        for slice in timeline.slices.iter().filter(|slice| slice.kind != SliceKind::Stall) {
            let frame = slice.frame as usize;
            if frames.len() <= frame {
                frames.resize(frame + 1, [slice.start, slice.end]);
            }
            let [from, to] = &mut frames[frame];
            (*from, *to) = ((*from).min(slice.start), (*to).max(slice.end));
        }
        let micros = |point: CyclePoint| point.since(CyclePoint(0)).at(timeline.clock_hz).0;
        if frames.len() < 2 {
            return Self::default();
        }
        Self::between(frames.into_iter().map(|frame| frame.map(micros)).collect())
    }

    /// A frame takes the first line that no frame before it needs any more.
    fn between(ends: Vec<[f64; 2]>) -> Self {
        let mut free_at: Vec<f64> = Vec::new();
        let line = |[from, to]: &[f64; 2]| {
            let line = free_at.iter().position(|at| at <= from).unwrap_or(free_at.len());
            free_at.resize(free_at.len().max(line + 1), 0.0);
            free_at[line] = *to;
            line
        };
        Self { lines: ends.iter().map(line).collect(), ends }
    }

    /// When each begins and ends, in microseconds; empty if there is but one.
    #[must_use]
    pub fn ends(&self) -> &[[f64; 2]] {
        &self.ends
    }

    /// For each the line that it is drawn on: no two frames lie on one at the same time.
    #[must_use]
    pub fn lines(&self) -> &[usize] {
        &self.lines
    }

    /// How many lines there are.
    #[must_use]
    pub fn line_count(&self) -> usize {
        self.lines.iter().max().map_or(0, |last| last + 1)
    }

    /// How they overlap, in more and in fewer words; empty of one frame.
    #[must_use]
    pub fn words(&self) -> [String; 2] {
        let Some([_, first]) = self.ends.first() else { return Default::default() };
        let end = self.ends.iter().fold(0.0f64, |end, [_, to]| end.max(*to));
        let count = self.ends.len();
        // Of all places where a frame begins, that where most others are under way.
        let at_once =
            |at: f64| self.ends.iter().filter(|[from, to]| *from <= at && at < *to).count();
        let most = self.ends.iter().map(|[from, _]| at_once(*from)).max().unwrap_or(1);
        let under_way = format!("{most} under way at once at most");
        if count > 2 && *first > TOGETHER * end {
            let [end, each] = [end, end / count as f64].map(figures::duration);
            return [
                format!("{count} frames end together after {end}, {each} each; {under_way}"),
                format!("{count} frames end after {end}, {each} each"),
            ];
        }
        let each = (end - first) / (count - 1) as f64;
        let [first, each] = [*first, each].map(figures::duration);
        [
            format!("{count} frames: the first after {first}, then one every {each}; {under_way}"),
            format!("{count} frames: one after {first}, then every {each}"),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view_model::fixture;
    use tilewright_report::Slice;

    #[test]
    fn a_frame_begins_with_work_not_with_waiting() {
        let mut timeline = fixture::plan().timeline;
        let first = timeline.slices[0];
        let later = |slice: &Slice| Slice { frame: 1, start: first.end, ..*slice };
        let works: Vec<Slice> = timeline.slices[1..].iter().map(later).collect();
        timeline.slices.push(Slice { frame: 1, kind: SliceKind::Stall, ..first });
        timeline.slices.extend(works);
        let frames = Frames::of(&timeline);
        let at = first.end.since(CyclePoint(0)).at(timeline.clock_hz).0;
        assert!((frames.ends()[1][0] - at).abs() < 1e-9, "{:?}", frames.ends());
    }

    #[test]
    fn no_frame_hides_another() {
        // Ten that wait for the last, and ten of which three are under way at once.
        let together: Vec<_> = (0..10).map(|at| [f64::from(at) * 5.0, 100.0]).collect();
        let by_turns: Vec<_> =
            (0..10).map(|at| [f64::from(at) * 5.0, f64::from(at) * 5.0 + 14.0]).collect();
        for (ends, lines) in [(together, 10), (by_turns, 3)] {
            let frames = Frames::between(ends);
            assert_eq!(frames.line_count(), lines);
            for (one, line) in frames.lines().iter().enumerate() {
                for other in 0..one {
                    let [[_, to], [from, _]] = [frames.ends()[other], frames.ends()[one]];
                    assert!(frames.lines()[other] != *line || to <= from, "{one} over {other}");
                }
            }
        }
    }

    #[test]
    fn frames_whose_last_layers_are_computed_together_are_said_to_be() {
        let ends = (0..10).map(|at| [f64::from(at) * 3e6, 31.9e6 + f64::from(at) * 1e4]).collect();
        let [words, short] = Frames::between(ends).words();
        assert!(words.contains("10 frames end together after 32.0 s, 3.20 s each"), "{words}");
        assert!(words.contains("10 under way"), "{words}");
        assert!(short.len() <= 54 && !short.contains("every"), "{short}");
        let ends = (0..10).map(|at| [f64::from(at) * 3e6, f64::from(at) * 3e6 + 4e6]).collect();
        let [words, _] = Frames::between(ends).words();
        assert!(words.contains("the first after 4.00 s, then one every 3.00 s"), "{words}");
        assert_eq!(Frames::default().words()[0], "");
        assert_eq!(Frames::default().line_count(), 0);
    }
}
