//! A lane in every size: what is seen of hundreds of thousands of bars costs what the pixels cost.
//!
//! Bars are joined in groups of [`EACH`], these again, and so on. Drawing goes down from the top
//! and stops where a group is narrower than a pixel: its sums are exact whatever the size.

use super::{Bar, CLASSES};

/// How many bars, or groups, a group joins.
const EACH: usize = 8;

/// A stretch of the axis in microseconds; it is never empty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Where it begins.
    pub from_us: f64,
    /// Where it ends.
    pub to_us: f64,
}

/// Shortest stretch that is looked at, in microseconds: some cycles of a fast core.
const SHORTEST_US: f64 = 0.05;

impl Window {
    /// All of an axis that ends there.
    #[must_use]
    pub fn all(end_us: f64) -> Self {
        Self { from_us: 0.0, to_us: end_us.max(SHORTEST_US) }
    }

    #[must_use]
    pub fn length(self) -> f64 {
        self.to_us - self.from_us
    }

    /// The same time at the same place, `factor` times as large, on an axis that ends at `end_us`.
    #[must_use]
    pub fn zoomed(self, factor: f64, at_us: f64, end_us: f64) -> Self {
        let length = (self.length() / factor).clamp(SHORTEST_US, end_us.max(SHORTEST_US));
        let share = (at_us - self.from_us) / self.length();
        let from_us = at_us - share * length;
        Self { from_us, to_us: from_us + length }.held(end_us)
    }

    /// Moved by a time, as far as the axis goes.
    #[must_use]
    pub fn moved(self, by_us: f64, end_us: f64) -> Self {
        Self { from_us: self.from_us + by_us, to_us: self.to_us + by_us }.held(end_us)
    }

    /// Moved so far that a stretch is seen, if it is not; its beginning, if it is longer.
    #[must_use]
    pub fn showing(self, from_us: f64, to_us: f64, end_us: f64) -> Self {
        if from_us < self.to_us && to_us > self.from_us {
            return self;
        }
        let middle = (from_us + to_us.min(from_us + self.length())) / 2.0;
        self.moved(middle - (self.from_us + self.to_us) / 2.0, end_us)
    }

    fn held(self, end_us: f64) -> Self {
        let length = self.length();
        let from_us = self.from_us.min(end_us - length).max(0.0);
        Self { from_us, to_us: from_us + length }
    }
}

/// Bars or groups that follow one another.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Group {
    start_us: f64,
    end_us: f64,
    /// Time of each class.
    busy_us: [f32; CLASSES],
}

/// The groups above a lane's bars, finest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Levels {
    groups: Vec<Vec<Group>>,
}

/// What is seen of a lane.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    /// Bars of a pixel and more, in order: index, start and end in pixels.
    pub bars: Vec<(usize, [f64; 2])>,
    /// For each pixel which part of its time each class takes, of all that is narrower.
    pub columns: Vec<[f32; CLASSES]>,
    /// How many bars and groups were looked at for it.
    pub looked_at: usize,
}

/// How the window lies on the pixels.
struct View {
    window: Window,
    scale: f64,
}

impl Levels {
    /// Of a lane's bars, which are in order.
    #[must_use]
    pub fn of(bars: &[Bar]) -> Self {
        let mut levels = Self::default();
        if bars.len() < 2 {
            return levels;
        }
        let mut next: Vec<Group> = bars.chunks(EACH).map(Group::of).collect();
        while next.len() > 1 {
            let joined = next.chunks(EACH).map(join).collect();
            levels.groups.push(std::mem::replace(&mut next, joined));
        }
        levels.groups.push(next);
        levels
    }

    /// What is seen of the bars in `room` pixels.
    #[must_use]
    pub fn seen(&self, bars: &[Bar], window: Window, room: f64) -> Seen {
        let pixels = room.clamp(1.0, 16_384.0).ceil() as usize;
        let mut seen = Seen { columns: vec![[0.0; CLASSES]; pixels], ..Seen::default() };
        let view = View { window, scale: room / window.length() };
        let top = self.groups.last().map_or(bars.len(), Vec::len);
        self.look(self.groups.len(), 0..top, bars, &view, &mut seen);
        seen
    }

    /// Looks at some members of a level; level 0 is that of the bars.
    fn look(
        &self,
        level: usize,
        members: std::ops::Range<usize>,
        bars: &[Bar],
        view: &View,
        seen: &mut Seen,
    ) {
        for index in members {
            let group = match level.checked_sub(1) {
                None => bars.get(index).map(|bar| (bar.start_us, bar.end_us)),
                Some(above) => self.groups[above].get(index).map(|g| (g.start_us, g.end_us)),
            };
            let Some((start_us, end_us)) = group else { return };
            seen.looked_at += 1;
            if end_us <= view.window.from_us || start_us >= view.window.to_us {
                continue;
            }
            let place = [start_us, end_us].map(|at| (at - view.window.from_us) * view.scale);
            match level.checked_sub(1) {
                Some(above) if place[1] - place[0] < 1.0 => {
                    seen.spread(place, self.groups[above][index].busy_us, view.scale);
                }
                Some(above) => {
                    self.look(above, index * EACH..(index + 1) * EACH, bars, view, seen);
                }
                None if place[1] - place[0] < 1.0 => {
                    let mut busy_us = [0.0; CLASSES];
                    busy_us[bars[index].class.min(CLASSES as u8 - 1) as usize] =
                        (end_us - start_us) as f32;
                    seen.spread(place, busy_us, view.scale);
                }
                None => seen.bars.push((index, place)),
            }
        }
    }
}

