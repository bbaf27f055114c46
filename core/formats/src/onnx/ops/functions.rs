//! Functions of one value, and operators over channels.

use tilewright_model::{Op, Unary};

use crate::FormatError;
use crate::onnx::attributes::Place;
use crate::onnx::constant::Values;
use crate::onnx::importer::{Importer, Value, as_given, channels_last};

/// Operators without attributes.
const PLAIN: [(&str, Unary); 19] = [
    ("Abs", Unary::Abs),
    ("Ceil", Unary::Ceil),
    ("Cos", Unary::Cos),
    ("Erf", Unary::Erf),
    ("Exp", Unary::Exp),
    ("Floor", Unary::Floor),
    ("HardSwish", Unary::HardSwish),
    ("Log", Unary::Log),
    ("Mish", Unary::Mish),
    ("Neg", Unary::Neg),
    ("Reciprocal", Unary::Reciprocal),
    ("Round", Unary::Round),
    ("Sigmoid", Unary::Sigmoid),
    ("Sign", Unary::Sign),
    ("Sin", Unary::Sin),
    ("Softplus", Unary::Softplus),
    ("Softsign", Unary::Softsign),
    ("Sqrt", Unary::Sqrt),
    ("Tanh", Unary::Tanh),
];

/// A function of one value.
pub(super) fn unary(importer: &mut Importer<'_>, place: Place<'_>) -> Result<Value, FormatError> {
    let function = match place.node.op_type.as_str() {
        "Elu" => Unary::Elu { alpha: place.float("alpha", 1.0)? },
        "Gelu" => Unary::Gelu { approximate: place.text("approximate")? == Some("tanh") },
        "HardSigmoid" => Unary::HardSigmoid {
            alpha: place.float("alpha", 0.2)?,
            beta: place.float("beta", 0.5)?,
        },
        "LeakyRelu" => Unary::LeakyRelu { alpha: place.float("alpha", 0.01)? },
        "Swish" => match place.float("alpha", 1.0)? {
            1.0 => Unary::Silu,
            alpha => return Err(place.unsupported(format!("alpha {alpha} is not supported"))),
        },
        "Selu" => Unary::Selu {
            alpha: place.float("alpha", 1.673_263_2)?,
            gamma: place.float("gamma", 1.050_701)?,
        },
        other => match PLAIN.iter().find(|(name, _)| *name == other) {
            Some((_, function)) => *function,
            None => return Err(place.bad("this operator is not supported")),
        },
    };
    apply(importer, place, function)
}

pub(super) fn apply(
    importer: &mut Importer<'_>,
    place: Place<'_>,
    function: Unary,
) -> Result<Value, FormatError> {
    if let Value::Constant(constant) = importer.operand(place, 0)? {
        let values = match (constant.ints(), constant.floats(), function) {
            (Some(values), _, Unary::Abs) => {
                Values::Int(values.iter().map(|value| value.saturating_abs()).collect())
            }
            (Some(values), _, Unary::Neg) => {
                Values::Int(values.iter().map(|value| value.saturating_neg()).collect())
            }
            (_, Some(values), function) => {
                Values::Float(values.iter().map(|value| function.apply(*value)).collect())
            }
            _ => return Err(place.unsupported("its operand holds integers")),
        };
        return super::folding::result(importer, place, constant.dims.clone(), values);
    }
    let input = importer.activated(place, 0)?;
    let op = Op::Unary(function);
    importer.emit(place, op, vec![input.tensor], input.order).map(Value::Activated)
}

pub(super) fn power(importer: &mut Importer<'_>, place: Place<'_>) -> Result<Value, FormatError> {
    let constant = importer.constant(place, 1)?;
    let exponent = match (constant.floats(), constant.ints()) {
        (Some([exponent]), _) => *exponent,
        (_, Some([exponent])) => *exponent as f32,
        _ => return Err(place.unsupported("its exponent must be one constant number")),
    };
    let function = match exponent {
        2.0 => Unary::Square,
        0.5 => Unary::Sqrt,
        exponent => Unary::Power { exponent },
    };
    apply(importer, place, function)
}

pub(super) fn local_response(
    importer: &mut Importer<'_>,
    place: Place<'_>,
) -> Result<Value, FormatError> {
    let size = usize::try_from(place.int("size", 0)).unwrap_or(0);
    let op = Op::LocalResponseNorm {
        size,
        alpha: place.float("alpha", 1e-4)?,
        beta: place.float("beta", 0.75)?,
        bias: place.float("bias", 1.0)?,
    };
    let input = importer.activated(place, 0)?;
    let order = channels_last(input.order.len());
    let tensor = importer.in_order(&input, &order);
    importer.emit(place, op, vec![tensor], order).map(Value::Activated)
}

pub(super) fn arg_max(importer: &mut Importer<'_>, place: Place<'_>) -> Result<Value, FormatError> {
    if place.flag("select_last_index", false)? {
        return Err(place.unsupported("the last of equal values is not supported"));
    }
    let input = importer.activated(place, 0)?;
    let rank = input.order.len();
    let axis = place.axis(place.int("axis", 0), rank)?;
    let keep_dims = place.flag("keepdims", true)?;
    let tensor = importer.in_order(&input, &as_given(rank));
    let left = if keep_dims { rank } else { rank.saturating_sub(1) };
    let op = Op::ArgMax { axis, keep_dims };
    importer.emit(place, op, vec![tensor], as_given(left)).map(Value::Activated)
}
