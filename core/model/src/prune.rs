//! Pruning: the smallest weights become zero, in groups of neighbours along a row, so that what is left can be stored
//! without the zeros (Cipolletta and Calimera, III.A, after Yu et al., "Scalpel"). Rows are those of the matrix that a
//! layer's weights are, one for each output channel. Depthwise layers stay dense.

use std::num::NonZeroUsize;

use crate::data::{Data, Source};
use crate::graph::{Model, TensorId};
use crate::op::Op;
use crate::tensor::DType;
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
    /// Those that are zero now.
    pub zeros: usize,
}

/// Why a model cannot be pruned.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PruneError {
    /// More than all would become zero.
    #[error("a sparsity is a part, from 0 to 1000 thousandths")]
    Sparsity,
    /// Its weights are integers.
    #[error("the weights of '{node}' are {dtype}, not floats")]
    NotFloat {
        /// The layer.
        node: String,
        /// What they are.
        dtype: &'static str,
    },
    /// No layer has weights that could be pruned.
    #[error("no layer has weights that could be pruned: depthwise ones stay dense")]
    NothingToPrune,
}

/// The weights of a layer, row by row.
struct Layer {
    tensor: TensorId,
    name: String,
    values: Vec<f32>,
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
}

/// The magnitude below which so many thousandths of all lie, and how many of those at it belong to them.
fn limit(mut magnitudes: Vec<f32>, sparsity: u16) -> (f32, usize) {
    let count = (magnitudes.len() * usize::from(sparsity) + 500) / 1000;
    let Some(last) = count.checked_sub(1) else { return (0.0, 0) };
    let (before, limit, _) = magnitudes.select_nth_unstable_by(last, f32::total_cmp);
    let below = before.iter().filter(|magnitude| **magnitude < *limit).count();
    (*limit, count - below)
}

/// The model with its smallest weights at zero, and what that is of each layer. The same model gives the same.
///
/// # Errors
/// [`PruneError`] if the model is not float, or has nothing to prune.
pub fn prune(model: &Model, pruning: &Pruning) -> Result<(Model, Vec<PrunedLayer>), PruneError> {
    let Pruning { sparsity, group, is_global } = *pruning;
    if sparsity > 1000 {
        return Err(PruneError::Sparsity);
    }
    let mut layers = layers(model)?;
    if layers.is_empty() {
        return Err(PruneError::NothingToPrune);
    }
    let of_all = is_global.then(|| {
        limit(layers.iter().flat_map(|layer| layer.magnitudes(group)).collect(), sparsity)
    });
    let mut left = of_all.map_or(0, |(_, at)| at);
    let (mut pruned, mut report) = (model.clone(), Vec::with_capacity(layers.len()));
    for layer in &mut layers {
        match of_all {
            Some((below, _)) => layer.prune(group, below, &mut left),
            None => {
                let (below, mut at) = limit(layer.magnitudes(group).collect(), sparsity);
                layer.prune(group, below, &mut at);
            }
        }
        let values = std::mem::take(&mut layer.values);
        let zeros = values.iter().filter(|value| **value == 0.0).count();
        report.push(PrunedLayer { name: layer.name.clone(), weights: values.len(), zeros });
        pruned.tensors[layer.tensor.0].source = Some(Source::inline(Data::F32(values)));
    }
    Ok((pruned, report))
}

/// The layers whose weights can be pruned; weights that several nodes read once.
fn layers(model: &Model) -> Result<Vec<Layer>, PruneError> {
    let mut layers: Vec<Layer> = Vec::new();
    for node in &model.nodes {
        let is_dense = matches!(node.op, Op::DepthwiseConv { .. });
        let Some(id) = node.inputs.get(1).filter(|_| node.op.is_weighted() && !is_dense) else {
            continue;
        };
        let tensor = model.tensor(*id);
        let Some(source) = tensor.source.as_ref().filter(|source| !source.is_empty()) else {
            continue;
        };
        if source.dtype() != DType::F32 {
            let (node, dtype) = (node.name.clone(), source.dtype().name());
            return Err(PruneError::NotFloat { node, dtype });
        }
        let rows = tensor.shape.dims().first().copied().unwrap_or(1).max(1);
        let values = source.values();
        let Some(values) = values.as_f32().filter(|values| !values.is_empty()) else { continue };
        if layers.iter().all(|layer| layer.tensor != *id) {
            let (values, row) = (values.to_vec(), (values.len() / rows).max(1));
            layers.push(Layer { tensor: *id, name: node.name.clone(), values, row });
        }
    }
    Ok(layers)
}
