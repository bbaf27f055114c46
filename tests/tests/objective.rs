//! What strategy `auto` makes least: under any budget no strategy that fits is faster, takes less energy or wears a card
//! less, and without one none needs less memory.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use tilewright_board::Board;
use tilewright_model::{Model, int8};
use tilewright_plan::{Bytes, Instruction, Space};
use tilewright_planner::{Objective, Options, PlanError, Planned, Strategy};
use tilewright_report::{Alternative, PlanReport};
use tilewright_runtime::Pace;
use tilewright_tests::host;
use tilewright_tests::program::json;
use tilewright_tests::random_model::{random_chain, random_inputs, random_model, random_splits};

const MODELS: u64 = 150;

fn board() -> Board {
    tilewright_board::find("stm32f746g-disco").unwrap()
}

fn model(seed: u64) -> Model {
    match seed % 3 {
        0 => random_chain(seed),
        1 => random_splits(seed),
        _ => random_model(seed),
    }
}

fn planned(model: &Model, strategy: Strategy, options: &Options) -> Planned {
    tilewright_planner::plan(model, &board(), strategy, options)
        .unwrap_or_else(|e| panic!("{}, {strategy}: {e}", model.name))
}

#[test]
fn under_a_budget_nothing_that_fits_is_faster() {
    let mut rng = fastrand::Rng::with_seed(11);
    let (mut faster, mut between) = (0, 0);
    for seed in 0..MODELS {
        let model = model(seed);
        let least = Options { objective: Objective::Memory, ..Options::default() };
        let least = planned(&model, Strategy::Auto, &least);
        let resident = planned(&model, Strategy::Resident, &Options::default());
        let [least_bytes, most] = [&least, &resident].map(|p| p.report.peak_sram_bytes.0);
        let sram = rng.u64(least_bytes * 7 / 8..=most.max(least_bytes) + 64);
        let options = Options { sram: Some(Bytes(sram)), ..Options::default() };
        let fastest = planned(&model, Strategy::Auto, &options);
        let what = format!("model {seed}, {sram} of {most} bytes");
        if least_bytes <= sram {
            assert!(fastest.report.fits, "{what}");
            assert!(fastest.report.latency_us <= least.report.latency_us, "{what}");
            faster += u64::from(fastest.report.latency_us < least.report.latency_us);
            let arena = fastest.report.peak_sram_bytes.0;
            between += u64::from(least_bytes < arena && arena < most);
        }
        for strategy in Strategy::ALL {
            if strategy.unsupported(&model, Some(&board())).is_some() {
                continue;
            }
            let other = planned(&model, strategy, &options);
            if other.report.fits {
                let (ours, others) = (fastest.report.latency_us, other.report.latency_us);
                assert!(fastest.report.fits && ours <= others, "{what}: {strategy} is faster");
            }
        }
        tilewright_check::check(&fastest.plan, &model, &board()).unwrap();
        let inputs = random_inputs(&model, seed);
        let expected = int8::run(&model, &inputs, &mut |_, _| {}).unwrap();
        let expected: Vec<Vec<i8>> = expected.iter().map(host::bytes).collect();
        if fastest.unsupported(&board()).is_none() {
            let found = host::run(&fastest.plan, &model, &inputs, (0xa5, Pace::Late));
            assert_eq!(found, Ok(expected), "{what}");
        }
    }
    assert!(faster > MODELS / 10, "{faster} of {MODELS} plans are faster than the smallest");
    assert!(between > MODELS / 50, "{between} of {MODELS} arenas lie between least and resident");
}

/// Of each network on a board budgets of which a larger one has had the slower plan: depth-first groups, weights from the
/// card, and tiles that were found with the smaller one alone.
#[test]
fn more_memory_never_makes_a_slower_plan() {
    const CASES: [(&str, &str, &[u64]); 4] = [
        ("mobilenet-v2-w0.35-r96", "nucleo-f767zi", &[27_386, 31_930]),
        ("mobilenet-v2-w0.35-r96", "nucleo-f767zi", &[43_405, 50_606, 59_003, 93_514, 127_118]),
        ("resnet8", "nucleo-f767zi", &[11_353, 13_236]),
        ("vww", "stm32f469i-disco", &[59_283, 69_120]),
    ];
    for (name, board, budgets) in CASES {
        let model = tilewright_zoo::network(name).unwrap().int8().unwrap();
        let board = tilewright_board::find(board).unwrap();
        let mut before: Option<f64> = None;
        for sram in budgets {
            let options = Options { sram: Some(Bytes(*sram)), ..Options::default() };
            let found = tilewright_planner::plan(&model, &board, Strategy::Auto, &options).unwrap();
            assert!(found.report.fits, "{name}, {sram} B");
            let time = found.report.latency_us.unwrap().0;
            assert!(before.is_none_or(|less| time <= less), "{name}, {sram} B: {time}, {before:?}");
            before = Some(time);
        }
    }
}

