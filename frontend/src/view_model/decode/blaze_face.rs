//! BlazeFace and its relatives of MediaPipe: boxes with key points around fixed anchors.
//!
//! Each anchor has a score and 4 + 2n numbers in pixels of the input: centre, width, height and n points, all but the
//! size relative to the anchor's centre. Anchors lie in the middle of cells of square grids.

use super::suppress::suppressed;
use super::{Area, Finding, Found, Output, Picture, Point};
use crate::message::OutputFacts;

/// Cells on a side, and anchors in each.
struct Grid {
    side: usize,
    anchors: usize,
}

impl Grid {
    const fn new(side: usize, anchors: usize) -> Self {
        Self { side, anchors }
    }

    const fn count(&self) -> usize {
        self.side * self.side * self.anchors
    }
}

/// Faces near and far; faces at full range; palms of 192 and 256 pixels; people.
const DETECTORS: [&[Grid]; 5] = [
    &[Grid::new(16, 2), Grid::new(8, 6)],
    &[Grid::new(48, 1)],
    &[Grid::new(24, 2), Grid::new(12, 6)],
    &[Grid::new(32, 2), Grid::new(16, 2), Grid::new(8, 6)],
    &[Grid::new(28, 2), Grid::new(14, 2), Grid::new(7, 6)],
];
/// Numbers of an anchor: with 6, 7 and 4 points.
const NUMBERS: [usize; 3] = [16, 18, 12];
/// MediaPipe's own bound on overlap.
const OVERLAP: f32 = 0.3;

/// Where scores and boxes of some anchors are: indices of outputs.
struct Part {
    scores: usize,
    boxes: usize,
    anchors: usize,
}

struct Layout {
    grids: &'static [Grid],
    parts: Vec<Part>,
    numbers: usize,
}

fn layout(outputs: &[OutputFacts]) -> Option<Layout> {
    let of_size = |elements: usize| outputs.iter().position(|output| output.elements() == elements);
    DETECTORS.iter().find_map(|grids| {
        let counts: Vec<usize> = grids.iter().map(Grid::count).collect();
        let together = vec![counts.iter().sum()];
        [together, counts].into_iter().find_map(|counts| {
            NUMBERS.iter().find_map(|numbers| {
                let part = |anchors: &usize| {
                    let (scores, boxes) = (of_size(*anchors)?, of_size(anchors * numbers)?);
                    Some(Part { scores, boxes, anchors: *anchors })
                };
                let parts: Option<Vec<Part>> = counts.iter().map(part).collect();
                Some(Layout { grids, parts: parts?, numbers: *numbers })
            })
        })
    })
}

pub fn suits(outputs: &[OutputFacts]) -> bool {
    layout(outputs).is_some()
}

/// What it finds.
pub fn subject(outputs: &[OutputFacts]) -> &'static str {
    match layout(outputs).map(|layout| layout.numbers) {
        Some(18) => "palm",
        Some(12) => "person",
        _ => "face",
    }
}

pub fn decode(outputs: &[Output<'_>], picture: Picture, threshold: f32) -> Option<Found> {
    let facts: Vec<OutputFacts> = outputs.iter().map(|output| output.facts.clone()).collect();
    let layout = layout(&facts)?;
    let centres = layout.grids.iter().flat_map(|grid| {
        let middle = |at: usize| (at as f32 + 0.5) / grid.side as f32;
        (0..grid.count()).map(move |anchor| {
            let cell = anchor / grid.anchors;
            [middle(cell % grid.side), middle(cell / grid.side)]
        })
    });
    let rows = layout.parts.iter().flat_map(|part| {
        (0..part.anchors).map(move |row| (&outputs[part.scores], &outputs[part.boxes], row))
    });
    let mut candidates = Vec::new();
    for ([x, y], (scores, boxes, row)) in centres.zip(rows) {
        let score = scores.probability(row);
        if score < threshold {
            continue;
        }
        let across = |at: usize| boxes.real(row * layout.numbers + at) / picture.width as f32;
        let down = |at: usize| boxes.real(row * layout.numbers + at) / picture.height as f32;
        let point =
            |at: usize| Point { x: x + across(2 * at), y: y + down(2 * at + 1), score: None };
        candidates.push(Finding {
            class: 0,
            score: Some(score),
            area: Some(Area::around(x + across(0), y + down(1), across(2), down(3))),
            points: (2..layout.numbers / 2).map(point).collect(),
        });
    }
    Some(suppressed(candidates, OVERLAP))
}
