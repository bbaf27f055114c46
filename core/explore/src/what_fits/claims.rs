//! What Cipolletta and Calimera say of their experiment, and whether it holds here.

use tilewright_report::{Family, FitCell, FitClaim, Technique};

/// How SRAM is counted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Count {
    Published,
    Planned,
}

/// The cells of a family.
struct Of<'c> {
    cells: &'c [FitCell],
    family: Family,
    count: Count,
}

impl Of<'_> {
    fn all(&self, technique: Technique) -> impl Iterator<Item = &FitCell> {
        let is_meant =
            move |cell: &&FitCell| cell.family == self.family && cell.technique == technique;
        self.cells.iter().filter(is_meant)
    }

    fn fits(&self, cell: &FitCell) -> bool {
        match self.count {
            Count::Published => cell.lacks_as_published().is_empty(),
            Count::Planned => cell.lacks().is_empty(),
        }
    }

    fn sram(&self, cell: &FitCell) -> f64 {
        match (self.count, cell.published_sram_bytes) {
            (Count::Published, Some(bytes)) => bytes as f64,
            _ => cell.sram_bytes as f64,
        }
    }

    /// The sizes that fit, in the order of the experiment.
    fn fitting(&self, technique: Technique) -> Vec<String> {
        let fitting = self.all(technique).filter(|cell| self.fits(cell));
        fitting.map(|cell| format!("{}@{}", cell.width, cell.resolution)).collect()
    }

    /// A figure of each size with two techniques, one divided by the other.
    fn ratios<'a>(
        &'a self,
        [one, other]: [Technique; 2],
        width: Option<&'a str>,
        figure: impl Fn(&FitCell) -> f64 + 'a,
    ) -> impl Iterator<Item = f64> + 'a {
        let pairs = self.all(one).zip(self.all(other));
        let meant = pairs.filter(move |(cell, _)| width.is_none_or(|width| cell.width == width));
        meant.map(move |(one, other)| figure(one) / figure(other))
    }
}

fn latency(cell: &FitCell) -> f64 {
    cell.latency_us.unwrap_or(f64::NAN)
}

/// The least and the largest.
fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::MAX, f64::MIN), |(least, most), value| (least.min(value), most.max(value)))
}

fn listed(sizes: &[String]) -> String {
    if sizes.is_empty() { "none".to_owned() } else { sizes.join(", ") }
}

/// A claim, by both counts.
fn by_both(
    cells: &[FitCell],
    family: Family,
    claim: &'static str,
    judge: impl Fn(&Of<'_>) -> (bool, String),
) -> FitClaim {
    let (as_published, _) = judge(&Of { cells, family, count: Count::Published });
    let (as_planned, found) = judge(&Of { cells, family, count: Count::Planned });
    FitClaim { claim: claim.to_owned(), as_published, as_planned, found }
}

/// The paper's claims of a whole experiment.
pub fn claims(cells: &[FitCell]) -> Vec<FitClaim> {
    use Technique::{Dense, Sparse, SparseTiled, Tiled};
    let fitting = |family, claim, technique: Technique, expected: &'static [&'static str]| {
        by_both(cells, family, claim, |of| {
            let found = of.fitting(technique);
            (found == expected, format!("fit: {}", listed(&found)))
        })
    };
    let all = &["1.00@192", "1.00@160", "0.75@192", "0.75@160", "0.50@192", "0.50@160"];
    let half = &["0.50@192", "0.50@160"];
    vec![
        fitting(Family::V1, "V1: of dense networks two fit, 0.50@192 and 0.50@160", Dense, half),
        fitting(
            Family::V1,
            "V1: sparse weights let 0.75@160 join them",
            Sparse,
            &["0.75@160", "0.50@192", "0.50@160"],
        ),
        fitting(Family::V1, "V1: in tiles, dense, no width above 0.50 fits flash", Tiled, half),
        fitting(Family::V1, "V1: sparse and tiled, all fit", SparseTiled, all),
        by_both(cells, Family::V1, "V1: tiles take about 50 % less SRAM (40 to 60)", |of| {
            let (least, most) = range(of.ratios([Tiled, Dense], None, |cell| of.sram(cell)));
            let found =
                format!("{:.0} to {:.0} % less", 100.0 - 100.0 * most, 100.0 - 100.0 * least);
            (least >= 0.4 && most <= 0.6, found)
        }),
        by_both(
            cells,
            Family::V1,
            "V1: tiles take about 10 % more time (5 to 15), width 0.50",
            |of| {
                let dense = of.ratios([Tiled, Dense], Some("0.50"), latency);
                let sparse = of.ratios([SparseTiled, Sparse], Some("0.50"), latency);
                let (least, most) = range(dense.chain(sparse));
                let found =
                    format!("{:.1} to {:.1} % more", 100.0 * least - 100.0, 100.0 * most - 100.0);
                (least >= 1.05 && most <= 1.15, found)
            },
        ),
        by_both(
            cells,
            Family::V1,
            "V1: sparse and tiled is faster than dense and than tiled, width 0.50",
            |of| {
                let dense = of.ratios([SparseTiled, Dense], Some("0.50"), latency);
                let tiled = of.ratios([SparseTiled, Tiled], Some("0.50"), latency);
                let (least, most) = range(dense.chain(tiled));
                (most < 1.0, format!("{least:.2} to {most:.2} of the time"))
            },
        ),
        fitting(Family::V2, "V2: no dense network fits", Dense, &[]),
        fitting(Family::V2, "V2: without tiles none fits, sparse or not", Sparse, &[]),
        fitting(Family::V2, "V2: sparse and tiled, all fit", SparseTiled, all),
        by_both(cells, Family::V2, "V2: widths 1.00 and 0.75 take the same SRAM, dense", |of| {
            let sram = |width: &str| -> Vec<f64> {
                let meant = of.all(Dense).filter(|cell| cell.width == width);
                meant.map(|cell| of.sram(cell)).collect()
            };
            let (wide, narrow) = (sram("1.00"), sram("0.75"));
            (wide == narrow, format!("{wide:?} and {narrow:?} B"))
        }),
    ]
}
