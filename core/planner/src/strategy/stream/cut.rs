//! Layers cut into parts whose weights come in one copy each.

use std::collections::BTreeMap;

use super::strips::Strips;
use crate::schedule::operator::{Operator, SECTOR, Tiny, is_on_card, sectors};
use crate::schedule::sequence::Place;
use crate::schedule::work::{Class, Flow, Operand, Residence, Task, Work};
use tilewright_plan::{Plan, PlannedTensor, Role, Space, View};

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

/// The operators of a plan, whose weights come in parts as `ways` says. With `apart` no two loads bring
/// the same sector.
pub fn cut(
    plan: &Plan,
    operators: &[Operator<'_>],
    strips: &[Strips],
    ways: Ways,
    apart: bool,
) -> Work {
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
    cut_into(plan, operators, strips, apart, [&part, &kept])
}

/// The operators, whose weights come in parts of about so many bytes; of layers that go through their
/// rows together those that take at most so many bytes come once and stay, the smallest first.
pub fn cut_into(
    plan: &Plan,
    operators: &[Operator<'_>],
    strips: &[Strips],
    apart: bool,
    [part, kept]: [&dyn Fn(&Operator<'_>) -> u64; 2],
) -> Work {
    let mut this = Cutter::default();
    for operator in operators {
        let layer = usize::from(operator.step.layer);
        let whole = operator.whole();
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
    this.work
}

/// The tasks so far.
#[derive(Default)]
struct Cutter {
    work: Work,
}

impl Cutter {
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
            let number = self.work.tasks.len() as u32;
            let mut operands = Vec::with_capacity(brought.len());
            for index in brought {
                let bytes = sectors(&tiny.views[*index]);
                let next = self.work.residences.len();
                let residence = *known.entry([bytes.start, bytes.end]).or_insert(next);
                match self.work.residences.get_mut(residence) {
                    Some(load) => load.uses[1] = number,
                    None => self.work.residences.push(Residence {
                        home: Place { space: Space::Card, offset: bytes.start },
                        bytes: bytes.end - bytes.start,
                        class: Class::Weights,
                        flow: Flow::Comes { behind: None },
                        uses: [number; 2],
                        layer: operator.step.layer,
                        frame: 0,
                    }),
                }
                operands.push(Operand { index: *index, residence });
            }
            self.work.tasks.push(Task { lives, ..Task::of(operator, tiny, operands) });
        }
    }
}

/// The numbers of an operator's loads, by the bytes that they bring.
type Kept = BTreeMap<[u64; 2], usize>;

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
