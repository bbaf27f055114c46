//! From the bundled files to an image and a comparison, as the page asks for it.
#![cfg(feature = "importer")]

mod cells;
mod float;
mod library;
mod opening;
mod sparsity;
mod tiles;

use super::import::Importer;
use super::plan::Planner;
use super::{Outcome, Sliced, Turn};
use crate::message::{
    Calibrating, Calibration, ImportReply, ImportRequest, ModelSource, NodeRole, PlanFacts,
    PlanReply, PlanRequest, PlanSettings, ScheduleFile,
};
use crate::view_model::catalogue::{EXAMPLES, Example};

fn file(path: &str) -> Vec<u8> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    std::fs::read(root.join(path)).unwrap()
}

fn from(name: &str) -> ModelSource {
    ModelSource::File { name: name.to_owned(), data: Vec::new(), dims: Vec::new() }
}

/// The model, and its samples if it has some.
fn files_of(example: &Example) -> Vec<Vec<u8>> {
    [example.file].into_iter().chain(example.calibration).map(file).collect()
}

fn opened(importer: &mut Importer, example: &Example) -> Vec<u8> {
    let buffers = files_of(example);
    let request = ImportRequest::Open(from(example.file), Calibrating::default());
    let (reply, mut buffers) = importer.answer(request, buffers, &|_| {}).unwrap();
    assert!(matches!(reply, ImportReply::Opened(_)), "{reply:?}");
    buffers.remove(0)
}

fn settings(sram_bytes: Option<u64>) -> PlanSettings {
    PlanSettings {
        board: "stm32f746g-disco".to_owned(),
        strategy: "resident".to_owned(),
        sram_bytes,
        ..PlanSettings::default()
    }
}

fn planned(model: Vec<u8>, settings: PlanSettings) -> (PlanFacts, Vec<Vec<u8>>) {
    let mut planner = Planner::default();
    assert!(matches!(planner.begin(PlanRequest::Load, &[model]), Turn::Done(Ok(_))));
    let begun = planner.begin(PlanRequest::Plan(settings), &[]);
    let (reply, buffers) = to_the_end(&mut planner, begun).unwrap();
    let PlanReply::Planned(facts) = reply else { panic!("{reply:?}") };
    (*facts, buffers)
}

/// Lets a planner go on until it has answered.
fn to_the_end(planner: &mut Planner, mut turn: Turn<PlanReply>) -> Outcome<PlanReply> {
    loop {
        match turn {
            Turn::Done(outcome) => return outcome,
            Turn::Working(text) => {
                assert!(text.starts_with("Planning: "), "{text}");
                turn = planner.go_on().unwrap();
            }
        }
    }
}

/// Operators that nothing computes, each reading what two others have made, so that their best
/// order takes long to find.
fn tangle(operators: usize) -> tilewright_model::Model {
    use tilewright_model::{DType, Model, Node, Op, Quantisation, Shape, Tensor, TensorId};
    let mut model = Model { name: "tangle".to_owned(), ..Model::default() };
    let mut state = 1usize;
    let mut draw = move |below: usize| {
        state = (state * 1_103_515_245 + 12_345) % (1 << 31);
        (state >> 8) % below
    };
    for made in 0..=operators {
        model.tensors.push(Tensor {
            name: format!("t{made}"),
            shape: Shape::new([1, 1, 1, draw(900) + 1]),
            dtype: DType::I8,
            quantisation: Some(Quantisation::per_tensor(1.0, 0)),
            source: None,
        });
    }
    model.inputs.push(TensorId(0));
    model.outputs.push(TensorId(operators));
    for made in 1..=operators {
        model.nodes.push(Node {
            name: format!("o{made}"),
            op: Op::Opaque { name: "Attention".to_owned() },
            inputs: vec![TensorId(draw(made)), TensorId(draw(made))],
            outputs: vec![TensorId(made)],
        });
    }
    model
}

