//! Ranges of activations over the samples.

use super::{QuantiseError, activations};
use crate::data::Data;
use crate::float;
use crate::graph::Model;

/// Smallest and largest value seen; always contains 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Range {
    /// Smallest value, 0 at most.
    pub low: f32,
    /// Largest value, 0 at least.
    pub high: f32,
}

impl Range {
    /// Widens the range; says no at a value that is infinite or no number.
    pub(super) fn include(&mut self, values: &[f32]) -> bool {
        let mut finite = true;
        for value in values {
            finite &= value.is_finite();
            if *value < self.low {
                self.low = *value;
            }
            if *value > self.high {
                self.high = *value;
            }
        }
        finite
    }

    /// The range that contains both.
    pub(super) fn union(self, other: Self) -> Self {
        Self {
            low: if other.low < self.low { other.low } else { self.low },
            high: if other.high > self.high { other.high } else { self.high },
        }
    }
}

/// The range of each tensor that is an activation; nothing for weights.
pub(super) fn ranges(
    model: &Model,
    samples: &[Vec<Data>],
) -> Result<Vec<Option<Range>>, QuantiseError> {
    if samples.is_empty() {
        return Err(QuantiseError::NoSamples);
    }
    let interpreter = float::Interpreter::new(model)?;
    let mut ranges: Vec<Option<Range>> = vec![None; model.tensors.len()];
    let named = model.nodes.iter().flat_map(|node| activations(node).iter().chain(&node.outputs));
    for id in named.chain(&model.inputs).chain(&model.outputs) {
        ranges[id.0] = Some(Range::default());
    }
    let not_finite = |tensor: usize, sample: usize| QuantiseError::NotFinite {
        tensor: model.tensors[tensor].name.clone(),
        sample,
    };
    for (tensor, (constant, range)) in model.tensors.iter().zip(&mut ranges).enumerate() {
        let values = constant.source.as_ref().and_then(|s| s.data()).and_then(Data::as_f32);
        if let (Some(range), Some(values)) = (range.as_mut(), values)
            && !range.include(values)
        {
            return Err(not_finite(tensor, 0));
        }
    }
    for (sample, inputs) in samples.iter().enumerate() {
        let mut faulty = None;
        let mut see = |tensor: usize, data: &Data| {
            if let (Some(range), Some(values)) = (ranges[tensor].as_mut(), data.as_f32())
                && !range.include(values)
            {
                faulty.get_or_insert(tensor);
            }
        };
        for (id, data) in model.inputs.iter().zip(inputs) {
            see(id.0, data);
        }
        interpreter.run(inputs, &mut |node, results| {
            for (id, data) in model.nodes[node.0].outputs.iter().zip(results) {
                see(id.0, data);
            }
        })?;
        if let Some(tensor) = faulty {
            return Err(not_finite(tensor, sample));
        }
    }
    Ok(ranges)
}
