//! Sums of live bytes: the bound below every placement, and the time at which it is reached.

use super::problem::{Buffer, Overlap};
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
    peak_sharing(buffers, &[])
}

/// As [`peak`], where what overlaps may share counts once.
#[must_use]
pub fn peak_sharing(buffers: &[Buffer], overlaps: &[Overlap]) -> Peak {
    let mut changes: Vec<(u64, bool, i128)> = Vec::with_capacity(buffers.len() * 2);
    let mut change = |first: u64, end: u64, bytes: i128| {
        changes.push((first, true, bytes));
        changes.push((end, false, -bytes));
    };
    for buffer in buffers {
        for (first, end) in buffer.uses() {
            change(first, end, i128::from(buffer.bytes.0));
        }
    }
    for overlap in overlaps {
        let [first, second] = overlap.buffers.map(|index| &buffers[index]);
        for (a, b) in first.uses() {
            for (c, d) in second.uses().filter(|(c, d)| a.max(*c) < b.min(*d)) {
                change(a.max(c), b.min(d), -i128::from(overlap.shared(buffers)));
            }
        }
    }
    changes.sort_unstable();
    let (mut live, mut most, mut time) = (0, 0, 0);
    for (index, (at, begins, bytes)) in changes.iter().enumerate() {
        live += bytes;
        // Sums count once all that begins has begun.
        let last = changes.get(index + 1).is_none_or(|next| next.0 > *at);
        if *begins && last && live > most {
            (most, time) = (live, *at);
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
    lower_bound_sharing(buffers, &[])
}

/// As [`lower_bound`], for buffers of which some may overlap.
#[must_use]
pub fn lower_bound_sharing(buffers: &[Buffer], overlaps: &[Overlap]) -> Bytes {
    let forced = buffers.iter().filter(|b| b.bytes.0 > 0 && b.first < b.end).map(|b| {
        let start = b.region.map_or(0, |region| region.start);
        let lowest = start.div_ceil(b.alignment.max(1)).saturating_mul(b.alignment);
        lowest.saturating_add(b.bytes.0)
    });
    peak_sharing(buffers, overlaps).bytes.max(Bytes(forced.max().unwrap_or(0)))
}
