//! Variables: tensors that live from one run to the next. A model that reads some gets an input for
//! each, and an output for each that it assigns: see [`tilewright_model::State`]. Most are resources
//! with a name; those of recurrent operators are tensors that the operator changes itself.

use std::collections::{BTreeMap, BTreeSet};

use tilewright_model::{DType, Data, Shape, State, Tensor, TensorId};
use tilewright_tflite_schema::{self as fb, BuiltinOperator as Code};

use super::importer::{Importer, Refused, Value, unsupported};
use super::quantised;
use super::verified_file::{self, Place, Stored};
use crate::{FormatError, Limits};

/// Most variables that one operator changes itself; an LSTM over both directions has four.
const MOST_KEPT: usize = 8;

/// A variable that the model has read or assigned.
pub(super) struct Variable {
    name: String,
    /// Whether it has a handle by this name; else it is a tensor of the file.
    is_resource: bool,
    /// What a run begins with, unless it assigns the variable before it reads it.
    before: Option<Before>,
    /// What it was assigned last, if it was.
    assigned: Option<TensorId>,
}

struct Before {
    input: TensorId,
    /// Position in [`tilewright_model::Model::inputs`].
    position: usize,
    initial: Option<Data>,
}

/// What the file assigns to its variables before the first run: constants, by the variables' names.
///
/// # Errors
/// If a graph of such assignments is missing or faulty.
pub(super) fn initial<'a>(
    model: &fb::Model<'a>,
    main: &fb::SubGraph<'a>,
    buffers: &[&'a [u8]],
    limits: &Limits,
) -> Result<BTreeMap<String, Stored<'a>>, FormatError> {
    let mut values = BTreeMap::new();
    let mut called = BTreeSet::new();
    let graphs = model.subgraphs();
    for (number, operator) in main.operators().iter().flatten().enumerate() {
        let (Code::CALL_ONCE, _) = verified_file::code(model, &operator, number)? else { continue };
        let index = operator.builtin_options_as_call_once_options();
        let index = index.map_or(-1, |options| options.init_subgraph_index());
        let count = graphs.map_or(0, |graphs| graphs.len());
        let graph = graphs
            .zip(usize::try_from(index).ok().filter(|index| *index < count))
            .map(|(graphs, index)| graphs.get(index))
            .ok_or_else(|| {
                verified_file::damaged(format!("operator {number} calls graph {index} of {count}"))
            })?;
        let size = graph.operators().map_or(0, |operators| operators.len());
        if size > limits.nodes {
            return Err(verified_file::too_many_nodes(size, limits));
        }
        if called.insert(index) {
            of_graph(model, &graph, buffers, limits, &mut values)?;
        }
    }
    Ok(values)
}

