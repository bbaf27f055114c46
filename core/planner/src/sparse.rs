//! Which weights are stored without their zeros: where that is faster, or where all others do not fit the chip's flash.
//! One decision in front of all others, as tiles are: every strategy plans what it is given.
//!
//! The bytes that sparse weights take depend on their values, and all that follows on these bytes: so they are decided first, by
//! modelled cycles, by bytes where flash is too small, and by the longer of copy and products where copies bring them. Rows name
//! columns with a byte and activations are held for all 256 pairs, so kernels check no column (`firmware/kernels/src/dsp/sparse.rs`).

use crate::narrow::narrow;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::aliasing::Parts;
use crate::costs::{Costs, SPARSE};
use crate::lower::{self, Layer};
use crate::packing::{self, Compute};
use crate::simulate::Transfers;
use crate::strategy::Brings;
use crate::{Integrity, Options, Packing};
use tilewright_board::{Board, Card};
use tilewright_model::data::Source;
use tilewright_model::{Model, SparseBlocks, TensorId};
use tilewright_plan::{Filters, LaneKind, Op, Plan, Space, Span, SparseCuts};

/// Weights that tell whether a tensor has zeros enough to be looked at whole.
const SAMPLE: usize = 1 << 13;

/// Blocks that copies bring take at most one in so many parts of SRAM, if there are as small ones: the next one comes
/// beside that in use, and activations live there too.
const PART: u64 = 8;

/// Weights without their zeros: of each filter its rows.
pub struct Rows {
    /// Values of a filter.
    length: u64,
    /// Pairs of neighbours of each row that are not both zero.
    pairs: Vec<u64>,
}

impl Rows {
    /// Those of weights; nothing if these are no weights of filters.
    pub fn of(model: &Model, id: TensorId) -> Option<Self> {
        let tensor = model.tensor(id);
        let source: &Source = tensor.source.as_ref()?;
        let filters = *tensor.shape.dims().first()?;
        let length = source.len().checked_div(filters).filter(|length| *length > 0)?;
        let mut pairs = Vec::new();
        for filter in 0..filters {
            let values = source.integers(filter * length..(filter + 1) * length)?;
            pairs.extend(values.chunks(Filters::SPARSE_COLUMNS).map(|row| {
                row.chunks(2).filter(|pair| pair.iter().any(|value| *value != 0)).count() as u64
            }));
        }
        Some(Self { length: length as u64, pairs })
    }

    /// Where they are cut by blocks of so many output channels; nothing if there are no such blocks.
    pub fn cuts(&self, each: u32) -> Option<SparseCuts> {
        let has_several = self.length > Filters::SPARSE_COLUMNS as u64;
        let (least, most) = (Filters::SPARSE_TOGETHER, Filters::SPARSE_BLOCK as u64);
        let most = if has_several { most } else { least };
        let wide = u64::from(each);
        let is_right = wide.is_multiple_of(least) && (least..=most).contains(&wide);
        SparseCuts::new(self.length, is_right.then_some(each)?, &self.pairs)
    }

    /// The same by the largest blocks of which each takes at most so many bytes, or else by the smallest.
    fn cut_to(&self, bytes: u64) -> Option<SparseCuts> {
        let sizes =
            std::iter::successors(Some(narrow(Filters::SPARSE_BLOCK)), |each: &u32| Some(each / 2));
        let sizes = sizes.take_while(|each| u64::from(*each) >= Filters::SPARSE_TOGETHER);
        let cuts: Vec<SparseCuts> = sizes.filter_map(|each| self.cuts(each)).collect();
        let fits = cuts.iter().find(|cuts| cuts.largest() <= bytes);
        fits.or(cuts.last()).cloned()
    }
}

/// The op of a layer whose weights are sparse, cut so; nothing if they cannot be.
pub fn op(op: &Op, cuts: &SparseCuts, length: u64) -> Option<Op> {
    let flags = op.flags & !Op::NATURAL | Op::SPARSE;
    let op = Op { flags, sparse_block: cuts.of_op(length), ..*op };
    op.may_be_sparse(length).then_some(op)
}

