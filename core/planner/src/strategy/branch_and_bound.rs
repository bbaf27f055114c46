//! Which concats and slices copy, by branch and bound.
//!
//! A bound that lets each of them do either counts less than any plan needs: a concat that joins
//! keeps room for all of its operands, one that copies lies beside them. So they are settled one
//! by one, for each of both with a bound of its own; the lowest bounds what is open.

use crate::PlanError;
use crate::aliasing::{self, Aliasing};
use crate::lower::{self, Layer};
use tilewright_allocate::TENSOR_ALIGNMENT;
use tilewright_model::{Model, TensorId};
use tilewright_order::{Budget, Problem, Rules, Solver};
use tilewright_plan::Bytes;

/// Most choices that are looked at, and most layers that are put in order for them.
const MOST_CHOICES: usize = 64;
const MOST_LAYERS: usize = 40_000;

/// Units of work for the order of one choice.
const BUDGET: Budget = Budget { work: 6_000_000, memory: 16 << 20 };

/// Some concats and slices settled.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The aliasing, with those that copy.
    pub aliasing: Aliasing,
    /// The order that is best as far as is known, as indices into the layers given.
    pub order: Vec<usize>,
    /// Those that do not copy, as nodes.
    joined: Vec<usize>,
    /// No plan of this choice needs less.
    bound: Bytes,
    /// What is settled next, as node; nothing if all are.
    next: Option<usize>,
}

/// The search: choices that may yet lead to less.
pub struct BranchAndBound {
    open: Vec<Choice>,
    left: usize,
}

impl BranchAndBound {
    /// Begins with nothing settled.
    ///
    /// # Errors
    /// [`PlanError`] names the node or tensor that cannot be planned.
    pub fn new(model: &Model, layers: &[Layer], aliasing: &Aliasing) -> Result<Self, PlanError> {
        let root = Choice::of(model, layers, aliasing.clone(), Vec::new(), Bytes(0))?;
        let left = MOST_CHOICES.min(MOST_LAYERS / layers.len().max(1));
        Ok(Self { open: vec![root], left })
    }

    /// No plan needs less, if there is one of `height`.
    pub fn bound(&self, height: Bytes) -> Bytes {
        self.open.iter().map(|choice| choice.bound).min().unwrap_or(height)
    }

    /// Settles one more in the choice of the lowest bound; gives both ways, those left out that
    /// cannot be lower than `height`. Nothing if there is no more to find out.
    ///
    /// # Errors
    /// [`PlanError`] names the node or tensor that cannot be planned.
    pub fn settle(
        &mut self,
        model: &Model,
        layers: &[Layer],
        height: Bytes,
    ) -> Result<Option<Vec<Choice>>, PlanError> {
        self.open.retain(|choice| choice.bound < height);
        let lowest = (0..self.open.len()).min_by_key(|index| self.open[*index].bound);
        let node = lowest.and_then(|lowest| self.open[lowest].next);
        let (Some(lowest), Some(node)) = (lowest, node.filter(|_| self.left > 0)) else {
            return Ok(None);
        };
        let choice = self.open.swap_remove(lowest);
        self.left = self.left.saturating_sub(2);
        let mut copying = choice.aliasing.clone();
        copying.copied.push(node);
        let mut joined = choice.joined.clone();
        joined.push(node);
        let mut made = Vec::with_capacity(2);
        for (aliasing, joined) in [(copying, choice.joined), (choice.aliasing, joined)] {
            made.push(Choice::of(model, layers, aliasing, joined, choice.bound)?);
        }
        made.retain(|choice| choice.bound < height);
        self.open.extend_from_slice(&made);
        Ok(Some(made))
    }
}

impl Choice {
    /// A choice among plans that need at least `floor`.
    fn of(
        model: &Model,
        layers: &[Layer],
        aliasing: Aliasing,
        joined: Vec<usize>,
        floor: Bytes,
    ) -> Result<Self, PlanError> {
        let graph = aliasing::graph(model, layers, &aliasing, &joined)?;
        let problem = std::sync::Arc::new(Problem::new(graph, Rules::default())?);
        let mut solver = Solver::new(std::sync::Arc::clone(&problem), BUDGET);
        solver.advance(BUDGET.work);
        let ordered = solver.answer();
        let bound = ordered.lower_bound.align_up(TENSOR_ALIGNMENT).max(floor);
        let at = problem.measure(&ordered.order).ok().and_then(|measured| measured.position);
        let mut open = aliasing.parts_of(model, layers).nodes();
        open.retain(|node| !joined.contains(node));
        let next = next(model, layers, &ordered.order, at.unwrap_or(0), &open);
        Ok(Self { aliasing, order: ordered.order, joined, bound, next })
    }
}

/// Of the concats and slices in `open` the one with the largest output, if there are some of those
/// whose operands or output live at the position of the peak.
fn next(
    model: &Model,
    layers: &[Layer],
    order: &[usize],
    peak: usize,
    open: &[usize],
) -> Option<usize> {
    let roots = lower::roots(model);
    let mut lives: Vec<Option<(usize, usize)>> = vec![None; model.tensors.len()];
    for (position, index) in order.iter().enumerate() {
        let layer = &layers[*index];
        for id in layer.reads.iter().chain(&layer.writes) {
            let life = lives[roots[id.0].0].get_or_insert((position, position));
            life.1 = position;
        }
    }
    let is_live = |id: &TensorId| {
        lives[roots[id.0].0].is_some_and(|(first, last)| first <= peak && peak <= last)
    };
    let key = |node: &usize| {
        let of_node = &model.nodes[*node];
        let at_peak = of_node.inputs.iter().chain(&of_node.outputs).any(is_live);
        let output = of_node.outputs.first();
        let bytes = output.and_then(|output| model.tensor(*output).bytes()).unwrap_or(0);
        (at_peak, bytes, std::cmp::Reverse(*node))
    };
    open.iter().copied().max_by_key(key)
}
