//! `tilewright verify --float`.

use std::fmt::Write;

use serde::Serialize;
use tilewright_app::{CompareFloat, Diagnostic};
use tilewright_report::{Agreement, FloatComparison, Loss, TensorComparison, short_name};
use tilewright_runner::Native;

use super::json;
use crate::args::Verify;
use crate::beside::become_program;
use crate::progress::Teller;
use crate::text::{Side, Table};
use crate::{Said, interrupt, load};

#[derive(Debug, Serialize)]
struct Shown<'c> {
    #[serde(flatten)]
    comparison: &'c FloatComparison,
    /// How the model became int8.
    quantisation: &'c str,
}

/// Holds the int8 model, and our float interpreter, against the float model; without `compare` by
/// becoming the program that has it.
pub(super) fn compare(options: &Verify, compare: Option<CompareFloat>) -> Result<Said, Diagnostic> {
    let Some(compare) = compare else {
        let how = "Run `cargo xtask build`, or `cargo build --release -p tilewright-cli-float`.";
        let words = std::env::args_os().skip(1);
        return Err(become_program("tilewright-float", words, "The comparison", how));
    };
    let cancel = interrupt::cancelled_by_ctrl_c()?;
    let mut teller = Teller::new();
    let (comparison, quantisation) = load::compared(
        &options.on.quantised,
        compare,
        &Native::new(&mut |p| teller.tell(&p), &cancel),
    )?;
    drop(teller);
    let text = if options.json.json {
        json(&Shown { comparison: &comparison, quantisation: &quantisation })?
    } else {
        text(&comparison, &quantisation)
    };
    Ok(Said::well(text))
}

fn text(found: &FloatComparison, quantisation: &str) -> String {
    let mut text = format!(
        "{}: {}\nopinion: {}, {} samples\n\n",
        found.model, quantisation, found.opinion, found.samples
    );
    for verdict in found.verdicts() {
        let _ = writeln!(text, "{verdict}");
    }
    let _ = writeln!(text, "\noutputs");
    text.push_str(&outputs(found));
    let _ = writeln!(text, "\nlayers, the worst first");
    text.push_str(&layers(found));
    if let Some(first) = found.not_compared.first() {
        let count = found.not_compared.len();
        let (tensor, reason) = (&first.tensor, &first.reason);
        let _ = writeln!(text, "\n{count} layers are not compared, the first '{tensor}': {reason}");
    }
    text
}

fn outputs(found: &FloatComparison) -> String {
    let mut table = Table::new(&[
        ("output", Side::Left),
        ("float SQNR", Side::Right),
        ("float top-1", Side::Right),
        ("int8 SQNR", Side::Right),
        ("int8 top-1", Side::Right),
        ("largest difference", Side::Right),
    ]);
    for output in &found.outputs {
        table.row([
            output.tensor.clone(),
            ratio(output.float.as_ref()),
            top1(output.float.as_ref()),
            ratio(output.int8.as_ref()),
            top1(output.int8.as_ref()),
            difference(output.int8.as_ref()),
        ]);
    }
    table.print()
}

fn layers(found: &FloatComparison) -> String {
    let mut table = Table::new(&[
        ("#", Side::Right),
        ("layer", Side::Left),
        ("op", Side::Left),
        ("float SQNR", Side::Right),
        ("int8 SQNR", Side::Right),
        ("largest difference", Side::Right),
        ("cosine", Side::Right),
        ("", Side::Left),
    ]);
    let worst = |layer: &TensorComparison| {
        let own = layer.int8.as_ref().or(layer.float.as_ref());
        own.and_then(|found| found.sqnr_db).unwrap_or(f64::INFINITY)
    };
    let mut rows: Vec<(usize, &TensorComparison)> = found.layers.iter().enumerate().collect();
    rows.sort_by(|(_, a), (_, b)| worst(a).total_cmp(&worst(b)));
    for (index, layer) in rows {
        let is =
            |loss: &Option<Loss>| loss.as_ref().is_some_and(|loss| loss.tensor == layer.tensor);
        let mark = if is(&found.first_float_loss) {
            "<- the first that differs as float"
        } else if is(&found.first_int8_loss) {
            "<- the first layer that loses much"
        } else {
            ""
        };
        let cosine = layer.int8.as_ref().and_then(|found| found.cosine);
        table.row([
            index.to_string(),
            short_name(&layer.layer).to_owned(),
            layer.op.clone(),
            ratio(layer.float.as_ref()),
            ratio(layer.int8.as_ref()),
            difference(layer.int8.as_ref()),
            cosine.map_or("–".to_owned(), |cosine| format!("{cosine:.5}")),
            mark.to_owned(),
        ]);
    }
    table.print()
}

fn ratio(found: Option<&Agreement>) -> String {
    found.map_or("–".to_owned(), |found| {
        found.sqnr_db.map_or("exact".to_owned(), |ratio| format!("{ratio:.1} dB"))
    })
}

fn difference(found: Option<&Agreement>) -> String {
    found.map_or("–".to_owned(), |found| format!("{:.3e}", found.max_difference))
}

fn top1(found: Option<&Agreement>) -> String {
    let share = found.and_then(|found| found.top1_agreement);
    share.map_or("–".to_owned(), |share| format!("{:.0} %", 100.0 * share))
}
