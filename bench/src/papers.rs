//! What both papers on memory beyond SRAM print, beside what comes out here: Sadiq's thesis on overlaying
//! (TinyOps, chapter 4) and Miao and Lin's SwapNN. Every row says how far it is off, and each that is more
//! than a tenth off says why.

mod thesis;
mod why;

use serde::Serialize;
use tilewright_report::Kind;

use crate::{overlay, swapnn};

/// Differences above this are explained.
const EXPLAINED: f64 = 0.1;

/// Unit of an accuracy that somebody has measured.
const ACCURACY: &str = "% top-1";

/// Unit of differences of accuracies.
const POINTS: &str = "points of accuracy more";

/// A figure here beside a published one.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    paper: &'static str,
    what: String,
    /// The network, or the layer.
    of: String,
    setting: String,
    ours: f64,
    /// What the paper prints; nothing where its curve is a picture, or where it has none.
    printed: Option<f64>,
    unit: &'static str,
    kind: Kind,
    /// Ours over printed, less one.
    difference: Option<f64>,
    /// Why, if it is more than a tenth.
    why: Option<&'static str>,
}

impl Row {
    fn new(
        paper: &'static str,
        what: impl Into<String>,
        (of, setting): (impl Into<String>, impl Into<String>),
        (ours, printed): (f64, Option<f64>),
        unit: &'static str,
    ) -> Self {
        let (what, of, setting) = (what.into(), of.into(), setting.into());
        let difference = printed.map(|printed| ours / printed - 1.0);
        let kind = match unit {
            "" | "MB" | "KB" | "M" | "MOPs" => Kind::Counted,
            ACCURACY | POINTS => Kind::Measured,
            _ => Kind::Modelled,
        };
        let mut row =
            Self { paper, what, of, setting, ours, printed, unit, kind, difference, why: None };
        if row.difference.is_some_and(|difference| difference.abs() > EXPLAINED) {
            row.why = why::of(&row);
        }
        row
    }
}

/// Prints all figures.
///
/// # Errors
/// If a network cannot be planned.
pub fn papers(json: bool) -> Result<(), String> {
    let tables = overlay::rows()?;
    let mut rows = rows(&tables)?;
    rows.extend(thesis::beaten(&tables)?);
    if json {
        let text = serde_json::to_string_pretty(&rows).map_err(|error| error.to_string())?;
        println!("{text}");
        return Ok(());
    }
    let mut heading = (String::new(), String::new());
    for row in &rows {
        let its = (row.paper.to_owned(), row.what.clone());
        if its != heading {
            println!("\n{}: {} ({})", row.paper, row.what, row.kind.word());
            println!("  {:33} {:28} {:>10} {:>10} {:>8}", "", "", "ours", "printed", "");
            heading = its;
        }
        let printed = row.printed.map_or_else(String::new, number);
        let off = row.difference.map_or_else(String::new, |off| format!("{:+.1} %", 100.0 * off));
        let Row { of, setting, unit, .. } = row;
        let ours = number(row.ours);
        println!("  {of:33} {setting:28} {ours:>10} {printed:>10} {off:>8}  {unit}");
        if let Some(why) = row.why {
            println!("      {why}");
        }
    }
    let off = rows.iter().filter(|row| row.why.is_some()).count();
    let beside = rows.iter().filter(|row| row.printed.is_some()).count();
    println!("\n{beside} printed figures, {off} of them more than 10 % off, each with its reason");
    Ok(())
}

fn number(figure: f64) -> String {
    match figure.abs() {
        0.0..10.0 => format!("{figure:.2}"),
        10.0..1000.0 => format!("{figure:.1}"),
        _ => format!("{figure:.0}"),
    }
}

/// Those that stand beside a printed one, and what belongs to them.
fn rows(tables: &[overlay::Row]) -> Result<Vec<Row>, String> {
    let mut rows = thesis::rows(tables)?;
    rows.extend(swapnn::rows()?.into_iter().map(|row| {
        let figures = (row.ours, row.paper);
        Row::new("SwapNN", row.what, (row.network, row.setting), figures, row.unit)
    }));
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_far_off_says_why() {
        let rows = rows(&overlay::rows().unwrap()).unwrap();
        for row in &rows {
            let far = row.difference.is_some_and(|difference| difference.abs() > EXPLAINED);
            assert_eq!(far, row.why.is_some(), "{row:?}");
        }
        for (index, reason) in why::REASONS.iter().enumerate() {
            let used = rows.iter().any(|row| row.why == Some(reason.3));
            assert!(used, "nothing needs reason {index}: {reason:?}");
        }
        // Both papers' tables are there whole.
        let printed = |paper: &str, what: &str| {
            rows.iter()
                .filter(|row| row.paper == paper && row.what == what && row.printed.is_some())
                .count()
        };
        let thesis = |what| printed(thesis::PAPER, what);
        assert_eq!(thesis("table 4.5, latency"), 10);
        assert_eq!(thesis("table 4.5, power"), 9);
        assert_eq!(thesis("table 4.5, energy"), 9);
        assert_eq!(thesis("table 4.6, latency"), 10);
        assert_eq!(thesis("table 4.3"), 8);
        assert_eq!(thesis("MobileNetV3 overlaid, F746"), 9);
        assert_eq!(thesis("table 5.2, most accurate within"), 9);
        assert_eq!(printed("SwapNN", "table 1"), 28);
        assert_eq!(printed("SwapNN", "table 2"), 20);
    }
}
