//! How long depth-first groups take about, as card and core are modelled.

use crate::costs::CostCache;
use crate::schedule::cut::Strip;
use crate::schedule::depth_first::{DepthFirstGroup, Moved, Network};
use crate::simulate::{Direction, Transfers};
use tilewright_board::Board;

/// Cycles of a step besides its products.
const STEP: u64 = 1500;

/// What depth-first groups take on a board.
pub struct Times<'t> {
    /// The board.
    pub board: &'t Board,
    /// Its costs.
    pub costs: &'t CostCache,
    /// Its card.
    pub transfers: Transfers<'t>,
}

impl Times<'_> {
    /// Cycles of a group in so many bytes: of the core or of the card, whichever takes longer; the
    /// card's on top where there is no room for what comes next.
    pub fn group(&self, network: &Network<'_>, group: &DepthFirstGroup, budget: u64) -> u64 {
        let held = group.least_bytes();
        let Some(room) = budget.checked_sub(held) else { return u64::MAX };
        let pair = group.layers.clone().map(|layer| network.least_weights(layer)).max();
        let pairs = 2 * pair.unwrap_or(0);
        let is_ahead = room >= group.staged + pairs;
        let beside = if is_ahead { room - group.staged } else { room };
        let mut sizes: Vec<(u64, usize)> =
            group.layers.clone().map(|layer| (network.weights(layer), layer)).collect();
        sizes.sort_unstable();
        let mut left = beside.saturating_sub(pairs);
        let staying = sizes.iter().take_while(|(bytes, _)| {
            let rest = left.checked_sub(*bytes);
            left = rest.unwrap_or(left);
            rest.is_some()
        });
        let staying: Vec<usize> = staying.map(|(_, layer)| *layer).collect();
        let part = (left.saturating_sub(pairs) / 2).max(pairs / 2).max(1);
        let (mut core, mut weights, mut staged) = (0u64, 0u64, 0u64);
        for layer in group.layers.clone() {
            let own: Vec<&Strip> = group.made.iter().filter(|strip| strip.layer == layer).collect();
            let Some(middle) = own.get(own.len() / 2) else { continue };
            let times = own.len() as u64;
            let bytes = network.weights(layer);
            let (parts, often) = match bytes == 0 || staying.contains(&layer) {
                true => (1, 1),
                false => (bytes.div_ceil(part), times),
            };
            let open = if self.transfers.open_reads() { 1 } else { parts };
            let read = |bytes: u64, commands: u64| {
                let one = self.transfers.command(bytes, Direction::Read).0;
                let more = self.transfers.command(0, Direction::Read).0;
                one + (commands - 1) * more
            };
            if bytes > 0 {
                weights += often * read(bytes, open);
            }
            for Moved { bytes, runs, is_read } in network.moved(group, middle) {
                staged += times
                    * match is_read {
                        true => read(bytes, runs),
                        false => runs * self.transfers.command(bytes / runs, Direction::Write).0,
                    };
            }
            let steps = network.computed(middle).map_or(0, |(operator, tiny)| {
                let step = (operator.computed(&tiny), operator.order);
                self.costs.least(self.board, std::iter::once(step)).0
            });
            core += times * (steps + STEP * (parts - 1).max(1));
        }
        match (is_ahead, room >= pairs) {
            (true, _) => core.max(weights + staged),
            (false, true) => core.max(weights) + staged,
            (false, false) => core + weights + staged,
        }
    }
}
