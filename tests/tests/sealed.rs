//! Programs whose swapped tiles are encrypted, on the emulated board: what lies on the card tells nothing, and
//! whatever was changed, moved or kept from there is told.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use tilewright_board::Board;
use tilewright_check::reference::layer_outputs;
use tilewright_model::Model;
use tilewright_plan::{Instruction, Plan, SectorChecksums, Space, Span};
use tilewright_planner::Integrity;
use tilewright_protocol::{CardProblem, Watch};
use tilewright_tests::emulated;
use tilewright_tests::random_model::{random_chain, random_inputs, random_model};
use tilewright_tests::swapped::{Swapped, boards, console};

const SEED: u64 = 9;

fn network(name: &str) -> Model {
    tilewright_zoo::network(name).unwrap().int8().unwrap()
}

fn sealed(board: &Board, model: &Model, seed: u64) -> Swapped {
    let sealed = Swapped::new(board, model, seed, Integrity::Sealed).unwrap();
    assert!(sealed.plan.sector_checksums.is_some_and(|checksums| checksums.sealed));
    sealed
}

#[test]
fn what_is_sealed_gives_the_bytes_of_the_reference() {
    let models = [random_chain(SEED), random_model(4), network("lenet5"), network("resnet8")];
    for board in &boards() {
        for (model, seed) in models.iter().zip(SEED..) {
            let sealed = sealed(board, model, seed);
            let mut job = sealed.job.clone();
            // More than one frame with the same key, and the same places.
            job.frames = job.frames.iter().cycle().take(3).cloned().collect();
            let outcome = emulated::run_job(job).unwrap();
            let said = format!("{} on {}: {}", model.name, board.id, console(&outcome));
            assert_eq!(outcome.finish.fault, None, "{said}");
            assert!(sealed.is_said(&outcome), "{said}");
            assert_eq!(outcome.finish.unknown_registers, [], "{said}");
        }
    }
}

/// What the card held of each layer's output when it was complete, and what the layer computed.
fn on_card(sealed: &Swapped, model: &Model) -> Vec<(Vec<u8>, Vec<u8>)> {
    // Whoever has no keys looks at them as if they lay there as they are.
    let plain = Plan { sector_checksums: None, ..sealed.plan.clone() };
    let outputs: Vec<_> =
        layer_outputs(&plain).into_iter().filter(|output| output.space == Space::Card).collect();
    let mut job = sealed.job.clone();
    let watch = |output: &tilewright_check::reference::LayerOutput| Watch {
        lane: output.lane,
        step: output.step,
        on_card: true,
        address: output.offset as u32,
        rows: 1,
        row_bytes: output.bytes as u32,
        pitch: output.bytes as u32,
    };
    job.watches = outputs.iter().map(watch).collect();
    let outcome = emulated::run_job(job).unwrap();
    assert!(sealed.is_said(&outcome), "{}", console(&outcome));
    let inputs = random_inputs(model, SEED);
    let expected = tilewright_check::reference::expected(&sealed.plan, model, &inputs).unwrap();
    let found = outputs.iter().zip(&outcome.watched).map(|(output, held)| {
        let computed: Vec<u8> =
            expected.layers[output.layer as usize].iter().map(|v| v.cast_unsigned()).collect();
        (held.clone().unwrap(), computed)
    });
    found.collect()
}

/// How many of the bytes of two lists are the same: of noise, one of 256.
fn alike(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).filter(|(one, other)| one == other).count()
}

#[test]
fn what_lies_on_the_card_is_neither_weights_nor_activations() {
    let model = network("resnet8");
    let board = &boards()[0];
    let plain = Swapped::new(board, &model, SEED, Integrity::Checked).unwrap();
    let sealed = sealed(board, &model, SEED);
    let images = [&plain, &sealed].map(|swapped| &swapped.job.card.as_ref().unwrap().image);
    assert_eq!(images[0].len(), images[1].len());
    // Behind the header. Of zeros that nobody brings there are few.
    let bytes = images[0].len() - 512;
    assert!(alike(&images[0][512..], &images[1][512..]) < bytes / 100);
    let layers = on_card(&sealed, &model);
    assert!(layers.len() >= 5, "{}", layers.len());
    for (held, computed) in layers {
        assert!(computed.len() < 512 || alike(&held, &computed) < computed.len() / 50);
    }
}

