//! Programs that swap to a card, or stream weights from it, on the emulated board: the firmware's own
//! driver, with a card that works and with one that fails in every way.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use tilewright_board::Board;
use tilewright_model::Model;
use tilewright_plan::{Bytes, Instruction, PlannedTensor, Space};
use tilewright_planner::{Integrity, Options, Strategy, plan};
use tilewright_protocol::{CardFault, CardJob, CardProblem, Job, RunOutcome};
use tilewright_report::{Fault, FaultKind};
use tilewright_tests::emulated;
use tilewright_tests::random_model::{random_chain, random_model, random_tower, wide_tower};
use tilewright_tests::swapped::{Swapped, boards, console, says_all};

const SEED: u64 = 9;
/// A tower, and SRAM of which its layers one after the other need more.
const TOWER: u64 = 2;
const TOWER_SRAM: Bytes = Bytes(4096);

/// What runs from a card: activations and weights, or weights alone.
const STRATEGIES: [Strategy; 2] = [Strategy::Swap, Strategy::Stream];

/// A job that trusts the card, and what the console must say of its outputs.
fn job(board: &Board, model: &Model, strategy: Strategy) -> (Job, Vec<String>) {
    let made = made(board, model, strategy, SEED, Integrity::Trusted);
    let Swapped { job, expected, .. } = made;
    (job, expected)
}

fn made(
    board: &Board,
    model: &Model,
    strategy: Strategy,
    seed: u64,
    integrity: Integrity,
) -> Swapped {
    Swapped::by(strategy, board, model, seed, integrity).unwrap()
}

/// Each of these with each strategy on each board.
fn each<T: Clone>(
    boards: &[Board],
    these: impl Iterator<Item = T> + Clone,
) -> impl Iterator<Item = (&Board, Strategy, T)> {
    boards.iter().flat_map(move |board| {
        let these = these.clone();
        STRATEGIES
            .into_iter()
            .flat_map(move |strategy| these.clone().map(move |this| (board, strategy, this)))
    })
}

fn run(
    board: &Board,
    model: &Model,
    strategy: Strategy,
    faults: &[CardFault],
) -> (RunOutcome, Vec<String>) {
    let (mut job, expected) = job(board, model, strategy);
    job.card.as_mut().unwrap().faults = faults.to_vec();
    (emulated::run_job(job).unwrap(), expected)
}

/// A wide tower whose layers go through their rows some by some in little SRAM.
const WIDE: u64 = 9;

/// A plan in as little SRAM as there is one for.
fn smallest(board: &Board, model: &Model, integrity: Integrity) -> Swapped {
    let sizes = (8..40).map(|sectors| Some(Bytes(sectors * 512)));
    let options = |sram| Options { sram, integrity, ..Options::default() };
    let fits = |sram: &Option<Bytes>| {
        plan(model, board, Strategy::Stream, &options(*sram)).unwrap().report.fits
    };
    let sram = sizes.into_iter().find(fits).unwrap();
    Swapped::with(Strategy::Stream, board, model, SEED, &options(sram)).unwrap()
}

#[test]
fn activations_between_groups_lie_on_the_card_without_external_ram() {
    let model = wide_tower(WIDE);
    for mut board in boards() {
        board.memory.retain(|memory| {
            memory.space.or(memory.kind.external_space()) != Some(Space::ExternalRam)
        });
        for integrity in [Integrity::Trusted, Integrity::Checked, Integrity::Sealed] {
            let Swapped { plan, job, expected } = smallest(&board, &model, integrity);
            let is_there = |tensor: &PlannedTensor| tensor.space == Space::Card;
            assert!(plan.tensors.iter().any(is_there), "{}, {integrity:?}", board.id);
            let outcome = emulated::run_job(job).unwrap();
            let said = format!("{}, {integrity:?}: {}", board.id, console(&outcome));
            assert_eq!(outcome.finish.fault, None, "{said}");
            assert!(says_all(&outcome, &expected), "{said}");
        }
    }
}

/// A plan of a board without external RAM in as little SRAM as there is one for; nothing if its frame does not lie on the
/// card.
fn streamed(board: &Board, model: &Model, integrity: Integrity) -> Option<Swapped> {
    let asked = |sram| Options { sram, integrity, ..Options::default() };
    let little = plan(model, board, Strategy::Stream, &asked(Some(Bytes(512)))).unwrap();
    let sram = little.report.does_not_fit.unwrap().needed_bytes;
    let made = Swapped::with(Strategy::Stream, board, model, SEED, &asked(Some(*sram))).unwrap();
    let view = made.plan.views[made.plan.main.as_ref().unwrap().inputs[0].view as usize];
    (view.space() == Some(Space::Card)).then_some(made)
}

