//! What compute steps cost on a core: linear formulas whose coefficients come from emulated runs.
//!
//! The files in `costs/` are written by `cargo xtask calibrate`; nothing in them is typed in by
//! hand. The build script reads them and embeds them encoded.

mod features;
mod file;

use std::collections::BTreeMap;

use tilewright_board::CoreKind;
use tilewright_plan::rows::{self, Row};
use tilewright_plan::{Cycles, Op, RowOrder, Tile, View};

pub use features::{Feature, features};
pub use file::{Costs, KernelCost};

/// What a step costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Executed instructions.
    pub instructions: u64,
    /// Cycles.
    pub cycles: Cycles,
}

impl Costs {
    /// The costs of a core; the M7's stand in for cores that are not calibrated yet.
    #[must_use]
    pub fn of(core: CoreKind) -> Self {
        let bytes: &[u8] = match core {
            CoreKind::CortexM4 | CoreKind::CortexM7 | CoreKind::CortexM33 => {
                include_bytes!(concat!(env!("OUT_DIR"), "/cortex-m7.postcard"))
            }
        };
        postcard::from_bytes(bytes).expect("the build script encoded these very types")
    }

    /// What a compute step costs; in rows, the sum of its rows.
    #[must_use]
    pub fn step(&self, op: &Op, tile: &Tile, operands: &[View], order: RowOrder) -> Cost {
        if order == RowOrder::Whole {
            return self.at_once(op, tile, operands);
        }
        let rows = rows::sequence(tile, order).filter_map(|y| Row::of(op, tile, operands, y));
        rows.map(|row| self.at_once(op, &row.tile, row.operands())).fold(
            Cost::default(),
            |sum, row| Cost {
                instructions: sum.instructions + row.instructions,
                cycles: sum.cycles + row.cycles,
            },
        )
    }

    fn at_once(&self, op: &Op, tile: &Tile, operands: &[View]) -> Cost {
        let Some(cost) = op.kernel().and_then(|kernel| self.kernels.get(kernel.name())) else {
            return Cost::default();
        };
        let features = features(op, tile, operands);
        Cost { instructions: cost.instructions(&features), cycles: Cycles(cost.cycles(&features)) }
    }
}

impl KernelCost {
    /// Instructions of a step with these features.
    #[must_use]
    pub fn instructions(&self, features: &[Feature]) -> u64 {
        total(&self.milli_instructions, features)
    }

    /// Cycles of a step with these features.
    #[must_use]
    pub fn cycles(&self, features: &[Feature]) -> u64 {
        total(&self.milli_cycles, features)
    }
}

fn total(milli: &BTreeMap<String, u64>, features: &[Feature]) -> u64 {
    let cost = |(name, value): &Feature| {
        u128::from(milli.get(*name).copied().unwrap_or(0)) * u128::from(*value)
    };
    u64::try_from(features.iter().map(cost).sum::<u128>() / 1000).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_plan::{Kernel, Space};

    #[test]
    fn the_cost_file_knows_every_kernel() {
        let costs = Costs::of(CoreKind::CortexM7);
        for kernel in Kernel::ALL {
            assert!(costs.kernels.contains_key(kernel.name()), "{}", kernel.name());
        }
    }

    #[test]
    fn a_convolution_counts_turns_of_its_inner_loops() {
        let op = Op {
            kernel: Kernel::Conv as u16,
            window: [5, 5],
            stride: [1, 1],
            dilation: [1, 1],
            padding: [2, 2],
            groups: 1,
            ..Op::default()
        };
        let tile =
            Tile { output_size: [32, 32], channels: 6, valid_size: [32, 32], ..Tile::default() };
        let views =
            [View::whole(Space::Arena, 0, 32, 32, 1), View::whole(Space::Arena, 1024, 32, 32, 6)];
        let features = features(&op, &tile, &views);
        let value = |name| features.iter().find(|(known, _)| *known == name).map(|(_, v)| *v);
        assert_eq!(value("block_macs"), Some(32 * 32 * 25));
        assert_eq!(value("single_macs"), Some(32 * 32 * 2 * 25));
        // 28 of 32 rows see all five taps, the others one or two fewer.
        assert_eq!(value("copied"), Some((28 * 5 + 2 * 3 + 2 * 4) * (28 * 5 + 2 * 3 + 2 * 4)));
        assert_eq!(value("border_parts"), Some(32 * 32 - 28 * 28));
    }
}
