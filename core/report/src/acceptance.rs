//! Whether a plan needs more than somebody allows, or than was accepted last.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::compare::Value;
use crate::figure::Kind;
use crate::name::plain;
use crate::plan_report::PlanReport;
use crate::run_result::RunResult;

/// What a plan needs, in bytes, microseconds and instructions; less is better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Needs {
    /// SRAM of the tensor arena (counted).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_sram_bytes: Option<u64>,
    /// Flash of the plan image (counted).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flash_bytes: Option<u64>,
    /// External memory (counted).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_bytes: Option<u64>,
    /// Latency of all frames (modelled).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_us: Option<f64>,
    /// Instructions of an emulated run (counted).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<u64>,
}

/// One of the figures of [`Needs`].
#[derive(Clone, Copy, Debug)]
pub struct Need {
    /// Key in reports.
    pub key: &'static str,
    /// For people.
    pub title: &'static str,
    /// How it came to be.
    pub kind: Kind,
    of: fn(&Needs) -> Option<Value>,
}

impl Need {
    /// All figures.
    pub const ALL: [Self; 5] = [
        Self {
            key: "peak_sram_bytes",
            title: "peak SRAM",
            kind: Kind::Counted,
            of: |needs| needs.peak_sram_bytes.map(Value::Bytes),
        },
        Self {
            key: "flash_bytes",
            title: "flash",
            kind: Kind::Counted,
            of: |needs| needs.flash_bytes.map(Value::Bytes),
        },
        Self {
            key: "external_bytes",
            title: "external memory",
            kind: Kind::Counted,
            of: |needs| needs.external_bytes.map(Value::Bytes),
        },
        Self {
            key: "latency_us",
            title: "latency",
            kind: Kind::Modelled,
            of: |needs| needs.latency_us.map(Value::Micros),
        },
        Self {
            key: "instructions",
            title: "instructions",
            kind: Kind::Counted,
            of: |needs| needs.instructions.map(Value::Count),
        },
    ];
}

impl Needs {
    /// What a plan needs, and its run if there was one.
    #[must_use]
    pub fn of(plan: &PlanReport, run: Option<&RunResult>) -> Self {
        Self {
            peak_sram_bytes: Some(plan.peak_sram_bytes.0),
            flash_bytes: Some(plan.flash_bytes.0),
            external_bytes: Some(plan.external_bytes.0),
            latency_us: plan.latency_us.map(|latency| latency.0),
            instructions: run.map(|run| *run.instructions),
        }
    }
}

/// What was accepted of a model on a board.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Accepted {
    /// Name of the model.
    pub model: String,
    /// Board id.
    pub board: String,
    /// Strategy.
    pub strategy: String,
    /// What it needed.
    pub needs: Needs,
}

/// All that was accepted, of any number of models, boards and strategies.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// In the order of model, board and strategy.
    pub accepted: Vec<Accepted>,
}

impl Baseline {
    /// What was accepted of the same model, board and strategy.
    #[must_use]
    pub fn find(&self, like: &Accepted) -> Option<&Needs> {
        let found = self.accepted.iter().find(|known| known.is_like(like));
        found.map(|known| &known.needs)
    }

    /// Accepts it in place of what was accepted before.
    pub fn accept(&mut self, new: Accepted) {
        self.accepted.retain(|known| !known.is_like(&new));
        self.accepted.push(new);
        self.accepted.sort_by(|a, b| a.key().cmp(&b.key()));
    }
}

impl Accepted {
    fn key(&self) -> [&str; 3] {
        [&self.model, &self.board, &self.strategy]
    }

    fn is_like(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

/// What is said of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Judgement {
    /// It is within its limit, and no more than was accepted.
    Passed,
    /// It is less than was accepted.
    Less,
    /// It is more than its limit.
    OverLimit,
    /// It is more than was accepted.
    More,
    /// There is a limit, but no figure: nothing tells it of this plan.
    Unknown,
}

impl Judgement {
    /// For people.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Less => "less than accepted",
            Self::OverLimit => "over its limit",
            Self::More => "more than accepted",
            Self::Unknown => "not known",
        }
    }

    /// Whether it is as it should be.
    #[must_use]
    pub const fn is_good(self) -> bool {
        matches!(self, Self::Passed | Self::Less)
    }
}

/// A figure beside what it is held against.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The figure.
    pub need: Need,
    /// Its value.
    pub value: Option<Value>,
    /// Most that is allowed.
    pub limit: Option<Value>,
    /// What was accepted last.
    pub accepted: Option<Value>,
    /// What is said of it.
    pub judgement: Judgement,
}

impl Judged {
    /// Change against what was accepted, in per cent; nothing if either is not there, or there was none of it.
    #[must_use]
    pub fn change_percent(&self) -> Option<f64> {
        let (value, accepted) = (self.value?.rank(), self.accepted?.rank());
        (accepted > 0.0).then(|| 100.0 * (value / accepted - 1.0))
    }
}

