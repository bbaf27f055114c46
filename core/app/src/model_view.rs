//! A model as `inspect` shows it: after import, NHWC, batch normalisation folded, activations fused.

use serde::Serialize;
use tilewright_formats::input::Pixels;
use tilewright_model::{Model, Op, OperatorKind};

use crate::port::Port;

/// A model, for people and scripts.
#[derive(Clone, Debug, Serialize)]
pub struct ModelView {
    /// Its name: the file's without its ending.
    pub model: String,
    /// Inputs.
    pub inputs: Vec<Port>,
    /// Outputs.
    pub outputs: Vec<Port>,
    /// Those inputs and outputs that are one value before and after a run.
    pub states: Vec<StateView>,
    /// Multiply-accumulates.
    pub macs: u64,
    /// Parameters, batch normalisation folded.
    pub parameters: u64,
    /// Bytes of weights and other constants, as the model has them.
    pub weight_bytes: u64,
    /// Bytes of all results together, as the model has them.
    pub activation_bytes: u64,
    /// Bytes of weights once quantised: a byte for each, four for each bias.
    pub int8_weight_bytes: u64,
    /// Bytes of all results once quantised: a byte for each.
    pub int8_activation_bytes: u64,
    /// Names of the classes, where the file has them.
    pub labels: Vec<String>,
    /// The range in which it takes pixels, where the file says one.
    pub pixels: Option<String>,
    /// What was left out of the file, or changed, when it was read.
    pub notes: Vec<String>,
    /// Operators by kind.
    pub kinds_of_operators: Vec<KindView>,
    /// Operators that nothing here computes: the model can be looked at, but not run.
    pub without_kernel: Vec<UnknownView>,
    /// Operators in order.
    pub operators: Vec<OperatorView>,
}

/// A node of which only the shapes are known.
#[derive(Clone, Debug, Serialize)]
pub struct UnknownView {
    /// Its name.
    pub name: String,
    /// Its operator.
    pub op: String,
}

/// All operators of a kind.
#[derive(Clone, Debug, Serialize)]
pub struct KindView {
    /// The operator.
    pub op: String,
    /// How many there are.
    pub count: usize,
    /// Their multiply-accumulates.
    pub macs: u64,
    /// These as a part of the model's.
    pub macs_percent: f64,
    /// Their parameters.
    pub parameters: u64,
    /// These as a part of the model's.
    pub parameters_percent: f64,
    /// Bytes of their results.
    pub activation_bytes: u64,
}

impl From<OperatorKind> for KindView {
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
#[derive(Clone, Debug, Serialize)]
pub struct StateView {
    /// Its name.
    pub name: String,
    /// Its bytes.
    pub bytes: u64,
    /// Position among the inputs.
    pub input: usize,
    /// Position among the outputs; null if runs do not change it.
    pub output: Option<usize>,
}

/// An operator.
#[derive(Clone, Debug, Serialize)]
pub struct OperatorView {
    /// Its name.
    pub name: String,
    /// What it computes.
    pub op: String,
    /// Shapes of the activations that it reads.
    pub inputs: Vec<Vec<usize>>,
    /// Shape of its first result.
    pub output: Vec<usize>,
    /// Multiply-accumulates.
    pub macs: u64,
    /// Parameters.
    pub parameters: u64,
}

impl ModelView {
    /// The view of a model.
    #[must_use]
    pub fn of(model: &Model) -> Self {
        let states = model.states.iter().map(|state| StateView {
            name: state.name.clone(),
            bytes: model.tensor(model.inputs[state.input]).bytes().unwrap_or(0) as u64,
            input: state.input,
            output: state.output,
        });
        let operators = model.nodes.iter().map(|node| {
            let inputs = node.inputs.iter().map(|id| model.tensor(*id));
            let activations = inputs.filter(|tensor| !tensor.is_constant());
            let output = node.outputs.first().map(|id| model.tensor(*id).shape.dims().to_vec());
            OperatorView {
                name: node.name.clone(),
                op: node.op.name().to_owned(),
                inputs: activations.map(|tensor| tensor.shape.dims().to_vec()).collect(),
                output: output.unwrap_or_default(),
                macs: model.macs(node),
                parameters: model.parameters_of(node),
            }
        });
        let operators: Vec<OperatorView> = operators.collect();
        let summary = model.summary();
        let opaque = model.nodes.iter().filter(|node| matches!(node.op, Op::Opaque { .. }));
        Self {
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
            pixels: Pixels::of(model).map(|pixels| pixels.to_string()),
            notes: model.notes.clone(),
            kinds_of_operators: summary.kinds.into_iter().map(KindView::from).collect(),
            without_kernel: opaque
                .map(|node| UnknownView { name: node.name.clone(), op: node.op.name().to_owned() })
                .collect(),
            operators,
        }
    }
}
