//! Layers cut into parts whose weights come in one copy each.

use std::collections::BTreeMap;
use std::ops::Range;

use super::strips::Strips;
use crate::strategy::overlay::partition::{Operator, Tiny};
use crate::strategy::swap_rows::SECTOR;
use tilewright_plan::{Plan, PlannedTensor, Role, RowOrder, Space, View};

/// Bytes of the card that steps need in SRAM.
#[derive(Clone, Debug)]
pub struct Load {
    /// The sectors.
    pub bytes: Range<u64>,
    /// First and last task that needs them.
    pub uses: [u32; 2],
    /// Their layer.
    pub layer: u16,
    /// The frame that they come for; of several the first.
    pub frame: u8,
}

impl Load {
    /// How many bytes.
    pub const fn length(&self) -> u64 {
        self.bytes.end - self.bytes.start
    }
}

/// A step of the core.
#[derive(Clone, Debug)]
pub struct Task {
    /// Index of its op.
    pub op: u32,
    /// Its layer.
    pub layer: u16,
    /// The frame that it works on.
    pub frame: u8,
    /// The layer with which activations live: of layers that go through their rows together the first.
    pub lives: u32,
    /// The order of its rows.
    pub order: RowOrder,
    /// What its operands are.
    pub roles: &'static [Role],
    /// What it makes; operands where they lie between layers.
    pub tiny: Tiny,
    /// Operands that are brought, each with its load.
    pub brought: Vec<(usize, usize)>,
}

/// How weights come.
#[derive(Clone, Copy, Debug)]
pub struct Ways {
    /// Bytes of SRAM.
    pub budget: u64,
    /// Parts have at most one share of the largest gap that activations leave: there are so many of it,
    /// and so many for what makes one pixel.
    pub shares: [u64; 2],
    /// Eighths of the gap that weights may take which stay for all rows.
    pub kept: u64,
}

/// A copy between SRAM and external RAM.
#[derive(Clone, Copy, Debug)]
pub struct Move {
    /// The task before which it is made, once those before have ended that touch the same bytes.
    pub before: u32,
    /// From where to where.
    pub ends: [(Space, u64); 2],
    /// How many bytes.
    pub bytes: u64,
    /// The layer that makes or reads them.
    pub layer: u16,
    /// The frame that they are of.
    pub frame: u8,
}

/// All of a network, or of several frames of it.
#[derive(Clone, Debug, Default)]
pub struct Cut {
    /// What the core does, in order.
    pub tasks: Vec<Task>,
    /// What comes from the card, in the order of first use.
    pub loads: Vec<Load>,
    /// What leaves SRAM for external RAM, and comes back, in order.
    pub moves: Vec<Move>,
}

