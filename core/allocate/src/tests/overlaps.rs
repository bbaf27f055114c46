//! Buffers that may overlap, against the validator and brute force.

use super::super::*;
use proptest::prelude::*;
use tilewright_plan::Bytes;

const BUDGET: u64 = 20_000_000;

/// A chain of buffers, each read while the next is written, and some that live beside it.
fn any_chain(longest: usize, largest: u64) -> impl Strategy<Value = (Vec<Buffer>, Vec<Overlap>)> {
    let link = (1..=largest, 1..=largest, 1..=largest, any::<bool>());
    let beside = (0u64..6, 1u64..5, 1..=largest);
    (proptest::collection::vec(link, 1..longest), proptest::collection::vec(beside, 0..3)).prop_map(
        |(links, beside)| {
            let life = |time: usize, bytes: &u64| {
                let time = time as u64;
                Buffer::new(time.saturating_sub(1), time + 1, Bytes(*bytes))
            };
            let mut buffers: Vec<Buffer> =
                links.iter().enumerate().map(|(time, link)| life(time, &link.0)).collect();
            let overlaps = links
                .windows(2)
                .enumerate()
                .filter(|(_, pair)| pair[0].3)
                .map(|(first, pair)| Overlap {
                    buffers: [first, first + 1],
                    above: pair[0].1.min(pair[0].0),
                    below: pair[0].2.min(pair[1].0),
                })
                .collect();
            buffers.extend(
                beside.iter().map(|(first, long, b)| Buffer::new(*first, first + long, Bytes(*b))),
            );
            (buffers, overlaps)
        },
    )
}

/// The least height by trying all offsets.
fn brute_force(buffers: &[Buffer], overlaps: &[Overlap]) -> u64 {
    fn apart(
        buffers: &[Buffer],
        overlaps: &[Overlap],
        offsets: &[u64],
        a: usize,
        b: usize,
    ) -> bool {
        let least = |low: usize, high: usize| {
            let mut lags = overlaps.iter().filter_map(|overlap| overlap.apart(low, high));
            lags.next().unwrap_or(buffers[low].bytes.0)
        };
        let (first, second) = (offsets[a], offsets[b]);
        !buffers[a].meets(&buffers[b])
            || second >= first && second - first >= least(a, b)
            || first >= second && first - second >= least(b, a)
    }
    fn fits(buffers: &[Buffer], overlaps: &[Overlap], offsets: &mut Vec<u64>, height: u64) -> bool {
        let at = offsets.len();
        let Some(buffer) = buffers.get(at) else { return true };
        for offset in 0..=height.saturating_sub(buffer.bytes.0) {
            offsets.push(offset);
            let fine = buffer.bytes.0 <= height
                && (0..at).all(|other| apart(buffers, overlaps, offsets, other, at));
            if fine && fits(buffers, overlaps, offsets, height) {
                return true;
            }
            offsets.pop();
        }
        false
    }
    (0..).find(|height| fits(buffers, overlaps, &mut Vec::new(), *height)).unwrap()
}

proptest! {
    #[test]
    fn the_validator_accepts_every_solution((buffers, overlaps) in any_chain(12, 40)) {
        let found = least_sharing(buffers.clone(), overlaps.clone(), BUDGET).unwrap();
        let fault = validate_sharing(&buffers, &overlaps, &found.solution, None);
        prop_assert_eq!(fault, Ok(()));
        prop_assert!(found.solution.height >= found.lower_bound);
        prop_assert!(found.lower_bound >= lower_bound_sharing(&buffers, &overlaps));
        let apart = least(buffers, BUDGET).unwrap();
        prop_assert!(found.solution.height <= apart.solution.height);
    }

    #[test]
    fn the_height_is_the_least_there_is((buffers, overlaps) in any_chain(5, 5)) {
        let found = least_sharing(buffers.clone(), overlaps.clone(), BUDGET).unwrap();
        let least = brute_force(&buffers, &overlaps);
        prop_assert_eq!(found.solution.height.0, least);
        prop_assert_eq!(found.lower_bound.0, least);
    }
}

#[test]
fn the_validator_refuses_a_distance_that_is_too_small() {
    let buffers = vec![Buffer::new(0, 2, Bytes(10)), Buffer::new(1, 3, Bytes(8))];
    let overlaps = [Overlap { buffers: [0, 1], above: 3, below: 2 }];
    let at = |offsets: [u64; 2]| {
        let solution = Solution::of(&buffers, offsets.to_vec());
        validate_sharing(&buffers, &overlaps, &solution, None).is_ok()
    };
    assert!(at([0, 3]) && at([2, 0]) && at([0, 10]));
    assert!(!at([0, 2]) && !at([1, 0]) && !at([0, 0]));
}

#[test]
fn a_chain_takes_its_widest_pair_and_the_lag() {
    let buffers = vec![Buffer::new(0, 1, Bytes(32)), Buffer::new(0, 2, Bytes(64))];
    let overlaps = vec![Overlap { buffers: [0, 1], above: 4, below: 36 }];
    let found = least_sharing(buffers, overlaps, BUDGET).unwrap();
    assert_eq!((found.solution.height, found.lower_bound), (Bytes(68), Bytes(68)));
}
