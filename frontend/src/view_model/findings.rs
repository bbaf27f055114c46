//! Boxes and key points as a drawing and as tables.

use super::decode::{
    Finding, Kind, Output, Picture, Point, class_name, decode, place_in_words, point_name,
};
use super::figures;
use super::output_map::channel_colour;
use crate::message::{OutputFacts, ReferenceFacts};

/// Most rows of the table of key points.
const MOST_POINTS: usize = 600;
/// Findings whose names are written into the drawing; the others have numbers.
const MOST_NAMED: usize = 12;

/// What is drawn of a finding, in pixels of the input.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawn {
    /// For styles.
    pub colour: String,
    /// Left, top, width, height.
    pub area: Option<[f32; 4]>,
    /// Across, down.
    pub points: Vec<[f32; 2]>,
    pub text: String,
    /// Where the text begins; nothing: there is none.
    pub text_at: Option<[f32; 2]>,
}

/// A box in the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoxRow {
    pub name: String,
    pub score: String,
    pub place: String,
}

/// A key point in the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointRow {
    pub name: String,
    pub score: String,
    pub place: String,
    /// Whether its score is below the threshold: it is not drawn.
    pub is_weak: bool,
}

/// All that was found, for people.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    pub words: String,
    pub note: Option<String>,
    pub drawn: Vec<Drawn>,
    pub boxes: Vec<BoxRow>,
    pub points: Vec<PointRow>,
}

/// What outputs hold if they are read as `kind`, with a threshold in percent.
#[must_use]
pub fn sheet(
    kind: Kind,
    facts: &[OutputFacts],
    reference: &ReferenceFacts,
    size: Picture,
    threshold: u64,
) -> Sheet {
    let outputs: Vec<Output<'_>> = facts
        .iter()
        .zip(&reference.outputs)
        .map(|(facts, values)| Output { facts, values })
        .collect();
    let share = threshold as f32 / 100.0;
    let found = decode(kind, &outputs, size, share);
    let is_weak = |point: &Point| point.score.is_some_and(|score| score < share);
    let [wide, high] = [size.width, size.height].map(|side| side as f32);
    let name = |finding: &Finding| class_name(kind, facts, finding.class);
    let score = |score: Option<f32>| {
        score.map_or_else(|| "–".to_owned(), |score| figures::percent(f64::from(score), 1.0))
    };

    let drawn = found.findings.iter().enumerate().map(|(index, finding)| {
        let area = finding.area.map(|area| area.on_picture());
        let text = match index {
            0..MOST_NAMED => format!("{} {} {}", index + 1, name(finding), score(finding.score)),
            _ => (index + 1).to_string(),
        };
        let strong = finding.points.iter().filter(|point| !is_weak(point));
        Drawn {
            colour: channel_colour(finding.class),
            area: area.map(|area| {
                let [width, height] = [area.right - area.left, area.bottom - area.top];
                [area.left * wide, area.top * high, width * wide, height * high]
            }),
            points: strong.map(|point| [point.x * wide, point.y * high]).collect(),
            text,
            // Above the box; inside where it begins at the upper edge.
            text_at: area.map(|area| {
                let line = wide.max(high) / 20.0;
                let top = area.top * high;
                [area.left * wide, if top > line { top - line / 4.0 } else { top + line }]
            }),
        }
    });
    let drawn = drawn.collect();

    let has_boxes = found.findings.iter().any(|finding| finding.area.is_some());
    let boxes = found.findings.iter().filter(|finding| finding.area.is_some());
    let boxes: Vec<BoxRow> = boxes
        .map(|finding| BoxRow {
            name: name(finding),
            score: score(finding.score),
            place: place_in_words(finding, size),
        })
        .collect();
    let of_finding = |(index, finding): (usize, &Finding)| {
        let count = finding.points.len();
        let row = move |(at, point): (usize, &Point)| PointRow {
            name: match has_boxes {
                true => format!("{}: {}", index + 1, point_name(kind, count, at)),
                false => point_name(kind, count, at),
            },
            score: score(point.score),
            place: format!(
                "{}, {}",
                figures::fixed(f64::from(point.x * wide), 0),
                figures::fixed(f64::from(point.y * high), 0)
            ),
            is_weak: is_weak(point),
        };
        finding.points.iter().enumerate().map(row).collect::<Vec<_>>()
    };
    let points: Vec<PointRow> = found.findings.iter().enumerate().flat_map(of_finding).collect();
    let points_in_all = points.len();
    let points = points.into_iter().take(MOST_POINTS).collect();

    let words = match (boxes.len() + found.more, has_boxes) {
        (_, false) if points_in_all > 0 => format!("{points_in_all} key points."),
        (0, _) => format!("Nothing has a score of at least {threshold} %."),
        (count, _) => {
            let what = if count == 1 { "1 thing has" } else { &format!("{count} things have") };
            format!("{what} a score of at least {threshold} %: {}.", counted(&boxes))
        }
    };
    let more = (found.more > 0).then(|| {
        format!("{} more are neither drawn nor listed.", figures::grouped(found.more as u64))
    });
    let notes: Vec<String> = more.into_iter().chain(found.note).collect();
    let note = (!notes.is_empty()).then(|| notes.join(" "));
    Sheet { words, note, drawn, boxes, points }
}

