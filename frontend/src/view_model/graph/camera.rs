//! What of the sheet is seen, and how large.

/// Smallest and largest scale; 1 is natural size.
pub const LEAST: f64 = 0.01;
/// See [`LEAST`].
pub const MOST: f64 = 3.0;
/// Room around the sheet when all of it is shown, in pixels of the screen.
const MARGIN: f64 = 16.0;
/// Below this scale names cannot be read: a sheet that would be smaller is first shown from its top.
const READABLE: f64 = 0.7;

/// A point of the sheet, times `scale`, plus `x` and `y`, is a point of the screen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Pixels of the screen for one of the sheet.
    pub scale: f64,
    /// Where the sheet's left edge is on the screen.
    pub x: f64,
    /// Where its top edge is.
    pub y: f64,
}

impl Camera {
    /// All of a sheet of this size in a view of this size.
    #[must_use]
    pub fn fit(sheet: [f64; 2], view: [f64; 2]) -> Self {
        let room = |axis: usize| (view[axis] - 2.0 * MARGIN).max(1.0) / sheet[axis].max(1.0);
        let scale = room(0).min(room(1)).clamp(LEAST, 1.0);
        let middle = |axis: usize| (view[axis] - sheet[axis] * scale) / 2.0;
        Self { scale, x: middle(0), y: middle(1) }
    }

    /// What is shown at first: all of a sheet that stays readable, else its top around `middle`.
    #[must_use]
    pub fn start(sheet: [f64; 2], view: [f64; 2], middle: f64) -> Self {
        let all = Self::fit(sheet, view);
        if all.scale >= READABLE {
            return all;
        }
        let scale = (view[0] / sheet[0].max(1.0)).clamp(READABLE, 1.0);
        Self { scale, x: view[0] / 2.0 - middle * scale, y: MARGIN }.held(sheet, view)
    }

    /// `factor` times as large, the point `at` of the screen staying where it is.
    #[must_use]
    pub fn zoomed(self, factor: f64, at: [f64; 2]) -> Self {
        let scale = (self.scale * factor).clamp(LEAST, MOST);
        let factor = scale / self.scale;
        let stay = |offset: f64, at: f64| at - (at - offset) * factor;
        Self { scale, x: stay(self.x, at[0]), y: stay(self.y, at[1]) }
    }

    /// Moved by so many pixels of the screen.
    #[must_use]
    pub fn moved(self, by: [f64; 2]) -> Self {
        Self { x: self.x + by[0], y: self.y + by[1], ..self }
    }

    /// Moved back so far that part of the sheet is seen.
    #[must_use]
    pub fn held(self, sheet: [f64; 2], view: [f64; 2]) -> Self {
        let hold = |offset: f64, axis: usize| {
            let keep = (view[axis] / 4.0).min(96.0);
            offset.min(view[axis] - keep).max(keep - sheet[axis] * self.scale)
        };
        Self { x: hold(self.x, 0), y: hold(self.y, 1), ..self }
    }

    /// Moved so that a rectangle of the sheet (left, top, right, bottom) is seen, if it is not: then
    /// to the middle, large enough to be read.
    #[must_use]
    pub fn showing(self, [left, top, right, bottom]: [f64; 4], view: [f64; 2]) -> Self {
        let [a, b] = [self.screen([left, top]), self.screen([right, bottom])];
        let is_seen = a[0] >= 0.0 && a[1] >= 0.0 && b[0] <= view[0] && b[1] <= view[1];
        if is_seen && self.scale >= READABLE {
            return self;
        }
        let scale = self.scale.clamp(READABLE * 1.25, MOST);
        let middle = |low: f64, high: f64, view: f64| view / 2.0 - (low + high) / 2.0 * scale;
        Self { scale, x: middle(left, right, view[0]), y: middle(top, bottom, view[1]) }
    }

    /// A point of the sheet on the screen.
    #[must_use]
    pub fn screen(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        [x * self.scale + self.x, y * self.scale + self.y]
    }

    /// A point of the screen on the sheet.
    #[must_use]
    pub fn sheet(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        [(x - self.x) / self.scale, (y - self.y) / self.scale]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VIEW: [f64; 2] = [900.0, 480.0];

    #[test]
    fn small_sheets_are_shown_whole_and_deep_ones_from_their_top() {
        let small = Camera::start([400.0, 300.0], VIEW, 200.0);
        assert_eq!(small.scale, 1.0);
        assert_eq!(small.screen([200.0, 150.0]), [450.0, 240.0]);
        let deep = Camera::start([400.0, 30_000.0], VIEW, 200.0);
        assert_eq!(deep.scale, 1.0);
        assert!(deep.y > 0.0 && deep.y < 40.0);
        let all = Camera::fit([400.0, 30_000.0], VIEW);
        assert!(all.screen([0.0, 30_000.0])[1] <= VIEW[1]);
    }

    #[test]
    fn zooming_keeps_the_point_under_the_pointer() {
        let camera = Camera { scale: 0.5, x: 10.0, y: -40.0 };
        let at = [120.0, 77.0];
        let before = camera.sheet(at);
        let after = camera.zoomed(1.7, at).sheet(at);
        assert!((before[0] - after[0]).abs() < 1e-9 && (before[1] - after[1]).abs() < 1e-9);
        assert_eq!(camera.zoomed(1e9, at).scale, MOST);
        assert_eq!(camera.zoomed(0.0, at).scale, LEAST);
    }

    #[test]
    fn the_sheet_is_never_lost() {
        let sheet = [400.0, 2_000.0];
        for by in [[1e6, 1e6], [-1e6, -1e6], [1e6, -1e6]] {
            let held = Camera::fit(sheet, VIEW).moved(by).held(sheet, VIEW);
            let [left, top] = held.screen([0.0, 0.0]);
            let [right, bottom] = held.screen(sheet);
            assert!(left < VIEW[0] && right > 0.0 && top < VIEW[1] && bottom > 0.0, "{held:?}");
        }
    }

    #[test]
    fn what_is_chosen_comes_into_view_and_what_is_seen_stays() {
        let camera = Camera { scale: 1.0, x: 0.0, y: 0.0 };
        assert_eq!(camera.showing([10.0, 10.0, 100.0, 50.0], VIEW), camera);
        let moved = camera.showing([10.0, 5_000.0, 100.0, 5_044.0], VIEW);
        assert_eq!(moved.screen([55.0, 5_022.0]), [450.0, 240.0]);
        let tiny = Camera { scale: 0.02, ..camera };
        assert!(tiny.showing([10.0, 10.0, 100.0, 50.0], VIEW).scale > READABLE);
    }
}
