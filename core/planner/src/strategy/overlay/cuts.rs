//! How tiles are fetched, computed and stored, as the cutter is told: the thesis' algorithm 4.

use std::ops::Range;

use super::Overlaid;
use super::partition::Partition;
use crate::schedule::cut::{Bring, Channels, Cut, Output, Stays};
use crate::schedule::operator::Operator;
use crate::schedule::place::Slots;
use crate::strategy::external::LINE;
use tilewright_plan::{Plan, Role, Space};
use tilewright_report::Outputs;

/// Operators whose buffers lie at the same places.
pub struct Phase {
    /// Which.
    pub operators: Range<usize>,
    /// How they are cut.
    pub partition: Partition,
    /// The buffers.
    pub slots: Slots,
    /// Whether the first tile is cut once more.
    pub early: bool,
}

/// How a phase's operators are cut, from whose plan the program's outputs lie in `given` bytes of external RAM, and
/// copies begin at multiples of `unit` bytes.
pub fn cuts(
    operators: &[Operator<'_>],
    phase: &Phase,
    overlaid: Overlaid,
    (given, unit): (&[Range<u64>], u64),
) -> Vec<Cut> {
    let Phase { operators: range, partition, slots, early } = phase;
    let room = slots.filters();
    let cut = |(nth, (number, factor)): (usize, (usize, &Option<u16>))| {
        let operator = &operators[number];
        let (inputs, all) = (operator.inputs().count(), operator.tile().channels);
        let weights = operator.bytes(Role::Weights);
        // The second input of an operator lies where filters would.
        let has_filters = overlaid.filters && inputs < 2;
        let comes_in_parts = has_filters && overlaid.parts && weights > room;
        let each = match comes_in_parts {
            // Another part has room beside it.
            true => operator.channels(room / 2 / LINE * LINE, 1),
            false => all,
        };
        let stays = if each < all { Stays::Tile } else { Stays::Layer };
        let bring = |most: u64, stays: Stays| Bring { most, stays };
        let fetched = if factor.is_some() { slots.tiny } else { 0 };
        let is_staged = overlaid.outputs == Outputs::Staged && factor.is_some();
        let output = match is_staged && slots.output > 0 && each == all {
            true => Output::Goes {
                to: Space::ExternalRam,
                most: slots.output,
                // What the program gives is complete when the core is done.
                except: given.to_vec(),
                gaps: false,
            },
            false => Output::There,
        };
        // At the border of a phase only inputs come before what is yet to go.
        let constants = operator.operands(Role::Weights).chain(operator.operands(Role::Constants));
        let is_simple =
            !comes_in_parts && inputs == 1 && factor.is_some() && constants.count() == 0;
        let mut tiles = operator.tiles(factor.unwrap_or(1));
        if *early && nth == 0 && factor.is_some() {
            let halves = tiles.first().and_then(|first| operator.halves(first));
            halves.into_iter().for_each(|halves| drop(tiles.splice(..1, halves)));
        }
        Cut {
            operators: vec![Channels { operator: number, each }],
            rows: tiles.iter().map(|tile| tile.end - tile.start).collect(),
            inputs: bring(fetched, Stays::Tile),
            weights: bring(if has_filters { room } else { 0 }, stays),
            parameters: bring(slots.parameters, stays),
            output,
            unit,
            stores_first: nth == 0 && !is_simple,
        }
    };
    range.clone().zip(&partition.factors).enumerate().map(cut).collect()
}

/// Where a plan's program outputs lie in external RAM.
pub fn given(external: &Plan) -> Vec<Range<u64>> {
    let outputs = external.main.iter().flat_map(|program| &program.outputs);
    let views = outputs.filter_map(|io| external.views.get(io.view as usize));
    let views = views.filter(|view| view.space == Space::ExternalRam as u8);
    views.map(|view| u64::from(view.offset)..u64::from(view.offset) + view.extent()).collect()
}
