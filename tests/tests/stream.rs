//! `stream` on random models, boards and budgets: each plan is proved, its simulation ends, each
//! weight comes once and nothing is written, and its image, run by the firmware's runtime on the host
//! with transfers as early and as late as they can be, gives the bytes of the reference interpreter.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use tilewright_board::Board;
use tilewright_check::check;
use tilewright_model::Model;
use tilewright_plan::image::{AlignedBytes, Expected};
use tilewright_plan::{
    Bytes, InputResidency, Instruction, LaneKind, Op, Plan, PlanImage, PlannedTensor, Space, Window,
};
use tilewright_planner::{Integrity, Options, Planned, Recipe, Strategy, plan};
use tilewright_report::SliceKind;
use tilewright_tests::host;
use tilewright_tests::random_model::{
    grouped_rows, random_chain, random_detector, random_inputs, random_model, random_tower,
    wide_tower,
};

const MODELS: u64 = 200;
const BOARDS: [&str; 4] =
    ["stm32f746g-disco", "stm32f469i-disco", "nucleo-f767zi", "paper-swapnn-512k"];

fn board(number: u64) -> Board {
    tilewright_board::find(BOARDS[number as usize % BOARDS.len()]).unwrap()
}

fn model(seed: u64) -> Model {
    match seed % 4 {
        0 => random_chain(seed),
        1 if seed.is_multiple_of(5) => grouped_rows(seed),
        2 => random_tower(seed),
        _ => random_model(seed),
    }
}

/// Source and destination of each copy of the card's lane: space, first byte, bytes.
fn copies(plan: &Plan) -> Vec<[(Space, u64, u64); 2]> {
    let lanes = plan.programs().flat_map(|program| &program.lanes);
    let steps = lanes.filter(|lane| lane.kind == LaneKind::Card).flat_map(|lane| &lane.steps);
    let span = |at: u32| {
        let span = &plan.spans[at as usize];
        (span.space().unwrap(), u64::from(span.offset), span.bytes())
    };
    let ends = steps.map(|step| match step.instruction {
        Instruction::Copy { source, destination, .. } => [span(source), span(destination)],
        _ => panic!("the card's lane copies only"),
    });
    ends.collect()
}

/// Whether there are depth-first groups, for which weights may come again.
fn goes_in_strips(plan: &Plan) -> bool {
    let has_ring = plan.tensors.iter().any(|tensor| tensor.ring.is_some());
    let core = plan.main.iter();
    let mut first_rows = std::collections::BTreeMap::new();
    let mut again = core.flat_map(|program| &program.lanes[0].steps).filter_map(|step| {
        let Instruction::Compute { op, tile, .. } = step.instruction else { return None };
        let row = plan.tiles[tile as usize].output_start[0];
        Some(*first_rows.entry(op).or_insert(row) != row)
    });
    has_ring || again.any(|again| again)
}

/// Whether activations between layers lie on the card.
fn has_borders_there(plan: &Plan) -> bool {
    let inputs = plan.programs().flat_map(|program| &program.inputs);
    let inputs: Vec<u32> = inputs.map(|io| io.tensor).collect();
    let mut tensors = (0u32..).zip(&plan.tensors);
    tensors.any(|(index, tensor)| tensor.space == Space::Card && !inputs.contains(&index))
}

