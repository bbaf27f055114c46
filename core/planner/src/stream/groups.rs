//! Layers that go through their rows together: what they hold in SRAM, and what they move.

use std::ops::Range;

use super::network::{BLOCK, LINE, Layer, Network, row_bytes, volume};

/// Sizes that parts of weights are cut to, the largest of which there is room for many; bytes.
const PARTS: [u64; 3] = [32 << 10, 16 << 10, 8 << 10];
/// How many parts are many.
const MANY: u64 = 4;

/// Where the activations at a border of groups lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Border {
    /// In SRAM.
    Sram = 0,
    /// On the card.
    Card = 1,
}

/// An operand that comes from the card in rows.
#[derive(Clone, Debug)]
pub struct Inflow {
    /// The layer that reads it, and which operand it is.
    pub reader: (usize, usize),
    /// Rows that have come after each strip.
    pub ends: Vec<u32>,
    /// Rows of its buffer.
    pub rows: u32,
}

/// Layers with what they hold.
#[derive(Clone, Debug)]
pub struct Group {
    /// The layers.
    pub layers: Range<usize>,
    /// For each layer the rows of its output that are made after each strip.
    pub ends: Vec<Vec<u32>>,
    /// For each layer the rows of its buffer: all if the whole output stays.
    pub rows: Vec<u32>,
    /// Operands from the card.
    pub inflows: Vec<Inflow>,
    /// For each layer whether its weights stay for all strips.
    pub keeps: Vec<bool>,
    /// For each layer whether its output leaves for the card.
    pub leaves: Vec<bool>,
    /// Bytes read and written.
    pub read: u64,
    /// Bytes written.
    pub written: u64,
    /// Bytes of the parts that weights are cut to.
    pub part: u64,
    /// Bytes that parts of weights that come and go may take.
    pub room: u64,
    /// Whether there is no room for a part while another is in use.
    pub is_serial: bool,
}

/// Bytes of a row in a buffer that the card fills or empties by rows.
pub const fn pitch(row: u64) -> u64 {
    row.next_multiple_of(LINE)
}

impl Group {
    /// The group of `layers` in strips of `strip` rows of the last one, for `frames` at once, within
    /// `sram` bytes; nothing if they do not fit, or cannot be made so.
    pub fn new(
        network: &Network,
        layers: Range<usize>,
        strip: u32,
        [from, to]: [Border; 2],
        frames: u32,
        sram: u64,
    ) -> Option<Self> {
        let height = network.layers[layers.end - 1].output[0].max(1);
        let strips = height.div_ceil(strip.clamp(1, height)) as usize;
        if strips > 1 && layers.clone().any(|layer| network.layers[layer].rows.is_none()) {
            return None;
        }
        let through = |layer: &usize| network.last_use[*layer] > layers.end;
        let held = network.live(layers.start);
        let (mut kept, mut is_torn) = (0, false);
        for layer in held {
            is_torn |= from != to && through(&layer);
            if from == Border::Sram {
                kept += network.layers[layer].bytes().next_multiple_of(LINE);
            }
        }
        // What is on the card and only passes by takes no room.
        if is_torn {
            return None;
        }
        let ends = ends(network, &layers, strips, strip);
        let mut group = Self {
            keeps: vec![false; layers.len()],
            leaves: vec![false; layers.len()],
            rows: Vec::with_capacity(layers.len()),
            inflows: Vec::new(),
            read: 0,
            written: 0,
            part: 0,
            room: 0,
            is_serial: false,
            ends,
            layers,
        };
        let own = group.buffers(network, [from, to]);
        let held = (kept + own).checked_mul(frames.into())?;
        group.room = sram.checked_sub(held)?;
        group.keep(network, strips as u64)?;
        Some(group)
    }

    /// Rows of all buffers; gives their bytes.
    fn buffers(&mut self, network: &Network, [from, to]: [Border; 2]) -> u64 {
        let layers = self.layers.clone();
        let strips = self.ends[0].len();
        let mut bytes = 0;
        for (place, index) in layers.clone().enumerate() {
            let layer = &network.layers[index];
            let height = layer.output[0];
            let stays = network.last_use[index] > layers.end;
            self.leaves[place] = stays && to == Border::Card;
            let readers = network.readers[index].iter().filter(|(r, _)| layers.contains(r));
            let first = |strip: usize| {
                let first = readers.clone().map(|(reader, _)| {
                    let ends = &self.ends[reader - layers.start];
                    let rows = network.layers[*reader].rows;
                    let from = strip.checked_sub(1).map_or(0, |before| ends[before]);
                    rows.map_or(0, |rows| rows.first(from, height))
                });
                first.min()
            };
            let rows = if strips == 1 || (stays && to == Border::Sram) {
                height
            } else {
                held(&self.ends[place], first, self.leaves[place]).min(height)
            };
            self.rows.push(rows);
            if self.leaves[place] {
                self.written += layer.bytes();
                bytes += u64::from(rows) * pitch(layer.row_bytes());
            } else {
                bytes += (u64::from(rows) * layer.row_bytes()).next_multiple_of(LINE);
            }
            for (number, operand) in layer.operands.iter().enumerate() {
                let comes = match operand.producer {
                    None => true,
                    Some(producer) => producer < layers.start && from == Border::Card,
                };
                if !comes {
                    continue;
                }
                let height = operand.shape[0].max(1);
                let made = &self.ends[place];
                let end = |strip: usize| match layer.rows {
                    Some(rows) if strip + 1 < strips => rows.end(made[strip], height),
                    _ => height,
                };
                let ends: Vec<u32> = (0..strips).map(end).collect();
                let first = |strip: usize| {
                    let from = strip.checked_sub(1).map_or(0, |before| made[before]);
                    Some(layer.rows.map_or(0, |rows| rows.first(from, height)))
                };
                let rows = if strips == 1 { height } else { held(&ends, first, true).min(height) };
                bytes += u64::from(rows) * pitch(row_bytes(operand.shape));
                self.read += volume(operand.shape);
                self.inflows.push(Inflow { reader: (index, number), ends, rows });
            }
        }
        bytes
    }