#[test]
fn what_fits_nowhere_says_what_depth_first_groups_would_need() {
    let model = tilewright_zoo::network("vww").unwrap().int8().unwrap();
    let whole = Options { objective: Objective::Memory, is_inside: true, ..Options::default() };
    let least = planned(&model, Strategy::Auto, &whole).report.peak_sram_bytes;
    let reordered = planned(&model, Strategy::Reordered, &whole).report.peak_sram_bytes;
    let options = Options { sram: Some(Bytes(least.0 / 2)), is_inside: true, ..Options::default() };
    let report = planned(&model, Strategy::Auto, &options).report;
    let needed = report.does_not_fit.map(|why| why.needed_bytes).unwrap();
    assert!(least <= needed && needed < reordered, "{least} {needed} {reordered}");
    let options = Options { sram: Some(*needed), ..options };
    assert!(planned(&model, Strategy::Auto, &options).report.fits, "{needed}");
}

#[test]
fn the_least_memory_is_the_least_also_beyond_sram() {
    let model = tilewright_zoo::network("vww").unwrap().int8().unwrap();
    let memory = Options { objective: Objective::Memory, ..Options::default() };
    let inside = planned(&model, Strategy::Auto, &memory);
    let least = inside.report.peak_sram_bytes;
    // Depth-first groups need less than any order of whole ones.
    let whole = planned(&model, Strategy::Reordered, &Options::default());
    assert!(inside.report.fits && least.0 < whole.report.peak_sram_bytes.0 * 7 / 8);
    for space in [Space::ExternalRam, Space::ExternalFlash, Space::Card] {
        assert_eq!(inside.plan.space(space), Bytes(0), "{space:?}");
    }
    // What SRAM does not hold takes as little of it as `external` does.
    let short = Options { sram: Some(Bytes(least.0 / 2)), ..memory };
    let outside = planned(&model, Strategy::Auto, &short);
    let external = planned(&model, Strategy::External, &Options::default());
    assert!(outside.report.fits);
    assert_eq!(outside.report.peak_sram_bytes, external.report.peak_sram_bytes);
    let none = Options { is_inside: true, ..short };
    assert!(!planned(&model, Strategy::Auto, &none).report.fits);
    let inputs = random_inputs(&model, 3);
    for plan in [outside, inside] {
        tilewright_check::check(&plan.plan, &model, &board()).unwrap();
        host::runs_bit_equal(&plan.plan, &model, &inputs, &plan.report.strategy);
    }
}

#[test]
fn nothing_fits_in_an_eighth_less_than_the_least_memory() {
    for name in
        ["resnet8", "mcunet-in0-r64", "cifar10-cmsis", "shufflenet-v1-w0.5-r96", "mcunet-in1"]
    {
        let model = tilewright_zoo::network(name).unwrap().int8().unwrap();
        let memory =
            Options { objective: Objective::Memory, is_inside: true, ..Options::default() };
        let least = planned(&model, Strategy::Auto, &memory).report.peak_sram_bytes;
        let below = Options { sram: Some(Bytes(least.0 / 8 * 7)), ..memory };
        assert!(!planned(&model, Strategy::Auto, &below).report.fits, "{name}: {least}");
    }
}

#[test]
fn a_plan_that_trades_memory_for_time_says_what_the_least_is() {
    let model = tilewright_zoo::network("ds-cnn").unwrap().int8().unwrap();
    let options = |objective| Options { objective, ..Options::default() };
    let [fast, small] = [Objective::Latency, Objective::Memory]
        .map(|objective| planned(&model, Strategy::Auto, &options(objective)));
    assert!(small.report.proved && small.report.stages.is_empty());
    assert!(small.report.latency_us > fast.report.latency_us);
    assert!(small.report.peak_sram_bytes < fast.report.peak_sram_bytes);
    assert_eq!(fast.report.stages[0].bytes, small.report.peak_sram_bytes);
    assert_eq!(fast.report.lower_bound_bytes, small.report.lower_bound_bytes);
}