/// Whether each byte of the weights on the card comes, those of sectors between two parts twice, and
/// nothing leaves unless activations lie there.
fn each_comes_once(plan: &Plan) -> Result<(), String> {
    let copies = copies(plan);
    let is_activation = |(_, start, bytes): (Space, u64, u64)| {
        let there = plan.tensors.iter().filter(|tensor| tensor.space == Space::Card);
        let end = |tensor: &PlannedTensor| (tensor.offset + tensor.extent()).next_multiple_of(512);
        there.into_iter().any(|t| t.offset <= start && start + bytes <= end(t))
    };
    let (comes, goes): (Vec<_>, Vec<_>) =
        copies.into_iter().partition(|[from, to]| (from.0, to.0) == (Space::Card, Space::Arena));
    if goes.iter().any(|[from, to]| from.0 != Space::Arena || !is_activation(*to)) {
        return Err("a copy that neither brings from the card nor stores activations".to_owned());
    }
    let mut read: Vec<[u64; 2]> = comes.iter().map(|[from, _]| [from.1, from.1 + from.2]).collect();
    read.sort_unstable();
    for block in plan.constants.iter().filter(|block| block.space == Space::Card) {
        let mut at = block.offset;
        for [start, end] in read.iter().filter(|[_, end]| *end > block.offset) {
            if at >= block.offset + block.bytes.0 {
                break;
            }
            if goes_in_strips(plan) && *end <= at {
                continue;
            }
            if *start > at || *start + 512 < at && !goes_in_strips(plan) {
                return Err(format!("{at} comes not, or twice"));
            }
            at = *end;
        }
    }
    Ok(())
}

fn planned(model: &Model, board: &Board, options: &Options) -> Planned {
    plan(model, board, Strategy::Stream, options).unwrap()
}

/// Bytes that are enough for a model with depth-first groups, as is said where there is too
/// little for anything.
fn enough(model: &Model, board: &Board) -> Option<u64> {
    let options = Options { sram: Some(Bytes(512)), ..Options::default() };
    let missing = planned(model, board, &options).report.does_not_fit?;
    Some(missing.needed_bytes.0)
}

#[test]
fn plans_are_proved_and_give_the_bytes_of_the_reference() {
    let mut rng = fastrand::Rng::with_seed(17);
    let (mut in_parts, mut ahead, mut too_small, mut in_strips) = (0, 0, 0, 0);
    for seed in 0..MODELS {
        let (model, board) = (model(seed), board(seed + seed / 4));
        let resident = plan(&model, &board, Strategy::Resident, &Options::default()).unwrap();
        let peak = resident.report.peak_sram_bytes.0;
        let sram = match model.name.starts_with("tower") {
            // Around what is enough only with depth-first groups.
            true => enough(&model, &board).map(|least| Bytes(rng.u64(least / 4 * 3..least * 2))),
            false => Some(Bytes(rng.u64(peak / 2..peak * 2 + 6144))).filter(|_| rng.u8(..4) > 0),
        };
        let integrity = if rng.bool() { Integrity::Checked } else { Integrity::Trusted };
        let options = Options { sram, integrity, ..Options::default() };
        let what = format!("{}, {}, {sram:?}", model.name, board.id);
        let Planned { plan, report, timeline, .. } = planned(&model, &board, &options);
        check(&plan, &model, &board).unwrap_or_else(|e| panic!("{what}: {e}"));
        each_comes_once(&plan).unwrap_or_else(|e| panic!("{what}: {e}"));
        // What is encrypted comes in parts that share no sector.
        let sealed = Options { integrity: Integrity::Sealed, ..options.clone() };
        let sealed = planned(&model, &board, &sealed).plan;
        check(&sealed, &model, &board).unwrap_or_else(|e| panic!("{what}, sealed: {e}"));
        let mut parts = copies(&sealed).into_iter().map(|[(_, start, bytes), _]| (start, bytes));
        let before = parts.next();
        parts.fold(before, |before, part| {
            let is_free = goes_in_strips(&sealed) || has_borders_there(&sealed);
            let follows = |(start, bytes)| start + bytes <= part.0 || is_free;
            assert!(before.is_none_or(follows), "{what}");
            Some(part)
        });
        host::runs_bit_equal(&plan, &model, &random_inputs(&model, seed), &what);
        let lanes = &plan.main.as_ref().unwrap().lanes;
        let steps = |at: usize| lanes.get(at).map_or(&[][..], |lane| lane.steps.as_slice());
        let [core, card] = [0, 1].map(steps);
        let slices = |kind| timeline.slices.iter().filter(|s| s.kind == kind).count();
        assert_eq!(slices(SliceKind::Compute), core.len(), "{what}: the simulation ends early");
        assert_eq!(slices(SliceKind::Copy), card.len(), "{what}: the simulation ends early");
        assert!(*report.lower_bound_bytes <= *report.peak_sram_bytes, "{what}");
        assert!(!report.proved, "{what}");
        if !report.fits {
            let missing = report.does_not_fit.unwrap();
            assert!(missing.needed_bytes > missing.available_bytes, "{what}");
            // What is said to be enough is.
            let options = Options { sram: Some(*missing.needed_bytes), ..options };
            assert!(planned(&model, &board, &options).report.fits, "{what}: {missing:?}");
            too_small += 1;
            continue;
        }
        assert!(report.peak_sram_bytes <= report.sram_limit_bytes, "{what}");
        assert!(report.bound_us <= report.latency_us, "{what}: {:?}", report.bound_us);
        in_strips += usize::from(goes_in_strips(&plan));
        in_parts += usize::from(plan.tiles.iter().any(|tile| tile.channel_start > 0));
        let waits = |step: &tilewright_plan::Step| step.after[0].map(|after| after.step + 1);
        let early = |(at, step): (usize, &tilewright_plan::Step)| waits(step) < Some(at as u32);
        ahead += usize::from(card.len() > 2 && card.iter().enumerate().skip(1).any(early));
    }
    let least = MODELS as usize / 20;
    assert!(
        in_parts > least && ahead > least && too_small > least && in_strips > least,
        "{in_parts}, {ahead}, {too_small}, {in_strips}"
    );
}