    /// Decides which weights stay, and into which parts they are cut: the larger, the fewer steps; but
    /// the smaller, the sooner room that a part leaves is filled again. Nothing if there is no room.
    fn keep(&mut self, network: &Network, strips: u64) -> Option<()> {
        let [.., least] = PARTS;
        let ways = PARTS.map(|part| (part, MANY)).into_iter().chain([(least, 2), (least, 1)]);
        let kept = |(part, parts)| Some((part, parts, self.kept(network, part, strips, parts)?));
        let (part, parts, (keeps, room)) = ways.into_iter().find_map(kept)?;
        let of_layers = network.layers[self.layers.clone()].iter().zip(&keeps);
        let read = |(layer, keeps): (&Layer, &bool)| {
            layer.padded(part).saturating_mul(if *keeps { 1 } else { strips })
        };
        self.read += of_layers.map(read).sum::<u64>();
        self.is_serial = parts < 2;
        (self.part, self.keeps, self.room) = (part, keeps, room);
        Some(())
    }

    /// Which weights stay in parts of about `part` bytes, and the room that is left then, which holds
    /// at least so many parts of the others; nothing if there is less.
    fn kept(
        &self,
        network: &Network,
        part: u64,
        strips: u64,
        parts: u64,
    ) -> Option<(Vec<bool>, u64)> {
        let of = |place: usize| &network.layers[self.layers.start + place];
        let size = |place: usize| of(place).padded(part);
        let count = self.layers.len();
        let total: u64 = (0..count).map(size).sum();
        let largest = |keeps: &[bool]| {
            let parts = (0..count).filter(|place| !keeps[*place]).map(|place| of(place).part(part));
            parts.max().unwrap_or(0).next_multiple_of(BLOCK)
        };
        let mut keeps = vec![false; count];
        let mut room = self.room;
        if strips > 1 && total <= room {
            keeps = vec![true; count];
            room -= total;
        } else if strips > 1 {
            // Those that come again cost the more the larger they are.
            let mut order: Vec<usize> = (0..count).filter(|p| of(*p).weights > 0).collect();
            order.sort_by_key(|place| (std::cmp::Reverse(size(*place)), *place));
            for place in order {
                keeps[place] = true;
                if room >= size(place) + parts.max(2) * largest(&keeps) {
                    room -= size(place);
                } else {
                    keeps[place] = false;
                }
            }
        }
        (parts * largest(&keeps) <= room).then_some((keeps, room))
    }
}

/// Rows that a buffer holds: of what is made or comes in a strip and is needed by later ones; besides
/// the next strip's, if rows come or go while others are in use.
fn held(ends: &[u32], first: impl Fn(usize) -> Option<u32>, is_doubled: bool) -> u32 {
    let before = |strip: usize| strip.checked_sub(1).map_or(0, |before| ends[before]);
    let fresh = (0..ends.len()).map(|strip| ends[strip] - before(strip)).max().unwrap_or(0);
    let needed = |strip: usize| {
        let first = first(strip).map_or(before(strip), |first| first.min(before(strip)));
        ends[strip] - first
    };
    let needed = (0..ends.len()).map(needed).max().unwrap_or(0);
    if is_doubled { needed + fresh } else { needed }
}

/// For each layer of a group the rows that are made after each strip.
fn ends(network: &Network, layers: &Range<usize>, strips: usize, strip: u32) -> Vec<Vec<u32>> {
    let mut ends: Vec<Vec<u32>> = vec![Vec::new(); layers.len()];
    for index in layers.clone().rev() {
        let height = network.layers[index].output[0];
        let readers = network.readers[index].iter().filter(|(reader, _)| layers.contains(reader));
        let is_last = index + 1 == layers.end || readers.clone().next().is_none();
        let end = |at: usize| {
            let done = (at as u64 + 1).saturating_mul(strip.into());
            if at + 1 == strips {
                return height;
            }
            if index + 1 == layers.end {
                return done.min(height.into()) as u32;
            }
            if is_last {
                return (u64::from(height) * (at as u64 + 1) / strips as u64) as u32;
            }
            let needed = readers.clone().map(|(reader, _)| {
                let made = ends[reader - layers.start][at];
                network.layers[*reader].rows.map_or(height, |rows| rows.end(made, height))
            });
            needed.max().unwrap_or(height)
        };
        ends[index - layers.start] = (0..strips).map(end).collect();
    }
    ends
}
