//! What fits a small board: twelve MobileNets, each dense, sparse, in tiles, and both (Cipolletta and Calimera, IV),
//! and as `auto` plans the sparse one.

mod claims;

use claims::claims;
use std::num::NonZeroUsize;

use crate::{Experiment, ExploreError, published_sram};
use tilewright_board::Board;
use tilewright_model::Model;
use tilewright_model::prune::Pruning;
use tilewright_model::tiling::{self, Tiling};
use tilewright_plan::Bytes;
use tilewright_planner::{Objective, Options, Strategy, plan};
use tilewright_report::{Family, FitCell, FitReport, Technique};

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

/// The experiment under way.
pub struct Fit {
    board: Board,
    cells: Vec<FitCell>,
    /// The network under way: dense, and sparse.
    models: Option<[Model; 2]>,
}

impl Fit {
    /// Begins the experiment on a board.
    #[must_use]
    pub fn new(board: &Board) -> Self {
        Self { board: board.clone(), cells: Vec::new(), models: None }
    }

    /// All cells, with what the paper says of them.
    #[must_use]
    pub fn report(self) -> FitReport {
        let claims = claims(&self.cells);
        FitReport { board: self.board.id, cells: self.cells, claims }
    }
}

impl Experiment for Fit {
    fn steps(&self) -> usize {
        NETWORKS.len() * Technique::ALL.len()
    }

    fn done(&self) -> usize {
        self.cells.len()
    }

    fn last(&self) -> Option<String> {
        let cell = self.cells.last()?;
        Some(format!("{}, {}", cell.title(), cell.technique.name()))
    }

    fn advance(&mut self) -> Result<bool, ExploreError> {
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
        let model = if is_sparse(technique) { sparse } else { dense };
        let tiling = is_tiled(technique).then_some(Tiling::PUBLISHED);
        let published = match &tiling {
            None => published_sram::whole(model),
            Some(tiling) => {
                let tiled = tiling::tile(model, tiling)
                    .map_err(|error| ExploreError::Tiles { network: network.clone(), error })?;
                published_sram::in_tiles(model, &tiled)
            }
        };
        let options = Options {
            tiling,
            objective: Objective::Latency,
            is_inside: true,
            ..Options::default()
        };
        let planned = plan(model, &self.board, strategy(technique), &options).map_err(|error| {
            ExploreError::Plan { network: network.clone(), technique: technique.name(), error }
        })?;
        let report = &planned.report;
        self.cells.push(FitCell {
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
            macs: *report.macs,
            recomputed_macs: *report.recomputed_macs,
            fits: report.fits,
        });
        Ok(true)
    }
}

const fn is_sparse(technique: Technique) -> bool {
    matches!(technique, Technique::Sparse | Technique::SparseTiled | Technique::Auto)
}

const fn is_tiled(technique: Technique) -> bool {
    matches!(technique, Technique::Tiled | Technique::SparseTiled)
}

const fn strategy(technique: Technique) -> Strategy {
    match technique {
        Technique::SparseTiled => Strategy::SparseTiled,
        Technique::Auto => Strategy::Auto,
        Technique::Dense | Technique::Sparse | Technique::Tiled => Strategy::Resident,
    }
}
