//! `tilewright inspect --intensity`.

use serde::Serialize;
use tilewright_app::{Diagnostic, ModelView, OperatorView};
use tilewright_papers::Intensity;
use tilewright_report::{CsvColumn, csv_table, short_name};

use super::json;
use crate::Said;
use crate::args::Inspect;
use crate::text::{BOLD, Side, Table};

#[derive(Serialize)]
struct Row {
    name: String,
    op: String,
    mega_operations: f64,
    traffic_megabytes: f64,
    least_n: f64,
    most_n: f64,
    bound_by: &'static str,
}

const COLUMNS: [CsvColumn<Row>; 7] = [
    CsvColumn { head: "name", field: |row| row.name.clone() },
    CsvColumn { head: "op", field: |row| row.op.clone() },
    CsvColumn { head: "mega_operations_counted", field: |row| row.mega_operations.to_string() },
    CsvColumn { head: "traffic_megabytes_counted", field: |row| row.traffic_megabytes.to_string() },
    CsvColumn { head: "least_n_modelled", field: |row| format!("{:.4}", row.least_n) },
    CsvColumn { head: "most_n_modelled", field: |row| format!("{:.4}", row.most_n) },
    CsvColumn { head: "bound_by_modelled", field: |row| row.bound_by.to_owned() },
];

/// Shows how much each layer computes for what it reads and writes.
pub fn intensity(inspected: &ModelView, options: &Inspect) -> Result<Said, Diagnostic> {
    let rows: Vec<Row> = inspected.operators.iter().filter_map(row).collect();
    if options.json.json {
        return Ok(Said::well(json(&rows)?));
    }
    if options.csv {
        return Ok(Said::well(csv_table(&COLUMNS, &rows)));
    }
    let mut table = Table::new(&[
        ("operator", Side::Left),
        ("kind", Side::Left),
        ("operations, M (counted)", Side::Right),
        ("traffic, MB (counted)", Side::Right),
        ("N (modelled)", Side::Right),
        ("bound by", Side::Left),
    ]);
    for row in &rows {
        table.row([
            short_name(&row.name).to_owned(),
            row.op.clone(),
            format!("{:.3}", row.mega_operations),
            format!("{:.3}", row.traffic_megabytes),
            format!("{:.2} to {:.2}", row.least_n, row.most_n),
            row.bound_by.to_owned(),
        ]);
    }
    let compute = rows.iter().filter(|row| row.bound_by == COMPUTE).count();
    Ok(Said::well(format!(
        "{BOLD}{}: {compute} operators bound by compute, {} by the card{BOLD:#}\n{}",
        inspected.model,
        rows.len() - compute,
        table.print()
    )))
}

const COMPUTE: &str = "compute";

/// An operator's row; nothing of one that moves nothing, or whose shapes are not known.
fn row(operator: &OperatorView) -> Option<Row> {
    let volume = |dims: &Vec<usize>| dims.iter().map(|dim| *dim as f64).product::<f64>();
    let input: f64 = operator.inputs.iter().map(volume).sum();
    let bytes = input + volume(&operator.output) + operator.parameters as f64;
    // Without products it compares, adds or moves what it reads.
    let operations = if operator.macs > 0 { operator.macs as f64 } else { input };
    let intensity = Intensity { mega_operations: operations / 1e6, megabytes: bytes / 1e6 };
    let [least_n, most_n] = intensity.range();
    (bytes > 0.0).then(|| Row {
        name: operator.name.clone(),
        op: operator.op.clone(),
        mega_operations: intensity.mega_operations,
        traffic_megabytes: intensity.megabytes,
        least_n,
        most_n,
        bound_by: if intensity.is_bound_by_compute() { COMPUTE } else { "card" },
    })
}
