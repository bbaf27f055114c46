//! The answer of a keyword model over time, as lines.

use super::figures;
use super::output_map::channel_colour;
use crate::message::{OutputFacts, TraceFacts};

/// Classes that have a line: those that come highest.
const MOST_LINES: usize = 6;

/// A class over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    pub name: String,
    pub colour: String,
    /// For a second cue beside the colour, as SVG wants it.
    pub dashes: &'static str,
    /// Across and down in shares of the chart.
    pub points: Vec<[f64; 2]>,
    /// Its largest value, and when that was.
    pub most: String,
    pub at: String,
}

/// Lines with the range of their values.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    pub lines: Vec<Line>,
    pub least: String,
    pub most: String,
    /// Time of the last answer.
    pub end: String,
    pub words: String,
}

const DASHES: [&str; MOST_LINES] = ["", "6 3", "2 3", "8 3 2 3", "12 4", "1 2"];

/// A trace as lines; nothing if it holds no values.
#[must_use]
pub fn trace(outputs: &[OutputFacts], facts: &TraceFacts) -> Option<Trace> {
    let output = outputs.get(facts.output as usize)?;
    let classes = facts.rows.first()?.len();
    let value = |row: &[i8], class: usize| {
        let value = row.get(class).copied().unwrap_or_default();
        output.scale * (i32::from(value) - output.zero) as f32
    };
    // The answer of a window is there at its end.
    let seconds = |step: usize| (step as f64 * facts.hop_us + facts.window_us) / 1e6;
    let largest = |class: usize| {
        let rows = facts.rows.iter().enumerate().rev();
        rows.map(|(step, row)| (step, value(row, class))).max_by(|a, b| a.1.total_cmp(&b.1))
    };
    let mut order: Vec<(usize, usize, f32)> = (0..classes)
        .filter_map(|class| largest(class).map(|(step, most)| (class, step, most)))
        .collect();
    order.sort_by(|a, b| b.2.total_cmp(&a.2));
    order.truncate(MOST_LINES);
    let shown =
        || facts.rows.iter().flat_map(|row| order.iter().map(|(class, ..)| value(row, *class)));
    let (least, most) = (shown().fold(0.0, f32::min), shown().fold(f32::MIN, f32::max));
    let most = if least >= 0.0 && most <= 1.0 { 1.0 } else { most };
    let span = f64::from((most - least).max(f32::EPSILON));
    let last = (facts.rows.len() - 1).max(1) as f64;
    let name = |class: usize| {
        let label = output.labels.get(class);
        label.cloned().unwrap_or_else(|| format!("class {class}"))
    };
    let decimal = |value: f32| figures::fixed(f64::from(value), 2);
    let lines =
        order.iter().zip(DASHES).enumerate().map(|(index, ((class, step, largest), dashes))| {
            Line {
                name: name(*class),
                colour: channel_colour(index),
                dashes,
                points: facts
                    .rows
                    .iter()
                    .enumerate()
                    .map(|(step, row)| {
                        [step as f64 / last, 1.0 - f64::from(value(row, *class) - least) / span]
                    })
                    .collect(),
                most: decimal(*largest),
                at: format!("{} s", figures::fixed(seconds(*step), 2)),
            }
        });
    let lines: Vec<Line> = lines.collect();
    let first = lines.first()?;
    let words = format!(
        "{} answers, one every {}. The highest: {} with {} at {}.",
        facts.rows.len(),
        figures::duration(facts.hop_us),
        first.name,
        first.most,
        first.at
    );
    let end = format!("{} s", figures::fixed(seconds(facts.rows.len() - 1), 2));
    Some(Trace { least: decimal(least), most: decimal(most), end, words, lines })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_lines_with_the_highest_first() {
        let output = OutputFacts {
            name: String::new(),
            shape: [1, 1, 3],
            is_scores: true,
            scale: 1.0 / 256.0,
            zero: -128,
            labels: vec!["yes".to_owned(), "no".to_owned()],
            labels_of: String::new(),
        };
        let rows = vec![vec![-128, 0, -128], vec![-128, 64, -64], vec![-100, 127, -128]];
        let facts = TraceFacts { output: 0, hop_us: 100_000.0, window_us: 1_000_000.0, rows };
        let trace = trace(std::slice::from_ref(&output), &facts).unwrap();
        assert_eq!(trace.lines.len(), 3);
        assert_eq!((trace.lines[0].name.as_str(), trace.lines[0].at.as_str()), ("no", "1.20 s"));
        assert_eq!(trace.lines[1].name, "class 2");
        assert_eq!((trace.least.as_str(), trace.most.as_str()), ("0.00", "1.00"));
        assert_eq!(trace.lines[0].points[1], [0.5, 0.25]);
        assert!(trace.words.ends_with("The highest: no with 1.00 at 1.20 s."), "{}", trace.words);
        assert_eq!(super::trace(&[output], &TraceFacts { rows: Vec::new(), ..facts }), None);
    }
}
