//! `tilewright prune`: the smallest weights become zero.

use serde::Serialize;
use tilewright_app::{Blame, Diagnostic};
use tilewright_model::prune::{self, PrunedLayer, Pruning};
use tilewright_report::{Kind, short_name};
use tilewright_runner::Native;

use super::json;
use crate::args::Prune;
use crate::text::{BOLD, Facts, Side, Table, number};
use crate::{Said, interrupt, load, outputs, progress};

#[derive(Serialize)]
struct Layer {
    name: String,
    weights: usize,
    zeros: usize,
}

#[derive(Serialize)]
struct Record<'a> {
    model: &'a str,
    weights: usize,
    zeros: usize,
    bytes: u64,
    layers: Vec<Layer>,
}

/// Prunes a float or int8 model, and writes it as ONNX or TensorFlow Lite.
pub fn prune(options: &Prune) -> Result<Said, Diagnostic> {
    outputs::apart(&[&options.output], std::slice::from_ref(&options.file.model))?;
    let cancel = interrupt::cancelled_by_ctrl_c()?;
    let mut teller = progress::Teller::new();
    let model = load::model(&options.file, &Native::new(&mut |p| teller.tell(&p), &cancel))?;
    drop(teller);
    let Prune { sparsity, group, is_global, .. } = *options;
    let pruning = Pruning { sparsity, group, is_global };
    let (pruned, layers) = prune::prune(&model, &pruning).map_err(|error| {
        let what_to_do = "Give a float or int8 model with convolutions or fully connected layers.";
        Diagnostic::new(Blame::BadInput, format!("{error}."), &*model.name, what_to_do)
    })?;
    let bytes = outputs::write_model(&options.output, &pruned)?;
    let sum = |of: fn(&PrunedLayer) -> usize| layers.iter().map(of).sum::<usize>();
    let (weights, zeros) = (sum(|layer| layer.weights), sum(|layer| layer.zeros));
    if options.json.json {
        let layer = |PrunedLayer { name, weights, zeros, .. }| Layer { name, weights, zeros };
        let layers = layers.into_iter().map(layer).collect();
        let record = Record { model: &model.name, weights, zeros, bytes, layers };
        return Ok(Said::well(json(&record)?));
    }
    let share = |zeros: usize, weights: usize| {
        format!("{:.1} %", 100.0 * zeros as f64 / weights.max(1) as f64)
    };
    let mut table = Table::new(&[
        ("layer", Side::Left),
        ("weights", Side::Right),
        ("zero (counted)", Side::Right),
        ("", Side::Right),
    ]);
    for PrunedLayer { name, weights, zeros, .. } in &layers {
        let (all, none) = (number(*weights as u64), number(*zeros as u64));
        table.row([short_name(name).to_owned(), all, none, share(*zeros, *weights)]);
    }
    let mut facts = Facts::default();
    let all = format!(
        "{} of {}: {}",
        number(zeros as u64),
        number(weights as u64),
        share(zeros, weights)
    );
    facts.add("zero", all, Some(Kind::Counted));
    facts.add("written", format!("{}: {} bytes", options.output.display(), number(bytes)), None);
    Ok(Said::well(format!(
        "{BOLD}{}, pruned{BOLD:#}\n{}\n{}",
        model.name,
        facts.print(),
        table.print()
    )))
}
