//! The model's layers in tiles: one decision in front of all others, which are of the graph in tiles. So tiles go
//! together with every order, aliasing, depth-first group and memory.

use crate::PlanError;
use serde::{Deserialize, Serialize};
use tilewright_model::tiling::{self, Grid, Region, Tiled, Tiling, TilingError};
use tilewright_model::{Model, TensorId};
use tilewright_plan::Bytes;
use tilewright_report::Unsupported;

/// Which layers are made in tiles, as numbers of nodes, and in how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tiles {
    /// The first node.
    pub first: usize,
    /// The node behind the last.
    pub end: usize,
    /// Tiles one below the other.
    pub rows: u16,
    /// Tiles side by side.
    pub columns: u16,
}

impl Tiles {
    /// Those of a graph in tiles.
    pub fn of(tiled: &Tiled) -> Self {
        let Tiled { region, grid, .. } = tiled;
        let (first, end) = (region.nodes.start, region.nodes.end);
        Self { first, end, rows: grid.rows, columns: grid.columns }
    }

    /// The model in these tiles.
    ///
    /// # Errors
    /// [`TilingError`] says why it cannot be.
    pub fn tiled(self, model: &Model) -> Result<Tiled, TilingError> {
        let Self { first, end, rows, columns } = self;
        tiling::tile_region(model, Region::spanning(model, first..end)?, Grid { rows, columns })
    }
}

/// Grids that are worth a look: few tiles, since each makes its halo again.
const GRIDS: [[u16; 2]; 11] =
    [[2, 1], [1, 2], [2, 2], [3, 1], [1, 3], [3, 3], [4, 1], [1, 4], [4, 2], [2, 4], [4, 4]];

/// Tilings of a model that differ in their layers or their grids; none if nothing of it can be made in tiles.
#[must_use]
pub fn tilings(model: &Model) -> Vec<Tiling> {
    of_regions(regions(model))
}

/// Those of them that a budget may hold if no two tensors share bytes.
pub fn tilings_within(model: &Model, budget: Bytes) -> Vec<Tiling> {
    let active = tiling::active_bytes(model);
    let bytes = |id: TensorId| model.tensor(id).bytes().unwrap_or(0) as u64;
    let is_small = |(_, region): &(u16, Region)| {
        let mut others = (0..active.len()).filter(|node| !region.nodes.contains(node));
        let [from, to] = [region.input, region.output].map(bytes);
        // What joins the tiles is there beside all of them, and half of them at least beside what they are cut from.
        others.all(|node| active[node] <= budget.0) && to.max(from / 2 + to / 4) <= budget.0 / 2
    };
    of_regions(regions(model).into_iter().filter(is_small).collect())
}

/// Regions that differ, with their thresholds.
fn regions(model: &Model) -> Vec<(u16, Region)> {
    let mut regions: Vec<(u16, Region)> = Vec::new();
    for threshold in (100..=900).rev().step_by(100) {
        if let Ok(region) = Region::of(model, threshold)
            && regions.iter().all(|(_, known)| *known != region)
        {
            regions.push((threshold, region));
        }
    }
    regions
}

fn of_regions(regions: Vec<(u16, Region)>) -> Vec<Tiling> {
    let of_region = |(threshold, _): (u16, Region)| {
        GRIDS.map(|[rows, columns]| Tiling { grid: Grid { rows, columns }, threshold })
    };
    regions.into_iter().flat_map(of_region).collect()
}

/// Why there is no plan in tiles.
pub fn unsupported(error: &TilingError) -> PlanError {
    let remedy = match error {
        TilingError::NoRegion { .. } | TilingError::NoLayers => "Plan the model without tiles.",
        TilingError::TooFine { .. } | TilingError::TooMany { .. } => "Choose fewer tiles.",
        TilingError::Grid => "Choose a grid such as 2x2.",
        TilingError::Threshold => "Choose a threshold such as 0.4.",
    };
    Unsupported::new(error.to_string(), "tiles", remedy).into()
}