/// How many boxes of each class there are; at most five classes.
fn counted(boxes: &[BoxRow]) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for row in boxes {
        match counts.iter_mut().find(|(name, _)| *name == row.name) {
            Some((_, count)) => *count += 1,
            None => counts.push((&row.name, 1)),
        }
    }
    let told: Vec<String> =
        counts.iter().take(5).map(|(name, count)| format!("{count} × {name}")).collect();
    let more = if counts.len() > 5 { ", and others" } else { "" };
    format!("{}{more}", told.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> Vec<OutputFacts> {
        let output = |shape: [u32; 3], scale: f32| OutputFacts {
            name: String::new(),
            shape,
            is_scores: false,
            scale,
            zero: 0,
            labels: Vec::new(),
            labels_of: String::new(),
        };
        vec![output([1, 896, 16], 1.0), output([1, 896, 1], 0.1)]
    }

    #[test]
    fn a_face_is_drawn_named_and_listed_with_its_points() {
        let mut outputs = vec![vec![0i8; 896 * 16], vec![-100i8; 896]];
        // The middle of the picture, as far as cells have one.
        let row = 2 * (8 * 16 + 8);
        outputs[1][row] = 40;
        outputs[0][row * 16 + 2] = 64;
        outputs[0][row * 16 + 3] = 32;
        let reference = ReferenceFacts { outputs, ..ReferenceFacts::default() };
        let size = Picture { height: 128, width: 128 };
        let sheet = sheet(Kind::BlazeFace, &facts(), &reference, size, 50);
        assert_eq!(sheet.words, "1 thing has a score of at least 50 %: 1 × face.");
        assert_eq!(
            (sheet.boxes[0].score.as_str(), sheet.boxes[0].place.as_str()),
            ("98 %", "64 × 32 from 36, 52")
        );
        assert_eq!(sheet.points.len(), 6);
        assert_eq!(
            (sheet.points[0].name.as_str(), sheet.points[0].place.as_str()),
            ("1: right eye", "68, 68")
        );
        let drawn = &sheet.drawn[0];
        assert_eq!(
            (drawn.area, drawn.text.as_str()),
            (Some([36.0, 52.0, 64.0, 32.0]), "1 face 98 %")
        );
        let none = super::sheet(Kind::BlazeFace, &facts(), &reference, size, 99);
        assert_eq!(none.words, "Nothing has a score of at least 99 %.");
        assert!(none.drawn.is_empty() && none.note.is_none());
    }
}