#[test]
fn a_network_of_sixty_megabytes_is_near_its_bound() {
    let board = board(0);
    let model = tilewright_zoo::network("alexnet").unwrap().int8().unwrap();
    let Planned { plan, report, .. } = planned(&model, &board, &Options::default());
    assert!(report.fits, "{:?}", report.does_not_fit);
    check(&plan, &model, &board).unwrap();
    each_comes_once(&plan).unwrap();
    assert_eq!(report.card_written_bytes, Bytes(0));
    let [bound, latency] = [report.bound_us, report.latency_us].map(Option::unwrap);
    assert!(latency.0 < bound.0 * 1.08, "{latency:?}, bound {bound:?}");
    let auto = tilewright_planner::plan(&model, &board, Strategy::Auto, &Options::default());
    let auto = auto.unwrap();
    assert!(auto.report.fits && auto.report.runnable && auto.report.latency_us <= Some(latency));
    assert!(auto.plan.space(Space::Card) > Bytes(0));
}

#[test]
fn what_does_not_fit_goes_through_its_rows_together() {
    let board = board(0);
    let model = tilewright_zoo::network("mobilenet-v1-w1.0-r224").unwrap().int8().unwrap();
    let Planned { plan, report, .. } = planned(&model, &board, &Options::default());
    assert!(report.fits, "{:?}", report.does_not_fit);
    assert!(goes_in_strips(&plan));
    check(&plan, &model, &board).unwrap();
    each_comes_once(&plan).unwrap();
    assert_eq!(report.card_written_bytes, Bytes(0));
    let [bound, latency] = [report.bound_us, report.latency_us].map(Option::unwrap);
    assert!(latency.0 < bound.0 * 1.05, "{latency:?}, bound {bound:?}");
}

#[test]
fn what_rings_do_not_hold_lies_in_external_ram() {
    let board = board(0);
    let model = tilewright_zoo::network("vgg16").unwrap().int8().unwrap();
    let Planned { plan, report, .. } = planned(&model, &board, &Options::default());
    assert!(report.fits, "{:?}", report.does_not_fit);
    assert!(goes_in_strips(&plan) && plan.space(Space::ExternalRam) > Bytes(0));
    check(&plan, &model, &board).unwrap();
    each_comes_once(&plan).unwrap();
    assert_eq!(report.card_written_bytes, Bytes(0));
    let [bound, latency] = [report.bound_us, report.latency_us].map(Option::unwrap);
    assert!(latency.0 < bound.0 * 1.05, "{latency:?}, bound {bound:?}");
}

