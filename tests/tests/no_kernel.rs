//! Models with operators that no kernel computes: their memory is planned and proved, nothing else.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use fastrand::Rng;
use tilewright_board::Board;
use tilewright_check::{check, check_memory};
use tilewright_model::{DType, Model, Op};
use tilewright_plan::{Plan, Space};
use tilewright_planner::{Options, Planned, Strategy};
use tilewright_tests::random_model::random_model;
use tilewright_tests::strategies::of_the_model;

const MODELS: u64 = 200;

fn board() -> Board {
    tilewright_board::find("stm32f746g-disco").unwrap()
}

fn planned(model: &Model, strategy: Strategy) -> Planned {
    tilewright_planner::plan(model, &board(), strategy, &Options::default()).unwrap()
}

/// A random model, some nodes of which lost their meaning.
fn with_opaque_nodes(seed: u64) -> Model {
    let mut model = random_model(seed);
    let mut rng = Rng::with_seed(seed);
    let chosen = rng.usize(..model.nodes.len());
    for (index, node) in model.nodes.iter_mut().enumerate() {
        let executes = !matches!(node.op, Op::Reshape);
        if executes && (index == chosen || rng.u8(..4) == 0) {
            node.op = Op::Opaque { name: "LSTM".to_owned() };
        }
    }
    model
}

#[test]
fn memory_is_planned_and_proved_without_kernels() {
    let mut opaque = 0;
    for seed in 0..MODELS {
        let whole = random_model(seed);
        let model = with_opaque_nodes(seed);
        // Random models are no chains, which `ping-pong` wants.
        for strategy in of_the_model().filter(|s| *s != Strategy::PingPong) {
            let Planned { plan, report, memory, .. } = planned(&model, strategy);
            let same = planned(&whole, strategy);
            let resident = planned(&whole, Strategy::Resident).memory.arena_bytes;
            let elsewhere = [Space::ExternalRam, Space::Card].map(|space| plan.space(space).0);
            let all_in_sram = elsewhere == [0; 2];
            // Weights may take what tensors leave.
            let is_more = memory.loaded_bytes.0 == 0 && memory.arena_bytes > resident;
            assert!(!is_more || !all_in_sram, "model {seed}, {strategy}");
            if strategy == Strategy::Resident {
                assert_eq!(memory.arena_bytes, resident, "model {seed}");
            }
            let missing = model.opaque_operators().len();
            assert_eq!(report.runnable, missing == 0, "model {seed}");
            if missing == 0 {
                continue;
            }
            opaque += 1;
            assert!(plan.main.is_none() && report.latency_us.is_none());
            assert!(report.no_program().unwrap().what.contains("LSTM"));
            let proof = check_memory(&plan, &model, &board())
                .unwrap_or_else(|e| panic!("model {seed}, {strategy}: {e}"));
            assert_eq!(proof.tensors, plan.tensors.len());
            assert!(check(&plan, &model, &board()).is_err());
            assert!(check_memory(&same.plan, &whole, &board()).is_err());
        }
    }
    assert!(opaque > MODELS, "{opaque}");
}

#[test]
fn wrong_places_and_lives_are_found() {
    let mut found = 0;
    for seed in 0..MODELS {
        let model = with_opaque_nodes(seed);
        let Planned { plan, report, .. } = planned(&model, Strategy::Resident);
        if report.runnable || plan.tensors.len() < 2 {
            continue;
        }
        let wrong = |change: &dyn Fn(&mut Plan)| {
            let mut plan = plan.clone();
            change(&mut plan);
            check_memory(&plan, &model, &board()).is_err()
        };
        // The first layer reads an input of the model and writes something beside it.
        let (read, write) = (plan.layers[0].reads[0] as usize, plan.layers[0].writes[0] as usize);
        assert!(wrong(&|plan| plan.tensors[write].offset = plan.tensors[read].offset), "{seed}");
        assert!(wrong(&|plan| plan.tensors[read].end = 0), "{seed}");
        assert!(wrong(&|plan| plan.tensors[write].first += 1), "{seed}");
        assert!(wrong(&|plan| plan.tensors[write].bytes.0 += 1), "{seed}");
        assert!(wrong(&|plan| plan.tensors[write].tensor = plan.tensors[read].tensor), "{seed}");
        let end = plan.tensors.iter().map(|tensor| tensor.offset + tensor.bytes.0).max().unwrap();
        assert!(wrong(&|plan| plan.space_bytes[Space::Arena as usize].0 = end - 1), "{seed}");
        assert!(wrong(&|plan| plan.layers.truncate(plan.layers.len() - 1)), "{seed}");
        if plan.layers.len() > 1 && plan.layers[1].reads.contains(&plan.layers[0].writes[0]) {
            assert!(wrong(&|plan| plan.layers.swap(0, 1)), "{seed}");
        }
        found += 1;
    }
    assert!(found > MODELS / 2, "{found}");
}

#[test]
fn tensors_of_floats_and_of_no_elements_have_places() {
    let mut model = with_opaque_nodes(1);
    for tensor in model.tensors.iter_mut().filter(|tensor| !tensor.is_constant()) {
        tensor.dtype = DType::F32;
        tensor.quantisation = None;
    }
    let whole = planned(&random_model(1), Strategy::Resident);
    let float = planned(&model, Strategy::Resident);
    assert_eq!(float.memory.peak_live_bytes.0, 4 * whole.memory.peak_live_bytes.0);
    assert!(float.report.layers.iter().all(|layer| layer.no_kernel.is_some()));
    check_memory(&float.plan, &model, &board()).unwrap();
    let output = model.outputs[0];
    model.tensors[output.0].shape = tilewright_model::Shape::new([1, 0]);
    let empty = planned(&model, Strategy::Reordered);
    check_memory(&empty.plan, &model, &board()).unwrap();
}
