//! Plans with aliasing: the search that `reordered` and `auto` have in common.

use super::branch_and_bound::BranchAndBound;
use super::reordered::BUDGET;
use crate::PlanError;
use crate::aliasing::{self, Aliasing, Arranged, Parts};
use crate::lower::{self, Layer};
use crate::planning::Progress;
use tilewright_allocate::{PLANNING_BUDGET, TENSOR_ALIGNMENT};
use tilewright_model::Model;
use tilewright_order::{Problem, Rules, Solver};
use tilewright_plan::{Bytes, Kernel, PlannedTensor, Work};

/// Orders of one peak that are tried when the first has no placement as low as its bound.
const TRIES: u64 = 8;

/// Layers in an order, with the places of their tensors.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The layers.
    pub layers: Vec<Layer>,
    /// The tensors.
    pub arranged: Arranged,
}

/// The search for orders and placements with aliasing that need less than what there is.
pub struct AliasingSearch {
    variants: Vec<Aliasing>,
    /// The layers in the model's order.
    given: Vec<Layer>,
    solver: Solver,
    is_ordered: bool,
    best: Candidate,
    /// What the best shares, if it was found here.
    shared: Option<Aliasing>,
    /// The layers in the order under way, and the variants of aliasing that were tried with it.
    layers: Vec<Layer>,
    tried_variants: usize,
    tried_orders: u64,
    /// What of the first variant copies all the same, with the first order.
    refining: Option<Refining>,
    /// Begun when all orders have been tried.
    branches: Option<BranchAndBound>,
}

/// A search for the concats and slices that had better copy: one after the other is changed, and
/// stays so if the arena is smaller.
struct Refining {
    aliasing: Aliasing,
    height: Bytes,
    /// The concats and slices, those of the largest outputs first.
    nodes: Vec<usize>,
    /// Most changes that are tried.
    most: usize,
    /// Changes that were tried, and those since the last that helped.
    tried: usize,
    in_vain: usize,
}

/// Most changes that are tried, and most layers that are placed for them.
const MOST_CHANGES: usize = 200;
const MOST_LAYERS: usize = 60_000;

impl AliasingSearch {
    /// Begins a search of orders of the layers `given`, with `aliasing`, for less than `best`.
    ///
    /// # Errors
    /// [`PlanError`] names the tensor that cannot be planned.
    pub fn new(
        model: &Model,
        given: Vec<Layer>,
        aliasing: Aliasing,
        best: Candidate,
    ) -> Result<Self, PlanError> {
        // Layers without kernel write and read whole tensors, and nothing follows their rows.
        let draft = lower::draft(model, &given, &Parts::none(), lower::tensors(model, &given)?)?;
        let mut aliasing = if draft.main.is_none() { Aliasing::default() } else { aliasing };
        aliasing.slices &= given.iter().any(|layer| layer.work == Work::Kernel(Kernel::Gather));
        let problem =
            Problem::new(aliasing::graph(model, &given, &aliasing, &[])?, Rules::default())?;
        let variants = variants(&aliasing);
        Ok(Self {
            tried_variants: variants.len(),
            variants,
            given,
            solver: Solver::new(problem, BUDGET),
            is_ordered: false,
            best,
            shared: None,
            layers: Vec::new(),
            tried_orders: 0,
            refining: None,
            branches: None,
        })
    }

    /// Works for about `units`; whether it is done.
    ///
    /// # Errors
    /// [`PlanError`] names the tensor that cannot be planned.
    pub fn advance(&mut self, model: &Model, units: u64) -> Result<bool, PlanError> {
        if !self.is_ordered {
            self.is_ordered = self.solver.advance(units);
            return Ok(false);
        }
        if self.is_least() {
            return Ok(true);
        }
        if self.tried_variants == self.variants.len() {
            if self.refine(model)? {
                return Ok(self.is_least());
            }
            let Some(order) = self.next_order() else { return self.branch(model) };
            self.put_in_order(&order);
            self.tried_variants = 0;
        }
        let aliasing = self.variants[self.tried_variants].clone();
        self.tried_variants += 1;
        let height = self.consider(model, &aliasing)?;
        if (self.tried_orders, self.tried_variants) == (1, 1) {
            self.refining = Some(Refining::new(model, &self.layers, aliasing, height));
        }
        Ok(self.is_least())
    }

    /// Places the layers in the order under way with an aliasing; keeps what is best, and gives the
    /// height.
    fn consider(&mut self, model: &Model, aliasing: &Aliasing) -> Result<Bytes, PlanError> {
        let arranged =
            aliasing::arrange(model, &self.layers, aliasing, &|_| true, PLANNING_BUDGET)?;
        let height = arranged.height;
        if height < self.best.arranged.height {
            let found = Candidate { layers: self.layers.clone(), arranged };
            self.best = sparing(model, aliasing, &found, height)?.unwrap_or(found);
            self.shared = Some(aliasing.clone());
        }
        Ok(height)
    }

    /// Tries one change of what copies, with the first order; whether there was one to try.
    fn refine(&mut self, model: &Model) -> Result<bool, PlanError> {
        let Some(mut refining) = self.refining.take_if(|refining| refining.is_open()) else {
            return Ok(false);
        };
        let changed = refining.changed();
        let height = self.consider(model, &changed)?;
        refining.learn(changed, height);
        self.refining = Some(refining);
        Ok(true)
    }

    fn put_in_order(&mut self, order: &[usize]) {
        self.layers = order.iter().map(|index| self.given[*index].clone()).collect();
    }