#[test]
fn without_external_ram_it_lies_on_the_card() {
    let board = tilewright_board::find("nucleo-f767zi").unwrap();
    let mut rng = fastrand::Rng::with_seed(23);
    let (mut came, mut wide) = (0, 0);
    for seed in 0..MODELS / 2 {
        let model = wide_tower(seed);
        let Some(least) = enough(&model, &board) else { continue };
        let sram = Some(Bytes(rng.u64(least..least + least / 4)));
        let ways = [Integrity::Trusted, Integrity::Checked, Integrity::Sealed];
        let integrity = ways[rng.usize(..3)];
        let options = Options { sram, integrity, ..Options::default() };
        let Planned { plan, report, .. } = planned(&model, &board, &options);
        let what = format!("{}, {sram:?}, {integrity:?}", model.name);
        check(&plan, &model, &board).unwrap_or_else(|e| panic!("{what}: {e}"));
        if !report.fits || !has_borders_there(&plan) {
            continue;
        }
        came += 1;
        wide += usize::from(plan.tensors.iter().any(|tensor| tensor.pitch.is_some()));
        assert!(report.card_written_bytes > Bytes(0).into(), "{what}");
        assert!(report.bound_us <= report.latency_us, "{what}: {:?}", report.bound_us);
        if integrity == Integrity::Sealed {
            continue;
        }
        host::runs_bit_equal(&plan, &model, &random_inputs(&model, seed), &what);
    }
    assert!(came > 15 && wide > 10, "{came}, {wide}");
}

/// Whether the frame lies on the card.
fn has_frame_there(plan: &Plan) -> bool {
    let inputs = plan.programs().flat_map(|program| &program.inputs);
    let mut views = inputs.map(|io| plan.views[io.view as usize]);
    views.any(|view| view.space() == Some(Space::Card))
}

/// Plans of wide towers in as little SRAM as there is one for, whose frames lie on the card.
fn with_frames_there(
    seeds: std::ops::Range<u64>,
) -> impl Iterator<Item = (u64, Model, Board, Options, Planned)> {
    let board = tilewright_board::find("nucleo-f767zi").unwrap();
    seeds.filter_map(move |seed| {
        let model = wide_tower(seed);
        let sram = Some(Bytes(enough(&model, &board)?));
        let ways = [Integrity::Trusted, Integrity::Checked, Integrity::Sealed];
        let options = Options { sram, integrity: ways[seed as usize % 3], ..Options::default() };
        let planned = planned(&model, &board, &options);
        let is_there = planned.report.fits && has_frame_there(&planned.plan);
        is_there.then(|| (seed, model, board.clone(), options, planned))
    })
}

#[test]
fn the_frame_lies_on_the_card_where_nothing_fits_otherwise() {
    let (mut came, mut wide) = (0, 0);
    for (seed, model, board, options, planned) in with_frames_there(0..MODELS / 2) {
        let Planned { plan, report, .. } = planned;
        let what = format!("{}, {:?}, {:?}", model.name, options.sram, options.integrity);
        check(&plan, &model, &board).unwrap_or_else(|e| panic!("{what}: {e}"));
        assert_eq!(report.input, "streamed", "{what}");
        assert!(report.peak_sram_bytes <= options.sram.unwrap().into(), "{what}");
        let inputs: Vec<u32> = model.inputs.iter().map(|id| id.0 as u32).collect();
        let mut tensors = plan.tensors.iter().filter(|t| inputs.contains(&t.tensor));
        came += 1;
        wide += usize::from(tensors.any(|tensor| tensor.pitch.is_some()));
        if options.integrity != Integrity::Sealed {
            host::runs_bit_equal(&plan, &model, &random_inputs(&model, seed), &what);
        }
    }
    assert!(came > 15 && wide > 5, "{came}, {wide}");
}

