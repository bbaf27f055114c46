//! `reordered`: like `resident`, in the order whose tensors need the smallest arena.
//!
//! What Sudharsan et al. (section 3) look for; order and offsets are searched together, and come
//! with a bound that no order goes below. Elementwise layers may write over an operand that
//! nothing needs afterwards, operands of concats may be made where the output lies, and slices may
//! be read where their operand lies, wherever that makes the arena smaller.

use super::aliasing_search::{AliasingSearch, Candidate};
use super::{Search, Technique};
use crate::PlanError;
use crate::aliasing::{Aliasing, Arranged, Parts};
use crate::lower::{self, Layer};
use crate::planning::Progress;
use tilewright_allocate::{Buffer, PLANNING_BUDGET, TENSOR_ALIGNMENT};
use tilewright_model::Model;
use tilewright_order::{Budget, Graph, Joint, Operator, Problem, Rules, Tensor};
use tilewright_plan::{Bytes, PlannedTensor};

/// The strategy.
pub const TECHNIQUE: Technique = Technique {
    name: "reordered",
    search: |model| Ok(Box::new(Reordering::new(model)?)),
    ..Technique::INSIDE
};

/// Units of work for the order, and as many again for the offsets.
pub const BUDGET: Budget = Budget { work: 100 * PLANNING_BUDGET, memory: 64 << 20 };

/// The search: the best order of tensors that share nothing, then better ones with aliasing.
pub enum Reordering {
    /// The first, from the layers in the model's order.
    Apart(Vec<Layer>, Joint),
    /// The second.
    Aliasing(AliasingSearch),
}

impl Reordering {
    /// Begins.
    ///
    /// # Errors
    /// [`PlanError`] names the tensor that cannot be planned.
    pub fn new(model: &Model) -> Result<Self, PlanError> {
        let layers = lower::layers(model);
        let given = lower::tensors(model, &layers)?;
        let problem = Problem::new(graph(model, &layers, &given), Rules::default())?;
        Ok(Self::Apart(layers, Joint::new(problem, TENSOR_ALIGNMENT, BUDGET)))
    }

    /// The best so far.
    ///
    /// # Errors
    /// [`PlanError`] names the tensor that cannot be planned.
    pub fn best(&self, model: &Model) -> Result<Candidate, PlanError> {
        match self {
            Self::Apart(layers, joint) => apart(model, layers, &joint.settled()?),
            Self::Aliasing(search) => Ok(search.best().clone()),
        }
    }
}

impl Search for Reordering {
    fn advance(&mut self, model: &Model, units: u64) -> Result<bool, PlanError> {
        match self {
            Self::Apart(_, joint) => {
                if joint.advance(units)? {
                    let aliasing = Aliasing {
                        parts: true,
                        slices: true,
                        in_place: true,
                        ..Aliasing::default()
                    };
                    *self = Self::Aliasing(AliasingSearch::new(
                        model,
                        lower::layers(model),
                        aliasing,
                        self.best(model)?,
                    )?);
                }
                Ok(false)
            }
            Self::Aliasing(search) => search.advance(model, units),
        }
    }

    fn progress(&self) -> Progress {
        match self {
            Self::Apart(_, joint) => {
                let arena = joint.best().map(|best| best.solution.height);
                Progress { arena, ..Progress::default() }
            }
            Self::Aliasing(search) => search.progress(),
        }
    }

    fn found(&self, model: &Model) -> Result<(Candidate, Option<Bytes>), PlanError> {
        let bound = self.progress().bound;
        Ok((self.best(model)?, Some(bound)))
    }
}

/// Layers and tensors as the orders' solver has placed them.
fn apart(
    model: &Model,
    layers: &[Layer],
    arranged: &tilewright_order::Arranged,
) -> Result<Candidate, PlanError> {
    let order = &arranged.ordered.order;
    let layers: Vec<Layer> = order.iter().map(|position| layers[*position].clone()).collect();
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
        let solution = tilewright_allocate::least(buffers, PLANNING_BUDGET)?.solution;
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
        ..Graph::default()
    }
}
