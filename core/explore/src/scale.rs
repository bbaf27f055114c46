//! One backbone in 165 sizes: what is most accurate within a latency. Sadiq's thesis, 5.2.2, chooses so for nine limits
//! (its table 5.2); 5.1.2 names what does not pay.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use tilewright_board::Board;
use tilewright_plan::{Bytes, Micros};
use tilewright_planner::Strategy;
use tilewright_report::{
    Diminishing, ScaleReport, ScaleTarget, ScaledNetwork, SweepRow, TradeOff, WithinLimit,
};
use tilewright_zoo::ZooError;

use crate::{AccuracyTable, Dimensions, ExploreError, Sweep, SweepModel};

/// The backbone that the thesis searches.
pub const SCALE_BACKBONE: &str = "mobilenet-v3-thesis";

/// The board that it measures on, with the kernels that it uses.
pub const SCALE_BOARD: &str = "paper-tinyops-f746";

/// The latencies of its table 5.2 on that board, in milliseconds (measured).
pub const SCALE_LIMITS_MS: [u32; 9] = [261, 520, 762, 993, 1306, 1561, 1830, 2182, 2448];

/// Its widths in hundredths, each 5, and its resolutions in pixels, each 16 (5.2.1.2).
const WIDTHS: RangeInclusive<u8> = 30..=100;
const RESOLUTIONS: RangeInclusive<usize> = 64..=224;

/// Width in hundredths, and resolution in pixels.
#[derive(Clone, Copy, Debug)]
struct Size {
    width: u8,
    resolution: usize,
}

impl Size {
    fn width(self) -> f64 {
        f64::from(self.width) / 100.0
    }

    fn name(self, backbone: &str) -> String {
        format!("{backbone}-w{}-r{}", self.width(), self.resolution)
    }
}

/// By width, then by resolution.
fn sizes() -> Vec<Size> {
    let of = |width| RESOLUTIONS.step_by(16).map(move |resolution| Size { width, resolution });
    WIDTHS.step_by(5).flat_map(of).collect()
}

/// What a backbone is planned for.
pub struct Targets {
    /// Boards.
    pub boards: Vec<Board>,
    /// Strategies.
    pub strategies: Vec<Strategy>,
    /// Budget of SRAM; nothing: all that a board has for tensors.
    pub sram: Option<Bytes>,
}

/// A backbone's sizes as a sweep, and what its rows say.
pub struct Scale {
    backbone: String,
    limits: Vec<Micros>,
    accuracies: AccuracyTable,
    /// By the names that rows have.
    sizes: BTreeMap<String, Size>,
    sweep: Sweep,
}

impl Scale {
    /// All sizes of a backbone on each board by each strategy.
    ///
    /// # Errors
    /// If the zoo does not have the backbone in these sizes, or the table no accuracy of any; or if there is no target.
    pub fn new(
        backbone: &str,
        targets: Targets,
        limits: &[Micros],
        accuracies: AccuracyTable,
    ) -> Result<Self, ExploreError> {
        let named = |size: Size| Ok((tilewright_zoo::canonical(&size.name(backbone))?, size));
        let sizes = sizes().into_iter().map(named).collect::<Result<Vec<_>, ZooError>>()?;
        if sizes.iter().all(|(name, _)| accuracies.of(name).is_none()) {
            return Err(ExploreError::NoAccuracy {
                backbone: backbone.to_owned(),
                sizes: sizes.len(),
                such_as: sizes.last().map(|(_, size)| size.name(backbone)).unwrap_or_default(),
            });
        }
        let models = sizes.iter().map(|(name, _)| SweepModel::zoo(name)).collect();
        let sweep = Sweep::new(Dimensions {
            budgets: vec![targets.sram],
            ..Dimensions::of(models, targets.boards, targets.strategies)
        })?;
        let (backbone, limits) = (backbone.to_owned(), limits.to_vec());
        Ok(Self { backbone, limits, accuracies, sizes: sizes.into_iter().collect(), sweep })
    }

    /// What is to be planned.
    #[must_use]
    pub const fn sweep(&self) -> &Sweep {
        &self.sweep
    }

    /// What the rows say that were planned.
    #[must_use]
    pub fn report(&self, rows: &[SweepRow]) -> ScaleReport {
        let target = |(board, strategy): (&Board, Strategy)| {
            let (board, strategy) = (board.id.clone(), strategy.name().to_owned());
            let is_of = |row: &&SweepRow| row.key.board == board && row.key.strategy == strategy;
            let sizes: Vec<_> =
                rows.iter().filter(is_of).filter_map(|row| self.scaled(row)).collect();
            ScaleTarget {
                limits: self.limits.iter().map(|limit| within(&sizes, *limit)).collect(),
                front: front(&sizes),
                diminishing: diminishing(&sizes),
                board,
                strategy,
                sizes,
            }
        };
        ScaleReport {
            backbone: self.backbone.clone(),
            of: self.sizes.len(),
            targets: self.sweep.targets().map(target).collect(),
        }
    }

    /// A row with its size and accuracy.
    fn scaled(&self, row: &SweepRow) -> Option<ScaledNetwork> {
        let size = self.sizes.get(&row.key.network)?;
        Some(ScaledNetwork {
            width: size.width(),
            resolution: size.resolution,
            row: row.clone(),
            accuracy: self.accuracies.of(&row.key.network).cloned(),
        })
    }
}

/// A network with its place in the chart.
#[derive(Clone, Copy)]
struct Placed<'s> {
    network: &'s str,
    width: f64,
    at: TradeOff,
}

