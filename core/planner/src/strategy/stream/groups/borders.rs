//! The borders of several depth-first groups that follow each other. What lies at a border lies in external RAM, or
//! on the card. There are as few and as short transfers as can be, or they take as little time.

use std::num::NonZeroU16;
use std::ops::Range;

use super::times::Times;
use super::{AROUND, BYTES, ROWS};
use crate::schedule::cut::Fineness;
use crate::schedule::depth_first::{DepthFirstGroup, MOST_LAYERS, Network};
use tilewright_plan::Space;

/// The finest way for rows to be made.
const FINEST: Fineness = Fineness::of_rows(1, 1);
/// Ways that are tried, from few steps to many.
const TRIED: usize = 4;
/// Parts of the columns of a layer that goes alone.
const PARTS: Range<u16> = 2..9;
/// Rows of such parts.
const PART_ROWS: Range<u16> = 1..17;

/// Bytes that the core reads or writes in external RAM while one copy is set up.
const BYTES_A_COPY: u64 = 8 << 10;

/// What lies outside of SRAM, and how groups are chosen.
#[derive(Clone, Copy)]
pub struct Choice<'t> {
    /// Whether the frame lies there too, wherever that is.
    pub takes: bool,
    /// What groups take; nothing: copies are counted.
    pub times: Option<&'t Times<'t>>,
}

/// Groups up to a layer.
#[derive(Clone, Copy)]
struct Cut {
    /// Copies, and what counts as such; or cycles.
    price: u64,
    /// Bytes in external RAM.
    outside: u64,
    /// Where the last begins.
    start: usize,
}

/// Groups under way.
struct Search<'s, 'p> {
    network: &'s Network<'p>,
    run: &'s Range<usize>,
    /// Bytes of SRAM, and outside of it.
    sizes: [u64; 2],
    choice: Choice<'s>,
    /// What of the frame lies outside.
    taken: Vec<usize>,
}

/// The ways for a run of layers of `all` and some behind it to go so within these bytes of SRAM and outside of it.
pub fn ways(
    network: &Network<'_>,
    run: &Range<usize>,
    all: usize,
    sizes: [u64; 2],
    choice: Choice<'_>,
) -> Vec<Vec<DepthFirstGroup>> {
    let taken: Vec<usize> = match run.start {
        // Frames arrive where the core writes.
        0 if network.outside() == Space::ExternalRam => {
            network.taken().filter(|tensor| network.bytes(*tensor) > sizes[0] / 4).collect()
        }
        0 if choice.takes => network.frames().to_vec(),
        _ => Vec::new(),
    };
    let search = Search { network, run, sizes, choice, taken };
    let Some(groups) = search.groups(all) else { return Vec::new() };
    let end = groups.last().map_or(0, |group| group.end);
    let of_groups: Vec<Vec<DepthFirstGroup>> =
        groups.iter().map(|layers| search.ways_of(layers, end)).collect();
    let way = |number: usize| {
        let of_group = |ways: &Vec<DepthFirstGroup>| {
            let last = ways.len().checked_sub(1)?;
            let at = match choice.times {
                None => last * number / (TRIED - 1),
                Some(_) => number.min(last),
            };
            ways.get(at).cloned()
        };
        of_groups.iter().map(of_group).collect::<Option<Vec<DepthFirstGroup>>>()
    };
    (0..TRIED).filter_map(way).collect()
}

impl Search<'_, '_> {
    fn bytes(&self, tensors: &[usize]) -> u64 {
        tensors.iter().map(|tensor| self.network.bytes(*tensor)).sum()
    }

    /// The tensors outside that layers use of a way that ends with a layer.
    fn outside(&self, layers: &Range<usize>, end: usize) -> Vec<usize> {
        let inner = [layers.start, layers.end].into_iter();
        let inner = inner.filter(|border| (self.run.start + 1..end).contains(border));
        let crossing = inner.flat_map(|border| self.crossing(border));
        self.taken.iter().copied().chain(crossing).collect()
    }

    /// The tensors that lie outside at a border: on a card those alone that layers make which go in rows.
    fn crossing(&self, border: usize) -> Vec<usize> {
        let first = if self.network.outside() == Space::Card { self.run.start } else { 0 };
        self.network.crossing(first, border)
    }

    /// Whether layers have room: parts of weights come and go beside what is held.
    fn fits(&self, group: &DepthFirstGroup) -> bool {
        let [budget, _] = self.sizes;
        let held = group.least_bytes();
        if self.choice.times.is_none() {
            return held <= budget / 16 * 15;
        }
        let weights = group.layers.clone().map(|layer| self.network.least_weights(layer)).max();
        held + weights.unwrap_or(0) <= budget
    }

    /// Copies that bring weights to a group, if all come again whenever rows are made; or the cycles that it takes.
    fn price(&self, group: &DepthFirstGroup) -> u64 {
        let [budget, _] = self.sizes;
        if let Some(times) = self.choice.times {
            return times.group(self.network, group, budget);
        }
        let part = (budget.saturating_sub(group.least_bytes()) / 2).max(1);
        let of_strip = |layer: usize| self.network.weights(layer).div_ceil(part);
        group.made.iter().map(|strip| of_strip(strip.layer)).sum()
    }