#[test]
fn a_plan_says_what_other_techniques_cost() {
    let model = tilewright_zoo::network("ds-cnn").unwrap().int8().unwrap();
    for objective in [Objective::Latency, Objective::Memory, Objective::Energy, Objective::Wear] {
        let options = Options { sram: Some(Bytes(8_000)), objective, ..Options::default() };
        let report = planned(&model, Strategy::Auto, &options).report;
        let [chosen, others @ ..] = report.alternatives.as_slice() else { panic!("none") };
        assert!(chosen.fits && others.len() > 1, "{:?}", report.alternatives);
        assert_eq!(chosen.sram_bytes, report.peak_sram_bytes);
        assert_eq!(Some(chosen.latency_us), report.latency_us);
        let cost = |one: &Alternative| match objective {
            Objective::Latency => one.latency_us.0,
            Objective::Memory => one.sram_bytes.0 as f64,
            Objective::Energy => *one.energy_uj.unwrap(),
            Objective::Wear => *one.card_written_bytes.unwrap(),
        };
        assert_eq!(chosen.energy_uj.is_some(), objective == Objective::Energy);
        assert!(chosen.energy_uj.is_none_or(|energy| Some(energy) == report.energy_uj));
        assert_eq!(chosen.card_written_bytes.is_some(), objective == Objective::Wear);
        for other in others {
            assert!(!other.fits || cost(other) >= cost(chosen), "{other:?}");
            let is_same = other.words() == chosen.words();
            assert!(!is_same, "{} is there twice", other.words());
        }
        // What is compared is what the strategies plan, and what there is no room for is told too.
        let external = planned(&model, Strategy::External, &options).report;
        assert!(external.alternatives.is_empty());
        let has = |bytes, latency| {
            let is = |one: &Alternative| (one.sram_bytes, Some(one.latency_us)) == (bytes, latency);
            report.alternatives.iter().any(is)
        };
        assert!(has(external.peak_sram_bytes, external.latency_us), "{:?}", report.alternatives);
        assert!(others.iter().any(|other| !other.fits && other.sram_bytes.0 > 8_000));
    }
}

/// What an objective makes least of a frame.
fn figure(report: &PlanReport, objective: Objective) -> Option<f64> {
    match objective {
        Objective::Latency => report.latency_us.map(|time| time.0),
        Objective::Memory => Some(report.peak_sram_bytes.0 as f64),
        Objective::Energy => report.energy_uj.map(|energy| *energy),
        Objective::Wear => Some(report.card_written_bytes.0 as f64),
    }
}

/// Budgets in which techniques differ: boards with external memories, and boards with a card alone.
#[test]
fn what_is_chosen_is_least_by_its_own_objective() {
    const CASES: [(&str, &str, u64); 6] = [
        ("resnet8", "stm32l552e-ev", 16_384),
        ("vww", "stm32l552e-ev", 20_000),
        ("ds-cnn", "stm32f746g-disco", 8_000),
        ("resnet8", "nucleo-f767zi", 11_353),
        ("cifar10-cmsis", "nucleo-f746zg", 8_000),
        ("resnet8", "paper-swapnn-512k", 12_000),
    ];
    let (mut thriftier, mut milder) = (0, 0);
    for (name, board, sram) in CASES {
        let model = tilewright_zoo::network(name).unwrap().int8().unwrap();
        let board = tilewright_board::find(board).unwrap();
        let what = format!("{name} on {}", board.id);
        let planned = |strategy, objective| {
            let options = Options { sram: Some(Bytes(sram)), objective, ..Options::default() };
            tilewright_planner::plan(&model, &board, strategy, &options)
                .unwrap_or_else(|e| panic!("{what}, {strategy}: {e}"))
        };
        let others = Strategy::ALL.into_iter().filter(|strategy| {
            *strategy != Strategy::Auto && strategy.unsupported(&model, Some(&board)).is_none()
        });
        let others = others.map(|strategy| planned(strategy, Objective::Latency).report);
        let mut known: Vec<PlanReport> = others.filter(|report| report.fits).collect();
        let objectives = [Objective::Latency, Objective::Energy, Objective::Wear];
        let is_known = |one: &Objective| *one != Objective::Energy || board.power.is_some();
        let plans: Vec<(Objective, Planned)> = objectives
            .into_iter()
            .filter(is_known)
            .map(|objective| (objective, planned(Strategy::Auto, objective)))
            .collect();
        known.extend(plans.iter().map(|(_, plan)| plan.report.clone()));
        for (objective, Planned { plan, report, .. }) in &plans {
            assert!(report.fits, "{what}, {objective:?}");
            let own = figure(report, *objective).unwrap();
            for other in &known {
                // Energies that nobody knows are not compared.
                let Some(figure) = figure(other, *objective) else { continue };
                let strategy = &other.strategy;
                assert!(own <= figure, "{what}, {objective:?}: {own}, {strategy}: {figure}");
                let is_slower = report.latency_us > other.latency_us;
                assert!(own < figure || !is_slower, "{what}, {objective:?}: {strategy} is faster");
            }
            let fastest = figure(&plans[0].1.report, *objective).unwrap();
            thriftier += u32::from(*objective == Objective::Energy && own < fastest);
            milder += u32::from(*objective == Objective::Wear && own < fastest);
            tilewright_check::check(plan, &model, &board).unwrap();
            host::runs_bit_equal(plan, &model, &random_inputs(&model, 5), &what);
        }
    }
    assert!(
        thriftier >= 2 && milder >= 3,
        "{thriftier} and {milder} plans differ from the fastest"
    );
}

