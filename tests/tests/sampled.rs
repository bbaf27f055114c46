//! Sampled runs beside full ones: as many instructions step by step, though few steps are executed.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use tilewright_model::{Data, Model};
use tilewright_plan::{Kernel, Plan};
use tilewright_planner::{Objective, Options, Overlaid, Strategy};
use tilewright_protocol::{Mode, RunOutcome};
use tilewright_report::FaultKind;
use tilewright_tests::{emulated, random_model::random_model};

/// Kernels that go another way for other values: rounding, and exponentials that are not needed.
const DEPEND_ON_VALUES: [Kernel; 3] = [Kernel::AveragePool, Kernel::Softmax, Kernel::LogSoftmax];
/// By how much their instructions may differ, in thousandths.
const VALUES_PERMILLE: u64 = 20;

/// A strategy, and what it overlays.
type Way = (Strategy, Overlaid);

const STAGED: Way = (Strategy::Overlay, Overlaid::ALL);

const fn direct(strategy: Strategy) -> Way {
    (strategy, Overlaid::THESIS)
}

fn run(model: &Model, board: &str, (strategy, overlaid): Way, mode: Mode) -> (Plan, RunOutcome) {
    let board = tilewright_board::find(board).unwrap();
    let mut rng = fastrand::Rng::with_seed(5);
    let elements = |id| model.tensor(id).shape.elements().unwrap();
    let inputs: Vec<Data> = model
        .inputs
        .iter()
        .map(|id| Data::I8((0..elements(*id)).map(|_| rng.i8(..)).collect()))
        .collect();
    let options = Options { objective: Objective::Memory, overlaid, ..Options::default() };
    let (plan, job) = emulated::job_with(model, &board, strategy, &inputs, &options).unwrap();
    let outcome = emulated::run_job(tilewright_protocol::Job { mode, ..job }).unwrap();
    assert_eq!(outcome.finish.fault, None, "{}, {strategy}, {mode:?}", model.name);
    (plan, outcome)
}

/// Steps of both runs, which are as many and take as many instructions, and how far apart their
/// cycles are in thousandths.
fn compared(model: &Model, board: &str, way: Way) -> (u64, u64) {
    let (plan, full) = run(model, board, way, Mode::Full);
    let (_, sampled) = run(model, board, way, Mode::Sampled);
    let name = format!("{}, {way:?}, {board}", model.name);
    assert_eq!(full.steps.len(), sampled.steps.len(), "{name}");
    for (full, sampled) in full.steps.iter().zip(&sampled.steps) {
        let layer = &plan.layers[usize::from(full.layer)];
        let depends = DEPEND_ON_VALUES.iter().any(|kernel| kernel.name() == layer.work.name());
        let permille = if depends { VALUES_PERMILLE } else { 0 };
        let apart = full.instructions.abs_diff(sampled.instructions);
        assert!(
            full.step == sampled.step && apart * 1000 <= permille * full.instructions,
            "{name}: {} takes {} instructions, {} when sampled",
            layer.name,
            full.instructions,
            sampled.instructions
        );
    }
    assert_eq!(full.copies.len(), sampled.copies.len(), "{name}");
    // Causes make up all instructions of a layer, and no more than its cycles: waits for external
    // memories and the way into a step are in none.
    assert!(!full.layers.is_empty() && sampled.layers.is_empty(), "{name}");
    for of_layer in &full.layers {
        let steps = || full.steps.iter().filter(|step| step.layer == of_layer.layer);
        let causes = &of_layer.profile.causes;
        let instructions: u64 = causes.iter().map(|count| *count.instructions).sum();
        let counted: u64 = steps().map(|step| step.instructions).sum();
        assert_eq!(instructions, counted, "{name}: layer {}", of_layer.layer);
        let cycles: u64 = steps().map(|step| step.cycles).sum();
        assert!(of_layer.profile.cycles() <= cycles, "{name}: layer {}", of_layer.layer);
    }
    assert_eq!(full.finish.passed_steps, 0);
    let invoke = [&full, &sampled].map(|outcome| outcome.finish.invoke);
    let [full_cycles, cycles] = invoke.map(|counts| counts.cycles().0);
    let apart = full_cycles.abs_diff(cycles) * 1000 / full_cycles;
    let passed = sampled.finish.passed_steps;
    println!(
        "{name}: {passed} of {} steps passed, cycles {apart} ‰ apart, {:.2} of {:.2} s",
        full.steps.len(),
        sampled.finish.wall_ns as f64 / 1e9,
        full.finish.wall_ns as f64 / 1e9
    );
    (passed, apart)
}

fn zoo(name: &str) -> Model {
    tilewright_zoo::network(name).unwrap().int8().unwrap()
}

#[test]
fn overlaid_networks_take_as_many_instructions_when_sampled() {
    let [f746, f469] = ["stm32f746g-disco", "stm32f469i-disco"];
    // ResNet-8 is not cut into tiles there, and no layer of it is like another.
    for (name, board, way, has_alike) in [
        ("mobilenet-v1-w0.5-r160", f746, direct(Strategy::Overlay), true),
        ("mobilenet-v1-w0.25-r96", f746, STAGED, true),
        ("ds-cnn", f746, direct(Strategy::External), true),
        ("resnet8", f746, direct(Strategy::Overlay), false),
        ("mobilenet-v1-w0.25-r96", f469, STAGED, true),
        ("ds-cnn", f469, direct(Strategy::External), true),
        ("resnet8", f469, direct(Strategy::Overlay), false),
        ("mobilenet-v1-w0.25-r96", f469, direct(Strategy::Auto), true),
    ] {
        let (passed, apart) = compared(&zoo(name), board, way);
        assert_eq!(passed > 0, has_alike, "{name}, {way:?}, {board}: {passed} steps passed");
        assert!(apart <= 30, "{name}, {board}: {apart} ‰ apart");
    }
}

#[test]
fn steps_that_are_passed_do_not_count_against_the_limit() {
    let board = tilewright_board::find("stm32f746g-disco").unwrap();
    let model = zoo("mobilenet-v1-w0.25-r96");
    let inputs = [Data::I8(vec![1; 96 * 96 * 3])];
    let options = Options { overlaid: Overlaid::ALL, ..Options::default() };
    let strategy = Strategy::Overlay;
    let (_, job) = emulated::job_with(&model, &board, strategy, &inputs, &options).unwrap();
    let ends = |mode, instructions| {
        let limits = tilewright_protocol::Limits { instructions, ..job.limits };
        let job = tilewright_protocol::Job { mode, limits, ..job.clone() };
        emulated::run_job(job).unwrap().finish
    };
    let full = ends(Mode::Full, u64::MAX / 2);
    let all = full.boot.instructions() + full.invoke.instructions();
    let limit = all - full.invoke.compute_instructions / 8;
    assert_eq!(ends(Mode::Full, limit).fault.unwrap().kind, FaultKind::InstructionLimit);
    let sampled = ends(Mode::Sampled, limit);
    assert_eq!(
        (sampled.fault, sampled.invoke.compute_instructions),
        (None, full.invoke.compute_instructions)
    );
    assert!(sampled.passed_steps > 0);
}

#[test]
fn random_models_take_as_many_instructions_when_sampled() {
    for seed in 0..4 {
        let board = ["stm32f746g-disco", "stm32f469i-disco"][usize::from(seed % 2 == 1)];
        compared(&random_model(seed), board, direct(Strategy::Resident));
    }
}
