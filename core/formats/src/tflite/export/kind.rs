//! Whether 8 bits are signed in the file. TensorFlow Lite's kernels for uint8 round some operators in
//! another way than those for int8, and a model that was opened from uint8 may depend on it.

use tilewright_model::integer::{self, Multiplier};
use tilewright_model::{Model, Node, Op, Unary};

use super::weighted::{Product, differences, multipliers};

/// What tensors of 8 bits are in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Eight {
    Signed,
    /// Values and zero points are 128 more.
    Unsigned,
}

impl Eight {
    /// The kind that a model needs; signed if it needs none.
    pub(super) fn of(model: &Model) -> Self {
        match model.nodes.iter().any(|node| needs_unsigned(model, node)) {
            true => Self::Unsigned,
            false => Self::Signed,
        }
    }
}

fn needs_unsigned(model: &Model, node: &Node) -> bool {
    match &node.op {
        Op::Conv { .. } | Op::DepthwiseConv { .. } | Op::TransposeConv { .. } => {
            let weights = node.inputs.get(1).map(|id| model.tensor(*id));
            let quantisation = weights.and_then(|weights| weights.quantisation.as_ref());
            let is_single = quantisation.is_some_and(|quantisation| quantisation.axis.is_none());
            let shows = || {
                let [short, long] =
                    [Product::Short, Product::Long].map(|kind| multipliers(model, node, kind));
                short != long
            };
            let has_differences = weights.is_some_and(|weights| differences(weights).is_some());
            match model.short_products {
                true => is_single && (!has_differences || shows()),
                false => is_single && !has_differences && !shows(),
            }
        }
        Op::AveragePool { halves_up: true, .. } => has_halves(node),
        Op::Unary(Unary::Rescale) => {
            let wanted = integer::table(model, node).ok();
            let is = |op: Op| wanted == integer::table(model, &Node { op, ..node.clone() }).ok();
            !is(Op::Requantise) && !is(Op::Unary(Unary::LeakyRelu { alpha: 1.0 }))
        }
        _ => false,
    }
}

/// Whether a pool may find a mean in the middle between two steps: no odd number of values has one.
pub(super) fn has_halves(node: &Node) -> bool {
    let Op::AveragePool { window, count_padding, uncounted, .. } = &node.op else { return false };
    let padding = window.padding;
    let is_whole = *uncounted == [0, 0]
        && (*count_padding || [padding.top, padding.left, padding.bottom, padding.right] == [0; 4]);
    !(is_whole && (window.size[0] * window.size[1]) % 2 == 1)
}

/// Multipliers that are compared.
pub(super) type Multipliers = Option<Vec<Multiplier>>;
