//! A step of a plan as it is cut: into rows of its output, and into parts of its channels.

use crate::narrow::narrow;
use std::ops::Range;

use crate::strategy::external::LINE;
use tilewright_plan::kernel::CHANNEL_CONSTANT_BYTES;
use tilewright_plan::rows::Row;
use tilewright_plan::spec::Reach;
use tilewright_plan::{
    ConstantRole, Instruction, Kernel, Op, Plan, Role, RowOrder, Space, SparseCuts, Step, Tile,
    View,
};

/// A step that makes all of a layer, or of a group of its channels, with whole operands.
pub struct Operator<'p> {
    /// The step.
    pub step: &'p Step,
    /// Index of its op.
    pub op: u32,
    /// The order of its rows: if it has one, operands lie over each other, so that it is not cut.
    pub order: RowOrder,
    record: &'p Op,
    kernel: Kernel,
    tile: &'p Tile,
    /// Where its weights are cut, if they are sparse.
    cuts: Option<&'p SparseCuts>,
    /// Its operands.
    pub views: &'p [View],
}

/// A part of an operator's work: a tile with the operands that it needs, where they lie.
#[derive(Clone, Debug)]
pub struct Tiny {
    /// The tile.
    pub tile: Tile,
    /// Its operands.
    pub views: Vec<View>,
}

/// Bytes of a card's sector.
pub const SECTOR: u64 = 512;

/// The sectors that hold an operand.
pub fn sectors(view: &View) -> Range<u64> {
    let start = u64::from(view.offset);
    start / SECTOR * SECTOR..(start + view.extent()).next_multiple_of(SECTOR)
}

/// Whether an operand lies on a card.
pub fn is_on_card(view: &View) -> bool {
    view.space() == Some(Space::Card)
}

