//! Early exits: a sub-network gives the bytes of the reference cut at its output, under every strategy; an exit by
//! confidence is taken where the reference is as certain, and nowhere else.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use tilewright_app::{Cancel, RunOptions, run_plan};
use tilewright_board::Board;
use tilewright_model::{Data, Model, int8};
use tilewright_plan::image::ENTRY;
use tilewright_plan::{Plan, Subnetwork};
use tilewright_planner::{Confidence, Exits, Options, Planned, Strategy};
use tilewright_runner::{Dist, Emulator, Native, WorkerLimits, Workers};
use tilewright_runtime::Pace;
use tilewright_tests::random_model::{random_inputs, random_model, random_network, random_splits};
use tilewright_tests::strategies::of_the_model;
use tilewright_tests::{emulated, host};

/// The thesis' network with nine exits, small.
const NETWORK: &str = "mobilenet-v3-thesis-exits-w0.1-r48";

fn network() -> Model {
    tilewright_zoo::network(NETWORK).unwrap().int8().unwrap()
}

fn board(id: &str) -> Board {
    tilewright_board::find(id).unwrap()
}

fn with_exits(exits: Exits) -> Options {
    Options { exits, ..Options::default() }
}

const SUBNETWORKS: Exits = Exits { subnetworks: true, confidence: None };

fn proved(model: &Model, board: &Board, strategy: Strategy, options: &Options) -> Planned {
    let what = format!("{}, {strategy}, {}", model.name, board.id);
    let planned = tilewright_planner::plan(model, board, strategy, options);
    let planned = planned.unwrap_or_else(|error| panic!("{what}: {error}"));
    tilewright_check::check(&planned.plan, planned.model(model), board)
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    planned
}

/// The same model with some activations as outputs before its own: exits wherever chance puts them, of tensors that
/// are aliased, tiled or in place, too.
fn with_outputs(mut model: Model, seed: usize) -> Model {
    let made: Vec<_> = model.nodes.iter().flat_map(|node| node.outputs.clone()).collect();
    for part in 1..3 {
        let id = made[(seed * 7 + part * made.len() / 3) % made.len()];
        if !model.outputs.contains(&id) {
            model.outputs.insert(part.min(model.outputs.len()) - 1, id);
        }
    }
    model
}

fn reference(model: &Model, inputs: &[Data]) -> Vec<Vec<i8>> {
    int8::run(model, inputs, &mut |_, _| {}).unwrap().iter().map(host::bytes).collect()
}

/// Whether a strategy plans a model on a board, in as much memory as may be.
fn is_able(strategy: Strategy, model: &Model, board: &Board) -> bool {
    strategy.unsupported(model, Some(board)).is_none()
}

#[test]
fn sub_networks_of_random_models_are_bit_equal_under_every_strategy() {
    let board = board("stm32f746g-disco");
    let models = (0..60).map(random_model).chain((0..30).map(random_network));
    let mut kept = [0usize; 2];
    for (seed, model) in models.chain((0..30).map(random_splits)).enumerate() {
        let model = with_outputs(model, seed);
        model.verify().unwrap();
        if model.outputs.len() < 2 {
            continue;
        }
        let inputs = random_inputs(&model, seed as u64);
        let expected = reference(&model, &inputs);
        for strategy in of_the_model().filter(|s| is_able(*s, &model, &board)) {
            let planned = proved(&model, &board, strategy, &with_exits(SUBNETWORKS));
            let plan = &planned.plan;
            assert_eq!(plan.subnetworks.len(), model.outputs.len());
            for (number, (own, expected)) in plan.subnetworks.iter().zip(&expected).enumerate() {
                let what = format!("{}, {strategy}, {}", model.name, own.program.name);
                for how in [(0x00, Pace::Early), (0xa5, Pace::Late)] {
                    let found = host::run_program(plan, &model, &inputs, Some(number), how);
                    let (outputs, exit) = found.unwrap_or_else(|error| panic!("{what}: {error}"));
                    assert_eq!(
                        (outputs.as_slice(), exit),
                        (&[expected.clone()][..], None),
                        "{what}"
                    );
                }
                let steps = |lanes: &[tilewright_plan::Lane]| -> usize {
                    lanes.iter().map(|lane| lane.steps.len()).sum()
                };
                kept[0] += steps(&own.program.lanes);
                kept[1] += steps(&plan.main.as_ref().unwrap().lanes);
            }
        }
    }
    assert!(kept[0] * 10 < kept[1] * 9, "hardly a step is left out: {kept:?}");
}

#[test]
fn an_exit_is_taken_at_the_first_output_that_is_certain_enough() {
    let (model, board) = (network(), board("nucleo-f767zi"));
    let mut taken = [0; 2];
    for seed in 0..4 {
        let inputs = random_inputs(&model, seed);
        let expected = reference(&model, &inputs);
        let largest: Vec<i8> =
            expected.iter().map(|values| *values.iter().max().unwrap()).collect();
        for confidence in [0.005, 0.01, 0.02, 0.05, 0.9] {
            let confidence = Confidence::new(confidence).unwrap();
            let exits = Exits { subnetworks: false, confidence: Some(confidence) };
            let quantised = model.tensor(model.outputs[0]).quantisation.clone().unwrap();
            let (scale, zero) = (quantised.scales[0], quantised.zeros[0]);
            let least = confidence.least("p", scale, i16::try_from(zero).unwrap()).unwrap();
            let last = largest.len() - 1;
            let first = largest.iter().take(last).position(|value| *value >= least);
            for strategy in
                [Strategy::Resident, Strategy::Auto, Strategy::Reordered, Strategy::Stream]
            {
                let planned = proved(&model, &board, strategy, &with_exits(exits));
                let how = (0xa5, Pace::Late);
                let found = host::run_program(&planned.plan, &model, &inputs, None, how).unwrap();
                let made = first.map_or(expected.len(), |first| first + 1);
                assert_eq!(found.1.map(usize::from), first, "{strategy}, {confidence}");
                assert_eq!(found.0, expected[..made], "{strategy}, {confidence}");
            }
            taken[usize::from(first.is_some())] += 1;
        }
    }
    assert!(taken.iter().all(|count| *count > 0), "one way alone was tried: {taken:?}");
}

