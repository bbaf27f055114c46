//! `tilewright inspect`.

use tilewright_app::{Blame, Cancel, Diagnostic, ModelView, Port};
use tilewright_report::{csv_row, plain, short_name};
use tilewright_runner::Native;

use super::json;
use crate::Said;
use crate::args::Inspect;
use crate::load;
use crate::text::{Side, Table, bytes, number};

/// Shows a model after import: NHWC, batch normalisation folded, activations fused.
pub fn inspect(options: &Inspect) -> Result<Said, Diagnostic> {
    if options.quantisation {
        return super::quantisation::quantisation(options);
    }
    let quantised = &options.quantised;
    let unused = [
        (quantised.samples.is_some(), "--samples"),
        (quantised.calibration.is_some(), "--calibration"),
        (quantised.pixels.is_some(), "--pixels"),
    ];
    if let Some((_, option)) = unused.into_iter().find(|(given, _)| *given) {
        let error = format!("{option} says how to quantise, but nothing is quantised.");
        return Err(Diagnostic::new(Blame::BadInput, error, option, "Add --quantisation."));
    }
    let mut teller = crate::progress::Teller::new();
    let mut model =
        load::model(&quantised.file, &Native::new(&mut |p| teller.tell(&p), &Cancel::default()))?;
    load::name_classes(quantised, &mut model)?;
    drop(teller);
    let inspected = ModelView::of(&model);
    if options.intensity {
        return super::intensity::intensity(&inspected, options);
    }
    let text = if options.json.json {
        json(&inspected)?
    } else if options.csv {
        csv(&inspected)
    } else {
        table(&inspected)
    };
    Ok(Said::well(text))
}

fn shape(dims: &[usize]) -> String {
    dims.iter().map(usize::to_string).collect::<Vec<_>>().join("×")
}

fn shapes(all: &[Vec<usize>]) -> String {
    all.iter().map(|dims| shape(dims)).collect::<Vec<_>>().join(" ")
}

fn table(inspected: &ModelView) -> String {
    let mut table = Table::new(&[
        ("operator", Side::Left),
        ("kind", Side::Left),
        ("input", Side::Left),
        ("output", Side::Left),
        ("MACs", Side::Right),
        ("parameters", Side::Right),
    ]);
    for operator in &inspected.operators {
        table.row([
            short_name(&operator.name).to_owned(),
            operator.op.clone(),
            shapes(&operator.inputs),
            shape(&operator.output),
            number(operator.macs),
            number(operator.parameters),
        ]);
    }
    let mut summary = Table::new(&[
        ("kind", Side::Left),
        ("count", Side::Right),
        ("MACs", Side::Right),
        ("of all", Side::Right),
        ("parameters", Side::Right),
        ("of all", Side::Right),
    ]);
    for kind in &inspected.kinds_of_operators {
        summary.row([
            kind.op.clone(),
            number(kind.count as u64),
            number(kind.macs),
            format!("{:.2} %", kind.macs_percent),
            number(kind.parameters),
            format!("{:.2} %", kind.parameters_percent),
        ]);
    }
    let ports = |ports: &[Port]| {
        ports
            .iter()
            .map(|p| format!("{} {}{}", plain(&p.name), shape(&p.shape), p.file_dtype_in_words()))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let unknown: Vec<_> = inspected
        .without_kernel
        .iter()
        .map(|node| plain(&format!("{} ({})", short_name(&node.name), node.op)).into_owned())
        .collect();
    let unknown = match &*unknown {
        [] => String::new(),
        names => format!("not computed here, so that it cannot run: {}\n", names.join(", ")),
    };
    let states = match inspected.states.as_slice() {
        [] => String::new(),
        states => format!(
            "{} states of {} live from one run to the next: outputs to give as inputs again\n",
            states.len(),
            bytes(states.iter().map(|state| state.bytes).sum())
        ),
    };
    let classes = match inspected.labels.as_slice() {
        [] => String::new(),
        [first, ..] => {
            format!("{} classes, of which the first is {}\n", inspected.labels.len(), plain(first))
        }
    };
    let pixels = inspected.pixels.as_ref();
    let pixels = pixels.map_or_else(String::new, |range| format!("takes pixels as {range}\n"));
    let notes: String = inspected.notes.iter().map(|note| plain(note) + "\n").collect();
    format!(
        "{}: input {}; output {}; {} MACs, {} parameters\nweights {}, activations {}; as int8 \
         {} and {}\n{states}{classes}{pixels}{notes}{unknown}\n{}\n{}",
        plain(&inspected.model),
        ports(&inspected.inputs),
        ports(&inspected.outputs),
        number(inspected.macs),
        number(inspected.parameters),
        bytes(inspected.weight_bytes),
        bytes(inspected.activation_bytes),
        bytes(inspected.int8_weight_bytes),
        bytes(inspected.int8_activation_bytes),
        summary.print(),
        table.print(),
    )
}

fn csv(inspected: &ModelView) -> String {
    let head = ["name", "op", "inputs", "output", "macs", "parameters"];
    let mut text = csv_row(&head.map(str::to_owned));
    for operator in &inspected.operators {
        text.push_str(&csv_row(&[
            operator.name.clone(),
            operator.op.clone(),
            shapes(&operator.inputs),
            shape(&operator.output),
            operator.macs.to_string(),
            operator.parameters.to_string(),
        ]));
    }
    text
}
