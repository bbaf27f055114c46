//! `tilewright verify`.

use serde::Serialize;
use tilewright_app::{Blame, CompareFloat, Diagnostic, Mode};
use tilewright_planner::{Integrity, Strategy};
use tilewright_report::{Difference, sentence};

use super::json;
use super::run::{Emulated, Ran};
use crate::Said;
use crate::args::Verify;
use crate::report::agreement;
use crate::text::{Side, Table, number};

#[derive(Debug, Serialize)]
struct Verified {
    model: String,
    board: String,
    strategy: String,
    fits: bool,
    not_applicable: Option<String>,
    verified: Option<bool>,
    layers: usize,
    /// Layers whose output was compared besides the outputs of the model.
    compared_layers: usize,
    instructions: u64,
    difference: Option<Difference>,
    fault: Option<String>,
}

/// Runs a model with every strategy; each must be bit-equal to the reference, layer by layer where
/// a layer's output can be read. Or compares it with its float form.
pub fn verify(options: &Verify, compare: Option<CompareFloat>) -> Result<Said, Diagnostic> {
    if options.float {
        return super::float::compare(options, compare);
    }
    let mut emulated =
        Emulated::new(&options.on, Integrity::Trusted, options.input.as_deref(), Mode::Full)?;
    let mut all = Vec::new();
    for strategy in Strategy::ALL {
        all.push(match strategy.unsupported(&emulated.prepared.model, Some(&emulated.board)) {
            None => with(&mut emulated, strategy)?,
            Some(why) => without(&emulated, strategy, sentence(&why.what)),
        });
    }
    let text = if options.json.json { json(&all)? } else { table(&all) };
    let wrong = all.iter().any(|one| one.fits && one.verified != Some(true));
    let none_fits = all.iter().all(|one| !one.fits);
    let code = if wrong { Blame::Ours.exit_code() } else { u8::from(none_fits) };
    Ok(Said { text, code })
}

fn with(emulated: &mut Emulated, strategy: Strategy) -> Result<Verified, Diagnostic> {
    let Ran { planned, done } = emulated.run(strategy)?;
    let result = done.map(|done| done.result);
    Ok(Verified {
        model: planned.report.model,
        board: planned.report.board,
        strategy: planned.report.strategy,
        fits: result.is_some(),
        not_applicable: None,
        verified: result.as_ref().and_then(|result| result.verified),
        layers: result.as_ref().map_or(0, |result| result.layers.len()),
        compared_layers: result.as_ref().map_or(0, |result| *result.compared_layers),
        instructions: result.as_ref().map_or(0, |result| *result.instructions),
        difference: result.as_ref().and_then(|result| result.difference.clone()),
        fault: result.and_then(|result| result.fault).map(|fault| fault.message),
    })
}

/// What there is to say of a strategy that cannot plan the model.
fn without(emulated: &Emulated, strategy: Strategy, why: String) -> Verified {
    Verified {
        model: emulated.prepared.model.name.clone(),
        board: emulated.board.id.clone(),
        strategy: strategy.name().to_owned(),
        fits: false,
        not_applicable: Some(why),
        verified: None,
        layers: 0,
        compared_layers: 0,
        instructions: 0,
        difference: None,
        fault: None,
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
            _ if one.not_applicable.is_some() => one.not_applicable.clone().unwrap_or_default(),
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
            (_, _, Some(true)) => agreement(one.compared_layers, one.layers),
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
