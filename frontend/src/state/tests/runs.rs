//! Runs: where they are, how they end.

use super::*;
use crate::message::{Comparison, LayerCheck, Recording, RunEvent, RunRequest, RunningOf};
use tilewright_report::Mode;

#[test]
fn a_run_is_compared_layer_by_layer() {
    let mut state = ready();
    assert!(state.can_run() && !state.needs_input());
    let reference = state.input.reference.take();
    assert!(!state.can_run() && state.needs_input(), "the page says what is missing");
    state.input.reference = reference;
    let request = request_of(&state.update(Event::Run));
    assert!(!state.can_run(), "one run at a time");
    state.update(Event::Board(request, RunEvent::Console("ready\n".to_owned())));
    state.update(Event::Board(request, RunEvent::Note("known".to_owned())));
    assert_eq!(state.run.note.as_deref(), Some("known"));
    let effects = state.update(Event::Board(request, RunEvent::Ended(Recording::default())));
    assert_eq!(state.run.phase, Phase::Comparing);
    // A slider that is moved meanwhile does not disturb the comparison.
    let settings = PlanSettings { sram_bytes: Some(64), ..fixture::settings() };
    assert_eq!(plans(&state.update(Event::Settings(settings, false))).len(), 1);
    let result = fixture::result(vec![vec![1, 2, 3]]);
    let checks = vec![LayerCheck { layer: 0, elements: 32, differing: 0 }];
    let comparison = Some(Comparison { layers: checks, difference: None });
    let reply = Ok(ImportReply::Judged(Box::new(result), comparison));
    state.update(Event::Imported(request_of(&effects), reply));
    state.update(Event::Undo);
    state.update(Event::Stop(Doer::Planner));
    assert_eq!(state.run.phase, Phase::Finished);
    assert!(state.run.outcome.as_ref().unwrap().comparison.is_some());
    assert!(state.tasks.is_empty() && state.can_run());
}

#[test]
fn a_stopped_run_says_nothing_more() {
    let mut state = ready();
    let request = request_of(&state.update(Event::Run));
    let effects = state.update(Event::Stop(Doer::Emulator));
    assert_eq!(effects, [Effect::StopRun]);
    assert_eq!(state.run.phase, Phase::Cancelled);
    assert!(state.update(Event::Board(request, RunEvent::Ended(Recording::default()))).is_empty());
    assert_eq!(state.run.phase, Phase::Cancelled);
    assert!(state.run.outcome.is_none() && state.tasks.is_empty());
}

/// Where the run that these effects start is.
fn started_on(effects: &[Effect]) -> Option<RunsOn> {
    effects.iter().find_map(|effect| match effect {
        Effect::StartRun(_, place, _) => Some(*place),
        _ => None,
    })
}

#[test]
fn plans_run_in_the_page_unless_a_server_can() {
    let mut state = ready();
    let present = |missing| {
        let (engine, kept) = (String::new(), String::new());
        Event::Server(Server::Present { engine, missing, kept })
    };
    for (server, place) in [
        (Event::Server(Server::Unknown), RunsOn::Page),
        (Event::Server(Server::Absent), RunsOn::Page),
        (present(Some(trouble("No emulator", "", ""))), RunsOn::Page),
        (present(None), RunsOn::Server),
    ] {
        state.update(server);
        assert!(state.can_run());
        assert_eq!((state.runs_on(), started_on(&state.update(Event::Run))), (place, Some(place)));
        state.update(Event::Stop(Doer::Emulator));
    }
}

#[test]
fn where_plans_run_is_a_choice_that_another_model_keeps() {
    let mut state = ready();
    state.update(Event::RunOn(RunsOn::Page));
    assert_eq!(state.said, "Plans run in this page");
    assert_eq!(started_on(&state.update(Event::Run)), Some(RunsOn::Page));
    state.update(Event::RunOn(RunsOn::Server));
    assert_eq!(state.runs_on(), RunsOn::Page, "a run is under way");
    state.update(Event::Stop(Doer::Emulator));
    let effects = state.update(Event::OpenExample(&catalogue::EXAMPLES[1]));
    state.update(Event::Imported(request_of(&effects), Ok(ImportReply::Opened(facts()))));
    assert_eq!(state.runs_on(), RunsOn::Page);
    state.update(Event::RunOn(RunsOn::Server));
    assert_eq!(state.runs_on(), RunsOn::Server);
    state.update(Event::Server(Server::Absent));
    assert_eq!(state.runs_on(), RunsOn::Page, "there is no server any more");
    state.update(Event::RunOn(RunsOn::Server));
    assert_eq!(state.said, "Plans run in this page", "what is, not what was asked for");
}

