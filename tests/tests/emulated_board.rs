//! Random models on the emulated board: every layer bit-equal, every step counted, counts the
//! same each time.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use tilewright_board::Board;
use tilewright_check::reference;
use tilewright_formats::Limits;
use tilewright_model::Model;
use tilewright_model::quantise::{Range, quantise_with};
use tilewright_plan::Space;
use tilewright_planner::{Objective, Options, Packing, Strategy};
use tilewright_protocol::Recorded;
use tilewright_tests::emulated;
use tilewright_tests::onnx_file::{Dim, one_node};
use tilewright_tests::random_model::{random_chain, random_inputs, random_model, random_network};
use tilewright_tests::strategies::of_the_model;

const MODELS: u64 = 24;
const CHAINS: u64 = 12;
const NETWORKS: u64 = 24;

#[test]
fn random_models_are_bit_equal_layer_by_layer() {
    emulated::on_each(&emulated::of_every_core(), |board| {
        let models = (1000..1000 + MODELS).map(random_model);
        let networks = (1000..1000 + NETWORKS).map(random_network);
        for model in models.chain((1000..1000 + CHAINS).map(random_chain)).chain(networks) {
            bit_equal(&model, board);
        }
    });
}

fn bit_equal(model: &Model, board: &Board) {
    let inputs = random_inputs(model, 1);
    for strategy in of_the_model() {
        if strategy.unsupported(model, Some(board)).is_some() {
            continue;
        }
        let (objective, packing) = (Objective::Memory, Packing::Fast);
        let options = Options { objective, packing, ..Options::default() };
        let planned = tilewright_planner::plan(model, board, strategy, &options).unwrap();
        if planned.unsupported(board).is_some() {
            continue;
        }
        let what = format!("{}, {strategy}, {}", model.name, board.id);
        let run = emulated::run_frames_with(model, board, strategy, &inputs, 1, &options)
            .unwrap_or_else(|e| panic!("{what}: {e}"));
        let console = String::from_utf8_lossy(&run.outcome.console);
        assert_eq!(run.outcome.finish.fault, None, "{what}:\n{console}");
        assert_eq!(run.mismatch, None, "{what}");
        let steps = run.plan.main.as_ref().unwrap().lanes[0].steps.len();
        assert_eq!(run.outcome.steps.len(), steps, "{what}");
        let counted: u64 = run.outcome.steps.iter().map(|step| step.instructions).sum();
        assert_eq!(counted, run.outcome.finish.invoke.compute_instructions, "{what}");
    }
}

/// The console takes more than a second to say the results of 12,288 values: what the port tells of
/// silence meanwhile says nothing of the frame that follows.
#[test]
fn a_frame_may_come_seconds_after_another() {
    let file = one_node("Relu", "relu", &[1, 3, 64, 64].map(Dim::Fixed));
    let model = tilewright_formats::open("relu", &file, &Limits::default(), &[]).unwrap();
    let range = Range { low: -1.0, high: 1.0 };
    let model = quantise_with(&model, &vec![range; model.tensors.len()]).unwrap();
    let inputs = random_inputs(&model, 7);
    for board in emulated::of_every_core() {
        let run = emulated::run_frames(&model, &board, Strategy::Resident, &inputs, 2).unwrap();
        assert_eq!(run.outcome.finish.fault, None, "{}", board.id);
        assert_eq!(run.mismatch, None, "{}", board.id);
        let first = emulated::run(&model, &board, Strategy::Resident, &inputs).unwrap();
        let [first, second] = [first, run]
            .map(|run| run.outcome.steps.iter().map(|step| step.instructions).collect::<Vec<_>>());
        assert!(!first.is_empty() && first == second, "{first:?} {second:?}");
    }
}

/// The borders of a run, one after the other, lead to what is read of SRAM at each step.
#[test]
fn what_is_recorded_is_what_steps_leave() {
    emulated::on_each(&emulated::of_every_core(), |board| {
        let Some(place) = &board.firmware else { return };
        for (model, strategy) in
            [42, 43, 44].into_iter().zip([Strategy::Resident, Strategy::PingPong, Strategy::Auto])
        {
            let model = random_chain(model);
            let (plan, mut job) =
                emulated::job(&model, board, strategy, &random_inputs(&model, 7)).unwrap();
            let bytes = plan.space_bytes[Space::Arena as usize].0 as u32;
            job.recorded = Some(Recorded { address: place.arena_address, bytes });
            job.watches = emulated::watches(&reference::layer_outputs(&plan), board);
            let watches = job.watches.clone();
            let outcome = emulated::run_job(job).unwrap();
            let mut arena = vec![0; bytes as usize];
            let mut compared = 0;
            for border in &outcome.borders {
                for change in &border.changes {
                    let start = change.offset as usize;
                    arena[start..start + change.bytes.len()].copy_from_slice(&change.bytes);
                }
                for (watch, read) in watches.iter().zip(&outcome.watched) {
                    if border.step == Some(watch.step) && watch.lane == 0 && !watch.on_card {
                        let start = (watch.address - place.arena_address) as usize;
                        let recorded = &arena[start..start + watch.row_bytes as usize];
                        assert_eq!(Some(recorded), read.as_deref(), "{} {strategy}", board.id);
                        compared += 1;
                    }
                }
            }
            assert_eq!(outcome.borders.len(), 1 + outcome.steps.len(), "{}", board.id);
            assert!(compared > 0, "{}: {strategy}", board.id);
        }
    });
}

#[test]
fn counts_are_the_same_each_time() {
    let model = random_model(42);
    let inputs = random_inputs(&model, 42);
    for board in emulated::of_every_core() {
        let first = emulated::run(&model, &board, Strategy::Resident, &inputs).unwrap();
        let second = emulated::run(&model, &board, Strategy::Resident, &inputs).unwrap();
        assert_eq!(first.outcome.steps, second.outcome.steps);
        assert_eq!(first.outcome.finish.invoke, second.outcome.finish.invoke);
    }
}
