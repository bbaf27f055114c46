//! What no schedule of a card and a core goes below.

use super::arrange::Arranging;
use super::groups::AROUND;
use crate::costs::CostCache;
use crate::narrow::narrow;
use crate::schedule::operator::{Operator, Tiny};
use crate::{Integrity, Options, PlanError, Planned, lower};
use tilewright_board::{Board, Card};
use tilewright_model::Model;
use tilewright_plan::{Bytes, Cycles, Space};

/// What plans of a network whose weights lie on the card do not go below, for each size of SRAM.
pub struct Bound {
    /// Of each layer the bytes of its weights on the card, and the cycles that it takes at least.
    layers: Vec<[u64; 2]>,
    /// Of each layer the bytes that it needs alone: those that need much form groups with those around them.
    needed: Vec<u64>,
}

impl Bound {
    /// Of a network on a board.
    ///
    /// # Errors
    /// [`PlanError`] names the node that no kernel runs as it is.
    pub fn of(model: &Model, board: &Board, costs: &CostCache) -> Result<Self, PlanError> {
        let given = lower::layers(model);
        let nodes: Vec<u32> = given.iter().map(|layer| narrow(layer.node.0)).collect();
        let arranging = Arranging::new(model, board, given, 0, Integrity::Trusted)?;
        let draft = arranging.draft()?;
        let operators = Operator::of(&draft);
        let mut steps: Vec<(&Operator<'_>, Tiny)> = Vec::with_capacity(operators.len());
        let mut layers: Vec<[u64; 2]> =
            nodes.iter().map(|node| [weights(model, *node), 0]).collect();
        let mut before = 0;
        for operator in &operators {
            let mut whole = operator.whole();
            whole.views.iter_mut().for_each(|view| view.space = Space::Arena as u8);
            steps.push((operator, whole));
            let all = steps.iter().map(|(step, tiny)| (step.computed(tiny), step.order));
            let Cycles(end) = costs.least(board, all);
            if let Some([_, cycles]) = layers.get_mut(usize::from(operator.step.layer)) {
                *cycles += end.saturating_sub(before);
            }
            before = end;
        }
        let total: u64 = layers.iter().map(|[weights, _]| weights).sum();
        let flash = board.plan_bytes().0;
        // The plan image may hold some, one does not know which.
        if total > flash / 2 {
            layers = vec![[total.saturating_sub(flash), before]];
        }
        Ok(Self { layers, needed: arranging.needed().collect() })
    }

    /// What they do not go below in so many bytes: not less than in more bytes.
    pub fn at(&self, sram: Bytes, board: &Board, options: &Options) -> Cycles {
        let Some(card) = options.card_in(board) else { return Cycles(0) };
        let is_large = |needed: &u64| *needed > sram.0 / 2;
        let last = self.needed.iter().rposition(is_large).map_or(0, |last| last + 1 + AROUND);
        let (group, rest) = self.layers.split_at(last.min(self.layers.len()));
        let sum = |at: usize| group.iter().map(|layer| layer[at]).sum();
        let mut layers = vec![[sum(0), sum(1)]];
        layers.extend_from_slice(rest);
        bound(&layers, 0, board, &card, sram, 1)
    }
}

/// The time that `frames` frames take at least on this board, whatever the schedule, where layers have
/// these bytes of weights and take these cycles, and a frame's input has `input` bytes: the core
/// computes all of them; the card reads all weights once and the input of each frame, without a pause;
/// and when the layers before some layer are computed for the last of the frames, that frame needs all
/// weights from the layer on, which have yet to come but for what `sram` holds. Frames may share what
/// is read.
pub fn bound(
    layers: &[[u64; 2]],
    input: u64,
    board: &Board,
    card: &Card,
    sram: Bytes,
    frames: u32,
) -> Cycles {
    let frames = u64::from(frames);
    let slot = board.slot.as_ref().map_or(u64::MAX, |slot| slot.bytes_per_second);
    let rate = u128::from(card.read.bytes_per_second.min(slot).max(1));
    let read = |bytes: u64| {
        let cycles = u128::from(bytes) * u128::from(board.core.clock.hertz.0) / rate;
        u64::try_from(cycles).unwrap_or(u64::MAX)
    };
    let compute: u64 = layers.iter().map(|[_, cycles]| cycles).sum();
    let mut left: u64 = layers.iter().map(|[weights, _]| weights).sum();
    let inputs = input.saturating_mul(frames);
    let mut least = read(left.saturating_add(inputs)).max(compute.saturating_mul(frames));
    let mut before = 0;
    for [weights, cycles] in layers {
        let behind = read(left.saturating_sub(sram.0));
        least = least.max(before * frames + behind);
        before += cycles;
        left -= weights;
    }
    Cycles(least)
}

/// Says of a plan what no order of its steps and reads goes below, wherever they lie in SRAM.
pub fn tell(planned: &mut Planned, model: &Model, board: &Board, options: &Options) {
    let Planned { plan, report, .. } = planned;
    if report.latency_us.is_none() {
        return;
    }
    let Some(card) = options.card_in(board) else { return };
    let on_card = plan.constants.iter().filter(|block| block.space == Space::Card);
    let nodes: Vec<u32> = on_card.map(|block| block.node).collect();
    // Bytes of weights that come, and cycles.
    let mut layers: Vec<[u64; 2]> = Vec::new();
    let mut ends = 0;
    for (number, (layer, row)) in plan.layers.iter().zip(&report.layers).enumerate() {
        // The layers of a depth-first group need their weights by turns.
        let coming = layer.nodes.iter().filter(|node| nodes.contains(node));
        let weights: u64 = coming.map(|node| weights(model, *node)).sum();
        match layers.last_mut().filter(|_| number < ends) {
            Some([bytes, cycles]) => {
                *bytes += weights;
                *cycles += *row.cycles;
            }
            None => layers.push([weights, *row.cycles]),
        }
        let line_buffers =
            layer.writes.iter().filter_map(|tensor| plan.tensors.get(*tensor as usize));
        let line_buffers = line_buffers.filter(|tensor| tensor.is_part());
        ends = line_buffers.map(|tensor| tensor.end as usize).fold(ends, usize::max);
    }
    let (sram, frames) = (options.arena_on(board), options.frames.get());
    let bound = bound(&layers, 0, board, &card, sram, frames);
    report.bound_us = Some(bound.at(board.core.clock.hertz).into());
}

/// Bytes of a node's weights, without its biases.
fn weights(model: &Model, node: u32) -> u64 {
    let Some(node) = model.nodes.get(node as usize).filter(|node| node.op.is_weighted()) else {
        return 0;
    };
    let constant = node.inputs.get(1).map(|id| model.tensor(*id)).filter(|t| t.is_constant());
    constant.and_then(|weights| weights.shape.elements()).unwrap_or(0) as u64
}