impl Cut {
    /// The operators of a plan, whose weights come in parts as `ways` says. With `apart` no two loads bring
    /// the same sector.
    pub fn of(
        plan: &Plan,
        operators: &[Operator<'_>],
        strips: &[Strips],
        ways: Ways,
        apart: bool,
    ) -> Self {
        let gaps: Vec<u64> =
            (0u16..).zip(&plan.layers).map(|(layer, _)| gap(plan, layer, ways.budget)).collect();
        let gap_of = |operator: &Operator<'_>| {
            gaps.get(usize::from(operator.step.layer)).copied().unwrap_or(ways.budget)
        };
        let part = |operator: &Operator<'_>| {
            let is_pixel = operator.tile().output_size == [1, 1];
            gap_of(operator) / ways.shares[usize::from(is_pixel)]
        };
        let kept = |operator: &Operator<'_>| gap_of(operator) / 8 * ways.kept;
        Self::into(plan, operators, strips, apart, [&part, &kept])
    }

    /// The operators, whose weights come in parts of about so many bytes; of layers that go through their
    /// rows together those that take at most so many bytes come once and stay, the smallest first.
    pub fn into(
        plan: &Plan,
        operators: &[Operator<'_>],
        strips: &[Strips],
        apart: bool,
        [part, kept]: [&dyn Fn(&Operator<'_>) -> u64; 2],
    ) -> Self {
        let mut this = Self::default();
        for operator in operators {
            let layer = usize::from(operator.step.layer);
            let whole = Tiny { tile: operator.tile(), views: operator.views.to_vec() };
            match strips.iter().find(|together| together.layers.contains(&layer)) {
                None => {
                    let lives = layer as u32;
                    this.once(operator, (whole, lives), apart, part, None);
                }
                Some(together) if together.layers.start == layer => {
                    this.together(plan, operators, together, apart, [part, kept]);
                }
                Some(_) => {}
            }
        }
        this
    }

    /// Layers that go through their rows together.
    fn together(
        &mut self,
        plan: &Plan,
        operators: &[Operator<'_>],
        together: &Strips,
        apart: bool,
        [part, kept]: [&dyn Fn(&Operator<'_>) -> u64; 2],
    ) {
        let of_layer = |layer: usize| {
            operators.iter().find(|operator| usize::from(operator.step.layer) == layer)
        };
        let own: BTreeMap<usize, &Operator<'_>> =
            together.layers.clone().filter_map(|layer| Some((layer, of_layer(layer)?))).collect();
        let bytes = |operator: &Operator<'_>| -> u64 {
            let on_card = operator.views.iter().filter(|view| is_on_card(view));
            on_card.map(sectors).map(|bytes| bytes.end - bytes.start).sum()
        };
        let mut sizes: Vec<(u64, usize)> =
            own.iter().map(|(layer, operator)| (bytes(operator), *layer)).collect();
        sizes.sort_unstable();
        let mut left = own.values().next().map_or(0, |operator| kept(operator));
        let mut known: BTreeMap<usize, Kept> = BTreeMap::new();
        for (bytes, layer) in sizes {
            let Some(rest) = left.checked_sub(bytes) else { break };
            left = rest;
            known.insert(layer, Kept::new());
        }
        for strip in &together.made {
            let Some(operator) = own.get(&strip.layer) else { continue };
            let Some(mut tiny) = operator.made(strip.rows.clone()) else { continue };
            wrap(plan, operator, &mut tiny);
            let lives = together.layers.start as u32;
            self.once(operator, (tiny, lives), apart, part, known.get_mut(&strip.layer));
        }
    }

    /// A tile of an operator, in parts unless what it needs of the card stays.
    fn once(
        &mut self,
        operator: &Operator<'_>,
        (whole, lives): (Tiny, u32),
        apart: bool,
        part: &dyn Fn(&Operator<'_>) -> u64,
        kept: Option<&mut Kept>,
    ) {
        let on_card = |index: &usize| is_on_card(&operator.views[*index]);
        let brought: Vec<usize> = (0..operator.views.len()).filter(on_card).collect();
        let weights = brought.iter().find(|index| operator.roles()[**index] == Role::Weights);
        let parts = weights.filter(|_| kept.is_none()).and_then(|index| {
            let part = part(operator).max(operator.least_part(&whole));
            let parts = (operator.views[*index].extent() > part)
                .then(|| operator.parts(&whole, part, SECTOR))?;
            let bytes = |tiny: &Tiny| sectors(&tiny.views[*index]);
            let share = parts.windows(2).any(|two| bytes(&two[0]).end > bytes(&two[1]).start);
            (!apart || !share).then_some(parts)
        });
        let parts = parts.unwrap_or_else(|| vec![whole]);
        self.add(operator, (parts, lives), &brought, kept);
    }

    fn add(
        &mut self,
        operator: &Operator<'_>,
        (parts, lives): (Vec<Tiny>, u32),
        brought: &[usize],
        kept: Option<&mut Kept>,
    ) {
        let mut new = Kept::new();
        let known = kept.unwrap_or(&mut new);
        for tiny in parts {
            let number = self.tasks.len() as u32;
            let mut loads = Vec::with_capacity(brought.len());
            for index in brought {
                let bytes = sectors(&tiny.views[*index]);
                let next = self.loads.len();
                let load = *known.entry([bytes.start, bytes.end]).or_insert(next);
                match self.loads.get_mut(load) {
                    Some(load) => load.uses[1] = number,
                    None => {
                        let (uses, layer) = ([number; 2], operator.step.layer);
                        self.loads.push(Load { bytes, uses, layer, frame: 0 });
                    }
                }
                loads.push((*index, load));
            }
            self.tasks.push(Task {
                op: operator.op,
                layer: operator.step.layer,
                frame: 0,
                lives,
                order: operator.order,
                roles: operator.roles(),
                tiny,
                brought: loads,
            });
        }
    }

    /// The most bytes that a task needs of the card.
    pub fn most_at_once(&self) -> u64 {
        let of = |task: &Task| -> u64 {
            task.brought.iter().map(|(_, load)| self.loads[*load].length()).sum()
        };
        self.tasks.iter().map(of).max().unwrap_or(0)
    }
}

/// The numbers of an operator's loads, by the bytes that they bring.
type Kept = BTreeMap<[u64; 2], usize>;

fn is_on_card(view: &View) -> bool {
    view.space() == Some(Space::Card)
}

/// Puts rows where the rings hold them that their tensors lie in.
fn wrap(plan: &Plan, operator: &Operator<'_>, tiny: &mut Tiny) {
    let layer = plan.layers.get(usize::from(operator.step.layer));
    let tensors = layer.into_iter().flat_map(|layer| layer.reads.iter().chain(&layer.writes));
    let rings: Vec<(u64, u32)> = tensors
        .filter_map(|tensor| plan.tensors.get(*tensor as usize))
        .filter_map(|tensor| Some((tensor.offset, tensor.ring?)))
        .collect();
    for ((whole, view), role) in operator.views.iter().zip(&mut tiny.views).zip(operator.roles()) {
        let is_activation = matches!(role, Role::Input | Role::Output);
        let ring = rings.iter().find(|(offset, _)| *offset == u64::from(whole.offset));
        let Some((_, ring)) = ring.filter(|_| is_activation && view.space == Space::Arena as u8)
        else {
            continue;
        };
        let first = (i32::from(view.y0).max(0).cast_unsigned()) % ring;
        *view = match first + u32::from(view.h) > *ring {
            true => View {
                offset: whole.offset,
                ring_rows: *ring as u16,
                first_row: first as u16,
                ..*view
            },
            false => View { offset: whole.offset + first * view.row_pitch, ..*view },
        };
    }
}

/// The sectors that hold an operand.
pub fn sectors(view: &View) -> Range<u64> {
    let start = u64::from(view.offset);
    start / SECTOR * SECTOR..(start + view.extent()).next_multiple_of(SECTOR)
}

/// The most bytes that follow each other in the budget where no activation lies that lives with a layer.
pub fn gap(plan: &Plan, layer: u16, budget: u64) -> u64 {
    let layer = u32::from(layer);
    let lives = |tensor: &&PlannedTensor| {
        tensor.space == Space::Arena && tensor.first <= layer && layer < tensor.end
    };
    let live = plan.tensors.iter().filter(lives);
    let mut live: Vec<[u64; 2]> = live.map(|t| [t.offset, t.offset + t.extent()]).collect();
    live.sort_unstable();
    let (mut free, mut largest) = (0, 0);
    for [start, end] in live.into_iter().chain([[budget; 2]]) {
        largest = largest.max(start.saturating_sub(free));
        free = free.max(end);
    }
    largest
}
