//! How layers are cut into tiles of rows and of channels, and what each tile needs.

use std::collections::BTreeMap;
use std::ops::Range;

use super::SECTOR;
use super::pools::{Pool, Pools};
use tilewright_plan::kernel::CHANNEL_CONSTANT_BYTES;
use tilewright_plan::rows::Row;
use tilewright_plan::{Instruction, Kernel, Op, Plan, Role, Space, Tile, View};

/// A step of the lowered plan: whole operands, most of them on the card.
struct Part<'p> {
    op: u32,
    record: &'p Op,
    kernel: Kernel,
    tile: &'p Tile,
    views: &'p [View],
}

/// The steps of a layer, all of which write one tensor.
pub struct Group<'p> {
    layer: u16,
    parts: Vec<Part<'p>>,
    /// Where the tensor lies, its bytes and those of a row.
    space: Space,
    base: u64,
    bytes: u64,
    row_bytes: u64,
    rows: Range<u16>,
    /// Whether it can be made in parts of its rows.
    makes_rows: bool,
}

/// Bytes of the card that are read to a buffer.
#[derive(Clone, Debug)]
pub struct Load {
    /// The bytes, whole sectors.
    pub bytes: Range<u64>,
    /// The pool.
    pub pool: Pool,
    /// Which turn of the pool.
    pub turn: u64,
    /// The layer that needs them.
    pub layer: u16,
    /// The last of the works that use them.
    pub last: usize,
    /// The store that must have been made before, by its number.
    pub behind: Option<usize>,
}

/// Bytes of a buffer that are written to the card behind a work.
#[derive(Clone, Debug)]
pub struct Store {
    /// The bytes of the card, whole sectors.
    pub bytes: Range<u64>,
    /// Which turn of the pool of outputs.
    pub turn: u64,
    /// The layer that made them.
    pub layer: u16,
}

/// A compute step with its operands where they will be then.
#[derive(Clone, Debug)]
pub struct Work {
    /// Its op.
    pub op: u32,
    /// Its layer.
    pub layer: u16,
    /// Its tile.
    pub tile: Tile,
    /// Its operands.
    pub views: Vec<View>,
    /// The loads that it needs, by their numbers.
    pub loads: Vec<usize>,
    /// The store behind it, by its number.
    pub store: Option<usize>,
}

/// Whole sectors that hold a view's bytes.
fn sectors(view: &View) -> Range<u64> {
    let start = u64::from(view.offset);
    start / SECTOR * SECTOR..(start + view.extent()).next_multiple_of(SECTOR)
}

const fn length(range: &Range<u64>) -> u64 {
    range.end - range.start
}

fn on_card(view: &View) -> bool {
    view.space() == Some(Space::Card)
}

