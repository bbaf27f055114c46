//! Values that live from one run to the next, as variables: a graph of its own gives them their first
//! values, the main graph reads them at its beginning and assigns them at its end.

use tilewright_model::{DType, Data, State};
use tilewright_tflite_schema::{self as fb, BuiltinOperator as Code};

use super::TfliteError;
use super::graph::{Made, Writer};
use super::options::Options;
use super::tables::{Graph, Operator, Tensor};

/// The graph that gives first values, behind the main one.
const FIRST_VALUES: i32 = 1;

/// Variables of the main graph.
pub(super) struct States<'m> {
    /// Each with its handle.
    handles: Vec<(&'m State, i32)>,
    /// What gives them their first values, if there are any.
    pub(super) graph: Option<Graph>,
}

fn at<T>(state: &State, made: Made<T>) -> Result<T, TfliteError> {
    made.map_err(|reason| TfliteError::Tensor { tensor: state.name.clone(), reason })
}

/// Adds the operator that makes a variable's handle.
fn handle(graph: &mut Graph, state: &State) -> i32 {
    let handle = graph.tensor(Tensor {
        name: format!("{}.handle", state.name),
        dims: Vec::new(),
        kind: fb::TensorType::RESOURCE,
        scaled: None,
        data: None,
    });
    let options = Options::VarHandle { name: state.name.clone() };
    graph.operators.push(operator(Code::VAR_HANDLE, options, &[], &[handle]));
    handle
}

fn operator(code: Code, options: Options, inputs: &[i32], outputs: &[i32]) -> Operator {
    let (inputs, outputs) = (inputs.to_vec(), outputs.to_vec());
    Operator { code, version: 1, options, inputs, outputs }
}

/// Reads all variables: their tensors are the model's inputs.
pub(super) fn begin<'m>(writer: &mut Writer<'m>) -> Result<States<'m>, TfliteError> {
    let model = writer.model;
    let mut states: Vec<&State> = model.states.iter().collect();
    if states.is_empty() {
        return Ok(States { handles: Vec::new(), graph: None });
    }
    // The order in which a reader finds them.
    states.sort_by_key(|state| state.input);
    let call = operator(Code::CALL_ONCE, Options::CallOnce { graph: FIRST_VALUES }, &[], &[]);
    writer.graph.operators.push(call);
    let mut graph = Graph { name: "first values", ..Graph::default() };
    let mut handles = Vec::new();
    for state in states {
        let id = model.inputs.get(state.input).copied();
        let id = at(state, id.ok_or_else(|| "it is no input of the model".to_owned()))?;
        if model.tensor(id).dtype != DType::I8 {
            let reason = "it lives from one run to the next and is not int8: quantise the model";
            return at(state, Err(reason.to_owned()));
        }
        let handle_here = handle(&mut writer.graph, state);
        let value = at(state, writer.tensor(id))?;
        writer.push(Code::READ_VARIABLE, Options::None, &[handle_here], &[value]);
        handles.push((state, handle_here));

        let handle_there = handle(&mut graph, state);
        let first = model.first_state(state.input);
        let Some(Data::I8(values)) = first else {
            return at(state, Err("its first value is not int8".to_owned()));
        };
        let like = usize::try_from(value).ok().and_then(|at| writer.graph.tensors.get(at));
        let like = at(state, like.cloned().ok_or_else(|| "it has no tensor".to_owned()))?;
        let name = format!("{}.first", state.name);
        let first = graph.tensor(Tensor { name, data: Some(writer.eight_bits(&values)), ..like });
        let inputs = [handle_there, first];
        graph.operators.push(operator(Code::ASSIGN_VARIABLE, Options::None, &inputs, &[]));
    }
    Ok(States { handles, graph: Some(graph) })
}

impl States<'_> {
    /// Assigns the variables that runs change.
    pub(super) fn end(&self, writer: &mut Writer<'_>) -> Result<(), TfliteError> {
        for (state, handle) in &self.handles {
            let Some(output) = state.output else { continue };
            let id = writer.model.outputs.get(output).copied();
            let id = at(state, id.ok_or_else(|| "it is no output of the model".to_owned()))?;
            let value = at(state, writer.tensor(id))?;
            writer.push(Code::ASSIGN_VARIABLE, Options::None, &[*handle, value], &[]);
        }
        Ok(())
    }
}
