//! `swap` on random models, boards and budgets: each plan is proved, its simulation ends, and its
//! image, run by the firmware's runtime on the host with transfers as early and as late as they can
//! be, gives the bytes of the reference interpreter.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use fastrand::Rng;
use tilewright_board::Board;
use tilewright_check::{CheckError, check};
use tilewright_image::{Images, StoreImage};
use tilewright_model::{Model, int8};
use tilewright_plan::image::{AlignedBytes, Expected, pack};
use tilewright_plan::{
    Bytes, ImageError, Instruction, Lane, LaneKind, Plan, PlanImage, SectorChecksums, Space, Step,
    StepRecord,
};
use tilewright_planner::{Integrity, Options, PlanError, Strategy, plan};
use tilewright_report::SliceKind;
use tilewright_runtime::Pace;
use tilewright_tests::host;
use tilewright_tests::random_model::{grouped_rows, random_chain, random_inputs, random_model};

const MODELS: u64 = 150;
const BOARDS: [&str; 3] = ["stm32f746g-disco", "nucleo-f767zi", "paper-swapnn-512k"];

fn model(seed: u64) -> Model {
    if seed.is_multiple_of(3) { random_chain(seed) } else { random_model(seed) }
}

/// SRAM and buffers, of any size or so small that layers must be cut, or do not fit.
fn options(rng: &mut Rng) -> Options {
    let sram = (rng.u8(..4) > 0).then(|| Bytes(rng.u64(2048..6144)));
    let buffer = (rng.u8(..3) > 0).then(|| Bytes(rng.u64(..1024)));
    let integrity = if rng.bool() { Integrity::Checked } else { Integrity::Trusted };
    Options { sram, buffer, integrity, ..Options::default() }
}

fn copies(plan: &Plan, to: Space) -> usize {
    let lanes = plan.programs().flat_map(|program| &program.lanes);
    let steps = lanes.filter(|lane| lane.kind == LaneKind::Card).flat_map(|lane| &lane.steps);
    steps
        .filter(|step| {
            let Instruction::Copy { destination, .. } = step.instruction else { return false };
            plan.spans[destination as usize].space() == Some(to)
        })
        .count()
}

/// The plan with all of SRAM.
fn planned_whole(model: &Model, board: &Board) -> Plan {
    plan(model, board, Strategy::Swap, &Options::default()).unwrap().plan
}

#[test]
fn plans_are_proved_and_give_the_bytes_of_the_reference() {
    let mut rng = Rng::with_seed(11);
    let (mut cut, mut stored, mut too_small) = (0, 0, 0);
    for seed in 0..MODELS {
        let model = model(seed);
        let board = tilewright_board::find(BOARDS[seed as usize % BOARDS.len()]).unwrap();
        let options = options(&mut rng);
        let what = format!("{}, {}, {options:?}", model.name, board.id);
        let planned = match plan(&model, &board, Strategy::Swap, &options) {
            Err(PlanError::Buffer { needed, .. }) => {
                assert!(options.buffer.is_some_and(|buffer| buffer < needed), "{what}");
                // The least buffer with which each layer can be cut.
                let options = Options { sram: None, buffer: Some(needed), ..options };
                plan(&model, &board, Strategy::Swap, &options)
            }
            planned => planned,
        };
        let planned = planned.unwrap_or_else(|e| panic!("{what}: {e}"));
        let (plan, report) = (planned.plan, planned.report);
        check(&plan, &model, &board).unwrap_or_else(|e| panic!("{what}: {e}"));
        if !report.fits {
            let missing = report.does_not_fit.unwrap();
            assert!(missing.needed_bytes > missing.available_bytes, "{what}");
            too_small += 1;
            continue;
        }
        assert!(report.peak_sram_bytes <= report.sram_limit_bytes, "{what}");
        host::runs_bit_equal(&plan, &model, &random_inputs(&model, seed), &what);
        // A lane without steps is left out.
        let steps = |lane| {
            plan.main.as_ref().unwrap().lanes.get(lane).map_or(0, |lane: &Lane| lane.steps.len())
        };
        let slices = |kind| planned.timeline.slices.iter().filter(|s| s.kind == kind).count();
        assert_eq!(slices(SliceKind::Compute), steps(0), "{what}: the simulation ends early");
        assert_eq!(slices(SliceKind::Copy), steps(1), "{what}: the simulation ends early");
        let whole = planned_whole(&model, &board);
        cut += usize::from(steps(0) > whole.main.as_ref().unwrap().lanes[0].steps.len());
        stored += usize::from(copies(&plan, Space::Card) > 0);
    }
    assert!(cut > 4 && stored > MODELS as usize / 4, "{cut}, {stored}, {too_small}");
}

