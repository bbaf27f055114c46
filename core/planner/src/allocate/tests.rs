//! Properties of the solvers, against the validator and brute force.

use super::*;
use proptest::prelude::*;
use tilewright_plan::Bytes;

const BUDGET: u64 = 20_000_000;

fn any_buffer(times: u64, longest: u64, largest: u64) -> impl Strategy<Value = Buffer> {
    (0..times, 0..longest, 0..largest)
        .prop_map(|(first, length, bytes)| Buffer::new(first, first + length, Bytes(bytes)))
}

proptest! {
    #[test]
    fn the_validator_accepts_every_solution(
        buffers in proptest::collection::vec(any_buffer(20, 8, 100), 0..30),
    ) {
        let found = least(buffers.clone(), BUDGET).unwrap();
        prop_assert_eq!(validate(&buffers, &found.solution, None), Ok(()));
        prop_assert!(found.solution.height >= found.lower_bound);
    }
}

#[test]
fn a_chain_needs_its_two_largest_neighbours() {
    let sizes = [1024, 4704, 1176, 1600, 400];
    let buffers: Vec<Buffer> = (0u64..)
        .zip(sizes)
        .map(|(i, bytes)| Buffer::new(i.saturating_sub(1), i + 1, Bytes(bytes)))
        .collect();
    assert_eq!(lower_bound(&buffers), Bytes(4704 + 1176));
    assert_eq!(least(buffers, BUDGET).unwrap().solution.height, Bytes(4704 + 1176));
}
