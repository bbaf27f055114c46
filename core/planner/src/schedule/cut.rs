//! Layers become tasks of the core and what these need in SRAM, as plain numbers say: no size is derived here.

mod arriving;
#[cfg(test)]
mod tests;

use crate::narrow::narrow;
use std::collections::BTreeMap;
use std::num::{NonZeroU16, NonZeroU32};
use std::ops::Range;

use super::operator::{Operator, Tiny, fetched};
use super::sequence::{Place, Rows};
use super::work::{Class, Flow, Operand, Residence, Task, Work};
use crate::strategy::external::LINE;
use arriving::Arriving;
use serde::{Deserialize, Serialize};
use tilewright_plan::{Plan, PlannedTensor, Role, Space, View};

/// Layers that are computed one after the other, or depth-first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// How each is cut, in order.
    pub cuts: Vec<Cut>,
    /// How fine rows are made, if the layers are a depth-first group: activations live with all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth_first: Option<Fineness>,
    /// What that means: the rows that are made, one after the other.
    #[serde(skip)]
    pub made: Vec<Strip>,
}

/// How fine the layers of a depth-first group make their rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fineness {
    /// Rows of the last layer that are made at once.
    pub rows: u16,
    /// Most bytes of any output that are made at once, if a row takes less.
    pub bytes: u64,
    /// Of a layer that goes alone columns that are made at once; none: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<NonZeroU16>,
    /// Channels that are made at once, all their pixels, where the first layer makes channels alone and those behind it
    /// keep them apart; none: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channels: Option<NonZeroU32>,
}

impl Fineness {
    /// So many rows and bytes at once, all columns.
    pub const fn of_rows(rows: u16, bytes: u64) -> Self {
        Self { rows, bytes, columns: None, channels: None }
    }
}

/// Some rows of a layer's output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strip {
    /// The layer.
    pub layer: usize,
    /// Its rows.
    pub rows: Range<u16>,
    /// Columns of these, if not all.
    pub columns: Option<Range<u16>>,
    /// Channels of these, if not all.
    pub channels: Option<Range<u32>>,
}

/// How a layer is cut, or one of its operators.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cut {
    /// Its operators, all of which write one tensor.
    pub operators: Vec<Channels>,
    /// Rows of the output that each tile makes, from the first on; none where rows are made with other layers'.
    pub rows: Vec<u16>,
    /// What comes of inputs.
    pub inputs: Bring,
    /// What comes of weights.
    pub weights: Bring,
    /// What comes of biases and quantisation parameters.
    pub parameters: Bring,
    /// What goes of the output.
    pub output: Output,
    /// Copies begin and end at multiples of so many bytes.
    pub unit: u64,
    /// Whether what was made before goes before anything comes.
    pub stores_first: bool,
}

/// An operator, in parts of its channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Channels {
    /// The operator's number.
    pub operator: usize,
    /// Channels that a task makes.
    pub each: u32,
}

/// What is brought of the operands of a role: from a card, which the core cannot read, always.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bring {
    /// The most bytes that are brought for an operand from external memories that the core reads; larger ones are
    /// used where they are.
    pub most: u64,
    /// How long they stay.
    pub stays: Stays,
}

/// How long what was brought stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stays {
    /// For all parts of a tile.
    Tile,
    /// For all tiles of a [`Cut`].
    Layer,
    /// For all cuts that need the same.
    Group,
}

/// Where outputs are made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Output {
    /// Where they belong.
    There,
    /// In SRAM, from where they go, a tile at a time.
    Goes {
        /// The memory that they go to.
        to: Space,
        /// The most bytes of a tile that goes.
        most: u64,
        /// Bytes that the core writes itself.
        except: Vec<Range<u64>>,
        /// Whether what lies between rows goes too. Else only what is whole units in one run does.
        gaps: bool,
    },
}

impl Bring {
    /// Nothing but what lies on a card.
    pub const CARD: Self = Self { most: 0, stays: Stays::Tile };

    /// Whether so many bytes of a memory are brought.
    fn is_wanted(&self, space: Space, bytes: u64) -> bool {
        bytes > 0 && (space == Space::Card || OUTSIDE.contains(&space) && bytes <= self.most)
    }
}

