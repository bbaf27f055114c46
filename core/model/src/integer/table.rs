//! Functions of one int8 value as tables.

use super::{
    IntegerError, Multiplier, bad, clamp, multiplier, operand, per_tensor, requantise, result,
};
use crate::graph::{Model, Node};
use crate::op::{Op, Unary};
use crate::tensor::Quantisation;

/// Result for each int8 value, which stands at the place of its byte taken as unsigned: first
/// those of 0 to 127, then of −128 to −1.
pub type Table = [i8; 256];

/// The table of an activation by itself, a requantisation or a function of one value.
///
/// Where TensorFlow Lite has an int8 kernel that computes with integers (ReLUs, leaky ReLU,
/// absolute value, hard swish, quantise) this is its arithmetic, and that of its uint8 concatenation
/// for [`Unary::Rescale`]. Elsewhere it is that of its table
/// kernels: the value as a 32-bit float, the function, rounded half away from zero, saturated; a
/// result that is no number becomes the zero point, a logarithm of nothing the smallest value.
///
/// # Errors
/// If the node is another operator, its tensors are not quantised per tensor, or a multiplier is
/// out of range.
pub fn table(model: &Model, node: &Node) -> Result<Table, IntegerError> {
    let input = per_tensor(operand(model, node, 0)?)?;
    let output = per_tensor(result(model, node)?)?;
    let (low, high) = clamp(model, node)?;
    let finish = |scaled: i32| {
        let value = scaled.saturating_add(output.zero());
        value.max(i32::from(low)).min(i32::from(high)) as i8
    };
    let ratio = |factor: f32| f64::from(input.scale(0) * factor / output.scale(0));
    let zero = input.zero();
    match node.op {
        Op::Requantise => {
            let ratio = f64::from(input.scale(0)) / f64::from(output.scale(0));
            let scale = multiplier(ratio)?;
            Ok(fill(|value| finish(scale.apply(value - zero))))
        }
        Op::Activation(_) => {
            let scale = multiplier(ratio(1.0))?;
            Ok(fill(|value| finish(scale.apply(value - zero))))
        }
        Op::Unary(Unary::Abs) => {
            let scale = multiplier(ratio(1.0))?;
            Ok(fill(|value| finish(scale.apply((value - zero).abs()))))
        }
        Op::Unary(Unary::LeakyRelu { alpha }) => {
            let (positive, negative) = (multiplier(ratio(1.0))?, signed(ratio(alpha))?);
            Ok(fill(|value| match value - zero {
                value if value >= 0 => finish(positive.apply(value)),
                value => finish(negative.apply(value)),
            }))
        }
        Op::Unary(Unary::HardSwish) => {
            let swish = HardSwish::new(input, output)?;
            Ok(fill(|value| finish(swish.apply(value - zero))))
        }
        Op::Unary(Unary::Rescale) => {
            let factor = input.scale(0) * (1.0 / output.scale(0));
            // Both kernels and files count from 0 to 255 there.
            let unsigned = |value: i32| (value + 128) as f32;
            let offset = -unsigned(zero) * factor;
            Ok(fill(|value| finish(libm::roundf(unsigned(value) * factor + offset) as i32)))
        }
        Op::Unary(unary) => Ok(fill(|value| through_float(unary, value, input, output))),
        _ => Err(bad(node, "is no function of one value")),
    }
}

/// For each operand of a concatenation the table that takes it to the result's quantisation; none
/// where both are the same.
///
/// # Errors
/// If the node is another operator, a tensor is not quantised per tensor, or a multiplier is out of
/// range.
pub fn concat(model: &Model, node: &Node) -> Result<Vec<Option<Table>>, IntegerError> {
    if !matches!(node.op, Op::Concat { .. }) {
        return Err(bad(node, "is no concatenation"));
    }
    let output = *node.outputs.first().ok_or_else(|| bad(node, "its output is missing"))?;
    let zero = per_tensor(result(model, node)?)?.zero();
    (0..node.inputs.len())
        .map(|index| {
            let (id, tensor) = (node.inputs[index], operand(model, node, index)?);
            if tensor.quantisation == model.tensor(output).quantisation {
                return Ok(None);
            }
            let from = per_tensor(tensor)?.zero();
            let scale = requantise(model, id, output)?;
            let result = |value: i32| scale.apply(value - from).saturating_add(zero);
            Ok(Some(fill(|value| result(value).clamp(-128, 127) as i8)))
        })
        .collect()
}

