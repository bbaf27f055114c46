//! First fit and best fit over given orders: fast, for any number of buffers.

use super::problem::{Buffer, Overlap, Solution};

/// Which of the holes that are large enough a buffer takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// The lowest.
    First,
    /// The one that it fills best; above everything only if there is no other.
    Best,
}

/// What an order sorts by, smallest first.
pub type Key = fn(&Buffer) -> [u64; 3];

fn length(buffer: &Buffer) -> u64 {
    buffer.end.saturating_sub(buffer.first)
}

fn largest_first(b: &Buffer) -> [u64; 3] {
    [!b.bytes.0, b.first, !length(b)]
}

fn area_first(b: &Buffer) -> [u64; 3] {
    [!b.bytes.0.saturating_mul(length(b)), b.first, 0]
}

fn longest_first(b: &Buffer) -> [u64; 3] {
    [!length(b), !b.bytes.0, b.first]
}

fn oldest_first(b: &Buffer) -> [u64; 3] {
    [b.first, !b.bytes.0, 0]
}

fn newest_first(b: &Buffer) -> [u64; 3] {
    [!b.end, !b.bytes.0, 0]
}

/// By the power of two of the life's length, and within it by its start.
fn long_lived_first(b: &Buffer) -> [u64; 3] {
    [!u64::from(length(b).checked_ilog2().unwrap_or(0)), b.first, !b.bytes.0]
}

/// The portfolio of thousands of buffers, best bets first.
pub const ORDERS_OF_MANY: [(Key, Fit); 6] = [
    (long_lived_first, Fit::First),
    (longest_first, Fit::First),
    (area_first, Fit::Best),
    (largest_first, Fit::First),
    (newest_first, Fit::First),
    (largest_first, Fit::Best),
];

/// The portfolio, best bets first.
pub const ORDERS: [(Key, Fit); 7] = [
    (largest_first, Fit::First),
    (area_first, Fit::First),
    (longest_first, Fit::First),
    (oldest_first, Fit::First),
    (newest_first, Fit::First),
    (largest_first, Fit::Best),
    (area_first, Fit::Best),
];

/// The indices of `buffers` by `key`; those with one possible offset come first, then those with
/// a region, since others can make way for them.
#[must_use]
pub fn order(buffers: &[Buffer], key: Key) -> Vec<usize> {
    let mut order: Vec<usize> = (0..buffers.len()).collect();
    let freedom = |b: &Buffer| match (b.fixed(), b.region) {
        (Some(_), _) => 0,
        (None, Some(_)) => 1,
        (None, None) => 2,
    };
    order.sort_by_key(|index| {
        let buffer = &buffers[*index];
        (freedom(buffer), key(buffer), *index)
    });
    order
}

/// Places `buffers` one after the other in `order`; nothing if one finds no room in its region.
/// Adds the comparisons made to `work`.
#[must_use]
pub fn place(buffers: &[Buffer], order: &[usize], fit: Fit, work: &mut u64) -> Option<Solution> {
    let mut offsets = vec![0u64; buffers.len()];
    // Those placed, by offset.
    let mut placed: Vec<(u64, u64, usize)> = Vec::with_capacity(buffers.len());
    for index in order {
        let buffer = &buffers[*index];
        let up = |offset: u64| offset.div_ceil(buffer.alignment) * buffer.alignment;
        let bytes = buffer.bytes.0;
        let start = up(buffer.region.map_or(0, |region| region.start));
        let last = buffer.region.map_or(u64::MAX, |region| region.end) - bytes;
        let mut free = start;
        let mut best: Option<(u64, u64)> = None;
        *work += placed.len() as u64 + 1;
        for (offset, top, other) in &placed {
            if *top <= free || !buffers[*other].meets(buffer) {
                continue;
            }
            if free + bytes <= *offset && free <= last {
                let spare = *offset - free - bytes;
                if best.is_none_or(|(least, _)| spare < least) {
                    best = Some((spare, free));
                }
                if fit == Fit::First {
                    break;
                }
            }
            free = free.max(up(*top));
        }
        let offset = best.map_or(free, |(_, offset)| offset);
        if offset > last {
            return None;
        }
        offsets[*index] = offset;
        if bytes > 0 && buffer.first < buffer.end {
            let entry = (offset, offset + bytes, *index);
            let at = placed.partition_point(|other| *other < entry);
            placed.insert(at, entry);
        }
    }
    Some(Solution::of(buffers, offsets))
}

/// As [`place`] with [`Fit::First`], for buffers of which some may overlap.
#[must_use]
pub fn place_sharing(
    buffers: &[Buffer],
    overlaps: &[Overlap],
    order: &[usize],
    work: &mut u64,
) -> Option<Solution> {
    let mut lags: Vec<Vec<&Overlap>> = vec![Vec::new(); buffers.len()];
    for overlap in overlaps {
        overlap.buffers.into_iter().for_each(|index| lags[index].push(overlap));
    }
    let mut offsets = vec![0u64; buffers.len()];
    let mut placed: Vec<usize> = Vec::with_capacity(buffers.len());
    for index in order {
        let buffer = &buffers[*index];
        let up = |offset: u64| offset.div_ceil(buffer.alignment) * buffer.alignment;
        let last = buffer.region.map_or(u64::MAX, |region| region.end) - buffer.bytes.0;
        // Between the ends of an interval the buffer is too near to another.
        let mut near: Vec<(i128, u64)> = placed
            .iter()
            .filter(|other| buffers[**other].meets(buffer))
            .map(|other| {
                let apart = |low: usize, high: usize| {
                    let lag = lags[*index].iter().find_map(|overlap| overlap.apart(low, high));
                    lag.unwrap_or(buffers[low].bytes.0)
                };
                let below = i128::from(offsets[*other]) - i128::from(apart(*index, *other));
                (below, offsets[*other] + apart(*other, *index))
            })
            .collect();
        *work += placed.len() as u64 + 1;
        near.sort_unstable();
        let mut free = up(buffer.region.map_or(0, |region| region.start));
        for (below, above) in near {
            if i128::from(free) > below {
                free = free.max(up(above));
            }
        }
        if free > last {
            return None;
        }
        offsets[*index] = free;
        if buffer.bytes.0 > 0 && buffer.first < buffer.end {
            placed.push(*index);
        }
    }
    Some(Solution::of(buffers, offsets))
}
