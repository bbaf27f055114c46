//! The validator: whether offsets keep buffers apart. It shares nothing with the solvers but the
//! values, and sweeps over memory where they sweep over time.

use thiserror::Error;

use super::problem::{Buffer, Overlap, Solution};
use tilewright_plan::Bytes;

/// What is wrong with a solution.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Fault {
    /// Not one offset a buffer.
    #[error("{offsets} offsets for {buffers} buffers")]
    Count {
        /// Offsets given.
        offsets: usize,
        /// Buffers to place.
        buffers: usize,
    },
    /// An offset that is no multiple of its alignment.
    #[error("buffer {buffer} at {offset} is not aligned to {alignment}")]
    Alignment {
        /// The buffer.
        buffer: usize,
        /// Its offset.
        offset: u64,
        /// Its alignment.
        alignment: u64,
    },
    /// A buffer outside its region, or beyond what can be addressed.
    #[error("buffer {buffer} at {offset} leaves the offsets it may use")]
    Region {
        /// The buffer.
        buffer: usize,
        /// Its offset.
        offset: u64,
    },
    /// Two buffers in use at the same time share bytes.
    #[error("buffers {first} and {second} share bytes at time {time}")]
    Overlap {
        /// One buffer.
        first: usize,
        /// The other.
        second: usize,
        /// A point in time at which both are in use.
        time: u64,
    },
    /// The height is not one past the last byte used.
    #[error("the height is {claimed} bytes, not {actual}")]
    Height {
        /// As claimed.
        claimed: u64,
        /// As it is.
        actual: u64,
    },
    /// The solution is higher than the capacity.
    #[error("{height} bytes are used of {capacity}")]
    Capacity {
        /// Bytes used.
        height: u64,
        /// Bytes had.
        capacity: u64,
    },
}

/// Proves that `solution` keeps all `buffers` apart, aligned, in their regions and, if a capacity
/// is given, below it.
///
/// # Errors
/// [`Fault`] names the first thing found wrong.
pub fn validate(
    buffers: &[Buffer],
    solution: &Solution,
    capacity: Option<Bytes>,
) -> Result<(), Fault> {
    validate_sharing(buffers, &[], solution, capacity)
}

/// As [`validate`], where buffers of an overlap may share bytes if they keep its distance.
///
/// # Errors
/// [`Fault`] names the first thing found wrong.
pub fn validate_sharing(
    buffers: &[Buffer],
    overlaps: &[Overlap],
    solution: &Solution,
    capacity: Option<Bytes>,
) -> Result<(), Fault> {
    if buffers.len() != solution.offsets.len() {
        return Err(Fault::Count { offsets: solution.offsets.len(), buffers: buffers.len() });
    }
    let mut actual = 0;
    let mut by_offset = Vec::with_capacity(buffers.len());
    for (index, (buffer, offset)) in buffers.iter().zip(&solution.offsets).enumerate() {
        let (alignment, offset) = (buffer.alignment, *offset);
        if offset.checked_rem(alignment) != Some(0) {
            return Err(Fault::Alignment { buffer: index, offset, alignment });
        }
        let top = offset.checked_add(buffer.bytes.0);
        let inside = |top: u64| {
            buffer.region.is_none_or(|region| region.start <= offset && top <= region.end)
        };
        let Some(top) = top.filter(|top| inside(*top)) else {
            return Err(Fault::Region { buffer: index, offset });
        };
        if buffer.bytes.0 > 0 && buffer.first < buffer.end {
            actual = actual.max(top);
            by_offset.push((offset, top, index));
        }
    }
    if solution.height.0 != actual {
        return Err(Fault::Height { claimed: solution.height.0, actual });
    }
    if let Some(capacity) = capacity.filter(|capacity| actual > capacity.0) {
        return Err(Fault::Capacity { height: actual, capacity: capacity.0 });
    }
    by_offset.sort_unstable();
    let mut open: Vec<(u64, usize)> = Vec::new();
    for (offset, top, index) in by_offset {
        open.retain(|(top, _)| *top > offset);
        for (_, other) in &open {
            // This one is not below the other.
            let distance = offset - solution.offsets[*other];
            let mut lags = overlaps.iter().filter_map(|overlap| overlap.apart(*other, index));
            if lags.any(|lag| lag <= distance) {
                continue;
            }
            if let Some(time) = shared_time(buffers, index, *other) {
                let (first, second) = (index.min(*other), index.max(*other));
                return Err(Fault::Overlap { first, second, time });
            }
        }
        open.push((top, index));
    }
    Ok(())
}

/// The first point in time at which both are in use.
fn shared_time(buffers: &[Buffer], a: usize, b: usize) -> Option<u64> {
    let (a, b) = (buffers.get(a)?, buffers.get(b)?);
    let mut time = a.first.max(b.first);
    let end = a.end.min(b.end);
    let mut gaps: Vec<_> = a.gaps.iter().chain(&b.gaps).collect();
    gaps.sort_unstable_by_key(|gap| gap.first);
    for gap in gaps {
        if gap.first <= time {
            time = time.max(gap.end);
        }
    }
    (time < end).then_some(time)
}
