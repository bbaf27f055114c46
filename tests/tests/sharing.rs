//! Tensors that share bytes: what the validator lets through is right on the host's runtime, and
//! what lies one row too near is refused by both.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use tilewright_board::Board;
use tilewright_check::{CheckError, check};
use tilewright_model::{Data, Model, Op, int8};
use tilewright_plan::{Instruction, Plan, Role, RowOrder, Space};
use tilewright_planner::{Objective, Options, Strategy};
use tilewright_runtime::Pace;
use tilewright_tests::random_model::{
    random_dense, random_inputs, random_layer, random_model, random_splits,
};
use tilewright_tests::{emulated, host};

const LAYERS: u64 = 300;
const SPLITS: u64 = 200;
const DENSE: u64 = 200;
/// Models of each kind that run on each emulated board.
const ON_BOARDS: usize = 12;

fn board() -> Board {
    tilewright_board::find("stm32f746g-disco").unwrap()
}

/// All that can be shared is.
fn options() -> Options {
    Options { objective: Objective::Memory, ..Options::default() }
}

fn planned(model: &Model, strategy: Strategy) -> Plan {
    tilewright_planner::plan(model, &board(), strategy, &options()).unwrap().plan
}

fn expected(model: &Model, inputs: &[Data]) -> Vec<Vec<i8>> {
    int8::run(model, inputs, &mut |_, _| {}).unwrap().iter().map(host::bytes).collect()
}

fn run(plan: &Plan, model: &Model, inputs: &[Data]) -> Result<Vec<Vec<i8>>, String> {
    host::run(plan, model, inputs, (0xa5, Pace::Late))
}

/// The only step's order, and the places of its input and output in the view table.
fn only_step(plan: &Plan) -> Option<(RowOrder, usize, usize)> {
    let [step] = plan.main.as_ref().unwrap().lanes[0].steps.as_slice() else { return None };
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
    let io = plan.main.as_ref().unwrap().outputs[0].view as usize;
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
            let tensor = plan.main.as_ref().unwrap().outputs[0].tensor as usize;
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
            let options = options();
            tilewright_planner::plan(&model, &board(), strategy, &options).unwrap().report
        };
        let auto = report(Strategy::Auto);
        assert!(*auto.lower_bound_bytes <= *auto.peak_sram_bytes, "model {seed}");
        for other in [Strategy::Resident, Strategy::Reordered].map(report) {
            assert!(auto.peak_sram_bytes <= other.peak_sram_bytes, "model {seed}");
            assert!(auto.lower_bound_bytes <= other.lower_bound_bytes, "model {seed}");
            better += u64::from(auto.peak_sram_bytes < other.peak_sram_bytes);
        }
    }
    assert!(better > 100, "{better}");
}

/// The nodes of slices for which a plan has no step.
fn slices_in_place(plan: &Plan, model: &Model) -> Vec<usize> {
    let steps = &plan.main.as_ref().unwrap().lanes[0].steps;
    let without_step = (0..plan.layers.len())
        .filter(|number| steps.iter().all(|step| usize::from(step.layer) != *number));
    let nodes = without_step.map(|number| plan.layers[number].nodes[0] as usize);
    nodes.filter(|node| matches!(model.nodes[*node].op, Op::Slice { .. })).collect()
}

/// Steps of concats that lie over what they copy.
fn concats_in_rows(plan: &Plan, model: &Model) -> usize {
    let steps = plan.main.as_ref().unwrap().lanes[0].steps.iter();
    let in_rows = steps.filter(|step| {
        let node = plan.layers[usize::from(step.layer)].nodes[0] as usize;
        matches!(model.nodes[node].op, Op::Concat { .. })
            && matches!(step.instruction, Instruction::Compute { order, .. } if order != RowOrder::Whole)
    });
    in_rows.count()
}

#[test]
fn slices_are_read_where_their_operand_lies() {
    let (mut in_place, mut of_columns_or_channels, mut proved, mut over) = (0, 0, 0, 0);
    for seed in 0..SPLITS {
        let model = random_splits(seed);
        let inputs = random_inputs(&model, seed);
        let expected = expected(&model, &inputs);
        let [resident, reordered, auto] = [Strategy::Resident, Strategy::Reordered, Strategy::Auto]
            .map(|strategy| {
                let options = options();
                tilewright_planner::plan(&model, &board(), strategy, &options).unwrap()
            });
        for planned in [&reordered, &auto] {
            let what = format!("model {seed}, {}", planned.plan.strategy);
            check(&planned.plan, &model, &board()).unwrap_or_else(|e| panic!("{what}: {e}"));
            assert_eq!(run(&planned.plan, &model, &inputs).as_ref(), Ok(&expected), "{what}");
            let report = &planned.report;
            assert!(*report.lower_bound_bytes <= *report.peak_sram_bytes, "{what}");
            assert!(report.peak_sram_bytes <= resident.report.peak_sram_bytes, "{what}");
            proved += u64::from(*report.lower_bound_bytes == *report.peak_sram_bytes);
            in_place += slices_in_place(&planned.plan, &model).len();
            over += concats_in_rows(&planned.plan, &model);
            let pitched = planned.plan.tensors.iter().filter(|tensor| {
                let made = model.nodes.iter().find(|node| {
                    node.outputs.first().is_some_and(|id| id.0 == tensor.tensor as usize)
                });
                tensor.pitch.is_some()
                    && made.is_some_and(|node| matches!(node.op, Op::Slice { .. }))
            });
            of_columns_or_channels += pitched.count();
        }
    }
    assert!(in_place > SPLITS as usize, "{in_place} slices are read in place");
    assert!(over > 0, "no concat lies over an operand");
    assert!(of_columns_or_channels > SPLITS as usize / 4, "{of_columns_or_channels} have pitches");
    assert!(proved > SPLITS, "{proved} of {} are proved", 2 * SPLITS);
}

