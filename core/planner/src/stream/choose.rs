//! Which layers make groups, in which strips, and where activations lie between them: dynamic
//! programming over the borders of groups.

use super::emit::Emitter;
use super::groups::{Border, Group};
use super::network::Network;
use crate::simulate::Direction;

/// Most layers of a group.
const MOST_LAYERS: usize = 14;

/// What a group or several cost: time, bytes written, bytes read.
pub type Price = [u64; 3];

/// The best way to a border.
#[derive(Clone)]
struct Way {
    price: Price,
    /// The last group, and where activations lie before it.
    last: Option<(Group, Border)>,
}

/// The groups of the layers before `tail`, for one frame, and from there on, for `together` frames,
/// that take least time within `sram` bytes, with what a batch costs; nothing if there are none.
pub fn choose(
    network: &Network,
    emitter: &Emitter<'_>,
    [sram, part]: [u64; 2],
    together: u32,
    (tail, waits): (usize, Border),
) -> Option<([Vec<Group>; 2], Price)> {
    // Frames that wait for the others may leave their activations in SRAM.
    let waiting: u64 = match waits {
        Border::Sram => network.live(tail).map(|layer| network.layers[layer].bytes()).sum(),
        Border::Card => 0,
    };
    let waiting = waiting.next_multiple_of(super::network::LINE) * u64::from(together - 1);
    let room = [sram.checked_sub(waiting)?, part];
    let (front, of_frame) = cheapest(network, emitter, room, 1, [0, tail], [Border::Sram, waits])?;
    let (ends, borders) = ([tail, network.layers.len()], [waits, Border::Sram]);
    let (back, of_all) = cheapest(network, emitter, [sram, part], together, ends, borders)?;
    let frames = u64::from(together);
    let price = [0, 1, 2].map(|part| of_frame[part].saturating_mul(frames) + of_all[part]);
    Some(([front, back], price))
}

/// The cheapest groups of some layers, with activations there before and behind them.
fn cheapest(
    network: &Network,
    emitter: &Emitter<'_>,
    room: [u64; 2],
    frames: u32,
    [start, end]: [usize; 2],
    [before, behind]: [Border; 2],
) -> Option<(Vec<Group>, Price)> {
    let borders = [Border::Sram, Border::Card];
    let mut ways: Vec<[Option<Way>; 2]> = vec![[None, None]; end - start + 1];
    ways[0][before as usize] = Some(Way { price: [0; 3], last: None });
    for first in start..end {
        for from in borders {
            let Some(before) = ways[first - start][from as usize].as_ref().map(|way| way.price)
            else {
                continue;
            };
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
                    let group = best(network, emitter, first..last, [from, to], frames, room);
                    let Some((price, group)) = group else { continue };
                    let price = [0, 1, 2].map(|part| before[part].saturating_add(price[part]));
                    let known = &mut ways[last - start][to as usize];
                    if known.as_ref().is_none_or(|known| price < known.price) {
                        *known = Some(Way { price, last: Some((group, from)) });
                    }
                }
                if last == first + 1 && network.layers[first].rows.is_none() {
                    break;
                }
            }
        }
    }
    let price = ways[end - start][behind as usize].as_ref()?.price;
    let mut groups = Vec::new();
    let (mut at, mut border) = (end, behind);
    while at > start {
        let (group, from) = ways[at - start][border as usize].take()?.last?;
        (at, border) = (group.layers.start, from);
        groups.push(group);
    }
    groups.reverse();
    Some((groups, price))
}

/// The cheapest strips of a group, with their price.
fn best(
    network: &Network,
    emitter: &Emitter<'_>,
    layers: std::ops::Range<usize>,
    borders: [Border; 2],
    frames: u32,
    room: [u64; 2],
) -> Option<(Price, Group)> {
    let height = network.layers[layers.end - 1].output[0].max(1);
    let in_strips = layers.len() > 1 || borders.contains(&Border::Card) || layers.start == 0;
    let powers = (0..6).map(|power| 1 << power).filter(|rows| *rows < height && in_strips);
    let whole = (layers.len() == 1).then_some(height);
    let halves = [height.div_ceil(2), height.div_ceil(3)].into_iter().filter(|_| in_strips);
    let mut best: Option<(Price, Group)> = None;
    for strip in whole.into_iter().chain(halves).chain(powers) {
        if layers.len() > 1 && strip >= height {
            continue;
        }
        let group = Group::new(network, layers.clone(), strip, borders, frames, room);
        let Some(group) = group else { continue };
        let price = price(network, emitter, &group, frames);
        if best.as_ref().is_none_or(|(known, _)| price < *known) {
            best = Some((price, group));
        }
    }
    best
}

/// What a group costs on its own.
fn price(network: &Network, emitter: &Emitter<'_>, group: &Group, frames: u32) -> Price {
    let transfers = emitter.transfers;
    let compute = group.layers.clone().map(|layer| network.layers[layer].cycles).sum::<u64>();
    let compute = compute.saturating_mul(frames.into());
    let strips = group.ends[0].len() as u64;
    let fetches = group.keeps.contains(&false);
    let jumps = group.inflows.len() as u64 + u64::from(fetches);
    let leaves = group.leaves.iter().filter(|leaves| **leaves).count() as u64;
    let command = |direction| transfers.command(1, direction) - transfers.more(1, direction);
    let commands = command(Direction::Read).0.saturating_mul(strips * jumps)
        + command(Direction::Write).0.saturating_mul(strips * leaves);
    let moved = transfers.more(group.read, Direction::Read)
        + transfers.more(group.written, Direction::Write);
    let moved = moved.0.saturating_add(commands);
    let time = match group.is_serial {
        true => compute.saturating_add(moved),
        false => compute.max(moved),
    };
    // Weights that stay must all have come before the second strip: while the core waits, as far as
    // the groups before have no more room to spare than this one.
    let kept = group.layers.clone().zip(&group.keeps).filter(|(_, keeps)| **keeps);
    let kept: u64 = kept.map(|(layer, _)| network.layers[layer].weights).sum();
    let kept = transfers.more(kept.saturating_sub(group.room), Direction::Read).0;
    // Writes wear the card: they count as if the core waited for them.
    let worn = transfers.more(group.written, Direction::Write).0;
    [time.saturating_add(kept).saturating_add(worn), group.written, group.read]
}
