//! Whole stories: what happens, and what the state asks for.

mod runs;

use super::*;
use tilewright_report::Need;

use crate::message::{
    Calibration, FileFacts, ImportReply, ModelFacts, PlanReply, PlanSettings, ScheduleFile,
    SparsityFacts, SummaryFacts, trouble,
};
use crate::view_model::catalogue;
use crate::view_model::fixture;

const BOARD: &str = "stm32f746g-disco";

pub(super) fn facts() -> ModelFacts {
    ModelFacts {
        name: "small".to_owned(),
        file: "small.onnx".to_owned(),
        file_bytes: 10,
        sha256: "ab".repeat(32),
        inputs: Vec::new(),
        outputs: Vec::new(),
        operators: 3,
        macs: 608,
        parameters: 350,
        summary: SummaryFacts::default(),
        unknown: String::new(),
        note: String::new(),
        labels: Vec::new(),
        pixels: None,
        calibration: Calibration::Samples(32),
        sparsity: SparsityFacts::default(),
    }
}

/// A page that has started and knows the boards.
pub(super) fn started(link: &str) -> (State, Vec<Effect>) {
    let mut state = State::default();
    let mut effects = state.update(Event::Started(Fragment::parse(link), Theme::System, false));
    let boards = vec![fixture::board()];
    let strategies = vec!["resident".to_owned()];
    let reply = PlanReply::Boards { boards, strategies };
    effects.extend(state.update(Event::Planned(asked(&effects), Ok(reply))));
    (state, effects)
}

fn asked(effects: &[Effect]) -> u32 {
    let ask = |effect: &Effect| match effect {
        Effect::AskBoards(request) => Some(*request),
        _ => None,
    };
    effects.iter().find_map(ask).unwrap()
}

pub(super) fn request_of(effects: &[Effect]) -> u32 {
    let number = |effect: &Effect| match effect {
        Effect::Open(request, ..)
        | Effect::Plan(request, _)
        | Effect::BeginSearch(request, ..)
        | Effect::GoOnSearching(request, _)
        | Effect::PrepareSample(request, _)
        | Effect::StartRun(request, ..)
        | Effect::MakeStores(request, _)
        | Effect::Judge(request, _)
        | Effect::Package { request, .. }
        | Effect::Examine(request, ..)
        | Effect::CompareFloat(request, ..)
        | Effect::ListZoo(request)
        | Effect::ExploreFit(request)
        | Effect::ListPapers(request)
        | Effect::ComputePaper(request, _, _)
        | Effect::SizeZoo(request, _)
        | Effect::ListCellChoices(request)
        | Effect::SizeCells(request, _)
        | Effect::Reorder(request, _)
        | Effect::SaveSchedule { request, .. }
        | Effect::SaveLibrary { request, .. }
        | Effect::SaveRecipe(request, _)
        | Effect::ReadStored(request) => Some(*request),
        _ => None,
    };
    effects.iter().find_map(number).unwrap()
}

pub(super) fn plans(effects: &[Effect]) -> Vec<u32> {
    let plan = |effect: &Effect| match effect {
        Effect::Plan(request, _) => Some(*request),
        _ => None,
    };
    effects.iter().filter_map(plan).collect()
}

/// The same with a model, a plan, and the reference's answer to the first sample.
pub(super) fn ready() -> State {
    let (mut state, _) = started("");
    let effects = state.update(Event::OpenExample(&catalogue::EXAMPLES[0]));
    let opened = Event::Imported(request_of(&effects), Ok(ImportReply::Opened(facts())));
    let effects = state.update(opened);
    let sample = effects.iter().find_map(|effect| match effect {
        Effect::PrepareSample(request, _) => Some(*request),
        _ => None,
    });
    let graph = effects.iter().find_map(|effect| match effect {
        Effect::DrawGraph(request, _) => Some(*request),
        _ => None,
    });
    let drawn = Ok(ImportReply::Graph(Box::default()));
    state.update(Event::Imported(graph.unwrap(), drawn));
    let reply = PlanReply::Planned(Box::new(fixture::plan()));
    let packaging = state.update(Event::Planned(plans(&effects)[0], Ok(reply)));
    let packaged = ImportReply::Packaged(Package { files: Vec::new(), steps: String::new() });
    state.update(Event::Imported(request_of(&packaging), Ok(packaged)));
    let outputs = vec![vec![1, 2, 3]];
    let reference =
        ReferenceFacts { name: "7.png".to_owned(), outputs, ..ReferenceFacts::default() };
    state.update(Event::Imported(sample.unwrap(), Ok(ImportReply::Input(reference))));
    state.update(Event::Server(Server::Present {
        engine: String::new(),
        missing: None,
        kept: String::new(),
    }));
    state
}