#[test]
fn a_wrong_bit_is_read_again_computed_again_or_told() {
    for board in &boards() {
        let sealed = sealed(board, &network("lenet5"), SEED);
        for (transfer, reads) in (0..).zip(sealed.reads()).skip(1) {
            if reads {
                let outcome = sealed.run_with(transfer, CardProblem::Garbled { bit: 3 }).unwrap();
                assert_eq!(outcome.finish.fault, None, "{transfer}: {}", console(&outcome));
                assert!(sealed.is_said(&outcome), "{transfer}: {}", console(&outcome));
            }
            let outcome = sealed.run_with(transfer, CardProblem::Turned { bit: 3 }).unwrap();
            sealed.is_mended_or_told(&outcome, &format!("a bit of transfer {transfer}"));
        }
    }
}

#[test]
fn a_tile_that_comes_from_elsewhere_is_never_taken() {
    for board in &boards() {
        let sealed = sealed(board, &network("lenet5"), SEED);
        let astray = CardProblem::Astray { sectors: 1 };
        for (transfer, reads) in (0..).zip(sealed.reads()).skip(1) {
            let outcome = sealed.run_with(transfer, astray).unwrap();
            // What was read once from there is read again, what was written there is computed again.
            assert_eq!(outcome.given_up.is_empty(), reads, "{transfer}: {}", console(&outcome));
            assert_eq!(outcome.finish.fault, None, "{transfer}: {}", console(&outcome));
            assert!(sealed.is_said(&outcome), "{transfer}: {}", console(&outcome));
        }
    }
}

#[test]
fn a_tile_of_an_older_frame_is_never_taken() {
    for board in &boards() {
        let sealed = sealed(board, &network("lenet5"), SEED);
        let reads = sealed.reads();
        let frame = reads.len() as u64 - 1;
        for (transfer, _) in (0..).zip(&reads).skip(1).filter(|(_, reads)| !**reads) {
            // Of the second frame, whose input is the first one's: what the write leaves is the very tile,
            // but sealed before.
            let mut sealed = sealed.clone();
            sealed.job.frames = sealed.job.frames.iter().cycle().take(2).cloned().collect();
            let outcome = sealed.run_with(frame + transfer, CardProblem::Lost).unwrap();
            sealed.is_mended_or_told(&outcome, &format!("a lost write, transfer {transfer}"));
        }
    }
}

#[test]
fn a_plan_that_leaves_something_open_is_refused() {
    let (board, model) = (&boards()[0], network("lenet5"));
    let plan = sealed(board, &model, SEED).plan;
    let refused = |plan: &Plan| tilewright_check::check(plan, &model, board).unwrap_err();
    let checksums = plan.sector_checksums.unwrap();
    let with = |checksums| Plan { sector_checksums: Some(checksums), ..plan.clone() };
    // Tags are five times as long as checksums, and lie behind those of other sectors.
    let fewer = with(SectorChecksums { sectors: checksums.sectors - 1, ..checksums });
    assert!(refused(&fewer).to_string().contains("have no checksum"));
    let over = with(SectorChecksums { offset: 0, ..checksums });
    assert!(refused(&over).to_string().contains("lies over"));
    // What the card's lane brings to rows with gaps cannot be decrypted in one run.
    let mut gaps = plan.clone();
    let steps = gaps.main.as_ref().unwrap().lanes[1].steps.iter();
    let spans = steps.filter_map(|step| match step.instruction {
        Instruction::Copy { source, destination, .. } => Some([source, destination]),
        _ => None,
    });
    let is_large = |span: &Span| {
        let place = u64::from(span.offset);
        span.space() == Some(Space::Card)
            && place < u64::from(checksums.first) * 512
            && span.row_bytes >= 1024
    };
    let spans: Vec<_> = spans.filter(|[from, _]| is_large(&plan.spans[*from as usize])).collect();
    for [_, to] in spans {
        let span = &mut gaps.spans[to as usize];
        (span.rows, span.pitch) = (2, span.row_bytes);
        span.row_bytes /= 2;
    }
    assert!(refused(&gaps).to_string().contains("is not sealed"), "{}", refused(&gaps));
}
