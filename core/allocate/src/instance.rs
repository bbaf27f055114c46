//! A problem as the exact solver sees it: sections of time instead of times, one unit of memory
//! instead of bytes, neighbours listed.

use super::problem::{Buffer, Overlap, Solution};
use tilewright_plan::Bytes;

/// Most entries of the lists of neighbours and sections; beyond them there is no exact search.
const MOST_ENTRIES: usize = 8_000_000;

/// Most pairs of live buffers over all sections; beyond them there is no exact search.
const MOST_COMPARISONS: usize = 64_000_000;

/// Lists of lists, end to end.
#[derive(Clone, Debug, Default)]
pub struct Lists<T> {
    starts: Vec<usize>,
    entries: Vec<T>,
}

impl<T> Lists<T> {
    fn of(lists: impl IntoIterator<Item = Vec<T>>) -> Self {
        let mut all = Self { starts: vec![0], entries: Vec::new() };
        for list in lists {
            all.entries.extend(list);
            all.starts.push(all.entries.len());
        }
        all
    }

    /// The list of `index`.
    #[inline]
    #[must_use]
    pub fn get(&self, index: usize) -> &[T] {
        &self.entries[self.starts[index]..self.starts[index + 1]]
    }

    /// The list of `index`.
    #[inline]
    #[must_use]
    pub fn get_mut(&mut self, index: usize) -> &mut [T] {
        &mut self.entries[self.starts[index]..self.starts[index + 1]]
    }
}

/// One buffer to place.
#[derive(Clone, Copy, Debug)]
pub struct Item {
    /// Its index in the problem.
    pub buffer: usize,
    /// Size in units.
    pub size: u64,
    /// What its offset is a multiple of, in units.
    pub alignment: u64,
    /// Least offset in units.
    pub least: u64,
    /// Largest offset in units that its region allows.
    pub most: u64,
    /// Bytes that its size in units has and the buffer has not.
    pub padding: u64,
}

/// A problem without times: buffers never in use or empty are left out.
#[derive(Clone, Debug)]
pub struct Instance {
    /// Bytes of which every alignment is a multiple: sizes are rounded up to it.
    pub grain: u64,
    /// Bytes of a unit: all sizes, alignments and bounds are multiples.
    pub unit: u64,
    /// The items.
    pub items: Vec<Item>,
    /// Number of sections: stretches of time whose live items no other stretch's contain.
    pub sections: usize,
    /// Of each item the ranges of sections in which it is live, ascending.
    pub ranges: Lists<(u32, u32)>,
    /// Of each item those that are live at some time with it.
    pub neighbours: Lists<u32>,
    /// Of each section the items that are live in it.
    pub live: Lists<u32>,
    /// Of each item those that it may overlap.
    pub close: Lists<Close>,
    /// Whether any may overlap; none do in most instances.
    pub has_close: bool,
}