#[test]
fn layers_alone_are_made_of_some_columns() {
    let board = tilewright_board::find("nucleo-f767zi").unwrap();
    let mut across = 0;
    for name in ["lenet5", "cifar10-cmsis", "mobilenet-v1-w0.25-r128"] {
        let model = tilewright_zoo::network(name).unwrap().int8().unwrap();
        let sram = enough(&model, &board).map(Bytes);
        let Planned { plan, report, .. } =
            planned(&model, &board, &Options { sram, ..Options::default() });
        let what = format!("{name}, {sram:?}");
        assert!(report.fits, "{what}");
        check(&plan, &model, &board).unwrap_or_else(|e| panic!("{what}: {e}"));
        host::runs_bit_equal(&plan, &model, &random_inputs(&model, 1), &what);
        across += usize::from(plan.tiles.iter().any(|tile| tile.output_start[1] > 0));
    }
    assert!(across > 0);
}

#[test]
fn filters_of_fully_connected_layers_come_one_by_one() {
    let board = tilewright_board::find("nucleo-f767zi").unwrap();
    let model = tilewright_zoo::network("lenet5").unwrap().int8().unwrap();
    let text = planned(&model, &board, &Options::default()).recipe.text(&model);
    let alone =
        text.replacen("\"groups_apart\":true", "\"groups_apart\":true,\"longest_pair\":100", 1);
    let alone = alone.replace("\"each\":120", "\"each\":7");
    assert!(alone.contains("\"each\":7") && alone.contains("longest_pair"), "{alone}");
    let recipe = Recipe::read(&alone, &model).unwrap();
    let Planned { plan, .. } = recipe.planned(&model, &board, &Options::default()).unwrap();
    assert!(plan.ops.iter().any(|op| op.flags & Op::NATURAL != 0));
    check(&plan, &model, &board).unwrap();
    host::runs_bit_equal(&plan, &model, &random_inputs(&model, 1), "lenet5");
}

#[test]
fn frames_that_would_get_to_the_card_in_a_wrong_way_are_refused() {
    let (_, model, board, _, planned) = with_frames_there(0..8 * MODELS)
        .find(|(_, _, _, options, planned)| {
            let plan = &planned.plan;
            let is_checked =
                options.integrity == Integrity::Checked && plan.sector_checksums.is_some();
            // A sector further on there is something else.
            let view = plan.main.as_ref().map(|p| plan.views[p.inputs[0].view as usize]);
            let end = view.map_or(u64::MAX, |view| u64::from(view.offset) + view.extent());
            is_checked && end.saturating_add(512) <= plan.space(Space::Card).0
        })
        .unwrap();
    let plan = planned.plan;
    let window = plan.input.window().unwrap();
    let checksums = plan.sector_checksums.unwrap();
    let with = |window| Plan { input: InputResidency::OnCard(window), ..plan.clone() };
    let arena = plan.space(Space::Arena).0 as u32;
    let moved = |by: u32| {
        let mut plan = plan.clone();
        let view = plan.main.as_ref().unwrap().inputs[0].view as usize;
        plan.views[view].offset += by;
        plan
    };
    let narrow = |by: u32| {
        let mut plan = plan.clone();
        let view = plan.main.as_ref().unwrap().inputs[0].view as usize;
        plan.views[view].row_pitch -= by;
        plan
    };
    let over = checksums.offset / Window::ALIGNMENT * Window::ALIGNMENT;
    let behind = (arena + Window::ALIGNMENT).next_multiple_of(Window::ALIGNMENT) - window.bytes;
    for (wrong, why) in [
        (with(Window { bytes: 0, ..window }), "two halves"),
        (with(Window { bytes: window.bytes + 512, ..window }), "two halves"),
        (with(Window { offset: window.offset + 4, ..window }), "two halves"),
        (with(Window { offset: behind, ..window }), "behind the arena"),
        (with(Window { offset: over, bytes: Window::UNIT }), "through checksums"),
        (Plan { input: InputResidency::Resident, ..plan.clone() }, "no way there"),
        (moved(512), "do not hold"),
        (moved(32), "begin at sectors"),
        (moved(1 << 20), "ends behind"),
        (narrow(32), "begin at sectors"),
    ] {
        let error = check(&wrong, &model, &board).unwrap_err().to_string();
        assert!(error.contains(why), "{why}: {error}");
        // Of what the validator refuses the image's reader lets through what only a model tells.
        let image = AlignedBytes::copy_of(&tilewright_image::plan_image(&wrong, &model).unwrap());
        let expected = Expected { board: &board.id, space_bytes: board.space_bytes() };
        let read = PlanImage::read(image.bytes(), &expected);
        assert_eq!(read.is_err(), why != "do not hold", "{why}: {read:?}");
    }
}

