//! What fits a small board: twelve MobileNets, each dense, sparse, in tiles, and both (Cipolletta and Calimera, IV),
//! and as `auto` plans the sparse one.

mod claims;

pub use claims::{Claim, claims};

use std::num::NonZeroUsize;

use crate::published;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use tilewright_board::Board;
use tilewright_model::Model;
use tilewright_model::prune::Pruning;
use tilewright_model::tiling::{self, Tiling, TilingError};
use tilewright_plan::Bytes;
use tilewright_planner::{Objective, Options, PlanError, Strategy, plan};
use tilewright_report::{FLASH, SRAM};
use tilewright_zoo::ZooError;

/// The paper's board, with what of its memory is usable.
pub const FIT_BOARD: &str = "paper-sparse-f767";

/// Family, width multiplier, resolution, and top-1 accuracy on ImageNet in per mille (table I).
const NETWORKS: [(Family, &str, u32, u16); 12] = [
    (Family::V1, "1.00", 192, 692),
    (Family::V1, "1.00", 160, 672),
    (Family::V1, "0.75", 192, 661),
    (Family::V1, "0.75", 160, 623),
    (Family::V1, "0.50", 192, 600),
    (Family::V1, "0.50", 160, 577),
    (Family::V2, "1.00", 192, 707),
    (Family::V2, "1.00", 160, 688),
    (Family::V2, "0.75", 192, 687),
    (Family::V2, "0.75", 160, 664),
    (Family::V2, "0.50", 192, 639),
    (Family::V2, "0.50", 160, 610),
];

/// Thousandths of the weights that are zero, and how many neighbours together (III.A).
const SPARSITY: u16 = 800;
const GROUP: NonZeroUsize = NonZeroUsize::new(2).unwrap();

/// A family of networks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// MobileNetV1.
    V1,
    /// MobileNetV2.
    V2,
}

/// What is done to a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Technique {
    /// Nothing: order as given, layers whole, weights in flash.
    Dense,
    /// Four of five weights are zero and not stored.
    Sparse,
    /// The layers of most active memory are in 2x2 tiles.
    Tiled,
    /// Both.
    SparseTiled,
    /// The best plan of the sparse network that is found.
    Auto,
}

impl Technique {
    /// All, in the order of the experiment.
    pub const ALL: [Self; 5] =
        [Self::Dense, Self::Sparse, Self::Tiled, Self::SparseTiled, Self::Auto];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dense => "dense",
            Self::Sparse => "sparse",
            Self::Tiled => "tiled",
            Self::SparseTiled => "sparse-tiled",
            Self::Auto => "auto",
        }
    }

    const fn is_sparse(self) -> bool {
        matches!(self, Self::Sparse | Self::SparseTiled | Self::Auto)
    }

    const fn is_tiled(self) -> bool {
        matches!(self, Self::Tiled | Self::SparseTiled)
    }

    const fn strategy(self) -> Strategy {
        match self {
            Self::SparseTiled => Strategy::SparseTiled,
            Self::Auto => Strategy::Auto,
            Self::Dense | Self::Sparse | Self::Tiled => Strategy::Resident,
        }
    }
}

/// A network with a technique.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The network's name in the zoo.
    pub network: String,
    /// Its family.
    pub family: Family,
    /// Its width multiplier.
    pub width: String,
    /// Rows and columns of its input.
    pub resolution: u32,
    /// Top-1 accuracy on ImageNet in per mille, as published for the dense network.
    pub accuracy_permille: u16,
    /// What was done.
    pub technique: Technique,
    /// The tensor arena (counted).
    pub sram_bytes: u64,
    /// SRAM as the paper counts it; nothing of what the paper does not have.
    pub published_sram_bytes: Option<u64>,
    /// Flash of the plan (counted).
    pub flash_bytes: u64,
    /// SRAM and flash that are usable.
    pub limits: [u64; 2],
    /// Predicted latency (modelled), whether it fits or not.
    pub latency_us: Option<f64>,
    /// Multiply-accumulates, and those of them that tiles make again.
    pub macs: u64,
    /// See `macs`.
    pub recomputed_macs: u64,
    /// Whether it fits.
    pub fits: bool,
}

