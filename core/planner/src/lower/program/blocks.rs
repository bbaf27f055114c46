//! Blocks of constants. Copies of a node, as tiles have of their layers, read one block.

use super::Builder;
use crate::PlanError;
use crate::lower::{Layer, unsupported};
use crate::narrow::narrow;
use tilewright_model::{Model, Node, Op as ModelOp, Padding, TensorId};
use tilewright_plan::{Bytes, ChannelPart, Constant, ConstantRole, Op, Plan, Reader, Space, View};

impl Builder<'_> {
    /// The view of a block of constants: of a new one, or of that which a copy of the node reads.
    pub(super) fn block(
        &mut self,
        layer: &Layer,
        role: ConstantRole,
        (op, part): (u32, Option<ChannelPart>),
        (space, alignment): (Space, u64),
        bytes: u64,
    ) -> Result<View, PlanError> {
        if let Some(view) = self.shared(layer, role, (op, part), space, bytes) {
            return Ok(view);
        }
        let used = &mut self.plan.space_bytes[space as usize];
        let offset = used.align_up(alignment).0;
        *used = Bytes(offset + bytes);
        let address = u32::try_from(offset).ok().zip(u32::try_from(bytes).ok());
        let (address, length) = address.ok_or_else(|| {
            unsupported(&self.model.nodes[layer.node.0], "constants larger than 4 GiB")
        })?;
        let node = narrow(layer.node.0);
        let bytes = Bytes(bytes);
        let copies = Vec::new();
        let is_sparse = role == ConstantRole::Weights
            && self.plan.ops.get(op as usize).is_some_and(Op::is_sparse);
        let cuts = layer.sparse.clone().filter(|_| is_sparse);
        let block = Constant { node, role, op, copies, part, cuts, space, offset, bytes };
        self.plan.constants.push(block);
        Ok(View::bytes(space, address, length))
    }

    /// The view of a block that a copy of the layer's node reads already, if there is one.
    fn shared(
        &mut self,
        layer: &Layer,
        role: ConstantRole,
        (op, part): (u32, Option<ChannelPart>),
        space: Space,
        bytes: u64,
    ) -> Option<View> {
        let node = &self.model.nodes[layer.node.0];
        let first = node.inputs.iter().find(|id| self.model.tensor(**id).is_constant())?;
        let is_alone = self.readers[first.0] < 2;
        if is_alone || !is_shared(role) {
            return None;
        }
        let Plan { ops, constants, .. } = &mut *self.plan;
        let known = constants.iter_mut().find(|known| {
            let other = &self.model.nodes[known.node as usize];
            let pairs = [(node, &ops[op as usize]), (other, &ops[known.op as usize])];
            (known.role, known.part, known.space, known.bytes.0) == (role, part, space, bytes)
                && known.node as usize != layer.node.0
                && are_copies(self.model, pairs)
        })?;
        let (offset, bytes) = (u32::try_from(known.offset).ok()?, u32::try_from(bytes).ok()?);
        known.copies.push(Reader { node: narrow(layer.node.0), op });
        Some(View::bytes(space, offset, bytes))
    }
}

/// Whether blocks of a role are the same for copies of a node.
const fn is_shared(role: ConstantRole) -> bool {
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
fn are_copies(model: &Model, [a, b]: [(&Node, &Op); 2]) -> bool {
    let constants = |node: &Node| -> Vec<Option<usize>> {
        let id = |id: &TensorId| model.tensor(*id).is_constant().then_some(id.0);
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