/// What a run on an emulated board came to.
fn emulate(
    model: &Model,
    board: &Board,
    planned: &Planned,
    limits: &[u32],
) -> tilewright_app::RunResult {
    let (dist, cancel) = (Dist::at(emulated::dist()), Cancel::default());
    let workers = Workers::new(&dist);
    let quiet = &mut |_| {};
    let host = Native::new(quiet, &cancel).with(Emulator {
        dist: &dist,
        executor: &workers,
        limits: WorkerLimits::default(),
    });
    let run = RunOptions { limits, ..RunOptions::default() };
    let inputs = random_inputs(model, 5);
    run_plan(&run, board, model, planned, &inputs, &host).unwrap().result
}

#[test]
fn boards_switch_between_sub_networks_in_few_instructions_and_copy_no_weight() {
    let model = network();
    for (board, strategy) in [
        ("stm32f746g-disco", Strategy::Auto),
        ("stm32f746g-disco", Strategy::Swap),
        ("stm32f469i-disco", Strategy::Overlay),
        ("nucleo-f767zi", Strategy::Resident),
    ] {
        let board = self::board(board);
        let planned = proved(&model, &board, strategy, &with_exits(SUBNETWORKS));
        let latencies: Vec<u32> =
            planned.plan.subnetworks.iter().map(Subnetwork::latency_us).collect();
        let limits =
            [latencies[8], latencies[0], latencies[4] + 1, latencies[8] * 10, latencies[2]];
        let result = emulate(&model, &board, &planned, &limits);
        let what = format!("{}, {strategy}", board.id);
        assert_eq!((result.fault.as_ref(), result.verified), (None, Some(true)), "{what}");
        let chosen: Vec<&str> = result.invokes.iter().map(|row| row.program.as_str()).collect();
        let expected = [8, 0, 4, 8, 2].map(|index: usize| &planned.plan.subnetworks[index].program);
        assert_eq!(chosen, expected.map(|program| program.name.as_str()), "{what}");
        for row in &result.invokes {
            assert_eq!(row.verified, Some(true), "{what}, {}", row.program);
            assert!(*row.select_instructions <= 500, "{what}: {:?}", row.select_instructions);
        }
        // The weights of nine sub-networks are those of one network.
        let alone = proved(&model, &board, strategy, &Options::default()).plan;
        let weights = |plan: &Plan| plan.constants.iter().map(|block| block.bytes.0).sum::<u64>();
        assert_eq!(weights(&planned.plan), weights(&alone), "{what}");
    }
}

#[test]
fn boards_end_a_run_at_an_exit_whatever_engines_are_about() {
    let model = network();
    let expected = reference(&model, &random_inputs(&model, 5));
    // As certain as the third output, and more than the first two.
    let scale = model.tensor(model.outputs[0]).quantisation.clone().unwrap().scales[0];
    let largest = |output: usize| f32::from(*expected[output].iter().max().unwrap()) + 128.0;
    for (board, strategy) in [
        ("stm32f746g-disco", Strategy::Swap),
        ("stm32f746g-disco", Strategy::Stream),
        ("stm32f469i-disco", Strategy::Overlay),
        ("nucleo-f767zi", Strategy::Resident),
    ] {
        let board = self::board(board);
        for output in [0, 4] {
            let confidence = Confidence::new(f64::from(largest(output) * scale) - 0.0005).unwrap();
            let exits = Exits { subnetworks: false, confidence: Some(confidence) };
            let planned = proved(&model, &board, strategy, &with_exits(exits));
            // What a run leaves behind at its exit does not harm the next.
            let result = emulate(&model, &board, &planned, &[ENTRY; 3]);
            let what = format!("{}, {strategy}, {confidence}", board.id);
            assert_eq!(result.invokes.len(), 3, "{what}");
            assert_eq!((result.fault.as_ref(), result.verified), (None, Some(true)), "{what}");
            let exit = result.exit.map(|exit| *exit);
            assert!(exit.is_some_and(|exit| exit <= output), "{what}: {exit:?}");
        }
    }
}

#[test]
fn what_has_no_exits_is_said() {
    let board = board("nucleo-f767zi");
    let plan = |model: &Model, options: &Options| {
        tilewright_planner::plan(model, &board, Strategy::Resident, options)
            .unwrap_err()
            .to_string()
    };
    let one = tilewright_zoo::network("lenet5").unwrap().int8().unwrap();
    assert!(plan(&one, &with_exits(SUBNETWORKS)).contains("has one output"));
    let certain = Exits { subnetworks: false, confidence: Confidence::new(1.0) };
    assert!(plan(&network(), &with_exits(certain)).contains("no exit would ever be taken"));
    let logits = with_outputs(random_model(1), 1);
    let confident = Exits { subnetworks: false, confidence: Confidence::new(0.5) };
    let error = plan(&logits, &with_exits(confident));
    assert!(error.contains("no probabilities") || error.contains("probabilities up to"), "{error}");
}
