//! How layers are cut into tiles of rows and of channels, and what each tile needs.

use std::collections::BTreeMap;
use std::ops::Range;

use super::pools::Pools;
use crate::schedule::operator::{Operator, SECTOR, Tiny, is_on_card, sectors};
use crate::schedule::sequence::Place;
use crate::schedule::work::{Class, Flow, Operand, Residence, Task, Work};
use tilewright_plan::{Plan, Role, Space};

/// The steps of a layer, all of which write one tensor.
pub struct Group<'p> {
    layer: u16,
    parts: Vec<Operator<'p>>,
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

/// Least buffer for its weights: those of two channels, if channels can be parted.
fn least_for_weights(part: &Operator<'_>) -> u64 {
    let Some(weights) = weights(part) else { return 0 };
    let whole = length(&sectors(&part.views[weights]));
    if !part.makes_channels() || part.tile().channels <= 2 {
        return whole;
    }
    whole.min((2 * part.filter_bytes()).next_multiple_of(SECTOR) + SECTOR)
}

/// The runs of channels, as few as have their weights in a buffer of so many bytes.
fn channels(part: &Operator<'_>, buffer: u64) -> Vec<Range<u32>> {
    let all = part.tile().channels;
    let fits = |weights: usize| length(&sectors(&part.views[weights])) <= buffer;
    if weights(part).is_none_or(fits) || !part.makes_channels() {
        return std::iter::once(0..all).collect();
    }
    // The first and the last sector hold something of other filters.
    let fitting = buffer.saturating_sub(SECTOR - 1) / SECTOR * SECTOR / part.filter_bytes();
    let most = u32::try_from(fitting / 2 * 2).unwrap_or(u32::MAX).clamp(2, all.max(2));
    let count = all.div_ceil(most);
    let each = all.div_ceil(count).next_multiple_of(2).min(most);
    (0..all.div_ceil(each)).map(|n| n * each..((n + 1) * each).min(all)).collect()
}

impl<'p> Group<'p> {
    /// The layers of a lowered plan's program that have steps, in order.
    pub fn of(plan: &'p Plan) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        for part in Operator::of(plan) {
            let (number, rows, makes_rows) = (part.step.layer, part.rows(), part.makes_rows());
            match groups.last_mut().filter(|group| group.layer == number) {
                Some(group) => {
                    group.rows = group.rows.start.min(rows.start)..group.rows.end.max(rows.end);
                    group.makes_rows &= makes_rows;
                    group.parts.push(part);
                }
                None => {
                    let layer = plan.layers.get(usize::from(number));
                    let tensor = layer.and_then(|layer| layer.writes.first());
                    let tensor = tensor.and_then(|index| plan.tensors.get(*index as usize));
                    let output = part.output().map(|index| &part.views[index]);
                    let (Some(tensor), Some(output)) = (tensor, output) else { continue };
                    groups.push(Self {
                        layer: number,
                        space: tensor.space,
                        base: tensor.offset,
                        bytes: tensor.extent(),
                        row_bytes: output.row_pitch.into(),
                        rows,
                        makes_rows,
                        parts: vec![part],
                    });
                }
            }
        }
        groups
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

    /// The sectors of the card that the steps of a tile read as their inputs, if there are several steps
    /// and their inputs lie among each other: groups of channels.
    fn shared_input(&self, tile: &Range<u16>) -> Option<Range<u64>> {
        if self.parts.len() < 2 {
            return None;
        }
        let inputs = self.parts.iter().map(|part| {
            let Tiny { views, .. } = part.among(tile)?;
            let mut inputs = part.of_role(Role::Input).map(|index| views[index]);
            inputs
                .next()
                .filter(is_on_card)
                .filter(|_| inputs.next().is_none())
                .map(|v| sectors(&v))
        });
        let both = |all: Range<u64>, next: Range<u64>| {
            let meet = all.start < next.end && next.start < all.end;
            meet.then(|| all.start.min(next.start)..all.end.max(next.end))
        };
        inputs.reduce(|all, next| both(all?, next?)).flatten()
    }

