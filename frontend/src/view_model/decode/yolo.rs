//! YOLO with all boxes in one list, as its exports give it.
//!
//! - Versions 3, 5 and 7: a row for each of three boxes of a cell: centre, size, objectness, classes.
//! - Versions 8 and later: a column for each cell: centre, size, classes (and key points of a pose).
//! - YOLOX: a row for each cell: centre and logarithm of the size in strides, objectness, classes.
//!
//! Centre and size are in pixels of the input, or in shares of it where the export made them so.

use super::suppress::suppressed;
use super::{Area, Finding, Found, Kind, Output, Picture, Point, logistic};
use crate::message::OutputFacts;

/// Steps of cells in pixels that networks have.
const STRIDES: [&[u32]; 3] = [&[8, 16, 32], &[16, 32], &[8, 16, 32, 64]];
const OVERLAP: f32 = 0.45;
/// Numbers of a pose: box, score, and 17 points with scores.
const POSE: usize = 4 + 1 + 3 * 17;

/// Where the numbers of a box are.
struct Layout {
    /// Index of the output.
    output: usize,
    strides: &'static [u32],
    boxes: usize,
    numbers: usize,
    /// Whether the numbers of a box are a column.
    is_turned: bool,
}

impl Layout {
    const fn index(&self, row: usize, number: usize) -> usize {
        if self.is_turned { number * self.boxes + row } else { row * self.numbers + number }
    }
}

fn cells(picture: Picture, strides: &[u32]) -> usize {
    let of = |stride: &u32| (picture.width / stride) as usize * (picture.height / stride) as usize;
    strides.iter().map(of).sum()
}

fn layout(kind: Kind, outputs: &[OutputFacts], picture: Picture) -> Option<Layout> {
    STRIDES.iter().find_map(|strides| {
        let cells = cells(picture, strides);
        let (each, least) = match kind {
            Kind::YoloObjectness => (3, 6),
            Kind::YoloX => (1, 6),
            Kind::YoloPose => (1, POSE),
            _ => (1, 5),
        };
        outputs.iter().enumerate().find_map(|(output, facts)| {
            let [rows, columns] = facts.table();
            let boxes = cells * each;
            let is_turned = columns == boxes && rows != boxes;
            let numbers = if is_turned { rows } else { columns };
            // A list of boxes is no map.
            let is_list = facts.shape[0] == 1 || facts.shape[1] == 1;
            let suits = is_list
                && boxes > 0
                && (is_turned || rows == boxes)
                && numbers >= least
                && (kind != Kind::YoloPose || numbers == POSE)
                && !(kind == Kind::YoloX && is_turned);
            suits.then_some(Layout { output, strides, boxes, numbers, is_turned })
        })
    })
}

pub fn suits(kind: Kind, outputs: &[OutputFacts], picture: Picture) -> bool {
    layout(kind, outputs, picture).is_some()
}

/// Classes of the output with the longest list.
pub fn classes(kind: Kind, outputs: &[OutputFacts]) -> Option<usize> {
    let [rows, columns] = outputs.iter().max_by_key(|output| output.elements())?.table();
    let before = if kind == Kind::Yolo { 4 } else { 5 };
    rows.min(columns).checked_sub(before)
}

pub fn decode(
    kind: Kind,
    outputs: &[Output<'_>],
    picture: Picture,
    threshold: f32,
) -> Option<Found> {
    let facts: Vec<OutputFacts> = outputs.iter().map(|output| output.facts.clone()).collect();
    let layout = layout(kind, &facts, picture)?;
    let output = &outputs[layout.output];
    let at = |row: usize, number: usize| output.real(layout.index(row, number));
    let has_objectness = matches!(kind, Kind::YoloObjectness | Kind::YoloX);
    let first = if has_objectness { 5 } else { 4 };
    let last = if kind == Kind::YoloPose { first + 1 } else { layout.numbers };
    let rows = || 0..layout.boxes;
    // What goes below 0 or above 1 is not yet a probability.
    let step = output.facts.scale;
    let are_logits = rows().any(|row| {
        (4..last).any(|number| !(-step - 0.02..=1.02 + step).contains(&at(row, number)))
    });
    let probability = |value: f32| if are_logits { logistic(value) } else { value };
    let are_shares = rows().all(|row| (0..4).all(|number| at(row, number) <= 2.0));
    let [wide, high] = match (kind, are_shares) {
        (Kind::YoloX, _) | (_, false) => [picture.width as f32, picture.height as f32],
        (_, true) => [1.0, 1.0],
    };
    let mut places = layout.strides.iter().flat_map(|stride| {
        let columns = picture.width / stride;
        let of = move |cell: u32| [cell % columns, cell / columns, *stride].map(|part| part as f32);
        (0..columns * (picture.height / stride)).map(of)
    });
    let mut candidates = Vec::new();
    for row in rows() {
        let place = if kind == Kind::YoloX { places.next() } else { None };
        let objectness = if has_objectness { probability(at(row, 4)) } else { 1.0 };
        if objectness < threshold {
            continue;
        }
        let scores = (first..last).map(|number| at(row, number));
        let best = scores.enumerate().reduce(|best, one| if one.1 > best.1 { one } else { best });
        let Some((class, value)) = best else { continue };
        let score = objectness * probability(value);
        if score < threshold {
            continue;
        }
        let [mut x, mut y, mut width, mut height] = [0, 1, 2, 3].map(|number| at(row, number));
        if let Some([column, line, stride]) = place {
            [x, y] = [(x + column) * stride, (y + line) * stride];
            [width, height] = [width, height].map(|size| size.exp() * stride);
        }
        let point = |point: usize| {
            let at = |part: usize| at(row, 5 + 3 * point + part);
            Point { x: at(0) / wide, y: at(1) / high, score: Some(at(2)) }
        };
        candidates.push(Finding {
            class,
            score: Some(score),
            area: Some(Area::around(x / wide, y / high, width / wide, height / high)),
            points: if kind == Kind::YoloPose { (0..17).map(point).collect() } else { Vec::new() },
        });
    }
    let mut found = suppressed(candidates, OVERLAP);
    if !are_shares && step > 0.05 {
        found.note = Some(format!(
            "Boxes in pixels and probabilities share one scale here: a step of int8 is {}, so that probabilities \
             are lost. Export the model with boxes from 0 to 1, or with two outputs.",
            super::figures::fixed(f64::from(step), 2)
        ));
    }
    Some(found)
}
