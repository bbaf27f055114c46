//! Strategies with external memory on random models, boards and budgets: each plan is proved, its
//! simulation ends, and its image, run by the firmware's runtime on the host with transfers as early
//! and as late as they can be, gives the bytes of the reference interpreter.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use fastrand::Rng;
use tilewright_board::Board;
use tilewright_check::{CheckError, check};
use tilewright_model::{Model, int8};
use tilewright_plan::{Bytes, Instruction, LaneKind, Plan, Space};
use tilewright_planner::{Beside, First, Options, Overlaid, Planned, Strategy};
use tilewright_report::SliceKind;
use tilewright_runtime::Pace;
use tilewright_tests::host;
use tilewright_tests::random_model::{random_chain, random_inputs, random_model};

const MODELS: u64 = 150;
const BOARDS: [&str; 4] =
    ["stm32f746g-disco", "paper-tinyops-f469", "paper-tinyops-l552", "stm32f469i-disco"];
/// Strategies, with what is overlaid if that is other than their own.
const WAYS: [(Strategy, Option<Overlaid>); 6] = [
    (Strategy::External, None),
    (Strategy::Overlay, None),
    (Strategy::Overlay, Some(Overlaid::ALL)),
    (Strategy::Overlay, Some(Overlaid::IN_PARTS)),
    (Strategy::Overlay, Some(Overlaid::ALL_IN_PARTS)),
    (Strategy::Auto, None),
];

fn board(number: u64) -> Board {
    tilewright_board::find(BOARDS[number as usize % BOARDS.len()]).unwrap()
}

fn model(seed: u64) -> Model {
    if seed.is_multiple_of(3) { random_chain(seed) } else { random_model(seed) }
}

/// A budget: none, or so small that operators must be cut or left outside.
fn options(rng: &mut Rng) -> Options {
    let sram = match rng.u8(..4) {
        0 => None,
        1 => Some(Bytes(rng.u64(..256))),
        2 => Some(Bytes(rng.u64(..2048))),
        _ => Some(Bytes(rng.u64(..16_384))),
    };
    Options { sram, ..Options::default() }
}

fn planned(model: &Model, board: &Board, strategy: Strategy, options: &Options) -> Planned {
    tilewright_planner::plan(model, board, strategy, options)
        .unwrap_or_else(|e| panic!("{}, {strategy}: {e}", model.name))
}

fn planned_so(
    model: &Model,
    board: &Board,
    (strategy, overlaid): (Strategy, Option<Overlaid>),
    options: &Options,
) -> Planned {
    let overlaid = overlaid.unwrap_or(Overlaid::THESIS);
    planned(model, board, strategy, &Options { overlaid, ..options.clone() })
}

/// Steps that make some channels of a layer, not the first.
fn parts(plan: &Plan) -> usize {
    plan.tiles.iter().filter(|tile| tile.channel_start > 0).count()
}

fn reference(model: &Model, seed: u64) -> Vec<Vec<i8>> {
    let outputs = int8::run(model, &random_inputs(model, seed), &mut |_, _| {}).unwrap();
    outputs.iter().map(host::bytes).collect()
}

fn runs(plan: &Plan, model: &Model, seed: u64) -> [Result<Vec<Vec<i8>>, String>; 2] {
    let inputs = random_inputs(model, seed);
    [(0x00, Pace::Early), (0xa5, Pace::Late)].map(|how| host::run(plan, model, &inputs, how))
}

fn copies(plan: &Plan) -> usize {
    let steps = plan.main.iter().flat_map(|program| &program.lanes).flat_map(|lane| &lane.steps);
    steps.filter(|step| matches!(step.instruction, Instruction::Copy { .. })).count()
}

