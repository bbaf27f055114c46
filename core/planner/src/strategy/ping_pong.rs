//! `ping-pong`: a chain of layers, pools computed with their convolutions, two buffers by turns.
//!
//! Unlu, sections 3.1 and 3.2: each layer reads one buffer and writes the other. The buffer that
//! the largest tensor of the chain lies in is as large as that, the other as large as the second
//! largest. Unlike in the paper's algorithm 1 the pools' windows may overlap, and maxima start at
//! the smallest value.

mod chain;

use chain::{Chain, chain};

use super::aliasing_search::Candidate;
use super::{Search, Technique};
use crate::PlanError;
use crate::aliasing::{Arranged, Parts};
use crate::lower;
use crate::planning::Progress;
use tilewright_allocate::TENSOR_ALIGNMENT;
use tilewright_model::{Model, TensorId};
use tilewright_plan::{Bytes, PlannedTensor};
use tilewright_report::Stage;

/// The strategy.
pub const TECHNIQUE: Technique = Technique {
    name: "ping-pong",
    unsupported: |model| chain(model, &lower::fuse_pools(model, lower::layers(model))).err(),
    search: |model| Ok(Box::new(Placing::new(model)?)),
    ..Technique::INSIDE
};

/// Plans `model`; with what each of the paper's two steps saves beside keeping every buffer.
///
/// # Errors
/// [`PlanError::Unsupported`] if a layer branches; else names the node or tensor that cannot be
/// planned.
pub fn plan(model: &Model) -> Result<(Candidate, Vec<Stage>), PlanError> {
    let given = lower::layers(model);
    let all = lower::tensors(model, &given)?;
    let layers = lower::fuse_pools(model, given);
    let chain = chain(model, &layers)?;
    let mut tensors = lower::tensors(model, &layers)?;
    let height = place(&mut tensors, &chain);
    let sum = |tensors: &[PlannedTensor]| tensors.iter().map(|tensor| tensor.bytes).sum();
    let stages = [
        ("a buffer for each tensor", sum(&all)),
        ("pools computed with convolutions", sum(&tensors)),
        ("two buffers by turns", height),
    ];
    let stages =
        stages.map(|(what, bytes)| Stage { what: what.to_owned(), bytes: bytes.into() }).to_vec();
    let arranged = Arranged { tensors, parts: Parts::none(), height };
    Ok((Candidate { layers, arranged }, stages))
}

/// The search: one step.
pub struct Placing {
    found: Candidate,
    stages: Vec<Stage>,
}

impl Placing {
    /// Places all.
    ///
    /// # Errors
    /// As [`plan`].
    pub fn new(model: &Model) -> Result<Self, PlanError> {
        let (found, stages) = plan(model)?;
        Ok(Self { found, stages })
    }
}

impl Search for Placing {
    fn advance(&mut self, _: &Model, _: u64) -> Result<bool, PlanError> {
        Ok(true)
    }

    fn progress(&self) -> Progress {
        Progress { arena: Some(self.found.arranged.height), ..Progress::default() }
    }

    fn stages(&self) -> Vec<Stage> {
        self.stages.clone()
    }

    fn found(&self, _: &Model) -> Result<(Candidate, Option<Bytes>), PlanError> {
        Ok((self.found.clone(), None))
    }
}

/// Places the tensors of a chain in two buffers by turns; gives the bytes of both.
fn place(tensors: &mut [PlannedTensor], chain: &Chain) -> Bytes {
    let position = |tensor: &PlannedTensor| {
        let id = TensorId(tensor.tensor as usize);
        chain.tensors.iter().position(|of_chain| *of_chain == id).unwrap_or(0)
    };
    let mut sizes: Vec<(Bytes, usize)> =
        tensors.iter().map(|tensor| (tensor.bytes, position(tensor) % 2)).collect();
    sizes.sort_unstable();
    let (largest, buffer) = sizes.last().copied().unwrap_or_default();
    let second = sizes.iter().rev().nth(1).map_or(Bytes(0), |(bytes, _)| *bytes);
    let padding = |bytes: Bytes| bytes.align_up(TENSOR_ALIGNMENT).0 - bytes.0;
    // The one with less padding behind it lies first.
    let largest_first = padding(largest) < padding(second);
    let first = if largest_first { largest } else { second };
    let behind = first.align_up(TENSOR_ALIGNMENT);
    for tensor in tensors {
        let lies_first = (position(tensor) % 2 == buffer) == largest_first;
        tensor.offset = if lies_first { 0 } else { behind.0 };
    }
    behind + if largest_first { second } else { largest }
}
