//! How a search is done.

use serde::{Deserialize, Serialize};
use thiserror::Error;
use tilewright_zoo::cells::{MOST_STEPS, Operation, OperationCosts};

use crate::samples::Samples;
use crate::supernet::{CHOICES, Sizes};
use crate::trade_off::TradeOff;

/// Most values that a batch may leave behind for the way back; four bytes each.
const MOST_KEPT: usize = 1 << 29;

/// Sizes, rates and costs of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// What the loss weighs cost with.
    pub trade_off: TradeOff,
    /// Another one gives other weights to begin with, and other batches.
    pub seed: u64,
    /// Cells of the network, 1 to 64. Those at a third and two thirds of it, rounded down, halve the image.
    pub cells: usize,
    /// Steps of a cell, 1 to 8.
    pub cell_steps: usize,
    /// Channels of each step before the first reduction; even, at most 64.
    pub channels: usize,
    /// How many times both architecture and weights are updated.
    pub steps: usize,
    /// Images of a batch, 2 to 1024; of fewer images half are a batch.
    pub batch: usize,
    /// Learning rate of the layers' weights at the beginning. It falls as a cosine to a 25th.
    pub weight_rate: f32,
    /// Learning rate of architecture weights.
    pub architecture_rate: f32,
    /// Cycles of each of [`Operation::SEARCHED`].
    pub costs: [u64; CHOICES],
}

/// Which setting is impossible.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SettingsError {
    /// A number outside its range.
    #[error("{found} {what}: give {range}")]
    Range {
        /// What is counted.
        what: &'static str,
        /// How many.
        found: usize,
        /// What is possible.
        range: &'static str,
    },
    /// A rate or a weight that is none.
    #[error("{found} as {what}: give a number from 0 on")]
    Number {
        /// What it is.
        what: &'static str,
        /// The number.
        found: f64,
    },
    /// The network would take too much memory.
    #[error(
        "a batch would leave {values} values for the way back: give fewer cells, channels or images of a batch"
    )]
    TooLarge {
        /// How many.
        values: usize,
    },
}

impl Default for Settings {
    /// The thesis' search (3.2.1 and appendix B.2) in a size for small images: 8 channels in place of 16, batches of 16
    /// in place of 64. Its 19,500 steps move an architecture weight by about 3 · 10^-4 each; fewer steps take a rate that
    /// lets a weight move almost as far.
    fn default() -> Self {
        Self {
            trade_off: TradeOff::weighing(TradeOff::WEIGHTS[0]),
            seed: 0,
            cells: 8,
            cell_steps: 4,
            channels: 8,
            steps: 200,
            batch: 16,
            weight_rate: 0.025,
            architecture_rate: 0.02,
            costs: Self::costs_of(&OperationCosts::table_3_2()),
        }
    }
}

impl Settings {
    /// What a search charges for each operation.
    #[must_use]
    pub fn costs_of(costs: &OperationCosts) -> [u64; CHOICES] {
        Operation::SEARCHED.map(|operation| costs.of(operation))
    }

    /// The costs by operation. Those that are not searched cost nothing.
    #[must_use]
    pub fn operation_costs(&self) -> OperationCosts {
        OperationCosts::from_fn(|operation| {
            let known = Operation::SEARCHED.into_iter().zip(self.costs);
            known.filter(|(other, _)| *other == operation).map(|(_, cycles)| cycles).sum()
        })
    }

    pub(crate) fn check(&self, samples: &Samples) -> Result<Sizes, SettingsError> {
        let within = |what, found: usize, least, most, range| match (least..=most).contains(&found)
        {
            true => Ok(()),
            false => Err(SettingsError::Range { what, found, range }),
        };
        within("cells", self.cells, 1, 64, "1 to 64")?;
        within("steps of a cell", self.cell_steps, 1, MOST_STEPS, "1 to 8")?;
        within("channels", self.channels, 2, 64, "an even number from 2 to 64")?;
        within("channels", self.channels % 2, 0, 0, "an even number from 2 to 64")?;
        within("steps", self.steps, 1, 1_000_000, "1 to 1,000,000")?;
        within("images of a batch", self.batch, 2, 1024, "2 to 1024")?;
        let side = samples.side();
        within("pixels of height and width", side, 4, 64, "a multiple of 4 from 4 to 64")?;
        within("pixels beyond a multiple of 4", side % 4, 0, 0, "a side that is a multiple of 4")?;
        for (what, found) in [
            ("trade-off", self.trade_off.weight),
            ("exponent", self.trade_off.exponent),
            ("learning rate", f64::from(self.weight_rate)),
            ("learning rate of the architecture", f64::from(self.architecture_rate)),
        ] {
            if !(found.is_finite() && found >= 0.0) {
                return Err(SettingsError::Number { what, found });
            }
        }
        let edges = crate::supernet::rows(self.cell_steps);
        // About sixteen values for each channel of each edge; reductions halve what a cell has.
        let of_cell = 16 * edges * self.channels * side * side;
        let values = of_cell.saturating_mul(self.cells).saturating_mul(self.batch);
        if values > MOST_KEPT {
            return Err(SettingsError::TooLarge { values });
        }
        Ok(Sizes {
            cells: self.cells,
            steps: self.cell_steps,
            channels: self.channels,
            side,
            colours: 1,
            classes: samples.classes(),
        })
    }
}