#[test]
fn plans_are_proved_and_give_the_bytes_of_the_reference() {
    let mut rng = Rng::with_seed(5);
    let (mut cut, mut stored, mut in_parts) = (0, 0, 0);
    for seed in 0..MODELS {
        let (model, board, options) = (model(seed), board(seed), options(&mut rng));
        let expected = reference(&model, seed);
        for way in WAYS {
            let what = format!("{}, {}, {way:?}, {:?}", model.name, board.id, options.sram);
            let planned = planned_so(&model, &board, way, &options);
            let tiled = planned.model(&model).clone();
            let (model, Planned { plan, timeline, report, .. }) = (&tiled, planned);
            check(&plan, model, &board).unwrap_or_else(|e| panic!("{what}: {e}"));
            assert!(report.fits, "{what}: {:?}", report.does_not_fit);
            assert!(report.peak_sram_bytes <= report.sram_limit_bytes, "{what}");
            for found in runs(&plan, model, seed) {
                assert_eq!(found.as_ref(), Ok(&expected), "{what}");
            }
            let core = &plan.main.as_ref().unwrap().lanes[0];
            let computed = timeline.slices.iter().filter(|s| s.kind == SliceKind::Compute);
            assert_eq!(computed.count(), core.steps.len(), "{what}: the simulation ends early");
            let moved = timeline.slices.iter().filter(|s| s.kind == SliceKind::Copy).count();
            assert_eq!(moved, copies(&plan), "{what}");
            in_parts += usize::from(way.1.is_some() && parts(&plan) > 0);
            cut += usize::from(core.steps.len() > plan.layers.len() * 2);
            let outside = |step: &tilewright_plan::Step| {
                let Instruction::Copy { destination, .. } = step.instruction else { return false };
                plan.spans[destination as usize].space() == Some(Space::ExternalRam)
            };
            let dma =
                plan.main.as_ref().unwrap().lanes.iter().filter(|lane| lane.kind == LaneKind::Dma);
            stored += usize::from(dma.flat_map(|lane| &lane.steps).any(outside));
        }
    }
    assert!(cut > 10 && stored > MODELS as usize / 4, "{cut}, {stored}");
    assert!(in_parts > 10, "{in_parts}");
}

/// Tensors in SRAM and in external RAM.
fn residents(plan: &Plan) -> [usize; 2] {
    let of = |space: Space| plan.tensors.iter().filter(|tensor| tensor.space == space).count();
    [of(Space::Arena), of(Space::ExternalRam)]
}

#[test]
fn activations_that_fit_stay_in_sram_beside_tiles_of_the_others() {
    let mut rng = Rng::with_seed(11);
    let (mut mixed, mut phases, mut shared) = (0, 0, 0);
    for seed in 0..MODELS {
        let (model, board) = (model(seed), board(seed));
        let resident = planned(&model, &board, Strategy::Resident, &Options::default());
        let peak = resident.report.peak_sram_bytes.0;
        let weights = resident.plan.space(Space::Weights).0;
        let sram = Some(Bytes(peak * rng.u64(4..15) / 16));
        let options = Options { sram, ..Options::default() };
        let expected = reference(&model, seed);
        for overlaid in [Overlaid::IN_PARTS, Overlaid::ALL_IN_PARTS] {
            let flash = [0, rng.u64(..=weights), rng.u64(..=weights), u64::MAX][rng.usize(..4)];
            let first = [First::Smallest, First::Idlest][rng.usize(..2)];
            let room = (Bytes(peak * rng.u64(2..14) / 16), Bytes(flash), first);
            let turned = rng.u64(..256);
            let (filters, apart, early) = (rng.u64(1..8), rng.u64(0..8), rng.bool());
            let beside = Beside { filters, apart, early, turned };
            let what = format!("{}, {}, {sram:?}, {room:?}, {beside:?}", model.name, board.id);
            let ways = (beside, overlaid);
            let made = tilewright_planner::spilled(&model, &board, &options, room, ways).unwrap();
            let Some(Planned { plan, report, .. }) = made else { continue };
            check(&plan, &model, &board).unwrap_or_else(|e| panic!("{what}: {e}"));
            assert!(report.peak_sram_bytes <= report.sram_limit_bytes, "{what}");
            for found in runs(&plan, &model, seed) {
                assert_eq!(found.as_ref(), Ok(&expected), "{what}");
            }
            mixed += usize::from(residents(&plan).iter().all(|count| *count > 0));
            phases += usize::from(beside.apart < 2 && copies(&plan) > 2);
            shared += usize::from(plan.constants.iter().any(|block| block.part.is_some()));
        }
    }
    assert!(mixed > MODELS as usize / 2 && phases > 10, "{mixed}, {phases}");
    assert!(shared > MODELS as usize / 10, "{shared}");
}