#[test]
fn a_newer_plan_takes_the_place_of_one_under_way() {
    let mut planner = Planner::default();
    let model = postcard::to_stdvec(&tangle(300)).unwrap();
    assert!(matches!(planner.begin(PlanRequest::Load, &[model]), Turn::Done(Ok(_))));
    let reordered = PlanSettings { strategy: "reordered".to_owned(), ..settings(None) };
    assert!(matches!(planner.begin(PlanRequest::Plan(reordered), &[]), Turn::Working(_)));
    assert!(matches!(planner.go_on(), Some(Turn::Working(_))));
    // The list of boards is answered in between; a plan is the newest wish.
    assert!(matches!(planner.begin(PlanRequest::Boards, &[]), Turn::Done(Ok(_))));
    let newest = planner.begin(PlanRequest::Plan(settings(None)), &[]);
    let (reply, _) = to_the_end(&mut planner, newest).unwrap();
    let PlanReply::Planned(facts) = reply else { panic!("{reply:?}") };
    assert_eq!(facts.settings.strategy, "resident");
    assert!(planner.go_on().is_none(), "nothing is left of the older");
}

#[test]
fn a_newer_plan_is_heard_between_two_ways_beyond_sram() {
    let mut importer = Importer::default();
    let mut planner = Planner::default();
    let model = opened(&mut importer, &EXAMPLES[0]);
    assert!(matches!(planner.begin(PlanRequest::Load, &[model]), Turn::Done(Ok(_))));
    let auto = PlanSettings { strategy: "auto".to_owned(), ..settings(Some(1_000)) };
    let mut turn = planner.begin(PlanRequest::Compare(auto), &[]);
    loop {
        match turn {
            Turn::Working(text) if text.contains("beyond SRAM, 3 of ") => break,
            Turn::Working(_) => turn = planner.go_on().unwrap(),
            Turn::Done(_) => panic!("it planned all ways in one piece"),
        }
    }
    let newest = planner.begin(PlanRequest::Plan(settings(None)), &[]);
    let (reply, _) = to_the_end(&mut planner, newest).unwrap();
    assert!(matches!(reply, PlanReply::Planned(_)));
}

#[test]
fn memory_says_what_its_bytes_are_and_where_tensors_lie() {
    use crate::view_model::film::Film;
    use crate::view_model::memory;
    use tilewright_report::PartRole;
    let model = opened(&mut Importer::default(), &EXAMPLES[1]);
    let board = tilewright_board::find(&settings(None).board).unwrap();
    for (strategy, place) in [
        ("overlay", "external RAM"),
        ("swap", "the card"),
        ("stream", "SRAM"),
        ("external", "external RAM"),
    ] {
        let settings = PlanSettings { strategy: strategy.to_owned(), ..settings(None) };
        let (plan, _) = planned(model.clone(), settings);
        let limit = memory::limit(&plan, &board);
        let view = memory::view(&plan, limit);
        assert!(view.summary.contains(place), "{strategy}: {}", view.summary);
        assert!(view.peak_bytes > 0 && view.peak_bytes <= limit, "{strategy}: {}", view.peak_bytes);
        for (at, stack) in view.stacks.iter().enumerate() {
            let rows = memory::live_rows(&plan, at);
            let signed =
                |row: &memory::LiveRow| row.bytes as i64 * if row.is_shared { -1 } else { 1 };
            let listed: i64 = rows.iter().map(signed).sum();
            let parts: u64 = stack.parts.iter().map(|(_, bytes)| bytes).sum();
            assert_eq!((listed, parts), (stack.total as i64, stack.total), "{strategy}: {stack:?}");
        }
        let film = Film::of(&plan, &plan.timeline);
        let titles: Vec<_> = film.memories.iter().map(|memory| memory.title()).collect();
        let wanted = place.trim_start_matches("the ").to_lowercase();
        let is_there = |title: &&str| title.to_lowercase().contains(&wanted);
        assert!(place == "SRAM" || titles.iter().any(|title| is_there(title)), "{titles:?}");
        for at_us in film.times.tasks_us.iter().copied() {
            for memory in &film.memories {
                let areas = film.areas(&plan, memory, &film.acts(&plan, at_us), at_us);
                let ends: Vec<u64> = areas.iter().flat_map(|area| area.bytes).collect();
                assert!(ends.is_sorted(), "{strategy}, {}: bytes hold one thing", memory.title());
                assert!(ends.last().is_none_or(|end| *end <= memory.bytes), "{strategy}");
            }
            let acts = film.acts(&plan, at_us);
            assert!(!acts.is_empty(), "{strategy} at {at_us} µs");
            assert!(acts.iter().any(|act| !act.touched.is_empty()), "{strategy} at {at_us} µs");
        }
        let has = |role| view.has(role);
        assert!(has(PartRole::Input), "{strategy}");
        // The core writes outputs to external RAM itself.
        assert_eq!(has(PartRole::Output), strategy != "overlay", "{strategy}");
        // A boot program brings them to external RAM for `external`.
        assert!(has(PartRole::Weights), "{strategy}");
        // What is brought and what is kept lies where the schedule says that something is held.
        let held = plan.occupancy.changes().iter().any(|change| change.bytes[1] > 0);
        assert_eq!(held, strategy != "external", "{strategy}: weights in the schedule");
        assert_eq!(view.memory == "SRAM", strategy != "external", "{strategy}");
        assert_eq!(view.blocks.is_empty(), strategy.starts_with("overlay"), "{strategy}");
        assert!(plan.occupancy.peak() <= plan.report.peak_sram_bytes.0, "{strategy}");
    }
}

