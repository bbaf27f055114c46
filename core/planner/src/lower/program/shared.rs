//! Blocks of constants that several nodes read: those of tiles, which are copies of one layer.

use tilewright_model::{Model, Node, Op as ModelOp, Padding};
use tilewright_plan::{ConstantRole, Op};

/// Whether blocks of a role are the same for copies of a node.
pub(super) const fn is_shared(role: ConstantRole) -> bool {
    match role {
        ConstantRole::Weights
        | ConstantRole::Channels
        | ConstantRole::Operand { .. }
        | ConstantRole::Table
        | ConstantRole::Factors => true,
        ConstantRole::Nearest | ConstantRole::Gather(_) => false,
    }
}

/// Whether two nodes, with the records of their ops, have the same weights and constants of channels: they differ in
/// nothing but their activations' sizes and their padding.
pub(super) fn are_copies(model: &Model, [a, b]: [(&Node, &Op); 2]) -> bool {
    let constants = |node: &Node| -> Vec<Option<usize>> {
        let id = |id: &tilewright_model::TensorId| model.tensor(*id).is_constant().then_some(id.0);
        node.inputs.iter().map(id).collect()
    };
    let quantisations = |node: &Node| -> Vec<_> {
        let ids = node.inputs.iter().chain(&node.outputs);
        ids.map(|id| model.tensor(*id).quantisation.clone()).collect()
    };
    unpadded(&a.0.op) == unpadded(&b.0.op)
        && Op { padding: [0; 2], ..*a.1 } == Op { padding: [0; 2], ..*b.1 }
        && constants(a.0) == constants(b.0)
        && quantisations(a.0) == quantisations(b.0)
}

fn unpadded(op: &ModelOp) -> ModelOp {
    let mut op = op.clone();
    if let ModelOp::Conv { window, .. } | ModelOp::DepthwiseConv { window, .. } = &mut op {
        window.padding = Padding::default();
    }
    op
}
