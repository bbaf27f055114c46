//! Pruning: the smallest weights become zero, in groups of neighbours along a row, so that what is left can be stored
//! without the zeros (Cipolletta and Calimera, III.A, after Yu et al., "Scalpel"). Rows are those of the matrix that a
//! layer's weights are, one for each output channel. Depthwise layers stay dense.

use std::num::NonZeroUsize;

use crate::data::{Data, Source};
use crate::graph::{Model, Node, TensorId};
use crate::op::Op;
use crate::tensor::{DType, Tensor};
use thiserror::Error;

/// How much is pruned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pruning {
    /// Groups that become zero, in thousandths of all.
    pub sparsity: u16,
    /// Weights of a group; the last of a row may have fewer.
    pub group: NonZeroUsize,
    /// Whether groups of all layers are ranked together; else of each layer as many become zero.
    pub is_global: bool,
}

/// What was pruned of a layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrunedLayer {
    /// The node.
    pub name: String,
    /// Its weights.
    pub weights: usize,
    /// Those that were zero before.
    pub zeros_before: usize,
    /// Those that are zero now.
    pub zeros: usize,
}

/// Why a model cannot be pruned.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PruneError {
    /// More than all would become zero.
    #[error("a sparsity is a part, from 0 to 1000 thousandths")]
    Sparsity,
    /// Its weights are of another type.
    #[error("the weights of '{node}' are {dtype}, neither float32 nor int8")]
    OtherWeights {
        /// The layer.
        node: String,
        /// What they are.
        dtype: &'static str,
    },
    /// No layer has weights that could be pruned.
    #[error(
        "no layer has weights that could be pruned: depthwise ones stay dense, and so do those \
             whose zero point is not 0"
    )]
    NothingToPrune,
}

/// The weights of a layer, row by row.
struct Layer {
    tensor: TensorId,
    name: String,
    /// As real numbers.
    values: Vec<f32>,
    /// As the model has them, if they are integers.
    integers: Option<Vec<i8>>,
    row: usize,
}

impl Layer {
    /// The mean magnitude of each group.
    fn magnitudes(&self, group: NonZeroUsize) -> impl Iterator<Item = f32> {
        let rows = self.values.chunks(self.row);
        let groups = rows.flat_map(move |row| row.chunks(group.get()));
        groups.map(|group| group.iter().map(|value| value.abs()).sum::<f32>() / group.len() as f32)
    }

    /// Makes groups zero that are below a magnitude, and the first of those that are at it.
    fn prune(&mut self, group: NonZeroUsize, below: f32, at: &mut usize) {
        let magnitudes: Vec<f32> = self.magnitudes(group).collect();
        let rows = self.values.chunks_mut(self.row);
        let groups = rows.flat_map(|row| row.chunks_mut(group.get()));
        for (group, magnitude) in groups.zip(magnitudes) {
            let is_next = magnitude.total_cmp(&below).is_eq() && *at > 0;
            if magnitude < below || is_next {
                *at -= usize::from(is_next);
                group.fill(0.0);
            }
        }
    }

    /// How many are zero.
    fn zeros(&self) -> usize {
        self.values.iter().filter(|value| **value == 0.0).count()
    }

    /// The weights as the model takes them.
    fn into_data(self) -> Data {
        match self.integers {
            None => Data::F32(self.values),
            Some(mut integers) => {
                let pruned = integers.iter_mut().zip(&self.values);
                pruned.filter(|(_, value)| **value == 0.0).for_each(|(integer, _)| *integer = 0);
                Data::I8(integers)
            }
        }
    }
}

/// The magnitude below which so many thousandths of all lie, and how many of those at it belong to them.
fn limit(mut magnitudes: Vec<f32>, sparsity: u16) -> (f32, usize) {
    let count = (magnitudes.len() * usize::from(sparsity) + 500) / 1000;
    let Some(last) = count.checked_sub(1) else { return (0.0, 0) };
    let (before, limit, _) = magnitudes.select_nth_unstable_by(last, f32::total_cmp);
    let below = before.iter().filter(|magnitude| **magnitude < *limit).count();
    (*limit, count - below)
}