#[test]
fn a_fresh_page_chooses_board_and_strategy_and_opens_nothing() {
    let (state, effects) = started("");
    assert_eq!(state.settings.now().board, BOARD);
    assert_eq!(state.settings.now().strategy, "resident");
    assert!(!state.settings.can_undo());
    assert!(state.tasks.is_empty());
    assert!(effects.iter().all(|effect| !matches!(effect, Effect::Open(..))));
}

#[test]
fn a_link_opens_its_example_with_its_settings() {
    let (state, effects) = started("#model=lenet5&sram=4096&view=memory");
    let is_lenet =
        |e: &Effect| matches!(e, Effect::Open(_, Origin::Example(x), _) if x.id == "lenet5");
    assert!(effects.iter().any(is_lenet));
    assert_eq!(state.settings.now().sram_bytes, Some(4096));
    assert_eq!(state.view, View::Memory);
    let text = state.fragment().text();
    assert!(text.contains("model=lenet5") && text.contains("sram=4096"), "{text}");
}

#[test]
fn a_link_to_a_file_asks_for_it_and_an_unknown_board_is_named() {
    let (state, _) = started("#model=sha256:abcd&board=pdp-11");
    assert_eq!(state.wanted.as_ref().map(|w| w.model.as_str()), Some("sha256:abcd"));
    assert!(state.trouble(Place::Plan).unwrap().what.contains("pdp-11"));
    assert_eq!(state.settings.now().board, BOARD);
}

#[test]
fn a_plan_that_fits_is_packaged() {
    let (mut state, _) = started("");
    let effects = state.update(Event::OpenExample(&catalogue::EXAMPLES[0]));
    let opened = Ok(ImportReply::Opened(facts()));
    let effects = state.update(Event::Imported(request_of(&effects), opened));
    let planned = Ok(PlanReply::Planned(Box::new(fixture::plan())));
    let effects = state.update(Event::Planned(plans(&effects)[0], planned));
    let [Effect::Keep(Kept::Image), Effect::Package { request, settings, has_stores, .. }, ..] =
        &effects[..]
    else {
        panic!("{effects:?}")
    };
    assert_eq!((settings.board.as_str(), *has_stores), (BOARD, false));
    let trouble = trouble("No firmware", "", "");
    state.update(Event::NotFetched(*request, trouble));
    assert!(state.trouble(Place::Firmware).is_some());
    assert!(state.plan.is_some(), "the last good view stays");
}

#[test]
fn a_tensorflow_lite_file_can_be_put_in_another_order() {
    let mut state = ready();
    assert!(state.reorderable().is_none(), "an example is no .tflite file");
    assert!(state.update(Event::Reorder).is_empty());
    let effects = state.update(Event::File { token: 4, name: "net.TFLITE".to_owned() });
    let opened = Ok(ImportReply::Opened(facts()));
    state.update(Event::Imported(request_of(&effects), opened));
    let effects = state.update(Event::Reorder);
    let [Effect::Reorder(request, file)] = effects.as_slice() else { panic!("{effects:?}") };
    assert_eq!(file.token, 4);
    assert!(state.update(Event::Reorder).is_empty(), "once is enough");
    let file =
        FileFacts { name: "net-reordered.tflite".to_owned(), bytes: 9, sha256: String::new() };
    let reordered = Reordered {
        file,
        operators: 3,
        moved: 2,
        before_bytes: 64,
        arena_bytes: 48,
        lower_bound_bytes: 48,
    };
    state.update(Event::Imported(*request, Ok(ImportReply::Reordered(reordered))));
    assert_eq!(state.reordered.as_ref().unwrap().moved, 2);
    let effects = state.update(Event::File { token: 5, name: "other.onnx".to_owned() });
    let opened = Ok(ImportReply::Opened(facts()));
    state.update(Event::Imported(request_of(&effects), opened));
    assert!(state.reordered.is_none() && state.reorderable().is_none());
}

