//! Layers with several steps, each of some output channels: groups, and filters of two memories.

use super::{Builder, InImage, Part};
use crate::PlanError;
use crate::lower::{Layer, unsupported};
use crate::narrow::narrow;
use tilewright_plan::kernel::CHANNEL_CONSTANT_BYTES;
use tilewright_plan::{ChannelPart, ConstantRole, Filters, Kernel, Space, View};

/// A layer some of whose filters lie in the plan image.
#[derive(Clone, Copy)]
pub(super) struct Cut {
    filters: Filters,
    channels: u32,
    inside: u32,
    each: u32,
}

/// The filters of one memory: their first channel, where the next step begins, and where they end.
struct Held {
    op: u32,
    first: u32,
    next: u32,
    end: u32,
    weights: View,
    constants: View,
}

impl Builder<'_> {
    /// A step for each group of a convolution, from the operands of all.
    pub(super) fn groups(
        &mut self,
        number: u16,
        (op, groups): (u32, u32),
        [h, w, c]: [u32; 3],
        valid: [u32; 3],
        views: &[View],
    ) -> Result<(), PlanError> {
        let &[input, output, weights, constants] = views else { return Ok(()) };
        let each = c / groups;
        for group in 0..groups {
            let part = |view: View| View {
                offset: view.offset + group * (view.c / groups),
                c: view.c / groups,
                ..view
            };
            let bytes = |view: View| {
                let View { offset, c, .. } = part(view);
                View { space: view.space, ..View::bytes(Space::Arena, offset, c) }
            };
            let views = vec![part(input), part(output), bytes(weights), bytes(constants)];
            let made = Part { start: [0, 0, group * each], size: [h, w, each] };
            self.push_step(number, op, made, valid, views);
        }
        Ok(())
    }

    /// How the filters of the layer under way lie in two memories, if they do.
    pub(super) fn cut_filters(
        &self,
        (kernel, op): (Kernel, u32),
        channels: u32,
        input: &View,
    ) -> Option<Cut> {
        let Some(InImage::Filters { inside, each }) =
            self.in_image.get(self.plan.layers.len()).copied()
        else {
            return None;
        };
        let op = self.plan.ops.get(op as usize)?;
        let is_cut = kernel.spec().cuts_pairs() && op.groups == 1 && !op.is_sparse();
        let are_even = inside.is_multiple_of(2) && each.is_multiple_of(2);
        let is_within = (1..channels).contains(&inside) && each > 0;
        let filters = op.filters_for(input);
        (is_cut && are_even && is_within).then_some(Cut { filters, channels, inside, each })
    }

    /// The steps of a layer some of whose filters lie in the plan image: by turns with the others, which
    /// come meanwhile from where they lie.
    ///
    /// # Errors
    /// If constants do not fit 4 GiB.
    pub(super) fn in_two_stores(
        &mut self,
        layer: &Layer,
        (number, op): (u16, u32),
        cut: Cut,
        valid: [u32; 3],
        [input, output]: [View; 2],
    ) -> Result<(), PlanError> {
        let Cut { filters, channels, inside, each } = cut;
        let again = self.plan.ops[op as usize];
        let other = self.push_op(again);
        let places = [self.image(), self.stored()]
            .map(|stored| ([stored.weights, stored.channels], stored.alignment));
        let parts = [(op, 0..inside), (other, inside..channels)];
        let mut held = Vec::with_capacity(parts.len());
        for ((op, range), ([weights, constants], alignment)) in parts.into_iter().zip(places) {
            let part = ChannelPart { start: range.start, channels: range.end - range.start };
            let count = u64::from(part.channels);
            let blocks = [
                (ConstantRole::Weights, weights, filters.all_bytes(count)),
                (ConstantRole::Channels, constants, count.checked_mul(CHANNEL_CONSTANT_BYTES)),
            ];
            let mut views = [View::default(); 2];
            for (view, (role, space, bytes)) in views.iter_mut().zip(blocks) {
                let bytes = bytes.ok_or_else(|| {
                    unsupported(&self.model.nodes[layer.node.0], "weights larger than 4 GiB")
                })?;
                *view = self.block(layer, role, (op, Some(part)), (space, alignment), bytes)?;
            }
            let [weights, constants] = views;
            let (first, end) = (range.start, range.end);
            held.push(Held { op, first, next: first, end, weights, constants });
        }
        let turns = (channels - inside).div_ceil(each);
        let lengths = [inside.div_ceil(turns).next_multiple_of(2), each];
        for _ in 0..turns {
            for (held, length) in held.iter_mut().zip(lengths) {
                let length = length.min(held.end - held.next);
                let start = held.next;
                held.next += length;
                if length == 0 {
                    continue;
                }
                let views = held.operands(filters, start..start + length, [input, output]);
                let made =
                    Part { start: [0, 0, start], size: [output.h.into(), output.w.into(), length] };
                self.push_step(number, held.op, made, valid, views);
            }
        }
        Ok(())
    }
}

impl Held {
    /// The operands of a step that makes some of the output's channels.
    fn operands(
        &self,
        filters: Filters,
        range: std::ops::Range<u32>,
        [input, output]: [View; 2],
    ) -> Vec<View> {
        let (skipped, channels) = (range.start - self.first, range.end - range.start);
        let part = |view: &View, from: u64, bytes: u64| {
            let offset = narrow(u64::from(view.offset) + from);
            let made = View::bytes(Space::Arena, offset, narrow(bytes));
            View { space: view.space, ..made }
        };
        let each = CHANNEL_CONSTANT_BYTES;
        let filter_bytes = filters.all_bytes(channels.into()).unwrap_or(0);
        vec![
            input,
            View { offset: output.offset + range.start, c: channels, ..output },
            part(&self.weights, filters.bytes * u64::from(skipped), filter_bytes),
            part(&self.constants, each * u64::from(skipped), each * u64::from(channels)),
        ]
    }
}
