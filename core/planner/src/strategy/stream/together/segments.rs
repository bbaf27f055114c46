//! Layers that go through their rows some by some: what lies between two such segments lies in external
//! RAM, or on the card. There are as few and as short transfers as can be.

use std::ops::Range;

use super::{AROUND, BYTES, ROWS};
use crate::schedule::cut::Fineness;
use crate::schedule::strips::{MOST_LAYERS, Network, Strips};
use tilewright_plan::Space;

/// The finest way for rows to be made.
const FINEST: Fineness = Fineness { rows: 1, bytes: 1 };
/// Ways that are tried, from few steps to many.
const TRIED: usize = 4;

/// Bytes that the core reads or writes in external RAM while one copy is set up.
const BYTES_A_COPY: u64 = 8 << 10;

/// Segments up to a layer.
#[derive(Clone, Copy)]
struct Cut {
    /// Copies, and what counts as such.
    price: u64,
    /// Bytes in external RAM.
    outside: u64,
    /// Where the last begins.
    start: usize,
}

/// Copies that bring weights to a segment, if all come again whenever rows are made.
fn copies(network: &Network<'_>, strips: &Strips, budget: u64) -> u64 {
    let part = (budget.saturating_sub(strips.least_bytes()) / 2).max(1);
    let of_strip = |layer: usize| network.weights(layer).div_ceil(part);
    strips.made.iter().map(|strip| of_strip(strip.layer)).sum()
}

/// The ways for a run of layers of `all` and some behind it to go so within `budget` bytes of SRAM and so
/// many of external RAM.
pub fn ways(
    network: &Network<'_>,
    run: &Range<usize>,
    all: usize,
    [budget, external]: [u64; 2],
) -> Vec<Vec<Strips>> {
    // Parts of weights come and go beside what is held.
    let room = budget / 16 * 15;
    let last = all.min(run.end + AROUND);
    let taken: Vec<usize> = match run.start {
        // Frames arrive where the core writes.
        0 if network.outside() == Space::ExternalRam => {
            network.taken().filter(|tensor| network.bytes(*tensor) > budget / 4).collect()
        }
        _ => Vec::new(),
    };
    let bytes =
        |tensors: &[usize]| tensors.iter().map(|tensor| network.bytes(*tensor)).sum::<u64>();
    let outside = |layers: &Range<usize>, end: usize| {
        let inner = [layers.start, layers.end].into_iter();
        let inner = inner.filter(|border| (run.start + 1..end).contains(border));
        let crossing = inner.flat_map(|border| network.crossing(border));
        taken.iter().copied().chain(crossing).collect::<Vec<usize>>()
    };
    // The best way to a layer from those before it, where what goes on behind it lies in external RAM unless it
    // is the end.
    let best = |cuts: &[Option<Cut>], to: usize, end: usize| {
        let mut best: Option<Cut> = None;
        for from in (run.start.max(to.saturating_sub(MOST_LAYERS))..to).rev() {
            if !network.makes_rows(from) {
                break;
            }
            let Some(before) = cuts[from] else { continue };
            let leaves = if to < end { bytes(&network.crossing(to)) } else { 0 };
            let outside_bytes = before.outside + leaves;
            if outside_bytes > external {
                continue;
            }
            let strips = network.strips(from..to, FINEST, &outside(&(from..to), end));
            let Some(strips) = strips.filter(|strips| strips.least_bytes() <= room) else {
                continue;
            };
            let price =
                before.price + copies(network, &strips, budget) + leaves.div_ceil(BYTES_A_COPY);
            if best.is_none_or(|known| price < known.price) {
                best = Some(Cut { price, outside: outside_bytes, start: from });
            }
        }
        best
    };
    // What is left in SRAM behind the last segment is what layers there take.
    let mut found: Option<(u64, Vec<Range<usize>>)> = None;
    let mut inner: Vec<Option<Cut>> = vec![None; last + 1];
    inner[run.start] = Some(Cut { price: 0, outside: bytes(&taken), start: run.start });
    for to in run.start + 1..last {
        inner[to] = best(&inner, to, last);
    }
    for end in run.end..=last {
        let mut cuts = inner[..=end].to_vec();
        cuts[end] = best(&inner, end, end);
        let Some(price) = cuts[end].map(|cut| cut.price) else { continue };
        if found.as_ref().is_none_or(|(least, _)| price < *least) {
            let mut segments = Vec::new();
            let mut at = end;
            while let Some(cut) = cuts[at].filter(|_| at > run.start) {
                segments.push(cut.start..at);
                at = cut.start;
            }
            segments.reverse();
            found = Some((price, segments));
        }
    }
    let Some((_, segments)) = found else { return Vec::new() };
    let end = segments.last().map_or(0, |segment| segment.end);
    let of_segments: Vec<Vec<Strips>> = segments
        .iter()
        .map(|layers| {
            let fineness = ROWS.iter().flat_map(|rows| BYTES.map(|bytes| (*rows, bytes)));
            let ways = fineness.filter_map(|(rows, bytes)| {
                network.strips(layers.clone(), Fineness { rows, bytes }, &outside(layers, end))
            });
            let mut ways: Vec<Strips> =
                ways.filter(|strips| strips.least_bytes() <= room).collect();
            ways.sort_by_key(|strips| (copies(network, strips, budget), strips.made.len()));
            ways
        })
        .collect();
    let way = |number: usize| {
        let of_segment = |ways: &Vec<Strips>| {
            let last = ways.len().checked_sub(1)?;
            ways.get(last * number / (TRIED - 1)).cloned()
        };
        of_segments.iter().map(of_segment).collect::<Option<Vec<Strips>>>()
    };
    (0..TRIED).filter_map(way).collect()
}