#[test]
fn a_model_that_fails_keeps_the_last_good_view() {
    let mut state = ready();
    let effects = state.update(Event::File { token: 9, name: "broken.onnx".to_owned() });
    let trouble = trouble("broken.onnx is no ONNX model", "cut at byte 12", "Export it again");
    state.update(Event::Imported(request_of(&effects), Err(trouble)));
    assert!(state.trouble(Place::Model).is_some());
    assert_eq!(state.model.as_ref().unwrap().facts.name, "small");
    assert!(state.plan.is_some() && state.tasks.is_empty());
}

#[test]
fn files_go_where_their_ending_says() {
    let (mut state, _) = started("");
    assert!(state.update(file(1, "7.png")).is_empty());
    assert!(state.trouble(Place::Model).unwrap().what.contains("7.png"));
    assert!(state.update(file(1, "samples.npy")).is_empty());
    let effects = state.update(file(1, "own.onnx"));
    assert_eq!(opened_file(&effects).calibration, None);
    // Samples dropped meanwhile start over with both.
    let effects = state.update(file(2, "s.npy"));
    assert_eq!(effects[0], Effect::EndImporter);
    let opened = opened_file(&effects);
    assert_eq!((opened.token, opened.calibration), (1, Some(2)));
    assert!(state.names_file(1) && state.names_file(2) && !state.names_file(3));
}

#[test]
fn a_file_that_was_chosen_as_input_is_one_whatever_its_ending() {
    let mut state = ready();
    let effects = state.update(Event::InputFile { token: 3, name: "x.npy".to_owned() });
    assert!(matches!(effects[0], Effect::PrepareFile { token: 3, .. }), "{effects:?}");
    assert_eq!(state.input.file.as_deref(), Some("x.npy"));
    let (mut state, _) = started("");
    assert!(state.update(Event::InputFile { token: 3, name: "x.npy".to_owned() }).is_empty());
    assert!(state.trouble(Place::Model).is_some());
}

fn file(token: u32, name: &str) -> Event {
    Event::File { token, name: name.to_owned() }
}

#[test]
fn weights_beside_a_model_are_taken_together_or_asked_for_by_name() {
    let file = |token, name: &str| Event::File { token, name: name.to_owned() };
    let (mut state, _) = started("");
    assert!(state.update(file(1, "net.onnx.data")).is_empty());
    assert!(state.trouble(Place::Model).unwrap().what_to_do.contains(".onnx"));
    assert!(state.names_file(1));
    let effects = state.update(file(2, "net.onnx"));
    assert_eq!(opened_file(&effects).data, [("net.onnx.data".to_owned(), 1)]);
    assert_eq!(opened_file(&effects).tokens().collect::<Vec<u32>>(), [2, 1]);
    assert_eq!(state.trouble(Place::Model), None);

    let trouble = trouble("net.onnx cannot be opened", "", "")
        .needing(Need::File("weights/more.data".to_owned()));
    state.update(Event::Imported(request_of(&effects), Err(trouble)));
    assert!(state.names_file(2));
    assert!(state.update(file(3, "other.data")).is_empty());
    assert!(state.trouble(Place::Model).unwrap().place.contains("weights/more.data"));
    let effects = state.update(file(4, "more.data"));
    assert_eq!(opened_file(&effects).tokens().collect::<Vec<u32>>(), [2, 1, 3, 4]);
    assert!((1..5).all(|token| state.names_file(token)));

    // Nothing is kept of which only a part could be.
    state.keep.is_allowed = true;
    let opened = Event::Imported(request_of(&effects), Ok(ImportReply::Opened(facts())));
    let effects = state.update(opened);
    assert!(!effects.iter().any(|effect| matches!(effect, Effect::Store(..))));
    assert!(state.keep.problem.is_some());
}

#[test]
fn class_names_come_with_a_model_or_after_it() {
    let (mut state, _) = started("");
    assert!(state.update(file(1, "labels.txt")).is_empty());
    assert!(state.trouble(Place::Model).unwrap().what.contains("labels.txt has no model"));
    state.update(file(2, "net.tflite"));
    for (token, name) in [(3, "labels.txt"), (4, "coco.names")] {
        let effects = state.update(file(token, name));
        assert_eq!(opened_file(&effects).data, [(name.to_owned(), token)]);
    }
    assert_eq!(state.trouble(Place::Model), None);
}