/// Holds each figure against limits and against what was accepted, of which `tolerance` per cent more pass too.
/// Figures of which nobody knows anything are left out.
#[must_use]
pub fn judge(
    needs: &Needs,
    limits: &Needs,
    accepted: Option<&Needs>,
    tolerance: f64,
) -> Vec<Judged> {
    let judged = |need: Need| {
        let (value, limit) = ((need.of)(needs), (need.of)(limits));
        let accepted = accepted.and_then(need.of);
        let judgement = match (value.map(Value::rank), limit.map(Value::rank)) {
            (None, None) => return None,
            (None, Some(_)) => Judgement::Unknown,
            (Some(value), Some(limit)) if value > limit => Judgement::OverLimit,
            (Some(value), _) => match accepted.map(Value::rank) {
                Some(accepted) if value > accepted * (1.0 + tolerance / 100.0) => Judgement::More,
                Some(accepted) if value < accepted => Judgement::Less,
                _ => Judgement::Passed,
            },
        };
        Some(Judged { need, value, limit, accepted, judgement })
    };
    Need::ALL.into_iter().filter_map(judged).collect()
}

/// The figures as a table of Markdown; `text` writes a value for people.
#[must_use]
pub fn markdown(title: &str, judged: &[Judged], text: impl Fn(Value) -> String) -> String {
    let cell = |text: &str| plain(text).replace('|', "\\|");
    let mut table = format!("### {}\n\n", cell(title));
    table += "| figure | now | limit | accepted | change | |\n|---|--:|--:|--:|--:|---|\n";
    for one in judged {
        let Judged { need, value, limit, accepted, judgement } = one;
        let value = [value, limit, accepted].map(|value| value.map_or_else(String::new, &text));
        let change =
            one.change_percent().map_or_else(String::new, |change| format!("{change:+.1} %"));
        let emphasis = if judgement.is_good() { "" } else { "**" };
        let said = format!("{emphasis}{}{emphasis}", judgement.word());
        let [now, limit, accepted] = value.map(|value| cell(&value));
        // Writing to a string cannot fail.
        let _ = writeln!(
            table,
            "| {} ({}) | {now} | {limit} | {accepted} | {change} | {said} |",
            need.title,
            need.kind.word()
        );
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEEDS: Needs = Needs {
        peak_sram_bytes: Some(1000),
        flash_bytes: Some(5000),
        external_bytes: Some(0),
        latency_us: Some(250.0),
        instructions: None,
    };

    fn judgements(limits: &Needs, accepted: Option<&Needs>, tolerance: f64) -> Vec<Judgement> {
        judge(&NEEDS, limits, accepted, tolerance).iter().map(|one| one.judgement).collect()
    }

    #[test]
    fn limits_hold_before_what_was_accepted() {
        use Judgement::{Less, More, OverLimit, Passed, Unknown};
        assert_eq!(judgements(&Needs::default(), None, 0.0), [Passed; 4]);
        let limits = Needs {
            peak_sram_bytes: Some(1000),
            flash_bytes: Some(4999),
            instructions: Some(1),
            ..Needs::default()
        };
        assert_eq!(judgements(&limits, None, 0.0), [Passed, OverLimit, Passed, Passed, Unknown]);
        let accepted = Needs { peak_sram_bytes: Some(990), latency_us: Some(300.0), ..NEEDS };
        assert_eq!(
            judgements(&limits, Some(&accepted), 0.0),
            [More, OverLimit, Passed, Less, Unknown]
        );
        assert_eq!(judgements(&Needs::default(), Some(&accepted), 2.0)[0], Passed);
    }

    #[test]
    fn a_baseline_holds_one_of_each() {
        let accepted = |model: &str, sram: u64| Accepted {
            model: model.to_owned(),
            board: "b".to_owned(),
            strategy: "auto".to_owned(),
            needs: Needs { peak_sram_bytes: Some(sram), ..Needs::default() },
        };
        let mut baseline = Baseline::default();
        for (model, sram) in [("n", 2), ("m", 1), ("n", 3)] {
            baseline.accept(accepted(model, sram));
        }
        assert_eq!(baseline.accepted, [accepted("m", 1), accepted("n", 3)]);
        assert_eq!(
            baseline.find(&accepted("n", 0)).and_then(|needs| needs.peak_sram_bytes),
            Some(3)
        );
        assert_eq!(baseline.find(&accepted("k", 0)), None);
    }

    #[test]
    fn what_is_worse_stands_out_in_the_table() {
        let accepted = Needs { peak_sram_bytes: Some(800), ..NEEDS };
        let judged = judge(&NEEDS, &Needs::default(), Some(&accepted), 0.0);
        let table = markdown("a|b", &judged, |value| format!("{value:?}"));
        assert!(table.starts_with("### a\\|b\n\n| figure |"), "{table}");
        let row = "| peak SRAM (counted) | Bytes(1000) |  | Bytes(800) | +25.0 % | **more than accepted** |";
        assert!(table.contains(row), "{table}");
    }
}
