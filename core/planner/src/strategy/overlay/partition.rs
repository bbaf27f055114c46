//! How operators are cut into tiles: the thesis' algorithm 3.

use std::ops::Range;

use super::{Outputs, Overlaid};
use crate::strategy::external::LINE;
use tilewright_plan::kernel::CHANNEL_CONSTANT_BYTES;
use tilewright_plan::rows::Row;
use tilewright_plan::{Instruction, Kernel, Op, Plan, Role, RowOrder, Space, Step, Tile, View};

/// A step of the plan that is overlaid: whole operands in external memory.
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

impl<'p> Operator<'p> {
    /// The operators of a plan's program, in order.
    pub fn of(plan: &'p Plan) -> Vec<Self> {
        let program = plan.programs.iter().find(|program| !program.boot);
        let core = program.and_then(|program| program.lanes.first());
        let steps = core.map_or(&[][..], |lane| &lane.steps);
        let operator = |step: &'p Step| {
            let Instruction::Compute { op, tile, first_view, order } = step.instruction else {
                return None;
            };
            let (record, views) = plan.operands(op, first_view)?;
            let (kernel, tile) = (record.kernel()?, plan.tiles.get(tile as usize)?);
            Some(Self { step, op, order, record, kernel, tile, views })
        };
        steps.iter().filter_map(operator).collect()
    }

    /// All that it makes.
    pub const fn tile(&self) -> Tile {
        *self.tile
    }

    /// The roles of its operands.
    pub fn roles(&self) -> &'static [Role] {
        self.kernel.roles()
    }

    /// Inputs that are fetched: those outside of the chip.
    pub fn inputs(&self) -> impl Iterator<Item = usize> {
        self.operands(Role::Input)
    }

    /// The operands of a role that lie outside of the chip.
    pub fn operands(&self, wanted: Role) -> impl Iterator<Item = usize> {
        let roles = self.roles().iter().zip(self.views).enumerate();
        let is_wanted = move |(_, (role, view)): &(usize, (&Role, &View))| {
            let outside = [Space::ExternalRam, Space::ExternalFlash];
            **role == wanted && view.space().is_some_and(|space| outside.contains(&space))
        };
        roles.filter(is_wanted).map(|(index, _)| index)
    }

    /// Bytes of its operands of a role that lie outside of the chip, whole lines each.
    pub fn bytes(&self, role: Role) -> u64 {
        self.operands(role).map(|index| self.views[index].extent().next_multiple_of(LINE)).sum()
    }

    /// The largest factor that it can be cut by.
    fn most(&self) -> u16 {
        let is_cut = self.kernel.makes_rows() && self.order == RowOrder::Whole;
        if is_cut { self.tile.output_size[0].max(1) } else { 1 }
    }

    /// The operand that it writes.
    pub fn output(&self) -> Option<usize> {
        self.roles().iter().position(|role| *role == Role::Output)
    }

    /// Some rows of its output; nothing if it cannot be made so.
    pub fn made(&self, rows: Range<u16>) -> Option<Tiny> {
        let made = Row::several(self.record, self.tile, self.views, rows)?;
        Some(Tiny { tile: made.tile, views: made.operands().to_vec() })
    }

    /// Its tiles when it is cut by `factor`: as many rows of the output each, or one more in the
    /// first (section 4.2.5.2).
    pub fn tiles(&self, factor: u16) -> Vec<Tiny> {
        let factor = factor.clamp(1, self.most());
        let rows = self.tile.output_size[0];
        if factor == 1 {
            return vec![Tiny { tile: *self.tile, views: self.views.to_vec() }];
        }
        let mut start = self.tile.output_start[0];
        (0..factor)
            .filter_map(|index| {
                let end = start + rows / factor + u16::from(index < rows % factor);
                let made = Row::several(self.record, self.tile, self.views, start..end)?;
                start = end;
                Some(Tiny { tile: made.tile, views: made.operands().to_vec() })
            })
            .collect()
    }

    /// A tile in two: a quarter of its rows, at least one, and the others; nothing if it cannot be cut.
    pub fn halves(&self, tiny: &Tiny) -> Option<[Tiny; 2]> {
        let (start, rows) = (tiny.tile.output_start[0], tiny.tile.output_size[0]);
        let (middle, end) = (start + (rows / 4).max(1), start + rows);
        if self.most() == 1 || middle >= end {
            return None;
        }
        Some([self.made(start..middle)?, self.made(middle..end)?])
    }

    /// The bytes of the least part of a tile's filters: a pair.
    pub fn least_part(&self, tiny: &Tiny) -> u64 {
        let input = self.roles().iter().position(|role| *role == Role::Input);
        input.map_or(0, |input| 2 * self.record.filters_for(&tiny.views[input]).bytes)
    }

    /// The parts of a tile, some output channels each, with at most `part` bytes of filters, which end at
    /// multiples of `unit` bytes where that leaves any; the tile itself if its filters cannot be cut so.
    pub fn parts(&self, tiny: &Tiny, part: u64, unit: u64) -> Vec<Tiny> {
        let whole = || vec![tiny.clone()];
        let is_cut = matches!(self.kernel, Kernel::Conv | Kernel::FullyConnected)
            && self.order == RowOrder::Whole;
        let roles = self.roles();
        let input = roles.iter().position(|role| *role == Role::Input);
        let Some(input) = input.filter(|_| is_cut && self.record.groups == 1) else {
            return whole();
        };
        let filters = self.record.filters_for(&tiny.views[input]);
        let fitting = part.checked_div(filters.bytes).unwrap_or(0);
        // Filters lie in pairs.
        let most = u32::try_from(fitting).unwrap_or(u32::MAX) / 2 * 2;
        let even = unit / divisor(2 * filters.bytes, unit) * 2;
        let even = u32::try_from(even).ok().filter(|even| *even <= most).unwrap_or(2);
        let most = most / even * even;
        if most == 0 || most >= tiny.tile.channels {
            return whole();
        }
        let cut = |start: u32| {
            let channels = most.min(tiny.tile.channels - start);
            let (first, bytes) =
                (filters.start(start.into())?, filters.all_bytes(channels.into())?);
            let mut made = tiny.clone();
            made.tile.channel_start += start;
            made.tile.channels = channels;
            for (view, role) in made.views.iter_mut().zip(roles) {
                let (from, length) = match role {
                    Role::Output => (u64::from(start), channels),
                    Role::Weights => (first, u32::try_from(bytes).ok()?),
                    Role::Constants => {
                        let each = CHANNEL_CONSTANT_BYTES as u32;
                        (u64::from(start * each), channels * each)
                    }
                    Role::Input => continue,
                };
                let offset = u32::try_from(u64::from(view.offset) + from).ok()?;
                *view = match role {
                    Role::Output => View { offset, c: length, ..*view },
                    _ => View::bytes(view.space()?, offset, length),
                };
            }
            Some(made)
        };
        let starts = (0..tiny.tile.channels).step_by(most as usize);
        starts.map(cut).collect::<Option<_>>().unwrap_or_else(whole)
    }

    /// Bytes of the largest tile of an input, and of the output if that is staged.
    fn sizes(&self, factor: u16, alignment: u64, outputs: Outputs) -> [u64; 2] {
        let mut largest = [0; 2];
        for tiny in self.tiles(factor) {
            for input in self.inputs() {
                let bytes = fetched(&tiny.views[input], alignment);
                largest[0] = largest[0].max((bytes.end - bytes.start).next_multiple_of(LINE));
            }
            if outputs == Outputs::Staged && self.can_stage(&tiny, alignment) {
                let output = self.operands(Role::Output).map(|index| tiny.views[index].extent());
                largest[1] = largest[1].max(output.sum::<u64>().next_multiple_of(LINE));
            }
        }
        largest
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

/// How the operators are cut.
#[derive(Clone, Debug)]
pub struct Partition {
    /// Bytes of a buffer for tiles of inputs.
    pub tiny: u64,
    /// How many of them there are: two, and two more for second inputs.
    pub inputs: u64,
    /// Bytes of a buffer for tiles of outputs; 0: the core writes them where they belong.
    pub output: u64,
    /// Bytes of the buffers for biases and quantisation parameters.
    pub parameters: u64,
    /// Of each operator the factor that it is cut by; nothing if its inputs stay where they are.
    pub factors: Vec<Option<u16>>,
}

/// Sizes of an operator's tiles for every factor, computed when they are first asked for.
struct Sizes<'o, 'p> {
    operator: &'o Operator<'p>,
    known: Vec<[u64; 2]>,
    least: Option<[u64; 2]>,
}

impl Sizes<'_, '_> {
    fn at(&mut self, factor: u16, alignment: u64, outputs: Outputs) -> [u64; 2] {
        let factor = factor.clamp(1, self.operator.most());
        while self.known.len() < usize::from(factor) {
            let next = self.known.len() as u16 + 1;
            self.known.push(self.operator.sizes(next, alignment, outputs));
        }
        self.known[usize::from(factor) - 1]
    }

    /// The least that any factor makes of each.
    fn least(&mut self, alignment: u64, outputs: Outputs) -> [u64; 2] {
        if let Some(least) = self.least {
            return least;
        }
        self.at(u16::MAX, alignment, outputs);
        let of = |which: usize| self.known.iter().map(|bytes| bytes[which]).min().unwrap_or(0);
        *self.least.insert([of(0), of(1)])
    }
}

/// Algorithm 3: the smallest factor by which all operators can be cut so that their tiles fit
/// `budget` bytes, of which there are so many for inputs at once, then for each the smallest with which
/// it fits the buffers.
pub fn partition(
    operators: &[Operator<'_>],
    [budget, inputs]: [u64; 2],
    alignment: u64,
    overlaid: Overlaid,
) -> Partition {
    let outputs = overlaid.outputs;
    let parameters = operators.iter().map(|o| o.bytes(Role::Constants)).max().unwrap_or(0);
    let parameters = if overlaid.parameters && parameters <= budget { parameters } else { 0 };
    let mut sizes: Vec<Sizes<'_, '_>> = operators
        .iter()
        .map(|operator| Sizes { operator, known: Vec::new(), least: None })
        .collect();
    let mut taken: Vec<bool> = operators
        .iter()
        .map(|operator| {
            let is_staged = overlaid.outputs == Outputs::Staged;
            let leaves = is_staged && operator.operands(Role::Output).next().is_some();
            overlaid.inputs && (leaves || operator.inputs().next().is_some())
        })
        .collect();
    let most = operators.iter().map(Operator::most).max().unwrap_or(1);
    let [tiny, output] = loop {
        let found = (1..=most).find_map(|factor| {
            let mut largest = [0; 2];
            for (sizes, _) in sizes.iter_mut().zip(&taken).filter(|(_, taken)| **taken) {
                let bytes = sizes.at(factor, alignment, outputs);
                largest = [largest[0].max(bytes[0]), largest[1].max(bytes[1])];
            }
            let total = inputs * largest[0] + 2 * largest[1] + parameters;
            (total <= budget).then_some(largest)
        });
        if let Some(found) = found {
            break found;
        }
        // The operator whose least tile is largest stays outside; so do others as long as not even the
        // least tiles of all fit, whatever the factor.
        loop {
            let least = |sizes: &mut Sizes<'_, '_>| {
                let [input, output] = sizes.at(u16::MAX, alignment, outputs);
                2 * input + output
            };
            let candidates = sizes.iter_mut().enumerate().filter(|(index, _)| taken[*index]);
            match candidates.map(|(index, sizes)| (least(sizes), index)).max() {
                Some((_, index)) => taken[index] = false,
                None => break,
            }
            let left = sizes.iter_mut().zip(&taken).filter(|(_, taken)| **taken);
            let least = left.fold([0; 2], |largest, (sizes, _)| {
                let bytes = sizes.least(alignment, outputs);
                [largest[0].max(bytes[0]), largest[1].max(bytes[1])]
            });
            if inputs * least[0] + 2 * least[1] + parameters <= budget {
                break;
            }
        }
        if !taken.contains(&true) {
            break [0; 2];
        }
    };
    // Staged outputs are moved while the next tile is made: with one tile nothing overlaps.
    let first = if outputs == Outputs::Staged { 2 } else { 1 };
    let factors = sizes.iter_mut().zip(taken).map(|(sizes, taken)| {
        let fits = |factor: &u16| {
            let bytes = sizes.at(*factor, alignment, outputs);
            bytes[0] <= tiny && bytes[1] <= output
        };
        taken.then(|| (first..=most.max(first)).find(fits)).flatten()
    });
    let factors = factors.collect();
    Partition { tiny, inputs, output, parameters, factors }
}