impl Cell {
    /// What it has too little of, by the arena that was planned.
    #[must_use]
    pub fn lacks(&self) -> Vec<&'static str> {
        lacks(self.sram_bytes, self)
    }

    /// What it has too little of by the paper's count of SRAM.
    #[must_use]
    pub fn lacks_as_published(&self) -> Vec<&'static str> {
        lacks(self.published_sram_bytes.unwrap_or(self.sram_bytes), self)
    }
}

fn lacks(sram: u64, cell: &Cell) -> Vec<&'static str> {
    let needed = [(SRAM, sram), (FLASH, cell.flash_bytes)];
    let lacking = needed.into_iter().zip(cell.limits).filter(|((_, needed), had)| needed > had);
    lacking.map(|((name, _), _)| name).collect()
}

/// Why an experiment cannot go on.
#[derive(Debug, Error)]
pub enum ExploreError {
    /// A network cannot be built or quantised.
    #[error(transparent)]
    Network(#[from] ZooError),
    /// A network cannot be in tiles.
    #[error("{network}: {error}")]
    Tiles {
        /// The network.
        network: String,
        /// Why.
        error: TilingError,
    },
    /// There is no plan of a network.
    #[error("{network}, {technique}: {error}")]
    Plan {
        /// The network.
        network: String,
        /// What was done to it.
        technique: &'static str,
        /// Why.
        error: PlanError,
    },
}

/// The experiment under way.
pub struct Fit {
    board: Board,
    cells: Vec<Cell>,
    /// The network under way: dense, and sparse.
    models: Option<[Model; 2]>,
}

impl Fit {
    /// Begins the experiment on a board.
    #[must_use]
    pub fn new(board: &Board) -> Self {
        Self { board: board.clone(), cells: Vec::new(), models: None }
    }

    /// How many cells there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        NETWORKS.len() * Technique::ALL.len()
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The cells so far.
    #[must_use]
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// Makes the next cell; whether there was one.
    ///
    /// # Errors
    /// [`ExploreError`] says which network cannot be planned.
    pub fn advance(&mut self) -> Result<bool, ExploreError> {
        let techniques = Technique::ALL;
        let (row, column) =
            (self.cells.len() / techniques.len(), self.cells.len() % techniques.len());
        let Some((family, width, resolution, accuracy)) = NETWORKS.get(row).copied() else {
            return Ok(false);
        };
        let prefix = match family {
            Family::V1 => "v1",
            Family::V2 => "v2",
        };
        let network = format!("mobilenet-{prefix}-w{width}-r{resolution}");
        if column == 0 {
            let built = tilewright_zoo::network(&network)?;
            let pruning = Pruning { sparsity: SPARSITY, group: GROUP, is_global: false };
            self.models = Some([built.int8()?, built.pruned(&pruning)?]);
        }
        let (technique, Some([dense, sparse])) = (techniques[column], &self.models) else {
            return Ok(false);
        };
        let model = if technique.is_sparse() { sparse } else { dense };
        let tiling = technique.is_tiled().then_some(Tiling::PUBLISHED);
        let published = match &tiling {
            None => published::whole(model),
            Some(tiling) => {
                let tiled = tiling::tile(model, tiling)
                    .map_err(|error| ExploreError::Tiles { network: network.clone(), error })?;
                published::in_tiles(model, &tiled)
            }
        };
        let options = Options {
            tiling,
            objective: Objective::Latency,
            is_inside: true,
            ..Options::default()
        };
        let planned =
            plan(model, &self.board, technique.strategy(), &options).map_err(|error| {
                ExploreError::Plan { network: network.clone(), technique: technique.name(), error }
            })?;
        let report = &planned.report;
        self.cells.push(Cell {
            network,
            family,
            width: width.to_owned(),
            resolution,
            accuracy_permille: accuracy,
            technique,
            sram_bytes: report.peak_sram_bytes.0,
            published_sram_bytes: Some(published).filter(|_| technique != Technique::Auto),
            flash_bytes: report.flash_bytes.0,
            limits: [options.arena_on(&self.board), self.board.plan_bytes()].map(|Bytes(b)| b),
            latency_us: report.latency_us.map(|latency| latency.0),
            macs: report.macs,
            recomputed_macs: report.recomputed_macs,
            fits: report.fits,
        });
        Ok(true)
    }
}