#[test]
fn a_schedule_is_planned_with_what_was_moved_and_saved_as_files() {
    let mut importer = Importer::default();
    let model = opened(&mut importer, &EXAMPLES[1]);
    let swap = PlanSettings {
        strategy: "swap".to_owned(),
        sram_bytes: Some(65_536),
        frames: Some(3),
        ..settings(None)
    };
    let (slow, images) = planned(model.clone(), swap.clone());
    assert!(!images.is_empty() && slow.no_image.is_none());
    assert!(slow.occupancy.peak() > 0 && slow.occupancy.peak() <= 65_536);
    assert_eq!(slow.timeline.slices.iter().map(|slice| slice.frame).max(), Some(2));
    let card = PlanSettings { card_bytes_per_second: Some(20_000_000), ..swap.clone() };
    let (fast, _) = planned(model.clone(), card);
    assert!(fast.report.transfer_us < slow.report.transfer_us);
    let small = PlanSettings { buffer_bytes: Some(10_240), ..swap };
    let (small, _) = planned(model.clone(), small);
    assert!(small.timeline.slices.len() > slow.timeline.slices.len());
    // Another clock changes the time, and there is no image for it.
    let half = PlanSettings { clock_hz: Some(108_000_000), ..settings(None) };
    let (half, images) = planned(model.clone(), half);
    assert!(half.image.is_none() && images.is_empty());
    let (whole, _) = planned(model, settings(None));
    assert!(half.report.latency_us > whole.report.latency_us);
    for file in ScheduleFile::ALL {
        let PlanFacts { report, memory, timeline, occupancy, accesses, tensors, .. } = &slow;
        let facts = (report, memory, timeline, occupancy, Some(timeline), accesses, tensors);
        let bytes = postcard::to_stdvec(&facts);
        let request = ImportRequest::Schedule(file, "http://again".to_owned());
        let (reply, buffers) = importer.answer(request, vec![bytes.unwrap()], &|_| {}).unwrap();
        let ImportReply::Saved(facts) = reply else { panic!("{reply:?}") };
        assert!(facts.name.ends_with(file.ending()), "{}", facts.name);
        let text = String::from_utf8(buffers[0].clone()).unwrap();
        match file {
            ScheduleFile::Csv => {
                assert_eq!(text.lines().count(), 1 + 2 * timeline.slices.len());
            }
            ScheduleFile::Perfetto | ScheduleFile::InPerfetto => {
                assert!(text.contains("traceEvents") && text.contains("card"))
            }
            ScheduleFile::Json => assert!(text.contains("\"occupancy\"")),
            ScheduleFile::Film => assert!(text.contains("SD card") && text.len() < 300_000),
            ScheduleFile::Report => {
                assert!(text.contains("http://again") && text.matches("<img").count() == 2);
            }
        }
    }
    let (reply, buffers) =
        importer.answer(ImportRequest::Recipe(slow.settings), Vec::new(), &|_| {}).unwrap();
    let ImportReply::Saved(facts) = reply else { panic!("{reply:?}") };
    assert!(facts.name.ends_with("-swap-recipe.json"), "{}", facts.name);
    assert!(String::from_utf8(buffers[0].clone()).unwrap().contains("\"pools\""));
    assert!(
        importer
            .answer(
                ImportRequest::Schedule(ScheduleFile::Csv, String::new()),
                vec![vec![1]],
                &|_| {}
            )
            .is_err()
    );
}

