//! Quantisation that the file of a float model states.

use super::calibrate::Range;
use super::scales::{from_range, keeps_quantisation, prescribed};
use super::{QuantiseError, activations, convert};
use crate::graph::Model;
use crate::interpret::{RunError, check_types};
use crate::op::Op;
use crate::tensor::{DType, Quantisation, Tensor};

/// Quantises a float model whose float tensors state their quantisation ([`crate::Tensor`]):
/// activations one scale, weights one or one for each output channel. What an activation does not
/// state follows from its neighbours where the operators between keep the quantisation, and from
/// the operator where that prescribes one. Nothing if some activation's stays unknown.
///
/// # Errors
/// If the model is faulty or not float, or a node has no int8 form.
pub fn quantise_as_stated(model: &Model) -> Result<Option<Model>, QuantiseError> {
    model.verify().map_err(RunError::from)?;
    check_types(model, DType::F32)?;
    if model.tensors.iter().all(|tensor| tensor.quantisation.is_none()) {
        return Ok(None);
    }
    let Some(scales) = stated(model) else { return Ok(None) };
    let quantised = convert(model, &scales)?;
    quantised.verify()?;
    Ok(Some(quantised))
}

/// The quantisation of each activation, nothing for weights; or nothing, if one is unknown.
fn stated(model: &Model) -> Option<Vec<Option<Quantisation>>> {
    let mut known: Vec<Option<Quantisation>> = model
        .tensors
        .iter()
        .map(|tensor| tensor.quantisation.clone().filter(|stated| stated.axis.is_none()))
        .collect();
    let moves = |op: &Op| keeps_quantisation(op) || matches!(op, Op::Concat { .. });
    for node in model.nodes.iter().rev().filter(|node| moves(&node.op)) {
        let result = node.outputs.first().and_then(|id| known[id.0].clone());
        for input in &node.inputs {
            if known[input.0].is_none() {
                known[input.0].clone_from(&result);
            }
        }
    }
    for node in &model.nodes {
        let Some(output) = node.outputs.first() else { continue };
        if let Some(prescribed) = prescribed(&node.op) {
            known[output.0] = Some(prescribed);
        } else if moves(&node.op) && known[output.0].is_none() {
            known[output.0] = node.inputs.first().and_then(|id| known[id.0].clone());
        }
    }
    let mut scales = vec![None; model.tensors.len()];
    let named = model.nodes.iter().flat_map(|node| activations(node).iter().chain(&node.outputs));
    for id in named.chain(&model.inputs).chain(&model.outputs) {
        let tensor = model.tensor(*id);
        if tensor.dtype == DType::F32 {
            let own = || constant_range(tensor).map(|range| from_range(range, 0.0));
            scales[id.0] = Some(known[id.0].clone().or_else(own)?);
        }
    }
    Some(scales)
}

/// The range of a constant's values, with zero.
fn constant_range(tensor: &Tensor) -> Option<Range> {
    let values = tensor.source.as_ref()?.values();
    let extended = |range: Range, value: &f32| range.union(Range { low: *value, high: *value });
    Some(values.as_f32()?.iter().fold(Range::default(), extended))
}
