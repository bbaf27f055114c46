//! What strategy `auto` makes least, by names for people. Plans inside the chip are a choice of their own here.

use tilewright_board::Board;
use tilewright_report::{Objective, PlanSettings, choice, word};

/// The fastest plan without memory outside of the chip.
const INSIDE: &str = "inside";
/// Behind an objective: without memory outside of the chip too.
const AND_INSIDE: &str = "-inside";

const fn name(objective: Objective) -> &'static str {
    match objective {
        Objective::Latency => "fastest",
        Objective::Memory => "least memory",
        Objective::Energy => "least energy",
        Objective::Wear => "least wear",
    }
}

/// The id of what settings ask for.
#[must_use]
pub fn id(settings: &PlanSettings) -> String {
    match (settings.objective, settings.inside) {
        (Objective::Latency, true) => INSIDE.to_owned(),
        (objective, true) => format!("{}{AND_INSIDE}", word(&objective)),
        (objective, false) => word(&objective),
    }
}

/// Ids and names of what is offered; last what only a link asks for.
#[must_use]
pub fn offered(settings: &PlanSettings) -> Vec<(String, String)> {
    let named = |objective| (word(&objective), name(objective).to_owned());
    let mut all = vec![
        named(Objective::Latency),
        named(Objective::Memory),
        (INSIDE.to_owned(), "inside the chip".to_owned()),
        named(Objective::Energy),
        named(Objective::Wear),
    ];
    let id = id(settings);
    if all.iter().all(|(known, _)| *known != id) {
        all.push((id, format!("{}, inside the chip", name(settings.objective))));
    }
    all
}

/// The settings with what an id asks for.
#[must_use]
pub fn chosen(settings: &PlanSettings, id: &str) -> PlanSettings {
    let objective = match id {
        INSIDE => Objective::Latency,
        id => choice(id.strip_suffix(AND_INSIDE).unwrap_or(id)).unwrap_or_default(),
    };
    PlanSettings { objective, inside: id.ends_with(INSIDE), ..settings.clone() }
}

/// The id that cannot be chosen for a board, and why.
#[must_use]
pub fn obstacle(board: &Board) -> Option<(String, String)> {
    let why = || format!("no source says what {} draws", board.name);
    board.power.is_none().then(|| (word(&Objective::Energy), why()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_chosen_is_shown() {
        let settings = PlanSettings { inside: true, ..PlanSettings::default() };
        let names: Vec<String> = offered(&settings).into_iter().map(|(_, name)| name).collect();
        let five = ["fastest", "least memory", "inside the chip", "least energy", "least wear"];
        assert_eq!(names, five);
        let both = PlanSettings { objective: Objective::Wear, ..settings.clone() };
        assert_eq!(offered(&both)[5].1, "least wear, inside the chip");
        for (id, _) in offered(&both) {
            assert_eq!(super::id(&chosen(&settings, &id)), id);
        }
        let fastest = PlanSettings::default();
        assert_eq!(chosen(&both, "latency"), fastest);
        assert_eq!(chosen(&fastest, INSIDE), settings);
    }

    #[test]
    fn energy_needs_the_power_of_the_board() {
        let of = |id| obstacle(&tilewright_board::find(id).unwrap());
        assert_eq!(of("stm32f746g-disco"), None);
        let (id, why) = of("nucleo-f767zi").unwrap();
        assert_eq!(id, "energy");
        assert!(why.contains("no source"), "{why}");
    }
}