/// Where buffers move, what is fetched first may come before what is yet to be stored, if it lies beside that.
#[test]
fn buffers_that_move_leave_what_is_yet_to_be_stored() {
    let model = tilewright_zoo::network("mobilenet-v1-w0.25-r128").unwrap().int8().unwrap();
    let board = tilewright_board::find("stm32f746g-disco").unwrap();
    let mut before = 0;
    for (number, sram) in (24_576..81_920).step_by(1_536).enumerate() {
        let options = Options { sram: Some(Bytes(sram)), ..Options::default() };
        for sixteenths in [6, 8, 10, 12] {
            let room = (Bytes(sram / 16 * sixteenths), Bytes(u64::MAX), First::Smallest);
            let beside = Beside { filters: 4, apart: 1, early: number % 2 == 1, turned: 0 };
            let ways = (beside, Overlaid::ALL);
            let made = tilewright_planner::spilled(&model, &board, &options, room, ways).unwrap();
            let Some(Planned { plan, .. }) = made else { continue };
            let what = format!("{sram} B, {room:?}, {beside:?}");
            check(&plan, &model, &board).unwrap_or_else(|e| panic!("{what}: {e}"));
            // A layer's results leave behind the first tile of the next.
            let layers: Vec<u16> =
                plan.main.as_ref().unwrap().lanes[1].steps.iter().map(|s| s.layer).collect();
            before += layers.windows(2).filter(|two| two[0] > two[1]).count();
        }
    }
    assert!(before > 20, "{before}");
}

#[test]
fn without_a_budget_all_operands_come_to_sram() {
    for seed in 0..40 {
        let (model, board) = (model(seed), board(seed));
        let plan = planned(&model, &board, Strategy::Overlay, &Options::default()).plan;
        let cut = plan.main.as_ref().unwrap().lanes[0].steps.len();
        let whole = planned(&model, &board, Strategy::External, &Options::default()).plan;
        assert_eq!(cut, whole.main.as_ref().unwrap().lanes[0].steps.len(), "{}", model.name);
        assert!(copies(&plan) >= cut, "{}", model.name);
        assert_eq!(copies(&whole), 0);
    }
}

/// Changes something about transfers; nothing if there is nothing of the kind drawn.
fn mutate(plan: &mut Plan, rng: &mut Rng) -> Option<&'static str> {
    let lanes = &mut plan.main.as_mut().unwrap().lanes;
    let count = lanes.len();
    let lane = &mut lanes[rng.usize(..count)].steps;
    if lane.len() < 2 {
        return None;
    }
    let at = rng.usize(..lane.len() - 1);
    match rng.u8(..6) {
        0 => {
            lane[at].after[0].take()?;
            Some("a wait dropped")
        }
        1 => {
            let after = lane[at].after[0].as_mut()?;
            after.step = after.step.checked_sub(1)?;
            Some("a wait for an earlier step")
        }
        2 => {
            lane.swap(at, at + 1);
            Some("two steps swapped")
        }
        kind => {
            let spans = plan.spans.len();
            let span = (spans > 0).then(|| &mut plan.spans[rng.usize(..spans)])?;
            let delta = 4 * rng.u32(1..8);
            match kind {
                3 => span.offset += delta,
                4 => span.offset = span.offset.checked_sub(delta)?,
                _ => span.row_bytes = span.row_bytes.checked_sub(4)?,
            }
            Some("a span moved")
        }
    }
}

#[test]
fn a_change_of_transfers_is_caught_or_harmless() {
    let mut rng = Rng::with_seed(9);
    let mut tried = std::collections::BTreeMap::new();
    for seed in 0..1500 {
        let (model, board, options) = (model(seed % MODELS), board(seed), options(&mut rng));
        let (strategy, _) = WAYS[1 + seed as usize % 2];
        let mut plan = planned(&model, &board, strategy, &options).plan;
        let Some(what) = mutate(&mut plan, &mut rng) else { continue };
        let (all, caught) = tried.entry(what).or_insert((0u32, 0u32));
        *all += 1;
        if check(&plan, &model, &board).is_err() {
            *caught += 1;
            continue;
        }
        let expected = reference(&model, seed);
        for found in runs(&plan, &model, seed) {
            assert_eq!(found, Ok(expected.clone()), "model {seed}: {what}, and nobody saw");
        }
    }
    for (what, (all, caught)) in &tried {
        assert!(*all > 50 && *caught * 10 > *all * 6, "{what}: {caught} of {all} were caught");
    }
    assert_eq!(tried.len(), 4);
}