#[test]
fn checksums_of_the_card_that_are_too_few_or_lie_over_anything_are_refused() {
    let model = tilewright_zoo::network("lenet5").unwrap().int8().unwrap();
    let board = tilewright_board::find(BOARDS[0]).unwrap();
    let options = Options { integrity: Integrity::Checked, ..Options::default() };
    let plan = plan(&model, &board, Strategy::Swap, &options).unwrap().plan;
    check(&plan, &model, &board).unwrap();
    let checksums = plan.sector_checksums.unwrap();
    let with = |checksums| Plan { sector_checksums: Some(checksums), ..plan.clone() };
    let last =
        plan.space(Space::Arena).0 as u32 / SectorChecksums::ALIGNMENT * SectorChecksums::ALIGNMENT;
    for (wrong, why) in [
        (SectorChecksums { offset: 0, ..checksums }, "lies over"),
        (
            SectorChecksums { offset: checksums.offset + SectorChecksums::ALIGNMENT, ..checksums },
            "lie over",
        ),
        (SectorChecksums { offset: checksums.offset + 4, ..checksums }, "share a line"),
        (SectorChecksums { offset: last, ..checksums }, "behind the arena"),
        (SectorChecksums { sectors: checksums.sectors - 1, ..checksums }, "have no checksum"),
        (SectorChecksums { first: checksums.first + 1, ..checksums }, "have no checksum"),
        (
            SectorChecksums {
                first: checksums.first - 1,
                sectors: checksums.sectors + 1,
                ..checksums
            },
            "twice",
        ),
    ] {
        let error = check(&with(wrong), &model, &board).unwrap_err().to_string();
        assert!(error.contains(why), "{wrong:?}: {error}");
    }
    let outside =
        tilewright_image::plan_image(&with(SectorChecksums { offset: last, ..checksums }), &model);
    let outside = AlignedBytes::copy_of(&outside.unwrap());
    let expected = Expected { board: &board.id, space_bytes: board.space_bytes() };
    let read = PlanImage::read(outside.bytes(), &expected);
    assert!(matches!(read, Err(ImageError::SectorChecksums { .. })), "{read:?}");
}

/// The plan with all of SRAM, or with buffers of a size, and its image.
fn imaged(model: &Model, board: &Board, buffer: Option<Bytes>) -> (Plan, AlignedBytes) {
    let options = Options { buffer, ..Options::default() };
    let plan = plan(model, board, Strategy::Swap, &options).unwrap().plan;
    check(&plan, model, board).unwrap();
    let Images { plan: image, stores } = tilewright_image::images(&plan, model).unwrap();
    assert_eq!(image, tilewright_image::plan_image(&plan, model).unwrap());
    for (space, bytes) in stores {
        let mut pieces = Vec::new();
        let store = StoreImage::new(&plan, model, &image, space).unwrap();
        store.write(&mut |piece| pieces.extend_from_slice(piece)).unwrap();
        assert_eq!(bytes, pieces, "made at once and in pieces");
    }
    (plan, AlignedBytes::copy_of(&image))
}

#[test]
fn frames_are_computed_again_where_nothing_writes_over_their_inputs() {
    let model = tilewright_zoo::network("resnet8").unwrap().int8().unwrap();
    let board = tilewright_board::find(BOARDS[0]).unwrap();
    let expected = Expected { board: &board.id, space_bytes: board.space_bytes() };
    let is_replayable = |bytes: &[u8]| {
        let image = PlanImage::read(bytes, &expected).unwrap();
        tilewright_runtime::is_replayable(&image, &image.entries()[0])
    };
    let (mut swapped, bytes) = imaged(&model, &board, None);
    assert!(is_replayable(bytes.bytes()));
    // The last that is written in SRAM lies where the input did.
    let input = swapped.views[swapped.main.as_ref().unwrap().inputs[0].view as usize];
    let output = swapped.main.as_ref().unwrap().outputs[0].view;
    let (same, place) = (swapped.views[output as usize].offset, input.offset);
    for view in swapped.views.iter_mut().filter(|view| view.space == input.space) {
        if view.offset == same {
            view.offset = place;
        }
    }
    let bytes = tilewright_image::plan_image(&swapped, &model).unwrap();
    assert!(!is_replayable(AlignedBytes::copy_of(&bytes).bytes()));
}