fn opened_file(effects: &[Effect]) -> &OwnFile {
    let opened = effects.iter().find_map(|effect| match effect {
        Effect::Open(_, Origin::File(file), _) => Some(file),
        _ => None,
    });
    opened.unwrap()
}

#[test]
fn open_dimensions_are_asked_one_after_the_other_and_stay_with_the_model() {
    let (mut state, _) = started("");
    let mut effects = state.update(file(1, "own.onnx"));
    for name in ["height", "width"] {
        let trouble = trouble("An open dimension", name, "Say which size to use.")
            .needing(Need::Dimensions(vec![name.to_owned()]));
        state.update(Event::Imported(request_of(&effects), Err(trouble)));
        assert_eq!(state.open_dimensions.as_deref(), Some(&vec![name.to_owned()]));
        effects = state.update(Event::Dimensions(vec![(name.to_owned(), 8)]));
    }
    let both = [("height".to_owned(), 8), ("width".to_owned(), 8)];
    assert_eq!(opened_file(&effects).dims, both);
    state.update(Event::Imported(request_of(&effects), Ok(ImportReply::Opened(facts()))));
    assert_eq!(opened_file(&state.update(file(2, "s.npy"))).dims, both);
}

#[test]
fn an_own_model_is_kept_only_if_the_person_allows_it() {
    let (mut state, _) = started("");
    let effects = state.update(file(1, "own.onnx"));
    let opened = Event::Imported(request_of(&effects), Ok(ImportReply::Opened(facts())));
    let is_store = |effect: &Effect| matches!(effect, Effect::Store(..));
    assert!(!state.update(opened).iter().any(is_store));

    let effects = state.update(Event::Keep(true));
    assert_eq!(effects[0], Effect::RememberKeeping(true));
    let Effect::Store(_, stored) = &effects[1] else { panic!("{effects:?}") };
    assert!(state.keep.is_storing);
    state.update(Event::Stored(Ok(Some(stored.clone()))));
    assert!(!state.keep.is_storing && state.keep.stored.is_some());

    let effects = state.update(Event::Keep(false));
    assert_eq!(effects, [Effect::RememberKeeping(false), Effect::Forget]);
    state.update(Event::Stored(Ok(None)));
    assert_eq!(state.keep, Keep::default());
}

#[test]
fn a_storage_that_refuses_loses_nothing() {
    let (mut state, _) = started("");
    let effects = state.update(file(1, "own.onnx"));
    state.update(Event::Imported(request_of(&effects), Ok(ImportReply::Opened(facts()))));
    state.update(Event::Keep(true));
    let trouble = trouble("The browser does not store own.onnx", "It has no room", "");
    state.update(Event::Stored(Err(trouble)));
    assert!(state.model.is_some() && state.keep.problem.is_some() && !state.keep.is_storing);
    assert!(state.troubles.is_empty(), "the panels stay free");
}

#[test]
fn a_reload_opens_what_the_browser_keeps() {
    let link = format!("#model=sha256:{}&sram=4096", facts().sha256);
    let start = |keeps| {
        let mut state = State::default();
        let event = Event::Started(Fragment::parse(&link), Theme::System, keeps);
        let effects = state.update(event);
        (state, effects.contains(&Effect::AskStored))
    };
    assert!(!start(false).1, "a browser that was never asked to keep anything is left alone");
    let (mut state, is_asked) = start(true);
    assert!(is_asked && state.wanted.is_some());
    let name = "own.onnx".to_owned();
    let dims = vec![("n".to_owned(), 2)];
    let stored =
        Stored { name: name.clone(), sha256: facts().sha256, bytes: 10, dims: dims.clone() };
    let effects = state.update(Event::Stored(Ok(Some(stored))));
    let request = request_of(&effects);
    let file = OwnFile { token: 7, name, dims, is_stored: true, ..OwnFile::default() };
    let effects = state.update(Event::StoredRead(request, file.clone()));
    let origin = Origin::File(file);
    assert_eq!(effects, [Effect::Open(request, origin, Quantising::default())]);
    let opened = Event::Imported(request, Ok(ImportReply::Opened(facts())));
    let effects = state.update(opened);
    assert!(!effects.iter().any(|e| matches!(e, Effect::Store(..))), "it is there already");
    assert_eq!(state.wanted, None);
    assert_eq!(state.settings.now().sram_bytes, Some(4096));
}

