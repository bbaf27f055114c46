//! Scales of activations, from their ranges and the constraints between them.

use super::QuantiseError;
use super::calibrate::Range;
use super::weights::channel_scales;
use crate::graph::{Model, NodeId, TensorId};
use crate::integer::ADD_LEFT_SHIFT;
use crate::op::{Op, ResizeMode, Unary};
use crate::tensor::Quantisation;

/// Steps between the smallest and the largest 8-bit value.
const STEPS: f64 = 255.0;

/// Real multipliers stay below this half so that results are only ever shifted right.
const LARGEST_MULTIPLIER: f64 = 0.499;

/// The smallest scale given: far below what an image or sound needs, far above where products of
/// two scales would leave the range of 32-bit floats.
const SMALLEST_SCALE: f64 = 1e-12;

/// The smallest scale that TensorFlow Lite's softmax takes differences of: 1/2^26 is refused.
const SMALLEST_DIFFERENCE: f64 = 1.0 / (1u32 << 25) as f64;

/// Rounds in which operands take their result's range.
const MOST_ROUNDS: usize = 8;

/// Chooses the quantisation of each activation; nothing for weights.
pub(super) fn choose(
    model: &Model,
    ranges: &[Option<Range>],
) -> Result<Vec<Option<Quantisation>>, QuantiseError> {
    let wanted = share_with_result(model, ranges);
    let smallest = smallest_scales(model);
    let mut chosen: Vec<Option<Quantisation>> = vec![None; ranges.len()];
    let made: Vec<bool> = model.producers().iter().map(Option::is_some).collect();
    for (index, range) in wanted.iter().enumerate() {
        if !made[index] {
            chosen[index] = range.map(|range| from_range(range, smallest[index]));
        }
    }
    for node in &model.nodes {
        let Some(output) = node.outputs.first() else { continue };
        let range = wanted[output.0].unwrap_or_default();
        let from_range = |range, least: f64| from_range(range, least.max(smallest[output.0]));
        let scale = |id: &TensorId| chosen[id.0].as_ref().map_or(1.0, |q| f64::from(q.scale(0)));
        let quantisation = match &node.op {
            Op::Maximum | Op::Minimum => Some(from_range(range, 0.0)),
            op if keeps_quantisation(op) => chosen[node.inputs[0].0].clone(),
            op if prescribed(op).is_some() => prescribed(op),
            Op::ArgMax { .. } => None,
            Op::Add { .. } | Op::Sub { .. } => {
                let larger = node.inputs.iter().map(scale).fold(0.0, f64::max);
                let least = 2.0 * larger / f64::from(1u32 << ADD_LEFT_SHIFT) / LARGEST_MULTIPLIER;
                Some(from_range(range, least))
            }
            Op::Mul { .. } => {
                let product: f64 = node.inputs.iter().map(scale).product();
                Some(from_range(range, product / LARGEST_MULTIPLIER))
            }
            op if op.is_weighted() => {
                let input = scale(&node.inputs[0]);
                let weight = channel_scales(model, node, input)?.into_iter().fold(0.0, f64::max);
                let least = input * weight / LARGEST_MULTIPLIER;
                Some(from_range(range, least))
            }
            // Hard swish has no left shift behind its 7 bits to the left.
            Op::Unary(Unary::HardSwish) => Some(from_range(range, scale(&node.inputs[0]) / 64.0)),
            // Operands are requantised; a bounded ratio keeps that within 32 bits.
            _ => {
                let larger = node.inputs.iter().map(scale).fold(0.0, f64::max);
                Some(from_range(range, larger / 1024.0))
            }
        };
        chosen[output.0] = quantisation;
    }
    Ok(chosen)
}

/// The smallest scale of each tensor: what becomes the operand of a softmax must not have a smaller one.
fn smallest_scales(model: &Model) -> Vec<f64> {
    let mut smallest = vec![0.0f64; model.tensors.len()];
    for node in model.nodes.iter().rev() {
        let (Some(input), Some(output)) = (node.inputs.first(), node.outputs.first()) else {
            continue;
        };
        if matches!(node.op, Op::Softmax | Op::LogSoftmax) {
            smallest[input.0] = SMALLEST_DIFFERENCE;
        } else if keeps_quantisation(&node.op) {
            smallest[input.0] = smallest[input.0].max(smallest[output.0]);
        }
    }
    smallest
}

/// The quantisation that TensorFlow Lite prescribes for the operator's result, if it does.
#[must_use]
pub fn prescribed(op: &Op) -> Option<Quantisation> {
    match op {
        Op::Softmax | Op::Unary(Unary::Sigmoid) => {
            Some(Quantisation::per_tensor(1.0 / 256.0, -128))
        }
        Op::Unary(Unary::Tanh) => Some(Quantisation::per_tensor(1.0 / 128.0, 0)),
        Op::LogSoftmax => Some(Quantisation::per_tensor(1.0 / 16.0, 127)),
        _ => None,
    }
}

