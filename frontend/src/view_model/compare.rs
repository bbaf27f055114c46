//! Strategies as columns.

use std::rc::Rc;

use tilewright_report::{Kind, PlanReport, Value, compare};

use super::figures;
use crate::message::{PlanFacts, PlanSettings};
use crate::state::Plans;
use tilewright_report::Diagnostic;

/// A strategy.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name.
    pub strategy: String,
    /// What choosing it asks for.
    pub settings: PlanSettings,
    /// Whether it is the chosen one.
    pub is_chosen: bool,
    /// What is known of it.
    pub plan: ColumnPlan,
}

/// What is known of a strategy.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnPlan {
    /// It is not planned yet.
    Pending,
    /// Its plan.
    Planned(Rc<PlanFacts>),
    /// Its plan within another budget, until that of the present one is there.
    Old(Rc<PlanFacts>),
    /// Why it has none.
    None(Diagnostic),
}

impl Column {
    /// Its plan, if it has one.
    #[must_use]
    pub const fn plan(&self) -> Option<&Rc<PlanFacts>> {
        match &self.plan {
            ColumnPlan::Planned(plan) | ColumnPlan::Old(plan) => Some(plan),
            ColumnPlan::Pending | ColumnPlan::None(_) => None,
        }
    }
}

/// A figure of a strategy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The figure.
    pub text: String,
    /// The exact one beside it; empty if there is nothing to add.
    pub exact: String,
    /// Whether no strategy is better.
    pub is_best: bool,
}

/// A figure of all strategies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Key, for attributes.
    pub key: &'static str,
    /// What it is.
    pub title: &'static str,
    /// How it came to be.
    pub kind: Kind,
    /// One for each column; nothing where there is none.
    pub cells: Vec<Option<Cell>>,
}

/// The columns, in the order of the strategies; `now` is what is chosen.
#[must_use]
pub fn columns(strategies: &[String], now: &PlanSettings, plans: &Plans) -> Vec<Column> {
    let column = |strategy: &String| {
        let settings = PlanSettings { strategy: strategy.clone(), ..now.clone() };
        let plan = match plans.with(&settings) {
            None => match plans.like(&settings) {
                Some(plan) => ColumnPlan::Old(Rc::clone(plan)),
                None => ColumnPlan::Pending,
            },
            Some(Ok(plan)) => ColumnPlan::Planned(Rc::clone(plan)),
            Some(Err(trouble)) => ColumnPlan::None(trouble.clone()),
        };
        let is_chosen = *strategy == now.strategy;
        Column { strategy: strategy.clone(), settings, is_chosen, plan }
    };
    strategies.iter().map(column).collect()
}

#[must_use]
pub fn rows(columns: &[Column]) -> Vec<Row> {
    let reports: Vec<Option<&PlanReport>> =
        columns.iter().map(|column| column.plan().map(|plan| &plan.report)).collect();
    let row = |row: tilewright_report::Compared| Row {
        key: row.key,
        title: row.title,
        kind: row.kind,
        cells: row
            .values
            .iter()
            .zip(&row.best)
            .map(|(value, is_best)| value.map(|value| cell(value, *is_best)))
            .collect(),
    };
    compare(&reports).into_iter().map(row).collect()
}

fn cell(value: Value, is_best: bool) -> Cell {
    let (text, exact) = match value {
        Value::Flag(true) => ("yes".to_owned(), String::new()),
        Value::Flag(false) => ("no".to_owned(), String::new()),
        Value::Bytes(value) if value < 1024 => (figures::bytes(value), String::new()),
        Value::Bytes(value) => (figures::binary(value), figures::bytes(value)),
        Value::Count(value) if value < 1000 => (value.to_string(), String::new()),
        Value::Count(value) => (figures::compact(value), figures::grouped(value)),
        Value::Micros(value) => (figures::duration(value), String::new()),
        Value::Microjoules(value) => (figures::joules(value), String::new()),
    };
    Cell { text, exact, is_best }
}

/// The table as CSV, figures exact.
#[must_use]
pub fn csv(columns: &[Column]) -> String {
    let mut text = String::from("figure");
    for column in columns {
        text.push(',');
        text.push_str(&column.strategy);
    }
    text.push('\n');
    let reports: Vec<Option<&PlanReport>> =
        columns.iter().map(|column| column.plan().map(|plan| &plan.report)).collect();
    for row in compare(&reports) {
        text.push_str(row.key);
        for value in row.values {
            text.push(',');
            text.push_str(&match value {
                None => String::new(),
                Some(Value::Flag(is_so)) => is_so.to_string(),
                Some(Value::Bytes(value) | Value::Count(value)) => value.to_string(),
                Some(Value::Micros(value) | Value::Microjoules(value)) => figures::fixed(value, 3),
            });
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::trouble;
    use crate::view_model::fixture;
    use tilewright_plan::Bytes;

    fn column(strategy: &str, plan: ColumnPlan) -> Column {
        let settings = PlanSettings { strategy: strategy.to_owned(), ..fixture::settings() };
        Column { strategy: strategy.to_owned(), settings, is_chosen: false, plan }
    }

    fn table() -> Vec<Column> {
        let mut less = fixture::plan();
        less.report.peak_sram_bytes = Bytes(40).into();
        less.report.flash_bytes = Bytes(2_048).into();
        vec![
            column("resident", ColumnPlan::Planned(Rc::new(fixture::plan()))),
            column("odd", ColumnPlan::None(trouble("no", "a, b", ""))),
            column("less", ColumnPlan::Planned(Rc::new(less))),
            column("later", ColumnPlan::Pending),
        ]
    }

    #[test]
    fn the_best_of_each_row_is_marked() {
        let rows = rows(&table());
        let best = |key: &str| -> Vec<Option<bool>> {
            let row = rows.iter().find(|row| row.key == key).unwrap();
            row.cells.iter().map(|cell| cell.as_ref().map(|cell| cell.is_best)).collect()
        };
        assert_eq!(best("peak_sram_bytes"), [Some(false), None, Some(true), None]);
        assert_eq!(best("flash_bytes"), [Some(true), None, Some(false), None]);
        assert_eq!(best("latency_us"), [Some(false), None, Some(false), None]);
    }

    #[test]
    fn figures_are_rounded_with_the_exact_one_beside() {
        let bytes = cell(Value::Bytes(311_296), false);
        assert_eq!((bytes.text.as_str(), bytes.exact.as_str()), ("304 KiB", "311\u{202f}296 B"));
        assert_eq!(cell(Value::Flag(false), true).text, "no");
        let csv = csv(&table());
        assert!(csv.starts_with("figure,resident,odd,less,later\nfits,true,,true,\n"), "{csv}");
        assert!(csv.contains("peak_sram_bytes,48,,40,\n"), "{csv}");
    }
}