#[test]
fn a_link_to_another_model_than_the_kept_one_still_asks_for_it() {
    let mut state = State::default();
    state.update(Event::Started(Fragment::parse("#model=sha256:00ff"), Theme::System, true));
    let stored = Stored { name: "own.onnx".to_owned(), ..Stored::default() };
    assert!(state.update(Event::Stored(Ok(Some(stored)))).is_empty());
    assert_eq!(state.wanted.as_ref().map(|w| w.model.as_str()), Some("sha256:00ff"));
    // What is kept can be opened all the same; if its bytes are gone, nothing else changes.
    let effects = state.update(Event::OpenStored);
    let gone = trouble("The browser's storage cannot be used", "", "");
    state.update(Event::NotFetched(request_of(&effects), gone));
    assert!(state.trouble(Place::Model).is_some() && state.tasks.is_empty());
}

#[test]
fn keys_move_the_selection_and_say_where_it_is() {
    let mut state = ready();
    state.update(Event::Hover(Selection::layer(0)));
    state.update(Event::Reach(Selection::layer(1), "Operator 2 of 3".to_owned()));
    assert_eq!(state.lit(), Selection::layer(1));
    assert_eq!(state.said, "Operator 2 of 3");
    state.update(Event::Reach(Selection::layer(1), String::new()));
    assert_eq!(state.lit(), Selection::layer(1), "reaching the same again keeps it");
}

#[test]
fn steps_count_even_if_nothing_was_drawn_between_them() {
    let mut state = ready();
    state.update(Event::Step(Step::On, None));
    state.update(Event::Step(Step::On, None));
    assert_eq!(state.lit(), Selection::layer(1));
    assert!(state.said.starts_with("Operator 2 of"), "{}", state.said);
}

#[test]
fn stopping_the_importer_ends_it_and_keeps_the_model() {
    let mut state = ready();
    state.update(Event::OpenExample(&catalogue::EXAMPLES[1]));
    let effects = state.update(Event::Stop(Doer::Importer));
    assert_eq!(effects, [Effect::EndImporter]);
    assert!(state.tasks.is_empty());
    assert_eq!((state.said.as_str(), state.took_ms), ("Stopped", None), "a plan took that time");
    assert_eq!(state.model.as_ref().unwrap().facts.name, "small");
}

#[test]
fn what_opens_a_model_starts_the_importer_before_it_is_clicked() {
    let mut state = ready();
    assert_eq!(state.update(Event::Expecting), [Effect::StartImporter]);
    assert!(state.tasks.is_empty(), "nothing is under way that a person could stop");
}

#[test]
fn selecting_again_selects_nothing() {
    let mut state = ready();
    state.update(Event::Select(Selection::layer(1)));
    state.update(Event::Hover(Selection::tensor(0)));
    assert_eq!(state.lit(), Selection::tensor(0));
    state.update(Event::Hover(Selection::NONE));
    assert_eq!(state.lit(), Selection::layer(1));
    state.update(Event::Select(Selection::layer(1)));
    assert!(state.selected.is_none());
}

#[test]
fn strategies_that_cannot_plan_the_model_are_known_until_another_is_opened() {
    let mut state = ready();
    let obstacles = vec![("ping-pong".to_owned(), "the network is not a chain".to_owned())];
    let reply = PlanReply::Loaded { obstacles: obstacles.clone() };
    state.update(Event::Planned(0, Ok(reply)));
    assert_eq!(*state.obstacles, obstacles);
    let effects = state.update(Event::OpenExample(&catalogue::EXAMPLES[1]));
    state.update(Event::Imported(request_of(&effects), Ok(ImportReply::Opened(facts()))));
    assert!(state.obstacles.is_empty());
}

