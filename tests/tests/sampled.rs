//! Sampled runs beside full ones: as many instructions step by step, though few steps are executed.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use tilewright_model::{Data, Model};
use tilewright_planner::Strategy;
use tilewright_protocol::Mode;
use tilewright_runner::RunOutcome;
use tilewright_tests::{emulated, random_model::random_model};

fn run(model: &Model, board: &str, strategy: Strategy, mode: Mode) -> RunOutcome {
    let board = tilewright_board::find(board).unwrap();
    let mut rng = fastrand::Rng::with_seed(5);
    let elements = |id| model.tensor(id).shape.elements().unwrap();
    let inputs: Vec<Data> = model
        .inputs
        .iter()
        .map(|id| Data::I8((0..elements(*id)).map(|_| rng.i8(..)).collect()))
        .collect();
    let (_, job) = emulated::job(model, &board, strategy, &inputs).unwrap();
    let outcome = emulated::run_job(tilewright_protocol::Job { mode, ..job }).unwrap();
    assert_eq!(outcome.finish.fault, None, "{}, {strategy}, {mode:?}", model.name);
    outcome
}

/// Steps of both runs, which are as many and take as many instructions, and how far apart their
/// cycles are in thousandths.
fn compared(model: &Model, board: &str, strategy: Strategy) -> (u64, u64) {
    let full = run(model, board, strategy, Mode::Full);
    let sampled = run(model, board, strategy, Mode::Sampled);
    let name = format!("{}, {strategy}, {board}", model.name);
    let steps = |outcome: &RunOutcome| -> Vec<(u32, u64)> {
        outcome.steps.iter().map(|step| (step.step, step.instructions)).collect()
    };
    assert_eq!(steps(&full), steps(&sampled), "{name}");
    assert_eq!(full.copies.len(), sampled.copies.len(), "{name}");
    assert_eq!(full.finish.passed_steps, 0);
    let invoke = [&full, &sampled].map(|outcome| outcome.finish.invoke);
    assert_eq!(invoke[0].compute_instructions, invoke[1].compute_instructions, "{name}");
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
    let board = "stm32f746g-disco";
    for (name, strategy) in [
        ("mobilenet-v1-w0.5-r160", Strategy::Overlay),
        ("mobilenet-v1-w0.25-r96", Strategy::OverlayStaged),
        ("resnet8", Strategy::Overlay),
        ("ds-cnn", Strategy::External),
    ] {
        let (passed, apart) = compared(&zoo(name), board, strategy);
        assert!(passed > 0, "{name}: nothing was sampled");
        assert!(apart <= 30, "{name}: {apart} ‰ apart");
    }
}

#[test]
fn random_models_take_as_many_instructions_when_sampled() {
    for seed in 0..12 {
        let board = ["stm32f746g-disco", "stm32f469i-disco"][usize::from(seed % 2 == 1)];
        compared(&random_model(seed), board, Strategy::Resident);
    }
}
