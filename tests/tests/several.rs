//! Several models in one image and one arena: each program gives the bytes of its own reference, whichever ran before.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use tilewright_app::{Cancel, RunOptions, run_plan, several};
use tilewright_board::Board;
use tilewright_check::check;
use tilewright_model::{Data, Model, int8};
use tilewright_plan::image::ENTRY;
use tilewright_planner::{Integrity, JoinError, Options, Planned, Strategy, joined, plan};
use tilewright_runner::{Dist, Emulator, Native, WorkerLimits, Workers};
use tilewright_runtime::Pace;
use tilewright_tests::random_model::{random_inputs, random_model, random_network, random_splits};
use tilewright_tests::strategies::of_the_model;
use tilewright_tests::{emulated, host};

fn board() -> Board {
    tilewright_board::find("stm32f746g-disco").unwrap()
}

fn planned(model: &Model, strategy: Strategy) -> Option<Planned> {
    strategy.unsupported(model, Some(&board())).is_none().then(|| {
        let planned = plan(model, &board(), strategy, &Options::default());
        planned.unwrap_or_else(|error| panic!("{}, {strategy}: {error}", model.name))
    })
}

fn reference(model: &Model, inputs: &[Data]) -> Vec<Vec<i8>> {
    int8::run(model, inputs, &mut |_, _| {}).unwrap().iter().map(host::bytes).collect()
}

#[test]
fn random_models_side_by_side_are_bit_equal_under_every_strategy() {
    let mut runs = 0;
    for seed in 0..25 {
        let models = [random_model(seed), random_network(seed), random_splits(seed)];
        for (turn, strategy) in of_the_model().enumerate() {
            // The others are planned in other ways, so that every memory is shared.
            let all: Vec<Strategy> = of_the_model().collect();
            let others = all.into_iter().cycle().skip(turn + 1);
            let strategies = std::iter::once(strategy).chain(others);
            let plans: Vec<(&Model, Planned)> = models
                .iter()
                .zip(strategies)
                .filter_map(|(model, strategy)| Some((model, planned(model, strategy)?)))
                .collect();
            let parts: Vec<(&Model, &Planned)> = plans.iter().map(|(m, p)| (*m, p)).collect();
            let what = format!("seed {seed}, {strategy}");
            let (model, all) = match joined(&parts, &board(), &Options::default()) {
                Ok(all) => all,
                Err(JoinError::TooFew | JoinError::Unshared { .. }) => continue,
                Err(error) => panic!("{what}: {error}"),
            };
            let arenas = parts.iter().map(|(_, planned)| *planned.report.peak_sram_bytes);
            assert_eq!(Some(*all.report.peak_sram_bytes), arenas.max(), "{what}");
            check(&all.plan, &model, &board()).unwrap_or_else(|error| panic!("{what}: {error}"));
            for (number, (model, _)) in parts.iter().enumerate() {
                let inputs = random_inputs(model, seed);
                let how = (0xa5, Pace::Late);
                let program = number.checked_sub(1);
                let found =
                    host::run_program(&all.plan, &joined_model(&parts), &inputs, program, how);
                let (outputs, _) =
                    found.unwrap_or_else(|error| panic!("{what}, {number}: {error}"));
                assert_eq!(outputs, reference(model, &inputs), "{what}, {number}");
                runs += 1;
            }
        }
    }
    assert!(runs > 200, "{runs}");
}

fn joined_model(parts: &[(&Model, &Planned)]) -> Model {
    let models: Vec<&Model> = parts.iter().map(|(model, planned)| planned.model(model)).collect();
    Model::joined(&models).unwrap()
}

#[test]
fn a_board_runs_three_models_in_turn() {
    let board = board();
    let names = ["lenet5", "mobilenet-v3-thesis-exits-w0.1-r48", "ds-cnn"];
    let models = names.map(|name| tilewright_zoo::network(name).unwrap().int8().unwrap());
    let strategies = [Strategy::Overlay, Strategy::Stream, Strategy::Resident];
    let plans: Vec<Planned> = models
        .iter()
        .zip(strategies)
        .map(|(model, strategy)| planned(model, strategy).unwrap())
        .collect();
    let parts: Vec<(&Model, &Planned)> = models.iter().zip(&plans).collect();
    let (dist, cancel) = (Dist::at(emulated::dist()), Cancel::default());
    let (workers, quiet) = (Workers::new(&dist), &mut |_| {});
    let limits = WorkerLimits::default();
    let host =
        Native::new(quiet, &cancel).with(Emulator { dist: &dist, executor: &workers, limits });
    let (model, all) = several(&parts, &board, &Options::default(), &host).unwrap();
    let inputs: Vec<Data> = models.iter().flat_map(|model| random_inputs(model, 3)).collect();
    let entry = |index: usize| ENTRY + all.plan.entry_of_subnetwork(index) as u32;
    let turns = [entry(1), ENTRY, entry(0), entry(1), entry(0)];
    let run = RunOptions { limits: &turns, ..RunOptions::default() };
    let result = run_plan(&run, &board, &model, &all, &inputs, &host).unwrap().result;
    assert_eq!((result.fault.as_ref(), result.verified), (None, Some(true)));
    let chosen: Vec<&str> = result.invokes.iter().map(|row| row.program.as_str()).collect();
    let name = |index: usize| models[index].name.as_str();
    assert_eq!(chosen, [name(2), name(0), name(1), name(2), name(1)]);
}

#[test]
fn what_cannot_be_shared_is_said() {
    let (model, board) = (tilewright_zoo::network("lenet5").unwrap().int8().unwrap(), board());
    let text = |strategy, options: Options| {
        let planned = plan(&model, &board, strategy, &options).unwrap();
        let parts = [(&model, &planned), (&model, &planned)];
        joined(&parts, &board, &options).unwrap_err().to_string()
    };
    let checked = Options { integrity: Integrity::Checked, ..Options::default() };
    assert!(text(Strategy::Swap, checked).contains("keeps checksums"));
    let one = plan(&model, &board, Strategy::Resident, &Options::default()).unwrap();
    let alone = joined(&[(&model, &one)], &board, &Options::default());
    assert_eq!(alone.unwrap_err(), JoinError::TooFew);
}
