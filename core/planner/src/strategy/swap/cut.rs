//! How many rows and channels tiles have, and what each needs.

use std::ops::Range;

use crate::schedule::cut::{Bring, Channels, Cut, Output, Stays, shared_input};
use crate::schedule::operator::{Operator, SECTOR, Tiny, is_on_card, sectors};
use crate::schedule::place::Pools;
use crate::schedule::work::Class;
use tilewright_plan::{Plan, Role, Space, View};

/// The memory that tiles come from.
const CARD: &[Space] = &[Space::Card];

/// The steps of a layer, all of which write one tensor.
pub struct Group<'o, 'p> {
    layer: u16,
    /// The number of its first operator.
    first: usize,
    parts: &'o [Operator<'p>],
    /// Where the tensor lies, its bytes and those of a row.
    space: Space,
    base: u64,
    bytes: u64,
    row_bytes: u64,
    rows: Range<u16>,
    /// Whether it can be made in parts of its rows.
    makes_rows: bool,
}

const fn length(range: &Range<u64>) -> u64 {
    range.end - range.start
}

/// The operand with weights, if they lie on the card.
fn weights(part: &Operator<'_>) -> Option<usize> {
    part.of_role(Role::Weights).find(|index| is_on_card(&part.views[*index]))
}

/// Least buffer for its weights: those of two channels or of a block, if channels can be parted.
fn least_for_weights(part: &Operator<'_>) -> u64 {
    let Some(weights) = weights(part) else { return 0 };
    let whole = length(&sectors(&part.views[weights]));
    if !part.makes_channels() || part.tile().channels <= together(part) {
        return whole;
    }
    let least = part.least_part() * u64::from(together(part) / part.least_channels());
    whole.min(least.next_multiple_of(SECTOR) + SECTOR)
}

/// Channels that buffers hold together: pairs, or a block of sparse ones.
fn together(part: &Operator<'_>) -> u32 {
    part.least_channels().max(2)
}

/// The channels of a run, of which as few as have their weights in a buffer of so many bytes make all.
fn channels(part: &Operator<'_>, buffer: u64) -> u32 {
    let all = part.tile().channels;
    let fits = |views: &[View], weights: usize| length(&sectors(&views[weights])) <= buffer;
    let Some(weights) = weights(part).filter(|weights| !fits(part.views, *weights)) else {
        return all;
    };
    if !part.makes_channels() {
        return all;
    }
    // The first and the last sector hold something of other filters.
    let together = together(part);
    let fitting = part.fitting(buffer.saturating_sub(SECTOR - 1) / SECTOR * SECTOR);
    let most = (fitting / together * together).clamp(together, all.max(together));
    let each = all.div_ceil(all.div_ceil(most)).next_multiple_of(together).min(most);
    // Of sparse filters some take more bytes than as many others.
    let fit = |each| part.parts(part.whole(), each).iter().all(|part| fits(&part.views, weights));
    if each == most || fit(each) { each } else { most }
}