/// Whether operands and result of the operator have one quantisation.
pub(super) const fn keeps_quantisation(op: &Op) -> bool {
    match op {
        Op::MaxPool { .. } | Op::AveragePool { .. } | Op::Maximum | Op::Minimum => true,
        Op::Resize { mode: ResizeMode::Bilinear, .. } => true,
        Op::Concat { .. } => false,
        op => op.only_moves(),
    }
}

/// Ranges with those of a concatenation's, maximum's or minimum's operands widened to that of its
/// result, where nobody else reads them: they need no requantisation then. A pad's operand can hold
/// what it is padded with.
fn share_with_result(model: &Model, ranges: &[Option<Range>]) -> Vec<Option<Range>> {
    let mut wanted = ranges.to_vec();
    let consumers = model.consumers();
    for node in &model.nodes {
        if let (Op::Pad { filler, .. }, [input], [output]) =
            (&node.op, node.inputs.as_slice(), node.outputs.as_slice())
            && let Some(range) = &mut wanted[input.0]
            && !only_pooled(model, &consumers[output.0])
        {
            range.include(&[*filler]);
        }
    }
    for node in &model.nodes {
        if let (Op::Unary(Unary::Clip { low, high }), [input]) = (&node.op, node.inputs.as_slice())
            && consumers[input.0].len() == 1
            && !model.outputs.contains(input)
            && let Some(range) = &mut wanted[input.0]
        {
            // Nobody sees what is outside; zero stays.
            *range =
                Range { low: range.low.max(low.min(0.0)), high: range.high.min(high.max(0.0)) };
        }
    }
    // A range that widens may widen others behind it; what is left after some rounds is requantised.
    for _ in 0..MOST_ROUNDS {
        let before = wanted.clone();
        share_once(model, &consumers, &mut wanted);
        if wanted == before {
            break;
        }
    }
    wanted
}

/// Whether all readers look for the largest value only: a filler below all others is then as good as
/// the least step.
fn only_pooled(model: &Model, readers: &[NodeId]) -> bool {
    !readers.is_empty()
        && readers.iter().all(|reader| matches!(model.nodes[reader.0].op, Op::MaxPool { .. }))
}

fn share_once(model: &Model, consumers: &[Vec<NodeId>], wanted: &mut [Option<Range>]) {
    // Backwards, so that a concatenation that feeds another passes the wider range on.
    for node in model.nodes.iter().rev() {
        if !matches!(node.op, Op::Concat { .. } | Op::Maximum | Op::Minimum) {
            continue;
        }
        let Some(output) = node.outputs.first() else { continue };
        let whole = node
            .inputs
            .iter()
            .filter_map(|id| wanted[id.0])
            .fold(wanted[output.0].unwrap_or_default(), Range::union);
        wanted[output.0] = Some(whole);
        for input in &node.inputs {
            let alone = consumers[input.0].len() == 1 && !model.outputs.contains(input);
            if alone && !model.inputs.contains(input) && wanted[input.0].is_some() {
                wanted[input.0] = Some(whole);
            }
        }
    }
}

/// Scale and nudged zero point for a range; the scale is `least` at least.
pub(super) fn from_range(range: Range, least: f64) -> Quantisation {
    let (low, high) = (f64::from(range.low), f64::from(range.high));
    if low == high {
        // Nothing but zeros was seen.
        return Quantisation::per_tensor((1.0 / STEPS).max(least) as f32, -128);
    }
    let scale = ((high - low) / STEPS).max(least).max(SMALLEST_SCALE) as f32;
    // The end that zero is nearer to decides, as in TensorFlow Lite.
    let (steps_low, steps_high) = (low / f64::from(scale), high / f64::from(scale));
    let low_is_nearer = 128.0 + steps_low.abs() < 127.0 + steps_high.abs();
    let zero = if low_is_nearer { -128.0 - steps_low } else { 127.0 - steps_high };
    Quantisation::per_tensor(scale, libm::round(zero).clamp(-128.0, 127.0) as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_take_the_scale_of_a_pixel() {
        let pixels = from_range(Range { low: 0.0, high: 1.0 }, 0.0);
        assert_eq!(pixels, Quantisation::per_tensor(1.0 / 255.0, -128));
    }

    #[test]
    fn zero_is_exact_and_the_ends_are_within_a_step() {
        for (low, high) in [(-1.0, 1.0), (-0.3, 7.0), (-9.0, 0.0), (0.0, 3e-4), (-1e6, 1.0)] {
            let q = from_range(Range { low, high }, 0.0);
            assert!((-128..=127).contains(&q.zero()), "{q:?}");
            let ends = q.dequantise(&q.quantise(&[low, 0.0, high]));
            assert_eq!(ends[1], 0.0);
            assert!((ends[0] - low).abs() <= q.scale(0) && (ends[2] - high).abs() <= q.scale(0));
        }
    }

    #[test]
    fn empty_ranges_have_a_scale() {
        assert_eq!(from_range(Range::default(), 0.0).scale(0), 1.0 / 255.0);
        assert_eq!(from_range(Range::default(), 0.5).scale(0), 0.5);
    }
}
