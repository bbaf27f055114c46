//! Placement along time that co-locates lifetimes.

use super::super::co_located::{self, MANNERS};
use super::*;

/// Inputs that die one after the other while results come to be that stay: as high as what lives,
/// if the inputs are stacked up by their deaths, and the results down.
#[test]
fn two_stacks_grow_towards_each_other() {
    let count = 300;
    let bytes = |number: u64| Bytes(number * 7919 % 97 + 10);
    let inputs = (0..count).map(|n| Buffer::new(0, 2 * n + 2, bytes(n)));
    let results = (0..count).map(|n| Buffer::new(2 * n + 2, 2 * count + 2, bytes(n)));
    let buffers: Vec<Buffer> = inputs.chain(results).collect();
    let least = lower_bound(&buffers);
    let heights = MANNERS.map(|manner| {
        let found = co_located::place(&buffers, manner, least.0, &mut 0);
        assert_eq!(validate(&buffers, &found, None), Ok(()));
        found.height
    });
    assert_eq!(heights.iter().min(), Some(&least));
}

proptest! {
    #[test]
    fn every_manner_keeps_buffers_apart_and_aligned(
        buffers in proptest::collection::vec((any_buffer(20, 9, 60), 1u64..6), 0..40),
        ceiling in 0u64..300,
    ) {
        let buffers: Vec<Buffer> =
            buffers.into_iter().map(|(buffer, alignment)| buffer.aligned(alignment)).collect();
        for manner in MANNERS {
            let found = co_located::place(&buffers, manner, ceiling, &mut 0);
            prop_assert_eq!(validate(&buffers, &found, None), Ok(()));
        }
    }
}
