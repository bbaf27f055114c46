//! Changed plan images: an error or a run, never a panic.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::fs;
use std::path::Path;

use tilewright_plan::Bytes;
use tilewright_plan::image::{Header, IoRecord, SectionRecord};
use tilewright_planner::{Options, Strategy};
use tilewright_tests::hostile::image::{ARENA_BYTES, put_checksums_right, read_and_run};
use tilewright_tests::random_model::random_model;
use zerocopy::FromBytes;

const BOARD: &str = "stm32f746g-disco";

/// An image of a plan in SRAM, of one that swaps to a card, whose tables hold loops, or of one of several frames.
fn image(seed: u64) -> Vec<u8> {
    let model = random_model(seed);
    let board = tilewright_board::find(BOARD).unwrap();
    let strategies = [Strategy::Resident, Strategy::Swap, Strategy::Stream];
    let strategy = strategies[seed as usize % strategies.len()];
    let sram = Some(Bytes(ARENA_BYTES as u64));
    let frames = if strategy == Strategy::Stream { 2 } else { 1 };
    let frames = frames.try_into().unwrap();
    let options = Options { sram, frames, ..Options::default() };
    let planned = tilewright_planner::plan(&model, &board, strategy, &options).unwrap();
    tilewright_image::plan_image(&planned.plan, &model).unwrap()
}

#[test]
fn unchanged_images_run() {
    for seed in 0..20 {
        assert!(read_and_run(&image(seed), BOARD), "image {seed}");
    }
}

#[test]
fn changed_images_with_right_checksums_never_panic() {
    let mut rng = fastrand::Rng::with_seed(2);
    let (mut let_through, mut refused) = (0, 0);
    for seed in 0..60 {
        let image = image(seed);
        // Weights fill most of an image; the tables before them are what can go wrong.
        let tables = image.len().min(4096);
        for _ in 0..200 {
            let mut wrong = image.clone();
            for _ in 0..rng.usize(1..4) {
                let at = rng.usize(..tables);
                wrong[at] = [rng.u8(..), 0, 0xff, wrong[at] ^ 1, wrong[at] ^ 0x80][rng.usize(..5)];
            }
            put_checksums_right(&mut wrong);
            if read_and_run(&wrong, BOARD) {
                let_through += 1;
            } else {
                refused += 1;
            }
        }
    }
    assert!(let_through > 1000 && refused > 1000, "{let_through} let through, {refused} refused");
}

#[test]
fn cut_and_empty_images_are_refused() {
    let image = image(5);
    for length in (0..image.len()).step_by(7) {
        assert!(!read_and_run(&image[..length], BOARD), "{length} bytes");
    }
}

#[test]
fn labels_that_inputs_and_outputs_share_are_refused() {
    let mut image = image(0);
    let inputs_and_outputs = size_of::<Header>() + 7 * size_of::<SectionRecord>();
    let (record, _) = SectionRecord::read_from_prefix(&image[inputs_and_outputs..]).unwrap();
    let start = record.offset as usize;
    let records = &mut image[start..start + record.bytes as usize];
    for record in records.chunks_exact_mut(size_of::<IoRecord>()) {
        // The first label is the first name, and there is one.
        record[12..16].copy_from_slice(&[0, 0, 1, 0]);
    }
    put_checksums_right(&mut image);
    assert!(!read_and_run(&image, BOARD));
}

#[test]
fn the_fuzzers_corpus_never_panics() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus/plan_image");
    let files = fs::read_dir(&folder).unwrap();
    let (mut count, mut accepted) = (0, 0);
    for file in files {
        let mut bytes = fs::read(file.unwrap().path()).unwrap();
        read_and_run(&bytes, BOARD);
        put_checksums_right(&mut bytes);
        accepted += usize::from(read_and_run(&bytes, BOARD));
        count += 1;
    }
    // A corpus of another version or ABI would be refused by its header, and try nothing.
    assert!(accepted > count / 4, "{accepted} of {count} files in {} are read", folder.display());
}
