//! In which parts weights come, each in one copy.

use std::collections::{BTreeMap, BTreeSet};

use crate::schedule::cut::{Bring, Channels, Cut, Group, Output, Stays};
use crate::schedule::depth_first::DepthFirstGroup;
use crate::schedule::operator::{Operator, SECTOR, is_on_card, sectors};
use tilewright_plan::{Plan, PlannedTensor, Role, Space};

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

/// How a plan's layers are cut whose weights come in parts as `ways` says. With `apart` no two loads bring
/// the same sector.
pub fn groups_in(
    plan: &Plan,
    operators: &[Operator<'_>],
    depth_first: &[DepthFirstGroup],
    ways: Ways,
    apart: bool,
) -> Vec<Group> {
    let gaps: Vec<u64> =
        (0u16..).zip(&plan.layers).map(|(layer, _)| gap(plan, layer, ways.budget)).collect();
    let gap_of = |operator: &Operator<'_>| {
        let layer = usize::from(operator.step.layer);
        let gap = gaps.get(layer).copied().unwrap_or(ways.budget);
        // Rows of activations come and go too, the next ones beside those in use if there is room.
        let staged = depth_first.iter().find(|group| group.layers.contains(&layer));
        let staged = staged.map_or(0, |group| group.staged);
        let beside = gap.saturating_sub(2 * staged);
        if beside < 2 * operator.least_part() { gap.saturating_sub(staged) } else { beside }
    };
    let part = |operator: &Operator<'_>| {
        let is_pixel = operator.tile().output_size == [1, 1];
        gap_of(operator) / ways.shares[usize::from(is_pixel)]
    };
    let kept = |operator: &Operator<'_>| gap_of(operator) / 8 * ways.kept;
    groups(operators, depth_first, apart, [&part, &kept])
}

/// How operators are cut whose weights come in parts of about so many bytes; of depth-first
/// groups those that take at most so many bytes come once and stay, the smallest first.
pub fn groups(
    operators: &[Operator<'_>],
    depth_first: &[DepthFirstGroup],
    apart: bool,
    [part, kept]: [&dyn Fn(&Operator<'_>) -> u64; 2],
) -> Vec<Group> {
    let mut groups = Vec::new();
    for (number, operator) in operators.iter().enumerate() {
        let layer = usize::from(operator.step.layer);
        match depth_first.iter().find(|group| group.layers.contains(&layer)) {
            None => {
                let each = channels(operator, part(operator), apart);
                let rows = vec![operator.tile().output_size[0]];
                groups.push(Cut { rows, ..once((number, each), Stays::Tile) }.into());
            }
            Some(group) if group.layers.start == layer => {
                groups.push(of_depth_first(operators, group, apart, [part, kept]));
            }
            Some(_) => {}
        }
    }
    groups
}

/// Layers that go through their rows group.
fn of_depth_first(
    operators: &[Operator<'_>],
    group: &DepthFirstGroup,
    apart: bool,
    [part, kept]: [&dyn Fn(&Operator<'_>) -> u64; 2],
) -> Group {
    let of_layer = |layer: usize| {
        operators.iter().position(|operator| usize::from(operator.step.layer) == layer)
    };
    let own: BTreeMap<usize, usize> =
        group.layers.clone().filter_map(|layer| Some((layer, of_layer(layer)?))).collect();
    let bytes = |operator: &Operator<'_>| -> u64 {
        let on_card = operator.views.iter().filter(|view| is_on_card(view));
        on_card.map(sectors).map(|bytes| bytes.end - bytes.start).sum()
    };
    let mut sizes: Vec<(u64, usize)> =
        own.iter().map(|(layer, number)| (bytes(&operators[*number]), *layer)).collect();
    sizes.sort_unstable();
    let mut left = own.values().next().map_or(0, |number| kept(&operators[*number]));
    let mut staying = BTreeSet::new();
    for (bytes, layer) in sizes {
        let Some(rest) = left.checked_sub(bytes) else { break };
        left = rest;
        staying.insert(layer);
    }
    let cut = |(layer, number): (usize, usize)| {
        let operator = &operators[number];
        let cut = match staying.contains(&layer) {
            true => once((number, operator.tile().channels), Stays::Group),
            false => once((number, channels(operator, part(operator), apart)), Stays::Tile),
        };
        let is_on_card = |role| {
            let mut own = operator.of_role(role);
            own.any(|index| is_on_card(&operator.views[index]))
        };
        let comes = group.staged > 0 && is_on_card(Role::Input);
        let goes = is_on_card(Role::Output);
        let on_card =
            Output::Goes { to: Space::Card, most: u64::MAX, except: Vec::new(), gaps: true };
        Cut {
            inputs: if comes { Bring::CARD } else { cut.inputs },
            output: if goes { on_card } else { cut.output },
            ..cut
        }
    };
    Group {
        cuts: own.into_iter().map(cut).collect(),
        depth_first: Some(group.fineness),
        made: group.made.clone(),
    }
}

/// What an operator needs of the card comes, and stays so long.
fn once((operator, each): (usize, u32), stays: Stays) -> Cut {
    let bring = Bring { stays, ..Bring::CARD };
    Cut {
        operators: vec![Channels { operator, each }],
        rows: Vec::new(),
        // Operands that are constant lie there too.
        inputs: bring,
        weights: bring,
        parameters: bring,
        output: Output::There,
        unit: SECTOR,
        stores_first: false,
    }
}

/// Channels whose weights come at once: as many as take about `part` bytes.
fn channels(operator: &Operator<'_>, part: u64, apart: bool) -> u32 {
    let all = operator.tile().channels;
    let weights = operator.of_role(Role::Weights).find(|index| is_on_card(&operator.views[*index]));
    let part = part.max(operator.least_part());
    let is_large = |index: &usize| operator.views[*index].extent() > part;
    let Some(weights) = weights.filter(is_large) else { return all };
    let each = operator.channels(part, SECTOR);
    let parts = operator.parts(operator.whole(), each);
    let bytes = parts.iter().map(|part| sectors(&part.views[weights]));
    let share = bytes.clone().zip(bytes.skip(1)).any(|(one, next)| one.end > next.start);
    if apart && share { all } else { each }
}

/// The most bytes that follow each other in the budget where no activation lies that lives with a layer.
pub fn gap(plan: &Plan, layer: u16, budget: u64) -> u64 {
    let layer = u32::from(layer);
    let lives = |tensor: &&PlannedTensor| {
        tensor.space == Space::Arena && tensor.first <= layer && layer < tensor.end
    };
    let live = plan.tensors.iter().filter(lives);
    let checksums = plan.sector_checksums.map(|sums| [sums.offset.into(), sums.end()]);
    let live = live.map(|t| [t.offset, t.offset + t.extent()]).chain(checksums);
    let mut live: Vec<[u64; 2]> = live.collect();
    live.sort_unstable();
    let (mut free, mut largest) = (0, 0);
    for [start, end] in live.into_iter().chain([[budget; 2]]) {
        largest = largest.max(start.saturating_sub(free));
        free = free.max(end);
    }
    largest
}
