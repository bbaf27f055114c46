//! What can be proved of a plan that no firmware runs: its tensors' places and lives.

use std::collections::{BTreeMap, BTreeSet};

use crate::{CheckError, check_board, check_structure, shapes};
use tilewright_board::Board;
use tilewright_model::{Model, TensorId};
use tilewright_plan::{Plan, PlannedTensor, Space};

/// What a check of memory has proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryProof {
    /// Tensors with places.
    pub tensors: usize,
    /// Operands of layers that were found alive in their places.
    pub operands: usize,
}

/// Proves of a plan without program that `model` could run in its memory: the layers come in an
/// order in which each operand has been made before, each tensor lives from then until its last
/// use, and no two that live at once share a byte.
///
/// # Errors
/// The first fault found; a program is one.
pub fn check_memory(plan: &Plan, model: &Model, board: &Board) -> Result<MemoryProof, CheckError> {
    check_board(plan, board)?;
    check_structure(plan, model)?;
    if plan.main.is_some() {
        return wrong("its program must be checked too".to_owned());
    }
    let places = Places::new(plan, model)?;
    let mut proof = MemoryProof { tensors: plan.tensors.len(), operands: 0 };
    let end = u32::try_from(plan.layers.len().max(1)).unwrap_or(u32::MAX);
    let mut made: Vec<bool> = model.tensors.iter().map(|tensor| tensor.is_constant()).collect();
    for id in &model.inputs {
        made[id.0] = true;
        places.lives(*id, 0)?;
    }
    let mut readers = vec![0u32; model.tensors.len()];
    for id in model.nodes.iter().flat_map(|node| &node.inputs).chain(&model.outputs) {
        readers[id.0] += 1;
    }
    for (position, layer) in (0u32..).zip(&plan.layers) {
        // What a node of the layer passes on to the next is never stored.
        let (mut passed, mut inputs, mut outputs) = (Vec::new(), Vec::new(), Vec::new());
        for node in layer.nodes.iter().map(|node| &model.nodes[*node as usize]) {
            passed = std::mem::replace(&mut outputs, node.outputs.clone());
            inputs.extend(node.inputs.iter().copied().filter(|id| !passed.contains(id)));
        }
        if passed.iter().any(|id| readers[id.0] != 1) {
            return wrong(format!(
                "what layer '{}' does not store is needed elsewhere",
                layer.name
            ));
        }
        for id in &inputs {
            let root = places.roots[id.0];
            if !made[root.0] {
                let (layer, tensor) = (&layer.name, &model.tensor(*id).name);
                return wrong(format!("layer '{layer}' reads '{tensor}' before it is made"));
            }
            if !model.tensor(root).is_constant() {
                places.lives(root, position)?;
                proof.operands += 1;
            }
        }
        for id in &outputs {
            made[id.0] = true;
            places.lives(*id, position)?;
            proof.operands += 1;
        }
    }
    for id in &model.outputs {
        let root = places.roots[id.0];
        if !model.tensor(root).is_constant() {
            places.lives(root, end - 1)?;
        }
    }
    disjoint(plan)?;
    Ok(proof)
}

fn wrong<T>(reason: String) -> Result<T, CheckError> {
    Err(CheckError::Plan(reason))
}

struct Places<'a> {
    plan: &'a Plan,
    model: &'a Model,
    /// For each tensor of the model, the one whose bytes it names.
    roots: Vec<TensorId>,
    /// For each tensor of the model, its place in the plan.
    planned: Vec<Option<usize>>,
}

impl<'a> Places<'a> {
    fn new(plan: &'a Plan, model: &'a Model) -> Result<Self, CheckError> {
        let mut planned = vec![None; model.tensors.len()];
        for (index, tensor) in plan.tensors.iter().enumerate() {
            let Some(place) = planned.get_mut(tensor.tensor as usize) else {
                return wrong(format!("tensor '{}' is not the model's", tensor.name));
            };
            if place.replace(index).is_some() {
                return wrong(format!("tensor '{}' has two places", tensor.name));
            }
        }
        Ok(Self { plan, model, roots: shapes::roots(model), planned })
    }

    /// A tensor has its bytes, and lives while the layer at `position` runs.
    fn lives(&self, id: TensorId, position: u32) -> Result<(), CheckError> {
        let name = &self.model.tensor(id).name;
        let Some(tensor) = self.planned[id.0].map(|index| &self.plan.tensors[index]) else {
            return wrong(format!("tensor '{name}' has no place"));
        };
        if tensor.bytes.0 != shapes::bytes(self.model, id) {
            return wrong(format!("tensor '{name}' has a place of another size"));
        }
        if !(tensor.first..tensor.end).contains(&position) {
            return wrong(format!("tensor '{name}' does not live while layer {position} runs"));
        }
        Ok(())
    }
}

/// No two tensors of a space that live at once share a byte: those alive, by offset, in the order
/// of their first layers.
fn disjoint(plan: &Plan) -> Result<(), CheckError> {
    for space in Space::ALL {
        let mut tensors: Vec<&PlannedTensor> =
            plan.tensors.iter().filter(|t| t.space == space && t.bytes.0 > 0).collect();
        tensors.sort_by_key(|tensor| (tensor.first, tensor.offset));
        let mut ends: BTreeSet<(u32, u64)> = BTreeSet::new();
        let mut alive: BTreeMap<u64, &PlannedTensor> = BTreeMap::new();
        for tensor in tensors {
            while let Some((end, offset)) = ends.first().copied() {
                if end > tensor.first {
                    break;
                }
                ends.pop_first();
                alive.remove(&offset);
            }
            let below = alive.range(..=tensor.offset).next_back();
            let above = alive.range(tensor.offset..).next();
            let over = |other: &PlannedTensor| {
                other.offset < tensor.offset + tensor.bytes.0
                    && tensor.offset < other.offset + other.bytes.0
            };
            for other in [below, above].into_iter().flatten().map(|(_, other)| *other) {
                if over(other) {
                    let (one, two) = (&other.name, &tensor.name);
                    return wrong(format!("tensors '{one}' and '{two}' live at once and overlap"));
                }
            }
            alive.insert(tensor.offset, tensor);
            ends.insert((tensor.end, tensor.offset));
        }
    }
    Ok(())
}