/// Those that run and whose accuracy is known.
fn placed(sizes: &[ScaledNetwork]) -> impl Iterator<Item = Placed<'_>> {
    sizes.iter().filter_map(|size| {
        Some(Placed { network: &size.row.key.network, width: size.width, at: size.trade_off()? })
    })
}

/// The most accurate, the fastest of those.
fn best<'s>(of: impl Iterator<Item = Placed<'s>>) -> Option<Placed<'s>> {
    of.min_by(|a, b| {
        let more_accurate = b.at.percent.total_cmp(&a.at.percent);
        more_accurate.then(a.at.latency_us.total_cmp(&b.at.latency_us))
    })
}

fn within(sizes: &[ScaledNetwork], Micros(limit_us): Micros) -> WithinLimit {
    let meet_it =
        sizes.iter().filter_map(|size| size.row.latency_us()).filter(|us| *us <= limit_us).count();
    let of_known = || placed(sizes).filter(|placed| placed.at.latency_us <= limit_us);
    WithinLimit {
        limit_us,
        network: best(of_known()).map(|best| best.network.to_owned()),
        meet_it: meet_it.into(),
        of_known_accuracy: of_known().count(),
    }
}

fn front(sizes: &[ScaledNetwork]) -> Vec<String> {
    let is_best = |one: &Placed<'_>| placed(sizes).all(|other| !other.at.dominates(&one.at));
    let mut front: Vec<Placed<'_>> = placed(sizes).filter(is_best).collect();
    front.sort_by(|a, b| a.at.latency_us.total_cmp(&b.at.latency_us));
    front.into_iter().map(|placed| placed.network.to_owned()).collect()
}

fn diminishing(sizes: &[ScaledNetwork]) -> Vec<Diminishing> {
    let mut found: Vec<Diminishing> = Vec::new();
    for one in placed(sizes) {
        let wider = placed(sizes).filter(|other| other.width > one.width);
        let better = best(wider.filter(|other| other.at.dominates(&one.at)));
        let is_first = found.last().is_none_or(|last| last.width != one.width);
        if let Some(better) = better.filter(|_| is_first) {
            let (width, network, by) =
                (one.width, one.network.to_owned(), better.network.to_owned());
            found.push(Diminishing { width, network, by });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_report::{Accuracy, SweepKey, SweepPlan};

    /// A size that runs in so many microseconds, and its accuracy.
    fn size(width: f64, network: &str, latency_us: f64, percent: Option<f64>) -> ScaledNetwork {
        let key = SweepKey {
            network: network.to_owned(),
            board: "board".to_owned(),
            strategy: "auto".to_owned(),
            sram_budget_bytes: None,
            clock_hz: None,
            card: None,
            frames: 1,
        };
        let plan = SweepPlan {
            fits: true,
            latency_us: Some(Micros(latency_us).into()),
            sram_bytes: Bytes(1).into(),
            flash_bytes: Bytes(1).into(),
            external_bytes: Bytes(0).into(),
            energy_uj: None,
            card_written_bytes: 0.0.into(),
            card_years: None,
        };
        let accuracy = percent.map(|int8_percent| Accuracy {
            int8_percent: int8_percent.into(),
            fp32_percent: None,
            source: "a test".to_owned(),
        });
        let row = SweepRow {
            key,
            macs: Some(1.into()),
            parameters: Some(1.into()),
            plan: Some(plan),
            problem: None,
        };
        ScaledNetwork { width, resolution: 64, row, accuracy }
    }

    fn sizes() -> Vec<ScaledNetwork> {
        let mut sizes = vec![
            size(0.3, "a", 10.0, Some(50.0)),
            size(0.3, "b", 20.0, None),
            size(0.3, "c", 30.0, Some(60.0)),
            size(0.3, "d", 40.0, Some(61.0)),
            size(0.5, "e", 25.0, Some(60.0)),
            size(0.5, "f", 50.0, Some(70.0)),
            size(1.0, "g", 24.0, Some(60.0)),
            size(1.0, "h", 5.0, Some(99.0)),
        ];
        // The best of all does not fit.
        sizes[7].row.plan.as_mut().unwrap().fits = false;
        sizes
    }

    #[test]
    fn the_most_accurate_that_meets_a_limit_is_taken_and_of_equals_the_fastest() {
        let sizes = sizes();
        let chosen = |limit| within(&sizes, Micros(limit));
        assert_eq!(chosen(9.0).network, None);
        assert_eq!(chosen(10.0).network.as_deref(), Some("a"));
        assert_eq!(chosen(24.0).network.as_deref(), Some("g"));
        let many = chosen(30.0);
        assert_eq!(many.network.as_deref(), Some("g"));
        assert_eq!((*many.meet_it, many.of_known_accuracy), (5, 4));
        assert_eq!(chosen(1e9).network.as_deref(), Some("f"));
    }

    #[test]
    fn the_front_holds_what_nothing_dominates() {
        assert_eq!(front(&sizes()), ["a", "g", "d", "f"]);
    }

    #[test]
    fn a_width_ends_where_a_wider_one_dominates_it() {
        let found = diminishing(&sizes());
        let of = |width, network: &str, by: &str| Diminishing {
            width,
            network: network.to_owned(),
            by: by.to_owned(),
        };
        assert_eq!(found, [of(0.3, "c", "g"), of(0.5, "e", "g")]);
    }

    #[test]
    fn equals_dominate_neither() {
        let equals = [size(0.3, "a", 10.0, Some(50.0)), size(0.5, "b", 10.0, Some(50.0))];
        assert_eq!(front(&equals), ["a", "b"]);
        assert!(diminishing(&equals).is_empty());
    }
}
