//! The layers as a graph to be put in order, in which no tensor takes more than aliasing leaves it.
//!
//! What it counts is never more than any placement with any of this aliasing needs, so that the
//! bound of its orders is one of their arenas:
//! * A tensor is as many tensors as its readers differ in how far their outputs may cover it.
//! * The output of a concat whose operands are parts of it is those operands.
//! * A tensor of which slices are read where it lies is as many as their borders make of it, and
//!   what a slice holds is gone when nothing needs it: as with a copy, whose bytes are not counted.
//! * Where it is settled that concats and slices do not copy, the tensor that others lie in is one,
//!   from the first that writes into it to the last that reads of it.

use std::collections::{BTreeMap, BTreeSet};

use super::arrange::{Aliasing, Single, single_steps};
use super::parts::Parts;
use super::slices;
use crate::PlanError;
use crate::lower::{self, Layer};
use tilewright_allocate::TENSOR_ALIGNMENT;
use tilewright_model::{Model, Op, TensorId};
use tilewright_order::{Graph, Operator, Tensor};
use tilewright_plan::PlannedTensor;

/// A stretch of a tensor's bytes with a number in the graph.
#[derive(Clone, Copy, Debug)]
struct Piece {
    number: usize,
    /// Bytes of the tensor up to the end of the piece.
    until: u64,
}

/// The graph of `layers`, for all plans in which the concats and slices `settled`, as nodes, do not
/// copy and `aliasing.copied` do; those that are neither may do either.
///
/// # Errors
/// [`PlanError`] names the node or tensor that cannot be planned.
pub fn graph(
    model: &Model,
    layers: &[Layer],
    aliasing: &Aliasing,
    settled: &[usize],
) -> Result<Graph, PlanError> {
    let parts = aliasing.parts_of(model, layers);
    let tensors = lower::tensors(model, layers)?;
    let plan = lower::draft(model, layers, &parts, tensors.clone())?;
    let steps = single_steps(model, layers, &parts, &plan);
    let mut number = vec![usize::MAX; model.tensors.len()];
    for (index, tensor) in tensors.iter().enumerate() {
        number[tensor.tensor as usize] = index;
    }
    let roots = lower::roots(model);
    let whole = settled_wholes(model, &parts, settled);
    let mut covers = covers(&tensors, &parts, &steps, aliasing);
    cover_once(model, layers, &tensors, &parts, &mut covers);
    let mut graph = Graph::default();
    let mut pieces = pieces(model, layers, &tensors, (&parts, &whole), &covers, &mut graph);
    let of_slices = sliced(&tensors, (&parts, &whole), &mut pieces, &mut graph);
    join(&tensors, &parts, &whole, &pieces, &mut graph);
    let held = held(model, layers, &parts, (&number, &roots), &pieces, of_slices);
    let index = |id: &TensorId| Some(number[roots[id.0].0]).filter(|index| *index != usize::MAX);
    let all = |tensors: &mut dyn Iterator<Item = usize>| -> Vec<usize> {
        let mut found: Vec<usize> = tensors.flat_map(|tensor| &held[tensor]).copied().collect();
        found.sort_unstable();
        found.dedup();
        found
    };
    for (position, layer) in layers.iter().enumerate() {
        let mut covered = Vec::new();
        for (tensor, bytes) in &covers[position] {
            if *bytes == u64::MAX {
                covered.extend(&held[*tensor]);
                continue;
            }
            let within = pieces[*tensor].iter().filter(|piece| piece.until <= *bytes);
            covered.extend(within.map(|piece| piece.number));
        }
        graph.operators.push(Operator {
            name: model.nodes[layer.node.0].name.clone(),
            inputs: all(&mut layer.reads.iter().filter_map(index)),
            outputs: layer
                .writes
                .iter()
                .filter_map(index)
                .flat_map(|tensor| &pieces[tensor])
                .map(|piece| piece.number)
                .collect(),
            covered,
            ..Operator::default()
        });
    }
    graph.inputs = model
        .inputs
        .iter()
        .filter_map(index)
        .flat_map(|tensor| pieces[tensor].iter().map(|piece| piece.number))
        .collect();
    graph.outputs = all(&mut model.outputs.iter().filter_map(index));
    Ok(graph)
}

/// The tensors that others lie in of which it is settled that no concat and no slice copies.
fn settled_wholes(model: &Model, parts: &Parts, settled: &[usize]) -> BTreeSet<TensorId> {
    let mut wholes: BTreeMap<TensorId, bool> = BTreeMap::new();
    for node in parts.nodes() {
        for whole in parts.wholes_of(model, node) {
            *wholes.entry(whole).or_insert(true) &= settled.contains(&node);
        }
    }
    wholes.into_iter().filter(|(_, all)| *all).map(|(whole, _)| whole).collect()
}

