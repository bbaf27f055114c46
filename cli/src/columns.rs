//! Strategies side by side.

use serde_json::{Value as Json, json};
use tilewright_app::{Diagnostic, Prepared, Use};
use tilewright_board::Board;
use tilewright_planner::{Planned, Strategy};
use tilewright_report::{PlanReport, Value, compare, plain};

use crate::report;
use crate::text::{BOLD, DIM, Side, Table, bytes, joules, micros, number};

/// A strategy with its plan, or why it has none.
#[derive(Debug)]
pub struct Column {
    pub strategy: Strategy,
    pub plan: Result<Planned, Diagnostic>,
}

impl Column {
    /// The plan's keys; of a strategy without a plan, that it does not fit, and why.
    ///
    /// # Errors
    /// Reports hold text and numbers only, so an error is ours.
    pub fn json(
        &self,
        prepared: &Prepared,
        board: &Board,
        used: &Use<'_>,
    ) -> Result<Json, Diagnostic> {
        match &self.plan {
            Ok(planned) => report::plan_json(planned, prepared, &used.of_plan(planned)),
            Err(problem) => Ok(json!({
                "model": prepared.model.name,
                "board": board.id,
                "strategy": self.strategy.name(),
                "fits": false,
                "not_applicable": problem.what,
                "where": problem.place,
            })),
        }
    }

    fn report(&self) -> Option<&PlanReport> {
        self.plan.as_ref().ok().map(|planned| &planned.report)
    }
}

/// What marks the best of a row.
const BEST: &str = "*";

/// A table: strategies as columns, the best of each row marked; and what keeps plans from
/// fitting.
#[must_use]
pub fn text(model: &str, columns: &[Column], board: &Board) -> String {
    let reports: Vec<Option<&PlanReport>> = columns.iter().map(Column::report).collect();
    let mut heads = vec![("", Side::Left)];
    heads.extend(columns.iter().map(|column| (column.strategy.name(), Side::Right)));
    heads.push(("", Side::Left));
    let mut table = Table::new(&heads);
    for row in compare(&reports) {
        let mut words = vec![row.title.to_owned()];
        words.extend(row.values.iter().zip(&row.best).map(|(value, is_best)| {
            let mark = if *is_best { BEST } else { " " };
            value.map_or_else(|| "- ".to_owned(), |value| format!("{}{mark}", said(value)))
        }));
        words.push(row.kind.word().to_owned());
        table.row(words);
    }
    let (model, board) = (plain(model), &board.name);
    let mut text = format!("{BOLD}{model} on {board}{BOLD:#}, {BEST} best of the row\n");
    text.push_str(&table.print());
    for column in columns {
        match &column.plan {
            Ok(planned) => text.push_str(&report::why_not(&planned.report)),
            Err(problem) => text.push_str(&format!(
                "\n{BOLD}{}{BOLD:#} has no plan: {} {DIM}{}{DIM:#}\n",
                column.strategy, problem.what, problem.place
            )),
        }
    }
    text
}

/// A figure for people.
#[must_use]
pub fn said(value: Value) -> String {
    match value {
        Value::Flag(true) => "yes".to_owned(),
        Value::Flag(false) => "no".to_owned(),
        Value::Bytes(value) => bytes(value),
        Value::Count(value) => number(value),
        Value::Micros(value) => micros(value),
        Value::Microjoules(value) => joules(value),
    }
}
