//! Many plans as charts, as a matrix of what fits, and side by side.

use std::rc::Rc;

use tilewright_report::{Kind, PlanSettings, Scatter, SweepAxis, SweepBy, SweepKey, SweepRow};

use super::figures;
use super::fragment::Fragment;
use crate::state::{ExploreSpec, View};

/// A chart, and the rows that its points are of.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// What it is of, if there are several.
    pub title: String,
    pub scatter: Rc<Scatter>,
    /// Places of rows, as series and points have them.
    pub places: Vec<Vec<usize>>,
}

/// Charts whose axes hold the points of all of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Charts {
    pub all: Vec<Chart>,
    /// All points.
    pub span: Rc<Scatter>,
}

/// The charts that a choice asks for.
#[must_use]
pub fn charts(spec: &ExploreSpec, rows: &[Rc<SweepRow>], command: String) -> Charts {
    let groups = spec.chart.groups(rows);
    let span = Rc::new(spec.chart.scatter(rows, command));
    let places = |groups: Vec<(String, Vec<usize>)>| {
        groups.into_iter().map(|(_, places)| places).collect::<Vec<_>>()
    };
    let Some(apart) = spec.apart else {
        let (title, scatter) = (String::new(), Rc::clone(&span));
        let all = vec![Chart { title, scatter, places: places(groups) }];
        return Charts { all, span };
    };
    let mut titles: Vec<String> = Vec::new();
    for place in groups.iter().flat_map(|(_, places)| places) {
        let title = apart.of(&rows[*place].key);
        if !titles.contains(&title) {
            titles.push(title);
        }
    }
    let chart = |title: String| {
        let is_of = |place: &usize| apart.of(&rows[*place].key) == title;
        let part: Vec<(String, Vec<usize>)> = groups
            .iter()
            .map(|(name, places)| (name.clone(), places.iter().copied().filter(is_of).collect()))
            .collect();
        let (x, y) = (span.x.clone(), span.y.clone());
        let scatter = spec.chart.scatter_of(rows, &part, String::new());
        let scatter = Rc::new(Scatter { x, y, ..scatter });
        Chart { title, scatter, places: places(part) }
    };
    Charts { all: titles.into_iter().map(chart).collect(), span }
}

/// What fits: a row for each model and what is asked of it, a column for each board and strategy.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// Boards, with the strategies of each.
    pub boards: Vec<(String, Vec<String>)>,
    pub rows: Vec<MatrixRow>,
}

/// A model in all columns.
#[derive(Clone, Debug, PartialEq)]
pub struct MatrixRow {
    pub title: String,
    /// Whether, and how fast; nothing is not planned yet.
    pub cells: Vec<Option<MatrixCell>>,
}

/// A plan.
#[derive(Clone, Debug, PartialEq)]
pub struct MatrixCell {
    pub key: SweepKey,
    pub is_fitting: bool,
    /// Latency, or a cross.
    pub text: String,
    /// Why not.
    pub why: String,
}

/// The matrix of the rows that are known.
#[must_use]
pub fn matrix(spec: &ExploreSpec, rows: &[Rc<SweepRow>]) -> Matrix {
    let boards = spec.boards.iter().map(|board| (board.clone(), spec.strategies.clone()));
    let columns: Vec<(&String, &String)> = spec
        .boards
        .iter()
        .flat_map(|board| spec.strategies.iter().map(move |strategy| (board, strategy)))
        .collect();
    let mut all: Vec<MatrixRow> = Vec::new();
    for row in rows {
        let title = asked(&row.key);
        let at = columns.iter().position(|(board, strategy)| {
            **board == row.key.board && **strategy == row.key.strategy
        });
        let Some(at) = at else { continue };
        let index = all.iter().position(|known| known.title == title).unwrap_or_else(|| {
            all.push(MatrixRow { title, cells: vec![None; columns.len()] });
            all.len() - 1
        });
        all[index].cells[at] = Some(cell(row));
    }
    Matrix { boards: boards.collect(), rows: all }
}

