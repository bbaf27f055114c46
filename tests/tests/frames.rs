//! Several frames as one program: each plan is proved, its image gives the bytes of the reference interpreter
//! for every frame, on the host with transfers as early and as late as they can be and on the emulated
//! boards; frames that are mixed up are found.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use tilewright_board::Board;
use tilewright_check::{check, reference};
use tilewright_formats::Limits;
use tilewright_model::quantise::{Range, quantise_with};
use tilewright_model::{Model, int8};
use tilewright_plan::{Bytes, Instruction, LaneKind, Plan, Program, Space};
use tilewright_planner::{Integrity, Options, Planned, Strategy, plan};
use tilewright_protocol::Mode;
use tilewright_runtime::Pace;
use tilewright_tests::onnx_file::{Dim, one_node};
use tilewright_tests::random_model::{random_chain, random_inputs, random_model, random_tower};
use tilewright_tests::{emulated, host};

const MODELS: u64 = 120;
/// Boards with external RAM, where frames lie.
const BOARDS: [&str; 2] = ["stm32f746g-disco", "stm32f469i-disco"];

fn board(number: u64) -> Board {
    tilewright_board::find(BOARDS[number as usize % BOARDS.len()]).unwrap()
}

fn options(frames: u32) -> Options {
    Options { frames: frames.try_into().unwrap(), ..Options::default() }
}

fn planned(model: &Model, board: &Board, options: &Options) -> Planned {
    plan(model, board, Strategy::Stream, options).unwrap()
}

fn main(plan: &Plan) -> &Program {
    plan.main.as_ref().unwrap()
}

/// How often a plan's copies bring the same bytes of the card.
fn times(plan: &Plan, start: u64) -> usize {
    let card = main(plan).lanes.iter().filter(|lane| lane.kind == LaneKind::Card);
    let brings = |source: u32| {
        let span = &plan.spans[source as usize];
        let from = u64::from(span.offset);
        (from..from + span.extent()).contains(&start)
    };
    let steps = card.flat_map(|lane| &lane.steps);
    let copies = steps.filter(|step| match step.instruction {
        Instruction::Copy { source, .. } => brings(source),
        _ => false,
    });
    copies.count()
}

#[test]
fn every_frame_of_random_programs_is_that_of_the_reference() {
    let mut rng = fastrand::Rng::with_seed(23);
    let (mut together, mut shared, mut faster) = (0, 0, 0);
    for seed in 0..MODELS {
        let model = match seed % 3 {
            0 => random_chain(seed),
            1 => random_tower(seed),
            _ => random_model(seed),
        };
        let board = board(seed / 3);
        let frames = [2, 3, 4, 6, 7, 10][rng.usize(..6)];
        let resident = plan(&model, &board, Strategy::Resident, &Options::default()).unwrap();
        let peak = resident.report.peak_sram_bytes.0;
        let sram = Some(Bytes(rng.u64(peak..peak * 3 + 8192))).filter(|_| rng.u8(..4) > 0);
        let integrity = if rng.bool() { Integrity::Checked } else { Integrity::Trusted };
        let options = Options { sram, integrity, ..options(frames) };
        let what = format!("{}, {}, {sram:?}, {frames} frames", model.name, board.id);
        let Planned { plan, report, .. } = planned(&model, &board, &options);
        check(&plan, &model, &board).unwrap_or_else(|e| panic!("{what}: {e}"));
        let program = main(&plan);
        if program.frames == 1 {
            continue;
        }
        together += 1;
        assert!(frames.is_multiple_of(program.frames.into()), "{what}");
        assert!(report.fits && report.peak_sram_bytes <= report.sram_limit_bytes, "{what}");
        assert!(report.bound_us <= report.latency_us, "{what}");
        let one = planned(&model, &board, &Options { frames: 1.try_into().unwrap(), ..options });
        let alone = one.report.latency_us.unwrap().0 * f64::from(frames);
        faster += usize::from(report.latency_us.unwrap().0 < alone);
        let blocks = plan.constants.iter().filter(|block| block.space == Space::Card);
        let once = blocks.filter(|block| times(&plan, block.offset) < usize::from(program.frames));
        shared += usize::from(once.count() > 0);
        let inputs = reference::inputs_of_frames(&random_inputs(&model, seed), program.frames);
        let mut expected = Vec::new();
        for inputs in inputs.chunks(model.inputs.len()) {
            let outputs = int8::run(&model, inputs, &mut |_, _| {}).unwrap();
            expected.extend(outputs.iter().map(host::bytes));
        }
        for how in [(0x00, Pace::Early), (0xa5, Pace::Late)] {
            let found = host::run(&plan, &model, &inputs, how);
            assert_eq!(found.as_ref(), Ok(&expected), "{what}");
        }
    }
    let few = MODELS as usize / 10;
    assert!(together > 3 * few && shared > few && faster > few, "{together}, {shared}, {faster}");
}