#[test]
fn no_energy_is_compared_where_no_source_tells_it() {
    let model = tilewright_zoo::network("lenet5").unwrap().int8().unwrap();
    let board = tilewright_board::find("nucleo-f767zi").unwrap();
    let options = Options { objective: Objective::Energy, ..Options::default() };
    let planned = |strategy| tilewright_planner::plan(&model, &board, strategy, &options);
    let Err(PlanError::Unsupported(why)) = planned(Strategy::Auto) else { panic!("a plan") };
    assert!(why.what.contains(&board.name), "{why:?}");
    assert!(why.place.contains(&board.id) && why.remedy.contains("another objective"), "{why:?}");
    // Others compare nothing.
    assert!(planned(Strategy::Resident).unwrap().report.fits);
}

#[test]
fn what_wears_a_card_least_runs_bit_equal_on_the_emulated_board() {
    let run = |objective| {
        let board = ["zoo:resnet8", "--board", "nucleo-f767zi", "--strategy", "auto"];
        let asked = ["--sram", "11353", "--objective", objective, "--json"];
        let report = json(&[&["run"], &board[..], &asked].concat(), 0);
        assert_eq!(report["verified"], true, "{objective}");
        report["card_written_bytes"].as_u64().unwrap()
    };
    let [wear, latency] = ["wear", "latency"].map(run);
    assert!(wear < latency, "{wear} and {latency} bytes");
}

#[test]
fn weights_stay_in_what_activations_leave_and_nothing_writes_there() {
    let model = tilewright_zoo::network("ds-cnn").unwrap().int8().unwrap();
    let resident = planned(&model, Strategy::Resident, &Options::default());
    let least = resident.report.peak_sram_bytes.0;
    let mut before = resident.report.latency_us;
    let mut loaded = 0;
    for sram in [least, least + 4_096, least + 16_384, least + 65_536] {
        let options = Options { sram: Some(Bytes(sram)), ..Options::default() };
        let plan = planned(&model, Strategy::Auto, &options);
        let latency = plan.report.latency_us;
        assert!(plan.report.peak_sram_bytes.0 <= sram && latency <= before, "{sram}");
        assert!(plan.memory.loaded_bytes.0 >= loaded, "{sram}");
        (before, loaded) = (latency, plan.memory.loaded_bytes.0);
        tilewright_check::check(&plan.plan, &model, &board()).unwrap();
        // Weights over activations are refused.
        let mut broken = plan.plan.clone();
        let boot = broken.boot.as_ref();
        let copies = boot.into_iter().flat_map(|program| &program.lanes).flat_map(|l| &l.steps);
        let spans = copies.filter_map(|step| match step.instruction {
            Instruction::Copy { destination, .. } => Some(destination as usize),
            _ => None,
        });
        for span in spans.collect::<Vec<_>>() {
            broken.spans[span].offset = 0;
        }
        let is_right = tilewright_check::check(&broken, &model, &board()).is_ok();
        assert_eq!(is_right, loaded == 0, "{sram}");
    }
    assert!(loaded > 20_000 && before < resident.report.latency_us, "{loaded} bytes are loaded");
    let memory = Options { objective: Objective::Memory, ..Options::default() };
    assert_eq!(planned(&model, Strategy::Auto, &memory).memory.loaded_bytes, Bytes(0));
}
