//! `tilewright inspect --quantisation`.

use serde::Serialize;
use tilewright_app::{Cancel, Diagnostic, Examined};
use tilewright_model::quantise::{LayerSensitivity, TensorReport};
use tilewright_report::{csv_row, short_name};
use tilewright_runner::Native;

use super::json;
use crate::Said;
use crate::args::Inspect;
use crate::load;
use crate::text::{Side, Table};

/// Samples that float and int8 are compared on at most.
const COMPARED: usize = 16;

#[derive(Debug, Serialize)]
struct Quantisation {
    model: String,
    samples: String,
    calibration: String,
    calibration_samples: usize,
    compared_samples: usize,
    /// Samples that single layers were quantised on.
    sensitivity_samples: usize,
    tensors: Vec<Tensor>,
}

#[derive(Debug, Serialize)]
struct Tensor {
    /// The node that makes it, or the input.
    layer: String,
    tensor: String,
    /// Smallest and largest value seen.
    low: f32,
    high: f32,
    scale: f32,
    zero: i32,
    /// Values beyond what int8 represents.
    saturated_percent: f64,
    /// Of the tensor, everything before it int8 too; null where nothing deviates.
    sqnr_db: Option<f64>,
    /// Of the model's outputs with only this layer int8; null where nothing deviates or the layer
    /// only moves or chooses values.
    output_sqnr_db: Option<f64>,
    #[serde(skip)]
    rounds: bool,
}

/// Shows what quantising does to a model.
pub(super) fn quantisation(options: &Inspect) -> Result<Said, Diagnostic> {
    let mut teller = crate::progress::Teller::new();
    let (model, examined) = load::examined(
        &options.quantised,
        COMPARED,
        &Native::new(&mut |p| teller.tell(&p), &Cancel::default()),
    )?;
    drop(teller);
    let shown = of(model.name, &examined);
    let text = if options.json.json {
        json(&shown)?
    } else if options.csv {
        csv(&shown)
    } else {
        table(&shown)
    };
    Ok(Said::well(text))
}

fn of(model: String, examined: &Examined) -> Quantisation {
    let report = &examined.report;
    // Both lists are in order of execution; the layers are some of the tensors'.
    let mut layers = examined.layers.iter().peekable();
    let tensors = report.tensors.iter().map(|tensor| {
        let alone = layers.next_if(|layer| layer.layer == tensor.layer);
        row(tensor, alone)
    });
    Quantisation {
        model,
        samples: examined.samples.clone(),
        calibration: report.rule.to_string(),
        calibration_samples: report.samples,
        compared_samples: report.compared,
        sensitivity_samples: examined.examined,
        tensors: tensors.collect(),
    }
}

fn row(tensor: &TensorReport, alone: Option<&LayerSensitivity>) -> Tensor {
    let finite = |decibels: f64| decibels.is_finite().then_some(decibels);
    Tensor {
        layer: tensor.layer.clone(),
        tensor: tensor.tensor.clone(),
        low: tensor.range.low,
        high: tensor.range.high,
        scale: tensor.scale,
        zero: tensor.zero,
        saturated_percent: 100.0 * tensor.saturation(),
        sqnr_db: finite(tensor.sqnr_db),
        output_sqnr_db: alone.and_then(|layer| finite(layer.sqnr_db)),
        rounds: alone.is_some(),
    }
}

fn table(shown: &Quantisation) -> String {
    let mut table = Table::new(&[
        ("layer", Side::Left),
        ("low", Side::Right),
        ("high", Side::Right),
        ("scale", Side::Right),
        ("zero", Side::Right),
        ("saturated", Side::Right),
        ("SQNR", Side::Right),
        ("output's, only this layer int8", Side::Right),
    ]);
    let decibels = |value: Option<f64>| value.map_or("exact".to_owned(), |v| format!("{v:.1} dB"));
    for tensor in &shown.tensors {
        table.row([
            short_name(&tensor.layer).to_owned(),
            format!("{:.4}", tensor.low),
            format!("{:.4}", tensor.high),
            format!("{:.6}", tensor.scale),
            tensor.zero.to_string(),
            format!("{:.4} %", tensor.saturated_percent),
            decibels(tensor.sqnr_db),
            if tensor.rounds { decibels(tensor.output_sqnr_db) } else { "–".to_owned() },
        ]);
    }
    format!(
        "{}: {}\ncompared on {}, layers alone on {} of the samples\n\n{}",
        shown.model,
        shown.samples,
        shown.compared_samples,
        shown.sensitivity_samples,
        table.print(),
    )
}

fn csv(shown: &Quantisation) -> String {
    let head = [
        "layer",
        "tensor",
        "low",
        "high",
        "scale",
        "zero",
        "saturated_percent",
        "sqnr_db",
        "output_sqnr_db",
    ];
    let mut text = csv_row(&head.map(str::to_owned));
    let decibels = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    for tensor in &shown.tensors {
        text.push_str(&csv_row(&[
            tensor.layer.clone(),
            tensor.tensor.clone(),
            tensor.low.to_string(),
            tensor.high.to_string(),
            tensor.scale.to_string(),
            tensor.zero.to_string(),
            tensor.saturated_percent.to_string(),
            decibels(tensor.sqnr_db),
            decibels(tensor.output_sqnr_db),
        ]));
    }
    text
}
