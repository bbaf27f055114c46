//! Which layers make groups, in which strips, and where activations lie between them: dynamic
//! programming over the borders of groups.

use std::ops::Range;
use std::rc::Rc;

use super::emit::Emitter;
use super::groups::{Border, Group};
use super::network::Network;
use crate::simulate::Direction;

/// Most layers of a group.
const MOST_LAYERS: usize = 14;
/// Most ways to a border that are followed.
const MOST_WAYS: usize = 8;

/// What groups cost up to a border.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Price {
    /// Cycles until the core has computed them.
    pub time: u64,
    /// Cycles of writing: it wears the card, and counts as if the core waited for it.
    pub worn: u64,
    /// Cycles of reading by which the card is ahead of the core.
    pub lead: u64,
    /// Bytes written.
    pub written: u64,
    /// Bytes read.
    pub read: u64,
}

impl Price {
    /// What is minimised first.
    pub const fn cost(&self) -> u64 {
        self.time.saturating_add(self.worn)
    }

    /// Whether another price is no better, whatever follows: a lead is worth no more than its time.
    fn beats(&self, other: &Self) -> bool {
        let behind = other.lead.saturating_sub(self.lead);
        let (own, its) = (self.cost().saturating_add(behind), other.cost());
        own < its || own == its && (self.written, self.read) <= (other.written, other.read)
    }

    /// This batch of frames `count` times, one after the other.
    pub const fn times(self, count: u64) -> Self {
        Self {
            time: self.time.saturating_mul(count),
            worn: self.worn.saturating_mul(count),
            lead: self.lead,
            written: self.written.saturating_mul(count),
            read: self.read.saturating_mul(count),
        }
    }
}

/// What core and card do for a group, in cycles.
struct Work {
    compute: u64,
    /// All transfers.
    moved: u64,
    /// Reading what must have come before the second strip: weights that stay.
    kept: u64,
    /// Computing the first strip.
    first: u64,
    /// Reading the least that the core can begin with.
    begin: u64,
    /// Reading as much as there is room for ahead.
    room: u64,
    is_serial: bool,
    worn: u64,
    written: u64,
    read: u64,
}

impl Work {
    fn of(network: &Network, emitter: &Emitter<'_>, group: &Group, frames: u32) -> Self {
        let transfers = emitter.transfers;
        let layers = || group.layers.clone().map(|layer| &network.layers[layer]);
        let compute = layers().map(|layer| layer.cycles).sum::<u64>();
        let compute = compute.saturating_mul(frames.into());
        let strips = group.ends[0].len() as u64;
        let fetches = group.keeps.contains(&false);
        let jumps = group.inflows.len() as u64 + u64::from(fetches);
        let leaves = group.leaves.iter().filter(|leaves| **leaves).count() as u64;
        let command = |direction| transfers.command(1, direction) - transfers.more(1, direction);
        let commands = command(Direction::Read).0.saturating_mul(strips * jumps)
            + command(Direction::Write).0.saturating_mul(strips * leaves);
        let more = |bytes, direction| match bytes {
            0 => 0,
            bytes => transfers.more(bytes, direction).0,
        };
        let read = |bytes| more(bytes, Direction::Read);
        let worn = more(group.written, Direction::Write);
        let kept = layers().zip(&group.keeps).filter(|(_, keeps)| **keeps && strips > 1);
        let kept: u64 = kept.map(|(layer, _)| layer.weights).sum();
        let begin = layers().next().map_or(0, |layer| layer.part(group.part));
        Self {
            compute,
            moved: read(group.read).saturating_add(worn).saturating_add(commands),
            kept: read(kept),
            first: compute / strips,
            begin: read(begin),
            room: read(group.room),
            is_serial: group.is_serial,
            worn,
            written: group.written,
            read: group.read,
        }
    }

    /// The price with this group, after what came before.
    fn after(&self, before: Price) -> Price {
        let lead = before.lead.min(self.room.saturating_add(self.kept));
        let wait = self.begin.saturating_sub(lead);
        let left = self.moved.saturating_sub(lead);
        let kept = self.kept.saturating_sub(lead + self.first);
        let time = match self.is_serial {
            true => self.compute + left,
            false => left.max(self.compute + wait.max(kept)),
        };
        Price {
            time: before.time.saturating_add(time),
            worn: before.worn.saturating_add(self.worn),
            lead: self.room.min((lead + time).saturating_sub(self.moved)),
            written: before.written.saturating_add(self.written),
            read: before.read.saturating_add(self.read),
        }
    }
}

/// A way to a border.
#[derive(Clone)]
struct Way {
    price: Price,
    /// The last group, where activations lie before it, and which way leads there.
    last: Option<(Rc<Group>, Border, usize)>,
}

/// Ways to a border of which none is no better than another.
#[derive(Clone, Default)]
struct Ways(Vec<Way>);

impl Ways {
    fn wants(&self, price: &Price) -> bool {
        !self.0.iter().any(|way| way.price.beats(price))
    }