/// An output lies over one operand only: where the one of which it may cover most is needed by no
/// other layer, it always may, and never covers another instead.
fn cover_once(
    model: &Model,
    layers: &[Layer],
    tensors: &[PlannedTensor],
    parts: &Parts,
    covers: &mut [Vec<(usize, u64)>],
) {
    let roots = lower::roots(model);
    let mut readers = vec![0u32; model.tensors.len()];
    for layer in layers {
        let mut read: Vec<usize> = layer.reads.iter().map(|id| roots[id.0].0).collect();
        read.sort_unstable();
        read.dedup();
        read.into_iter().for_each(|id| readers[id] += 1);
    }
    // What is needed after the last layer.
    model.outputs.iter().for_each(|id| readers[roots[id.0].0] += 1);
    let id = |tensor: usize| TensorId(tensors[tensor].tensor as usize);
    let in_other = |tensor: usize| parts.place(id(tensor)).is_some() || parts.has_parts(id(tensor));
    let bytes = |(tensor, bytes): (usize, u64)| {
        bytes.min(tensors[tensor].bytes.align_up(TENSOR_ALIGNMENT).0)
    };
    for covers in covers {
        let most = covers.iter().copied().max_by_key(|cover| bytes(*cover));
        let Some(most) = most.filter(|_| !covers.iter().any(|(tensor, _)| in_other(*tensor)))
        else {
            continue;
        };
        if readers[id(most.0).0] == 1 {
            *covers = vec![most];
        }
    }
}

/// Of each layer the tensors that its output may cover, and how many bytes of each.
fn covers(
    tensors: &[PlannedTensor],
    parts: &Parts,
    steps: &[Option<Single<'_>>],
    aliasing: &Aliasing,
) -> Vec<Vec<(usize, u64)>> {
    let id = |tensor: usize| TensorId(tensors[tensor].tensor as usize);
    let in_other = |tensor: usize| parts.place(id(tensor)).is_some() || parts.has_parts(id(tensor));
    let bytes = |tensor: usize| tensors[tensor].bytes.align_up(TENSOR_ALIGNMENT).0;
    let up = |bytes: u64| bytes.div_ceil(TENSOR_ALIGNMENT) * TENSOR_ALIGNMENT;
    let of_step = |step: &Single<'_>| -> Vec<(usize, u64)> {
        let cover = |(operand, tensor): &(usize, usize)| {
            if aliasing.in_place && step.can_write_over(*operand) {
                return Some((*tensor, u64::MAX));
            }
            let offset = step.overlap_offset(|other| other == *tensor).filter(|_| aliasing.rows)?;
            if in_other(*tensor) || in_other(step.output) {
                return Some((*tensor, u64::MAX));
            }
            let (from, to) = (bytes(*tensor), bytes(step.output));
            let (above, below) = (up(offset.above).min(from), up(offset.below).min(to));
            let least = (above + to).max(from).min((below + from).max(to));
            Some((*tensor, (from + to).saturating_sub(least)))
        };
        step.inputs.iter().filter_map(cover).collect()
    };
    steps.iter().map(|step| step.as_ref().map(of_step).unwrap_or_default()).collect()
}

/// The pieces of each tensor; those that concats join take no bytes of their own, and what lies in
/// a tensor that is `whole` none at all.
fn pieces(
    model: &Model,
    layers: &[Layer],
    tensors: &[PlannedTensor],
    (parts, whole): (&Parts, &BTreeSet<TensorId>),
    covers: &[Vec<(usize, u64)>],
    graph: &mut Graph,
) -> Vec<Vec<Piece>> {
    let mut sizes: Vec<u64> = tensors
        .iter()
        .map(|tensor| {
            let id = TensorId(tensor.tensor as usize);
            match parts.place(id) {
                Some(part) if parts.is_slice(id) || whole.contains(&part.root) => 0,
                Some(_) => tensor.bytes.0,
                None => tensor.bytes.align_up(TENSOR_ALIGNMENT).0,
            }
        })
        .collect();
    for layer in layers {
        let node = &model.nodes[layer.node.0];
        let Some(output) = node.outputs.first() else { continue };
        let joined = node.inputs.iter().enumerate().filter(|(index, _)| {
            matches!(node.op, Op::Concat { .. }) && parts.is_joined(layer.node.0, *index)
        });
        let bytes = |id: &TensorId| model.tensor(*id).bytes().unwrap_or(0) as u64;
        let joined: u64 = joined.map(|(_, id)| bytes(id)).sum();
        let at = tensors.iter().position(|tensor| tensor.tensor as usize == output.0);
        let root = parts.place(*output).map_or(*output, |part| part.root);
        if let Some(at) = at.filter(|_| joined > 0 && !whole.contains(&root)) {
            // What is left is copied; bytes that only align it may be gone.
            sizes[at] = bytes(output).saturating_sub(joined);
        }
    }
    let mut cuts: Vec<Vec<u64>> = sizes.iter().map(|size| vec![*size]).collect();
    for (tensor, bytes) in covers.iter().flatten() {
        if (1..sizes[*tensor]).contains(bytes) {
            cuts[*tensor].push(*bytes);
        }
    }
    let mut split = |tensor: &PlannedTensor, mut cuts: Vec<u64>| {
        cuts.sort_unstable();
        cuts.dedup();
        let mut from = 0;
        let mut made = Vec::new();
        for until in cuts {
            let number = graph.tensors.len();
            graph.tensors.push(Tensor { name: tensor.name.clone(), bytes: until - from });
            made.push(Piece { number, until });
            from = until;
        }
        made
    };
    tensors.iter().zip(cuts).map(|(tensor, cuts)| split(tensor, cuts)).collect()
}

