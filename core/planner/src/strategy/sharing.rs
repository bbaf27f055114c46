//! Plans in which tensors share bytes: the search that `reordered` and `auto` have in common.

use crate::PlanError;
use crate::allocate::{PLANNING_BUDGET, TENSOR_ALIGNMENT};
use crate::lower::{self, Layer};
use crate::order::{Budget, Problem, Rules, Solver};
use crate::share::{self, Arranged, Sharing};
use tilewright_model::Model;
use tilewright_plan::{Bytes, PlannedTensor};

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

impl Candidate {
    /// Takes over another if that needs a smaller arena.
    fn improve(&mut self, other: Self) {
        if other.arranged.height < self.arranged.height {
            *self = other;
        }
    }
}

/// Searches for orders and placements with `sharing` that need less than `best`; gives the best,
/// and the bytes that no order and no placement with this sharing goes below.
///
/// # Errors
/// [`PlanError`] names the node or tensor that cannot be planned.
pub fn improve(
    model: &Model,
    sharing: &Sharing,
    mut best: Candidate,
) -> Result<(Candidate, Bytes), PlanError> {
    let given = lower::layers(model)?;
    let problem = Problem::new(share::graph(model, &given, sharing)?, Rules::default())?;
    let mut solver =
        Solver::new(&problem, Budget { work: 100 * PLANNING_BUDGET, memory: 64 << 20 });
    while !solver.advance(1_000_000) {}
    let ordered = solver.answer();
    let bound = ordered.lower_bound.align_up(TENSOR_ALIGNMENT);
    let reached = |best: &Candidate| best.arranged.height <= bound;
    let default: Vec<usize> = (0..given.len()).collect();
    let others = (1..=TRIES).map_while(|seed| solver.another(seed));
    for order in [ordered.order, default].into_iter().chain(others) {
        if reached(&best) {
            break;
        }
        let layers: Vec<Layer> = order.iter().map(|index| given[*index].clone()).collect();
        for sharing in variants(sharing) {
            let arranged = share::arrange(model, &layers, &sharing, &|_| true, PLANNING_BUDGET)?;
            let found = Candidate { layers: layers.clone(), arranged };
            if found.arranged.height < best.arranged.height {
                best.improve(sparing(model, &sharing, found)?);
            }
            if reached(&best) {
                break;
            }
        }
    }
    Ok((best, bound))
}

/// What is tried of a sharing: all of it, and without what may do harm elsewhere.
fn variants(sharing: &Sharing) -> Vec<Sharing> {
    let without_parts = Sharing { parts: false, ..*sharing };
    let without_writing_over = Sharing { in_place: false, ..*sharing };
    let mut variants = vec![sharing.clone()];
    variants.extend(sharing.parts.then_some(without_parts));
    variants.extend((sharing.in_place && sharing.rows).then_some(without_writing_over));
    variants
}

/// The same candidate with sharing at those layers alone that need it to fit the arena: what
/// layers share costs time.
fn sparing(model: &Model, sharing: &Sharing, found: Candidate) -> Result<Candidate, PlanError> {
    let live = live(&found.arranged.tensors, found.layers.len());
    let height = found.arranged.height;
    let needed = |position: usize| live[position] > height.0;
    let arranged = share::arrange(model, &found.layers, sharing, &needed, PLANNING_BUDGET)?;
    Ok(if arranged.height <= height { Candidate { arranged, ..found } } else { found })
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
