//! Networks stacked from published cells run on a board in the emulator, each layer bit-equal.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use tilewright_planner::{Options, Strategy};
use tilewright_tests::emulated;
use tilewright_tests::random_model::random_inputs;
use tilewright_zoo::cells::published::Published;
use tilewright_zoo::{Stack, of_genotype};

/// Has firmware, and flash and SRAM for all small ones.
const BOARD: &str = "nucleo-f767zi";

#[test]
fn the_six_published_genotypes_are_bit_equal() {
    let boards = emulated::boards();
    let board = boards.iter().find(|board| board.id == BOARD).unwrap();
    let stack = Stack { cells: 8, channels: 8, resolution: 16, ..Stack::CIFAR_10 };
    for published in Published::ALL {
        let model = of_genotype(&published.genotype(), &stack).unwrap().int8().unwrap();
        let (inputs, options) = (random_inputs(&model, 3), Options::default());
        for strategy in [Strategy::Resident, Strategy::Auto] {
            let what = format!("{}, {strategy}", published.name());
            let run = emulated::run_frames_with(&model, board, strategy, &inputs, 1, &options);
            let run = run.unwrap_or_else(|error| panic!("{what}: {error}"));
            assert_eq!(run.outcome.finish.fault, None, "{what}");
            assert_eq!(run.mismatch, None, "{what}");
        }
    }
}