/// Model and what is asked of it.
fn asked(key: &SweepKey) -> String {
    let words = key.words();
    let of = format!("{}, {}, {}", key.network, key.board, key.strategy);
    format!("{}{}", key.network, words.strip_prefix(&of).unwrap_or_default())
}

fn cell(row: &SweepRow) -> MatrixCell {
    let (key, latency) = (row.key.clone(), row.latency_us());
    MatrixCell {
        key,
        is_fitting: latency.is_some(),
        text: latency.map_or_else(|| "✕".to_owned(), figures::duration),
        why: row.problem.clone().unwrap_or_default(),
    }
}

/// A figure of several plans.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    pub title: &'static str,
    pub kind: Kind,
    /// What each plan has of it, and whether nothing is better.
    pub cells: Vec<(String, bool)>,
}

/// Plans side by side. Of one plan nothing is marked as best.
#[must_use]
pub fn beside(rows: &[Rc<SweepRow>]) -> Vec<Figure> {
    let shown = SweepAxis::ALL.into_iter().filter(|axis| !axis.is_asked());
    let figure = |axis: SweepAxis| {
        let values: Vec<Option<f64>> = rows.iter().map(|row| axis.value(row)).collect();
        let known = || values.iter().flatten().copied();
        let best = match axis {
            SweepAxis::Years => known().fold(f64::NEG_INFINITY, f64::max),
            _ => known().fold(f64::INFINITY, f64::min),
        };
        let is_better = !matches!(axis, SweepAxis::Macs | SweepAxis::Parameters);
        let is_told = is_better && rows.len() > 1 && known().any(|value| value != best);
        let cell = |value: &Option<f64>| {
            let text = value.map_or_else(|| "–".to_owned(), |value| figure_text(axis, value));
            (text, is_told && *value == Some(best))
        };
        (known().next().is_some()).then(|| Figure {
            title: title(axis),
            kind: kind(axis),
            cells: values.iter().map(cell).collect(),
        })
    };
    shown.filter_map(figure).collect()
}

const fn title(axis: SweepAxis) -> &'static str {
    match axis {
        SweepAxis::Latency => "Latency",
        SweepAxis::Sram => "SRAM",
        SweepAxis::Flash => "Flash",
        SweepAxis::External => "External memory",
        SweepAxis::Energy => "Energy of a frame",
        SweepAxis::Written => "Written to the card a frame",
        SweepAxis::Years => "The card lasts at least",
        SweepAxis::Macs => "MACs",
        SweepAxis::Parameters => "Parameters",
        SweepAxis::Budget => "Budget of SRAM",
        SweepAxis::Clock => "Clock",
        SweepAxis::Frames => "Frames",
    }
}

const fn kind(axis: SweepAxis) -> Kind {
    match axis {
        SweepAxis::Latency | SweepAxis::Energy | SweepAxis::Years => Kind::Modelled,
        _ => Kind::Counted,
    }
}

fn figure_text(axis: SweepAxis, value: f64) -> String {
    let kib = |kib: f64| figures::binary((kib * 1024.0) as u64);
    match axis {
        SweepAxis::Latency => figures::duration(value * 1e3),
        SweepAxis::Sram | SweepAxis::Flash | SweepAxis::External | SweepAxis::Budget => kib(value),
        SweepAxis::Energy => figures::joules(value * 1e3),
        SweepAxis::Written => figures::decimal(value * 1024.0),
        SweepAxis::Years => figures::years(value),
        SweepAxis::Macs | SweepAxis::Parameters => figures::grouped((value * 1e6) as u64),
        SweepAxis::Clock | SweepAxis::Frames => figures::fixed(value, 0),
    }
}

/// The fragment of a link that opens the plan of a row; `open` is the name of the open model with its link.
#[must_use]
pub fn link(key: &SweepKey, open: Option<(&str, &str)>) -> String {
    let settings = PlanSettings {
        strategy: key.strategy.clone(),
        sram_bytes: key.sram_budget_bytes,
        clock_hz: key.clock_hz,
        card: key.card.clone(),
        frames: (key.frames > 1).then_some(key.frames),
        ..PlanSettings::default().on_board(&key.board)
    };
    let model = match open {
        Some((name, link)) if name == key.network => link.to_owned(),
        _ => format!("zoo:{}", key.network),
    };
    let view = View::Overview;
    format!("#{}", Fragment { model: Some(model), settings, view, ..Fragment::default() }.text())
}