#[test]
fn a_dropped_wait_and_a_circle_are_named() {
    let model = random_chain(3);
    let board = board(1);
    let options = Options { sram: Some(Bytes(2048)), ..Options::default() };
    let plan = planned(&model, &board, Strategy::Overlay, &options).plan;
    let first =
        plan.main.as_ref().unwrap().lanes[0].steps.iter().position(|step| step.after[0].is_some());
    let mut wrong = plan.clone();
    wrong.main.as_mut().unwrap().lanes[0].steps[first.unwrap()].after[0] = None;
    let error = check(&wrong, &model, &board).unwrap_err();
    let CheckError::Step { reason, .. } = &error else { panic!("{error}") };
    assert!(reason.contains("may be") || reason.contains("do not hold"), "{error}");
    let mut circle = plan;
    let last = circle.main.as_ref().unwrap().lanes[1].steps.len() as u32 - 1;
    let after = tilewright_plan::After { lane: 1, step: last };
    circle.main.as_mut().unwrap().lanes[0].steps[0].after[0] = Some(after);
    let error = check(&circle, &model, &board).unwrap_err();
    assert!(error.to_string().contains("never end"), "{error}");
}

#[test]
fn boards_without_the_memory_say_so() {
    let board = tilewright_board::find("nucleo-f767zi").unwrap();
    for (strategy, _) in &WAYS[..3] {
        let error = tilewright_planner::plan(&model(1), &board, *strategy, &Options::default());
        let text = error.unwrap_err().to_string();
        assert!(text.contains("nucleo-f767zi") && text.contains("external RAM"), "{text}");
    }
}

#[test]
fn a_store_of_another_plan_is_refused() {
    use tilewright_image::{StoreImage, plan_image, stores};
    use tilewright_plan::image::{AlignedBytes, Expected, PlanImage, StoreError, StoreHeader};
    let board = board(1);
    let options = Options::default();
    let model = (0..).map(model).find(|m| {
        let plan = planned(m, &board, Strategy::Overlay, &options).plan;
        stores(&plan).next().is_some()
    });
    let model = model.unwrap();
    let plans = [Strategy::External, Strategy::Overlay]
        .map(|strategy| planned(&model, &board, strategy, &options).plan);
    let images = plans.each_ref().map(|plan| plan_image(plan, &model).unwrap());
    let space = Space::ExternalFlash;
    let mut bytes = Vec::new();
    let store = StoreImage::new(&plans[1], &model, &images[1], space).unwrap();
    store.write(&mut |piece| bytes.extend_from_slice(piece)).unwrap();
    assert_eq!(bytes.len() as u64, store.bytes());
    let aligned = images.each_ref().map(|image| AlignedBytes::copy_of(image));
    let expected = Expected { board: &board.id, space_bytes: board.space_bytes() };
    let [other, own] =
        aligned.each_ref().map(|image| PlanImage::read(image.bytes(), &expected).unwrap());
    let header = StoreHeader::read(&bytes, &own, space).unwrap();
    assert_eq!(header.verify(&bytes), Ok(()));
    assert_eq!(StoreHeader::read(&bytes, &other, space).unwrap_err(), StoreError::OtherPlan);
    let error = StoreHeader::read(&bytes, &own, Space::Card).unwrap_err();
    assert_eq!(error, StoreError::OtherSpace);
    let mut rng = Rng::with_seed(3);
    for _ in 0..300 {
        let mut wrong = bytes.clone();
        wrong[rng.usize(..bytes.len())] ^= 1 << rng.u8(..8);
        let read = StoreHeader::read(&wrong, &own, space);
        assert!(read.and_then(|header| header.verify(&wrong)).is_err());
    }
}
