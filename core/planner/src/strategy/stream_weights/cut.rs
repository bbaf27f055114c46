//! Layers cut into parts whose weights come in one copy each.

use std::ops::Range;

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
    /// The order of its rows.
    pub order: RowOrder,
    /// What its operands are.
    pub roles: &'static [Role],
    /// What it makes; operands where they lie between layers.
    pub tiny: Tiny,
    /// Operands that are brought, each with its load.
    pub brought: Vec<(usize, usize)>,
}

/// All of a network.
#[derive(Clone, Debug, Default)]
pub struct Cut {
    /// What the core does, in order.
    pub tasks: Vec<Task>,
    /// What comes from the card, in the order of first use.
    pub loads: Vec<Load>,
}

impl Cut {
    /// The operators of a plan, whose weights come in parts of at most one share of the largest gap that
    /// activations leave in the budget: there are so many of it, and so many for those that make one pixel.
    /// With `apart` no two loads bring the same sector.
    pub fn of(
        plan: &Plan,
        operators: &[Operator<'_>],
        budget: u64,
        shares: [u64; 2],
        apart: bool,
    ) -> Self {
        Self::into(operators, apart, |operator| {
            let is_pixel = operator.tile().output_size == [1, 1];
            gap(plan, operator.step.layer, budget) / shares[usize::from(is_pixel)]
        })
    }

    /// The operators, whose weights come in parts of about so many bytes, as [`Self::of`].
    pub fn into(
        operators: &[Operator<'_>],
        apart: bool,
        part: impl Fn(&Operator<'_>) -> u64,
    ) -> Self {
        let mut this = Self::default();
        for operator in operators {
            let is_on_card = |index: &usize| operator.views[*index].space() == Some(Space::Card);
            let brought: Vec<usize> = (0..operator.views.len()).filter(is_on_card).collect();
            let whole = Tiny { tile: operator.tile(), views: operator.views.to_vec() };
            let weights = brought.iter().find(|index| operator.roles()[**index] == Role::Weights);
            let parts = weights.and_then(|index| {
                let part = part(operator);
                let parts = (operator.views[*index].extent() > part)
                    .then(|| operator.parts(&whole, part, SECTOR))?;
                let bytes = |tiny: &Tiny| sectors(&tiny.views[*index]);
                let share = parts.windows(2).any(|two| bytes(&two[0]).end > bytes(&two[1]).start);
                (!apart || !share).then_some(parts)
            });
            let parts = parts.unwrap_or_else(|| vec![whole]);
            this.add(operator, parts, &brought);
        }
        this
    }

    fn add(&mut self, operator: &Operator<'_>, parts: Vec<Tiny>, brought: &[usize]) {
        let first = self.loads.len();
        for tiny in parts {
            let number = self.tasks.len() as u32;
            let mut loads = Vec::with_capacity(brought.len());
            for index in brought {
                let bytes = sectors(&tiny.views[*index]);
                let known = self.loads[first..].iter().position(|load| load.bytes == bytes);
                let load = known.map_or(self.loads.len(), |known| first + known);
                match self.loads.get_mut(load) {
                    Some(load) => load.uses[1] = number,
                    None => {
                        let (uses, layer) = ([number; 2], operator.step.layer);
                        self.loads.push(Load { bytes, uses, layer });
                    }
                }
                loads.push((*index, load));
            }
            self.tasks.push(Task {
                op: operator.op,
                layer: operator.step.layer,
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

/// The sectors that hold an operand.
pub fn sectors(view: &View) -> Range<u64> {
    let start = u64::from(view.offset);
    start / SECTOR * SECTOR..(start + view.extent()).next_multiple_of(SECTOR)
}

/// The most bytes that follow each other in the budget where no activation lies that lives with a layer.
fn gap(plan: &Plan, layer: u16, budget: u64) -> u64 {
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
