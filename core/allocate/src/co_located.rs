//! Placement along time that co-locates lifetimes: a buffer goes to that end of a hole where its neighbour
//! dies when it does, so that what is free later is in one piece. What lives longest comes to lie
//! at the bottom and at the top.

use super::branching::logarithm;
use super::problem::{Buffer, Solution};
use super::sweep::{begins, life};

/// What a placement goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manner {
    /// From the end of time to its beginning.
    pub is_backwards: bool,
    /// The ceiling, left only where nothing is free below: so many eighths of the way from the
    /// largest live sum to the lowest placement known.
    pub eighths: u64,
    /// Weights of how long neighbours outlive each other, and of what is left of the hole.
    pub weights: [u64; 2],
    /// How much worse it is to outlive a neighbour than to be outlived.
    pub outliving: u64,
}

const fn manner(is_backwards: bool, eighths: u64, weights: [u64; 2], outliving: u64) -> Manner {
    Manner { is_backwards, eighths, weights, outliving }
}

/// Manners that have helped on graphs of ten thousand operators, those first that did most often.
pub const MANNERS: [Manner; 16] = [
    manner(false, 0, [10, 3], 1),
    manner(true, 0, [10, 3], 1),
    manner(false, 0, [1, 0], 1),
    manner(true, 4, [1, 1], 1),
    manner(true, 6, [1, 0], 3),
    manner(false, 0, [10, 3], 3),
    manner(true, 4, [1, 1], 3),
    manner(false, 4, [10, 3], 3),
    manner(true, 0, [1, 0], 1),
    manner(true, 6, [10, 3], 3),
    manner(false, 6, [10, 3], 3),
    manner(true, 7, [1, 0], 3),
    manner(false, 4, [10, 3], 1),
    manner(true, 4, [10, 3], 1),
    manner(false, 6, [1, 0], 3),
    manner(true, 7, [1, 1], 3),
];

/// What an end that fits exactly is worth: neighbours may die apart by a factor of 2^12.
const EXACT: u64 = 12 << 16;

/// A buffer that has been placed and lives: from, to, and when it dies.
type Placed = (u64, u64, u64);

/// Places `buffers`, for which [`super::sweep::suits`] says yes, below `ceiling` where that is
/// possible. Adds the ends of holes looked at to `work`.
#[must_use]
pub fn place(buffers: &[Buffer], manner: Manner, ceiling: u64, work: &mut u64) -> Solution {
    let order = begins(buffers, manner.is_backwards);
    let lives = order.iter().map(|index| life(&buffers[*index], manner.is_backwards));
    let (first, last) =
        lives.fold((u64::MAX, 0), |(first, last), (from, to)| (first.min(from), last.max(to)));
    // Bottom and ceiling outlive everything.
    let never = last.saturating_add(last.saturating_sub(first) / 8);
    let mut offsets = vec![0; buffers.len()];
    let mut live: Vec<Placed> = Vec::new();
    for index in order {
        let (begin, end) = life(&buffers[index], manner.is_backwards);
        live.retain(|(_, _, dies)| *dies > begin);
        *work += 2 * live.len() as u64 + 1;
        let offset = offset(&buffers[index], end, &live, manner, (ceiling, never));
        offsets[index] = offset;
        let at = live.partition_point(|(from, ..)| *from < offset);
        live.insert(at, (offset, offset + buffers[index].bytes.0, end));
    }
    Solution::of(buffers, offsets)
}

/// Where a buffer that dies at `end` goes.
fn offset(
    buffer: &Buffer,
    end: u64,
    live: &[Placed],
    manner: Manner,
    (ceiling, never): (u64, u64),
) -> u64 {
    let (bytes, alignment) = (buffer.bytes.0, buffer.alignment);
    let cost = |dies: u64, spare: u64| {
        let apart =
            if dies < end { (end - dies).saturating_mul(manner.outliving) } else { dies - end };
        let [apart_weight, spare_weight] = manner.weights;
        apart_weight * logarithm(apart.saturating_add(1)) + spare_weight * logarithm(spare + 1)
    };
    let mut best: Option<(u64, u64)> = None;
    let mut offer = |cost: u64, offset: u64| {
        if best.is_none_or(|(least, _)| cost < least) {
            best = Some((cost, offset));
        }
    };
    let (mut from, mut below) = (0, never);
    for (to, above, next) in
        live.iter().map(|(to, top, dies)| (*to, *dies, *top)).chain([(ceiling, never, u64::MAX)])
    {
        let low = u64::div_ceil(from, alignment) * alignment;
        if let Some(spare) = to.checked_sub(low).and_then(|room| room.checked_sub(bytes)) {
            let high = (to - bytes) / alignment * alignment;
            let [under, over] = [cost(below, spare), cost(above, spare)];
            if low == high {
                offer((under + over).saturating_sub(manner.weights[0] * EXACT), low);
            } else {
                offer(under, low);
                offer(over, high);
            }
        }
        from = next;
        below = above;
    }
    let top = live.last().map_or(0, |(_, top, _)| *top);
    best.map_or(top.div_ceil(alignment) * alignment, |(_, offset)| offset)
}
