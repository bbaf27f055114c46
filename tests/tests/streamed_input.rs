//! Inputs that arrive in rows while others are used: the same outputs, and less of SRAM.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use tilewright_board::Board;
use tilewright_check::check;
use tilewright_model::Model;
use tilewright_plan::image::{AlignedBytes, Expected};
use tilewright_plan::{Bytes, InputResidency, Instruction, Plan, PlanImage, Space};
use tilewright_planner::{Objective, Options, Planned, Recipe, Strategy};
use tilewright_tests::random_model::{random_chain, random_inputs, random_network};
use tilewright_tests::{emulated, host};

const MODELS: u64 = 120;

fn board() -> Board {
    tilewright_board::find("nucleo-f767zi").unwrap()
}

fn planned(model: &Model, options: &Options) -> Planned {
    tilewright_planner::plan(model, &board(), Strategy::Auto, options).unwrap()
}

fn network(name: &str) -> Model {
    tilewright_zoo::network(name).unwrap().int8().unwrap()
}

/// The plan of least SRAM, with an input that may arrive in rows.
fn least(model: &Model) -> Planned {
    let options =
        Options { objective: Objective::Memory, streams_input: true, ..Options::default() };
    planned(model, &options)
}

#[test]
fn random_models_take_their_input_in_rows() {
    let (mut streamed, mut more) = (0, 0);
    for model in (0..MODELS).flat_map(|seed| [random_network(seed), random_chain(seed)]) {
        let name = &model.name;
        let found = least(&model);
        let plan = &found.plan;
        let resident = Options { objective: Objective::Memory, ..Options::default() };
        let [rows, whole] = [plan, &planned(&model, &resident).plan].map(|p| p.space(Space::Arena));
        more += u32::from(rows > whole);
        if plan.input != InputResidency::Streamed {
            continue;
        }
        streamed += 1;
        check(plan, &model, &board()).unwrap_or_else(|error| panic!("{name}: {error}"));
        host::runs_bit_equal(plan, &model, &random_inputs(&model, 3), name);
        let recipe = Recipe::read(&found.recipe.text(&model), &model).unwrap();
        let again = recipe.planned(&model, &board(), &Options::default()).unwrap().plan;
        let strategy = plan.strategy.clone();
        assert!(Plan { strategy, ..again } == *plan, "{name}: its recipe gives another plan");
    }
    assert!(streamed >= 30, "{streamed} of {} models", 2 * MODELS);
    // The search for the least halves what is left, so that it may miss a size.
    assert!(more * 20 < streamed, "{more} of {streamed} need more than with the whole input");
}

#[test]
fn a_network_runs_on_a_board_that_does_not_hold_its_input() {
    let model = network("mobilenet-v2-w0.35-r96");
    let input = model.tensor(model.inputs[0]).bytes().unwrap() as u64;
    let sram = Some(Bytes(24 << 10));
    // It might also lie on a card.
    let resident = Options { sram, is_inside: true, ..Options::default() };
    assert!(input > 24 << 10 && !planned(&model, &resident).report.fits);
    let found = planned(&model, &Options { streams_input: true, ..resident.clone() });
    assert!(
        found.report.fits && found.report.input == "streamed",
        "{:?}",
        found.report.does_not_fit
    );
    check(&found.plan, &model, &board()).unwrap();
    let inputs = random_inputs(&model, 1);
    // Two frames, of which the board forgets nothing between.
    let options = Options { streams_input: true, ..resident };
    let run = emulated::run_frames_with(&model, &board(), Strategy::Auto, &inputs, 2, &options);
    let run = run.unwrap();
    assert_eq!(run.outcome.finish.fault, None);
    assert_eq!(run.mismatch, None);
    // How long rows take to arrive is no part of a run.
    let cycles = run.outcome.finish.invoke.cycles().0 as f64;
    let predicted = found.timeline.end().0 as f64;
    assert!((0.9..1.1).contains(&(cycles / predicted)), "{cycles} cycles, {predicted} predicted");
}

#[test]
fn rows_that_arrive_wrongly_are_refused() {
    let model = (0..MODELS).map(random_chain).find(|model| {
        let plan = least(model).plan;
        plan.input == InputResidency::Streamed && arrivals(&plan).len() > 2
    });
    let model = model.unwrap();
    let plan = least(&model).plan;
    let changed = |change: &dyn Fn(&mut Plan)| {
        let mut plan = plan.clone();
        change(&mut plan);
        plan
    };
    let without = |number: usize| {
        changed(&|plan| {
            let at = arrivals(plan)[number].0;
            plan.main.as_mut().unwrap().lanes[0].steps.remove(at);
        })
    };
    let moved = |by: u32| {
        changed(&|plan| {
            let view = arrivals(plan)[1].1;
            plan.views[view].offset += by;
        })
    };
    let last = arrivals(&plan).len() - 1;
    for (wrong, why) in [
        (without(0), "something runs before"),
        (without(1), "are next"),
        (without(last), "rows of the input arrive"),
        (moved(1), "do not hold"),
        (moved(1 << 20), "reaches past"),
        (changed(&|plan| plan.input = InputResidency::Resident), ""),
        (
            changed(&|plan| {
                let view = arrivals(plan)[1].1;
                plan.views[view].w -= 1;
            }),
            "not whole",
        ),
        (
            changed(&|plan| {
                let steps = &mut plan.main.as_mut().unwrap().lanes[0].steps;
                let first = steps[0];
                steps.push(first);
            }),
            "are next",
        ),
    ] {
        let error = check(&wrong, &model, &board()).unwrap_err().to_string();
        assert!(error.contains(why), "{why}: {error}");
    }
    // The reader refuses what it cannot put anywhere.
    let elsewhere = changed(&|plan| {
        let view = arrivals(plan)[1].1;
        plan.views[view].space = Space::Weights as u8;
        plan.views[view].offset = 0;
    });
    let image = tilewright_image::plan_image(&elsewhere, &model).unwrap();
    let image = AlignedBytes::copy_of(&image);
    let expected = Expected { board: &board().id, space_bytes: board().space_bytes() };
    let error = PlanImage::read(image.bytes(), &expected).unwrap_err().to_string();
    assert!(error.contains("arrive") || error.contains("past"), "{error}");
}

/// The steps at which rows arrive, each with its view.
fn arrivals(plan: &Plan) -> Vec<(usize, usize)> {
    let steps = plan.main.as_ref().unwrap().lanes[0].steps.iter().enumerate();
    let arrives = steps.filter_map(|(number, step)| match step.instruction {
        Instruction::Arrive { view } => Some((number, view as usize)),
        _ => None,
    });
    arrives.collect()
}