impl Part<'_> {
    fn operands(&self, wanted: Role) -> impl Iterator<Item = usize> {
        let roles = self.kernel.roles().iter().enumerate();
        roles.filter(move |(_, role)| **role == wanted).map(|(index, _)| index)
    }

    /// Rows of the output that it makes.
    fn rows(&self) -> Range<u16> {
        let start = self.tile.output_start[0];
        start..start + self.tile.output_size[0]
    }

    /// Its tile and operands for some rows of the output; nothing if it makes none of them.
    fn made(&self, rows: &Range<u16>) -> Option<(Tile, Vec<View>)> {
        let own = self.rows();
        let rows = rows.start.max(own.start)..rows.end.min(own.end);
        if rows == own {
            return Some((*self.tile, self.views.to_vec()));
        }
        let made = (!rows.is_empty())
            .then(|| Row::several(self.record, self.tile, self.views, rows))
            .flatten()?;
        Some((made.tile, made.operands().to_vec()))
    }

    /// Whether parts of the channels have their weights in one run of bytes.
    fn makes_channels(&self) -> bool {
        match self.kernel {
            Kernel::Conv => self.record.groups == 1,
            Kernel::FullyConnected | Kernel::TransposeConv => true,
            _ => false,
        }
    }

    /// The operand with weights, if they lie on the card.
    fn weights(&self) -> Option<usize> {
        self.operands(Role::Weights).find(|index| on_card(&self.views[*index]))
    }

    /// Bytes of a filter.
    fn filter_bytes(&self) -> u64 {
        self.record.filters_for(&self.views[0]).bytes.max(1)
    }

    /// Least buffer for its weights: those of two channels, if channels can be parted.
    fn least_for_weights(&self) -> u64 {
        let Some(weights) = self.weights() else { return 0 };
        let whole = length(&sectors(&self.views[weights]));
        if !self.makes_channels() || self.tile.channels <= 2 {
            return whole;
        }
        whole.min((2 * self.filter_bytes()).next_multiple_of(SECTOR) + SECTOR)
    }

    /// The runs of channels, as few as have their weights in a buffer of so many bytes.
    fn channels(&self, buffer: u64) -> Vec<Range<u32>> {
        let all = self.tile.channels;
        let fits = |weights: usize| length(&sectors(&self.views[weights])) <= buffer;
        if self.weights().is_none_or(fits) || !self.makes_channels() {
            return std::iter::once(0..all).collect();
        }
        // The first and the last sector hold something of other filters.
        let fitting = buffer.saturating_sub(SECTOR - 1) / SECTOR * SECTOR / self.filter_bytes();
        let most = u32::try_from(fitting / 2 * 2).unwrap_or(u32::MAX).clamp(2, all.max(2));
        let count = all.div_ceil(most);
        let each = all.div_ceil(count).next_multiple_of(2).min(most);
        (0..all.div_ceil(each)).map(|n| n * each..((n + 1) * each).min(all)).collect()
    }

    /// A tile and its operands, for some channels of the output.
    fn narrowed(&self, tile: &Tile, views: &[View], channels: &Range<u32>) -> (Tile, Vec<View>) {
        let count = channels.end - channels.start;
        if count == tile.channels {
            return (*tile, views.to_vec());
        }
        let filters = self.record.filters_for(&self.views[0]);
        let part = |view: &View, start: u64, bytes: u64| View {
            offset: view.offset + start as u32,
            ..View::bytes(view.space().unwrap_or(Space::Card), 0, bytes as u32)
        };
        let narrow = |(role, view): (&Role, &View)| match role {
            Role::Input => *view,
            Role::Output => View { offset: view.offset + channels.start, c: count, ..*view },
            Role::Weights => {
                let start = filters.bytes * u64::from(channels.start);
                part(view, start, filters.all_bytes(count.into()).unwrap_or(0))
            }
            Role::Constants => {
                let start = u64::from(channels.start) * CHANNEL_CONSTANT_BYTES;
                part(view, start, u64::from(count) * CHANNEL_CONSTANT_BYTES)
            }
        };
        let channel_start = tile.channel_start + channels.start;
        let tile = Tile { channel_start, channels: count, ..*tile };
        (tile, self.kernel.roles().iter().zip(views).map(narrow).collect())
    }
}

