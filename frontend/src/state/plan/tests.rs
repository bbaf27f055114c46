use super::*;
use crate::message::PlanFacts;
use crate::state::Event;
use crate::state::tests::{plans, ready};
use crate::view_model::fixture;
use crate::view_model::fragment::Fragment;

/// No plan is begun.
const NONE: [u32; 0] = [];

/// Asks for a budget; the plans that are begun for it.
fn budget(state: &mut State, bytes: u64, is_dragging: bool) -> Vec<u32> {
    let settings = PlanSettings { sram_bytes: Some(bytes), ..fixture::settings() };
    plans(&state.update(Event::Settings(settings, is_dragging)))
}

/// Answers with the plan of a budget; the plans that are begun after it.
fn answer(state: &mut State, request: u32, bytes: u64) -> Vec<u32> {
    let mut plan = fixture::plan();
    plan.settings.sram_bytes = Some(bytes);
    plans(&state.update(Event::Planned(request, Ok(PlanReply::Planned(Box::new(plan))))))
}

#[test]
fn the_newest_plan_wins() {
    let mut state = ready();
    let requests: Vec<u32> =
        [1_000, 2_000, 3_000].iter().flat_map(|bytes| budget(&mut state, *bytes, false)).collect();
    assert_eq!(requests.len(), 3);
    answer(&mut state, requests[0], 1_000);
    assert!(state.is_plan_stale(), "an old answer was taken");
    answer(&mut state, requests[2], 3_000);
    assert!(!state.is_plan_stale());
    answer(&mut state, requests[1], 2_000);
    assert_eq!(state.plan.as_ref().unwrap().settings.sram_bytes, Some(3_000));
}

#[test]
fn a_drag_shows_places_that_it_passes_and_ends_with_its_own_plan() {
    let mut state = ready();
    let before = budget(&mut state, 500, false);
    let first = budget(&mut state, 1_000, true);
    assert_eq!(first.len(), 1, "what was asked for before the drag gives way");
    // Moves wait for it: only the newest of them is planned then.
    assert_eq!(budget(&mut state, 2_000, true), NONE);
    assert_eq!(budget(&mut state, 3_000, true), NONE);
    assert!(state.fragment().text().contains("sram=3000"));
    answer(&mut state, before[0], 500);
    assert_eq!(state.plan.as_ref().unwrap().settings.sram_bytes, None, "an old answer was taken");
    let second = answer(&mut state, first[0], 1_000);
    assert_eq!(state.plan.as_ref().unwrap().settings.sram_bytes, Some(1_000));
    assert!(state.is_plan_stale() && second.len() == 1);
    // The end of the drag waits for nothing but its own plan.
    let third = budget(&mut state, 4_000, false);
    assert_eq!(third.len(), 1);
    assert_eq!(answer(&mut state, second[0], 3_000), NONE);
    assert_eq!(state.plan.as_ref().unwrap().settings.sram_bytes, Some(1_000), "it was outrun");
    assert_eq!(answer(&mut state, third[0], 4_000), NONE);
    assert!(!state.is_plan_stale());
    state.update(Event::Undo);
    assert_eq!(state.settings.now().sram_bytes, Some(500), "a drag is one step");
}

#[test]
fn a_drag_that_ends_where_it_is_plans_its_place_and_slow_plans_give_way() {
    let mut state = ready();
    assert_eq!(budget(&mut state, 1_000, true).len(), 1);
    assert_eq!(budget(&mut state, 2_000, true), NONE);
    let last = budget(&mut state, 2_000, false);
    assert_eq!(last.len(), 1, "the place was waiting");
    assert_eq!(budget(&mut state, 2_000, false), NONE, "it is under way");
    answer(&mut state, last[0], 2_000);
    // What cannot be planned is outrun likewise.
    let first = budget(&mut state, 3_000, true);
    assert_eq!(budget(&mut state, 4_000, true), NONE);
    let refused = Err(trouble("No plan", "", ""));
    let second = plans(&state.update(Event::Planned(first[0], refused)));
    assert_eq!(second.len(), 1);
    state.now_ms += 10_000.0;
    assert_eq!(budget(&mut state, 5_000, true).len(), 1, "the plan under way takes long");
}

#[test]
fn plans_that_a_drag_passes_are_not_put_together() {
    let mut state = ready();
    let settings = PlanSettings { clock_hz: Some(80_000_000), ..fixture::settings() };
    let asked = plans(&state.update(Event::Settings(settings.clone(), true)));
    let plan = PlanFacts { settings: settings.clone(), ..fixture::plan() };
    let reply = Ok(PlanReply::Planned(Box::new(plan)));
    let is_packaging =
        |effects: &[Effect]| effects.iter().any(|effect| matches!(effect, Effect::Package { .. }));
    assert!(!is_packaging(&state.update(Event::Planned(asked[0], reply))));
    assert!(is_packaging(&state.update(Event::Settings(settings, false))), "the drag has ended");
}

/// A page that chooses the strategy, and a plan of the simplest one that does not fit.
fn too_large(state: &mut State) -> Vec<Effect> {
    state.strategies = Rc::new(vec!["resident".to_owned(), AUTO.to_owned()]);
    let settings = PlanSettings { clock_hz: Some(80_000_000), ..fixture::settings() };
    let asked = plans(&state.update(Event::Settings(settings.clone(), false)));
    state.is_advising = true;
    let mut plan = PlanFacts { settings, ..fixture::plan() };
    plan.report.fits = false;
    state.update(Event::Planned(asked[0], Ok(PlanReply::Planned(Box::new(plan)))))
}

#[test]
fn who_chose_no_strategy_gets_a_plan_that_fits() {
    let mut state = ready();
    let effects = too_large(&mut state);
    assert_eq!(plans(&effects).len(), 1, "another is planned at once");
    assert_eq!(state.settings.now().strategy, AUTO);
    assert!(state.is_looking() && !state.said.contains("it does not fit"), "{}", state.said);
    let plan = PlanFacts { settings: state.settings.now().clone(), ..fixture::plan() };
    let reply = Ok(PlanReply::Planned(Box::new(plan)));
    assert_eq!(plans(&state.update(Event::Planned(plans(&effects)[0], reply))), NONE);
    assert!(!state.is_looking());
    state.update(Event::Undo);
    assert_ne!(state.settings.now().strategy, AUTO, "what the page chose is no step back");
}

#[test]
fn who_chose_a_strategy_or_a_budget_keeps_it() {
    let mut state = ready();
    budget(&mut state, 1_000, false);
    assert!(!state.is_advising, "a budget was chosen");
    let other = PlanSettings { board: "pico-2".to_owned(), ..state.settings.now().clone() };
    state.is_advising = true;
    state.update(Event::Settings(other, false));
    assert!(state.is_advising, "only the board is another");
    state.update(Event::Navigated(Fragment::parse("strategy=swap")));
    assert!(!state.is_advising, "a link names it");
    // A model that cannot run whatever is planned is not looked for.
    let mut state = ready();
    state.obstacles = Rc::new(vec![(AUTO.to_owned(), "no kernel".to_owned())]);
    assert_eq!(plans(&too_large(&mut state)), NONE);
}