#[test]
fn a_tensorflow_lite_file_is_put_in_another_order() {
    let mut importer = Importer::default();
    let ask = |importer: &mut Importer, name: &str, bytes| {
        let request = ImportRequest::Reorder { name: name.to_owned() };
        importer.answer(request, vec![bytes], &|_| {})
    };
    let old = file("models/golden/branches.tflite");
    let (reply, buffers) = ask(&mut importer, "two branches.tflite", old.clone()).unwrap();
    let ImportReply::Reordered(reordered) = reply else { panic!("{reply:?}") };
    assert_eq!((reordered.before_bytes, reordered.arena_bytes), (1152, 672));
    assert_eq!(reordered.lower_bound_bytes, reordered.arena_bytes);
    assert_eq!((reordered.moved, reordered.operators), (2, 5));
    assert_eq!(reordered.file.name, "two-branches-reordered.tflite");
    assert_eq!(reordered.file.bytes, buffers[0].len() as u64);
    assert!(buffers[0].len() > old.len());
    let example = file(EXAMPLES[0].file);
    let trouble = ask(&mut importer, "lenet5.onnx", example).unwrap_err();
    assert!(trouble.place == "lenet5.onnx" && trouble.what.contains(".tflite"), "{trouble:?}");
}

#[test]
fn examples_are_planned_and_their_samples_classified() {
    for example in EXAMPLES {
        let mut importer = Importer::default();
        let model = opened(&mut importer, example);
        let (facts, image) = planned(model, settings(None));
        assert!(facts.report.fits, "{}", example.id);
        assert_eq!(image[0].len() as u64, facts.image.unwrap().bytes);
        let output = &facts.outputs[0];
        assert_eq!(output.labels_of.is_empty(), example.id != "person-detect", "{}", example.id);
        let labels = &output.labels;
        for sample in example.samples {
            let request = ImportRequest::Input { name: sample.file.to_owned() };
            let (reply, _) = importer.answer(request, vec![file(sample.file)], &|_| {}).unwrap();
            let ImportReply::Input(reference) = reply else { panic!("{reply:?}") };
            let scores = &reference.outputs[0];
            let best = (0..scores.len()).max_by_key(|class| scores[*class]).unwrap();
            let found = labels[best].to_lowercase();
            let shown = sample.label.to_lowercase();
            assert!(found.starts_with(&shown), "{}: {found} instead of {shown}", sample.file);
        }
    }
}

#[test]
fn a_rehearsal_goes_all_the_way_and_leaves_nothing() {
    let (mut importer, mut planner) = (Importer::default(), Planner::default());
    let (reply, buffers) = importer.answer(ImportRequest::Rehearse, Vec::new(), &|_| {}).unwrap();
    assert_eq!(reply, ImportReply::Rehearsed);
    let mut ask = |request, buffers: &[Vec<u8>]| match planner.begin(request, buffers) {
        Turn::Done(outcome) => outcome.map(|(reply, _)| reply),
        Turn::Working(text) => panic!("{text}"),
    };
    let rehearsed = ask(PlanRequest::Rehearse(settings(None)), &buffers);
    assert_eq!(rehearsed.unwrap(), PlanReply::Rehearsed);
    let trouble = ask(PlanRequest::Plan(settings(None)), &[]).unwrap_err();
    assert_eq!(trouble.what, "There is no model to plan.");
    assert!(importer.answer(ImportRequest::Graph(None), Vec::new(), &|_| {}).is_err());
}

#[test]
fn small_kernels_make_another_board_with_costs_of_its_own() {
    let turn = Planner::default().begin(PlanRequest::Boards, &[]);
    let Turn::Done(Ok((PlanReply::Boards { boards, .. }, _))) = turn else { panic!("no boards") };
    let ids: Vec<_> = boards.iter().map(|board| board.id.as_str()).collect();
    for id in ["stm32f746g-disco", "stm32f469i-disco"] {
        let at = ids.iter().position(|one| *one == id).unwrap();
        assert_eq!(ids[at + 1], format!("{id}-small"));
    }
    let model = opened(&mut Importer::default(), &EXAMPLES[0]);
    let [fast, small] = ["stm32f469i-disco", "stm32f469i-disco-small"].map(|board| {
        let board = board.to_owned();
        let (facts, image) = planned(model.clone(), PlanSettings { board, ..settings(None) });
        assert!(facts.report.fits && !image.is_empty());
        facts.report.latency_us.unwrap().0
    });
    assert!(small > 1.5 * fast, "{small} {fast}");
}