impl<'o, 'p> Group<'o, 'p> {
    /// The layers of a lowered plan's program that have steps, in order, from its operators.
    pub fn of(plan: &Plan, operators: &'o [Operator<'p>]) -> Vec<Self> {
        let mut first = 0;
        let of_layer = operators.chunk_by(|one, next| one.step.layer == next.step.layer);
        let group = |parts: &'o [Operator<'p>]| {
            let number = first;
            first += parts.len();
            let layer = parts.first()?.step.layer;
            let tensor = plan.layers.get(usize::from(layer))?.writes.first()?;
            let tensor = plan.tensors.get(*tensor as usize)?;
            let output = parts.first()?.views.get(parts.first()?.output()?)?;
            let rows = parts.iter().map(Operator::rows);
            Some(Self {
                layer,
                first: number,
                space: tensor.space,
                base: tensor.offset,
                bytes: tensor.extent(),
                row_bytes: output.row_pitch.into(),
                rows: rows.reduce(|all, own| all.start.min(own.start)..all.end.max(own.end))?,
                makes_rows: parts.iter().all(Operator::makes_rows),
                parts,
            })
        };
        of_layer.filter_map(group).collect()
    }

    /// What tiles have multiples of as rows: whole sectors.
    fn unit(&self) -> u16 {
        let all = self.rows.end - self.rows.start;
        if !self.makes_rows {
            return all;
        }
        let unit = match self.space {
            Space::Card => SECTOR >> self.row_bytes.trailing_zeros().min(SECTOR.trailing_zeros()),
            _ => 1,
        };
        u16::try_from(unit).unwrap_or(u16::MAX).min(all)
    }

    /// Its tiles, of so many rows each, fewer in the last.
    fn tiles(&self, rows: u16) -> Vec<Range<u16>> {
        let mut tiles = Vec::new();
        let mut start = self.rows.start;
        while start < self.rows.end {
            let end = start.saturating_add(rows.max(1)).min(self.rows.end);
            tiles.push(start..end);
            start = end;
        }
        tiles
    }

    /// Bytes of the tensor that a tile makes.
    fn made(&self, tile: &Range<u16>) -> Range<u64> {
        let at = |row: u16| match row {
            row if row == self.rows.end => self.base + self.bytes,
            row => self.base + u64::from(row - self.rows.start) * self.row_bytes,
        };
        at(tile.start)..at(tile.end)
    }

    /// The largest buffer that tiles of so many rows need for an input or an output.
    fn needs(&self, rows: u16) -> u64 {
        let parts: Vec<&Operator<'_>> = self.parts.iter().collect();
        let needs = self.tiles(rows).into_iter().map(|tile| {
            let output = match self.space {
                Space::Card => length(&self.made(&tile)).next_multiple_of(SECTOR),
                _ => 0,
            };
            let inputs = self.parts.iter().filter_map(|part| {
                let Tiny { views, .. } = part.among(&tile)?;
                let inputs = part.of_role(Role::Input).map(|index| views[index]);
                inputs.filter(is_on_card).map(|view| length(&sectors(&view))).max()
            });
            let shared = shared_input(&parts, &tile, CARD, SECTOR).as_ref().map_or(0, length);
            inputs.max().unwrap_or(0).max(shared).max(output)
        });
        needs.max().unwrap_or(0)
    }

    /// Rows of a tile: as few tiles as have their inputs and outputs in a buffer of so many bytes,
    /// about alike.
    fn rows_in(&self, buffer: u64) -> u16 {
        let (unit, all) = (self.unit(), self.rows.end - self.rows.start);
        let rows = |units: u16| units.saturating_mul(unit).min(all);
        let (mut fits, mut too_many) = (1, all.div_ceil(unit) + 1);
        while too_many - fits > 1 {
            let middle = fits + (too_many - fits) / 2;
            if self.needs(rows(middle)) <= buffer { fits = middle } else { too_many = middle }
        }
        let alike = all.div_ceil(all.div_ceil(rows(fits))).next_multiple_of(unit).min(all);
        if self.needs(alike) <= buffer { alike } else { rows(fits) }
    }
    /// How it is cut for the buffers.
    pub fn cut(&self, pools: &Pools) -> Cut {
        let runs: Vec<u32> = self.parts.iter().map(|part| channels(part, pools.buffer)).collect();
        let count = |(part, each): (&Operator<'_>, &u32)| part.tile().channels.div_ceil(*each);
        let count: u32 = self.parts.iter().zip(&runs).map(count).sum();
        let holds = u64::from(count) <= pools.count(Class::Weights);
        let operators = (self.first..).zip(runs);
        Cut {
            operators: operators.map(|(operator, each)| Channels { operator, each }).collect(),
            rows: self.tiles(self.rows_in(pools.buffer)).iter().map(|t| t.end - t.start).collect(),
            inputs: Bring::CARD,
            weights: Bring { stays: if holds { Stays::Layer } else { Stays::Tile }, ..Bring::CARD },
            parameters: Bring::CARD,
            output: Output::Goes {
                to: Space::Card,
                most: u64::MAX,
                except: Vec::new(),
                gaps: true,
            },
            unit: SECTOR,
            stores_first: false,
        }
    }
}

/// The least buffer with which every layer can be cut, and the number of the layer that needs it.
pub fn least_buffer(groups: &[Group<'_, '_>]) -> (u64, usize) {
    let least = groups.iter().map(|group| {
        let weights = group.parts.iter().map(least_for_weights).max().unwrap_or(0);
        (group.needs(group.unit()).max(weights).next_multiple_of(SECTOR), usize::from(group.layer))
    });
    least.max_by_key(|(bytes, _)| *bytes).unwrap_or((SECTOR, 0))
}
