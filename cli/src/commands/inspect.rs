//! `tilewright inspect`.

use serde::Serialize;
use tilewright_app::{Blame, Cancel, Diagnostic};
use tilewright_model::{Model, Op, OperatorKind};
use tilewright_report::{csv_row, plain, short_name};
use tilewright_runner::Native;

use super::json;
use crate::Said;
use crate::args::Inspect;
use crate::load;
use crate::port::Port;
use crate::text::{Side, Table, bytes, number};

#[derive(Debug, Serialize)]
struct Inspected {
    model: String,
    inputs: Vec<Port>,
    outputs: Vec<Port>,
    /// Those inputs and outputs that are one value before and after a run.
    states: Vec<State>,
    macs: u64,
    parameters: u64,
    /// Bytes of weights and other constants, and of all results together: as the model has them.
    weight_bytes: u64,
    activation_bytes: u64,
    /// The same once quantised: a byte for each weight and result, four for each bias.
    int8_weight_bytes: u64,
    int8_activation_bytes: u64,
    labels: Vec<String>,
    /// What was left out of the file, or changed, when it was read.
    notes: Vec<String>,
    kinds_of_operators: Vec<Kind>,
    /// Operators that nothing here computes: the model can be looked at, but not run.
    without_kernel: Vec<Unknown>,
    operators: Vec<Operator>,
}

/// A node of which only the shapes are known.
#[derive(Debug, Serialize)]
struct Unknown {
    name: String,
    op: String,
}

/// All operators of a kind.
#[derive(Debug, Serialize)]
struct Kind {
    op: String,
    count: usize,
    macs: u64,
    macs_percent: f64,
    parameters: u64,
    parameters_percent: f64,
    activation_bytes: u64,
}

impl From<OperatorKind> for Kind {
    fn from(kind: OperatorKind) -> Self {
        Self {
            op: kind.op,
            count: kind.count,
            macs: kind.macs,
            macs_percent: kind.macs_percent,
            parameters: kind.parameters,
            parameters_percent: kind.parameters_percent,
            activation_bytes: kind.activation_bytes,
        }
    }
}

/// A value that lives from one run to the next.
#[derive(Debug, Serialize)]
struct State {
    name: String,
    bytes: u64,
    /// Positions among the inputs and outputs; null if runs do not change it.
    input: usize,
    output: Option<usize>,
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
pub fn inspect(options: &Inspect) -> Result<Said, Diagnostic> {
    if options.quantisation {
        return super::quantisation::quantisation(options);
    }
    let quantised = &options.quantised;
    let unused = [
        (quantised.samples.is_some(), "--samples"),
        (quantised.calibration.is_some(), "--calibration"),
    ];
    if let Some((_, option)) = unused.into_iter().find(|(given, _)| *given) {
        let error = format!("{option} says how to quantise, but nothing is quantised.");
        return Err(Diagnostic::new(Blame::BadInput, error, option, "Add --quantisation."));
    }
    let mut teller = crate::progress::Teller::new();
    let model =
        load::model(&quantised.file, &Native::new(&mut |p| teller.tell(&p), &Cancel::default()))?;
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
    let states = model.states.iter().map(|state| State {
        name: state.name.clone(),
        bytes: model.tensor(model.inputs[state.input]).bytes().unwrap_or(0) as u64,
        input: state.input,
        output: state.output,
    });
    let operators = model.nodes.iter().map(|node| {
        let inputs = node.inputs.iter().map(|id| model.tensor(*id));
        let activations = inputs.filter(|tensor| !tensor.is_constant());
        let output = node.outputs.first().map(|id| model.tensor(*id).shape.dims().to_vec());
        Operator {
            name: node.name.clone(),
            op: node.op.name().to_owned(),
            inputs: activations.map(|tensor| tensor.shape.dims().to_vec()).collect(),
            output: output.unwrap_or_default(),
            macs: model.macs(node),
            parameters: model.parameters_of(node),
        }
    });
    let operators: Vec<Operator> = operators.collect();
    let summary = model.summary();
    let opaque = model.nodes.iter().filter(|node| matches!(node.op, Op::Opaque { .. }));
    Inspected {
        model: model.name.clone(),
        inputs: (0..model.inputs.len()).map(|at| Port::of_input(model, at)).collect(),
        outputs: (0..model.outputs.len()).map(|at| Port::of_output(model, at)).collect(),
        states: states.collect(),
        macs: summary.macs,
        parameters: summary.parameters,
        weight_bytes: summary.weight_bytes,
        activation_bytes: summary.activation_bytes,
        int8_weight_bytes: summary.int8_weight_bytes,
        int8_activation_bytes: summary.int8_activation_bytes,
        labels: model.labels(),
        notes: model.notes.clone(),
        kinds_of_operators: summary.kinds.into_iter().map(Kind::from).collect(),
        without_kernel: opaque
            .map(|node| Unknown { name: node.name.clone(), op: node.op.name().to_owned() })
            .collect(),
        operators,
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
    let notes: String = inspected.notes.iter().map(|note| plain(note) + "\n").collect();
    format!(
        "{}: input {}; output {}; {} MACs, {} parameters\nweights {}, activations {}; as int8 \
         {} and {}\n{states}{notes}{unknown}\n{}\n{}",
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