#[test]
fn a_small_budget_names_the_operator_and_gives_no_image() {
    let model = opened(&mut Importer::default(), &EXAMPLES[0]);
    let (facts, image) = planned(model, settings(Some(1024)));
    let reason = facts.report.does_not_fit.unwrap();
    assert!(!facts.report.fits && image.is_empty());
    assert!(!reason.operator.is_empty(), "{reason:?}");
    assert_eq!(reason.available_bytes.0, 1024);
    let parts: u64 = reason.parts.iter().map(|part| part.bytes.0).sum();
    assert_eq!(parts, reason.needed_bytes.0, "{reason:?}");
}

#[test]
fn a_plan_to_compare_has_figures_and_tensors_but_nothing_to_run() {
    let model = opened(&mut Importer::default(), &EXAMPLES[0]);
    let mut planner = Planner::default();
    assert!(matches!(planner.begin(PlanRequest::Load, &[model]), Turn::Done(Ok(_))));
    let begun = planner.begin(PlanRequest::Plan(settings(None)), &[]);
    let (shown, _) = to_the_end(&mut planner, begun).unwrap();
    let begun = planner.begin(PlanRequest::Compare(settings(None)), &[]);
    let (compared, buffers) = to_the_end(&mut planner, begun).unwrap();
    let (PlanReply::Planned(shown), PlanReply::Planned(compared)) = (shown, compared) else {
        panic!("no plans");
    };
    assert!(buffers.is_empty() && compared.image.is_none());
    assert_eq!((&compared.report, &compared.tensors), (&shown.report, &shown.tensors));
    assert_eq!(compared.timeline, shown.timeline, "films stand side by side");
}

/// What the server would say of a run whose layers gave `layers`.
fn status(outputs: &[i8]) -> Vec<u8> {
    let result = crate::view_model::fixture::result(vec![outputs.to_vec()]);
    let status =
        serde_json::json!({ "id": "1", "state": "finished", "problem": null, "result": result });
    serde_json::to_vec(&status).unwrap()
}

#[test]
fn a_run_is_judged_layer_by_layer() {
    let mut importer = Importer::default();
    let model = opened(&mut importer, &EXAMPLES[0]);
    let sample = EXAMPLES[0].samples[7].file;
    let request = ImportRequest::Input { name: sample.to_owned() };
    let (_, input) = importer.answer(request, vec![file(sample)], &|_| {}).unwrap();
    let model: tilewright_model::Model = postcard::from_bytes(&model).unwrap();
    let (plan, _) = super::plan::make(&model, &settings(None)).unwrap();
    let values = input[0].iter().map(|byte| byte.cast_signed()).collect();
    let inputs = [tilewright_model::Data::I8(values)];
    let expected = tilewright_check::reference::expected(&plan.plan, &model, &inputs).unwrap();
    let places = tilewright_check::reference::layer_outputs(&plan.plan);
    let encode = |layers: &[Vec<i8>]| {
        let mut bytes = Vec::new();
        for (place, layer) in places.iter().zip(layers) {
            let words = [place.layer, place.space as u32, place.offset as u32, layer.len() as u32];
            for word in words {
                bytes.extend(word.to_le_bytes());
            }
            bytes.extend(layer.iter().map(|value| value.cast_unsigned()));
        }
        bytes
    };
    let mut judge = |layers: Vec<u8>| {
        let buffers = vec![status(&expected.outputs[0]), layers, input[0].clone()];
        let request = ImportRequest::Judge(settings(None));
        let (reply, _) = importer.answer(request, buffers, &|_| {}).unwrap();
        let ImportReply::Judged(result, comparison) = reply else { panic!("{reply:?}") };
        let outputs: Vec<_> = result.outputs.iter().map(|output| output.values.clone()).collect();
        assert_eq!(outputs, expected.outputs);
        comparison
    };
    let same = judge(encode(&expected.layers)).unwrap();
    assert_eq!(same.difference, None);
    assert_eq!(same.layers.len(), expected.layers.len());
    assert!(same.layers.iter().all(|layer| layer.differing == 0 && layer.elements > 0));

    let mut other = expected.layers.clone();
    other[2][5] ^= 1;
    let differs = judge(encode(&other)).unwrap();
    assert_eq!(differs.difference.unwrap().element, 5);
    assert_eq!(differs.layers[2].differing, 1);
    assert!(judge(Vec::new()).is_none(), "layers that were not watched are not compared");
}

