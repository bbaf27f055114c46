//! Where the film's boxes stand: far memories on the left or above, SRAM in the middle, what works on the right or below.

/// A place in pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rect {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
}

impl Rect {
    /// The part of it that shares of its width and height tell: left, top, width, height. Never too thin to be seen.
    #[must_use]
    pub fn part(self, [left, top, width, height]: [f64; 4]) -> Self {
        const LEAST: f64 = 6.0;
        let width = (width * self.width).max(LEAST);
        let height = (height * self.height).max(LEAST);
        Self {
            left: (self.left + left * self.width).min(self.left + self.width - width),
            top: (self.top + top * self.height).min(self.top + self.height - height),
            width,
            height,
        }
    }

    /// Its middle.
    #[must_use]
    pub fn middle(self) -> [f64; 2] {
        [self.left + self.width / 2.0, self.top + self.height / 2.0]
    }
}

/// Height of a box's title.
pub const TITLE: f64 = 20.0;
/// Below this width boxes stand one below the other.
const WIDE: f64 = 720.0;

/// The boxes of a film.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    pub width: f64,
    pub height: f64,
    /// The map of each memory, below its title; the last is SRAM's.
    pub memories: Vec<Rect>,
    /// The box of each lane; the core's is the first.
    pub lanes: Vec<Rect>,
}

impl Stage {
    /// For a width; `is_half` if two films share the screen.
    #[must_use]
    pub fn of(width: f64, memories: usize, lanes: usize, is_half: bool) -> Self {
        let far = memories.saturating_sub(1);
        if width >= WIDE {
            Self::wide(width, far, lanes, is_half)
        } else {
            Self::narrow(width, far, lanes)
        }
    }

    fn wide(width: f64, far: usize, lanes: usize, is_half: bool) -> Self {
        const GAP: f64 = 56.0;
        let height = if is_half { 224.0 } else { 424.0 };
        let (left, right) = (0.22 * width, 0.2 * width);
        let sram = Rect {
            left: left + GAP,
            top: TITLE,
            width: width - left - right - 2.0 * GAP,
            height: height - TITLE,
        };
        let column = |x: f64, width: f64, top: f64, shares: &[f64]| {
            let all: f64 = shares.iter().sum::<f64>().max(1.0);
            let room = height - 10.0 * (shares.len().saturating_sub(1)) as f64;
            let mut at = 0.0;
            let mut boxes = Vec::new();
            for share in shares {
                let high = room * share / all;
                boxes.push(Rect { left: x, top: at + top, width, height: high - top });
                at += high + 10.0;
            }
            boxes
        };
        let mut memories = column(0.0, left, TITLE, &vec![1.0; far]);
        memories.push(sram);
        let mut shares = vec![1.0; lanes];
        if let Some(core) = shares.first_mut() {
            *core = 1.5;
        }
        let lanes = column(width - right, right, 0.0, &shares);
        Self { width, height, memories, lanes }
    }

    fn narrow(width: f64, far: usize, lanes: usize) -> Self {
        const FAR: f64 = 72.0;
        const SRAM: f64 = 200.0;
        const WORKS: f64 = 92.0;
        const GAP: f64 = 24.0;
        let row = |count: usize, top: f64, height: f64| {
            let each = (width - 8.0 * count.saturating_sub(1) as f64) / count.max(1) as f64;
            (0..count)
                .map(|number| Rect { left: number as f64 * (each + 8.0), top, width: each, height })
                .collect::<Vec<_>>()
        };
        let mut memories = row(far, TITLE, FAR);
        let top = if far > 0 { TITLE + FAR + GAP } else { 0.0 };
        memories.push(Rect { left: 0.0, top: top + TITLE, width, height: SRAM });
        let works = top + TITLE + SRAM + GAP;
        let lanes = row(lanes, works, WORKS);
        Self { width, height: works + WORKS, memories, lanes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_lie_on_the_stage_and_not_over_each_other() {
        for (width, half) in [(390.0, false), (1400.0, false), (1400.0, true), (720.0, true)] {
            for (memories, lanes) in [(1, 1), (2, 2), (5, 3)] {
                let stage = Stage::of(width, memories, lanes, half);
                let boxes: Vec<Rect> = stage.memories.iter().chain(&stage.lanes).copied().collect();
                assert_eq!(boxes.len(), memories + lanes);
                for (index, one) in boxes.iter().enumerate() {
                    assert!(one.width > 30.0 && one.height > 20.0, "{width} {memories}: {one:?}");
                    assert!(one.left >= 0.0 && one.left + one.width <= width + 0.01, "{one:?}");
                    assert!(one.top + one.height <= stage.height + 0.01, "{one:?}");
                    for other in &boxes[index + 1..] {
                        let apart = one.left + one.width <= other.left
                            || other.left + other.width <= one.left
                            || one.top + one.height <= other.top
                            || other.top + other.height <= one.top;
                        assert!(apart, "{one:?} and {other:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_part_stays_inside_and_can_be_seen() {
        let all = Rect { left: 10.0, top: 20.0, width: 100.0, height: 50.0 };
        let thin = all.part([0.99999, 0.99999, 0.00001, 0.00001]);
        assert_eq!((thin.width, thin.height), (6.0, 6.0));
        assert_eq!(thin.left + thin.width, 110.0);
        assert_eq!(all.part([0.0, 0.5, 1.0, 0.5]).middle(), [60.0, 57.5]);
    }
}
