//! What a plan costs while it is used: energy of a frame, and wear of the card.

use tilewright_board::Board;
use tilewright_plan::{LaneKind, Micros};
use tilewright_report::{Energy, Kind, NoPower, Timeline, Wear};

use super::figures;
use super::overview::Fact;
use crate::message::PlanFacts;

/// What the board draws in a state.
#[derive(Clone, Debug, PartialEq)]
pub struct StateFact {
    pub state: String,
    pub power: String,
    /// The time that the board is in it.
    pub time: String,
    /// Where the power comes from.
    pub source: String,
}

/// Energy and wear of a plan; each with the lines that say how it comes to be.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EnergyAndWear {
    /// Figures.
    pub facts: Vec<Fact>,
    /// What the board draws in each state.
    pub states: Vec<StateFact>,
    /// Where the card's endurance comes from; empty if the plan does not wear it.
    pub wear_source: String,
}

/// Energy and wear of the predicted run, of which a frame begins every `period`; nothing given: they
/// follow each other at once.
#[must_use]
pub fn energy_and_wear(plan: &PlanFacts, board: &Board, period: Option<Micros>) -> EnergyAndWear {
    let mut energy_and_wear = EnergyAndWear::default();
    if plan.timeline.slices.is_empty() || plan.report.latency_us.is_none() {
        return energy_and_wear;
    }
    let energy = energy(plan, &plan.timeline, board);
    energy_and_wear.facts.push(energy_fact(&energy));
    for state in energy.iter().flat_map(|energy| &energy.states) {
        energy_and_wear.states.push(StateFact {
            state: state.state.words().to_owned(),
            power: format!("{} mW", range(state.power_mw.map(|power| power.to_string()))),
            time: figures::duration(state.time_us.0),
            source: state.source.clone(),
        });
    }
    let card = plan.settings.card(board).filter(|_| uses_card(plan));
    if let Some(wear) = card.and_then(|card| Wear::of(&plan.report, &card, period)) {
        energy_and_wear.facts.extend(wear_facts(&wear));
        if wear.years.is_some() {
            energy_and_wear.wear_source = wear.source;
        }
    }
    energy_and_wear
}

/// Whether the plan moves bytes to or from a card.
#[must_use]
pub fn uses_card(plan: &PlanFacts) -> bool {
    plan.timeline.lanes.contains(&LaneKind::Card)
}

/// The energy of a run of a plan, predicted or emulated.
///
/// # Errors
/// If no source gives the power of board or card.
pub fn energy(plan: &PlanFacts, run: &Timeline, board: &Board) -> Result<Energy, NoPower> {
    let card = plan.settings.card(board);
    Energy::of(run, &plan.traffic, board, card.as_ref(), plan.report.frames)
}

/// It as a figure.
#[must_use]
pub fn energy_fact(energy: &Result<Energy, NoPower>) -> Fact {
    let (value, detail) = match energy {
        Ok(energy) => {
            let power = range(energy.mean_mw.map(|power| figures::fixed(power, 0)));
            let value = range(energy.frame_uj.map(figures::joules));
            (value, format!("of a frame; {power} mW on average"))
        }
        Err(missing) => ("unknown".to_owned(), missing.to_string()),
    };
    Fact { title: "Energy", id: "energy", value, detail, kind: Kind::Modelled }
}

fn wear_facts(wear: &Wear) -> Vec<Fact> {
    let fact = |id, title, value, detail| Fact { title, id, value, detail, kind: Kind::Modelled };
    let frame = figures::decimal(wear.frame_written_bytes);
    let day = figures::decimal(wear.day_written_bytes);
    let each = format!("{frame} a frame, one every {}", figures::duration(wear.period_us.0));
    let mut facts = vec![fact("day", "Written to the card a day", day, each)];
    let (Some(years), Some(amplification)) = (wear.years, wear.amplification) else {
        let detail = "nothing is written to it".to_owned();
        facts.push(fact("lasts", "The card lasts", "unworn".to_owned(), detail));
        return facts;
    };
    let [few, many] = wear.cycles.map(|cycles| figures::grouped(cycles.into()));
    let size = figures::decimal(wear.card_bytes.0 as f64);
    let until = format!("until {}; {size} of {few}–{many} cycles", wear.then);
    facts.push(fact("lasts", "The card lasts", range(years.map(figures::years)), until));
    if let Some(half) = wear.half_years {
        let value = figures::years(half);
        facts.push(fact("half", "Half of its cells", value, "until they have failed".to_owned()));
    }
    let times = range(amplification.map(|times| figures::fixed(times, 1)));
    let detail = "bytes programmed for each written".to_owned();
    facts.push(fact("amplification", "Write amplification", times, detail));
    facts
}

/// Least and most; one if they read the same, the unit once.
fn range([least, most]: [String; 2]) -> String {
    if least == most {
        return most;
    }
    match (least.split_once(' '), most.split_once(' ')) {
        (Some((number, unit)), Some((_, same))) if unit == same => format!("{number}–{most}"),
        _ => format!("{least}–{most}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view_model::fixture;
    use tilewright_plan::Bytes;

    fn fact(energy_and_wear: &EnergyAndWear, id: &str) -> Option<Fact> {
        energy_and_wear.facts.iter().find(|fact| fact.id == id).cloned()
    }

    #[test]
    fn ranges_have_one_unit() {
        let of = |least: &str, most: &str| range([least.to_owned(), most.to_owned()]);
        assert_eq!(of("442 mJ", "616 mJ"), "442–616 mJ");
        assert_eq!(of("999 mJ", "1.20 J"), "999 mJ–1.20 J");
        assert_eq!(of("645", "645"), "645");
    }

    #[test]
    fn energy_comes_with_its_sources_or_says_that_there_are_none() {
        let (plan, mut board) = (fixture::plan(), fixture::board());
        let told = energy_and_wear(&plan, &board, None);
        assert!(fact(&told, "energy").unwrap().detail.contains("645 mW"), "{told:?}");
        assert!(
            told.states.iter().all(|state| !state.source.is_empty()) && !told.states.is_empty()
        );
        assert_eq!(fact(&told, "lasts"), None, "it uses no card");
        let mut frames = fixture::plan();
        frames.report.frames = 2;
        let [one, each] =
            [&plan, &frames].map(|plan| energy(plan, &plan.timeline, &board).unwrap());
        assert!((one.frame_uj[1] / each.frame_uj[1] - 2.0).abs() < 1e-9, "it is that of a frame");
        board.power = None;
        let unknown = fact(&energy_and_wear(&plan, &board, None), "energy").unwrap();
        assert!(unknown.value == "unknown" && unknown.detail.contains("no source"));
    }

    #[test]
    fn a_period_makes_the_card_last_longer() {
        let (mut plan, board) = (fixture::plan(), fixture::board());
        plan.timeline.lanes.push(LaneKind::Card);
        plan.report.card_written_bytes = Bytes(1_000).into();
        plan.report.card_writes = 2.into();
        let at_once = fact(&energy_and_wear(&plan, &board, None), "day").unwrap();
        let rare = fact(&energy_and_wear(&plan, &board, Some(Micros(60e6))), "day").unwrap();
        assert_eq!(rare.value, "1.44 MB");
        assert_ne!(at_once.value, rare.value);
        plan.report.card_written_bytes = Bytes(0).into();
        assert_eq!(fact(&energy_and_wear(&plan, &board, None), "lasts").unwrap().value, "unworn");
    }
}