/// Boards with a card and without external RAM.
fn without_external_ram() -> Vec<Board> {
    let mut boards = boards();
    for board in &mut boards {
        board.memory.retain(|memory| {
            memory.space.or(memory.kind.external_space()) != Some(Space::ExternalRam)
        });
    }
    boards
}

#[test]
fn frames_that_arrive_on_the_card_give_the_bytes_of_the_reference() {
    for board in without_external_ram() {
        for integrity in [Integrity::Trusted, Integrity::Checked, Integrity::Sealed] {
            let plans = (0..40).filter_map(|seed| streamed(&board, &wide_tower(seed), integrity));
            let mut came = 0;
            for made in plans.take(4) {
                // Another frame before it, whose bytes must not be left.
                let mut job = made.job.clone();
                let payload = vec![0x55; job.frames[0][0].len() - 12];
                job.frames.insert(0, vec![tilewright_plan::image::input_frame(&payload).unwrap()]);
                let outcome = emulated::run_job(job).unwrap();
                let said = format!("{}, {integrity:?}: {}", board.id, console(&outcome));
                assert_eq!(outcome.finish.fault, None, "{said}");
                assert!(made.is_said(&outcome), "{said}");
                assert_eq!(console(&outcome).matches("done").count(), 2, "{said}");
                came += 1;
            }
            assert_eq!(came, 4, "{}, {integrity:?}", board.id);
        }
    }
}

#[test]
fn what_goes_wrong_while_a_frame_arrives_is_mended_or_told() {
    let problems = [
        CardProblem::Removed,
        CardProblem::Checksum,
        CardProblem::Silent,
        CardProblem::Busy { ns: 300_000_000 },
        CardProblem::Busy { ns: u64::MAX },
        CardProblem::Turned { bit: 3 },
        CardProblem::Lost,
    ];
    for board in without_external_ram() {
        for integrity in [Integrity::Checked, Integrity::Sealed] {
            let made = (0..40).find_map(|seed| streamed(&board, &wide_tower(seed), integrity));
            let made = made.unwrap();
            // The first transfer is that of the store's header.
            for (problem, every) in problems.into_iter().flat_map(|p| [(p, 0), (p, 1)]) {
                let mut job = made.job.clone();
                let fault = CardFault { transfer: 1, every, problem };
                job.card.as_mut().unwrap().faults = vec![fault];
                let outcome = emulated::run_job(job).unwrap();
                let said = format!("{}, {fault:?}: {}", board.id, console(&outcome));
                let told = outcome.finish.fault.clone();
                assert!(made.is_said(&outcome) != told.is_some(), "{said}");
                // What lasts longer than half of the window takes to arrive loses bytes, which the host hears of.
                let passes = problem == CardProblem::Checksum;
                assert!(told.is_none() || every == 1 || !passes, "{said}");
                // A bit that turns over with each transfer is right again when it was read.
                let stays = problem == CardProblem::Removed
                    || matches!(problem, CardProblem::Turned { .. }) && every == 0;
                assert!(told.is_some() || !stays, "{said}");
            }
        }
    }
}

#[test]
fn what_comes_from_a_card_gives_the_bytes_of_the_reference() {
    let zoo = |name| tilewright_zoo::network(name).unwrap().int8().unwrap();
    let models = [random_chain(SEED), random_model(4), zoo("lenet5"), zoo("resnet8")];
    for (board, strategy, (model, seed)) in each(&boards(), models.iter().zip(SEED..)) {
        let made = made(board, model, strategy, seed, Integrity::Trusted);
        let Swapped { plan, job, expected } = made;
        let outcome = emulated::run_job(job).unwrap();
        let said = format!("{}, {strategy}, {}: {}", model.name, board.id, console(&outcome));
        assert_eq!(outcome.finish.fault, None, "{said}");
        assert!(says_all(&outcome, &expected), "{said}");
        let steps = plan.main.as_ref().unwrap().lanes.get(1).map_or(0, |lane| lane.steps.len());
        assert_eq!(outcome.copies.len(), steps, "{said}");
        assert_eq!(outcome.finish.unknown_registers, [], "{said}");
    }
}

/// The run with a fault, which the firmware must have told of.
fn told(board: &Board, strategy: Strategy, fault: CardFault) -> Fault {
    let (outcome, expected) = run(board, &random_chain(SEED), strategy, &[fault]);
    assert!(!says_all(&outcome, &expected), "an answer in spite of {fault:?}");
    let told = outcome.finish.fault.clone();
    told.unwrap_or_else(|| panic!("nothing was said of {fault:?}: {}", console(&outcome)))
}

