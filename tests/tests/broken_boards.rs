//! Boards on which something does not work: the firmware runs on with what does, or ends with a line that says why.
//! It is never silent.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use tilewright_board::Board;
use tilewright_planner::{Integrity, Strategy};
use tilewright_protocol::{BrokenUnit, Hardware};
use tilewright_runner::RunOutcome;
use tilewright_tests::emulated;
use tilewright_tests::random_model::random_model;
use tilewright_tests::swapped::{Swapped, console};

fn boards() -> [Board; 2] {
    ["stm32f746g-disco", "stm32f469i-disco"].map(|id| tilewright_board::find(id).unwrap())
}

fn planned(board: &Board, strategy: Strategy) -> Swapped {
    Swapped::by(strategy, board, &random_model(42), 42, Integrity::default()).unwrap()
}

fn run(planned: &Swapped, hardware: Hardware) -> RunOutcome {
    let mut job = planned.job.clone();
    job.hardware = hardware;
    emulated::run_job(job).unwrap()
}

/// The line with which a run ended.
fn error(outcome: &RunOutcome) -> String {
    let said = console(outcome);
    let line = said.lines().find(|line| line.starts_with("error: "));
    line.unwrap_or_else(|| panic!("no error was said: {said} {:?}", outcome.finish.fault))
        .to_owned()
}

#[test]
fn a_board_without_its_clock_says_so() {
    let hardware = Hardware { crystal_dead: true, ..Hardware::default() };
    for (board, text) in boards().iter().zip(["25 MHz crystal", "8 MHz crystal"]) {
        let outcome = run(&planned(board, Strategy::Resident), hardware);
        assert!(error(&outcome).contains(text), "{}", error(&outcome));
    }
}

#[test]
fn a_card_that_is_misheard_at_its_fastest_clock_goes_on_more_slowly() {
    let board = &boards()[0];
    let planned = planned(board, Strategy::Swap);
    let hardware = Hardware { card_fastest_hertz: Some(25_000_000), ..Hardware::default() };
    let (sound, slow) = (run(&planned, Hardware::default()), run(&planned, hardware));
    for outcome in [&sound, &slow] {
        assert!(planned.is_said(outcome), "{}", console(outcome));
    }
    let cycles = |outcome: &RunOutcome| outcome.finish.invoke.cycles().0;
    assert!(cycles(&slow) > cycles(&sound), "{} and {}", cycles(&slow), cycles(&sound));
}

#[test]
fn a_card_whose_controller_never_ends_a_piece_is_given_up() {
    let board = &boards()[0];
    let hardware = Hardware { full_flag_missing: true, ..Hardware::default() };
    let outcome = run(&planned(board, Strategy::Swap), hardware);
    assert!(error(&outcome).contains("no data in time"), "{}", error(&outcome));
}

#[test]
fn copies_that_never_end_are_given_up() {
    let hardware = Hardware { broken: Some(BrokenUnit::Copies), ..Hardware::default() };
    for board in boards() {
        let planned = planned(&board, Strategy::Overlay);
        let outcome = run(&planned, hardware);
        assert!(error(&outcome).contains("step"), "{}", error(&outcome));
    }
}