impl<'p> Operator<'p> {
    /// The operators of a plan's program, in order.
    pub fn of(plan: &'p Plan) -> Vec<Self> {
        let program = plan.main.as_ref();
        let core = program.and_then(|program| program.lanes.first());
        let steps = core.map_or(&[][..], |lane| &lane.steps);
        let operator = |step: &'p Step| {
            let Instruction::Compute { op, tile, first_view, order } = step.instruction else {
                return None;
            };
            let (record, views) = plan.operands(op, first_view)?;
            let (kernel, tile) = (record.kernel()?, plan.tiles.get(tile as usize)?);
            let blocks = || plan.constants.iter().filter(|c| c.role == ConstantRole::Weights);
            let of_op = || blocks().find(|block| block.readers().any(|reader| reader.op == op));
            let cuts = record.is_sparse().then(of_op).flatten().and_then(|c| c.cuts.as_ref());
            Some(Self { step, op, order, record, kernel, tile, cuts, views })
        };
        steps.iter().filter_map(operator).collect()
    }

    /// All that it makes.
    pub const fn tile(&self) -> Tile {
        *self.tile
    }

    /// Its op.
    pub const fn record(&self) -> &Op {
        self.record
    }

    /// The roles of its operands.
    pub fn roles(&self) -> &'static [Role] {
        self.kernel.roles()
    }

    /// Inputs that are fetched: those outside of the chip.
    pub fn inputs(&self) -> impl Iterator<Item = usize> {
        self.operands(Role::Input)
    }

    /// The operands of a role that lie outside of the chip where the core reaches them.
    pub fn operands(&self, wanted: Role) -> impl Iterator<Item = usize> {
        self.of_role(wanted).filter(|index| {
            let space = self.views[*index].space();
            matches!(space, Some(Space::ExternalRam | Space::ExternalFlash))
        })
    }

    /// All operands of a role.
    pub fn of_role(&self, wanted: Role) -> impl Iterator<Item = usize> {
        let roles = self.roles().iter().enumerate();
        roles.filter(move |(_, role)| **role == wanted).map(|(index, _)| index)
    }

    /// All that it makes, with its whole operands.
    pub fn whole(&self) -> Tiny {
        Tiny { tile: *self.tile, views: self.views.to_vec() }
    }

    /// Rows of the output that it makes.
    pub fn rows(&self) -> Range<u16> {
        let start = self.tile.output_start[0];
        start..start + self.tile.output_size[0]
    }

    /// Those of some rows of the output that it makes; nothing if it makes none of them.
    pub fn among(&self, rows: &Range<u16>) -> Option<Tiny> {
        let own = self.rows();
        let rows = rows.start.max(own.start)..rows.end.min(own.end);
        if rows == own {
            return Some(self.whole());
        }
        if rows.is_empty() { None } else { self.made(rows) }
    }

    /// Whether its kernel makes any rows of its output alone.
    pub const fn makes_rows(&self) -> bool {
        self.kernel.makes_rows()
    }

    /// Whether parts of the channels have their weights in one run of bytes.
    pub fn makes_channels(&self) -> bool {
        self.kernel.spec().makes_channels && self.record.groups == 1
    }

    /// Whether each channel of the output is made from the same channel of the only input, without weights.
    pub fn keeps_channels(&self) -> bool {
        let spec = self.kernel.spec();
        let is_apart = match spec.reach {
            Reach::Element | Reach::Window => true,
            Reach::Along => spec.result_bytes == 1 && !self.record.over()[2],
            _ => false,
        };
        is_apart && spec.filter.is_none() && self.of_role(Role::Input).count() == 1
    }

    /// Bytes of a filter that is not sparse.
    fn filter_bytes(&self) -> u64 {
        let input = self.of_role(Role::Input).next();
        input.map_or(1, |input| self.record.filters_for(&self.views[input]).bytes.max(1))
    }

    /// Bytes of its operands of a role that lie outside of the chip, whole lines each.
    pub fn bytes(&self, role: Role) -> u64 {
        self.operands(role).map(|index| self.views[index].extent().next_multiple_of(LINE)).sum()
    }

    /// The largest factor that it can be cut by.
    pub fn most(&self) -> u16 {
        let is_cut = self.kernel.makes_rows() && self.order == RowOrder::Whole;
        if is_cut { self.tile.output_size[0].max(1) } else { 1 }
    }

    /// The operand that it writes.
    pub fn output(&self) -> Option<usize> {
        self.kernel.operand(Role::Output)
    }

    /// Some rows of its output; nothing if it cannot be made so.
    pub fn made(&self, rows: Range<u16>) -> Option<Tiny> {
        let made = Row::several(self.record, self.tile, self.views, rows)?;
        Some(Tiny { tile: made.tile, views: made.operands().to_vec() })
    }

    /// A tile as costs have it.
    pub fn computed<'t>(&self, tiny: &'t Tiny) -> (&'p Op, &'t Tile, &'t [View]) {
        (self.record, &tiny.tile, &tiny.views)
    }

    /// Some columns of a tile; nothing if it cannot be made so.
    pub fn across(&self, tiny: &Tiny, columns: Range<u16>) -> Option<Tiny> {
        let made = Row::columns(self.record, &tiny.tile, &tiny.views, columns)?;
        Some(Tiny { tile: made.tile, views: made.operands().to_vec() })
    }

    /// The rows of its tiles when it is cut by `factor`: as many rows of the output each, or one more in the
    /// first (section 4.2.5.2).
    pub fn tiles(&self, factor: u16) -> Vec<Range<u16>> {
        let factor = factor.clamp(1, self.most());
        let Range { mut start, end } = self.rows();
        let rows = end - start;
        let tile = |index: u16| {
            let first = start;
            start += rows / factor + u16::from(index < rows % factor);
            first..start
        };
        (0..factor).map(tile).collect()
    }

    /// A tile in two: a quarter of its rows, at least one, and the others; nothing if it cannot be cut.
    pub fn halves(&self, rows: &Range<u16>) -> Option<[Range<u16>; 2]> {
        let Range { start, end } = *rows;
        let middle = start + ((end - start) / 4).max(1);
        (self.most() > 1 && middle < end).then_some([start..middle, middle..end])
    }

    /// The bytes of the least part of its filters: the largest block of sparse ones, a pair, or one.
    pub fn least_part(&self) -> u64 {
        if let Some(cuts) = self.cuts {
            return cuts.largest();
        }
        let has_input = self.of_role(Role::Input).next().is_some();
        if has_input { u64::from(self.least_channels()) * self.filter_bytes() } else { 0 }
    }

    /// Channels that go together.
    pub fn least_channels(&self) -> u32 {
        if let Some(cuts) = self.cuts {
            return cuts.each();
        }
        let is_natural = self.kernel.spec().flags & self.record.flags & Op::NATURAL != 0;
        if is_natural { 1 } else { 2 }
    }

    /// The most channels whose filters take at most so many bytes, whichever they are.
    pub fn fitting(&self, bytes: u64) -> u32 {
        if let Some(cuts) = self.cuts {
            return cuts.fitting(bytes);
        }
        let least = self.least_channels();
        u32::try_from(bytes / self.filter_bytes()).unwrap_or(u32::MAX) / least * least
    }

    /// How many channels a part makes that has at most `part` bytes of filters, and ends at multiples of `unit`
    /// bytes where that leaves any; all if its filters cannot be cut so.
    pub fn channels(&self, part: u64, unit: u64) -> u32 {
        let all = self.tile.channels;
        let is_cut = self.kernel.spec().cuts_pairs() && self.order == RowOrder::Whole;
        if !is_cut || self.record.groups != 1 {
            return all;
        }
        let most = self.fitting(part);
        if self.cuts.is_some() {
            // Sparse filters end where their values have them end.
            return if most == 0 { all } else { most.min(all) };
        }
        let least = self.least_channels();
        let even = unit / divisor(u64::from(least) * self.filter_bytes(), unit) * u64::from(least);
        let even = u32::try_from(even).ok().filter(|even| *even <= most).unwrap_or(least);
        let most = most / even * even;
        if most == 0 { all } else { most.min(all) }
    }

    /// The parts of a tile that make so many channels each; the tile itself if its filters cannot be cut so.
    pub fn parts(&self, tiny: Tiny, each: u32) -> Vec<Tiny> {
        let all = tiny.tile.channels;
        if each >= all {
            return vec![tiny];
        }
        let starts = (0..all).step_by(each.max(1) as usize);
        let parts = starts.map(|start| self.narrowed(&tiny, start..all.min(start + each)));
        let parts: Option<Vec<Tiny>> = parts.collect();
        parts.unwrap_or_else(|| vec![tiny])
    }

    /// Some channels of a tile, from an even one on where filters lie in pairs, from a block on where they are sparse;
    /// nothing if its filters cannot be cut so.
    pub fn narrowed(&self, tiny: &Tiny, channels: Range<u32>) -> Option<Tiny> {
        let (start, count) = (channels.start, channels.end.checked_sub(channels.start)?);
        if count == tiny.tile.channels {
            return Some(tiny.clone());
        }
        let keeps = self.keeps_channels();
        let bytes = if keeps { 0..0 } else { self.filters_of(tiny, &channels)? };
        let mut made = tiny.clone();
        made.tile.channel_start += start;
        made.tile.channels = count;
        for (view, role) in made.views.iter_mut().zip(self.roles()) {
            let (from, length) = match role {
                Role::Output => (u64::from(start), count),
                Role::Input if keeps => (u64::from(start), count),
                Role::Constants if keeps => continue,
                Role::Weights => (bytes.start, u32::try_from(bytes.end - bytes.start).ok()?),
                Role::Constants => {
                    let each = narrow::<u32>(CHANNEL_CONSTANT_BYTES);
                    (u64::from(start * each), count * each)
                }
                Role::Input => continue,
            };
            let offset = u32::try_from(u64::from(view.offset) + from).ok()?;
            *view = match role {
                Role::Output | Role::Input => View { offset, c: length, ..*view },
                _ => View::bytes(view.space()?, offset, length),
            };
        }
        Some(made)
    }

    /// Where the filters of some channels of a tile lie among its own.
    fn filters_of(&self, tiny: &Tiny, channels: &Range<u32>) -> Option<Range<u64>> {
        if let Some(cuts) = self.cuts {
            let at = |channel: u32| u64::from(tiny.tile.channel_start) + u64::from(channel);
            let all = cuts.range(at(0)..at(tiny.tile.channels))?;
            let bytes = cuts.range(at(channels.start)..at(channels.end))?;
            return Some(bytes.start - all.start..bytes.end - all.start);
        }
        let input = self.kernel.operand(Role::Input)?;
        let filters = self.record.filters_for(&tiny.views[input]);
        let start = filters.start(channels.start.into())?;
        let bytes = filters.all_bytes(u64::from(channels.end - channels.start))?;
        Some(start..start.checked_add(bytes)?)
    }

    /// Whether DMA can move a tile of the output: its bytes follow each other, and start where the
    /// engine can start.
    pub fn can_stage(&self, tiny: &Tiny, alignment: u64) -> bool {
        self.operands(Role::Output).all(|index| {
            let (part, whole) = (&tiny.views[index], &self.views[index]);
            let ends = u64::from(part.offset) + part.extent();
            let is_last = ends == u64::from(whole.offset) + whole.extent();
            part.is_contiguous()
                && whole.is_contiguous()
                && u64::from(part.offset).is_multiple_of(alignment)
                && (is_last || ends.is_multiple_of(alignment))
        })
    }
}

/// The largest number that divides both, of which the second is not 0.
const fn divisor(mut a: u64, mut b: u64) -> u64 {
    while a > 0 {
        (a, b) = (b % a, a);
    }
    b
}

/// The bytes that are fetched for an operand: from where the engine can start to where it can end.
pub fn fetched(view: &View, alignment: u64) -> Range<u64> {
    let start = u64::from(view.offset);
    start / alignment * alignment..(start + view.extent()).next_multiple_of(alignment)
}
