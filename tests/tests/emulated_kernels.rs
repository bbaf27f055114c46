//! Single layers at the edges of what kernels are made for, on each core: bit-equal to the reference.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeSet;

use tilewright_board::CoreKind;
use tilewright_planner::Strategy;
use tilewright_tests::emulated;
use tilewright_tests::random_model::extreme_layer;

const LAYERS: u64 = 60;

#[test]
fn layers_at_the_edges_are_bit_equal_on_every_core() {
    let boards = emulated::with_small(emulated::of_every_core());
    assert!(boards.iter().filter(|board| board.small().is_none()).count() >= 2, "small kernels");
    let cores: BTreeSet<&str> = boards.iter().map(|board| board.core.kind.id()).collect();
    for core in [CoreKind::CortexM4, CoreKind::CortexM7, CoreKind::CortexM33] {
        assert!(cores.contains(core.id()), "no board runs {}", core.id());
    }
    let mut wrong = Vec::new();
    for seed in 0..LAYERS {
        let (model, inputs) = extreme_layer(seed);
        for board in &boards {
            let what = format!("{} on {}", model.name, board.id);
            let run = emulated::run(&model, board, Strategy::Resident, &inputs)
                .unwrap_or_else(|e| panic!("{what}: {e}"));
            assert_eq!(run.outcome.finish.fault, None, "{what}");
            if let Some(mismatch) = run.mismatch {
                wrong.push(format!("{what}: {mismatch:?}, {:?}", model.nodes));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