fn fill(function: impl Fn(i32) -> i8) -> Table {
    std::array::from_fn(|index| function(i32::from(index as u8 as i8)))
}

/// As [`multiplier`], of a real number that may be negative.
fn signed(real: f64) -> Result<Multiplier, IntegerError> {
    let Multiplier { q31, shift } = multiplier(real.abs())?;
    Ok(Multiplier { q31: if real < 0.0 { -q31 } else { q31 }, shift })
}

fn through_float(unary: Unary, value: i32, input: &Quantisation, output: &Quantisation) -> i8 {
    let real = input.scale(0) * (value - input.zero()) as f32;
    let result = match unary {
        Unary::Log if real <= 0.0 => return i8::MIN,
        _ => unary.apply(real),
    };
    let steps = libm::roundf(result * (1.0 / output.scale(0)));
    let steps = if steps.is_nan() { 0.0 } else { steps };
    ((steps + output.zero() as f32) as i32).clamp(-128, 127) as i8
}

/// Hard swish in 16 bits: `x` times `(x + 3) / 6`, the second factor saturated to [0, 1].
struct HardSwish {
    /// Input scale / 128 over the output scale, in 15 bits, and its power of two.
    output: (i16, i32),
    /// Input scale / 128 over 3 / 32768, in 15 bits, and its power of two.
    factor: (i16, i32),
}

impl HardSwish {
    fn new(input: &Quantisation, output: &Quantisation) -> Result<Self, IntegerError> {
        let fine = (1.0 / 128.0) * input.scale(0);
        let short = |real: f32| -> Result<(i16, i32), IntegerError> {
            let Multiplier { q31, shift } = multiplier(f64::from(real))?;
            let rounded = (i64::from(q31) + (1 << 15)) >> 16;
            Ok((rounded.min(i64::from(i16::MAX)) as i16, shift))
        };
        let output = short(fine / output.scale(0))?;
        if output.1 > 0 {
            return Err(IntegerError::Multiplier { value: "hard swish's output".to_owned() });
        }
        Ok(Self { output, factor: short(fine / (3.0 / 32768.0))? })
    }

    /// For the difference of the value from the input's zero point; the result is one from the
    /// output's.
    fn apply(&self, difference: i32) -> i32 {
        let fine = (difference * 128).clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as i16;
        let value = rounding_high_product(fine, self.output.0);
        let (multiplier, shift) = self.factor;
        let mut factor = fine;
        // The last bit of a left shift comes behind the product: only it may saturate.
        if shift > 0 {
            factor = shift_left(factor, shift as u32 - 1);
        }
        factor = rounding_high_product(factor, multiplier);
        if shift > 0 {
            factor = shift_left(factor, 1);
        }
        let factor =
            super::rounding_divide_by_power_of_two(i32::from(factor), (-shift).clamp(0, 31) as u32);
        // From [−1, 1) to [0, 1).
        let factor = (factor + (1 << 15)) >> 1;
        let product = factor * i32::from(value) / (1 << 15);
        super::rounding_divide_by_power_of_two(product, (-self.output.1).clamp(0, 31) as u32)
    }
}

/// Twice the high half of the product, rounded to nearest, ties towards +∞.
fn rounding_high_product(a: i16, b: i16) -> i16 {
    let product = i32::from(a) * i32::from(b);
    let nudge = if product >= 0 { 1 << 14 } else { 1 - (1 << 14) };
    ((product + nudge) / (1 << 15)).min(i32::from(i16::MAX)) as i16
}

fn shift_left(value: i16, bits: u32) -> i16 {
    let shifted = i64::from(value) << bits.min(31);
    shifted.clamp(i64::from(i16::MIN), i64::from(i16::MAX)) as i16
}