#[test]
fn a_schedule_is_saved_with_the_plan_that_is_shown() {
    let mut state = ready();
    let effects = state.update(Event::SaveSchedule(ScheduleFile::Csv));
    let is_of_plan = |effect: &Effect| match effect {
        Effect::SaveSchedule { plan, run, .. } => {
            Some(plan) == state.plan.as_ref() && run.is_none()
        }
        _ => false,
    };
    assert!(effects.iter().any(is_of_plan));
    let name = "small-schedule.csv".to_owned();
    let file = FileFacts { name, bytes: 1, sha256: String::new() };
    let effects = state.update(Event::Imported(request_of(&effects), Ok(ImportReply::Saved(file))));
    assert!(state.said.contains("small-schedule.csv"));
    assert_eq!(effects, [Effect::Keep(Kept::Saved("small-schedule.csv".to_owned()))]);
}

#[test]
fn a_recipe_is_written_of_the_plan_that_is_shown() {
    let mut state = ready();
    let effects = state.update(Event::SaveRecipe);
    let is_of_plan = |effect: &Effect| match effect {
        Effect::SaveRecipe(_, settings) => {
            state.plan.as_ref().is_some_and(|plan| plan.settings == *settings)
        }
        _ => false,
    };
    assert!(effects.iter().any(is_of_plan));
}

#[test]
fn store_images_are_made_when_somebody_asks() {
    let mut state = ready();
    let settings = PlanSettings { strategy: "overlay".to_owned(), ..fixture::settings() };
    let asked = plans(&state.update(Event::Settings(settings.clone(), false)));
    let mut plan = PlanFacts { settings, ..fixture::plan() };
    plan.image.as_mut().unwrap().store_bytes = 4_096;
    let effects = state.update(Event::Planned(asked[0], Ok(PlanReply::Planned(Box::new(plan)))));
    let packages = |effects: &[Effect]| {
        effects.iter().any(|effect| matches!(effect, Effect::Package { has_stores: true, .. }))
    };
    assert!(!packages(&effects));
    assert!(packages(&state.update(Event::Package)));
}

#[test]
fn a_link_names_a_file_by_name_and_size_or_its_address() {
    let link = "#model=sha256:abcd&file=net.tflite&bytes=12";
    let (state, _) = started(link);
    assert_eq!(state.wanted.as_ref().unwrap().file.as_ref().unwrap().name, "net.tflite");
    assert!(state.fragment().text().contains("file=net.tflite&bytes=12"));
    let (mut state, effects) = started("#model=https://host/a/net.onnx?x=1");
    let fetches = |effects: &[Effect]| {
        effects.iter().any(|effect| {
            matches!(effect, Effect::FetchModel(_, file) if file.name == "net.onnx"
                && file.address.as_deref() == Some("https://host/a/net.onnx?x=1"))
        })
    };
    assert!(!fetches(&effects), "nobody was asked");
    let effects = state.update(Event::FetchModel);
    assert!(fetches(&effects) && state.is_opening());
    let fetched = effects.into_iter().find_map(|effect| match effect {
        Effect::FetchModel(request, file) => Some((request, file)),
        _ => None,
    });
    let (request, file) = fetched.unwrap();
    state.update(Event::StoredRead(request, file));
    state.update(Event::Imported(request, Ok(ImportReply::Opened(facts()))));
    assert!(state.wanted.is_none() && state.model.is_some());
    let text = state.fragment().text();
    assert!(text.contains("model=https:%2F%2Fhost%2Fa%2Fnet.onnx%3Fx=1"), "{text}");
    assert!(!text.contains("sha256") && !text.contains("bytes="), "{text}");
}

#[test]
fn panels_and_settings_are_steps_that_back_leads_before() {
    let mut state = ready();
    let mut is_step = |event: Event| {
        let effects = state.update(event);
        effects.iter().find_map(|effect| match effect {
            Effect::WriteFragment { is_step, .. } => Some(*is_step),
            _ => None,
        })
    };
    let sram = |bytes| PlanSettings { sram_bytes: Some(bytes), ..fixture::settings() };
    assert_eq!(is_step(Event::Show(View::Memory)), Some(true));
    assert_eq!(is_step(Event::Show(View::Memory)), Some(false), "it is shown already");
    assert_eq!(is_step(Event::Settings(sram(64), true)), Some(true));
    assert_eq!(is_step(Event::Settings(sram(65), true)), Some(false), "a drag is one step");
    assert_eq!(is_step(Event::Follow(Fragment::parse("model=lenet5&view=film"))), Some(true));
    assert_eq!(is_step(Event::Navigated(Fragment::parse("model=lenet5&view=run"))), None);
}
