//! The log as a table, and as figures 3.7 to 3.10 of the thesis draw it.

use tilewright_report::{Axis, CsvColumn, Point, Scatter, Series, stacked_svg};
use tilewright_search::{Row, TradeOff};

use super::Found;
use crate::experiment::command;

/// A row of the log, and the search that it is of.
pub(super) struct Logged {
    trade_off: f64,
    seed: u64,
    row: Row,
}

impl Logged {
    fn loss(&self, cross_entropy: f64, cost: f64) -> f64 {
        TradeOff::weighing(self.trade_off).loss(cross_entropy, cost)
    }
}

pub(super) fn rows(found: &[Found]) -> impl Iterator<Item = Logged> + '_ {
    found.iter().flat_map(|one| {
        let (trade_off, seed) = (one.trade_off, one.seed);
        one.log.iter().map(move |row| Logged { trade_off, seed, row: *row })
    })
}

/// A step, as comma-separated values.
pub(super) const COLUMNS: [CsvColumn<Logged>; 13] = [
    CsvColumn { head: "trade_off", field: |logged| logged.trade_off.to_string() },
    CsvColumn { head: "seed", field: |logged| logged.seed.to_string() },
    CsvColumn { head: "step", field: |logged| logged.row.step.to_string() },
    CsvColumn { head: "training_loss", field: |logged| decimals(logged.row.training_loss) },
    CsvColumn { head: "training_accuracy", field: |logged| decimals(logged.row.training_accuracy) },
    CsvColumn { head: "validation_loss", field: |logged| decimals(logged.row.validation_loss) },
    CsvColumn {
        head: "validation_accuracy",
        field: |logged| decimals(logged.row.validation_accuracy),
    },
    CsvColumn {
        head: "training_cost_cycles",
        field: |logged| format!("{:.0}", logged.row.training_cost),
    },
    CsvColumn {
        head: "validation_cost_cycles",
        field: |logged| format!("{:.0}", logged.row.validation_cost),
    },
    CsvColumn { head: "training_performance_loss", field: |logged| decimals(training(logged)) },
    CsvColumn { head: "validation_performance_loss", field: |logged| decimals(validation(logged)) },
    CsvColumn { head: "normal_cell_cycles", field: |logged| logged.row.normal_cost.to_string() },
    CsvColumn {
        head: "reduction_cell_cycles",
        field: |logged| logged.row.reduction_cost.to_string(),
    },
];

fn decimals(value: f64) -> String {
    format!("{value:.6}")
}

fn training(logged: &Logged) -> f64 {
    logged.loss(logged.row.training_loss, logged.row.training_cost)
}

fn validation(logged: &Logged) -> f64 {
    logged.loss(logged.row.validation_loss, logged.row.validation_cost)
}

/// A figure and what it shows of a step.
struct Figure {
    title: &'static str,
    unit: &'static str,
    value: fn(&Logged) -> f64,
}

const FIGURES: [Figure; 8] = [
    Figure {
        title: "3.7 Cross entropy of training images",
        unit: "L_ce (measured)",
        value: |logged| logged.row.training_loss,
    },
    Figure {
        title: "3.7 Cross entropy of validation images",
        unit: "L_ce (measured)",
        value: |logged| logged.row.validation_loss,
    },
    Figure {
        title: "3.8 Compute cost",
        unit: "L_com in cycles (modelled)",
        value: |logged| logged.row.training_cost,
    },
    Figure { title: "3.9 Loss of training images", unit: "L_per (measured)", value: training },
    Figure { title: "3.9 Loss of validation images", unit: "L_per (measured)", value: validation },
    Figure {
        title: "3.10 Discretised normal cell",
        unit: "cycles (modelled)",
        value: |logged| logged.row.normal_cost as f64,
    },
    Figure {
        title: "3.10 Discretised reduction cell",
        unit: "cycles (modelled)",
        value: |logged| logged.row.reduction_cost as f64,
    },
    Figure {
        title: "3.10 Both discretised cells",
        unit: "cycles (modelled)",
        value: |logged| logged.row.cells_cost() as f64,
    },
];

/// All figures, one below the other.
pub(super) fn svg(found: &[Found]) -> String {
    let several = found.iter().any(|one| one.seed != found[0].seed);
    let charts = FIGURES.iter().map(|figure| {
        let series = found.iter().map(|one| {
            let seed = if several { format!(", seed {}", one.seed) } else { String::new() };
            let points = rows(std::slice::from_ref(one)).map(|logged| {
                let (x, y) = (logged.row.step as f64, (figure.value)(&logged));
                Point { x, y, title: format!("step {x}: {y:.4}") }
            });
            let name = format!("Γ = {}{seed}", one.trade_off);
            Series { name, points: points.collect(), is_joined: true }
        });
        let axis = |title: &str| Axis { title: title.to_owned(), is_logarithmic: false };
        Scatter {
            title: figure.title.to_owned(),
            command: command(),
            x: axis("step"),
            y: axis(figure.unit),
            series: series.collect(),
            ..Scatter::default()
        }
    });
    stacked_svg("Architecture search", &charts.collect::<Vec<_>>())
}
