//! Sums of live bytes: the bound below every placement, and the time at which it is reached.

use super::problem::Buffer;
use tilewright_plan::Bytes;

/// The point in time with the most live bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Peak {
    /// First such point.
    pub time: u64,
    /// Bytes live then.
    pub bytes: Bytes,
    /// The buffers live then, ascending.
    pub buffers: Vec<usize>,
}

/// Finds the peak of the sum of live bytes; saturates, so it answers for senseless problems too.
#[must_use]
pub fn peak(buffers: &[Buffer]) -> Peak {
    let mut changes: Vec<(u64, bool, u64)> = Vec::with_capacity(buffers.len() * 2);
    for buffer in buffers {
        for (first, end) in buffer.uses() {
            changes.push((first, true, buffer.bytes.0));
            changes.push((end, false, buffer.bytes.0));
        }
    }
    changes.sort_unstable();
    let (mut live, mut most, mut time) = (0u128, 0u128, 0);
    for (at, begins, bytes) in changes {
        if begins {
            live += u128::from(bytes);
            if live > most {
                (most, time) = (live, at);
            }
        } else {
            live -= u128::from(bytes);
        }
    }
    let lives = |b: &Buffer| b.bytes.0 > 0 && b.uses().any(|(f, e)| f <= time && time < e);
    Peak {
        time,
        bytes: Bytes(u64::try_from(most).unwrap_or(u64::MAX)),
        buffers: (0..buffers.len()).filter(|index| lives(&buffers[*index])).collect(),
    }
}

/// A height that no placement is below: the largest sum of live bytes, and the highest end that
/// the buffers' regions and alignments force.
#[must_use]
pub fn lower_bound(buffers: &[Buffer]) -> Bytes {
    let forced = buffers.iter().filter(|b| b.bytes.0 > 0 && b.first < b.end).map(|b| {
        let start = b.region.map_or(0, |region| region.start);
        let lowest = start.div_ceil(b.alignment.max(1)).saturating_mul(b.alignment);
        lowest.saturating_add(b.bytes.0)
    });
    peak(buffers).bytes.max(Bytes(forced.max().unwrap_or(0)))
}