/// The model with its smallest weights at zero, and what that is of each layer. The same model gives the same. Int8
/// weights are ranked by the real numbers that they stand for; those of a zero point other than 0 stay.
///
/// # Errors
/// [`PruneError`] if weights are neither float nor int8, or there is nothing to prune.
pub fn prune(model: &Model, pruning: &Pruning) -> Result<(Model, Vec<PrunedLayer>), PruneError> {
    let Pruning { sparsity, group, is_global } = *pruning;
    if sparsity > 1000 {
        return Err(PruneError::Sparsity);
    }
    let layers = layers(model)?;
    if layers.is_empty() {
        return Err(PruneError::NothingToPrune);
    }
    let of_all = is_global.then(|| {
        limit(layers.iter().flat_map(|layer| layer.magnitudes(group)).collect(), sparsity)
    });
    let mut left = of_all.map_or(0, |(_, at)| at);
    let (mut pruned, mut report) = (model.clone(), Vec::with_capacity(layers.len()));
    for mut layer in layers {
        let zeros_before = layer.zeros();
        match of_all {
            Some((below, _)) => layer.prune(group, below, &mut left),
            None => {
                let (below, mut at) = limit(layer.magnitudes(group).collect(), sparsity);
                layer.prune(group, below, &mut at);
            }
        }
        let (name, weights, zeros) = (layer.name.clone(), layer.values.len(), layer.zeros());
        report.push(PrunedLayer { name, weights, zeros_before, zeros });
        let tensor = layer.tensor;
        pruned.tensors[tensor.0].source = Some(Source::inline(layer.into_data()));
    }
    Ok((pruned, report))
}

/// How many weights can be pruned at most; none are read for it.
#[must_use]
pub fn prunable_weights(model: &Model) -> u64 {
    let weights = model.nodes.iter().filter_map(prunable);
    let weights: std::collections::BTreeSet<TensorId> = weights.collect();
    let elements = |id: &TensorId| model.tensor(*id).shape.elements().unwrap_or(0) as u64;
    weights.iter().map(elements).fold(0, u64::saturating_add)
}

/// The weights of a node, if they can be pruned.
fn prunable(node: &Node) -> Option<TensorId> {
    let is_dense = matches!(node.op, Op::DepthwiseConv { .. });
    node.inputs.get(1).filter(|_| node.op.is_weighted() && !is_dense).copied()
}

/// The layers whose weights can be pruned; weights that several nodes read once.
fn layers(model: &Model) -> Result<Vec<Layer>, PruneError> {
    let mut layers = Vec::<Layer>::new();
    for node in &model.nodes {
        let Some(id) = prunable(node) else { continue };
        let tensor = model.tensor(id);
        let Some(source) = tensor.source.as_ref().filter(|source| !source.is_empty()) else {
            continue;
        };
        if !matches!(source.dtype(), DType::F32 | DType::I8) {
            let (node, dtype) = (node.name.clone(), source.dtype().name());
            return Err(PruneError::OtherWeights { node, dtype });
        }
        if layers.iter().any(|layer| layer.tensor == id) {
            continue;
        }
        let data = source.values();
        let (values, integers) = match (data.as_f32(), data.as_i8()) {
            (Some(values), _) => (values.to_vec(), None),
            (None, Some(integers)) => {
                let Some(values) = reals(tensor, integers) else { continue };
                (values, Some(integers.to_vec()))
            }
            _ => continue,
        };
        if values.is_empty() {
            continue;
        }
        let rows = tensor.shape.dims().first().copied().unwrap_or(1).max(1);
        let row = (values.len() / rows).max(1);
        layers.push(Layer { tensor: id, name: node.name.clone(), values, integers, row });
    }
    Ok(layers)
}

/// What integers stand for; nothing if they do not stand for zero at 0.
fn reals(tensor: &Tensor, integers: &[i8]) -> Option<Vec<f32>> {
    let quantisation = tensor.quantisation.as_ref()?;
    if quantisation.zeros.iter().any(|zero| *zero != 0) {
        return None;
    }
    let dims = tensor.shape.dims();
    let axis = quantisation.axis.unwrap_or(0);
    let size = dims.get(axis).copied()?.max(1);
    let stride = dims.iter().skip(axis + 1).product::<usize>().max(1);
    let real = |(index, integer): (usize, &i8)| {
        f32::from(*integer) * quantisation.scale(index / stride % size)
    };
    Some(integers.iter().enumerate().map(real).collect())
}
