//! What no schedule of a card and a core goes below.

use tilewright_board::{Board, Card};
use tilewright_plan::{Bytes, Cycles};

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