/// Bytes of so many filters, which lie as `cuts` says if they are sparse; nothing if there are too many.
pub fn bytes(cuts: Option<&SparseCuts>, filters: &Filters, channels: u64) -> Option<u64> {
    let cuts = cuts.filter(|cuts| cuts.are_of(filters));
    cuts.map(SparseCuts::bytes).or_else(|| filters.all_bytes(channels))
}

/// The weights of a plan's op, and what changes for its steps without zeros.
struct Change {
    /// Where they are cut without zeros.
    cuts: SparseCuts,
    /// Bytes with zeros.
    dense: u64,
    /// Time of all steps with zeros, modelled, in the faster packing.
    dense_time: Time,
    /// Time without them.
    sparse_time: Time,
    /// Whether there is a step whose weights cannot be stored so.
    is_impossible: bool,
}

/// What steps take, in cycles, the more important first.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Time {
    /// Computing, or bringing weights meanwhile, whichever takes longer.
    longer: u64,
    /// Both.
    sum: u64,
}

impl Time {
    fn add(&mut self, cycles: u64, brought: u64) {
        self.longer += cycles.max(brought);
        self.sum += cycles + brought;
    }
}

/// What brings weights to SRAM.
struct Way<'b> {
    transfers: Transfers<'b>,
    from: Space,
}

impl<'b> Way<'b> {
    /// That of a board for a strategy that brings them so; nothing if there is none.
    fn of(board: &'b Board, card: Option<&'b Card>, brings: Brings) -> Option<Self> {
        let from = match brings {
            Brings::Never => None,
            Brings::From(space) => Some(space),
            Brings::Else if board.external(Space::ExternalFlash).is_some() => {
                Some(Space::ExternalFlash)
            }
            Brings::Else => Some(Space::Card),
        };
        Some(Self { transfers: Transfers::new(board, card), from: from? })
    }

    /// Cycles for so many bytes.
    fn cycles(&self, bytes: u64) -> u64 {
        let lane = if self.from == Space::Card { LaneKind::Card } else { LaneKind::Dma };
        let Ok(bytes) = u32::try_from(bytes) else { return u64::MAX / 4 };
        let span = |space: Space| Span {
            rows: 1,
            row_bytes: bytes,
            pitch: bytes,
            space: space as u8,
            ..Span::default()
        };
        self.transfers.copy(lane, &span(self.from), &span(Space::Arena)).0
    }
}

/// The weights of a model that are stored without their zeros, and where they are cut; `brings`: when copies bring
/// them to SRAM.
pub fn choose(
    model: &Model,
    board: &Board,
    options: &Options,
    brings: Brings,
) -> BTreeMap<TensorId, SparseBlocks> {
    let packing = options.packing;
    let costs = Costs::on(board);
    // Costs that a board names may be of others' kernels, or of small ones, which know no sparse weights.
    let known = costs.kernels.contains_key(SPARSE)
        || packing == Packing::Sparse && board.core.costs.is_none();
    if packing == Packing::Plain || !known {
        return BTreeMap::new();
    }
    let rows: BTreeMap<TensorId, Rows> = weights_with_zeros(model).collect();
    if rows.is_empty() {
        return BTreeMap::new();
    }
    let layers = lower::layers(model);
    let plan = lower::tensors(model, &layers)
        .and_then(|tensors| lower::draft(model, &layers, &Parts::default(), tensors));
    let Ok(plan) = plan else { return BTreeMap::new() };
    let card = options.card_in(board);
    let way = Way::of(board, card.as_ref(), brings);
    let most = options.arena_on(board).0 / PART;
    let changes = |way: Option<&Way<'_>>| {
        let bytes = if way.is_some() { most } else { u64::MAX };
        changes(model, (&plan, &layers), &rows, &costs, (way, bytes))
    };
    let mut found = changes(None);
    let saved: u64 = found.values().map(|change| change.dense - change.cuts.bytes()).sum();
    let is_faster = |change: &Change| change.sparse_time <= change.dense_time;
    let of_slower = found.values().filter(|change| !is_faster(change));
    let more: u64 = of_slower.map(|change| change.dense - change.cuts.bytes()).sum();
    let (least, room) = (plan.image_bytes().0.saturating_sub(saved), board.plan_bytes().0);
    // What is slower without zeros has them, if there is room for them.
    let mut is_chosen = packing != Packing::Sparse && least + more <= room;
    if let Some(way) = way.filter(|_| brings != Brings::Else || least > room) {
        found = changes(Some(&way));
        is_chosen = packing != Packing::Sparse;
        if options.integrity == Integrity::Sealed {
            // No two copies bring the same sector of a sealed card, so that these weights come whole.
            found.retain(|_, change| change.cuts.bytes() <= most);
        }
    }
    found.retain(|_, change| !is_chosen || is_faster(change));
    let blocks = |cuts: &SparseCuts| SparseBlocks {
        each: cuts.each(),
        channels: cuts.channels(),
        starts: Arc::clone(cuts.starts()),
    };
    found.into_iter().map(|(id, change)| (id, blocks(&change.cuts))).collect()
}