/// Asserts that a fault of the card has its copy, with layer and sector, as the firmware says them too.
fn has_its_place(board: &Board, strategy: Strategy, fault: &Fault) {
    let plan = made(board, &random_chain(SEED), strategy, SEED, Integrity::Trusted).plan;
    assert_eq!(fault.kind, FaultKind::Card, "{fault:?}");
    let copy = fault.copy.unwrap_or_else(|| panic!("no copy: {fault:?}"));
    let step = &plan.main.as_ref().unwrap().lanes[1].steps[copy.step as usize];
    assert_eq!(fault.layer, Some(step.layer), "{fault:?}");
    let Instruction::Copy { source, destination, .. } = step.instruction else {
        panic!("step {} is no copy", copy.step)
    };
    let spans = [source, destination].map(|span| &plan.spans[span as usize]);
    let span = spans.into_iter().find(|span| span.space() == Some(Space::Card)).unwrap();
    let (first, bytes) = (u64::from(span.offset), span.extent());
    let sectors = first / 512..(first + bytes).div_ceil(512);
    assert!(sectors.contains(&copy.sector.into()), "{fault:?}: {sectors:?}");
    let told = format!("copy {}, for layer {}, failed ", copy.step, step.layer);
    let sector = format!(" times at sector {}: ", copy.sector);
    assert!(fault.message.contains(&told) && fault.message.contains(&sector), "{fault:?}");
}

#[test]
fn what_passes_is_tried_again() {
    let problems = [CardProblem::Checksum, CardProblem::Silent];
    for (board, strategy, problem) in each(&boards(), problems.into_iter()) {
        let faults = [CardFault { transfer: 1, every: 3, problem }];
        let (outcome, expected) = run(board, &random_chain(SEED), strategy, &faults);
        assert_eq!(outcome.finish.fault, None, "{problem:?}: {}", console(&outcome));
        assert!(says_all(&outcome, &expected), "{problem:?}: {}", console(&outcome));
    }
}

#[test]
fn a_command_that_is_not_heard_or_not_understood_is_sent_again() {
    let model = random_chain(SEED);
    for board in &boards() {
        let made = made(board, &model, Strategy::Swap, SEED, Integrity::Trusted);
        // Identification takes some twenty commands.
        for problem in [CardProblem::Unheard, CardProblem::Answer] {
            for number in (0..32).step_by(2) {
                let outcome = made.run_with(number, problem).unwrap();
                let said = console(&outcome);
                assert_eq!(outcome.finish.fault, None, "{problem:?}, {number}: {said}");
                assert!(made.is_said(&outcome), "{problem:?}, {number}: {said}");
            }
            // Neither a card that hears half of its commands in a row nor one that hears none holds anything up.
            for every in [1, 2, 3] {
                let mut job = made.job.clone();
                let fault = CardFault { transfer: 25, every, problem };
                job.card.as_mut().unwrap().faults = vec![fault];
                let outcome = emulated::run_job(job).unwrap();
                let said = console(&outcome);
                match outcome.finish.fault {
                    None => assert!(made.is_said(&outcome), "{fault:?}: {said}"),
                    Some(told) => assert_eq!(told.kind, FaultKind::Card, "{fault:?}: {said}"),
                }
            }
        }
    }
}

#[test]
fn a_store_header_that_comes_wrong_once_is_read_again() {
    for board in &boards() {
        let made = made(board, &random_chain(SEED), Strategy::Swap, SEED, Integrity::Trusted);
        let outcome = made.run_with(0, CardProblem::Garbled { bit: 1 }).unwrap();
        assert_eq!(outcome.finish.fault, None, "{}", console(&outcome));
        assert!(made.is_said(&outcome), "{}", console(&outcome));
    }
}

#[test]
fn what_stays_is_told_with_step_layer_and_sector() {
    let problems = [CardProblem::Removed, CardProblem::Checksum, CardProblem::Silent];
    for (board, strategy, problem) in each(&boards(), problems.into_iter()) {
        let told = told(board, strategy, CardFault { transfer: 2, every: 1, problem });
        has_its_place(board, strategy, &told);
    }
}

fn lenet5() -> Model {
    tilewright_zoo::network("lenet5").unwrap().int8().unwrap()
}

/// A job whose firmware checks what it brings.
fn checked(board: &Board, model: &Model, strategy: Strategy) -> Swapped {
    let checked = made(board, model, strategy, SEED, Integrity::Checked);
    let writes = strategy == Strategy::Swap;
    assert_eq!(
        checked.plan.sector_checksums.is_some_and(|checksums| checksums.sectors > 0),
        writes
    );
    checked
}

