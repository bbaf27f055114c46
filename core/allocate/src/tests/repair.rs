//! Placements made lower piece by piece.

use super::super::fit::Fit;
use super::super::repair::{Repair, Step};
use super::super::sweep;
use super::*;

proptest! {
    #[test]
    fn a_repair_stays_valid_and_never_gets_higher(
        buffers in proptest::collection::vec((any_buffer(200, 30, 90), 1u64..4), 1..150),
    ) {
        let buffers: Vec<Buffer> =
            buffers.into_iter().map(|(buffer, alignment)| buffer.aligned(alignment)).collect();
        let begun = sweep::place(&buffers, (false, Fit::Best), &mut 0);
        let least = lower_bound(&buffers);
        let mut height = begun.height;
        let mut repair = Repair::new(begun);
        let mut work = 0;
        loop {
            let step = repair.advance(&buffers, least, &mut work);
            prop_assert_eq!(validate(&buffers, repair.best(), None), Ok(()));
            prop_assert!(repair.best().height <= height && work < 1_000_000_000);
            height = repair.best().height;
            if step == Step::Done {
                break;
            }
        }
    }
}

/// Blocks of two sizes that come and go: a sweep leaves holes that the larger do not fit in.
#[test]
fn what_a_sweep_leaves_is_mended() {
    let bytes = |n: u64| Bytes(if n.is_multiple_of(3) { 70 } else { 30 + n * 7919 % 17 });
    let life = |n: u64| (2 * n, 2 * n + 9 + n * 104_729 % 23);
    let buffers: Vec<Buffer> =
        (0..400).map(|n| Buffer::new(life(n).0, life(n).1, bytes(n))).collect();
    let begun = sweep::place(&buffers, (false, Fit::First), &mut 0);
    let (before, least) = (begun.height.0, lower_bound(&buffers));
    let mut repair = Repair::new(begun);
    while repair.advance(&buffers, least, &mut 0) != Step::Done {}
    let after = repair.best().height.0;
    assert!((after - least.0) * 2 < before - least.0, "{least}: {before}, then {after}");
}