    /// The largest buffer that tiles of so many rows need for an input or an output.
    fn needs(&self, rows: u16) -> u64 {
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
            let shared = self.shared_input(&tile).as_ref().map_or(0, length);
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
}

/// The least buffer with which every layer can be cut, and the number of the layer that needs it.
pub fn least_buffer(groups: &[Group<'_>]) -> (u64, usize) {
    let least = groups.iter().map(|group| {
        let weights = group.parts.iter().map(least_for_weights).max().unwrap_or(0);
        (group.needs(group.unit()).max(weights).next_multiple_of(SECTOR), usize::from(group.layer))
    });
    least.max_by_key(|(bytes, _)| *bytes).unwrap_or((SECTOR, 0))
}

/// The tiles of all layers, in order.
#[derive(Default)]
struct Tiles {
    work: Work,
    /// Where the bytes of each store end, and its number, by where they begin; without those that another
    /// has overwritten.
    stored: BTreeMap<u64, (u64, usize)>,
}

impl Tiles {
    /// A residence for these sectors of the card, of which no task is known yet.
    fn add(&mut self, bytes: &Range<u64>, class: Class, flow: Flow, layer: u16) -> usize {
        let home = Place { space: Space::Card, offset: bytes.start };
        let (bytes, uses) = (length(bytes), [self.work.tasks.len() as u32; 2]);
        self.work.residences.push(Residence { home, bytes, class, flow, uses, layer, frame: 0 });
        self.work.residences.len() - 1
    }

    /// A load of whole sectors.
    fn load(&mut self, bytes: &Range<u64>, class: Class, layer: u16) -> usize {
        let before = self.stored.range(..bytes.end).rev();
        let met = before.take_while(|(_, (end, _))| *end > bytes.start);
        let behind = met.map(|(_, (_, store))| *store).max();
        self.add(bytes, class, Flow::Comes { behind }, layer)
    }

    /// A store, over what dead tensors left.
    fn store(&mut self, bytes: &Range<u64>, layer: u16) -> usize {
        let over: Vec<u64> = self.stored.range(bytes.clone()).map(|(start, _)| *start).collect();
        for start in over {
            self.stored.remove(&start);
        }
        if let Some((_, (end, _))) = self.stored.range_mut(..bytes.start).next_back() {
            *end = (*end).min(bytes.start);
        }
        let store = self.add(bytes, Class::Output, Flow::Goes { first: false }, layer);
        self.stored.insert(bytes.start, (bytes.end, store));
        store
    }

    fn group(&mut self, group: &Group<'_>, pools: &Pools) {
        let layer = group.layer;
        let mut held: BTreeMap<(usize, u32), usize> = BTreeMap::new();
        let runs: Vec<_> = group.parts.iter().map(|part| channels(part, pools.buffer)).collect();
        let count: usize = runs.iter().map(Vec::len).sum();
        let holds = count as u64 <= pools.count(Class::Weights);
        for rows in group.tiles(group.rows_in(pools.buffer)) {
            let made = group.made(&rows);
            let shared = group.shared_input(&rows);
            let shared = shared.map(|bytes| self.load(&bytes, Class::Input, layer));
            let mut tasks = Vec::new();
            for (nth, (part, runs)) in group.parts.iter().zip(&runs).enumerate() {
                let Some(tiny) = part.among(&rows) else { continue };
                let inputs: Vec<Operand> = part
                    .of_role(Role::Input)
                    .enumerate()
                    .filter(|(_, index)| is_on_card(&tiny.views[*index]))
                    .map(|(nth, index)| {
                        let class = if nth == 0 { Class::Input } else { Class::Weights };
                        let load = || self.load(&sectors(&tiny.views[index]), class, layer);
                        Operand { index, residence: shared.unwrap_or_else(load) }
                    })
                    .collect();
                for run in runs {
                    let Some(tiny) = part.narrowed(&tiny, run.clone()) else { continue };
                    let mut operands = inputs.clone();
                    if let Some(index) = weights(part) {
                        let key = (nth, run.start);
                        let known = held.get(&key).copied().filter(|_| holds);
                        let new = || self.load(&sectors(&tiny.views[index]), Class::Weights, layer);
                        let residence = known.unwrap_or_else(new);
                        held.insert(key, residence);
                        operands.push(Operand { index, residence });
                    }
                    tasks.push((part.output(), Task::of(part, tiny, operands)));
                }
            }
            let output = (group.space == Space::Card && !tasks.is_empty())
                .then(|| self.store(&(made.start..made.end.next_multiple_of(SECTOR)), layer));
            for (index, mut task) in tasks {
                let operand =
                    index.zip(output).map(|(index, residence)| Operand { index, residence });
                task.operands.extend(operand);
                let number = self.work.tasks.len() as u32;
                for operand in &task.operands {
                    self.work.residences[operand.residence].uses[1] = number;
                }
                self.work.tasks.push(task);
            }
        }
    }
}

/// Cuts all layers for buffers of one size.
pub fn cut(groups: &[Group<'_>], pools: &Pools) -> Work {
    let mut tiles = Tiles::default();
    for group in groups {
        tiles.group(group, pools);
    }
    tiles.work
}