#[test]
fn a_wrong_bit_is_read_again_computed_again_or_told() {
    for (board, strategy, ()) in each(&boards(), std::iter::once(())) {
        let checked = checked(board, &lenet5(), strategy);
        let mut mended = 0;
        // Behind that of the header: weights, and activations both ways.
        for (transfer, reads) in (0..).zip(checked.reads()).skip(1) {
            if reads {
                let outcome = checked.run_with(transfer, CardProblem::Garbled { bit: 3 }).unwrap();
                assert_eq!(outcome.finish.fault, None, "{transfer}: {}", console(&outcome));
                assert!(checked.is_said(&outcome), "{transfer}: {}", console(&outcome));
            }
            let outcome = checked.run_with(transfer, CardProblem::Turned { bit: 3 }).unwrap();
            checked.is_mended_or_told(&outcome, &format!("a bit of transfer {transfer}"));
            mended += outcome.given_up.len();
        }
        // Activations go both ways, weights stay wrong.
        assert!(mended > 1 || strategy == Strategy::Stream, "{mended}");
    }
}

#[test]
fn whatever_goes_wrong_nothing_hangs_and_no_answer_is_wrong() {
    let boards = boards();
    let ways = each(&boards, std::iter::once(()));
    let jobs: Vec<_> =
        ways.map(|(board, strategy, ())| checked(board, &lenet5(), strategy)).collect();
    let mut rng = fastrand::Rng::with_seed(SEED);
    for checked in jobs.iter().cycle().take(32) {
        let fault = CardFault {
            transfer: rng.u64(..checked.reads().len() as u64),
            every: rng.u64(0..4),
            problem: match rng.u8(0..6) {
                0 => CardProblem::Removed,
                1 => CardProblem::Checksum,
                2 => CardProblem::Silent,
                3 => CardProblem::Busy { ns: rng.u64(..) },
                4 => CardProblem::Turned { bit: rng.u8(0..8) },
                _ => CardProblem::Garbled { bit: rng.u8(0..8) },
            },
        };
        let mut job = checked.job.clone();
        job.card.as_mut().unwrap().faults = vec![fault];
        let outcome = emulated::run_job(job).unwrap();
        let is_told = outcome.finish.fault.is_some();
        let is_right = checked.is_said(&outcome);
        assert!(is_right != is_told, "{fault:?}: {}", console(&outcome));
    }
}

#[test]
fn what_is_lost_again_and_again_is_told() {
    for board in &boards() {
        let mut job = checked(board, &lenet5(), Strategy::Swap).job;
        // No write ever reaches the card.
        let problem = CardProblem::Lost;
        job.card.as_mut().unwrap().faults = vec![CardFault { transfer: 1, every: 1, problem }];
        let outcome = emulated::run_job(job).unwrap();
        let told = outcome.finish.fault.as_ref().map(|fault| fault.message.as_str());
        assert!(told.is_some_and(|told| told.contains("than were written")), "{told:?}");
        assert_eq!(outcome.given_up.len(), 2, "{}", console(&outcome));
    }
}

#[test]
fn a_card_that_stays_busy_is_given_up() {
    // What only reads never waits for it.
    let strategy = Strategy::Swap;
    for board in &boards() {
        let busy = |every, ns| {
            let problem = CardProblem::Busy { ns };
            CardFault { transfer: 1, every, problem }
        };
        let told = told(board, strategy, busy(1, u64::MAX));
        has_its_place(board, strategy, &told);
        // Less than half a second is no fault.
        let (outcome, expected) =
            run(board, &random_chain(SEED), strategy, &[busy(2, 300_000_000)]);
        assert_eq!(outcome.finish.fault, None, "{}", console(&outcome));
        assert!(says_all(&outcome, &expected), "{}", console(&outcome));
    }
}

#[test]
fn a_card_too_small_is_told() {
    let model = tilewright_zoo::network("mobilenet-v1-w0.25-r128").unwrap().int8().unwrap();
    for board in &boards() {
        let (mut job, _) = job(board, &model, Strategy::Swap);
        // The least that a card of high capacity can say of itself.
        job.card.as_mut().unwrap().bytes = 512 * 1024;
        let outcome = emulated::run_job(job).unwrap();
        let fault = outcome.finish.fault.unwrap();
        assert_eq!(fault.kind, FaultKind::Card);
        let told = fault.message;
        assert!(told.contains("it has 1024 sectors, the plan uses"), "{told}");
    }
}