    /// The cheapest way for layers to form a group of which all rows are made in the finest way, or, of one layer
    /// alone, some columns; with its price.
    fn finest(&self, layers: &Range<usize>, end: usize) -> Option<u64> {
        let outside = self.outside(layers, end);
        let group = self.network.depth_first(layers.clone(), FINEST, &outside);
        let rows = group.filter(|group| self.fits(group)).map(|group| self.price(&group));
        if self.choice.times.is_none() || layers.len() > 1 {
            return rows;
        }
        let parts = self.parts(layers, &outside);
        parts.iter().map(|group| self.price(group)).chain(rows).min()
    }

    /// The ways to make a layer that goes alone in rows of some columns, which lie on a card.
    fn parts(&self, layers: &Range<usize>, outside: &[usize]) -> Vec<DepthFirstGroup> {
        let network = self.network;
        let is_alone = layers.len() == 1 && network.outside() == Space::Card;
        let Some([even, columns]) = network.whole_columns(layers.start).filter(|_| is_alone) else {
            return Vec::new();
        };
        let mut sizes: Vec<u16> = PARTS
            .map(|parts| columns.div_ceil(parts).next_multiple_of(even))
            .filter(|size| *size < columns)
            .collect();
        sizes.dedup();
        let of_size = |(columns, rows): (u16, u16)| {
            let fineness =
                Fineness { columns: NonZeroU16::new(columns), ..Fineness::of_rows(rows, u64::MAX) };
            network.depth_first(layers.clone(), fineness, outside)
        };
        let all = sizes.iter().flat_map(|size| {
            let of_rows = PART_ROWS.map(|rows| of_size((*size, rows)));
            of_rows.map_while(|group| group.filter(|group| self.fits(group)))
        });
        all.collect()
    }

    /// The cheapest way to a layer from those before it, where what goes on behind it lies outside unless it is the end.
    fn best(&self, cuts: &[Option<Cut>], to: usize, end: usize) -> Option<Cut> {
        let mut best: Option<Cut> = None;
        for from in (self.run.start.max(to.saturating_sub(MOST_LAYERS))..to).rev() {
            if !self.network.makes_rows(from) {
                break;
            }
            let Some(before) = cuts[from] else { continue };
            let crossing = if to < end { self.crossing(to) } else { Vec::new() };
            if !crossing.iter().all(|tensor| self.network.may_leave(*tensor)) {
                break;
            }
            let leaves = self.bytes(&crossing);
            let outside = before.outside + leaves;
            if outside > self.sizes[1] {
                continue;
            }
            let Some(own) = self.finest(&(from..to), end) else { continue };
            // What leaves counts with the group where time does.
            let written =
                if self.choice.times.is_some() { 0 } else { leaves.div_ceil(BYTES_A_COPY) };
            let price = before.price.saturating_add(own).saturating_add(written);
            if best.is_none_or(|known| price < known.price) {
                best = Some(Cut { price, outside, start: from });
            }
        }
        best
    }

    /// The cheapest groups of the run and some layers behind it.
    fn groups(&self, all: usize) -> Option<Vec<Range<usize>>> {
        let Self { run, .. } = *self;
        let last = all.min(run.end + AROUND);
        // What is left in SRAM behind the last group is what layers there take.
        let mut found: Option<(u64, Vec<Range<usize>>)> = None;
        let mut inner: Vec<Option<Cut>> = vec![None; last + 1];
        let outside = self.bytes(&self.taken);
        inner[run.start] = Some(Cut { price: 0, outside, start: run.start });
        for to in run.start + 1..last {
            inner[to] = self.best(&inner, to, last);
        }
        for end in run.end..=last {
            let mut cuts = inner[..=end].to_vec();
            cuts[end] = self.best(&inner, end, end);
            let Some(price) = cuts[end].map(|cut| cut.price) else { continue };
            if found.as_ref().is_none_or(|(least, _)| price < *least) {
                let mut groups = Vec::new();
                let mut at = end;
                while let Some(cut) = cuts[at].filter(|_| at > run.start) {
                    groups.push(cut.start..at);
                    at = cut.start;
                }
                groups.reverse();
                found = Some((price, groups));
            }
        }
        found.map(|(_, groups)| groups)
    }

    /// The ways for a group to go, the cheapest first.
    fn ways_of(&self, layers: &Range<usize>, end: usize) -> Vec<DepthFirstGroup> {
        let outside = self.outside(layers, end);
        let fineness = ROWS.iter().flat_map(|rows| BYTES.map(|bytes| (*rows, bytes)));
        let ways = fineness.filter_map(|(rows, bytes)| {
            self.network.depth_first(layers.clone(), Fineness::of_rows(rows, bytes), &outside)
        });
        let mut ways: Vec<DepthFirstGroup> = ways.filter(|group| self.fits(group)).collect();
        if self.choice.times.is_some() {
            ways.extend(self.parts(layers, &outside));
        }
        ways.sort_by_key(|group| (self.price(group), group.made.len()));
        if self.choice.times.is_some() {
            ways.dedup_by(|a, b| a.made == b.made);
        }
        ways
    }
}