fn of_graph<'a>(
    model: &fb::Model<'a>,
    graph: &fb::SubGraph<'a>,
    buffers: &[&'a [u8]],
    limits: &Limits,
    values: &mut BTreeMap<String, Stored<'a>>,
) -> Result<(), FormatError> {
    let mut handles = BTreeMap::new();
    for (number, operator) in graph.operators().iter().flatten().enumerate() {
        let operand = |position: usize| operator.inputs().iter().flatten().nth(position);
        match verified_file::code(model, &operator, number)?.0 {
            Code::VAR_HANDLE => {
                let result = operator.outputs().iter().flatten().next();
                handles.extend(result.zip(name(&operator)));
            }
            Code::ASSIGN_VARIABLE => {
                let handle = operand(0).and_then(|operand| handles.get(&operand));
                let tensors = graph.tensors();
                let count = tensors.map_or(0, |tensors| tensors.len());
                let index = operand(1).and_then(|index| usize::try_from(index).ok());
                let tensor = tensors.zip(index.filter(|index| *index < count));
                if let (Some(handle), Some((tensors, index))) = (handle, tensor) {
                    let stored = verified_file::stored(index, tensors.get(index), buffers, limits)?;
                    values.insert(handle.clone(), stored);
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// The name of the variable that a handle stands for.
fn name(operator: &fb::Operator<'_>) -> Option<String> {
    let options = operator.builtin_options_as_var_handle_options()?;
    let name = options.shared_name()?;
    Some(match options.container() {
        None | Some("") => name.to_owned(),
        Some(container) => format!("{container}/{name}"),
    })
}

pub(super) fn handle<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
) -> Result<(), Refused> {
    let name = name(&place.operator).ok_or_else(|| place.bad("its variable has no name"))?;
    Ok(importer.set(place, 0, Value::Handle(name.into()))?)
}

/// Its work is done once the file is read.
pub(super) fn call_once<'a>(_: &mut Importer<'_, 'a>, _: &Place<'a>) -> Result<(), Refused> {
    Ok(())
}

fn handle_of<'a>(importer: &Importer<'_, 'a>, place: &Place<'a>) -> Result<String, Refused> {
    match importer.value(place, 0)? {
        Value::Handle(name) => Ok(name.to_string()),
        _ => unsupported("its variable has no handle"),
    }
}

/// The resource of this name among the variables.
fn position(importer: &Importer<'_, '_>, name: &str) -> Option<usize> {
    importer.variables.iter().position(|variable| variable.is_resource && variable.name == name)
}

pub(super) fn read<'a>(importer: &mut Importer<'_, 'a>, place: &Place<'a>) -> Result<(), Refused> {
    let name = handle_of(importer, place)?;
    let known = position(importer, &name);
    let known = known.map(|index| &importer.variables[index]);
    let value =
        known.and_then(|known| known.assigned.or(known.before.as_ref().map(|before| before.input)));
    if let Some(value) = value {
        return Ok(importer.set(place, 0, Value::Activated(value))?);
    }
    let (dtype, quantisation) = importer.result_kind(place, 0)?;
    if dtype != DType::I8 {
        return unsupported(format!("a variable of {}", dtype.name()));
    }
    let stored = &importer.file.tensors[importer.result(place, 0)?];
    let initial = importer.file.initial.get(&name);
    let initial = match initial.map(|initial| (initial, quantised::int8(initial))) {
        None => None,
        Some((initial, Some(values)))
            if initial.dims == stored.dims && initial.kind == stored.kind =>
        {
            Some(Data::I8(values))
        }
        Some(_) => {
            let reason = format!("variable '{name}' begins with values of another type or shape");
            return Err(place.bad(reason).into());
        }
    };
    let tensor = Tensor {
        name: importer.unique(&name),
        shape: Shape::new(stored.dims.clone()),
        dtype,
        quantisation,
        source: None,
    };
    let input = importer.model.add_tensor(tensor);
    let position = importer.model.inputs.len();
    importer.model.inputs.push(input);
    let before = Some(Before { input, position, initial });
    importer.variables.push(Variable { name, is_resource: true, before, assigned: None });
    Ok(importer.set(place, 0, Value::Activated(input))?)
}

pub(super) fn assign<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
) -> Result<(), Refused> {
    let name = handle_of(importer, place)?;
    let value = importer.activated(place, 1)?;
    let known = position(importer, &name);
    let Some(index) = known else {
        let assigned = Some(value);
        importer.variables.push(Variable { name, is_resource: true, before: None, assigned });
        return Ok(());
    };
    if let Some(before) = &importer.variables[index].before {
        let (read, given) = (importer.model.tensor(before.input), importer.model.tensor(value));
        if (&read.shape, &read.quantisation) != (&given.shape, &given.quantisation) {
            return Err(place
                .bad(format!(
                    "variable '{name}' is {} and assigned {}, or quantised in another way",
                    read.shape, given.shape
                ))
                .into());
        }
    }
    importer.variables[index].assigned = Some(value);
    Ok(())
}

/// The operands of an operator that are variables of the file: each gets a value, an input of the
/// model at first. Those of types that the graph does not have are left out.
pub(super) fn found<'a>(importer: &mut Importer<'_, 'a>, place: &Place<'a>) -> Vec<usize> {
    let mut found = Vec::new();
    let file = importer.file;
    for index in place.inputs.iter().flatten().copied() {
        let stored = &file.tensors[index];
        if !stored.is_variable || found.len() == MOST_KEPT || found.contains(&index) {
            continue;
        }
        if importer.values[index].is_none() {
            let Ok(tensor) = importer.tensor_for(index, &stored.dims) else { continue };
            let name = tensor.name.clone();
            let input = importer.model.add_tensor(tensor);
            let position = importer.model.inputs.len();
            importer.model.inputs.push(input);
            importer.values[index] = Some(Value::Activated(input));
            importer.kept.insert(index, importer.variables.len());
            let before = Some(Before { input, position, initial: None });
            importer.variables.push(Variable { name, is_resource: false, before, assigned: None });
        }
        if importer.kept.contains_key(&index) {
            found.push(index);
        }
    }
    found
}

/// What an operator leaves in a variable that it has [`found`]: a further result.
pub(super) fn left(importer: &mut Importer<'_, '_>, index: usize) -> TensorId {
    let variable = importer.kept[&index];
    let name = importer.unique(&format!("{}.next", importer.variables[variable].name));
    let before = importer.variables[variable].before.as_ref().map(|before| before.input);
    let before = before.expect("a tensor that is a variable begins as an input");
    let tensor = Tensor { name, ..importer.model.tensor(before).clone() };
    let id = importer.model.add_tensor(tensor);
    importer.variables[variable].assigned = Some(id);
    importer.values[index] = Some(Value::Activated(id));
    id
}

/// Makes what variables were assigned outputs of the model, behind those of the file.
pub(super) fn finish(importer: &mut Importer<'_, '_>) {
    for Variable { name, before, assigned, .. } in std::mem::take(&mut importer.variables) {
        let Some(Before { position: input, initial, .. }) = before else { continue };
        let output = assigned.map(|assigned| {
            let id = importer.output_of(assigned, &format!("{name}.next"));
            importer.model.outputs.push(id);
            importer.model.outputs.len() - 1
        });
        importer.model.states.push(State { name, input, output, initial });
    }
}