/// What changes for those weights that take fewer bytes without zeros, cut by blocks of about so many bytes.
fn changes(
    model: &Model,
    (plan, layers): (&Plan, &[Layer]),
    rows: &BTreeMap<TensorId, Rows>,
    costs: &Costs,
    (way, bytes): (Option<&Way<'_>>, u64),
) -> BTreeMap<TensorId, Change> {
    let change = |(id, rows): (&TensorId, &Rows)| {
        let (dense_time, sparse_time) = (Time::default(), Time::default());
        let cuts = rows.cut_to(bytes)?;
        let change = Change { cuts, dense: 0, dense_time, sparse_time, is_impossible: false };
        Some((*id, change))
    };
    let mut found: BTreeMap<TensorId, Change> = rows.iter().filter_map(change).collect();
    for step in packing::computes(plan) {
        let weights = weights_of(model, layers, &step);
        if let Some(change) = weights.and_then(|id| found.get_mut(&id)) {
            add(change, plan, costs, &step, way);
        }
    }
    found.retain(|_, change| !change.is_impossible && change.cuts.bytes() < change.dense);
    found
}

/// The weights that a step reads.
fn weights_of(model: &Model, layers: &[Layer], step: &Compute<'_>) -> Option<TensorId> {
    let layer = layers.get(usize::from(step.layer))?;
    model.nodes.get(layer.node.0)?.inputs.get(1).copied()
}

/// Adds what a step's weights change.
fn add(change: &mut Change, plan: &Plan, costs: &Costs, step: &Compute<'_>, way: Option<&Way<'_>>) {
    let record = plan.ops.get(step.op as usize);
    let Some((record, [input, _, weights, _])) = record.zip(step.views.first_chunk()) else {
        change.is_impossible = true;
        return;
    };
    let is_whole = step.views.len() == 4 && step.tile.channel_start == 0;
    let sparse = op(record, &change.cuts, record.filters_for(input).length);
    let Some(sparse) = sparse.filter(|_| is_whole) else {
        change.is_impossible = true;
        return;
    };
    let brought = |bytes: u64| way.map_or(0, |way| way.cycles(bytes));
    let plain = packing::cycles(costs, record, weights.elements(), step);
    let faster = packing::change(costs, record, step).map_or(0, |change| change.cycles.max(0));
    // What copies bring stays as it is.
    let faster = if way.is_some() { 0 } else { faster.cast_unsigned() };
    change.dense = weights.elements();
    change.dense_time.add(plain.saturating_sub(faster), brought(change.dense));
    let bytes = change.cuts.bytes();
    change.sparse_time.add(packing::cycles(costs, &sparse, bytes, step), brought(bytes));
}

/// Weights with enough zeros that they take fewer bytes without them, as far as a sample tells.
fn weights_with_zeros(model: &Model) -> impl Iterator<Item = (TensorId, Rows)> {
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
        Some((id, Rows::of(model, id)?))
    })
}
