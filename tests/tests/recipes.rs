//! Recipes as text: what a strategy wrote gives its plan again, and a changed one gives a plan that runs bit-equal, or
//! is refused, whatever was changed.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::num::NonZeroU32;

use fastrand::Rng;
use serde_json::Value;
use tilewright_board::Board;
use tilewright_check::check;
use tilewright_model::Model;
use tilewright_plan::{Bytes, Plan};
use tilewright_planner::{Integrity, Options, Recipe, RecipeError, Strategy};
use tilewright_tests::host;
use tilewright_tests::random_model::{random_inputs, random_of_any_kind};
use tilewright_tests::strategies::of_the_model;

const MODELS: u64 = 150;
const CHANGES: u64 = 12;
const BOARDS: [&str; 3] = ["stm32f746g-disco", "stm32f469i-disco", "nucleo-f767zi"];

/// A strategy's recipe as text, with its plan; nothing if it has none that fits.
fn written(
    model: &Model,
    board: &Board,
    strategy: Strategy,
    options: &Options,
) -> Option<(String, Plan)> {
    if strategy.unsupported(model, Some(board)).is_some() {
        return None;
    }
    let planned = tilewright_planner::plan(model, board, strategy, options).unwrap();
    planned.report.fits.then(|| (planned.recipe.text(model), planned.plan))
}

/// The plan without the names that say who made it.
fn nameless(plan: &Plan) -> Plan {
    Plan { strategy: String::new(), ..plan.clone() }
}

#[test]
fn what_was_written_gives_its_plan_again() {
    let mut rng = Rng::with_seed(3);
    let mut came = [0; 8];
    for seed in 0..MODELS {
        let model = random_of_any_kind(seed);
        let board = tilewright_board::find(BOARDS[seed as usize % 3]).unwrap();
        for (strategy, came) in of_the_model().zip(&mut came) {
            let integrity = if rng.bool() { Integrity::Checked } else { Integrity::Trusted };
            let sram = rng.bool().then(|| Bytes(rng.u64(..30_000)));
            let frames = NonZeroU32::new(rng.u32(1..5)).unwrap();
            let options = Options { sram, frames, integrity, ..Options::default() };
            let Some((text, plan)) = written(&model, &board, strategy, &options) else { continue };
            let what = format!("{}, {}, {strategy}, {sram:?}", model.name, board.id);
            let recipe = Recipe::read(&text, &model).unwrap_or_else(|e| panic!("{what}: {e}"));
            assert_eq!(recipe.text(&model), text, "{what}");
            let again =
                recipe.planned(&model, &board, &options).unwrap_or_else(|e| panic!("{what}: {e}"));
            assert!(nameless(&again.plan) == nameless(&plan), "{what}: another plan");
            *came += 1;
        }
    }
    assert!(came.into_iter().all(|came| came > 3), "{came:?}");
}

#[test]
fn rings_and_tensors_on_the_card_are_written_too() {
    let model = tilewright_zoo::network("vgg16").unwrap().int8().unwrap();
    let (board, options) = (tilewright_board::find(BOARDS[2]).unwrap(), Options::default());
    let (text, plan) = written(&model, &board, Strategy::Stream, &options).unwrap();
    assert!(
        ["\"ring\":", "\"depth_first\":", "\"space\":\"card\""].iter().all(|w| text.contains(w))
    );
    let again = Recipe::read(&text, &model).unwrap().planned(&model, &board, &options).unwrap();
    assert!(nameless(&again.plan) == nameless(&plan));
}

/// A random number somewhere in a value.
fn number<'v>(value: &'v mut Value, rng: &mut Rng) -> Option<&'v mut Value> {
    match value {
        Value::Number(_) => Some(value),
        Value::Array(values) if !values.is_empty() => {
            let at = rng.usize(..values.len());
            number(&mut values[at], rng)
        }
        Value::Object(fields) if !fields.is_empty() => {
            let at = rng.usize(..fields.len());
            number(fields.values_mut().nth(at)?, rng)
        }
        _ => None,
    }
}

