//! What compute steps cost on a core: linear formulas whose coefficients come from emulated runs.
//!
//! The files in `costs/` are written by `cargo xtask calibrate`; nothing in them is typed in by
//! hand. The build script reads them and embeds them encoded.

mod file;

use tilewright_board::CoreKind;
use tilewright_plan::{Cycles, Kernel, Op, Tile, View};

use crate::PlanError;
pub use file::{Costs, FEATURES, KernelCost};

/// Names of the features, for people.
pub const FEATURE_NAMES: [&str; FEATURES] = ["calls", "pixels", "outputs", "taps", "macs"];

/// What a compute step has to do, in numbers that costs are linear in:
/// 1; output pixels; output elements; window taps over all output pixels (of one channel);
/// multiply-accumulates (for pools: elements looked at).
#[must_use]
pub fn features(op: &Op, tile: &Tile, operands: &[View]) -> [u64; FEATURES] {
    let pixels = u64::from(tile.output_size[0]) * u64::from(tile.output_size[1]);
    let outputs = pixels * u64::from(tile.channels);
    let window = u64::from(op.window[0]) * u64::from(op.window[1]);
    let input = operands.first().copied().unwrap_or_default();
    let per_output = match op.kernel() {
        Some(Kernel::Conv) => window * u64::from(input.c) / u64::from(op.groups.max(1)),
        Some(Kernel::FullyConnected) => input.elements(),
        _ => window,
    };
    let taps = match op.kernel() {
        Some(Kernel::FullyConnected) => outputs,
        _ => pixels * window,
    };
    [1, pixels, outputs, taps, outputs * per_output]
}

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
    ///
    /// # Errors
    /// [`PlanError::Costs`] if the file lacks a kernel.
    pub fn of(core: CoreKind) -> Result<Self, PlanError> {
        let bytes: &[u8] = match core {
            CoreKind::CortexM4 | CoreKind::CortexM7 | CoreKind::CortexM33 => {
                include_bytes!(concat!(env!("OUT_DIR"), "/cortex-m7.postcard"))
            }
        };
        let error = |reason: String| PlanError::Costs { core: core.id(), reason };
        let costs: Self =
            postcard::from_bytes(bytes).expect("the build script encoded these very types");
        match Kernel::ALL.iter().find(|kernel| !costs.kernels.contains_key(kernel.name())) {
            Some(kernel) => Err(error(format!("kernel '{}' is missing", kernel.name()))),
            None => Ok(costs),
        }
    }

    /// What a compute step costs.
    #[must_use]
    pub fn step(&self, op: &Op, tile: &Tile, operands: &[View]) -> Cost {
        let Some(cost) = op.kernel().and_then(|kernel| self.kernels.get(kernel.name())) else {
            return Cost::default();
        };
        let features = features(op, tile, operands);
        let sum = |coefficients: &[u64; FEATURES]| {
            let milli = coefficients
                .iter()
                .zip(features)
                .map(|(coefficient, feature)| u128::from(*coefficient) * u128::from(feature))
                .sum::<u128>();
            u64::try_from(milli / 1000).unwrap_or(u64::MAX)
        };
        Cost {
            instructions: sum(&cost.milli_instructions),
            cycles: Cycles(sum(&cost.milli_cycles)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_plan::Space;

    #[test]
    fn the_cost_file_knows_every_kernel() {
        Costs::of(CoreKind::CortexM7).unwrap();
    }

    #[test]
    fn a_convolution_counts_its_macs() {
        let op = Op { kernel: Kernel::Conv as u16, window: [5, 5], groups: 1, ..Op::default() };
        let tile = Tile { output_size: [28, 28], channels: 6, ..Tile::default() };
        let input = View::whole(Space::Arena, 0, 32, 32, 1);
        assert_eq!(features(&op, &tile, &[input])[4], 117_600);
    }
}
