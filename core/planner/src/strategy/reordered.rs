//! `reordered`: like `resident`, in the order whose tensors need the smallest arena.
//!
//! What Sudharsan et al. (section 3) look for; order and offsets are searched together, and come
//! with a bound that no order goes below. Elementwise layers may write over an operand that
//! nothing needs afterwards, and operands of concats may be made where the output lies, wherever
//! that makes the arena smaller.

use super::sharing::{self, Candidate};
use crate::PlanError;
use crate::allocate::{self, Buffer, PLANNING_BUDGET, TENSOR_ALIGNMENT};
use crate::lower::{self, Layer};
use crate::order::{self, Budget, Graph, Operator, Problem, Rules, Tensor};
use crate::share::{Arranged, Parts, Sharing};
use tilewright_model::Model;
use tilewright_plan::{Bytes, PlannedTensor};

/// Plans `model`; with the bytes that no order and no placement goes below.
///
/// # Errors
/// [`PlanError`] names the node or tensor that cannot be planned.
pub fn plan(model: &Model) -> Result<(Candidate, Bytes), PlanError> {
    let sharing = Sharing { parts: true, in_place: true, rows: false };
    sharing::improve(model, &sharing, apart(model)?)
}

/// The best order of tensors that share nothing.
fn apart(model: &Model) -> Result<Candidate, PlanError> {
    let layers = lower::layers(model)?;
    let given = lower::tensors(model, &layers)?;
    let problem = Problem::new(graph(model, &layers, &given), Rules::default())?;
    let budget = Budget { work: 100 * PLANNING_BUDGET, memory: 64 << 20 };
    let arranged = order::arrange(&problem, TENSOR_ALIGNMENT, budget)?;
    let layers: Vec<Layer> =
        arranged.ordered.order.iter().map(|position| layers[*position].clone()).collect();
    let mut tensors = lower::tensors(model, &layers)?;
    let mut offsets = vec![None; tensors.len()];
    for (placed, offset) in arranged.placed.iter().zip(&arranged.solution.offsets) {
        for tensor in &placed.tensors {
            offsets[*tensor] = Some(*offset);
        }
    }
    let mut height = arranged.solution.height;
    if offsets.contains(&None) {
        // An input that nothing reads is no part of the problem of order.
        let buffers = tensors.iter().map(Buffer::of_tensor).collect();
        let solution = allocate::least(buffers, PLANNING_BUDGET)?.solution;
        offsets = solution.offsets.into_iter().map(Some).collect();
        height = solution.height;
    }
    for (tensor, offset) in tensors.iter_mut().zip(offsets) {
        tensor.offset = offset.unwrap_or(0);
    }
    Ok(Candidate { layers, arranged: Arranged { tensors, parts: Parts::none(), height } })
}

/// The layers as a graph, its tensors numbered as in `tensors`.
fn graph(model: &Model, layers: &[Layer], tensors: &[PlannedTensor]) -> Graph {
    let mut number = vec![usize::MAX; model.tensors.len()];
    for (index, tensor) in tensors.iter().enumerate() {
        number[tensor.tensor as usize] = index;
    }
    let roots = lower::roots(model);
    let numbers = |ids: &[tilewright_model::TensorId]| -> Vec<usize> {
        ids.iter().map(|id| number[roots[id.0].0]).filter(|index| *index != usize::MAX).collect()
    };
    let tensor = |tensor: &PlannedTensor| Tensor {
        name: tensor.name.clone(),
        bytes: tensor.bytes.align_up(TENSOR_ALIGNMENT).0,
    };
    let operator = |layer: &Layer| Operator {
        name: model.nodes[layer.node.0].name.clone(),
        inputs: numbers(&layer.reads),
        outputs: numbers(&layer.writes),
        ..Operator::default()
    };
    Graph {
        tensors: tensors.iter().map(tensor).collect(),
        operators: layers.iter().map(operator).collect(),
        inputs: numbers(&model.inputs),
        outputs: numbers(&model.outputs),
        variables: Vec::new(),
    }
}
