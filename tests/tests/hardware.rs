//! Boards that are not as they should be: the firmware says so, or makes do.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use tilewright_planner::{Integrity, Strategy};
use tilewright_protocol::{BrokenUnit, Hardware, Job, LineNoise};
use tilewright_report::FaultKind;
use tilewright_tests::emulated;
use tilewright_tests::random_model::{random_chain, random_inputs, random_model};
use tilewright_tests::swapped::{Swapped, boards, console};

const SEED: u64 = 9;

/// A network on each board that can be bought whose microcontroller is of this family, on hardware like this: others have
/// no oscillator that they need, or a port that is modelled without noise.
fn jobs(family: &str, hardware: Hardware) -> impl Iterator<Item = (String, Job)> {
    let model = random_model(42);
    let inputs = random_inputs(&model, 42);
    let mut boards = emulated::boards();
    boards.retain(|board| board.chip.as_ref().is_some_and(|chip| chip.starts_with(family)));
    assert!(boards.len() >= 3, "{family}");
    boards.into_iter().map(move |board| {
        let job = emulated::job(&model, &board, Strategy::Resident, &inputs).unwrap().1;
        (board.id, Job { hardware, ..job })
    })
}

#[test]
fn a_board_without_its_oscillator_says_so() {
    for (board, job) in jobs("stm32f", Hardware { crystal_dead: true, ..Hardware::default() }) {
        let outcome = emulated::run_job(job).unwrap();
        let said = console(&outcome);
        let fault = outcome.finish.fault.unwrap_or_else(|| panic!("{board}: no fault:\n{said}"));
        assert_eq!(fault.kind, FaultKind::Firmware, "{board}: {}", fault.message);
        let oscillator = tilewright_board::find(&board).unwrap().oscillator.unwrap();
        let why = if oscillator.is_crystal { "does not oscillate" } else { "does not come from" };
        let told = said.lines().any(|line| line.starts_with("error: ") && line.contains(why));
        assert!(told, "{board}: {said}");
    }
}

#[test]
fn noise_on_the_line_costs_no_frame() {
    let line_noise = Some(LineNoise { seed: SEED, noisy_in: 3, broken_in: 0 });
    for (board, job) in jobs("stm32", Hardware { line_noise, ..Hardware::default() }) {
        let outcome = emulated::run_job(job).unwrap();
        let said = console(&outcome);
        assert_eq!(outcome.finish.fault, None, "{board}: {said}");
        assert!(said.contains("done") && !said.contains("retry"), "{board}: {said}");
    }
}

#[test]
fn a_missing_stop_bit_is_told() {
    let line_noise = Some(LineNoise { seed: SEED, noisy_in: 0, broken_in: 2 });
    for (board, job) in jobs("stm32", Hardware { line_noise, ..Hardware::default() }) {
        let fault = emulated::run_job(job).unwrap().finish.fault;
        assert!(fault.is_some_and(|it| it.message.contains("refused a frame")), "{board}");
    }
}

/// A network whose weights come from a card in pieces.
fn from_card(hardware: Hardware) -> impl Iterator<Item = (String, Swapped)> {
    let model = random_chain(SEED);
    boards().into_iter().map(move |board| {
        let mut made =
            Swapped::by(Strategy::Swap, &board, &model, SEED, Integrity::Trusted).unwrap();
        made.job.hardware = hardware;
        (board.id, made)
    })
}

#[test]
fn a_card_that_mishears_high_speed_is_read_at_half_of_it() {
    let at_most = |hertz| Hardware { card_fastest_hertz: Some(hertz), ..Hardware::default() };
    for (board, made) in from_card(at_most(24_000_000)) {
        let outcome = emulated::run_job(made.job.clone()).unwrap();
        assert_eq!(outcome.finish.fault, None, "{board}: {}", console(&outcome));
        assert!(made.is_said(&outcome), "{board}: {}", console(&outcome));
    }
    for (board, made) in from_card(at_most(1_000_000)) {
        let outcome = emulated::run_job(made.job).unwrap();
        let fault = outcome.finish.fault.unwrap();
        assert_eq!(fault.kind, FaultKind::Card, "{board}: {}", fault.message);
    }
}

#[test]
fn a_controller_that_never_says_that_its_fifo_is_full_does_not_hang_the_board() {
    let hardware = Hardware { full_flag_missing: true, ..Hardware::default() };
    for (board, made) in from_card(hardware) {
        let outcome = emulated::run_job(made.job.clone()).unwrap();
        let said = console(&outcome);
        match &outcome.finish.fault {
            None => assert!(made.is_said(&outcome), "{board}: {said}"),
            Some(fault) => {
                assert_eq!(fault.kind, FaultKind::Card, "{board}: {}\n{said}", fault.message);
            }
        }
    }
}

#[test]
fn no_kernel_reads_a_word_across_the_end_of_dtcm() {
    let hardware = Hardware { torn_words: true, ..Hardware::default() };
    let boards = emulated::boards().into_iter().filter(|board| board.id != "stm32f469i-disco");
    for board in boards {
        for name in ["mobilenet-v1-w0.25-r96", "resnet8", "ds-cnn"] {
            let model = tilewright_zoo::network(name).unwrap().int8().unwrap();
            let inputs = random_inputs(&model, SEED);
            let job = emulated::job(&model, &board, Strategy::Resident, &inputs).unwrap().1;
            let fault = emulated::run_job(Job { hardware, ..job }).unwrap().finish.fault;
            assert_eq!(fault, None, "{name}, {}", board.id);
        }
    }
}

#[test]
fn what_the_cache_read_ahead_is_never_used() {
    let model = random_chain(SEED);
    let mut copies = 0;
    for board in boards() {
        for strategy in [Strategy::Overlay, Strategy::External, Strategy::Swap, Strategy::Stream] {
            let Ok(mut made) = Swapped::by(strategy, &board, &model, SEED, Integrity::Trusted)
            else {
                continue;
            };
            for reads_ahead in 1..4 {
                let reads_ahead = Some(reads_ahead);
                made.job.hardware = Hardware { reads_ahead, ..Hardware::default() };
                let outcome = emulated::run_job(made.job.clone()).unwrap();
                let said = console(&outcome);
                assert_eq!(outcome.finish.fault, None, "{}, {strategy:?}: {said}", board.id);
                assert!(made.is_said(&outcome), "{}, {strategy:?}: {said}", board.id);
                copies += 1;
            }
        }
    }
    assert!(copies > 20, "{copies} runs");
}

#[test]
fn copies_that_never_end_are_given_up() {
    let hardware = Hardware { broken: Some(BrokenUnit::Copies), ..Hardware::default() };
    let model = random_model(42);
    for board in boards() {
        let by = |strategy| Swapped::by(strategy, &board, &model, 42, Integrity::Trusted);
        // The NUCLEO-F767ZI has no memory to copy from.
        let Ok(mut made) = by(Strategy::Overlay) else { continue };
        made.job.hardware = hardware;
        let outcome = emulated::run_job(made.job.clone()).unwrap();
        let said = console(&outcome);
        let told = said.lines().any(|line| line.starts_with("error: ") && line.contains("step"));
        assert!(told, "{}: {said}", board.id);
    }
}