/// An item that another may overlap.
#[derive(Clone, Copy, Debug)]
pub struct Close {
    /// The item.
    pub item: u32,
    /// Least units from the other's offset to this one's if this one lies above.
    pub apart: u64,
    /// Most units that both share.
    pub shared: u64,
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

impl Instance {
    /// The instance of a checked problem; nothing if it is too large for exact search.
    #[must_use]
    pub fn of(buffers: &[Buffer], overlaps: &[Overlap]) -> Option<Self> {
        let used = |b: &Buffer| b.bytes.0 > 0 && b.first < b.end;
        let used: Vec<usize> = (0..buffers.len()).filter(|i| used(&buffers[*i])).collect();
        let grain = used.iter().fold(0, |g, i| gcd(g, buffers[*i].alignment)).max(1);
        let start =
            |b: &Buffer| b.region.map_or(0, |r| r.start.div_ceil(b.alignment) * b.alignment);
        let mut unit = used
            .iter()
            .map(|i| &buffers[*i])
            .fold(0, |unit, b| gcd(gcd(unit, b.bytes.0.div_ceil(grain) * grain), start(b)));
        for overlap in overlaps {
            let apart = [overlap.above, overlap.below].map(|lag| lag.div_ceil(grain) * grain);
            unit = apart.into_iter().fold(unit, gcd);
        }
        // Multiples of a unit that an alignment divides are aligned; else the unit must divide it.
        while let Some(index) = used.iter().find(|i| {
            let alignment = buffers[**i].alignment;
            !unit.is_multiple_of(alignment) && !alignment.is_multiple_of(unit)
        }) {
            unit = gcd(unit, buffers[*index].alignment);
        }
        let unit = unit.max(1);
        let items: Vec<Item> = used
            .iter()
            .map(|index| {
                let b = &buffers[*index];
                let size = b.bytes.0.div_ceil(grain) * grain;
                let most = b.region.map_or(u64::MAX, |r| (r.end - b.bytes.0) / unit);
                Item {
                    buffer: *index,
                    size: size / unit,
                    alignment: (b.alignment / unit).max(1),
                    least: start(b) / unit,
                    most,
                    padding: size - b.bytes.0,
                }
            })
            .collect();
        let (ranges, sections) = sections(buffers, &used);
        let entries: usize = ranges.iter().flatten().map(|(a, b)| (b - a) as usize).sum();
        if entries > MOST_ENTRIES {
            return None;
        }
        let mut live: Vec<Vec<u32>> = vec![Vec::new(); sections];
        for (index, list) in ranges.iter().enumerate() {
            for (from, to) in list {
                for section in *from..*to {
                    live[section as usize].push(index as u32);
                }
            }
        }
        if live.iter().map(|l| l.len() * l.len()).sum::<usize>() > MOST_COMPARISONS {
            return None;
        }
        let neighbours = neighbours(&ranges, &live)?;
        let (ranges, live) = (Lists::of(ranges), Lists::of(live));
        let mut close: Vec<Vec<Close>> = vec![Vec::new(); items.len()];
        for overlap in overlaps {
            let item = |index: usize| used.iter().position(|known| *known == index);
            let [Some(first), Some(second)] = overlap.buffers.map(item) else { continue };
            let (a, b) = (items[first].size, items[second].size);
            // An item is apart from another by no more than its size.
            let units = |lag: u64, size: u64| (lag.div_ceil(grain) * grain / unit).min(size);
            let (above, below) = (units(overlap.above, a), units(overlap.below, b));
            let least = a.max(above + b).min(b.max(below + a));
            let shared = (a + b).saturating_sub(least);
            close[first].push(Close { item: second as u32, apart: above, shared });
            close[second].push(Close { item: first as u32, apart: below, shared });
        }
        let has_close = !overlaps.is_empty();
        Some(Self {
            grain,
            unit,
            items,
            sections,
            ranges,
            neighbours: Lists::of(neighbours),
            live,
            close: Lists::of(close),
            has_close,
        })
    }

    /// Least units from the offset of `low` to that of `high`, which lies above it.
    #[inline]
    #[must_use]
    pub fn apart(&self, low: usize, high: usize) -> u64 {
        let mut close = self.close.get(low).iter();
        let close = close.find(|close| close.item as usize == high);
        close.map_or(self.items[low].size, |close| close.apart)
    }

    /// Most units that an item shares with those in a list.
    #[must_use]
    pub fn shared(&self, item: u32, list: &[u32]) -> u64 {
        let close = self.close.get(item as usize).iter();
        close.filter(|close| list.contains(&close.item)).map(|close| close.shared).sum()
    }

    /// The solution with these offsets, in units, of the items.
    #[must_use]
    pub fn solution(&self, buffers: &[Buffer], offsets: &[u64]) -> Solution {
        // Those left out lie where their region or nothing puts them.
        let mut all: Vec<u64> = buffers
            .iter()
            .map(|b| b.region.map_or(0, |r| r.start.div_ceil(b.alignment) * b.alignment))
            .collect();
        for (item, offset) in self.items.iter().zip(offsets) {
            all[item.buffer] = offset * self.unit;
        }
        Solution::of(buffers, all)
    }

