//! Which weights are stored without their zeros: where that is faster, or where all others do not fit the chip's flash.
//! One decision in front of all others, as tiles are: every strategy plans what it is given.

use std::collections::BTreeMap;

use crate::aliasing::Parts;
use crate::costs::{Costs, SPARSE};
use crate::lower::{self, Layer};
use crate::packing::{self, Compute};
use crate::strategy::Brings;
use crate::{Options, Packing};
use tilewright_board::Board;
use tilewright_model::data::Source;
use tilewright_model::{Model, TensorId};
use tilewright_plan::{Filters, Op, Plan};

/// Weights that tell whether a tensor has zeros enough to be looked at whole.
const SAMPLE: usize = 1 << 13;

/// The weights of a plan's op, and what changes for its steps without zeros.
#[derive(Clone, Copy, Debug, Default)]
struct Change {
    /// Bytes with zeros.
    dense: u64,
    /// Bytes without them.
    sparse: u64,
    /// Cycles of all steps with zeros, modelled, in the faster packing.
    dense_cycles: u64,
    /// Cycles without them.
    sparse_cycles: u64,
    /// Whether there is a step whose weights cannot be stored so.
    is_impossible: bool,
}

/// Weights that copies bring come whole: at most one in so many parts of SRAM.
const PART: u64 = 8;

/// The weights of a model that are stored without their zeros, each with its bytes; `brings`: when copies bring them
/// to SRAM.
pub fn choose(
    model: &Model,
    board: &Board,
    options: &Options,
    brings: Brings,
) -> BTreeMap<TensorId, u64> {
    let packing = options.packing;
    let costs = Costs::on(board);
    // Costs that a board names may be of others' kernels, or of small ones, which know no sparse weights.
    let known = costs.kernels.contains_key(SPARSE)
        || packing == Packing::Sparse && board.core.costs.is_none();
    if packing == Packing::Plain || !known {
        return BTreeMap::new();
    }
    let mut found: BTreeMap<TensorId, Change> = weights_with_zeros(model)
        .map(|(id, sparse)| (id, Change { sparse, ..Change::default() }))
        .collect();
    if found.is_empty() {
        return BTreeMap::new();
    }
    let layers = lower::layers(model);
    let plan = lower::tensors(model, &layers)
        .and_then(|tensors| lower::draft(model, &layers, &Parts::default(), tensors));
    let Ok(plan) = plan else { return BTreeMap::new() };
    for step in packing::computes(&plan) {
        let weights = weights_of(model, &layers, &step);
        if let Some(change) = weights.and_then(|id| found.get_mut(&id)) {
            add(change, &plan, &costs, &step);
        }
    }
    found.retain(|_, change| !change.is_impossible && change.sparse < change.dense);
    let saved: u64 = found.values().map(|change| change.dense - change.sparse).sum();
    let is_faster = |change: &Change| change.sparse_cycles <= change.dense_cycles;
    let of_slower = found.values().filter(|change| !is_faster(change));
    let more: u64 = of_slower.map(|change| change.dense - change.sparse).sum();
    // What is slower without zeros has them, if there is room for them.
    let fits = plan.image_bytes().0.saturating_sub(saved) + more <= board.plan_bytes().0;
    if packing != Packing::Sparse && fits {
        found.retain(|_, change| is_faster(change));
    }
    if brings == Brings::Always || brings == Brings::Else && !fits {
        let most = options.arena_on(board).0 / PART;
        found.retain(|_, change| change.sparse <= most);
    }
    found.into_iter().map(|(id, change)| (id, change.sparse)).collect()
}

/// The weights that a step reads.
fn weights_of(model: &Model, layers: &[Layer], step: &Compute<'_>) -> Option<TensorId> {
    let layer = layers.get(usize::from(step.layer))?;
    model.nodes.get(layer.node.0)?.inputs.get(1).copied()
}

/// Adds what a step's weights change.
fn add(change: &mut Change, plan: &Plan, costs: &Costs, step: &Compute<'_>) {
    let op = plan.ops.get(step.op as usize);
    let Some((op, [input, _, weights, _])) = op.zip(step.views.first_chunk()) else {
        change.is_impossible = true;
        return;
    };
    let sparse = Op { flags: op.flags | Op::SPARSE, ..*op };
    let is_whole = step.views.len() == 4 && step.tile.channel_start == 0;
    if !is_whole || !sparse.may_be_sparse(op.filters_for(input).length) {
        change.is_impossible = true;
        return;
    }
    let plain = packing::cycles(costs, op, weights.elements(), step);
    let fast = packing::change(costs, op, step).map_or(0, |change| change.cycles.max(0));
    change.dense = weights.elements();
    change.dense_cycles += plain.saturating_sub(fast.cast_unsigned());
    change.sparse_cycles += packing::cycles(costs, &sparse, change.sparse, step);
}

/// Weights with enough zeros that they take fewer bytes without them, as far as a sample tells, with these bytes.
fn weights_with_zeros(model: &Model) -> impl Iterator<Item = (TensorId, u64)> {
    let weighted = model.nodes.iter().filter(|node| node.op.is_weighted());
    let mut ids: Vec<TensorId> = weighted.filter_map(|node| node.inputs.get(1).copied()).collect();
    ids.sort_unstable();
    ids.dedup();
    ids.into_iter().filter_map(|id| {
        let source = model.tensor(id).source.as_ref()?;
        let sample = source.integers(0..source.len().min(SAMPLE))?;
        let pairs = sample.chunks(2).filter(|pair| pair.iter().any(|value| *value != 0)).count();
        // Three bytes for each pair.
        (3 * pairs < sample.len()).then_some(())?;
        Some((id, bytes(model, id)?))
    })
}

/// Bytes of weights without their zeros; nothing if these are no weights of filters.
pub fn bytes(model: &Model, id: TensorId) -> Option<u64> {
    let tensor = model.tensor(id);
    let source: &Source = tensor.source.as_ref()?;
    let filters = *tensor.shape.dims().first()?;
    let length = source.len().checked_div(filters).filter(|length| *length > 0)?;
    let mut bytes = 0;
    for filter in 0..filters {
        let values = source.integers(filter * length..(filter + 1) * length)?;
        for row in values.chunks(Filters::SPARSE_COLUMNS) {
            let pairs = row.chunks(2).filter(|pair| pair.iter().any(|value| *value != 0)).count();
            bytes += Filters::sparse_row_bytes(pairs as u64);
        }
    }
    Some(bytes)
}