#[test]
fn frames_that_are_mixed_up_are_found() {
    let model = tilewright_zoo::network("lenet5").unwrap().int8().unwrap();
    let board = board(0);
    let Planned { plan, .. } = planned(&model, &board, &options(4));
    assert_eq!(main(&plan).frames, 4);
    check(&plan, &model, &board).unwrap();
    let wrong = |change: &dyn Fn(&mut Program)| {
        let mut plan = plan.clone();
        change(plan.main.as_mut().unwrap());
        check(&plan, &model, &board).unwrap_err().to_string()
    };
    let last = main(&plan).lanes[0].steps.len() - 1;
    let text = wrong(&|program| {
        let [.., a, b] = program.lanes[0].steps.as_mut_slice() else { return };
        std::mem::swap(&mut a.frame, &mut b.frame);
    });
    assert!(text.contains("do not hold its operand"), "{text}");
    let text = wrong(&|program| program.lanes[0].steps[last].frame = 4);
    assert!(text.contains("a frame that the program does not take"), "{text}");
    let text = wrong(&|program| program.outputs.swap(1, 2));
    assert!(text.contains("do not hold its operand"), "{text}");
    let text = wrong(&|program| program.frames = 3);
    assert!(text.contains("number of inputs"), "{text}");
    // Whoever reads what DMA brings waits for it.
    let dma = main(&plan).lanes.iter().position(|lane| lane.kind == LaneKind::Dma).unwrap();
    let text = wrong(&|program| {
        let steps = program.lanes[0].steps.iter_mut();
        let waits = steps.flat_map(|step| &mut step.after);
        let dma = waits.filter(|after| after.is_some_and(|after| usize::from(after.lane) == dma));
        dma.for_each(|after| *after = None);
    });
    assert!(text.contains("another step may be writing"), "{text}");
}

#[test]
fn emulated_boards_run_all_frames_as_predicted() {
    for (name, frames) in [("lenet5", 4), ("resnet8", 3), ("alexnet-r67", 4)] {
        for board in BOARDS.map(|board| tilewright_board::find(board).unwrap()) {
            let model = tilewright_zoo::network(name).unwrap().int8().unwrap();
            let what = format!("{name} on {}", board.id);
            let options = options(frames);
            let Planned { plan, report, .. } = planned(&model, &board, &options);
            assert_eq!(u32::from(main(&plan).frames), frames, "{what}");
            let inputs = random_inputs(&model, 3);
            let ran = emulated::run_plan(plan, &model, &board, &inputs, 1, &options).unwrap();
            assert_eq!(ran.outcome.finish.fault, None, "{what}");
            assert_eq!(ran.mismatch, None, "{what}");
            let watched = ran.outcome.watched.iter().flatten().count();
            assert!(watched >= ran.plan.layers.len() * frames as usize / 2, "{what}");
            let took = ran.outcome.finish.invoke.cycles().at(board.core.clock.hertz).0;
            let predicted = report.latency_us.unwrap().0;
            let apart = predicted / took - 1.0;
            assert!(apart.abs() < 0.05, "{what}: predicted {predicted}, took {took}");
            // Its kernels' instructions do not depend on values.
            if name != "lenet5" {
                continue;
            }
            let all = reference::inputs_of_frames(&inputs, main(&ran.plan).frames);
            let job = emulated::job_of(&ran.plan, &model, &board, &all, &options).unwrap();
            let job = tilewright_protocol::Job { mode: Mode::Sampled, ..job };
            let sampled = emulated::run_job(job).unwrap();
            assert_eq!(sampled.finish.fault, None, "{what}");
            let counts = |steps: &[tilewright_protocol::StepCount]| {
                steps.iter().map(|step| (step.step, step.instructions)).collect::<Vec<_>>()
            };
            assert_eq!(counts(&sampled.steps), counts(&ran.outcome.steps), "{what}");
        }
    }
}

/// The goal of ten frames in a row: AlexNet two hundredths over what the core computes, VGG16 two over what no
/// schedule goes below.
#[test]
fn ten_frames_are_near_their_bounds() {
    let over = |name: &str, board: &str| {
        let board = tilewright_board::find(board).unwrap();
        let model = tilewright_zoo::network(name).unwrap().int8().unwrap();
        let Planned { plan, report, .. } = planned(&model, &board, &options(10));
        assert!(report.fits && report.card_written_bytes == Bytes(0), "{name}");
        assert!(main(&plan).frames >= 5, "{name}");
        check(&plan, &model, &board).unwrap();
        let latency = report.latency_us.unwrap().0;
        [report.compute_us, report.bound_us].map(|least| latency / least.unwrap().0)
    };
    assert!(over("alexnet", BOARDS[0])[0] < 1.02);
    assert!(over("alexnet", BOARDS[1])[0] < 1.02);
    assert!(over("vgg16", BOARDS[0])[1] < 1.02);
    assert!(over("vgg16", BOARDS[1])[1] < 1.02);
}

/// Firmware refuses lanes whose engine it does not drive, even those without a step.
#[test]
fn networks_without_weights_have_no_lane_for_the_card() {
    let file = one_node("Relu", "relu", &[1, 3, 8, 8].map(Dim::Fixed));
    let model = tilewright_formats::open("relu", &file, &Limits::default(), &[]).unwrap();
    let range = Range { low: -1.0, high: 1.0 };
    let model = quantise_with(&model, &vec![range; model.tensors.len()]).unwrap();
    for number in 0..2 {
        let board = board(number);
        let plan = planned(&model, &board, &options(3)).plan;
        let engines = main(&plan).lanes.iter().skip(1);
        let idle = engines.filter(|lane| lane.kind == LaneKind::Card || lane.steps.is_empty());
        assert_eq!(idle.count(), 0, "{}", board.id);
        let inputs = random_inputs(&model, 5);
        let run = emulated::run_plan(plan, &model, &board, &inputs, 1, &options(3)).unwrap();
        assert_eq!((run.outcome.finish.fault, run.mismatch), (None, None), "{}", board.id);
    }
}