#[test]
fn loops_take_little_of_an_image_and_are_read_as_they_were() {
    let model = tilewright_zoo::network("mobilenet-v1-w0.25-r128").unwrap().int8().unwrap();
    let board = tilewright_board::find(BOARDS[0]).unwrap();
    let (plan, bytes) = imaged(&model, &board, Some(Bytes(4 << 10)));
    let expected = Expected { board: &board.id, space_bytes: board.space_bytes() };
    let image = PlanImage::read(bytes.bytes(), &expected).unwrap();
    assert_eq!(plan.image_bytes().0, bytes.bytes().len() as u64);
    let lanes = image.entry_lanes(&image.entries()[0]);
    let mut records: Vec<StepRecord> = Vec::new();
    for (lane, planned) in lanes.iter().zip(&plan.main.as_ref().unwrap().lanes) {
        let read: Vec<StepRecord> = image.lane_steps(lane).collect();
        let steps: Vec<Step> = read.iter().filter_map(Step::from_record).collect();
        assert_eq!(steps, planned.steps);
        records.extend(read);
    }
    let all = |count: usize| 0..count as u32;
    assert!(all(plan.tiles.len()).all(|i| image.tile(i) == plan.tiles.get(i as usize).copied()));
    assert!(all(plan.views.len()).all(|i| image.view(i) == plan.views.get(i as usize).copied()));
    assert!(all(plan.spans.len()).all(|i| image.span(i) == plan.spans.get(i as usize).copied()));
    let written_out = size_of_val(records.as_slice())
        + size_of_val(plan.tiles.as_slice())
        + size_of_val(plan.views.as_slice())
        + size_of_val(plan.spans.as_slice());
    let tables = [pack(&records), pack(&plan.tiles), pack(&plan.views), pack(&plan.spans)];
    let packed: usize = tables.iter().map(Vec::len).sum();
    assert!(packed * 3 < written_out * 2, "{packed} for {written_out}");
}

#[test]
fn large_networks_fit_the_board() {
    let board = tilewright_board::find(BOARDS[0]).unwrap();
    for name in ["vgg16", "alexnet"] {
        let model = tilewright_zoo::network(name).unwrap().int8().unwrap();
        let planned = plan(&model, &board, Strategy::Swap, &Options::default()).unwrap();
        assert!(planned.report.fits, "{name}: {:?}", planned.report.does_not_fit);
        check(&planned.plan, &model, &board).unwrap_or_else(|e| panic!("{name}: {e}"));
    }
}

#[test]
fn rows_begin_at_sectors_and_groups_come_apart_where_buffers_are_small() {
    let board = tilewright_board::find(BOARDS[0]).unwrap();
    for seed in 0..6 {
        let model = grouped_rows(seed);
        // Neither the filters of both groups fit, nor as many rows as end where a sector does.
        let (plan, _) = imaged(&model, &board, Some(Bytes(2048)));
        let pitches = plan.tensors.iter().filter_map(|tensor| tensor.pitch);
        assert_eq!(pitches.collect::<Vec<_>>(), [[512, 28], [512, 28]], "{seed}");
        let inputs = random_inputs(&model, seed);
        let outputs = int8::run(&model, &inputs, &mut |_, _| {}).unwrap();
        let expected: Vec<Vec<i8>> = outputs.iter().map(host::bytes).collect();
        for how in [(0x00, Pace::Early), (0xa5, Pace::Late)] {
            assert_eq!(host::run(&plan, &model, &inputs, how).as_ref(), Ok(&expected), "{seed}");
        }
    }
}

#[test]
fn a_group_that_reads_another_groups_channels_is_no_plan() {
    let board = tilewright_board::find(BOARDS[0]).unwrap();
    let model = grouped_rows(0);
    let (mut plan, _) = imaged(&model, &board, Some(Bytes(2048)));
    let second = plan.main.as_ref().unwrap().lanes[0].steps.iter().find_map(|step| {
        let Instruction::Compute { tile, first_view, .. } = step.instruction else { return None };
        (step.layer == 0 && plan.tiles[tile as usize].channel_start >= 14).then_some(first_view)
    });
    plan.views[second.unwrap() as usize].offset -= 12;
    let error = check(&plan, &model, &board).unwrap_err();
    assert!(matches!(&error, CheckError::Step { reason, .. } if reason.contains("do not hold")));
}

#[test]
fn what_the_store_holds_is_never_written() {
    let model = random_chain(9);
    let board = tilewright_board::find(BOARDS[0]).unwrap();
    let plan = plan(&model, &board, Strategy::Swap, &Options::default()).unwrap().plan;
    for offset in [0, 512] {
        let mut wrong = plan.clone();
        let lanes = &wrong.main.as_ref().unwrap().lanes;
        let store = lanes[1].steps.iter().find_map(|step| {
            let Instruction::Copy { destination, .. } = step.instruction else { return None };
            let span = wrong.spans[destination as usize];
            (span.space() == Some(Space::Card)).then_some(destination)
        });
        wrong.spans[store.unwrap() as usize].offset = offset;
        let error = check(&wrong, &model, &board).unwrap_err();
        assert!(
            matches!(&error, CheckError::Step { reason, .. } if reason.contains("every frame")),
            "{error}"
        );
    }
}
