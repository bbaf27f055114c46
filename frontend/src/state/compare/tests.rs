use super::*;
use crate::message::trouble;
use crate::state::tests::facts;
use crate::state::{Doer, Event, OpenModel, Origin, Quantising};
use crate::view_model::catalogue::EXAMPLES;
use crate::view_model::fixture;

/// A page that shows a plan and knows three strategies.
fn shown() -> State {
    let mut state = State {
        boards: Rc::new(vec![fixture::board()]),
        strategies: Rc::new(["resident", "reordered", "other"].map(str::to_owned).to_vec()),
        ..State::default()
    };
    state.settings.complete(|settings| *settings = fixture::settings());
    let origin = Origin::Example(&EXAMPLES[0]);
    state.model =
        Some(Rc::new(OpenModel { origin, quantising: Quantising::default(), facts: facts() }));
    state.plan = Some(Rc::new(fixture::plan()));
    state
}

/// The comparison that is asked for.
fn asked(effects: &[Effect]) -> Option<(u32, PlanSettings)> {
    effects.iter().find_map(|effect| match effect {
        Effect::Compare(request, settings, _) => Some((*request, settings.clone())),
        _ => None,
    })
}

fn start(state: &mut State) -> Option<(u32, PlanSettings)> {
    let mut effects = Vec::new();
    state.compare_next(&mut effects);
    asked(&effects)
}

fn answer(settings: &PlanSettings) -> Result<PlanReply, Diagnostic> {
    let mut plan = fixture::plan();
    plan.settings = settings.clone();
    Ok(PlanReply::Planned(Box::new(plan)))
}

fn budget(bytes: u64) -> PlanSettings {
    PlanSettings { sram_bytes: Some(bytes), ..fixture::settings() }
}

#[test]
fn strategies_are_planned_one_by_one_and_one_that_has_no_plan_says_why() {
    let mut state = shown();
    let (request, settings) = start(&mut state).unwrap();
    assert_eq!(settings.strategy, "reordered");
    assert!(state.is_comparing() && start(&mut state).is_none(), "one at a time");
    let effects = state.update(Event::Planned(request, answer(&settings)));
    let (request, last) = asked(&effects).unwrap();
    assert_eq!(last.strategy, "other");
    let trouble = trouble("no", "it overlaps nothing", "");
    let effects = state.update(Event::Planned(request, Err(trouble.clone())));
    assert!(asked(&effects).is_none() && !state.is_comparing());
    assert!(state.troubles.is_empty(), "the shown plan has no trouble");
    let plans = state.plans();
    assert!(plans.with(&settings).unwrap().is_ok());
    assert_eq!(plans.with(&last), Some(Err(&trouble)));
    assert_eq!(plans, state.plans());
}

#[test]
fn nothing_is_compared_while_a_slider_moves() {
    let mut state = shown();
    let effects = state.update(Event::Settings(budget(100), true));
    let request = effects.iter().find_map(|effect| match effect {
        Effect::Plan(request, _) => Some(*request),
        _ => None,
    });
    let effects = state.update(Event::Planned(request.unwrap(), answer(&budget(100))));
    assert!(asked(&effects).is_none());
    let effects = state.update(Event::Settings(budget(100), false));
    assert_eq!(asked(&effects).unwrap().1.sram_bytes, Some(100), "it was let go");
}

#[test]
fn a_new_plan_takes_the_place_of_a_comparison() {
    let mut state = shown();
    let (old, settings) = start(&mut state).unwrap();
    let effects = state.update(Event::Settings(budget(100), false));
    assert!(effects.iter().any(|effect| matches!(effect, Effect::Plan(..))), "{effects:?}");
    assert!(!state.is_comparing());
    state.update(Event::Planned(old, answer(&settings)));
    assert!(state.is_plan_stale(), "a plan to compare is not shown");
    assert!(state.compare.tried.is_empty(), "nor kept, once nobody waits for it");
}

#[test]
fn what_is_stopped_stays_so_until_the_next_plan() {
    let mut state = shown();
    start(&mut state).unwrap();
    let effects = state.update(Event::Stop(Doer::Planner));
    assert_eq!(effects, [Effect::EndPlanner]);
    assert!(start(&mut state).is_none() && state.tasks.is_empty());
    state.update(Event::Settings(budget(100), false));
    let request = state.task(Job::Plan).unwrap().request;
    let effects = state.update(Event::Planned(request, answer(&budget(100))));
    assert!(asked(&effects).is_some());
}

#[test]
fn plans_of_another_budget_are_shown_until_there_are_new_ones_and_then_forgotten() {
    let mut state = shown();
    let mut next = start(&mut state);
    while let Some((request, settings)) = next {
        next = asked(&state.update(Event::Planned(request, answer(&settings))));
    }
    assert_eq!(state.compare.tried.len(), 2);
    state.plan = Some(Rc::new(PlanFacts { settings: budget(100), ..fixture::plan() }));
    state.settings.complete(|settings| *settings = budget(100));
    let reordered = PlanSettings { strategy: "reordered".to_owned(), ..budget(100) };
    assert!(state.plans().with(&reordered).is_none());
    assert!(state.plans().like(&reordered).is_some());
    let (request, settings) = start(&mut state).unwrap();
    state.update(Event::Planned(request, answer(&settings)));
    assert!(state.compare.tried.iter().all(|tried| tried.settings.sram_bytes == Some(100)));
}