fn ask(importer: &mut Importer, request: ImportRequest, buffers: Vec<Vec<u8>>) -> ImportReply {
    importer.answer(request, buffers, &|_| {}).unwrap().0
}

#[test]
fn the_graph_of_a_model_lies_on_its_plan() {
    let mut importer = Importer::default();
    let model = opened(&mut importer, &EXAMPLES[1]);
    let (facts, _) = planned(model, settings(None));
    let ImportReply::Graph(graph) = ask(&mut importer, ImportRequest::Graph(None), Vec::new())
    else {
        panic!("no graph");
    };
    for (layer, nodes) in facts.report.layers.iter().zip(&facts.nodes) {
        let drawn = |node: &u32| {
            let role = NodeRole::Operator(*node);
            graph.nodes.iter().find(|drawn| drawn.role == role).unwrap()
        };
        let drawn: Vec<_> = nodes.iter().map(drawn).collect();
        let names: Vec<&str> = drawn.iter().map(|drawn| drawn.name.as_str()).collect();
        assert_eq!(names.join(" + "), layer.name);
        assert_eq!(drawn.iter().map(|drawn| drawn.macs).sum::<u64>(), *layer.macs);
    }
    for tensor in &facts.tensors {
        let net = graph.nets.iter().find(|net| net.tensor == tensor.tensor).unwrap();
        assert_eq!((&net.name, net.bytes), (&tensor.name, tensor.bytes));
    }
    assert_eq!(graph.nodes.iter().filter(|node| node.role == NodeRole::Input).count(), 1);
    let last = graph.nodes.iter().map(|node| node.layer).max().unwrap();
    assert_eq!(graph.layers, last + 1);
}

#[test]
fn a_calibration_changes_scales_and_the_report_says_how_well() {
    let example = &EXAMPLES[0];
    let files = || files_of(example);
    let mut models = Vec::new();
    for (rule, is_random) in [("", false), ("mse", false), ("percentile=99", false), ("", true)] {
        let mut importer = Importer::default();
        let calibrating =
            Calibrating { rule: rule.to_owned(), is_random, ..Calibrating::default() };
        let request = ImportRequest::Open(from("model.onnx"), calibrating.clone());
        let (reply, buffers) = importer.answer(request, files(), &|_| {}).unwrap();
        let ImportReply::Opened(facts) = reply else { panic!("{reply:?}") };
        assert_eq!(facts.calibration == Calibration::Noise, is_random);
        assert_eq!(facts.summary.kinds[0].op, "Conv2D");
        models.push(buffers);
        let request = ImportRequest::Examine(from("model.onnx"), calibrating);
        let ImportReply::Examined(report) = ask(&mut importer, request, files()) else {
            panic!("no report");
        };
        let wanted = if rule.is_empty() { "minmax" } else { rule };
        assert_eq!((report.rule.as_str(), report.is_random), (wanted, is_random));
        assert!(report.tensors.len() > 8 && report.compared > 0, "{report:?}");
        let rounds = report.tensors.iter().filter(|tensor| tensor.alone_db.is_some()).count();
        assert!(rounds > 5 && rounds < report.tensors.len());
        let saturates = report.tensors.iter().any(|tensor| tensor.saturated > 0.0);
        assert_eq!(saturates, rule == "percentile=99", "{report:?}");
    }
    models.dedup();
    assert_eq!(models.len(), 4, "each choice gives another model");
    let request = ImportRequest::Open(
        from("model.onnx"),
        Calibrating { rule: "best".to_owned(), ..Calibrating::default() },
    );
    let trouble = Importer::default().answer(request, files(), &|_| {}).unwrap_err();
    assert!(trouble.place.contains("'best'"), "{trouble:?}");
}

#[test]
fn pictures_and_arrays_calibrate_together() {
    let example = &EXAMPLES[0];
    let mut buffers = files_of(example);
    let ImportReply::Opened(before) = ask(
        &mut Importer::default(),
        ImportRequest::Open(from("m.onnx"), Calibrating::default()),
        buffers.clone(),
    ) else {
        panic!("not opened");
    };
    buffers.extend(example.samples.iter().take(3).map(|sample| file(sample.file)));
    let request = ImportRequest::Open(from("m.onnx"), Calibrating::default());
    let ImportReply::Opened(facts) = ask(&mut Importer::default(), request, buffers) else {
        panic!("not opened");
    };
    let Calibration::Samples(count) = before.calibration else { panic!("{before:?}") };
    assert_eq!(facts.calibration, Calibration::Samples(count + 3));
}

