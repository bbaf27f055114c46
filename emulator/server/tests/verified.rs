//! The comparison with the reference: what it accepts and what it names.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::collections::BTreeMap;
use std::time::Duration;
use tilewright_app::{
    Blame, Cancel, Diagnostic, Done, RunOptions, Silent, Stage, checked_plan, run_plan,
};
use tilewright_protocol::RunOutcome;
use tilewright_runner::{Dist, Emulator, Execute, Native, WorkerLimits};

use common::{BOARD, fixture};
use tilewright_check::reference::{expected, layer_outputs};
use tilewright_model::Data;
use tilewright_planner::{Options, Planned, Strategy};
use tilewright_protocol::{Finish, Job, Response};
use tilewright_report::Counts;

/// Gives each watch the bytes that its step should have left.
struct Parrot {
    by_step: BTreeMap<u32, Vec<u8>>,
}

impl Execute for Parrot {
    fn execute(
        &self,
        job: Job,
        _: &WorkerLimits,
        _: &mut dyn FnMut(&Response),
        _: &Cancel,
    ) -> Result<RunOutcome, Diagnostic> {
        let watched = job.watches.iter().map(|watch| {
            let bytes = self.by_step.get(&watch.step)?;
            assert_eq!(bytes.len() as u32, watch.rows * watch.row_bytes);
            Some(bytes.clone())
        });
        Ok(RunOutcome {
            given_up: Vec::new(),
            engine: "parrot".into(),
            finish: Finish {
                fault: None,
                boot: Counts::default(),
                load: Counts::default(),
                invoke: Counts::default(),
                stack: None,
                unknown_registers: vec![],
                invokes: Vec::new(),
                passed_steps: 0,
                wall_ns: 0,
            },
            copies: Vec::new(),
            borders: Vec::new(),
            layers: Vec::new(),
            steps: vec![],
            watched: watched.collect(),
            console: vec![],
        })
    }

    fn ready(&self) -> Result<(), Diagnostic> {
        Ok(())
    }
}

fn planned(options: &Options) -> Result<Planned, Diagnostic> {
    let board = tilewright_board::find(BOARD).unwrap();
    checked_plan(&fixture::model(), &board, Strategy::Resident, options, &Silent::default())
}

fn run(change: impl FnOnce(&mut BTreeMap<u32, Vec<u8>>)) -> (Done, Vec<Stage>) {
    let mut stages = Vec::new();
    let wall = WorkerLimits::default().wall;
    let done = run_within(change, wall, &Cancel::default(), &mut |stage| stages.push(stage));
    (done.unwrap(), stages)
}

fn run_within(
    change: impl FnOnce(&mut BTreeMap<u32, Vec<u8>>),
    wall: Duration,
    cancel: &Cancel,
    on_stage: &mut dyn FnMut(Stage),
) -> Result<Done, Diagnostic> {
    let (model, planned) = (fixture::model(), planned(&Options::default()).unwrap());
    let board = tilewright_board::find(BOARD).unwrap();
    let inputs =
        [Data::I8((0..32).map(|value| i8::wrapping_mul(value, 5).wrapping_sub(70)).collect())];
    let reference = expected(&planned.plan, &model, &inputs).unwrap();
    let mut by_step = BTreeMap::new();
    for (output, values) in layer_outputs(&planned.plan).iter().zip(&reference.layers) {
        by_step.insert(output.step, values.iter().map(|v| v.cast_unsigned()).collect());
    }
    change(&mut by_step);
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("firmware")).unwrap();
    std::fs::write(folder.path().join(format!("firmware/{BOARD}.elf")), fixture::elf()).unwrap();
    let emulator = Emulator {
        dist: &Dist::at(folder.path()),
        executor: &Parrot { by_step },
        limits: WorkerLimits { wall, ..WorkerLimits::default() },
    };
    let options = RunOptions { comparing: Some(wall), ..RunOptions::default() };
    let mut progress = |news| {
        if let tilewright_app::Progress::Stage(stage) = news {
            on_stage(stage);
        }
    };
    let host = Native::new(&mut progress, cancel).with(emulator);
    run_plan(&options, &board, &model, &planned, &inputs, &host)
}

#[test]
fn the_reference_stops_when_asked_and_when_its_time_is_over() {
    let cancel = Cancel::default();
    let mut ask = |stage| {
        if stage == Stage::Comparing {
            cancel.cancel();
        }
    };
    let problem = run_within(|_| {}, Duration::from_secs(60), &cancel, &mut ask).unwrap_err();
    assert_eq!(problem.kind, Blame::Cancelled);
    let problem = run_within(|_| {}, Duration::ZERO, &Cancel::default(), &mut |_| {}).unwrap_err();
    assert_eq!(problem.kind, Blame::TooLarge);
    assert!(problem.what.contains("Comparing"), "{problem}");
}

#[test]
fn equal_bytes_are_verified() {
    let (done, stages) = run(|_| {});
    assert_eq!(done.result.verified, Some(true));
    assert_eq!(done.result.difference, None);
    assert_eq!(done.result.plan.unwrap().strategy, "resident");
    assert_eq!(stages, [Stage::Packaging, Stage::Running, Stage::Comparing]);
}

#[test]
fn one_wrong_byte_is_named_with_its_layer() {
    let (done, _) = run(|by_step| by_step.get_mut(&0).unwrap()[3] ^= 1);
    assert_eq!(done.result.verified, Some(false));
    let difference = done.result.difference.unwrap();
    assert_eq!((difference.layer.as_str(), difference.element), ("pool", 3));
    assert_eq!(difference.expected ^ difference.found, 1);
    assert_eq!(difference.differing, 1);
}

#[test]
fn a_layer_that_was_never_seen_is_no_success() {
    let (done, _) = run(|by_step| drop(by_step.remove(&1)));
    assert_eq!(done.result.verified, Some(false));
    assert_eq!(done.result.difference.unwrap().layer, "softmax");
}

#[test]
fn a_plan_that_does_not_fit_names_operator_and_bytes() {
    let little = Options { sram: Some(tilewright_plan::Bytes(16)), ..Options::default() };
    let planned = planned(&little).unwrap();
    assert!(!planned.report.fits);
    let board = tilewright_board::find(BOARD).unwrap();
    let problem = tilewright_app::unsupported(&planned, &board).unwrap();
    assert_eq!(problem.kind, Blame::DoesNotFit);
    assert!(problem.place.contains("pool"), "{problem}");
    assert!(problem.what.contains("16 are there"), "{problem}");
}

#[test]
fn a_cancelled_plan_is_none() {
    let board = tilewright_board::find(BOARD).unwrap();
    let cancel = Cancel::default();
    cancel.cancel();
    let options = Options::default();
    let model = fixture::model();
    let planned = checked_plan(&model, &board, Strategy::Resident, &options, &Silent(cancel));
    assert_eq!(planned.unwrap_err().kind, Blame::Cancelled);
}
