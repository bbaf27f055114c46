//! `tilewright verify`.

use serde::Serialize;
use tilewright_planner::Strategy;
use tilewright_report::Difference;
use tilewright_server::{Blame, Problem};

use super::{json, run};
use crate::Said;
use crate::args::Verify;
use crate::text::{Side, Table, number};

#[derive(Debug, Serialize)]
struct Verified {
    model: String,
    board: String,
    strategy: String,
    fits: bool,
    verified: Option<bool>,
    layers: usize,
    instructions: u64,
    difference: Option<Difference>,
    fault: Option<String>,
}

/// Runs a model with every strategy; each must be bit-equal to the reference, layer by layer.
pub fn verify(options: &Verify) -> Result<Said, Problem> {
    let mut all = Vec::new();
    for strategy in Strategy::ALL {
        all.push(with(options, strategy)?);
    }
    let text = if options.json.json { json(&all)? } else { table(&all) };
    let wrong = all.iter().any(|one| one.fits && one.verified != Some(true));
    let none_fits = all.iter().all(|one| !one.fits);
    let code = if wrong { Blame::Ours.exit_code() } else { u8::from(none_fits) };
    Ok(Said { text, code })
}

fn with(options: &Verify, strategy: Strategy) -> Result<Verified, Problem> {
    let mut verified = Verified {
        model: crate::files::stem(&options.on.quantised.file.model),
        board: options.on.board.clone(),
        strategy: strategy.name().to_owned(),
        fits: true,
        verified: None,
        layers: 0,
        instructions: 0,
        difference: None,
        fault: None,
    };
    match run::one(&options.on, options.input.as_deref(), strategy) {
        Ok(ran) => {
            let result = ran.done.result;
            verified.verified = result.verified;
            verified.layers = result.layers.len();
            verified.instructions = result.instructions;
            verified.difference = result.difference;
            verified.fault = result.fault.map(|fault| fault.message);
            Ok(verified)
        }
        Err(problem) if problem.kind == Blame::DoesNotFit => {
            verified.fits = false;
            Ok(verified)
        }
        Err(problem) => Err(problem),
    }
}

fn table(all: &[Verified]) -> String {
    let mut table = Table::new(&[
        ("strategy", Side::Left),
        ("layers", Side::Right),
        ("instructions", Side::Right),
        ("result", Side::Left),
    ]);
    for one in all {
        let result = match (&one.fault, &one.difference, one.verified) {
            _ if !one.fits => "does not fit".to_owned(),
            (Some(fault), ..) => format!("fault: {fault}"),
            (_, Some(difference), _) => format!(
                "layer '{}' differs at element {} of '{}': {} instead of {}",
                difference.layer,
                difference.element,
                difference.tensor,
                difference.found,
                difference.expected
            ),
            (_, _, Some(true)) => "bit-equal to the reference in every layer".to_owned(),
            _ => "not compared".to_owned(),
        };
        table.row([
            one.strategy.clone(),
            number(one.layers as u64),
            number(one.instructions),
            result,
        ]);
    }
    table.print()
}
