//! Detectors with two outputs, boxes and scores: SSD around its anchors, or finished boxes by their corners.
//!
//! Anchors are those of TensorFlow's `ssd_anchor_generator` as SSD-MobileNet has them: six grids, of which the first has
//! three anchors in a cell and the others six.

use super::suppress::suppressed;
use super::{Area, Finding, Found, Output, Picture, logistic};
use crate::message::OutputFacts;

const OVERLAP: f32 = 0.5;
const GRIDS: usize = 6;
/// Scales of anchors from the first to the last grid.
const SCALES: [f32; 2] = [0.2, 0.95];
/// What centre and size were multiplied by in training.
const CODED: [f32; 2] = [10.0, 5.0];
/// Fewest boxes.
const LEAST: usize = 8;

struct Layout {
    boxes: usize,
    scores: usize,
    count: usize,
    classes: usize,
}

/// An output with four numbers for each box, and one with scores.
fn layout(outputs: &[OutputFacts]) -> Option<Layout> {
    let list = |output: &OutputFacts| match output.table() {
        // Grids of boxes that were made a list keep a dimension of one.
        [rows, columns] if columns > 0 && rows * columns >= 4 * LEAST => [rows, columns],
        _ => [0, 0],
    };
    let [boxes, scores] = match outputs {
        [first, _] if list(first)[1] == 4 => [0, 1],
        [_, second] if list(second)[1] == 4 => [1, 0],
        _ => return None,
    };
    let count = list(&outputs[boxes])[0];
    let [rows, classes] = outputs[scores].table();
    (count >= LEAST && rows == count).then_some(Layout { boxes, scores, count, classes })
}

/// Cells on the sides of all grids.
fn grids(picture: Picture) -> [[usize; 2]; GRIDS] {
    let mut sides = [picture.height, picture.width].map(|side| side.div_ceil(16) as usize);
    std::array::from_fn(|_| {
        let these = sides;
        sides = sides.map(|side| side.div_ceil(2));
        these
    })
}

const fn anchors_of_cell(grid: usize) -> usize {
    if grid == 0 { 3 } else { 6 }
}

pub fn suits(outputs: &[OutputFacts], picture: Picture) -> bool {
    let count =
        |(grid, [rows, columns]): (usize, [usize; 2])| rows * columns * anchors_of_cell(grid);
    let all: usize = grids(picture).into_iter().enumerate().map(count).sum();
    layout(outputs).is_some_and(|layout| layout.count == all)
}

pub fn suits_corners(outputs: &[OutputFacts]) -> bool {
    layout(outputs).is_some()
}

pub fn classes(outputs: &[OutputFacts]) -> Option<usize> {
    layout(outputs).map(|layout| layout.classes)
}

/// An anchor's centre and size.
struct Anchor {
    x: f32,
    y: f32,
    width: f32,
    height: f32,
}

fn anchors(picture: Picture) -> Vec<Anchor> {
    let scale = |grid: usize| {
        let share = grid as f32 / (GRIDS - 1) as f32;
        if grid == GRIDS { 1.0 } else { SCALES[0] + (SCALES[1] - SCALES[0]) * share }
    };
    // Shares are of the shorter side.
    let least = picture.width.min(picture.height) as f32;
    let [across, down] = [picture.width, picture.height].map(|side| least / side.max(1) as f32);
    let mut anchors = Vec::new();
    for (grid, [rows, columns]) in grids(picture).into_iter().enumerate() {
        let own = scale(grid);
        // Scale, and width over height.
        let kinds: Vec<[f32; 2]> = if grid == 0 {
            vec![[0.1, 1.0], [own, 2.0], [own, 0.5]]
        } else {
            let between = (own * scale(grid + 1)).sqrt();
            vec![[own, 1.0], [own, 2.0], [own, 0.5], [own, 3.0], [own, 1.0 / 3.0], [between, 1.0]]
        };
        for cell in 0..rows * columns {
            for [scale, ratio] in &kinds {
                let middle = |at: usize, of: usize| (at as f32 + 0.5) / of as f32;
                anchors.push(Anchor {
                    x: middle(cell % columns, columns),
                    y: middle(cell / columns, rows),
                    width: scale * ratio.sqrt() * across,
                    height: scale / ratio.sqrt() * down,
                });
            }
        }
    }
    anchors
}

/// The best class of a box. With more than one class the first is the background.
fn best_class(scores: &Output<'_>, row: usize, classes: usize) -> Option<(usize, f32)> {
    let values = (usize::from(classes > 1)..classes)
        .map(|class| (class, scores.real(row * classes + class)));
    let (class, value) = values.reduce(|best, one| if one.1 > best.1 { one } else { best })?;
    let score = if scores.facts.are_shares() { value.clamp(0.0, 1.0) } else { logistic(value) };
    Some((class, score))
}

/// Boxes whose scores are high enough, where `area` says.
fn boxes(
    outputs: &[Output<'_>],
    threshold: f32,
    area: impl Fn(&Output<'_>, usize) -> Option<Area>,
) -> Option<Found> {
    let facts: Vec<OutputFacts> = outputs.iter().map(|output| output.facts.clone()).collect();
    let layout = layout(&facts)?;
    let one = |row: usize| {
        let (class, score) = best_class(&outputs[layout.scores], row, layout.classes)?;
        let area = (score >= threshold).then(|| area(&outputs[layout.boxes], row)).flatten()?;
        Some(Finding { class, score: Some(score), area: Some(area), points: Vec::new() })
    };
    Some(suppressed((0..layout.count).filter_map(one).collect(), OVERLAP))
}

pub fn decode(outputs: &[Output<'_>], picture: Picture, threshold: f32) -> Option<Found> {
    let anchors = anchors(picture);
    boxes(outputs, threshold, |boxes, row| {
        let anchor = anchors.get(row)?;
        let [y, x, height, width] = [0, 1, 2, 3].map(|number| boxes.real(row * 4 + number));
        Some(Area::around(
            anchor.x + x / CODED[0] * anchor.width,
            anchor.y + y / CODED[0] * anchor.height,
            (width / CODED[1]).exp() * anchor.width,
            (height / CODED[1]).exp() * anchor.height,
        ))
    })
}

/// Boxes as left, top, right, bottom: in shares of the picture, or in its pixels.
pub fn decode_corners(outputs: &[Output<'_>], picture: Picture, threshold: f32) -> Option<Found> {
    boxes(outputs, threshold, |boxes, row| {
        let [wide, high] = match boxes.facts.real(i8::MAX) > 4.0 {
            true => [picture.width as f32, picture.height as f32],
            false => [1.0, 1.0],
        };
        let at = |number: usize| boxes.real(row * 4 + number);
        Some(Area {
            left: at(0) / wide,
            top: at(1) / high,
            right: at(2) / wide,
            bottom: at(3) / high,
        })
    })
}
