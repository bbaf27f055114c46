//! Whether it fits, and how near the board's limits it is.

use tilewright_board::Board;
use tilewright_report::{Kind, short_name};

use super::figures;
use super::upkeep::{energy, energy_fact};
use crate::message::PlanFacts;

/// A figure against a limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Gauge {
    /// What is measured.
    pub title: &'static str,
    /// Short name, for attributes.
    pub id: &'static str,
    /// What is used, in bytes.
    pub used: u64,
    /// What there is, in bytes.
    pub limit: u64,
    /// What the limit is, in words.
    pub limit_is: String,
    /// A mark on the bar with its meaning: no plan of this kind needs less.
    pub bound: Option<u64>,
    /// How the figure came to be.
    pub kind: Kind,
}

impl Gauge {
    /// Whether it is over the limit.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        self.used > self.limit
    }

    /// The length of the bar as a share of its track, 0 to 1; the track is the limit, or what is
    /// used if that is more.
    #[must_use]
    pub fn fill(&self) -> f64 {
        self.share(self.used)
    }

    /// Where `value` lies on the track, 0 to 1.
    #[must_use]
    pub fn share(&self, value: u64) -> f64 {
        value as f64 / self.used.max(self.limit).max(1) as f64
    }
}

/// A figure with its kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// What is measured.
    pub title: &'static str,
    /// Short name, for attributes.
    pub id: &'static str,
    /// The figure.
    pub value: String,
    /// Exact or other words beside.
    pub detail: String,
    /// How it came to be.
    pub kind: Kind,
}

/// The overview.
#[derive(Clone, Debug, PartialEq)]
pub struct Overview {
    /// Whether the plan fits.
    pub fits: bool,
    /// The verdict in a sentence.
    pub verdict: String,
    /// Why it does not fit; empty if it does.
    pub why: String,
    /// Which operators keep the plan from running; empty if it runs.
    pub cannot_run: String,
    /// Memories against the board's limits.
    pub gauges: Vec<Gauge>,
    /// Other figures.
    pub facts: Vec<Fact>,
}

/// The overview of a plan on its board.
#[must_use]
pub fn overview(plan: &PlanFacts, board: &Board) -> Overview {
    let report = &plan.report;
    let kind = |key: &str| report.kinds.get(key).copied().unwrap_or(Kind::Modelled);
    let limit = plan.settings.sram_bytes.map_or(board.arena().0, |sram| sram.min(board.arena().0));
    let (verdict, why) = match &report.does_not_fit {
        None => (format!("{} fits {}", report.model, board.name), String::new()),
        Some(reason) => {
            let place = if reason.operator.is_empty() {
                String::new()
            } else {
                format!(" {} needs most:", reason.operator)
            };
            let why = format!(
                "{} is too small.{place} {} needed, {} had, {} missing.",
                reason.memory,
                figures::bytes(reason.needed_bytes.0),
                figures::bytes(reason.available_bytes.0),
                figures::binary((reason.needed_bytes - reason.available_bytes).0),
            );
            (format!("{} does not fit {}", report.model, board.name), why)
        }
    };
    let budget = if plan.settings.sram_bytes.is_some() { "your budget" } else { "tensor arena" };
    let gauges = vec![
        Gauge {
            title: "Peak SRAM",
            id: "sram",
            used: report.peak_sram_bytes.0,
            limit,
            limit_is: format!("{budget} of {}", figures::binary(limit)),
            // What may all lie elsewhere has no bound worth a word.
            bound: Some(report.lower_bound_bytes.0).filter(|bound| *bound > 0),
            kind: if report.proved { Kind::Proved } else { kind("peak_sram_bytes") },
        },
        Gauge {
            title: "Flash",
            id: "flash",
            used: report.flash_bytes.0,
            limit: board.plan_bytes().0,
            limit_is: format!("{} behind the firmware", figures::binary(board.plan_bytes().0)),
            bound: None,
            kind: kind("flash_bytes"),
        },
    ];
    let predicted: u64 = report.layers.iter().map(|layer| layer.instructions).sum();
    let cannot_run = report.without_kernel().map_or_else(String::new, |layers| {
        format!(
            "Memory is planned, but the model cannot run: no kernel computes {layers}. Replace \
             these operators in the model by others that compute the same."
        )
    });
    let slowest = report.layers.iter().max_by_key(|layer| layer.cycles);
    let mut facts = Vec::new();
    if let Some(latency) = report.latency_us {
        facts.push(Fact {
            title: "Latency",
            id: "latency",
            value: figures::duration(latency.0),
            detail: match (report.frames, slowest) {
                (2.., _) => format!("of {} frames", report.frames),
                (_, Some(layer)) => format!("most in {}", short_name(&layer.name)),
                (_, None) => String::new(),
            },
            kind: kind("latency_us"),
        });
        facts.push(Fact {
            title: "Instructions",
            id: "instructions",
            value: figures::compact(predicted),
            detail: format!("{} predicted", figures::grouped(predicted)),
            kind: Kind::Modelled,
        });
        if !plan.timeline.slices.is_empty() {
            facts.push(energy_fact(&energy(plan, &plan.timeline, board)));
        }
    }
    Overview { fits: report.fits, verdict, why, cannot_run, gauges, facts }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view_model::fixture;
    use tilewright_plan::Bytes;
    use tilewright_report::DoesNotFit;

    #[test]
    fn a_plan_that_fits_says_so() {
        let board = fixture::board();
        let overview = overview(&fixture::plan(), &board);
        assert!(overview.fits && overview.why.is_empty());
        assert!(overview.gauges.iter().all(|gauge| !gauge.is_over()));
        assert_eq!(overview.gauges[0].limit, board.arena().0);
        assert_eq!(overview.gauges[0].kind, Kind::Proved);
    }

    #[test]
    fn a_plan_without_kernels_has_no_times_and_says_which() {
        let mut plan = fixture::plan();
        assert_eq!(overview(&plan, &fixture::board()).cannot_run, "");
        plan.report.runnable = false;
        plan.report.latency_us = None;
        plan.report.layers[1].op = "LSTM".to_owned();
        plan.report.layers[1].no_kernel = Some("no kernel computes this operator".to_owned());
        let overview = overview(&plan, &fixture::board());
        assert!(overview.fits);
        assert!(overview.cannot_run.contains("LSTM (node 'second'"), "{}", overview.cannot_run);
        assert!(overview.facts.iter().all(|fact| fact.id == "macs"));
    }

    #[test]
    fn a_plan_that_does_not_fit_names_operator_and_bytes() {
        let mut plan = fixture::plan();
        plan.settings.sram_bytes = Some(40);
        plan.report.fits = false;
        plan.report.does_not_fit = Some(DoesNotFit {
            memory: "SRAM".to_owned(),
            operator: "first".to_owned(),
            needed_bytes: Bytes(48),
            available_bytes: Bytes(40),
            parts: Vec::new(),
            remedies: Vec::new(),
            untried: 0,
        });
        let overview = overview(&plan, &fixture::board());
        assert!(!overview.fits);
        for part in ["first", "48 B", "40 B", "8 B"] {
            assert!(overview.why.contains(part), "{}", overview.why);
        }
        assert!(overview.gauges[0].is_over());
        assert!((overview.gauges[0].fill() - 1.0).abs() < 1e-9);
        assert!(overview.gauges[0].share(40) < 1.0);
    }
}
