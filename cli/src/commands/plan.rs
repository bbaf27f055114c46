//! `tilewright plan`.

use tilewright_app::{
    Asked, Blame, Diagnostic, Use, checked_plan, checks, find_remedies, is_unsuited,
};
use tilewright_model::Model;
use tilewright_planner::{Options, Planned, Strategy};
use tilewright_report::PlacedTensor;
use tilewright_report::memory_map_svg::{self, Drawn};
use tilewright_runner::Native;

use super::json;
use crate::args::{Elements, Plan, Strategies};
use crate::columns::{self, Column};
use crate::outputs::Outputs;
use crate::schedule;
use crate::{Said, interrupt, load, memory, progress, report};

/// Plans a model.
pub fn plan(options: &Plan) -> Result<Said, Diagnostic> {
    let Plan { csv, svg, write_recipe, schedule, .. } = options;
    let files = [csv, svg, write_recipe].into_iter().chain(schedule.all());
    let mut outputs = Outputs::new(options.json.json, files, &load::files(&options.on.quantised))?;
    let cancel = interrupt::cancelled_by_ctrl_c()?;
    let mut teller = progress::Teller::new();
    let mut tell = |p| teller.tell(&p);
    let host = Native::new(&mut tell, &cancel);
    let integrity = options.checked.integrity();
    let (board, choices) = load::asked(&options.on, integrity)?;
    let network = load::network(&options.on.quantised)?;
    let prepared = load::prepared(&options.on.quantised, &host)?;
    let recipe = load::recipe(&options.from, &prepared.model)?;
    let choices = Options { recipe, ..choices };
    let (strategies, is_all) = match options.strategy {
        Strategies::One(strategy) => (vec![strategy], false),
        Strategies::All => (Strategy::ALL.to_vec(), true),
    };
    let mut columns: Vec<Column> = Vec::new();
    for strategy in strategies {
        let model = &prepared.model;
        match checked_plan(model, &board, strategy, &choices, &host) {
            // Beside others, a strategy need not suit the model.
            Err(problem) if !(is_all && is_unsuited(&problem)) => return Err(problem),
            plan => columns.push(Column {
                strategy,
                plan: plan.map(|made| match options.elements {
                    Elements::Int8 => made,
                    Elements::Float32 => made.in_floats(model, &board, &choices),
                }),
            }),
        }
    }
    let network = network.as_ref();
    let asked = Asked { model: &prepared.model, network, board: &board, options: &choices };
    let mut planned: Vec<&mut Planned> =
        columns.iter_mut().filter_map(|column| column.plan.as_mut().ok()).collect();
    // Remedies are plans that run.
    if options.elements == Elements::Int8 {
        find_remedies(&asked, &mut planned, &host)?;
    }
    drop(teller);
    let planned: Vec<&Planned> = planned.into_iter().map(|plan| &*plan).collect();
    let code = u8::from(!planned.iter().any(|planned| planned.report.fits));
    if let Some(path) = write_recipe {
        outputs.put(Some(path), || one_recipe(&planned, &prepared.model))?;
    }
    write_files(options, &planned, &mut outputs)?;
    if let Some(text) = outputs.said() {
        return Ok(Said { text, code });
    }
    if planned.is_empty() {
        // Why the first has none is why none has, as a rule.
        let first = columns.into_iter().find_map(|column| column.plan.err());
        return Err(
            first.unwrap_or_else(|| Diagnostic::ours("There are no strategies.", "planner"))
        );
    }
    if integrity.keeps() && !is_all {
        checks(planned[0], &board)?;
    }
    let used = Use::new(&board, &choices, options.on.period);
    let text = match (options.json.json, is_all) {
        (true, true) => {
            let all = columns.iter().map(|column| column.json(&prepared, &board, &used));
            json(&all.collect::<Result<Vec<_>, _>>()?)?
        }
        (true, false) => {
            json(&report::plan_json(planned[0], &prepared, &used.of_plan(planned[0]))?)?
        }
        (false, true) => {
            report::preparation(&prepared) + &columns::text(&prepared.model.name, &columns, &board)
        }
        (false, false) => {
            let energy_and_wear = used.of_plan(planned[0]);
            report::preparation(&prepared) + &report::plan(planned[0], &board, &energy_and_wear)
        }
    };
    Ok(Said { text, code })
}

/// The recipe of the only plan.
fn one_recipe(planned: &[&Planned], model: &Model) -> Result<String, Diagnostic> {
    match planned {
        [planned] => Ok(planned.recipe.text(model)),
        _ => Err(Diagnostic::new(
            Blame::BadInput,
            "A recipe is of one strategy.",
            "--write-recipe",
            "Choose one with --strategy.",
        )),
    }
}

/// Writes the files that were asked for.
fn write_files(
    options: &Plan,
    planned: &[&Planned],
    outputs: &mut Outputs,
) -> Result<(), Diagnostic> {
    outputs.put(options.csv.as_deref(), || Ok(memory::csv(planned)))?;
    outputs.put(options.svg.as_deref(), || Ok(drawing(planned)))?;
    let plans: Vec<_> = planned.iter().map(|planned| (*planned, None)).collect();
    schedule::write(&options.schedule, &plans, outputs)
}

fn drawing(planned: &[&Planned]) -> String {
    let tensors: Vec<_> = planned.iter().map(|planned| PlacedTensor::of(&planned.plan)).collect();
    let mut drawn = Vec::new();
    for (planned, tensors) in planned.iter().zip(&tensors) {
        drawn.push(Drawn { report: &planned.report, memory: &planned.memory, tensors });
    }
    memory_map_svg::svg(&drawn)
}