#[test]
fn networks_of_the_zoo_are_listed_sized_opened_planned_and_run() {
    let mut importer = Importer::default();
    let ImportReply::Zoo(entries) = ask(&mut importer, ImportRequest::Zoo, Vec::new()) else {
        panic!("no list");
    };
    assert_eq!(entries.len(), tilewright_zoo::entries().len());
    let name = "mobilenet-v2-w0.35-r96";
    let size = ImportRequest::ZooSize(name.to_owned());
    let ImportReply::ZooSize(size) = ask(&mut importer, size, Vec::new()) else {
        panic!("no size")
    };
    assert_eq!(size.name, name);
    assert!(size.macs > 1_000_000);
    let request =
        ImportRequest::Open(ModelSource::Zoo("ds-cnn".to_owned()), Calibrating::default());
    let (reply, buffers) = importer.answer(request, Vec::new(), &|_| {}).unwrap();
    let ImportReply::Opened(facts) = reply else { panic!("{reply:?}") };
    assert_eq!((facts.calibration, facts.file.as_str()), (Calibration::Analytic, "zoo:ds-cnn"));
    let (plan, image) = planned(buffers[0].clone(), settings(None));
    assert!(plan.report.fits && !image.is_empty());
    let (reply, input) = importer.answer(ImportRequest::RandomInput, Vec::new(), &|_| {}).unwrap();
    assert!(matches!(reply, ImportReply::Input(_)), "{reply:?}");
    assert!(!input[0].is_empty());
    let analytic = ModelSource::Zoo("ds-cnn".to_owned());
    let unseen = ImportRequest::Examine(analytic, Calibrating::default());
    let trouble = importer.answer(unseen, Vec::new(), &|_| {}).unwrap_err();
    assert!(trouble.what_to_do.contains("samples"), "nothing was seen: {trouble:?}");
    let missing = ImportRequest::Open(ModelSource::Zoo("vgg61".to_owned()), Calibrating::default());
    let trouble = importer.answer(missing, Vec::new(), &|_| {}).unwrap_err();
    assert!(trouble.what.contains("vgg16"), "{trouble:?}");
}

#[test]
fn a_network_larger_than_memory_is_planned_without_its_weights() {
    let mut importer = Importer::default();
    let request = ImportRequest::Open(ModelSource::Zoo("vgg16".to_owned()), Calibrating::default());
    let (_, buffers) = importer.answer(request, Vec::new(), &|_| {}).unwrap();
    assert!(buffers[0].len() < 1 << 20, "{} bytes travel to the planner", buffers[0].len());
    let (plan, image) = planned(buffers[0].clone(), settings(None));
    assert!(!plan.report.fits && image.is_empty());
}

#[test]
fn operators_without_kernel_are_planned_for_memory() {
    let path = EXAMPLES[0].file;
    let mut model = tilewright_formats::open(path, &file(path), &Default::default(), &[]).unwrap();
    let node = model.nodes.last_mut().unwrap();
    node.op = tilewright_model::Op::Opaque { name: "Attention".to_owned() };
    let (facts, image) = planned(postcard::to_stdvec(&model).unwrap(), settings(None));
    assert!(facts.report.fits && !facts.report.runnable && image.is_empty());
    assert!(facts.image.is_none() && facts.timeline.slices.is_empty());
    let words = facts.report.no_program().unwrap().what;
    assert!(words.contains("Attention (node '") && words.contains("stay in floats"), "{words}");
    assert_eq!(facts.memory.rows.last().unwrap().op, "Attention");
}

#[test]
fn bad_files_say_what_and_what_to_do() {
    let mut importer = Importer::default();
    let model = file(EXAMPLES[0].file);
    let cases = [Vec::new(), b"not a model".to_vec(), model[..model.len() / 2].to_vec()];
    for bytes in cases {
        let request = ImportRequest::Open(from("bad.onnx"), Calibrating::default());
        let trouble = importer.answer(request, vec![bytes], &|_| {}).unwrap_err();
        assert!(trouble.place.contains("bad.onnx"), "{trouble:?}");
        assert!(!trouble.place.is_empty() && !trouble.what_to_do.is_empty(), "{trouble:?}");
    }
    let request = ImportRequest::Input { name: "7.png".to_owned() };
    assert!(importer.answer(request, vec![Vec::new()], &|_| {}).is_err());
}