impl Group {
    fn of(bars: &[Bar]) -> Self {
        let end_us = bars.iter().fold(bars[0].end_us, |end, bar| end.max(bar.end_us));
        let mut group = Self { start_us: bars[0].start_us, end_us, busy_us: [0.0; CLASSES] };
        for bar in bars {
            group.busy_us[usize::from(bar.class).min(CLASSES - 1)] +=
                (bar.end_us - bar.start_us) as f32;
        }
        group
    }
}

fn join(members: &[Group]) -> Group {
    let mut joined = members[0];
    for member in &members[1..] {
        joined.end_us = joined.end_us.max(member.end_us);
        for (sum, busy) in joined.busy_us.iter_mut().zip(member.busy_us) {
            *sum += busy;
        }
    }
    joined
}

impl Seen {
    /// Adds what is narrower than a pixel to the one or two that it lies in.
    fn spread(&mut self, [start, end]: [f64; 2], busy_us: [f32; CLASSES], scale: f64) {
        let border = end.floor();
        let first =
            if border > start && end > start { (border - start) / (end - start) } else { 1.0 };
        let parts = [(start.floor(), first), (border, 1.0 - first)];
        for (pixel, part) in parts {
            if pixel < 0.0 || part <= 0.0 {
                continue;
            }
            let Some(column) = self.columns.get_mut(pixel as usize) else { continue };
            for (sum, busy) in column.iter_mut().zip(busy_us) {
                *sum += busy * (scale * part) as f32;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_report::SliceKind;

    /// Bars of all lengths with gaps between them, from a generator: the same each time.
    fn many(count: usize) -> Vec<Bar> {
        let mut state = 7u32;
        let mut next = |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) % below
        };
        let mut at = 0.0;
        (0..count)
            .map(|index| {
                let start_us = at + f64::from(next(30)) / 10.0;
                // Long ones now and then, some of no length.
                let length = if next(500) == 0 { next(90_000) } else { next(90) };
                let end_us = start_us + f64::from(length) / 10.0;
                at = end_us;
                let (layer, class) = ((index / 1_000) as u16, (next(CLASSES as u32)) as u8);
                let kind = SliceKind::Compute;
                let (amount, frame, waits_for) = (1, 0, None);
                Bar { start_us, end_us, amount, layer, frame, waits_for, class, kind }
            })
            .collect()
    }

    fn busy(bars: &[Bar], window: Window) -> f64 {
        let part = |bar: &Bar| bar.end_us.min(window.to_us) - bar.start_us.max(window.from_us);
        bars.iter().map(|bar| part(bar).max(0.0)).sum()
    }

    fn drawn(seen: &Seen, window: Window, room: f64) -> f64 {
        let inside = |[start, end]: [f64; 2]| end.min(room) - start.max(0.0);
        let wide: f64 = seen.bars.iter().map(|(_, place)| inside(*place)).sum();
        let narrow: f64 = seen.columns.iter().flatten().map(|part| f64::from(*part)).sum();
        (wide + narrow) * window.length() / room
    }

    #[test]
    fn nothing_is_lost_and_the_cost_is_that_of_the_pixels_whatever_is_seen() {
        const ROOM: f64 = 1_400.0;
        let bars = many(850_000);
        let levels = Levels::of(&bars);
        let end_us = bars.last().unwrap().end_us;
        let mut window = Window::all(end_us);
        for step in 0..60 {
            let seen = levels.seen(&bars, window, ROOM);
            assert!(seen.looked_at < 40_000, "{} at {window:?}", seen.looked_at);
            assert!(seen.bars.len() <= ROOM as usize + 2, "{window:?}");
            let (is, should) = (drawn(&seen, window, ROOM), busy(&bars, window));
            // What is narrower than a pixel may lie on the border of the window.
            let pixel = window.length() / ROOM;
            assert!((is - should).abs() <= 2.0 * pixel + 1e-4 * should, "{is} {should} {step}");
            let at = window.from_us + window.length() * f64::from(step % 7) / 7.0;
            window = window.zoomed(1.3, at, end_us);
        }
        assert!(window.length() < end_us / 1e5, "{window:?}");
    }

    #[test]
    fn windows_stay_on_the_axis_and_zoom_about_their_place() {
        let all = Window::all(100.0);
        let near = all.zoomed(4.0, 80.0, 100.0);
        assert!((near.length() - 25.0).abs() < 1e-9 && (near.from_us - 60.0).abs() < 1e-9);
        assert_eq!(near.zoomed(0.01, 80.0, 100.0), all);
        assert_eq!(near.moved(1e9, 100.0).to_us, 100.0);
        assert_eq!(near.moved(-1e9, 100.0).from_us, 0.0);
        assert!(all.zoomed(1e12, 50.0, 100.0).length() >= 0.999 * SHORTEST_US);
        assert_eq!(near.showing(70.0, 71.0, 100.0), near, "it is seen already");
        let moved = near.showing(10.0, 12.0, 100.0);
        assert!(moved.from_us <= 10.0 && moved.to_us >= 12.0, "{moved:?}");
    }

    #[test]
    fn a_lane_may_be_empty_or_hold_one_bar() {
        assert!(Levels::of(&[]).seen(&[], Window::all(0.0), 100.0).bars.is_empty());
        let bars = many(1);
        let window = Window::all(bars[0].end_us);
        assert_eq!(Levels::of(&bars).seen(&bars, window, 100.0).bars.len(), 1);
    }
}
