//! Figures of publications beside ours.

use serde::{Deserialize, Serialize};

use crate::figure::Kind;
use crate::scatter_svg::{Axis, Point, Scatter, Series};

/// A figure here beside a published one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PaperFigure {
    /// The table or figure of the paper, or what is compared.
    pub what: String,
    /// The network, or the layer.
    pub of: String,
    /// How it is planned or measured.
    pub setting: String,
    /// Here.
    pub ours: f64,
    /// What the paper prints; nothing where its curve is a picture, or where it has none.
    pub printed: Option<f64>,
    /// Of both; may be empty.
    pub unit: String,
    /// How ours came to be.
    pub kind: Kind,
    /// Ours over printed, less one; nothing if either is not there.
    pub difference: Option<f64>,
    /// Why, if it is more than a tenth.
    pub why: Option<String>,
    /// The plan that ours is of, if it is of one.
    pub plan: Option<PaperPlan>,
}

/// How to make a plan again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaperPlan {
    /// Network of the zoo.
    pub network: String,
    /// Board id.
    pub board: String,
    /// Strategy.
    pub strategy: String,
    /// Budget of SRAM; nothing: the board's.
    pub sram_bytes: Option<u64>,
}

impl PaperPlan {
    /// The command that makes it.
    #[must_use]
    pub fn command(&self) -> String {
        let Self { network, board, strategy, sram_bytes } = self;
        let sram = sram_bytes.map_or_else(String::new, |bytes| format!(" --sram {bytes}"));
        format!("tilewright plan zoo:{network} --board {board} --strategy {strategy}{sram}")
    }
}

/// Fewest places on an axis that make a curve.
const FEWEST_PLACES: usize = 3;

/// Figures of one kind as curves over the number that their settings begin with, such as 16 in `16 KB buffers`, with
/// what is printed as points; nothing if they are no curves.
#[must_use]
pub fn paper_curves(figures: &[&PaperFigure]) -> Option<Scatter> {
    let first = figures.first()?;
    let parts = |figure: &PaperFigure| -> Option<(f64, String, String)> {
        let (number, rest) = figure.setting.split_once(' ')?;
        let (axis, other) = rest.split_once(", ").unwrap_or((rest, ""));
        Some((number.parse().ok()?, axis.to_owned(), other.to_owned()))
    };
    let (_, axis, _) = parts(first)?;
    let mut series: Vec<Series> = Vec::new();
    let mut printed = Vec::new();
    let mut places: Vec<f64> = Vec::new();
    for figure in figures {
        let (x, own, other) = parts(figure)?;
        if own != axis {
            return None;
        }
        if !places.contains(&x) {
            places.push(x);
        }
        let name =
            if other.is_empty() { figure.of.clone() } else { format!("{}, {other}", figure.of) };
        let point = |y: f64| Point { x, y, title: format!("{}, {}", figure.of, figure.setting) };
        printed.extend(figure.printed.map(point));
        let ours = point(figure.ours);
        match series.iter_mut().find(|known| known.name == name) {
            Some(known) => known.points.push(ours),
            None => series.push(Series { name, points: vec![ours], is_joined: true }),
        }
    }
    if places.len() < FEWEST_PLACES {
        return None;
    }
    for series in &mut series {
        series.points.sort_by(|a, b| a.x.total_cmp(&b.x));
    }
    if !printed.is_empty() {
        series.push(Series { name: "printed".to_owned(), points: printed, is_joined: false });
    }
    let unit = if first.unit.is_empty() { String::new() } else { format!(", {}", first.unit) };
    let upwards = format!("{}{unit} ({})", first.what, first.kind.word());
    let values = series.iter().flat_map(|series| &series.points);
    let y = Axis::fitting(&upwards, values.map(|point| point.y));
    let x = Axis::fitting(&axis, places.into_iter());
    Some(Scatter { title: first.what.clone(), x, y, series, ..Scatter::default() })
}

/// A figure as people write it; `grouped` writes whole numbers.
#[must_use]
pub fn paper_number(figure: f64, grouped: impl Fn(u64) -> String) -> String {
    let size = figure.abs();
    let text = match size {
        whole if whole < 1e15 && whole.fract() == 0.0 => grouped(whole as u64),
        0.0..10.0 => format!("{size:.2}"),
        10.0..1000.0 => format!("{size:.1}"),
        _ => grouped(size.round() as u64),
    };
    if figure < 0.0 { format!("−{text}") } else { text }
}

/// A paper, and figures of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PaperReport {
    /// Id, as the command line takes it.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// Authors, title, place and year.
    pub citation: String,
    /// How the paper is read where it leaves room.
    pub reading: String,
    /// How many parts its figures are made in.
    pub parts: usize,
    /// Those that are made, by what is compared.
    pub figures: Vec<PaperFigure>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_begin_with_numbers_make_curves() {
        let figure = |of: &str, setting: &str, ours: f64, printed: Option<f64>| PaperFigure {
            what: "IO time".to_owned(),
            of: of.to_owned(),
            setting: setting.to_owned(),
            ours,
            printed,
            unit: "s".to_owned(),
            kind: Kind::Modelled,
            difference: None,
            why: None,
            plan: None,
        };
        let all = [
            figure("VGG16", "64 KB buffers, 512k SRAM", 3.0, None),
            figure("VGG16", "16 KB buffers, 512k SRAM", 9.0, Some(8.0)),
            figure("VGG16", "32 KB buffers, 512k SRAM", 5.0, None),
            figure("VGG16", "16 KB buffers, 8m SRAM", 8.0, None),
        ];
        let curves = paper_curves(&all.iter().collect::<Vec<_>>()).unwrap();
        let names: Vec<&str> = curves.series.iter().map(|series| series.name.as_str()).collect();
        assert_eq!(names, ["VGG16, 512k SRAM", "VGG16, 8m SRAM", "printed"]);
        let xs: Vec<f64> = curves.series[0].points.iter().map(|point| point.x).collect();
        assert_eq!((xs, curves.x.title.as_str()), (vec![16.0, 32.0, 64.0], "KB buffers"));
        assert_eq!(curves.y.title, "IO time, s (modelled)");
        let none = [figure("a", "of ten frames", 1.0, None)];
        assert_eq!(paper_curves(&none.iter().collect::<Vec<_>>()), None);
        assert_eq!(paper_curves(&all[..2].iter().collect::<Vec<_>>()), None, "two places");
    }

    #[test]
    fn figures_have_three_digits_or_are_whole_and_keep_their_sign() {
        let text = |figure| paper_number(figure, |whole| whole.to_string());
        let texts = [0.0, 2.0, 0.017, 12.34, 1234.5, -3.0, -0.25].map(text);
        assert_eq!(texts, ["0", "2", "0.02", "12.3", "1235", "−3", "−0.25"]);
    }
}