#[test]
fn an_empty_slot_and_another_image_are_told_before_anything_runs() {
    let model = random_chain(SEED);
    for board in &boards() {
        let (mut job, _) = job(board, &model, Strategy::Swap);
        let card = job.card.take().unwrap();
        let said = |card: Option<CardJob>| {
            let outcome = emulated::run_job(Job { card, ..job.clone() }).unwrap();
            assert!(!console(&outcome).contains("ready"));
            let fault = outcome.finish.fault.unwrap();
            assert_eq!(fault.kind, FaultKind::Card);
            fault.message
        };
        let told = said(None);
        assert!(told.contains("no answer to CMD8"), "{told}");
        let mut other = card.clone();
        std::sync::Arc::make_mut(&mut other.image)[40] ^= 1;
        let told = said(Some(other));
        assert!(told.contains("header checksum differs"), "{told}");
        let told = said(Some(CardJob { image: Vec::new().into(), ..card.clone() }));
        assert!(told.contains("no store image"), "{told}");
    }
}

#[test]
fn predicted_times_are_those_of_the_emulated_board() {
    let each_way = [Integrity::Trusted, Integrity::Checked, Integrity::Sealed];
    let these = ["lenet5", "resnet8"].into_iter().flat_map(|name| each_way.map(|way| (name, way)));
    for (board, strategy, (name, integrity)) in each(&boards(), these) {
        let model = tilewright_zoo::network(name).unwrap().int8().unwrap();
        let options = Options { integrity, ..Options::default() };
        let predicted = plan(&model, board, strategy, &options).unwrap();
        let predicted = predicted.timeline.end().0;
        let job = made(board, &model, strategy, SEED, integrity).job;
        let emulated = emulated::run_job(job).unwrap().finish.invoke.cycles().0;
        let error = predicted.abs_diff(emulated);
        assert!(
            error * 20 <= emulated,
            "{name}, {strategy}, {}, {integrity:?}: {predicted} predicted, {emulated} emulated",
            board.id
        );
    }
}

#[test]
fn layers_that_go_through_their_rows_together_run_as_predicted() {
    let zoo = tilewright_zoo::network("mobilenet-v1-w1.0-r224").unwrap().int8().unwrap();
    let board = tilewright_board::find("stm32f746g-disco").unwrap();
    let options = Options::default();
    let planned = plan(&zoo, &board, Strategy::Stream, &options).unwrap();
    let predicted = planned.timeline.end().0;
    let Swapped { job, expected, .. } =
        made(&board, &zoo, Strategy::Stream, SEED, Integrity::Trusted);
    let outcome = emulated::run_job(job).unwrap();
    let said = console(&outcome);
    assert_eq!(outcome.finish.fault, None, "{said}");
    assert!(says_all(&outcome, &expected), "{said}");
    let emulated = outcome.finish.invoke.cycles().0;
    assert!(predicted.abs_diff(emulated) * 20 <= emulated, "{predicted}, emulated {emulated}");
}

/// A tower of which SRAM holds little, on a board.
fn tower(board: &Board, integrity: Integrity) -> Swapped {
    let model = random_tower(TOWER);
    let options = Options { integrity, sram: Some(TOWER_SRAM), ..Options::default() };
    let made = Swapped::with(Strategy::Stream, board, &model, SEED, &options).unwrap();
    assert!(made.plan.tensors.iter().any(|tensor| tensor.ring.is_some()));
    made
}

#[test]
fn layers_that_go_through_their_rows_together_are_right_or_told_whatever_goes_wrong() {
    let problems = [
        CardProblem::Removed,
        CardProblem::Checksum,
        CardProblem::Silent,
        CardProblem::Turned { bit: 3 },
        CardProblem::Garbled { bit: 3 },
    ];
    for board in &boards() {
        for integrity in [Integrity::Trusted, Integrity::Checked, Integrity::Sealed] {
            let tower = tower(board, integrity);
            let outcome = emulated::run_job(tower.job.clone()).unwrap();
            assert!(tower.is_said(&outcome), "{}", console(&outcome));
            if integrity == Integrity::Trusted {
                continue;
            }
            for (problem, every) in problems.into_iter().flat_map(|p| [(p, 0), (p, 2)]) {
                let mut job = tower.job.clone();
                let fault = CardFault { transfer: 2, every, problem };
                job.card.as_mut().unwrap().faults = vec![fault];
                let outcome = emulated::run_job(job).unwrap();
                let is_told = outcome.finish.fault.is_some();
                assert!(tower.is_said(&outcome) != is_told, "{fault:?}: {}", console(&outcome));
            }
        }
    }
}
