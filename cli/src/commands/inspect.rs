//! `tilewright inspect`.

use serde::Serialize;
use tilewright_model::{Model, Op};
use tilewright_server::{Blame, Cancel, Problem};

use super::json;
use crate::Said;
use crate::args::Inspect;
use crate::load;
use crate::port::Port;
use crate::text::{Side, Table, bytes, csv_row, number};

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
pub fn inspect(options: &Inspect) -> Result<Said, Problem> {
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
        return Err(Problem::new(Blame::BadInput, error, option, "Add --quantisation."));
    }
    let mut teller = crate::progress::Teller::new();
    let model = load::model(&quantised.file, &mut |p| teller.tell(&p), &Cancel::default())?;
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
    let operators: Vec<Operator> = operators.collect();
    let sizes = Sizes::of(model);
    let opaque = model.nodes.iter().filter(|node| matches!(node.op, Op::Opaque { .. }));
    Inspected {
        model: model.name.clone(),
        inputs: (0..model.inputs.len()).map(|at| Port::of_input(model, at)).collect(),
        outputs: (0..model.outputs.len()).map(|at| Port::of_output(model, at)).collect(),
        states: states.collect(),
        macs: model.nodes.iter().map(|node| model.macs(node)).sum(),
        parameters: model.parameters(),
        weight_bytes: sizes.weights,
        activation_bytes: sizes.activations,
        int8_weight_bytes: sizes.int8_weights,
        int8_activation_bytes: sizes.int8_activations,
        labels: model.labels(),
        kinds_of_operators: kinds(model, &operators),
        without_kernel: opaque
            .map(|node| Unknown { name: node.name.clone(), op: node.op.name().to_owned() })
            .collect(),
        operators,
    }
}

/// Bytes of a model's tensors, each once.
#[derive(Default)]
struct Sizes {
    weights: u64,
    activations: u64,
    int8_weights: u64,
    int8_activations: u64,
}

impl Sizes {
    fn of(model: &Model) -> Self {
        let mut sizes = Self::default();
        let mut bias = vec![false; model.tensors.len()];
        let mut used = vec![false; model.tensors.len()];
        for node in &model.nodes {
            node.inputs.iter().chain(&node.outputs).for_each(|id| used[id.0] = true);
            if let (true, Some(id)) = (node.op.is_weighted(), node.inputs.get(2)) {
                bias[id.0] = true;
            }
        }
        for (index, tensor) in model.tensors.iter().enumerate().filter(|(index, _)| used[*index]) {
            let (bytes, elements) = (tensor.bytes(), tensor.shape.elements());
            let [bytes, elements] = [bytes, elements].map(|size| size.unwrap_or(0) as u64);
            if tensor.is_constant() {
                sizes.weights += bytes;
                sizes.int8_weights += elements * if bias[index] { 4 } else { 1 };
            } else {
                sizes.activations += bytes;
                sizes.int8_activations += elements;
            }
        }
        sizes
    }
}

/// Kinds of operators, those with most MACs first.
fn kinds(model: &Model, operators: &[Operator]) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = Vec::new();
    for (node, operator) in model.nodes.iter().zip(operators) {
        let results = node.outputs.iter().map(|id| model.tensor(*id).bytes().unwrap_or(0) as u64);
        let bytes: u64 = results.sum();
        match kinds.iter_mut().find(|kind| kind.op == operator.op) {
            Some(kind) => {
                kind.count += 1;
                kind.macs += operator.macs;
                kind.parameters += operator.parameters;
                kind.activation_bytes += bytes;
            }
            None => kinds.push(Kind {
                op: operator.op.clone(),
                count: 1,
                macs: operator.macs,
                macs_percent: 0.0,
                parameters: operator.parameters,
                parameters_percent: 0.0,
                activation_bytes: bytes,
            }),
        }
    }
    let macs: u64 = kinds.iter().map(|kind| kind.macs).sum();
    let parameters: u64 = kinds.iter().map(|kind| kind.parameters).sum();
    for kind in &mut kinds {
        kind.macs_percent = share(kind.macs, macs);
        kind.parameters_percent = share(kind.parameters, parameters);
    }
    kinds.sort_by(|a, b| b.macs.cmp(&a.macs).then(b.count.cmp(&a.count)).then(a.op.cmp(&b.op)));
    kinds
}

/// In percent, to a hundredth.
fn share(part: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { (part as f64 / all as f64 * 10_000.0).round() / 100.0 }
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
            .map(|p| format!("{} {}{}", p.name, shape(&p.shape), p.file_dtype_in_words()))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let unknown: Vec<_> = inspected
        .without_kernel
        .iter()
        .map(|node| format!("{} ({})", node.name, node.op))
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
    format!(
        "{}: input {}; output {}; {} MACs, {} parameters\nweights {}, activations {}; as int8 \
         {} and {}\n{states}{unknown}\n{}\n{}",
        inspected.model,
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
