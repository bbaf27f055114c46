//! Groups of layers that make channels of all pixels a block at a time: the same outputs, without the map that a
//! global pool takes together.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use tilewright_board::Board;
use tilewright_check::check;
use tilewright_model::Model;
use tilewright_plan::{Bytes, Instruction, Plan, Space};
use tilewright_planner::{Objective, Options, Planned, Recipe, Strategy};
use tilewright_tests::random_model::{random_inputs, wide_head};
use tilewright_tests::{emulated, host};

const MODELS: u64 = 150;

fn board() -> Board {
    tilewright_board::find("nucleo-f767zi").unwrap()
}

fn planned(model: &Model, sram: Option<Bytes>) -> Planned {
    let objective = Objective::Memory;
    let options = Options { objective, sram, is_inside: true, ..Options::default() };
    tilewright_planner::plan(model, &board(), Strategy::Auto, &options).unwrap()
}

fn has_blocks(plan: &Plan) -> bool {
    plan.tensors.iter().any(|tensor| tensor.block.is_some())
}

#[test]
fn heads_that_make_channels_in_blocks_give_the_same() {
    let mut in_blocks = 0;
    for model in (0..MODELS).map(wide_head) {
        let name = &model.name;
        let found = planned(&model, None);
        if !has_blocks(&found.plan) {
            continue;
        }
        in_blocks += 1;
        check(&found.plan, &model, &board()).unwrap_or_else(|error| panic!("{name}: {error}"));
        host::runs_bit_equal(&found.plan, &model, &random_inputs(&model, 5), name);
        let recipe = Recipe::read(&found.recipe.text(&model), &model).unwrap();
        let again = recipe.planned(&model, &board(), &Options::default()).unwrap().plan;
        let strategy = found.plan.strategy.clone();
        assert!(Plan { strategy, ..again } == found.plan, "{name}: its recipe gives another plan");
    }
    assert!(in_blocks >= 40, "{in_blocks} of {MODELS} models");
}

#[test]
fn a_pool_that_reads_another_block_is_refused() {
    let mut models = (0..MODELS).map(wide_head).map(|model| (planned(&model, None), model));
    let (found, model) = models.find(|(found, _)| has_blocks(&found.plan)).unwrap();
    let changed = |change: &dyn Fn(&mut Plan, usize, u32)| {
        let mut plan = found.plan.clone();
        let steps = &plan.main.as_ref().unwrap().lanes[0].steps;
        // The last step that begins behind the first channel and has no weights: a pool or an activation.
        let last = steps.iter().rev().find_map(|step| match step.instruction {
            Instruction::Compute { op, tile, first_view, .. }
                if plan.tiles[tile as usize].channel_start > 0
                    && plan.operands(op, first_view).unwrap().1.len() < 4 =>
            {
                Some((tile as usize, first_view))
            }
            _ => None,
        });
        let (tile, view) = last.unwrap();
        change(&mut plan, tile, view);
        check(&plan, &model, &board())
    };
    assert!(changed(&|_, _, _| {}).is_ok());
    for wrong in [
        changed(&|plan, tile, _| plan.tiles[tile].channel_start -= 1),
        changed(&|plan, _, view| plan.views[view as usize].offset += 1),
        changed(&|plan, tile, view| {
            plan.tiles[tile].channels -= 1;
            plan.views[view as usize].c -= 1;
            plan.views[view as usize + 1].c -= 1;
        }),
    ] {
        assert!(wrong.is_err());
    }
}

#[test]
fn a_network_runs_in_less_than_its_last_map() {
    let model = tilewright_zoo::network("mobilenet-v2-w0.35-r144").unwrap().int8().unwrap();
    let sram = Bytes(30_000);
    let options =
        Options { sram: Some(sram), is_inside: true, streams_input: true, ..Options::default() };
    let board = board();
    let found = tilewright_planner::plan(&model, &board, Strategy::Auto, &options).unwrap();
    assert!(found.report.fits && has_blocks(&found.plan), "{:?}", found.report.does_not_fit);
    assert!(found.plan.space(Space::Arena) <= sram);
    let inputs = random_inputs(&model, 1);
    let run = emulated::run_frames_with(&model, &board, Strategy::Auto, &inputs, 1, &options);
    let run = run.unwrap();
    assert_eq!((run.outcome.finish.fault, run.mismatch), (None, None));
    let cycles = run.outcome.finish.invoke.cycles().0 as f64;
    let predicted = found.timeline.end().0 as f64;
    assert!((0.9..1.1).contains(&(cycles / predicted)), "{cycles} cycles, {predicted} predicted");
}
