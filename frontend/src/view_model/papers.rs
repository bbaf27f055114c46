//! Papers' figures in tables.

use std::rc::Rc;

use tilewright_report::{
    Kind, PaperFigure, PaperPlan, PlanSettings, Scatter, paper_curves, paper_number,
};

use super::figures::{self, grouped};
use super::fragment::Fragment;

/// Differences beyond this are drawn as this: half of the printed figure, either way.
const MOST: f64 = 0.5;

/// Figures of one table or figure of a paper.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    pub what: String,
    pub kind: Kind,
    pub rows: Vec<Row>,
    /// Why figures are off, each reason once.
    pub reasons: Vec<String>,
    /// The figures as curves, if they are.
    pub curves: Option<Rc<Scatter>>,
}

/// A figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub of: String,
    pub setting: String,
    pub ours: String,
    /// Empty if nothing is printed.
    pub printed: String,
    /// Empty without a printed figure.
    pub difference: String,
    /// Where the difference lies between −1 and 1, the ends being [`MOST`] and more.
    pub bar: Option<f64>,
    /// Number of its reason in the table's list, from 1.
    pub reason: Option<usize>,
    /// The link that opens its plan, and the command that makes it.
    pub plan: Option<(String, String)>,
}

/// A figure as people write it.
fn number(figure: f64, unit: &str) -> String {
    let text = paper_number(figure, grouped);
    if unit.is_empty() { text } else { format!("{text} {unit}") }
}

/// The fragment of a link that opens the plan.
fn link(plan: &PaperPlan) -> String {
    let settings = PlanSettings {
        board: plan.board.clone(),
        strategy: plan.strategy.clone(),
        sram_bytes: plan.sram_bytes,
        ..PlanSettings::default()
    };
    let model = Some(format!("zoo:{}", plan.network));
    format!("#{}", Fragment { model, settings, ..Fragment::default() }.text())
}

/// The tables of some figures.
#[must_use]
pub fn tables(figures: &[PaperFigure]) -> Vec<Table> {
    let mut tables: Vec<Table> = Vec::new();
    for figure in figures {
        if tables.last().is_none_or(|table| table.what != figure.what) {
            let (what, kind) = (figure.what.clone(), figure.kind);
            let (rows, reasons, curves) = (Vec::new(), Vec::new(), None);
            tables.push(Table { what, kind, rows, reasons, curves });
        }
        let Some(table) = tables.last_mut() else { continue };
        let reason = figure.why.as_ref().map(|why| {
            let known = table.reasons.iter().position(|reason| reason == why);
            known.unwrap_or_else(|| {
                table.reasons.push(why.clone());
                table.reasons.len() - 1
            }) + 1
        });
        let unit = figure.unit.as_str();
        table.rows.push(Row {
            of: figure.of.clone(),
            setting: figure.setting.clone(),
            ours: number(figure.ours, unit),
            printed: figure.printed.map(|printed| number(printed, unit)).unwrap_or_default(),
            difference: figure
                .difference
                .map(|off| format!("{} %", figures::signed(100.0 * off, 1)))
                .unwrap_or_default(),
            bar: figure.difference.map(|off| (off / MOST).clamp(-1.0, 1.0)),
            reason,
            plan: figure.plan.as_ref().map(|plan| (link(plan), plan.command())),
        });
    }
    for table in &mut tables {
        let own = figures.iter().filter(|figure| figure.what == table.what);
        table.curves = paper_curves(&own.collect::<Vec<_>>()).map(Rc::new);
    }
    tables
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(what: &str, ours: f64, printed: Option<f64>, why: Option<&str>) -> PaperFigure {
        PaperFigure {
            what: what.to_owned(),
            of: "net".to_owned(),
            setting: "small".to_owned(),
            ours,
            printed,
            unit: "KB".to_owned(),
            kind: Kind::Counted,
            difference: printed.map(|printed| ours / printed - 1.0),
            why: why.map(str::to_owned),
            plan: None,
        }
    }

    #[test]
    fn reasons_are_told_once_a_table() {
        let figures = [
            figure("table 1", 1234.5, Some(1000.0), Some("bytes")),
            figure("table 1", 8.0, None, None),
            figure("table 1", 0.5, Some(2.0), Some("bytes")),
            figure("figure 2", 12.34, Some(12.0), None),
        ];
        let [first, second] = &tables(&figures)[..] else { panic!() };
        assert_eq!((first.rows.len(), &first.reasons[..]), (3, &["bytes".to_owned()][..]));
        let texts = first.rows.iter().map(|row| (&*row.ours, &*row.printed, &*row.difference));
        let texts: Vec<_> = texts.collect();
        assert_eq!(texts[0], ("1\u{202f}235 KB", "1\u{202f}000 KB", "+23.4 %"));
        assert_eq!(texts[1], ("8 KB", "", ""));
        assert_eq!(texts[2], ("0.50 KB", "2 KB", "−75.0 %"));
        let reasons: Vec<_> = first.rows.iter().map(|row| row.reason).collect();
        assert_eq!(reasons, [Some(1), None, Some(1)]);
        assert_eq!(first.rows[2].bar, Some(-1.0));
        assert_eq!(second.rows[0].ours, "12.3 KB");
    }

    #[test]
    fn a_link_opens_the_plan() {
        let plan = PaperPlan {
            network: "vgg16".to_owned(),
            board: "paper-swapnn-512k".to_owned(),
            strategy: "swap".to_owned(),
            sram_bytes: Some(512_000),
        };
        let figure = PaperFigure { plan: Some(plan), ..figure("t", 1.0, None, None) };
        let (link, command) = tables(&[figure])[0].rows[0].plan.clone().unwrap();
        let read = Fragment::parse(&link);
        assert_eq!(read.model.as_deref(), Some("zoo:vgg16"));
        assert_eq!(read.settings.board, "paper-swapnn-512k");
        assert_eq!(
            (read.settings.strategy.as_str(), read.settings.sram_bytes),
            ("swap", Some(512_000))
        );
        assert!(command.starts_with("tilewright plan zoo:vgg16"));
    }
}