#[test]
fn borders_on_a_card_spare_what_is_given_or_reshaped() {
    let board = tilewright_board::find("nucleo-f767zi").unwrap();
    let mut bordered = 0;
    for seed in 0..MODELS {
        let model = random_detector(seed);
        model.verify().unwrap();
        let inputs = random_inputs(&model, seed);
        let resident = plan(&model, &board, Strategy::Resident, &Options::default()).unwrap();
        let peak = resident.report.peak_sram_bytes.0;
        for eighths in 1..6 {
            let sram = Some(Bytes(peak / 8 * eighths));
            let options = Options { sram, ..Options::default() };
            let found = plan(&model, &board, Strategy::Stream, &options).unwrap();
            if !found.report.fits {
                continue;
            }
            let what = format!("{}, {eighths} eighths", model.name);
            check(&found.plan, &model, &board).unwrap_or_else(|error| panic!("{what}: {error}"));
            host::runs_bit_equal(&found.plan, &model, &inputs, &what);
            let on_card = |tensor: &PlannedTensor| tensor.space == Space::Card;
            bordered += u32::from(found.plan.tensors.iter().any(on_card));
        }
    }
    assert!(bordered > 20, "{bordered} plans have borders on the card");
}

#[test]
fn vgg16_needs_no_external_ram() {
    let board = tilewright_board::find("nucleo-f767zi").unwrap();
    // The same board if nothing but the plan had its memories, and nothing waited for flash or drove the card: how
    // near the planner comes to its bound.
    let mut bare = Board { firmware: None, ..board.clone() };
    bare.core.costs = None;
    bare.engine.iter_mut().for_each(|engine| engine.driver_overhead = None);
    bare.memory.iter_mut().for_each(|memory| memory.waits = None);
    let model = tilewright_zoo::network("vgg16").unwrap().int8().unwrap();
    for (kib, board) in [512, 192, 64].into_iter().flat_map(|kib| [(kib, &board), (kib, &bare)]) {
        let options = Options { sram: Some(Bytes(kib << 10)), ..Options::default() };
        let Planned { plan, report, .. } = planned(&model, board, &options);
        assert!(report.fits, "{kib}: {:?}", report.does_not_fit);
        check(&plan, &model, board).unwrap();
        assert!(has_borders_there(&plan));
        let [bound, latency] = [report.bound_us, report.latency_us].map(Option::unwrap);
        assert_eq!(has_frame_there(&plan), kib == 64);
        // Two filters of the first fully connected layer have no room there.
        assert_eq!(plan.ops.iter().any(|op| op.flags & Op::NATURAL != 0), kib == 64);
        let most = if board.firmware.is_some() { 1.12 } else { 1.1 };
        assert!(latency.0 < bound.0 * most, "{kib}: {latency:?}, bound {bound:?}");
    }
}
