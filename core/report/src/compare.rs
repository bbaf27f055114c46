//! Plans side by side: the figures that matter, and which plan has the best of each.

use crate::figure::{Kind, Modelled};
use crate::plan_report::PlanReport;
use tilewright_plan::Micros;

/// A figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// Whether something is so; yes is better.
    Flag(bool),
    /// Bytes; less is better, as of all that follow.
    Bytes(u64),
    /// A number of things.
    Count(u64),
    /// Microseconds.
    Micros(f64),
    /// Microjoules.
    Microjoules(f64),
}

/// A figure of several plans.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// Key in the report.
    pub key: &'static str,
    /// What it is, for people.
    pub title: &'static str,
    /// How it came to be.
    pub kind: Kind,
    /// For each plan; nothing where there is no plan or no figure.
    pub values: Vec<Option<Value>>,
    /// Whether a plan has the best one: of those that fit and run, if any does, else of those that
    /// fit, else of all. Nobody has where all are alike, and no is never best.
    pub best: Vec<bool>,
}

type Figure = (&'static str, &'static str, Kind, fn(&PlanReport) -> Option<Value>);

const FIGURES: [Figure; 14] = [
    ("fits", "fits", Kind::Proved, |r| Some(Value::Flag(r.fits))),
    ("runnable", "can run", Kind::Proved, |r| Some(Value::Flag(r.runnable))),
    ("peak_sram_bytes", "peak SRAM", Kind::Counted, |r| Some(Value::Bytes(r.peak_sram_bytes.0))),
    ("lower_bound_bytes", "lower bound", Kind::Proved, |r| {
        Some(Value::Bytes(r.lower_bound_bytes.0))
    }),
    ("proved", "proved least", Kind::Proved, |r| Some(Value::Flag(r.proved))),
    ("flash_bytes", "flash", Kind::Counted, |r| Some(Value::Bytes(r.flash_bytes.0))),
    ("external_bytes", "external memory", Kind::Counted, |r| {
        Some(Value::Bytes(r.external_bytes.0))
    }),
    ("macs", "MACs", Kind::Counted, |r| Some(Value::Count(*r.macs))),
    ("latency_us", "latency", Kind::Modelled, |r| time(r.latency_us)),
    ("transfer_us", "transfers", Kind::Modelled, |r| time(r.transfer_us)),
    ("stall_us", "stalls", Kind::Modelled, |r| time(r.stall_us)),
    ("read_bytes", "read from stores", Kind::Counted, |r| Some(Value::Bytes(r.read_bytes.0))),
    ("written_bytes", "written to stores", Kind::Counted, |r| {
        Some(Value::Bytes(r.written_bytes.0))
    }),
    ("energy_uj", "energy", Kind::Modelled, |r| {
        r.energy_uj.map(|energy| Value::Microjoules(*energy))
    }),
];

fn time(time: Option<Modelled<Micros>>) -> Option<Value> {
    time.map(|time| Value::Micros(time.0))
}

/// Figures that are left out where all plans have none of it.
const OFTEN_NONE: [&str; 6] =
    ["external_bytes", "transfer_us", "stall_us", "read_bytes", "written_bytes", "energy_uj"];

impl Value {
    /// The number in its unit; smaller is better.
    #[must_use]
    pub fn rank(self) -> f64 {
        match self {
            Self::Flag(is_so) => f64::from(u8::from(!is_so)),
            Self::Bytes(value) | Self::Count(value) => value as f64,
            Self::Micros(value) | Self::Microjoules(value) => value,
        }
    }
}