/// What a choice of what rows are told apart by is called.
#[must_use]
pub const fn by_title(by: SweepBy) -> &'static str {
    match by {
        SweepBy::Strategy => "strategy",
        SweepBy::Board => "board",
        SweepBy::Model => "model",
        SweepBy::Budget => "SRAM budget",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_plan::{Bytes, Micros};
    use tilewright_report::SweepPlan;

    fn row(board: &str, strategy: &str, ms: Option<f64>) -> Rc<SweepRow> {
        let key = SweepKey {
            network: "vww".to_owned(),
            board: board.to_owned(),
            strategy: strategy.to_owned(),
            sram_budget_bytes: Some(65_536),
            clock_hz: None,
            card: None,
            frames: 1,
        };
        let plan = ms.map(|ms| SweepPlan {
            fits: true,
            latency_us: Some(Micros(ms * 1e3).into()),
            sram_bytes: Bytes(2048).into(),
            flash_bytes: Bytes(1024).into(),
            external_bytes: Bytes(0).into(),
            energy_uj: None,
            card_written_bytes: 0.0.into(),
            card_years: None,
        });
        let problem = ms.is_none().then(|| "It does not fit.".to_owned());
        Rc::new(SweepRow { key, macs: Some(5.into()), parameters: Some(5.into()), plan, problem })
    }

    fn rows() -> Vec<Rc<SweepRow>> {
        vec![row("a", "auto", Some(4.0)), row("a", "swap", Some(9.0)), row("b", "auto", None)]
    }

    #[test]
    fn charts_stand_beside_each_other_with_the_same_colours() {
        let spec = ExploreSpec::parse("m:vww;b:a,b;s:auto,swap;per:board");
        let [one] = &charts(&spec, &rows(), String::new()).all[..] else { panic!() };
        assert_eq!((one.title.as_str(), &one.places), ("a", &vec![vec![0], vec![1]]));
        let per_strategy = ExploreSpec { apart: Some(SweepBy::Strategy), ..spec };
        let both = charts(&per_strategy, &rows(), String::new());
        assert_eq!(both.all[1].places, [vec![], vec![1]], "swap has its colour alone too");
    }

    #[test]
    fn the_matrix_says_what_fits_and_why_not() {
        let spec = ExploreSpec::parse("m:vww;b:a,b;s:auto,swap;r:65536");
        let matrix = matrix(&spec, &rows());
        let [row] = &matrix.rows[..] else { panic!("{matrix:?}") };
        assert_eq!(row.title, "vww, 64 KiB of SRAM");
        let texts: Vec<Option<&str>> =
            row.cells.iter().map(|cell| cell.as_ref().map(|cell| cell.text.as_str())).collect();
        assert_eq!(texts, [Some("4.00 ms"), Some("9.00 ms"), Some("✕"), None]);
        assert_eq!(row.cells[2].as_ref().unwrap().why, "It does not fit.");
    }

    #[test]
    fn the_best_of_several_is_marked_and_its_link_opens_it() {
        let rows = rows();
        let figures = beside(&rows[..2]);
        let latency = figures.iter().find(|figure| figure.title == "Latency").unwrap();
        assert_eq!(latency.cells, [("4.00 ms".to_owned(), true), ("9.00 ms".to_owned(), false)]);
        assert!(beside(&rows[..1]).iter().all(|figure| !figure.cells[0].1));
        let opened = link(&rows[1].key, None);
        assert_eq!(opened, "#model=zoo:vww&board=a&strategy=swap&sram=65536&view=overview");
        assert!(link(&rows[1].key, Some(("vww", "lenet5"))).contains("model=lenet5&"));
    }
}
