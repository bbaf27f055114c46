//! FOMO: for each cell of a grid the probabilities of classes, of which the first is the background.
//!
//! As in Edge Impulse's library, neighbouring cells of one class are one object; its centre is that of its cells.

use super::{Area, Finding, Found, MOST_FINDINGS, Output, Picture, Point};
use crate::message::OutputFacts;

/// Most classes with the background: more are seldom found on boards, and maps of more channels are something else.
const MOST_CLASSES: usize = 32;

/// Whether a cell covers several pixels and has classes.
pub fn suits(outputs: &[OutputFacts], picture: Picture) -> bool {
    let [output] = outputs else { return false };
    let [height, width, _] = output.shape;
    output.shape[0] >= 4
        && width >= 4
        && (2..=MOST_CLASSES).contains(&output.table()[1])
        && [4, 8, 16].iter().any(|stride| {
            [height, width] == [picture.height, picture.width].map(|side| side / stride)
        })
}

pub fn decode(outputs: &[Output<'_>], threshold: f32) -> Option<Found> {
    let output = outputs.first()?;
    let [height, width, classes] = output.facts.shape.map(|size| size as usize);
    let mut findings = Vec::new();
    for class in 1..classes {
        let score = |cell: usize| share(output, cell, class, classes);
        let mut is_open: Vec<bool> =
            (0..height * width).map(|cell| score(cell) >= threshold).collect();
        for start in 0..is_open.len() {
            if !std::mem::take(&mut is_open[start]) {
                continue;
            }
            let mut rest = vec![start];
            let (mut best, mut rows, mut columns) = (0.0f32, [height, 0], [width, 0]);
            while let Some(cell) = rest.pop() {
                let (row, column) = (cell / width, cell % width);
                best = best.max(score(cell));
                rows = [rows[0].min(row), rows[1].max(row + 1)];
                columns = [columns[0].min(column), columns[1].max(column + 1)];
                for row in row.saturating_sub(1)..(row + 2).min(height) {
                    for column in column.saturating_sub(1)..(column + 2).min(width) {
                        if std::mem::take(&mut is_open[row * width + column]) {
                            rest.push(row * width + column);
                        }
                    }
                }
            }
            let [left, right] = columns.map(|column| column as f32 / width as f32);
            let [top, bottom] = rows.map(|row| row as f32 / height as f32);
            let centre = Point { x: (left + right) / 2.0, y: (top + bottom) / 2.0, score: None };
            findings.push(Finding {
                class,
                score: Some(best),
                area: Some(Area { left, top, right, bottom }),
                points: vec![centre],
            });
        }
    }
    findings.sort_by(|a, b| b.score.unwrap_or(0.0).total_cmp(&a.score.unwrap_or(0.0)));
    let more = findings.len().saturating_sub(MOST_FINDINGS);
    findings.truncate(MOST_FINDINGS);
    Some(Found { findings, more, note: None })
}

/// The probability of a class at a cell; by softmax if the values are no probabilities.
fn share(output: &Output<'_>, cell: usize, class: usize, classes: usize) -> f32 {
    let at = |class: usize| output.real(cell * classes + class);
    if output.facts.are_shares() {
        return at(class).clamp(0.0, 1.0);
    }
    let most = (0..classes).map(at).fold(f32::MIN, f32::max);
    let all: f32 = (0..classes).map(|class| (at(class) - most).exp()).sum();
    (at(class) - most).exp() / all.max(f32::MIN_POSITIVE)
}
