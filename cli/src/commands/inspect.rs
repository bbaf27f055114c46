//! `tilewright inspect`.

use serde::Serialize;
use tilewright_model::Model;
use tilewright_server::{Cancel, Problem};

use super::json;
use crate::Said;
use crate::args::Inspect;
use crate::load;
use crate::text::{Side, Table, csv_row, number};

#[derive(Debug, Serialize)]
struct Inspected {
    model: String,
    inputs: Vec<Port>,
    outputs: Vec<Port>,
    macs: u64,
    parameters: u64,
    labels: Vec<String>,
    operators: Vec<Operator>,
}

#[derive(Debug, Serialize)]
struct Port {
    name: String,
    shape: Vec<usize>,
    dtype: &'static str,
}

#[derive(Debug, Serialize)]
struct Operator {
    name: String,
    op: String,
    inputs: Vec<Vec<usize>>,
    output: Vec<usize>,
    macs: u64,
    parameters: u64,
}

/// Shows a model after import: NHWC, batch normalisation folded, activations fused.
pub fn inspect(options: &Inspect) -> Result<Said, Problem> {
    let mut teller = crate::progress::Teller::new();
    let model = load::model(&options.file, &mut |p| teller.tell(&p), &Cancel::default())?;
    drop(teller);
    let inspected = of(&model);
    let text = if options.json.json {
        json(&inspected)?
    } else if options.csv {
        csv(&inspected)
    } else {
        table(&inspected)
    };
    Ok(Said::well(text))
}

fn of(model: &Model) -> Inspected {
    let port = |id: &tilewright_model::TensorId| {
        let tensor = model.tensor(*id);
        Port {
            name: tensor.name.clone(),
            shape: tensor.shape.dims().to_vec(),
            dtype: tensor.dtype.name(),
        }
    };
    let operators = model.nodes.iter().map(|node| {
        let inputs = node.inputs.iter().map(|id| model.tensor(*id));
        let (constants, activations): (Vec<_>, Vec<_>) =
            inputs.partition(|tensor| tensor.is_constant());
        let output = node.outputs.first().map(|id| model.tensor(*id).shape.dims().to_vec());
        Operator {
            name: node.name.clone(),
            op: node.op.name().to_owned(),
            inputs: activations.iter().map(|tensor| tensor.shape.dims().to_vec()).collect(),
            output: output.unwrap_or_default(),
            macs: model.macs(node),
            parameters: constants.iter().map(|t| t.shape.elements().unwrap_or(0) as u64).sum(),
        }
    });
    Inspected {
        model: model.name.clone(),
        inputs: model.inputs.iter().map(port).collect(),
        outputs: model.outputs.iter().map(port).collect(),
        macs: model.nodes.iter().map(|node| model.macs(node)).sum(),
        parameters: model.parameters(),
        labels: model.labels(),
        operators: operators.collect(),
    }
}

fn shape(dims: &[usize]) -> String {
    dims.iter().map(usize::to_string).collect::<Vec<_>>().join("×")
}

fn shapes(all: &[Vec<usize>]) -> String {
    all.iter().map(|dims| shape(dims)).collect::<Vec<_>>().join(" ")
}

fn table(inspected: &Inspected) -> String {
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
            operator.name.clone(),
            operator.op.clone(),
            shapes(&operator.inputs),
            shape(&operator.output),
            number(operator.macs),
            number(operator.parameters),
        ]);
    }
    let ports = |ports: &[Port]| {
        ports
            .iter()
            .map(|p| format!("{} {}", p.name, shape(&p.shape)))
            .collect::<Vec<_>>()
            .join(", ")
    };
    format!(
        "{}: input {}; output {}; {} MACs, {} parameters\n{}",
        inspected.model,
        ports(&inspected.inputs),
        ports(&inspected.outputs),
        number(inspected.macs),
        number(inspected.parameters),
        table.print(),
    )
}

fn csv(inspected: &Inspected) -> String {
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