/// Puts what lies in a tensor that is `whole` into it.
fn join(
    tensors: &[PlannedTensor],
    parts: &Parts,
    whole: &BTreeSet<TensorId>,
    pieces: &[Vec<Piece>],
    graph: &mut Graph,
) {
    let at: BTreeMap<usize, usize> =
        tensors.iter().enumerate().map(|(index, tensor)| (tensor.tensor as usize, index)).collect();
    for (index, tensor) in tensors.iter().enumerate() {
        let part = parts.place(TensorId(tensor.tensor as usize));
        let root = part.map(|part| part.root).filter(|root| whole.contains(root));
        let Some(root) = root.and_then(|root| at.get(&root.0)) else { continue };
        for (inside, root) in pieces[index].iter().zip(&pieces[*root]) {
            graph.inside.push([inside.number, root.number]);
        }
    }
}

/// Makes of each tensor whose slices are read where it lies one piece for each set of slices that
/// some of its bytes belong to, unless it is `whole`; gives for each slice the pieces in it.
fn sliced(
    tensors: &[PlannedTensor],
    (parts, whole): (&Parts, &BTreeSet<TensorId>),
    pieces: &mut [Vec<Piece>],
    graph: &mut Graph,
) -> Vec<(TensorId, Vec<usize>)> {
    let mut of_slices = Vec::new();
    for (tensor, pieces) in tensors.iter().zip(pieces) {
        let root = TensorId(tensor.tensor as usize);
        let slices = parts.slices_of(root);
        if whole.contains(&root) {
            continue;
        }
        let whole = slices.first().and_then(|(slice, _)| parts.place(*slice));
        let Some(whole) = whole.map(|part| part.whole) else { continue };
        let boxes: Vec<slices::Place> = slices.iter().map(|(_, place)| *place).collect();
        let mut regions = slices::regions(whole, &boxes);
        // Bytes that only align it are part of no slice.
        *regions.entry(0).or_insert(0) +=
            (tensor.bytes.align_up(TENSOR_ALIGNMENT) - tensor.bytes).0;
        let mut made: Vec<(u64, usize)> = Vec::new();
        for (set, bytes) in regions {
            made.push((set, graph.tensors.len()));
            graph.tensors.push(Tensor { name: tensor.name.clone(), bytes });
        }
        // The tensor's one piece so far stays, without bytes.
        for piece in pieces.iter() {
            graph.tensors[piece.number].bytes = 0;
        }
        pieces.extend(made.iter().map(|(_, number)| Piece { number: *number, until: u64::MAX }));
        for (bit, (slice, _)) in slices.iter().enumerate() {
            let inside = made.iter().filter(|(set, _)| set >> bit & 1 == 1);
            of_slices.push((*slice, inside.map(|(_, number)| *number).collect()));
        }
    }
    of_slices
}

/// Of each tensor the pieces that hold its bytes: its own, those of the operands that a concat
/// joins, and of a slice those of its operand.
fn held(
    model: &Model,
    layers: &[Layer],
    parts: &Parts,
    (number, roots): (&[usize], &[TensorId]),
    pieces: &[Vec<Piece>],
    of_slices: Vec<(TensorId, Vec<usize>)>,
) -> Vec<Vec<usize>> {
    let own = |pieces: &Vec<Piece>| pieces.iter().map(|piece| piece.number).collect();
    let mut held: Vec<Vec<usize>> = pieces.iter().map(own).collect();
    for (slice, pieces) in of_slices {
        held[number[slice.0]].extend(pieces);
    }
    for layer in layers {
        let node = &model.nodes[layer.node.0];
        let output = node.outputs.first().map(|id| number[id.0]);
        let (Op::Concat { .. }, Some(output)) = (&node.op, output) else { continue };
        for (index, input) in node.inputs.iter().enumerate() {
            if parts.is_joined(layer.node.0, index) {
                let of_input = held[number[roots[input.0].0]].clone();
                held[output].extend(of_input);
            }
        }
        held[output].sort_unstable();
        held[output].dedup();
    }
    held
}