    /// Units that the tops of items may reach under `capacity`.
    #[must_use]
    pub fn ceiling(&self, capacity: Bytes) -> u64 {
        capacity.0.div_ceil(self.grain).saturating_mul(self.grain) / self.unit
    }

    /// A height that no placement is below: sections' sums, with all but one item's padding.
    #[must_use]
    pub fn lower_bound(&self) -> Bytes {
        let needs = (0..self.sections).map(|section| {
            let items = || self.live.get(section).iter().map(|i| &self.items[*i as usize]);
            let list = self.live.get(section);
            let shared = list.iter().map(|item| self.shared(*item, list)).sum::<u64>() / 2;
            let sum: u64 = items().map(|item| item.size).sum();
            ((sum - shared.min(sum)) * self.unit)
                .saturating_sub(items().map(|item| item.padding).max().unwrap_or(0))
        });
        Bytes(needs.max().unwrap_or(0))
    }

    /// The lowest height from `bound` on that a placement can have.
    #[must_use]
    pub fn height_from(&self, bound: Bytes) -> Bytes {
        let heights = self.items.iter().map(|item| {
            let bytes = item.size * self.unit - item.padding;
            bytes + bound.0.saturating_sub(bytes).div_ceil(self.unit) * self.unit
        });
        Bytes(heights.min().unwrap_or(0).max(bound.0))
    }

    /// Units that `capacity` allows an item's offset at most.
    #[must_use]
    pub fn latest(&self, item: usize, capacity: Bytes) -> Option<u64> {
        let item = &self.items[item];
        let bytes = item.size * self.unit - item.padding;
        Some((capacity.0.checked_sub(bytes)? / self.unit).min(item.most))
    }
}

/// Of each used buffer its ranges of sections, and the number of sections. A section lies between
/// a point where something starts and the next where something ends: what is live at other times
/// is live in a section too.
fn sections(buffers: &[Buffer], used: &[usize]) -> (Vec<Vec<(u32, u32)>>, usize) {
    let mut events: Vec<(u64, bool)> = Vec::new();
    for index in used {
        for (first, end) in buffers[*index].uses() {
            events.push((first, true));
            events.push((end, false));
        }
    }
    // Ends come before starts of the same time.
    events.sort_unstable();
    events.dedup();
    let peaks: Vec<u64> =
        events.windows(2).filter(|pair| pair[0].1 && !pair[1].1).map(|pair| pair[0].0).collect();
    let rank = |time: u64| peaks.partition_point(|peak| *peak < time) as u32;
    let ranges = used.iter().map(|index| {
        let ranges = buffers[*index].uses().map(|(first, end)| (rank(first), rank(end)));
        let mut merged: Vec<(u32, u32)> = Vec::new();
        for (from, to) in ranges.filter(|(from, to)| from < to) {
            match merged.last_mut() {
                Some(last) if last.1 == from => last.1 = to,
                _ => merged.push((from, to)),
            }
        }
        merged
    });
    (ranges.collect(), peaks.len())
}

/// Of each item those that share a section with it.
fn neighbours(ranges: &[Vec<(u32, u32)>], live: &[Vec<u32>]) -> Option<Vec<Vec<u32>>> {
    let mut all = Vec::with_capacity(ranges.len());
    let mut seen = vec![u32::MAX; ranges.len()];
    let mut entries = 0;
    for (index, list) in ranges.iter().enumerate() {
        let index = index as u32;
        let mut found = Vec::new();
        for section in list.iter().flat_map(|(from, to)| *from..*to) {
            for other in &live[section as usize] {
                if *other != index && seen[*other as usize] != index {
                    seen[*other as usize] = index;
                    found.push(*other);
                }
            }
        }
        entries += found.len();
        if entries > MOST_ENTRIES {
            return None;
        }
        all.push(found);
    }
    Some(all)
}