#[test]
fn concats_lie_over_their_largest_operand() {
    let (mut over, mut better) = (0, 0);
    for seed in 0..DENSE {
        let model = random_dense(seed);
        let inputs = random_inputs(&model, seed);
        let expected = expected(&model, &inputs);
        let [reordered, auto] = [Strategy::Reordered, Strategy::Auto].map(|strategy| {
            let planned = tilewright_planner::plan(&model, &board(), strategy, &options()).unwrap();
            let what = format!("model {seed}, {strategy}");
            check(&planned.plan, &model, &board()).unwrap_or_else(|e| panic!("{what}: {e}"));
            assert_eq!(run(&planned.plan, &model, &inputs).as_ref(), Ok(&expected), "{what}");
            planned
        });
        let peaks = [&reordered, &auto].map(|planned| planned.report.peak_sram_bytes);
        assert!(peaks[1] <= peaks[0], "model {seed}");
        better += u64::from(peaks[1] < peaks[0]);
        over += u64::from(concats_in_rows(&auto.plan, &model) > 0);
    }
    assert!(over > DENSE / 3, "{over} of {DENSE} models have a concat over an operand");
    assert!(better > DENSE / 4 * 3, "{better} of {DENSE} need less with rows");
}

#[test]
fn slices_in_place_and_concats_in_rows_are_bit_equal_on_the_boards() {
    for board in emulated::boards() {
        let (mut sliced, mut over) = (0, 0);
        let kinds = (0..SPLITS).map(random_splits).chain((0..DENSE).map(random_dense));
        for (seed, model) in (0u64..).zip(kinds) {
            for strategy in [Strategy::Reordered, Strategy::Auto] {
                let what = format!("{}, {strategy}, {}", model.name, board.id);
                let options = options();
                let planned = tilewright_planner::plan(&model, &board, strategy, &options).unwrap();
                let is_sliced = !slices_in_place(&planned.plan, &model).is_empty();
                let is_over = concats_in_rows(&planned.plan, &model) > 0;
                let is_wanted = is_sliced && sliced < ON_BOARDS || is_over && over < ON_BOARDS;
                if !is_wanted || planned.unsupported(&board).is_some() {
                    continue;
                }
                let inputs = random_inputs(&model, seed);
                let run = emulated::run(&model, &board, strategy, &inputs)
                    .unwrap_or_else(|e| panic!("{what}: {e}"));
                assert_eq!(run.outcome.finish.fault, None, "{what}");
                assert_eq!(run.mismatch, None, "{what}");
                sliced += usize::from(is_sliced);
                over += usize::from(is_over);
            }
        }
        assert!(sliced >= ON_BOARDS, "{}: {sliced} models with slices in place", board.id);
        assert!(over >= ON_BOARDS, "{}: {over} models with a concat in rows", board.id);
    }
}

#[test]
fn a_slice_of_other_bytes_than_those_that_are_read_is_refused() {
    let mut refused = 0;
    for seed in 0..SPLITS {
        let mut model = random_splits(seed);
        let plan = planned(&model, Strategy::Auto);
        let inputs = random_inputs(&model, seed);
        for node in slices_in_place(&plan, &model) {
            let dims = model.tensor(model.nodes[node].inputs[0]).shape.dims().to_vec();
            let Op::Slice { begin, size, .. } = &mut model.nodes[node].op else { continue };
            let Some(axis) = (1..4).find(|axis| begin[*axis] + size[*axis] < dims[*axis]) else {
                continue;
            };
            begin[axis] += 1;
            match check(&plan, &model, &board()) {
                Err(_) => refused += 1,
                // Nothing may need it.
                Ok(_) => {
                    assert_eq!(run(&plan, &model, &inputs), Ok(expected(&model, &inputs)), "{seed}")
                }
            }
            let Op::Slice { begin, .. } = &mut model.nodes[node].op else { continue };
            begin[axis] -= 1;
        }
    }
    assert!(refused > SPLITS / 4, "{refused}");
}
