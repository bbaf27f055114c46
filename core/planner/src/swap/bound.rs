//! What no schedule goes below.

use super::layers::SwapLayer;
use tilewright_board::{Board, Card};
use tilewright_plan::{Bytes, Cycles};

/// The time that `frames` frames take at least on this board, whatever the schedule: the core
/// computes all of them; the card reads all weights and the input once, without a pause; and when the
/// layers before some layer are computed, the weights from it on have yet to come but for what `sram`
/// holds.
pub fn bound(layers: &[SwapLayer], board: &Board, card: &Card, sram: Bytes, frames: u32) -> Cycles {
    let slot = board.slot.as_ref().map_or(u64::MAX, |slot| slot.bytes_per_second);
    let rate = u128::from(card.read.bytes_per_second.min(slot).max(1));
    let read = |bytes: u64| {
        let cycles = u128::from(bytes) * u128::from(board.core.clock.hertz.0) / rate;
        u64::try_from(cycles).unwrap_or(u64::MAX)
    };
    let inputs = layers.iter().flat_map(|layer| &layer.operands);
    let input: u64 = inputs
        .filter(|operand| operand.producer.is_none())
        .map(|operand| operand.shape.map(u64::from).iter().product::<u64>())
        .sum();
    let compute: u64 = layers.iter().map(|layer| layer.cycles).sum();
    let mut left: u64 = layers.iter().map(|layer| layer.weights).sum();
    let mut least = read(left + input).max(compute.saturating_mul(u64::from(frames)));
    let mut before = 0;
    for layer in layers {
        least = least.max(before + read(left.saturating_sub(sram.0)));
        before += layer.cycles;
        left -= layer.weights;
    }
    Cycles(least)
}