#[test]
fn a_run_whose_firmware_cannot_be_had_has_failed() {
    let mut state = ready();
    state.update(Event::RunOn(RunsOn::Page));
    let request = request_of(&state.update(Event::Run));
    state.update(Event::NotFetched(request, trouble("No firmware", "", "")));
    assert_eq!(state.run.phase, Phase::Failed);
    assert!(state.trouble(Place::Run).is_some() && state.can_run() && state.tasks.is_empty());
}

#[test]
fn an_emulator_that_crashes_leaves_a_trouble_and_the_next_run() {
    let mut state = ready();
    state.update(Event::RunOn(RunsOn::Page));
    let request = request_of(&state.update(Event::Run));
    state.update(Event::Board(request, RunEvent::Progress(RunningOf::default())));
    let crashed = trouble("The emulator stopped unexpectedly", "", "");
    state.update(Event::Board(request, RunEvent::Failed(crashed)));
    assert_eq!(state.run.phase, Phase::Failed);
    assert!(state.trouble(Place::Run).is_some());
    assert_eq!(started_on(&state.update(Event::Run)), Some(RunsOn::Page));
    assert!(state.trouble(Place::Run).is_none());
}

/// A page that is ready to run a plan whose weights lie in a store.
fn with_stores() -> State {
    let mut state = ready();
    let settings = PlanSettings { strategy: "external".to_owned(), ..fixture::settings() };
    let asked = plans(&state.update(Event::Settings(settings.clone(), false)));
    let mut plan = PlanFacts { settings, ..fixture::plan() };
    plan.image.as_mut().unwrap().store_bytes = 4_096;
    state.update(Event::Planned(asked[0], Ok(PlanReply::Planned(Box::new(plan)))));
    state
}

#[test]
fn a_run_with_stores_begins_once_they_are_made_of_the_same_plan() {
    let mut state = with_stores();
    state.update(Event::Sampled(true));
    let effects = state.update(Event::Run);
    assert_eq!(effects[0], Effect::HoldRun);
    assert_eq!(state.run.phase, Phase::MakingStores);
    let request = request_of(&effects);
    // Another plan meanwhile changes nothing: the run is of what was put aside.
    let settings = PlanSettings { sram_bytes: Some(64), ..fixture::settings() };
    state.update(Event::Settings(settings, false));
    let names = vec!["external_flash".to_owned()];
    let reply = Ok(ImportReply::Stores(names.clone()));
    let effects = state.update(Event::Imported(request, reply));
    let body =
        RunRequest { board: BOARD.to_owned(), mode: Mode::Sampled, limit_us: None, stores: names };
    let request = request_of(&effects);
    let started = Effect::StartRun(request, RunsOn::Server, body);
    assert_eq!(effects, [Effect::Keep(Kept::Stores), started]);
    let effects = state.update(Event::Board(request, RunEvent::Ended(Recording::default())));
    assert!(effects.iter().any(
        |effect| matches!(effect, Effect::Judge(_, settings) if settings.strategy == "external")
    ));
}

#[test]
fn a_run_is_stopped_while_its_stores_are_made() {
    let mut state = with_stores();
    let request = request_of(&state.update(Event::Run));
    let doer = state.run.phase.doer().unwrap();
    assert_eq!(state.update(Event::Stop(doer)), [Effect::EndImporter]);
    assert_eq!(state.run.phase, Phase::Cancelled);
    let reply = Ok(ImportReply::Stores(Vec::new()));
    assert!(state.update(Event::Imported(request, reply)).is_empty());
    assert!(state.task(Job::Stores).is_none() && state.can_run());
}

#[test]
fn back_at_the_beginning_nothing_of_the_model_goes_on() {
    let mut state = ready();
    let run = request_of(&state.update(Event::Run));
    let settings = PlanSettings { sram_bytes: Some(64), ..fixture::settings() };
    let asked = plans(&state.update(Event::Settings(settings, false)));
    let effects = state.update(Event::Navigated(Fragment::default()));
    assert!(effects.contains(&Effect::StopRun) && state.model.is_none() && state.plan.is_none());
    let late = Ok(PlanReply::Planned(Box::new(fixture::plan())));
    state.update(Event::Planned(asked[0], late));
    state.update(Event::Board(run, RunEvent::Ended(Recording::default())));
    assert!(state.plan.is_none() && state.run.outcome.is_none() && state.tasks.is_empty());
}
