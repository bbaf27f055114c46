//! Cipolletta and Calimera: sparse weights and layers in tiles.

use tilewright_explore::{Experiment, FIT_BOARD, Fit};
use tilewright_planner::Stop;
use tilewright_report::{Family, FitCell, PaperFigure, Technique};

use crate::{Paper, Part, board, figure};

/// The paper.
pub(crate) const PAPER: Paper = Paper {
    id: "sparse-tiled",
    name: "Sparse and tiled",
    citation: "Cipolletta, Calimera: On the Efficiency of Sparse-Tiled Tensor Graph Processing for Low Memory Usage, \
               DAC 2021, doi:10.1109/DAC18074.2021.9586154",
    reading: "SRAM as the paper counts it: of layers one by one their operands and results, of a region in tiles its \
              ends whole and the largest tile. Layers above 0.4 of the peak are in tiles (IV.B says below; above is \
              meant), in a grid of 2x2; 80 % of weights are zero in groups of two, depthwise layers dense.",
    parts: &[Part { title: "what fits", figures: what_fits }],
};

/// Networks of six that fit: family, technique, printed.
const FITTING: [(Family, Technique, f64); 7] = [
    (Family::V1, Technique::Dense, 2.0),
    (Family::V1, Technique::Sparse, 3.0),
    (Family::V1, Technique::Tiled, 2.0),
    (Family::V1, Technique::SparseTiled, 6.0),
    (Family::V2, Technique::Dense, 0.0),
    (Family::V2, Technique::Sparse, 0.0),
    (Family::V2, Technique::SparseTiled, 6.0),
];

fn what_fits(stop: &Stop) -> Result<Vec<PaperFigure>, String> {
    let mut fit = Fit::new(&board(FIT_BOARD)?);
    loop {
        stop.after(0).map_err(|error| error.to_string())?;
        if !fit.advance().map_err(|error| error.to_string())? {
            break;
        }
    }
    let report = fit.report();
    let mut figures = Vec::new();
    for (family, technique, printed) in FITTING {
        let is_it = |cell: &&FitCell| cell.family == family && cell.technique == technique;
        let fits = |cell: &&FitCell| cell.lacks_as_published().is_empty();
        let ours = report.cells.iter().filter(is_it).filter(fits).count() as f64;
        let of = format!("{}, six sizes", family.name());
        figures.push(figure(
            "networks that fit",
            (of, technique.name()),
            (ours, Some(printed)),
            "",
        ));
    }
    for technique in [Technique::Dense, Technique::SparseTiled] {
        for cell in report.cells.iter().filter(|cell| cell.technique == technique) {
            let Some(bytes) = cell.published_sram_bytes else { continue };
            let row = (cell.title(), technique.name());
            figures.push(figure("SRAM by the paper's count", row, (bytes as f64, None), "B"));
        }
    }
    Ok(figures)
}