impl<'p> Group<'p> {
    /// The layers of a lowered plan's program that have steps, in order.
    pub fn of(plan: &'p Plan) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        let core = plan.programs.first().and_then(|program| program.lanes.first());
        for step in core.iter().flat_map(|lane| &lane.steps) {
            let Instruction::Compute { op, tile, first_view, .. } = step.instruction else {
                continue;
            };
            let operands = plan.operands(op, first_view);
            let (Some((record, views)), Some(tile)) = (operands, plan.tiles.get(tile as usize))
            else {
                continue;
            };
            let Some(kernel) = record.kernel() else { continue };
            let part = Part { op, record, kernel, tile, views };
            let rows = part.rows();
            let makes_rows = kernel.makes_rows();
            match groups.last_mut().filter(|group| group.layer == step.layer) {
                Some(group) => {
                    group.rows = group.rows.start.min(rows.start)..group.rows.end.max(rows.end);
                    group.makes_rows &= makes_rows;
                    group.parts.push(part);
                }
                None => {
                    let layer = plan.layers.get(usize::from(step.layer));
                    let tensor = layer.and_then(|layer| layer.writes.first());
                    let tensor = tensor.and_then(|index| plan.tensors.get(*index as usize));
                    let output = part.operands(Role::Output).next().map(|index| &views[index]);
                    let (Some(tensor), Some(output)) = (tensor, output) else { continue };
                    groups.push(Self {
                        layer: step.layer,
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
            let (_, views) = part.made(tile)?;
            let mut inputs = part.operands(Role::Input).map(|index| views[index]);
            inputs.next().filter(on_card).filter(|_| inputs.next().is_none()).map(|v| sectors(&v))
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
                let (_, views) = part.made(&tile)?;
                let inputs = part.operands(Role::Input).map(|index| views[index]);
                inputs.filter(on_card).map(|view| length(&sectors(&view))).max()
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
        let weights = group.parts.iter().map(Part::least_for_weights).max().unwrap_or(0);
        (group.needs(group.unit()).max(weights).next_multiple_of(SECTOR), usize::from(group.layer))
    });
    least.max_by_key(|(bytes, _)| *bytes).unwrap_or((SECTOR, 0))
}

/// The tiles of all layers, in order.
#[derive(Debug, Default)]
struct Tiles {
    works: Vec<Work>,
    loads: Vec<Load>,
    stores: Vec<Store>,
    /// Where the bytes of each store end, and its number, by where they begin; without those that another
    /// has overwritten.
    stored: BTreeMap<u64, (u64, usize)>,
    /// Turns of each pool so far.
    turns: [u64; 3],
}

impl Tiles {
    fn turn(&mut self, pool: Pool) -> u64 {
        let turn = &mut self.turns[pool as usize];
        *turn += 1;
        *turn - 1
    }

    /// A load of whole sectors.
    fn load(&mut self, bytes: Range<u64>, pool: Pool, layer: u16) -> usize {
        let before = self.stored.range(..bytes.end).rev();
        let met = before.take_while(|(_, (end, _))| *end > bytes.start);
        let behind = met.map(|(_, (_, store))| *store).max();
        let turn = self.turn(pool);
        self.loads.push(Load { bytes, pool, turn, layer, last: 0, behind });
        self.loads.len() - 1
    }

    /// Notes the next store, over what dead tensors left.
    fn store(&mut self, bytes: &Range<u64>) {
        let over: Vec<u64> = self.stored.range(bytes.clone()).map(|(start, _)| *start).collect();
        for start in over {
            self.stored.remove(&start);
        }
        if let Some((_, (end, _))) = self.stored.range_mut(..bytes.start).next_back() {
            *end = (*end).min(bytes.start);
        }
        self.stored.insert(bytes.start, (bytes.end, self.stores.len()));
    }

    fn group(&mut self, group: &Group<'_>, pools: &Pools) {
        let layer = group.layer;
        let mut held: BTreeMap<(usize, u32), usize> = BTreeMap::new();
        let channels: Vec<_> = group.parts.iter().map(|part| part.channels(pools.buffer)).collect();
        let weights: usize = channels.iter().map(Vec::len).sum();
        let holds = weights as u64 <= pools.count(Pool::Weights);
        for rows in group.tiles(group.rows_in(pools.buffer)) {
            let output = (group.space == Space::Card).then(|| self.turn(Pool::Output));
            let made = group.made(&rows);
            let shared = group.shared_input(&rows);
            let shared = shared.map(|bytes| self.load(bytes, Pool::Input, layer));
            for (nth, (part, channels)) in group.parts.iter().zip(&channels).enumerate() {
                let Some((tile, views)) = part.made(&rows) else { continue };
                let inputs: Vec<(usize, usize)> = part
                    .operands(Role::Input)
                    .enumerate()
                    .filter(|(_, index)| on_card(&views[*index]))
                    .map(|(nth, index)| {
                        let pool = if nth == 0 { Pool::Input } else { Pool::Weights };
                        let load = || self.load(sectors(&views[index]), pool, layer);
                        (index, shared.unwrap_or_else(load))
                    })
                    .collect();
                for channels in channels {
                    let (tile, mut views) = part.narrowed(&tile, &views, channels);
                    let mut loads = inputs.clone();
                    if let Some(index) = part.weights() {
                        let part = (nth, channels.start);
                        let known = held.get(&part).copied().filter(|_| holds);
                        let new = || self.load(sectors(&views[index]), Pool::Weights, layer);
                        let load = known.unwrap_or_else(new);
                        held.insert(part, load);
                        loads.push((index, load));
                    }
                    for (index, load) in &loads {
                        let Load { bytes, pool, turn, .. } = &self.loads[*load];
                        let inside = u64::from(views[*index].offset) - bytes.start;
                        moved(&mut views[*index], pools.place(*pool, *turn) + inside);
                    }
                    if let Some(turn) = output {
                        for index in part.operands(Role::Output) {
                            let inside = u64::from(views[index].offset) - made.start;
                            moved(&mut views[index], pools.place(Pool::Output, turn) + inside);
                        }
                    }
                    let number = self.works.len();
                    let loads: Vec<usize> = loads.into_iter().map(|(_, load)| load).collect();
                    for load in &loads {
                        self.loads[*load].last = number;
                    }
                    self.works.push(Work { op: part.op, layer, tile, views, loads, store: None });
                }
            }
            if let (Some(turn), Some(work)) = (output, self.works.last_mut()) {
                let bytes = made.start..made.end.next_multiple_of(SECTOR);
                work.store = Some(self.stores.len());
                self.store(&bytes);
                self.stores.push(Store { bytes, turn, layer });
            }
        }
    }
}

/// Lets a view lie in the arena.
fn moved(view: &mut View, offset: u64) {
    (view.space, view.offset) = (Space::Arena as u8, offset as u32);
}

/// Cuts all layers for buffers of one size.
pub fn cut(groups: &[Group<'_>], pools: &Pools) -> (Vec<Work>, Vec<Load>, Vec<Store>) {
    let mut tiles = Tiles::default();
    for group in groups {
        tiles.group(group, pools);
    }
    (tiles.works, tiles.loads, tiles.stores)
}
