//! Why a plan does not fit, byte by byte, and what would help.

use tilewright_plan::Micros;
use tilewright_report::{DoesNotFit, Remedy};

use super::figures;
use crate::message::{PlanSettings, TAKES_LONG};
use crate::state::State;

/// A part of the bytes that do not fit.
#[derive(Clone, Debug, PartialEq)]
pub struct PartRow {
    /// What the bytes are for.
    pub role: &'static str,
    /// Tensor or layer; empty for bytes of none.
    pub name: String,
    /// How many.
    pub bytes: u64,
    /// Their share of what is needed, 0 to 1.
    pub share: f64,
}

/// The bytes that do not fit.
#[must_use]
pub fn parts(reason: &DoesNotFit) -> Vec<PartRow> {
    let needed = reason.needed_bytes.0.max(1) as f64;
    let row = |part: &tilewright_report::Part| PartRow {
        role: part.role.words(),
        name: part.name.clone(),
        bytes: part.bytes.0,
        share: part.bytes.0 as f64 / needed,
    };
    reason.parts.iter().map(row).collect()
}

/// A change that was planned.
#[derive(Clone, Debug, PartialEq)]
pub struct RemedyRow {
    /// The change.
    pub title: String,
    /// What it gives.
    pub detail: String,
    /// Whether the plan fits then.
    pub fits: bool,
    /// What choosing it asks for.
    pub settings: PlanSettings,
}

/// Remedies, cheapest first.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Remedies {
    /// Those that help.
    pub rows: Vec<RemedyRow>,
    /// Whether some are still being planned.
    pub is_searching: bool,
    /// How many changes were planned.
    pub tried: usize,
    /// How many of them take long, and were given up.
    pub given_up: usize,
}

/// What would help the shown plan, as far as it has been planned.
#[must_use]
pub fn remedies(state: &State) -> Remedies {
    let Some(plan) = &state.plan else { return Remedies::default() };
    let (changes, plans) = (state.changes(), state.plans());
    let mut found = Vec::new();
    let (mut tried, mut given_up) = (0, 0);
    for (change, settings) in &changes {
        let Some(outcome) = plans.with(settings) else { continue };
        tried += 1;
        let other = match outcome {
            Ok(other) => other,
            Err(trouble) => {
                given_up += usize::from(trouble.what == TAKES_LONG);
                continue;
            }
        };
        found.extend(Remedy::of(change.clone(), &plan.report, &other.report));
    }
    Remedy::sort(&mut found);
    let rows = found.into_iter().filter_map(|remedy| {
        let (_, settings) = changes.iter().find(|(change, _)| *change == remedy.change)?;
        Some(row(&remedy, settings.clone(), state, plan.report.latency_us.map(|figure| *figure)))
    });
    Remedies { rows: rows.collect(), is_searching: tried < changes.len(), tried, given_up }
}

