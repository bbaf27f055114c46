//! Tensors that share bytes: what the validator lets through is right on the host's runtime, and
//! what lies one row too near is refused by both.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use tilewright_board::Board;
use tilewright_check::{CheckError, check};
use tilewright_model::{Data, Model, int8};
use tilewright_plan::{Instruction, Plan, Role, RowOrder, Space};
use tilewright_planner::{Options, Strategy};
use tilewright_runtime::Pace;
use tilewright_tests::host;
use tilewright_tests::random_model::{random_inputs, random_layer, random_model};

const LAYERS: u64 = 300;

fn board() -> Board {
    tilewright_board::find("stm32f746g-disco").unwrap()
}

fn planned(model: &Model, strategy: Strategy) -> Plan {
    tilewright_planner::plan(model, &board(), strategy, &Options::default()).unwrap().plan
}

fn expected(model: &Model, inputs: &[Data]) -> Vec<Vec<i8>> {
    int8::run(model, inputs, &mut |_, _| {}).unwrap().iter().map(host::bytes).collect()
}

fn run(plan: &Plan, model: &Model, inputs: &[Data]) -> Result<Vec<Vec<i8>>, String> {
    host::run(plan, model, inputs, (0xa5, Pace::Late))
}

/// The only step's order, and the places of its input and output in the view table.
fn only_step(plan: &Plan) -> Option<(RowOrder, usize, usize)> {
    let [step] = plan.programs[0].lanes[0].steps.as_slice() else { return None };
    let Instruction::Compute { op, first_view, order, .. } = step.instruction else { return None };
    let roles = plan.ops[op as usize].kernel()?.roles();
    let output = roles.iter().position(|role| *role == Role::Output)?;
    Some((order, first_view as usize, first_view as usize + output))
}

/// The plan of a model of one layer with its output at `offset`.
fn moved(plan: &Plan, offset: u32) -> Plan {
    let mut plan = plan.clone();
    let (_, _, output) = only_step(&plan).unwrap();
    plan.views[output].offset = offset;
    let io = plan.programs[0].outputs[0].view as usize;
    plan.views[io].offset = offset;
    plan
}

#[test]
fn an_output_may_lie_as_near_as_its_rows_lag_and_no_nearer() {
    let (mut in_rows, mut refused) = (0, 0);
    for seed in 0..LAYERS {
        let model = random_layer(seed);
        let plan = planned(&model, Strategy::Auto);
        let Some((order, input, output)) = only_step(&plan) else { continue };
        if order == RowOrder::Whole {
            continue;
        }
        in_rows += 1;
        let inputs = random_inputs(&model, seed);
        let expected = expected(&model, &inputs);
        let (from, to) = (plan.views[input].offset, plan.views[output].offset);
        let row = plan.views[output].row_pitch;
        // As it is, then nearer byte by byte: what the validator lets through is right.
        for nearer in 0..=row.min(24) {
            let offset = if from > to { to + nearer } else { to.saturating_sub(nearer) };
            let mut plan = moved(&plan, offset);
            let end = u64::from(offset) + plan.views[output].extent();
            let arena = &mut plan.space_bytes[Space::Arena as usize];
            arena.0 = arena.0.max(end);
            let tensor = plan.programs[0].outputs[0].tensor as usize;
            plan.tensors[tensor].offset = offset.into();
            match check(&plan, &model, &board()) {
                Ok(_) => assert_eq!(run(&plan, &model, &inputs).unwrap(), expected, "layer {seed}"),
                Err(CheckError::Step { reason, .. }) => {
                    let told =
                        reason.contains("overwrites input row") || reason.contains("overlaps");
                    assert!(told, "layer {seed}: {reason}");
                    let error = run(&plan, &model, &inputs).unwrap_err();
                    assert!(error.contains("shares bytes"), "layer {seed}: {error}");
                    refused += 1;
                    break;
                }
                Err(error) => panic!("layer {seed}: {error}"),
            }
        }
    }
    assert!(in_rows > LAYERS / 4, "{in_rows} of {LAYERS} layers are made in rows");
    assert!(refused > in_rows / 2, "{refused} of {in_rows} were refused nearer by");
}

#[test]
fn auto_is_never_worse_and_often_better() {
    let mut better = 0;
    for seed in 0..150 {
        let model = random_model(seed);
        let report = |strategy| {
            let options = Options::default();
            tilewright_planner::plan(&model, &board(), strategy, &options).unwrap().report
        };
        let auto = report(Strategy::Auto);
        assert!(auto.lower_bound_bytes <= auto.peak_sram_bytes, "model {seed}");
        for other in [Strategy::Resident, Strategy::Reordered].map(report) {
            assert!(auto.peak_sram_bytes <= other.peak_sram_bytes, "model {seed}");
            assert!(auto.lower_bound_bytes <= other.lower_bound_bytes, "model {seed}");
            better += u64::from(auto.peak_sram_bytes < other.peak_sram_bytes);
        }
    }
    assert!(better > 100, "{better}");
}