/// Memories outside of the chip.
pub const OUTSIDE: [Space; 3] = [Space::ExternalRam, Space::ExternalFlash, Space::Card];

impl Strip {
    /// So much of its rows as an operator makes; nothing if it does not make that alone.
    pub fn part(&self, operator: &Operator<'_>, rows: Tiny) -> Option<Tiny> {
        let across = match &self.columns {
            Some(columns) => operator.across(&rows, columns.clone())?,
            None => rows,
        };
        match &self.channels {
            Some(channels) => operator.narrowed(&across, channels.clone()),
            None => Some(across),
        }
    }
}

impl From<Cut> for Group {
    fn from(cut: Cut) -> Self {
        Self { cuts: vec![cut], depth_first: None, made: Vec::new() }
    }
}

impl Cut {
    /// Whether its tiles make all rows of its operators.
    pub fn covers(&self, operators: &[&Operator<'_>]) -> bool {
        let start = operators.iter().map(|operator| operator.rows().start).min();
        let end = operators.iter().map(|operator| operator.rows().end).max();
        let rows: u64 = self.rows.iter().map(|rows| u64::from(*rows)).sum();
        !self.rows.contains(&0)
            && start.zip(end).is_some_and(|(start, end)| u64::from(end - start) == rows)
            && (self.rows.len() == 1 || operators.iter().all(|operator| operator.makes_rows()))
    }

    /// Its tiles: rows of the output.
    fn tiles(&self, operators: &[&Operator<'_>]) -> Vec<Range<u16>> {
        let mut start = operators.iter().map(|operator| operator.rows().start).min().unwrap_or(0);
        let tile = |rows: &u16| {
            let first = start;
            start = start.saturating_add(*rows);
            first..start
        };
        self.rows.iter().map(tile).collect()
    }
}

/// The work of a plan's operators, cut so.
pub fn cut(plan: &Plan, operators: &[Operator<'_>], groups: &[Group]) -> Work {
    let mut cutter = Cutter {
        plan,
        operators,
        work: Work::default(),
        held: [BTreeMap::new(), BTreeMap::new(), BTreeMap::new()],
        written: BTreeMap::new(),
        arriving: Arriving::of(plan),
        goes: None,
        tile: 0,
    };
    for group in groups {
        cutter.group(group);
    }
    #[cfg(any(test, debug_assertions))]
    cutter.work.verify(operators).expect("all is made once, from what is there");
    cutter.work
}

/// An operand that was brought: its operator, what it is for, and which bytes.
type Brought = (usize, Class, [u64; 2]);

struct Cutter<'c, 'p> {
    plan: &'c Plan,
    operators: &'c [Operator<'p>],
    work: Work,
    /// What was brought, by how long it stays.
    held: [BTreeMap<Brought, usize>; 3],
    /// Where the bytes of each store end, and its number, by memory and first byte; without those that another has
    /// overwritten.
    written: BTreeMap<(u8, u64), (u64, usize)>,
    /// The input, if it arrives in rows.
    arriving: Option<Arriving>,
    /// What the last task has made that goes; only inputs may come before it.
    goes: Option<usize>,
    /// Tiles so far.
    tile: u32,
}

impl Cutter<'_, '_> {
    fn group(&mut self, group: &Group) {
        let operators = self.operators;
        let own = |cut: &Cut| -> Vec<&Operator<'_>> {
            cut.operators.iter().map(|channels| &operators[channels.operator]).collect()
        };
        let of_each: Vec<Vec<&Operator<'_>>> = group.cuts.iter().map(own).collect();
        if group.depth_first.is_none() {
            for (cut, own) in group.cuts.iter().zip(&of_each) {
                let lives = own.first().map_or(0, |operator| operator.step.layer.into());
                self.layer((cut, own), (&cut.tiles(own), None), lives);
            }
            return;
        }
        let first = of_each.first().and_then(|own| own.first());
        let first = first.map_or(0, |operator| operator.step.layer);
        for strip in &group.made {
            let at = strip.layer - usize::from(first);
            let cut = (&group.cuts[at], of_each[at].as_slice());
            self.layer(cut, (std::slice::from_ref(&strip.rows), Some(strip)), first.into());
        }
        let end = first as usize + of_each.len();
        if let Some(arriving) = &mut self.arriving {
            arriving.rest(end, &mut self.work);
        }
    }

    /// A layer in tiles, of the columns and channels of a strip; activations live with layer `lives`.
    fn layer(
        &mut self,
        (cut, own): (&Cut, &[&Operator<'_>]),
        (tiles, strip): (&[Range<u16>], Option<&Strip>),
        lives: u32,
    ) {
        if cut.stores_first {
            self.store_first();
        }
        self.held[Stays::Layer as usize].clear();
        for rows in tiles {
            self.held[Stays::Tile as usize].clear();
            let first = self.work.tasks.len();
            let shared = shared_input(own, rows, &OUTSIDE, cut.unit);
            let mut is_whole = true;
            for (operator, Channels { operator: number, each }) in own.iter().zip(&cut.operators) {
                // Of a line buffer those rows alone that are needed are there.
                let made = cut.rows.is_empty().then(|| operator.made(rows.clone())).flatten();
                let tiny = made.or_else(|| operator.among(rows));
                let tiny = tiny.and_then(|tiny| match strip {
                    Some(strip) => strip.part(operator, tiny),
                    None => Some(tiny),
                });
                let Some(mut tiny) = tiny else { continue };
                if let Some(arriving) = &mut self.arriving {
                    arriving.until(operator, &tiny, &mut self.work);
                }
                wrap(self.plan, operator, &mut tiny);
                is_whole &= operator.can_stage(&tiny, cut.unit);
                // What goes may be what comes.
                let meets = self.goes.is_some_and(|goes| self.meets(goes, operator, &tiny));
                let parts = operator.parts(tiny, *each);
                if parts.len() > 1 || meets {
                    self.store_first();
                }
                self.goes = None;
                for tiny in parts {
                    let operands = self.brought(cut, (operator, *number), &tiny, shared.as_ref());
                    self.uses(&operands);
                    let task = Task::of(operator, tiny, operands);
                    self.work.tasks.push(Task { lives, tile: self.tile, ..task });
                }
            }
            self.stores(&cut.output, first, (cut.unit, is_whole));
            self.tile += 1;
        }
    }

    /// The next task uses these.
    fn uses(&mut self, operands: &[Operand]) {
        for operand in operands {
            self.work.residences[operand.residence].uses[1] = narrow(self.work.tasks.len());
        }
    }

    /// What a task needs that comes.
    fn brought(
        &mut self,
        cut: &Cut,
        (operator, number): (&Operator<'_>, usize),
        tiny: &Tiny,
        shared: Option<&Range<u64>>,
    ) -> Vec<Operand> {
        let mut operands = Vec::new();
        let roles = [
            (Role::Input, cut.inputs, [Class::Input, Class::Second]),
            (Role::Weights, cut.weights, [Class::Weights; 2]),
            (Role::Constants, cut.parameters, [Class::Parameters; 2]),
        ];
        for (role, bring, [class, others]) in roles {
            let mut class = class;
            for index in operator.of_role(role) {
                let view = &tiny.views[index];
                let is_outside = |space: &Space| OUTSIDE.contains(space);
                let Some(space) = view.space().filter(is_outside) else { continue };
                let (of, bytes) = match shared.filter(|_| role == Role::Input) {
                    Some(shared) => (cut.operators[0].operator, shared.clone()),
                    None => (number, fetched(view, cut.unit)),
                };
                if bring.is_wanted(space, bytes.end - bytes.start) {
                    let held = (bring.stays, (of, class, [bytes.start, bytes.end]));
                    let rows = match shared {
                        None if space == Space::Card => apart(view, cut.unit),
                        _ => None,
                    };
                    let residence = self.held(held, (space, rows), operator.step.layer);
                    operands.push(Operand { index, residence });
                    class = others;
                }
            }
        }
        operands
    }

    /// What was brought and is still there, or comes.
    fn held(
        &mut self,
        (stays, key): (Stays, Brought),
        (space, apart): (Space, Option<Apart>),
        layer: u16,
    ) -> usize {
        if let Some(residence) = self.held[stays as usize].get(&key) {
            return *residence;
        }
        let (_, class, [start, end]) = key;
        let space_number = space as u8;
        let before = self.written.range((space_number, 0)..(space_number, end)).rev();
        let met = before.take_while(|(_, (end, _))| *end > start);
        let behind = met.map(|(_, (_, store))| *store).max();
        let home = Place { space, offset: start };
        let now = narrow(self.work.tasks.len());
        let flow = Flow::Comes { behind };
        let Apart { bytes, rows } = apart.unwrap_or(Apart { bytes: end - start, rows: Rows::ONE });
        let new = Residence { home, bytes, rows, class, flow, uses: [now; 2], layer, frame: 0 };
        let residence = self.work.residences.len();
        self.work.residences.push(new);
        self.held[stays as usize].insert(key, residence);
        residence
    }

    /// What a tile has made goes, if it does.
    fn stores(&mut self, output: &Output, first: usize, (unit, is_whole): (u64, bool)) {
        let Output::Goes { to, most, except, gaps } = output else { return };
        let to = *to;
        let outputs = self.work.tasks[first..].iter().map(Task::output);
        let outputs: Option<Vec<(usize, View)>> = outputs.collect();
        let goes = |(_, view): &(usize, View)| view.space() == Some(to);
        let Some(outputs) = outputs.filter(|outputs| outputs.iter().all(goes)) else { return };
        let start = outputs.iter().map(|(_, view)| u64::from(view.offset)).min();
        let ends = outputs.iter().map(|(_, view)| u64::from(view.offset) + view.extent());
        let Some((start, end)) = start.zip(ends.max()) else { return };
        let is_excepted = except.iter().any(|bytes| start < bytes.end && bytes.start < end);
        let end = end.next_multiple_of(unit);
        if end - start > *most || is_excepted || !(*gaps || is_whole) {
            return;
        }
        let home = Place { space: to, offset: start };
        // Parts of the channels lie in the same rows.
        let line = outputs.iter().map(|(_, view)| {
            let ends = View { h: 1, ring_rows: 1, ..*view }.extent();
            u64::from(view.offset) + ends - start
        });
        let line = line.max().unwrap_or(0);
        let rows = outputs.first().filter(|_| to == Space::Card);
        let rows = rows.and_then(|(_, view)| of_rows(view, line, unit));
        let Apart { bytes, rows } = rows.unwrap_or(Apart { bytes: end - start, rows: Rows::ONE });
        let flow = Flow::Goes { first: false };
        let (layer, last) = (self.work.tasks[first].layer, self.work.tasks.len() - 1);
        let (class, uses) = (Class::Output, [narrow(first), narrow(last)]);
        let residence = self.work.residences.len();
        let new = Residence { home, bytes, rows, class, flow, uses, layer, frame: 0 };
        self.work.residences.push(new);
        for (task, (index, _)) in self.work.tasks[first..].iter_mut().zip(outputs) {
            task.operands.push(Operand { index, residence });
        }
        self.goes = Some(residence);
        self.writes(to as u8, start..end, residence);
    }

    /// A store writes bytes, over what was there.
    fn writes(&mut self, space: u8, bytes: Range<u64>, store: usize) {
        let over = self.written.range((space, bytes.start)..(space, bytes.end));
        let over: Vec<(u8, u64)> = over.map(|(start, _)| *start).collect();
        for start in over {
            self.written.remove(&start);
        }
        let before = self.written.range_mut((space, 0)..(space, bytes.start)).next_back();
        if let Some((_, (end, _))) = before {
            *end = (*end).min(bytes.start);
        }
        self.written.insert((space, bytes.start), (bytes.end, store));
    }

    /// What is yet to go does so before anything comes.
    fn store_first(&mut self) {
        if let Some(store) = self.goes.take() {
            self.work.residences[store].flow = Flow::Goes { first: true };
        }
    }

    /// Whether what goes is written to where a tile of an operator will be read.
    fn meets(&self, store: usize, operator: &Operator<'_>, tiny: &Tiny) -> bool {
        let Residence { home: Place { space, offset }, bytes, rows, .. } =
            self.work.residences[store];
        let all = bytes.max(u64::from(rows.count) * u64::from(rows.pitch));
        let (start, end) = (offset / LINE * LINE, (offset + all).next_multiple_of(LINE));
        operator.of_role(Role::Input).any(|index| {
            let view = &tiny.views[index];
            let read = fetched(view, LINE);
            view.space() == Some(space) && read.start < end && start < read.end
        })
    }
}

/// Rows of an operand that lie apart where it comes from or goes to, and not in SRAM.
struct Apart {
    /// Bytes in SRAM.
    bytes: u64,
    rows: Rows,
}

/// How the rows of an operand are brought, if what lies between them is not worth it; from units on, which their pitch is
/// a multiple of.
fn apart(view: &View, unit: u64) -> Option<Apart> {
    let start = u64::from(view.offset);
    let line = View { h: 1, ring_rows: 1, ..*view }.extent();
    of_rows(view, start % unit + line, unit)
}

/// The same of rows of so many bytes.
fn of_rows(view: &View, line: u64, unit: u64) -> Option<Apart> {
    let (line, pitch) = (line.next_multiple_of(unit), u64::from(view.row_pitch));
    let is_apart = view.h > 1 && view.ring_rows == view.h && pitch.is_multiple_of(unit);
    let rows = Rows { count: view.h.into(), pitch: view.row_pitch };
    (is_apart && line < pitch).then(|| Apart { bytes: u64::from(view.h) * line, rows })
}

/// The bytes that the operators of a tile read as their inputs, if there are several that lie among each other:
/// groups of channels.
pub fn shared_input(
    operators: &[&Operator<'_>],
    rows: &Range<u16>,
    from: &[Space],
    unit: u64,
) -> Option<Range<u64>> {
    if operators.len() < 2 {
        return None;
    }
    let inputs = operators.iter().map(|operator| {
        let Tiny { views, .. } = operator.among(rows)?;
        let mut inputs = operator.of_role(Role::Input).map(|index| views[index]);
        let input = inputs.next().filter(|_| inputs.next().is_none())?;
        from.contains(&input.space()?).then(|| fetched(&input, unit))
    });
    let both = |all: Range<u64>, next: Range<u64>| {
        let meet = all.start < next.end && next.start < all.end;
        meet.then(|| all.start.min(next.start)..all.end.max(next.end))
    };
    inputs.reduce(|all, next| both(all?, next?)).flatten()
}

/// Puts rows where the line buffers of their tensors hold them.
fn wrap(plan: &Plan, operator: &Operator<'_>, tiny: &mut Tiny) {
    let layer = plan.layers.get(usize::from(operator.step.layer));
    let tensors = layer.into_iter().flat_map(|layer| layer.reads.iter().chain(&layer.writes));
    let parts: Vec<&PlannedTensor> = tensors
        .filter_map(|tensor| plan.tensors.get(*tensor as usize))
        .filter(|tensor| tensor.is_part())
        .collect();
    for ((whole, view), role) in operator.views.iter().zip(&mut tiny.views).zip(operator.roles()) {
        let is_activation = matches!(role, Role::Input | Role::Output);
        let part = parts.iter().find(|tensor| tensor.offset == u64::from(whole.offset));
        let Some(part) = part.filter(|_| is_activation && view.space == Space::Arena as u8) else {
            continue;
        };
        if part.block.is_some() {
            let row_pitch = u32::from(view.w) * view.c;
            *view = View { offset: whole.offset, row_pitch, column_pitch: view.c, ..*view };
        }
        let Some(ring) = part.ring else { continue };
        let first = (i32::from(view.y0).max(0).cast_unsigned()) % ring;
        *view = match first + u32::from(view.h) > ring {
            true => View {
                offset: whole.offset,
                ring_rows: narrow(ring),
                first_row: narrow(first),
                ..*view
            },
            false => View { offset: whole.offset + first * view.row_pitch, ..*view },
        };
    }
}