/// Compares plans; nothing stands for a strategy that has no plan.
#[must_use]
pub fn compare(plans: &[Option<&PlanReport>]) -> Vec<Compared> {
    let rank = |plan: &PlanReport| match (plan.fits, plan.runnable) {
        (true, true) => 0,
        (true, false) => 1,
        (false, _) => 2,
    };
    let highest = plans.iter().flatten().map(|plan| rank(plan)).min();
    let compared = |(key, title, kind, figure): Figure| {
        let values: Vec<Option<Value>> = plans.iter().map(|plan| plan.and_then(figure)).collect();
        let competes = |index: usize| plans[index].map(rank) == highest;
        let ranks = |only: bool| {
            let of = values.iter().enumerate().filter(move |(index, _)| !only || competes(*index));
            of.filter_map(|(_, value)| value.map(Value::rank))
        };
        let least = ranks(true).fold(f64::INFINITY, f64::min);
        let most = ranks(false).fold(f64::NEG_INFINITY, f64::max);
        let differ = ranks(false).any(|rank| rank < most);
        let is_best = |(index, value): (usize, &Option<Value>)| {
            let is_least = |value: &Value| value.rank() <= least && *value != Value::Flag(false);
            differ && competes(index) && value.as_ref().is_some_and(is_least)
        };
        let best = values.iter().enumerate().map(is_best).collect();
        Compared { key, title, kind, values, best }
    };
    let is_none = |value: &Option<Value>| value.is_none_or(|value| value.rank() <= 0.0);
    FIGURES
        .into_iter()
        .map(compared)
        .filter(|row| !OFTEN_NONE.contains(&row.key) || !row.values.iter().all(is_none))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::memory_map::MemoryMap;
    use tilewright_plan::{Bytes, Micros};

    fn report(sram: u64, latency: f64, fits: bool) -> PlanReport {
        let mut report = fixture::report(&MemoryMap::of(&fixture::plan()));
        (report.peak_sram_bytes, report.latency_us) =
            (Bytes(sram).into(), Some(Micros(latency).into()));
        report.fits = fits;
        report
    }

    fn best(rows: &[Compared], key: &str) -> Vec<bool> {
        rows.iter().find(|row| row.key == key).unwrap().best.clone()
    }

    #[test]
    fn only_plans_that_fit_compete_unless_none_does() {
        let (small, fast, not) =
            (report(10, 5.0, true), report(20, 2.0, true), report(5, 1.0, false));
        let rows = compare(&[Some(&small), None, Some(&fast), Some(&not)]);
        assert_eq!(best(&rows, "peak_sram_bytes"), [true, false, false, false]);
        assert_eq!(best(&rows, "latency_us"), [false, false, true, false]);
        assert_eq!(best(&rows, "fits"), [true, false, true, false]);
        assert_eq!(best(&rows, "macs"), [false; 4], "nobody is best where all are alike");
        let rows = compare(&[Some(&not), Some(&report(7, 9.0, false))]);
        assert_eq!(best(&rows, "peak_sram_bytes"), [true, false]);
        let mut simulated = report(1, 1.0, true);
        simulated.runnable = false;
        let rows = compare(&[Some(&small), Some(&simulated), Some(&fast)]);
        assert_eq!(best(&rows, "peak_sram_bytes"), [true, false, false], "only what runs");
        assert_eq!(best(&rows, "latency_us"), [false, false, true]);
    }

    #[test]
    fn no_is_never_best() {
        let (mut small, mut not) = (report(10, 5.0, false), report(20, 5.0, true));
        (small.proved, not.proved) = (true, false);
        let rows = compare(&[Some(&small), Some(&not)]);
        assert_eq!(best(&rows, "proved"), [false, false], "what is proved does not fit");
    }

    #[test]
    fn what_no_plan_uses_is_left_out() {
        let mut plan = report(10, 5.0, true);
        let keys = |plan: &PlanReport| -> Vec<_> {
            compare(&[Some(plan)]).iter().map(|row| row.key).collect()
        };
        assert!(!keys(&plan).contains(&"read_bytes") && keys(&plan).contains(&"macs"));
        plan.read_bytes = Bytes(1).into();
        assert!(keys(&plan).contains(&"read_bytes"));
        assert!(compare(&[]).iter().all(|row| row.values.is_empty()));
    }
}
