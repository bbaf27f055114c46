//! Depth-first groups that follow each other where one would hold too much: what lies at their borders lies whole in
//! SRAM. Layers that need no more than there is go alone.

use std::num::NonZeroU32;
use std::ops::Range;
use std::rc::Rc;

use super::{BYTES, KnownGroups, MANY_ROWS};
use crate::schedule::cut::Fineness;
use crate::schedule::depth_first::{DepthFirstGroup, MOST_LAYERS};

/// Parts of what may be held, in sixteenths, that are tried: places leave gaps.
const SIXTEENTHS: [u64; 3] = [16, 15, 14];

/// Channels of a block, where layers are made by channels.
const CHANNELS: [u32; 4] = [16, 32, 64, 128];
/// Most layers of such a group: what is made, and pools and activations behind it.
const MOST_BY_CHANNELS: usize = 4;

/// The way to a layer.
#[derive(Clone, Copy)]
struct Cut {
    /// Steps of all before.
    steps: usize,
    /// Where the last group begins; of a layer alone the layer itself.
    start: usize,
    is_alone: bool,
}

/// The ways for layers to go in groups that hold at most `budget` bytes: of few steps. None if no layer needs more, or
/// there is no way.
pub fn ways(known: &KnownGroups<'_>, budget: u64) -> Vec<Vec<DepthFirstGroup>> {
    let mut found: Vec<Vec<DepthFirstGroup>> = Vec::new();
    for sixteenths in SIXTEENTHS {
        let most = budget / 16 * sixteenths;
        let groups = fewest_steps(known, most);
        let coarsest = |layers: Range<usize>| {
            let of_rows = |rows| BYTES.map(|bytes| Fineness::of_rows(rows, bytes));
            let fineness = MANY_ROWS.into_iter().rev().flat_map(of_rows);
            let fineness = fineness.chain(CHANNELS.into_iter().rev().map(by_channels));
            let ways = fineness.filter_map(|fineness| known.group(layers.clone(), fineness, &[]));
            let passing = known.network().passing(&layers);
            let fits = ways.filter(|group| group.least_bytes() + passing <= most);
            fits.min_by_key(|group| group.made.len()).map(Rc::unwrap_or_clone)
        };
        let groups: Option<Vec<DepthFirstGroup>> = groups.into_iter().map(coarsest).collect();
        found.extend(groups.filter(|groups| !groups.is_empty()));
    }
    found.dedup_by(|a, b| {
        a.len() == b.len()
            && a.iter().zip(b.iter()).all(|(a, b)| a.layers == b.layers && a.made == b.made)
    });
    found
}

/// So many channels at once.
fn by_channels(channels: u32) -> Fineness {
    Fineness { channels: NonZeroU32::new(channels), ..Fineness::of_rows(1, u64::MAX) }
}

/// The groups of the way with fewest steps, rows or channels made in the finest way; none if there is no way.
fn fewest_steps(known: &KnownGroups<'_>, most: u64) -> Vec<Range<usize>> {
    let needed = known.needed();
    let mut cuts: Vec<Option<Cut>> = vec![None; needed.len() + 1];
    cuts[0] = Some(Cut { steps: 0, start: 0, is_alone: true });
    for end in 1..=needed.len() {
        let mut best: Option<Cut> = None;
        let mut consider = |cut: Cut| {
            if best.is_none_or(|best| cut.steps < best.steps) {
                best = Some(cut);
            }
        };
        let last = end - 1;
        if let Some(before) = cuts[last].filter(|_| needed[last] <= most) {
            consider(Cut { steps: before.steps + 1, start: last, is_alone: true });
        }
        let mut together = |start: usize, finest: Fineness| {
            let Some(before) = cuts[start] else { return true };
            let finest = known.finest(start..end, finest);
            if let Some(finest) = finest.filter(|finest| finest.bytes <= most) {
                let steps = before.steps + finest.steps;
                consider(Cut { steps, start, is_alone: false });
            }
            finest.is_some()
        };
        for start in end.saturating_sub(MOST_BY_CHANNELS)..last {
            together(start, by_channels(CHANNELS[0]));
        }
        // Longer groups hold more, but for what they do not hold whole at their start.
        for start in (end.saturating_sub(MOST_LAYERS)..end).rev() {
            if !known.network().makes_rows(start) {
                break;
            }
            let is_large = needed[start..end].iter().any(|bytes| *bytes > most);
            if is_large && !together(start, Fineness::of_rows(1, 1)) {
                break;
            }
        }
        cuts[end] = best;
    }
    let mut groups = Vec::new();
    let mut at = needed.len();
    while let Some(cut) = cuts[at].filter(|_| at > 0) {
        if !cut.is_alone {
            groups.push(cut.start..at);
        }
        at = cut.start;
    }
    if at > 0 {
        return Vec::new();
    }
    groups.reverse();
    groups
}
