//! `swap`: SwapNN's buffers, tiles and schedulers ([`crate::swap`]).

use super::Search;
use super::sharing::Candidate;
use crate::PlanError;
use crate::lower;
use crate::planning::Progress;
use crate::share::{Arranged, Parts};
use tilewright_allocate::TENSOR_ALIGNMENT;
use tilewright_model::Model;
use tilewright_plan::Bytes;

/// There is nothing to search for: tensors lie one after the other.
pub struct Placing;

impl Search for Placing {
    fn advance(&mut self, _: &Model, _: u64) -> Result<bool, PlanError> {
        Ok(true)
    }

    fn progress(&self) -> Progress {
        Progress::default()
    }

    fn found(&self, model: &Model) -> Result<(Candidate, Option<Bytes>), PlanError> {
        let layers = lower::layers(model);
        let mut tensors = lower::tensors(model, &layers)?;
        let mut height = Bytes(0);
        for tensor in &mut tensors {
            tensor.offset = height.0;
            height = (height + tensor.bytes).align_up(TENSOR_ALIGNMENT);
        }
        let arranged = Arranged { tensors, parts: Parts::none(), height };
        Ok((Candidate { layers, arranged }, None))
    }
}
