//! Whether it fits, and how near the board's limits it is.

use tilewright_board::Board;
use tilewright_report::{Kind, sentence, short_name};

use super::energy_and_wear::{energy, energy_fact};
use super::figures;
use super::run::{deviation, predicted_us};
use super::strategies::by;
use crate::message::PlanFacts;
use crate::state::Outcome;

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
    /// What it counts, where that is not plain.
    pub counts: &'static str,
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

/// What the verdict is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The plan fits.
    Fits,
    /// Its memory does, but the model cannot run.
    CannotRun,
    /// It does not fit.
    TooLarge,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Overview {
    /// Whether the plan fits, and can run.
    pub is: Verdict,
    /// The same in a sentence.
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

/// The overview of a plan on its board; `run` is the last run, if it was of the same settings.
#[must_use]
pub fn overview(plan: &PlanFacts, board: &Board, run: Option<&Outcome>) -> Overview {
    let report = &plan.report;
    let limit = plan.settings.sram_bytes.map_or(board.arena().0, |sram| sram.min(board.arena().0));
    let missing = report.no_program();
    let is = match (report.fits, &missing) {
        (true, None) if plan.no_image.is_none() => Verdict::Fits,
        (true, _) => Verdict::CannotRun,
        (false, _) => Verdict::TooLarge,
    };
    let (verdict, why) = match &report.does_not_fit {
        None if is == Verdict::CannotRun => {
            let what = if missing.is_some() { "its memory would fit" } else { "it would fit" };
            (format!("{} cannot run here; {what} {}", report.model, board.name), String::new())
        }
        None => {
            let time = report.latency_us.filter(|_| report.frames <= 1);
            let time = time.map_or_else(String::new, |t| format!(" in {}", figures::duration(t.0)));
            (format!("{} fits {}{time}, {}", report.model, board.name, by(plan)), String::new())
        }
        Some(reason) => {
            let place = if reason.operator.is_empty() {
                String::new()
            } else {
                format!(" {} needs most:", short_name(&reason.operator))
            };
            let why = format!(
                "{} is too small.{place} {} needed, {} had, {} missing.",
                reason.memory,
                figures::bytes(reason.needed_bytes.0),
                figures::bytes(reason.available_bytes.0),
                figures::binary((*reason.needed_bytes - *reason.available_bytes).0),
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
            counts: "up to the last byte that a step uses, gaps included",
            kind: if report.proved { Kind::Proved } else { report.peak_sram_bytes.kind() },
        },
        Gauge {
            title: "Flash",
            id: "flash",
            used: report.flash_bytes.0,
            limit: board.plan_bytes().0,
            limit_is: format!("{} behind the firmware", figures::binary(board.plan_bytes().0)),
            bound: None,
            counts: "",
            kind: report.flash_bytes.kind(),
        },
    ];
    let cannot_run = match (&missing, &plan.no_image) {
        (Some(why), _) => format!("{} {}", sentence(&why.what), why.remedy),
        (None, Some(why)) if report.fits => sentence(why),
        (None, _) => String::new(),
    };
    let slowest = report.layers.iter().max_by_key(|layer| layer.cycles);
    let mut facts = Vec::new();
    for (id, stage) in ["stage-1", "stage-2", "stage-3"].into_iter().zip(&report.stages) {
        facts.push(Fact {
            title: "Activations",
            id,
            value: figures::bytes(stage.bytes.0),
            detail: stage.what.clone(),
            kind: stage.bytes.kind(),
        });
    }
    if plan.memory.loaded_bytes.0 > 0 {
        facts.push(Fact {
            title: "Weights in SRAM",
            id: "loaded",
            value: figures::bytes(plan.memory.loaded_bytes.0),
            detail: "copied once, at boot, from flash that the core waits for".to_owned(),
            kind: report.peak_sram_bytes.kind(),
        });
    }
    if let Some(tiles) = &report.tiles {
        let nominal = *report.macs - *report.recomputed_macs;
        let more = figures::percent(*report.recomputed_macs as f64, nominal as f64);
        facts.push(Fact {
            title: "Computed again",
            id: "recomputed",
            value: more,
            detail: format!("of all MACs, at the edges of {tiles} tiles"),
            kind: report.recomputed_macs.kind(),
        });
    }
    if let Some(latency) = report.latency_us {
        facts.push(Fact {
            title: "Predicted latency",
            id: "latency",
            value: figures::duration(latency.0),
            detail: match (report.frames, slowest) {
                (2.., _) => format!("of {} frames", report.frames),
                (_, Some(layer)) => format!("most in {}", short_name(&layer.name)),
                (_, None) => String::new(),
            },
            kind: latency.kind(),
        });
        facts.extend(run.filter(|run| run.result.fault.is_none()).map(latency_of_run));
        if !plan.timeline.slices.is_empty() {
            facts.push(energy_fact(&energy(plan, &plan.timeline, board)));
        }
    }
    Overview { is, verdict, why, cannot_run, gauges, facts }
}

/// What a run took, beside what was predicted for it.
fn latency_of_run(run: &Outcome) -> Fact {
    let (value, predicted) = (run.result.latency_us.0, predicted_us(run));
    let detail = predicted.map_or_else(String::new, |predicted| deviation(value, predicted));
    Fact {
        title: "Latency of the run",
        id: "run-latency",
        value: figures::duration(value),
        detail,
        kind: Kind::Modelled,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view_model::fixture;
    use tilewright_plan::Bytes;
    use tilewright_plan::Micros;
    use tilewright_report::{DoesNotFit, RunResult};

    #[test]
    fn a_plan_that_fits_says_so() {
        let board = fixture::board();
        let overview = overview(&fixture::plan(), &board, None);
        assert!(overview.is == Verdict::Fits && overview.why.is_empty());
        assert!(overview.gauges.iter().all(|gauge| !gauge.is_over()));
        assert_eq!(overview.gauges[0].limit, board.arena().0);
        assert_eq!(overview.gauges[0].kind, Kind::Proved);
    }

    #[test]
    fn a_plan_without_kernels_has_no_times_and_says_which() {
        let mut plan = fixture::plan();
        assert_eq!(overview(&plan, &fixture::board(), None).cannot_run, "");
        plan.report.runnable = false;
        plan.report.latency_us = None;
        plan.report.layers[1].op = "LSTM".to_owned();
        plan.report.layers[1].no_kernel = Some("no kernel computes this operator".to_owned());
        let overview = overview(&plan, &fixture::board(), None);
        assert_eq!(overview.is, Verdict::CannotRun);
        assert!(overview.verdict.contains("cannot run"), "{}", overview.verdict);
        let planned_only = PlanFacts {
            no_image: Some("there is no firmware for it.".to_owned()),
            ..fixture::plan()
        };
        let view = super::overview(&planned_only, &fixture::board(), None);
        assert_eq!(
            (view.is, view.cannot_run.as_str()),
            (Verdict::CannotRun, "There is no firmware for it.")
        );
        assert!(overview.cannot_run.contains("LSTM (node 'second'"), "{}", overview.cannot_run);
        assert!(overview.facts.iter().all(|fact| fact.id == "macs"));
    }

    #[test]
    fn a_run_stands_beside_the_prediction_and_says_if_it_took_longer() {
        let (plan, board) = (std::rc::Rc::new(fixture::plan()), fixture::board());
        let mut run = Outcome {
            plan: std::rc::Rc::clone(&plan),
            reference: std::rc::Rc::new(crate::message::ReferenceFacts::default()),
            result: RunResult { latency_us: Micros(33.0).into(), ..fixture::result(Vec::new()) },
            comparison: None,
            recording: std::rc::Rc::default(),
        };
        let detail = |run: &Outcome| {
            let facts = overview(&plan, &board, Some(run)).facts;
            facts.into_iter().find(|fact| fact.id == "run-latency").map(|fact| fact.detail)
        };
        assert_eq!(
            detail(&run).unwrap(),
            "10 % over the prediction: more than the 5 % it may be off"
        );
        run.result.latency_us = Micros(30.3).into();
        assert_eq!(detail(&run).unwrap(), "1.0 % over the prediction");
        run.result.latency_us = Micros(29.7).into();
        assert_eq!(detail(&run).unwrap(), "1.0 % below the prediction");
    }

    #[test]
    fn a_plan_that_does_not_fit_names_operator_and_bytes() {
        let mut plan = fixture::plan();
        plan.settings.sram_bytes = Some(40);
        plan.report.fits = false;
        plan.report.does_not_fit = Some(DoesNotFit {
            memory: "SRAM".to_owned(),
            operator: "first".to_owned(),
            needed_bytes: Bytes(48).into(),
            available_bytes: Bytes(40).into(),
            parts: Vec::new(),
            remedies: Vec::new(),
            untried: 0,
        });
        let overview = overview(&plan, &fixture::board(), None);
        assert_eq!(overview.is, Verdict::TooLarge);
        for part in ["first", "48 B", "40 B", "8 B"] {
            assert!(overview.why.contains(part), "{}", overview.why);
        }
        assert!(overview.gauges[0].is_over());
        assert!((overview.gauges[0].fill() - 1.0).abs() < 1e-9);
        assert!(overview.gauges[0].share(40) < 1.0);
    }
}
