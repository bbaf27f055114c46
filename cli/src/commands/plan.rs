//! `tilewright plan`.

use serde_json::{Value, json as object};
use tilewright_model::Model;
use tilewright_planner::{Planned, Strategy};
use tilewright_report::{MemoryMap, TensorUse};
use tilewright_server::Problem;
use tilewright_server::pipeline::{checked_plan, obstacle};

use super::json;
use crate::args::{Elements, Plan, Strategies};
use crate::text::csv_row;
use crate::{Said, files, load, progress, report};

/// Plans a model.
pub fn plan(options: &Plan) -> Result<Said, Problem> {
    let cancel = load::cancelled_by_ctrl_c()?;
    let mut teller = progress::Teller::new();
    let mut tell = |p| teller.tell(&p);
    let board = load::board(&options.on.board)?;
    let prepared = load::prepared(&options.on.quantised, &mut tell, &cancel)?;
    let (mut strategies, obstacles) = match options.strategy {
        Strategies::One(strategy) => (vec![strategy], Vec::new()),
        Strategies::All => (Strategy::ALL.to_vec(), obstacles(&prepared.model)),
    };
    strategies.retain(|strategy| obstacles.iter().all(|(unable, _)| unable != strategy));
    let mut planned = Vec::new();
    for strategy in strategies {
        let choices = load::options(&options.on);
        let made = checked_plan(&prepared.model, &board, strategy, &choices, &mut tell, &cancel)?;
        planned.push(match options.elements {
            Elements::Int8 => made,
            Elements::Float32 => made.in_floats(&prepared.model, &board, &choices),
        });
    }
    drop(teller);
    if let Some(path) = &options.csv {
        files::write(path, memory_csv(&planned).as_bytes())?;
    }
    let text = if options.json.json {
        let reports: Vec<_> = planned
            .iter()
            .map(|planned| report::plan_json(&planned.report, &prepared))
            .chain(obstacles.iter().map(|(strategy, why)| Ok(unable(*strategy, why, &planned))))
            .collect::<Result<_, _>>()?;
        match (options.strategy, reports.as_slice()) {
            (Strategies::One(_), [one]) => json(one)?,
            _ => json(&reports)?,
        }
    } else {
        let mut text = report::preparation(&prepared);
        for planned in &planned {
            text.push_str(&report::plan(planned, &board));
        }
        for (strategy, why) in &obstacles {
            text.push_str(&format!("\nstrategy {strategy}: no plan. {why}\n"));
        }
        text
    };
    let fits = planned.iter().any(|planned| planned.report.fits);
    Ok(Said { text, code: u8::from(!fits) })
}

/// The strategies that cannot plan a model, and why.
fn obstacles(model: &Model) -> Vec<(Strategy, String)> {
    let why = |strategy| Some((strategy, obstacle(model, strategy)?));
    Strategy::ALL.into_iter().filter_map(why).collect()
}

/// The JSON of a strategy that cannot plan a model, beside `planned` ones.
fn unable(strategy: Strategy, why: &str, planned: &[Planned]) -> Value {
    let (model, board) = planned.first().map_or(("", ""), |p| (&p.report.model, &p.report.board));
    object!({
        "model": model,
        "board": board,
        "strategy": strategy.name(),
        "fits": false,
        "not_applicable": why,
    })
}

/// The memory maps of plans: one row an operator.
fn memory_csv(plans: &[Planned]) -> String {
    let head = [
        "strategy",
        "position",
        "name",
        "op",
        "input_bytes",
        "output_bytes",
        "other_bytes",
        "live_bytes",
        "tensors",
    ];
    let mut text = csv_row(&head.map(str::to_owned));
    for planned in plans {
        for (position, row) in planned.memory.rows.iter().enumerate() {
            text.push_str(&csv_row(&[
                planned.report.strategy.clone(),
                position.to_string(),
                row.name.clone(),
                row.op.clone(),
                row.input_bytes.0.to_string(),
                row.output_bytes.0.to_string(),
                row.other_bytes.0.to_string(),
                row.live_bytes.0.to_string(),
                tensors(&planned.memory, position, planned),
            ]));
        }
    }
    text
}

/// The live tensors of a row: `name@offset+bytes(use)`, separated by blanks.
fn tensors(memory: &MemoryMap, row: usize, planned: &Planned) -> String {
    let live = memory.rows.get(row).map_or(&[][..], |row| &row.tensors);
    let words = live.iter().filter_map(|(index, why)| {
        let tensor = planned.plan.tensors.get(*index as usize)?;
        let why = match why {
            TensorUse::Input => "input",
            TensorUse::Output => "output",
            TensorUse::Other => "other",
        };
        Some(format!("{}@{}+{}({why})", tensor.name, tensor.offset, tensor.bytes.0))
    });
    words.collect::<Vec<_>>().join(" ")
}