    fn add(&mut self, way: Way) {
        self.0.retain(|known| !way.price.beats(&known.price));
        let cost = |price: &Price| (price.cost(), price.written, price.read);
        let place = self.0.partition_point(|known| cost(&known.price) <= cost(&way.price));
        self.0.insert(place, way);
        self.0.truncate(MOST_WAYS);
    }
}

/// The groups of the layers before `tail`, for one frame, and from there on, for `together` frames,
/// that take least time within `sram` bytes, with what a batch costs; nothing if there are none.
pub fn choose(
    network: &Network,
    emitter: &Emitter<'_>,
    sram: u64,
    together: u32,
    (tail, waits): (usize, Border),
) -> Option<([Vec<Group>; 2], Price)> {
    // Frames that wait for the others may leave their activations in SRAM.
    let waiting: u64 = match waits {
        Border::Sram => network.live(tail).map(|layer| network.layers[layer].bytes()).sum(),
        Border::Card => 0,
    };
    let waiting = waiting.next_multiple_of(super::network::LINE) * u64::from(together - 1);
    let room = sram.checked_sub(waiting)?;
    let front = Part { network, emitter, room, frames: 1, ends: [0, tail] };
    let (front, of_frame) = front.cheapest(Price::default(), [Border::Sram, waits])?;
    let before = of_frame.times(together.into());
    let ends = [tail, network.layers.len()];
    let back = Part { network, emitter, room: sram, frames: together, ends };
    let (back, price) = back.cheapest(before, [waits, Border::Sram])?;
    Some(([front, back], price))
}

/// Layers that so many frames go through together, within bytes of SRAM.
struct Part<'n> {
    network: &'n Network,
    emitter: &'n Emitter<'n>,
    room: u64,
    frames: u32,
    ends: [usize; 2],
}

impl Part<'_> {
    /// The cheapest groups, with activations there before and behind them, and the price with them.
    fn cheapest(&self, price: Price, [before, behind]: [Border; 2]) -> Option<(Vec<Group>, Price)> {
        let (network, [start, end]) = (self.network, self.ends);
        let borders = [Border::Sram, Border::Card];
        let mut ways: Vec<[Ways; 2]> = vec![Default::default(); end - start + 1];
        ways[0][before as usize].add(Way { price, last: None });
        for first in start..end {
            for from in borders {
                let before = &ways[first - start][from as usize].0;
                let before: Vec<Price> = before.iter().map(|way| way.price).collect();
                if before.is_empty() {
                    continue;
                }
                for last in first + 1..=end.min(first + MOST_LAYERS) {
                    if last > first + 1 && network.layers[last - 1].rows.is_none() {
                        break;
                    }
                    let is_inside = last < end && network.live(last).next().is_some();
                    let wanted = |to: &Border| match (last == end, is_inside) {
                        (true, _) => *to == behind,
                        (false, true) => true,
                        (false, false) => *to == Border::Sram,
                    };
                    for to in borders.into_iter().filter(wanted) {
                        let known = &mut ways[last - start][to as usize];
                        self.join(known, &before, first..last, [from, to]);
                    }
                    if last == first + 1 && network.layers[first].rows.is_none() {
                        break;
                    }
                }
            }
        }
        let price = ways[end - start][behind as usize].0.first()?.price;
        let mut groups = Vec::new();
        let (mut at, mut border, mut way) = (end, behind, 0);
        while at > start {
            let (group, from, before) = ways[at - start][border as usize].0[way].last.clone()?;
            (at, border, way) = (group.layers.start, from, before);
            groups.push((*group).clone());
        }
        groups.reverse();
        Some((groups, price))
    }

    /// Adds the ways that end with a group of these layers, in strips of whatever height.
    fn join(&self, known: &mut Ways, before: &[Price], layers: Range<usize>, borders: [Border; 2]) {
        let network = self.network;
        let height = network.layers[layers.end - 1].output[0].max(1);
        let in_strips = layers.len() > 1 || borders.contains(&Border::Card) || layers.start == 0;
        let powers = (0..6).map(|power| 1 << power).filter(|rows| *rows < height && in_strips);
        let whole = (layers.len() == 1).then_some(height);
        let halves = [height.div_ceil(2), height.div_ceil(3)].into_iter().filter(|_| in_strips);
        for strip in whole.into_iter().chain(halves).chain(powers) {
            if layers.len() > 1 && strip >= height {
                continue;
            }
            let group = Group::new(network, layers.clone(), strip, borders, self.frames, self.room);
            let Some(group) = group else { continue };
            let work = Work::of(network, self.emitter, &group, self.frames);
            let group = Rc::new(group);
            for (way, before) in before.iter().enumerate() {
                let price = work.after(*before);
                if known.wants(&price) {
                    known.add(Way { price, last: Some((Rc::clone(&group), borders[0], way)) });
                }
            }
        }
    }
}
