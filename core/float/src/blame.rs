//! Which layer loses much first.

use tilewright_model::{Model, TensorId};
use tilewright_report::{Agreement, Loss, TensorComparison};

/// A result whose ratio is lower by this many decibels than its operands' has lost much.
const MUCH_DB: f64 = 10.0;

/// Operands count as no better than this: a first rounding to int8 always costs, and one that leaves
/// [`MUCH_DB`] less than this costs no accuracy yet.
const GOOD_DB: f64 = 35.0;

/// What differs less than this from the opinion differs by rounding of floats.
const ROUNDING_DB: f64 = 60.0;

/// How a result's ratio follows from its operands': whether the layer is to blame.
type Rule = fn(before: f64, own: f64) -> bool;

/// The first layer whose int8 result loses much.
pub(crate) fn int8(model: &Model, layers: &[TensorComparison]) -> Option<Loss> {
    let rule = |before: f64, own: f64| before.min(GOOD_DB) - own > MUCH_DB;
    first(model, layers, |layer| layer.int8.as_ref(), rule)
}

/// The first layer whose float result differs by more than rounding.
pub(crate) fn float(model: &Model, layers: &[TensorComparison]) -> Option<Loss> {
    let rule = |before: f64, own: f64| before >= ROUNDING_DB && own < ROUNDING_DB;
    first(model, layers, |layer| layer.float.as_ref(), rule)
}

fn first(
    model: &Model,
    layers: &[TensorComparison],
    of: impl Fn(&TensorComparison) -> Option<&Agreement>,
    is_to_blame: Rule,
) -> Option<Loss> {
    // Of each tensor the ratio, or that of what it was made from if it was not compared.
    let mut ratios = vec![f64::INFINITY; model.tensors.len()];
    let mut layers = layers.iter().peekable();
    let mut visit = |id: TensorId, before: f64, ratios: &mut Vec<f64>| {
        let name = &model.tensor(id).name;
        let layer = layers.next_if(|layer| layer.tensor == *name);
        let Some((layer, found)) = layer.and_then(|layer| Some((layer, of(layer)?))) else {
            ratios[id.0] = before;
            return None;
        };
        let own = found.sqnr_db.unwrap_or(f64::INFINITY);
        ratios[id.0] = own;
        is_to_blame(before, own).then(|| Loss {
            layer: layer.layer.clone(),
            tensor: layer.tensor.clone(),
            before_sqnr_db: before.is_finite().then_some(before),
            sqnr_db: own,
        })
    };
    for id in &model.inputs {
        if let Some(loss) = visit(*id, f64::INFINITY, &mut ratios) {
            return Some(loss);
        }
    }
    for node in &model.nodes {
        let operands = node.inputs.iter().map(|id| ratios[id.0]);
        let before = operands.fold(f64::INFINITY, f64::min);
        for id in &node.outputs {
            if let Some(loss) = visit(*id, before, &mut ratios) {
                return Some(loss);
            }
        }
    }
    None
}