/// Changes a number, or leaves out, doubles or exchanges entries of a list.
fn changed(text: &str, rng: &mut Rng) -> String {
    let mut value: Value = serde_json::from_str(text).unwrap();
    if rng.u8(..4) > 0 {
        for _ in 0..20 {
            if let Some(number) = number(&mut value, rng) {
                let before = number.as_u64().unwrap();
                *number = match rng.u8(..8) {
                    0 => 0.into(),
                    1 => u64::MAX.into(),
                    2 => (1u64 << rng.u32(..64)).into(),
                    3 => before.wrapping_sub(1).into(),
                    4 => before.saturating_add(1).into(),
                    5 => (before / 2).into(),
                    6 => before.saturating_add(32 * rng.u64(1..9)).into(),
                    _ => before.saturating_mul(2).into(),
                };
                break;
            }
        }
    } else {
        let lists =
            ["layers", "tensors", "uncopied", "boot", "groups", "transformed", "weights_in_sram"];
        let name = lists[rng.usize(..lists.len())];
        let list = value[name].as_array_mut().unwrap();
        if !list.is_empty() {
            let [one, two] = [rng.usize(..list.len()), rng.usize(..list.len())];
            match rng.u8(..3) {
                0 => drop(list.remove(one)),
                1 => list.push(list[one].clone()),
                _ => list.swap(one, two),
            }
        }
    }
    value.to_string()
}

#[test]
fn what_was_changed_runs_bit_equal_or_is_refused() {
    let mut rng = Rng::with_seed(8);
    let [mut refused, mut wrong, mut ran] = [0; 3];
    for seed in 0..MODELS {
        let model = random_of_any_kind(seed);
        let board = tilewright_board::find(BOARDS[seed as usize % 3]).unwrap();
        let inputs = random_inputs(&model, seed);
        let strategies: Vec<Strategy> = of_the_model().collect();
        let strategy = strategies[rng.usize(..strategies.len())];
        let sram = rng.bool().then(|| Bytes(rng.u64(..30_000)));
        let options = Options { sram, ..Options::default() };
        let Some((text, _)) = written(&model, &board, strategy, &options) else { continue };
        for _ in 0..CHANGES {
            let text = changed(&text, &mut rng);
            let what = format!("{}, {}, {strategy}, {sram:?}: {text}", model.name, board.id);
            let planned = Recipe::read(&text, &model)
                .and_then(|recipe| recipe.planned(&model, &board, &options));
            let Ok(planned) = planned else {
                refused += 1;
                continue;
            };
            if !planned.report.fits || check(&planned.plan, &model, &board).is_err() {
                wrong += 1;
                continue;
            }
            ran += 1;
            host::runs_bit_equal(&planned.plan, &model, &inputs, &what);
        }
    }
    println!("{refused} refused, {wrong} found wrong, {ran} ran");
    assert!(refused > 50 && wrong > 50 && ran > 50, "{refused}, {wrong}, {ran}");
}

#[test]
fn a_recipe_of_another_model_says_so() {
    let [one, other] =
        ["lenet5", "resnet8"].map(|name| tilewright_zoo::network(name).unwrap().int8().unwrap());
    let board = tilewright_board::find(BOARDS[0]).unwrap();
    let (text, _) = written(&one, &board, Strategy::Overlay, &Options::default()).unwrap();
    let error = Recipe::read(&text, &other).unwrap_err();
    assert!(matches!(error, RecipeError::Other { .. }), "{error}");
    let error = Recipe::read("{", &one).unwrap_err();
    assert!(matches!(error, RecipeError::Syntax(_)), "{error}");
    let error = Recipe::read(&text.replace("\"rows\":[28]", "\"rows\":[27]"), &one).unwrap();
    let error = error.planned(&one, &board, &Options::default()).unwrap_err();
    assert!(error.to_string().contains("conv_0"), "{error}");
}