    /// Settles for one more concat or slice whether it copies; whether all is done.
    fn branch(&mut self, model: &Model) -> Result<bool, PlanError> {
        let mut branches = match self.branches.take() {
            Some(branches) => branches,
            None => BranchAndBound::new(model, &self.given, &self.variants[0])?,
        };
        let settled = branches.settle(model, &self.given, self.best.arranged.height)?;
        self.branches = Some(branches);
        let Some(choices) = settled else { return Ok(true) };
        for choice in choices {
            self.put_in_order(&choice.order);
            self.consider(model, &choice.aliasing)?;
        }
        Ok(self.is_least())
    }

    /// The best order, that of the model, then others of the best order's peak.
    fn next_order(&mut self) -> Option<Vec<usize>> {
        self.tried_orders += 1;
        match self.tried_orders {
            1 => Some(self.solver.answer().order),
            2 => Some((0..self.given.len()).collect()),
            count if count <= 2 + TRIES => self.solver.another(count - 2, &mut 0),
            _ => None,
        }
    }

    fn is_least(&self) -> bool {
        self.best.arranged.height <= self.bound()
    }

    /// No order and no placement with this aliasing goes below.
    fn bound(&self) -> Bytes {
        let least = self.solver.standing().1.align_up(TENSOR_ALIGNMENT);
        let height = self.best.arranged.height;
        self.branches.as_ref().map_or(least, |branches| branches.bound(height).max(least))
    }

    /// The best so far.
    pub const fn best(&self) -> &Candidate {
        &self.best
    }

    /// The best with what it shares, if it was found here.
    pub fn shared(&self) -> Option<(Candidate, Aliasing)> {
        Some((self.best.clone(), self.shared.clone()?))
    }

    /// How far it is.
    pub fn progress(&self) -> Progress {
        let arena = Some(self.best.arranged.height);
        Progress { arena, bound: self.bound(), ..Progress::default() }
    }
}

impl Refining {
    fn new(model: &Model, layers: &[Layer], aliasing: Aliasing, height: Bytes) -> Self {
        let mut nodes = aliasing.parts_of(model, layers).nodes();
        let bytes = |node: &usize| {
            let output = model.nodes[*node].outputs.first();
            output.and_then(|output| model.tensor(*output).bytes()).unwrap_or(0)
        };
        nodes.sort_by_key(|node| (std::cmp::Reverse(bytes(node)), *node));
        let most = MOST_CHANGES.min(MOST_LAYERS / layers.len().max(1));
        Self { aliasing, height, nodes, most, tried: 0, in_vain: 0 }
    }

    fn is_open(&self) -> bool {
        self.in_vain < self.nodes.len() && self.tried < self.most
    }

    /// The aliasing with the next change.
    fn changed(&self) -> Aliasing {
        let mut aliasing = self.aliasing.clone();
        let Some(node) = self.nodes.get(self.tried % self.nodes.len().max(1)) else {
            return aliasing;
        };
        match aliasing.copied.iter().position(|copied| copied == node) {
            Some(at) => drop(aliasing.copied.swap_remove(at)),
            None => aliasing.copied.push(*node),
        }
        aliasing
    }

    /// Keeps a change if it has helped.
    fn learn(&mut self, changed: Aliasing, height: Bytes) {
        self.tried += 1;
        self.in_vain += 1;
        if height < self.height {
            (self.aliasing, self.height, self.in_vain) = (changed, height, 0);
        }
    }
}

/// What is tried of an aliasing: all of it, and without what may do harm elsewhere.
fn variants(aliasing: &Aliasing) -> Vec<Aliasing> {
    let without_slices = Aliasing { slices: false, ..aliasing.clone() };
    let without_parts = Aliasing { parts: false, ..aliasing.clone() };
    let without_writing_over = Aliasing { in_place: false, ..aliasing.clone() };
    let mut variants = vec![aliasing.clone()];
    variants.extend(aliasing.slices.then_some(without_slices));
    variants.extend(aliasing.parts.then_some(without_parts));
    variants.extend((aliasing.in_place && aliasing.rows).then_some(without_writing_over));
    variants
}

/// The same layers with aliasing at those alone where more than `room` would live: what layers share
/// costs time. Nothing if that needs a larger arena than `room`.
///
/// # Errors
/// [`PlanError`] names the tensor that cannot be planned.
pub fn sparing(
    model: &Model,
    aliasing: &Aliasing,
    found: &Candidate,
    room: Bytes,
) -> Result<Option<Candidate>, PlanError> {
    let live = live(&found.arranged.tensors, found.layers.len());
    let needed = |position: usize| live[position] > room.0;
    let arranged = aliasing::arrange(model, &found.layers, aliasing, &needed, PLANNING_BUDGET)?;
    let fits = arranged.height <= room;
    Ok(fits.then(|| Candidate { layers: found.layers.clone(), arranged }))
}

/// Bytes that live at each layer if none are shared.
fn live(tensors: &[PlannedTensor], layers: usize) -> Vec<u64> {
    let mut live = vec![0u64; layers];
    for tensor in tensors {
        let life = tensor.first as usize..(tensor.end as usize).min(layers);
        for bytes in live.get_mut(life).into_iter().flatten() {
            *bytes = bytes.saturating_add(tensor.bytes.align_up(TENSOR_ALIGNMENT).0);
        }
    }
    live
}

#[cfg(test)]
mod tests;