fn row(
    remedy: &Remedy,
    settings: PlanSettings,
    state: &State,
    before: Option<Micros>,
) -> RemedyRow {
    use tilewright_report::Change;
    let title = match &remedy.change {
        Change::WholeArena => "Use all SRAM that the board has for tensors".to_owned(),
        Change::Strategy(name) => format!("Plan with {name}"),
        Change::Board(id) => {
            let board = state.boards.iter().find(|board| board.id == *id);
            format!("Take the board {}", board.map_or(id, |board| &board.name))
        }
        Change::Network(name) => format!("Take {name}"),
    };
    let had = remedy.available_bytes.0;
    let rest = if remedy.fits {
        format!("{} to spare", figures::binary(had - remedy.needed_bytes.0.min(had)))
    } else {
        let missing = (*remedy.needed_bytes - *remedy.available_bytes).0;
        format!("still {} of {} too much", figures::bytes(missing), remedy.memory)
    };
    let time = match (before, remedy.latency_us.map(|latency| *latency)) {
        (_, None) => String::new(),
        (Some(Micros(before)), Some(Micros(now)))
            if before > 0.0 && (now / before - 1.0).abs() >= 0.0005 =>
        {
            let change = (now / before - 1.0) * 100.0;
            let sign = if change > 0.0 { "+" } else { "" };
            format!("; {} ({sign}{} %)", figures::duration(now), figures::fixed(change, 1))
        }
        (_, Some(Micros(now))) => format!("; {}", figures::duration(now)),
    };
    RemedyRow {
        title,
        detail: format!("{} needed, {rest}{time}", figures::bytes(remedy.needed_bytes.0)),
        fits: remedy.fits,
        settings,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{PlanFacts, PlanReply};
    use crate::state::{Effect, Event};
    use crate::view_model::fixture;
    use std::rc::Rc;
    use tilewright_plan::Bytes;
    use tilewright_report::{Part, PartRole};

    fn plan(settings: PlanSettings, needed: u64) -> PlanFacts {
        let mut plan = fixture::plan();
        let limit = settings.sram_bytes.unwrap_or(1_024);
        plan.settings = settings;
        plan.report.strategy.clone_from(&plan.settings.strategy);
        plan.report.peak_sram_bytes = Bytes(needed).into();
        plan.report.sram_limit_bytes = Bytes(limit).into();
        plan.report.does_not_fit = (needed > limit).then(|| DoesNotFit {
            memory: "SRAM".to_owned(),
            operator: "first".to_owned(),
            needed_bytes: Bytes(needed).into(),
            available_bytes: Bytes(limit).into(),
            parts: vec![Part {
                name: "a".to_owned(),
                role: PartRole::Input,
                bytes: Bytes(needed / 4).into(),
            }],
            remedies: Vec::new(),
            untried: 0,
        });
        plan.report.fits = plan.report.does_not_fit.is_none();
        plan
    }

    /// A page that shows a plan that does not fit; answers what it plans beside it.
    fn failing() -> State {
        let now = PlanSettings { sram_bytes: Some(40), ..fixture::settings() };
        let mut state = State {
            boards: Rc::new(vec![fixture::board()]),
            strategies: Rc::new(vec!["resident".to_owned(), "reordered".to_owned()]),
            ..State::default()
        };
        state.settings.complete(|settings| *settings = now.clone());
        state.plan = Some(Rc::new(plan(now, 48)));
        state
    }

    fn asked(effects: &[Effect]) -> Option<(u32, PlanSettings)> {
        effects.iter().find_map(|effect| match effect {
            Effect::Compare(request, settings, _) => Some((*request, settings.clone())),
            _ => None,
        })
    }

    #[test]
    fn parts_say_what_the_bytes_are() {
        let state = failing();
        let parts = parts(state.plan.as_ref().unwrap().report.does_not_fit.as_ref().unwrap());
        assert_eq!((parts[0].role, parts[0].bytes, parts[0].share), ("input", 12, 0.25));
    }

    #[test]
    fn remedies_come_one_by_one_and_the_cheapest_stands_first() {
        let mut state = failing();
        assert!(remedies(&state).is_searching && remedies(&state).rows.is_empty());
        // The end of a drag: now there is time to look around.
        let now = state.settings.now().clone();
        let mut effects = state.update(Event::Settings(now, false));
        let mut asked_for = Vec::new();
        while let Some((request, settings)) = asked(&effects) {
            let mut facts = plan(settings.clone(), 30);
            facts.report.latency_us = Some(Micros(33.0).into());
            if settings.sram_bytes.is_none() {
                facts = plan(settings.clone(), 48);
            }
            asked_for.push(settings);
            let reply = Ok(PlanReply::Planned(Box::new(facts)));
            effects = state.update(Event::Planned(request, reply));
        }
        assert_eq!(asked_for.len(), 2, "{asked_for:?}");
        let remedies = remedies(&state);
        assert!(!remedies.is_searching);
        let titles: Vec<_> = remedies.rows.iter().map(|row| row.title.as_str()).collect();
        assert_eq!(titles, ["Use all SRAM that the board has for tensors", "Plan with reordered"]);
        assert!(remedies.rows[1].detail.contains("10 B to spare"), "{:?}", remedies.rows[1]);
        assert!(remedies.rows[1].detail.contains("+10.0 %"), "{:?}", remedies.rows[1]);
        assert_eq!(remedies.rows[1].settings.strategy, "reordered");
    }
}
