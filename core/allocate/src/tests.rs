//! Properties of the solvers, against the validator and brute force.

mod co_located;
mod overlaps;
mod repair;

use super::*;
use proptest::prelude::*;
use tilewright_plan::Bytes;

const BUDGET: u64 = 20_000_000;

fn any_buffer(times: u64, longest: u64, largest: u64) -> impl Strategy<Value = Buffer> {
    (0..times, 0..longest, 0..largest)
        .prop_map(|(first, length, bytes)| Buffer::new(first, first + length, Bytes(bytes)))
}

/// Buffers with alignments, gaps and regions now and then.
fn any_special_buffer() -> impl Strategy<Value = Buffer> {
    (any_buffer(5, 5, 6), 0u64..12, 0u64..12, 0u64..8).prop_map(|(mut buffer, kind, from, at)| {
        match kind {
            0..4 => buffer.alignment = 1 + kind,
            4 | 5 if buffer.end - buffer.first >= 3 => {
                buffer.gaps = vec![Gap { first: buffer.first + 1, end: buffer.end - 1 }];
            }
            6 => return buffer.at(at),
            7 => {
                let end = from + buffer.bytes.0 + at;
                buffer.region = Some(Region { start: from, end });
            }
            _ => {}
        }
        buffer
    })
}

/// The least height by trying all offsets; nothing if no placement is below `limit`.
fn brute_force(buffers: &[Buffer], limit: u64) -> Option<u64> {
    fn fits(buffers: &[Buffer], offsets: &mut Vec<u64>, height: u64) -> bool {
        let Some(buffer) = buffers.get(offsets.len()) else { return true };
        let used = buffer.bytes.0 > 0 && buffer.first < buffer.end;
        let top = if used { height } else { u64::MAX };
        for offset in 0..=32u64 {
            let inside =
                buffer.region.is_none_or(|r| r.start <= offset && offset + buffer.bytes.0 <= r.end);
            if !offset.is_multiple_of(buffer.alignment) || !inside || offset + buffer.bytes.0 > top
            {
                continue;
            }
            let apart = buffers.iter().zip(&*offsets).all(|(other, at)| {
                !(0..20).any(|time| {
                    let live = |b: &Buffer| {
                        b.first <= time
                            && time < b.end
                            && !b.gaps.iter().any(|gap| gap.first <= time && time < gap.end)
                    };
                    live(buffer) && live(other)
                }) || offset + buffer.bytes.0 <= *at
                    || at + other.bytes.0 <= offset
                    || buffer.bytes.0 == 0
                    || other.bytes.0 == 0
            });
            if apart {
                offsets.push(offset);
                if fits(buffers, offsets, height) {
                    return true;
                }
                offsets.pop();
            }
        }
        false
    }
    (0..limit).find(|height| fits(buffers, &mut Vec::new(), *height))
}

proptest! {
    #[test]
    fn the_validator_accepts_every_solution(
        buffers in proptest::collection::vec(any_buffer(20, 8, 100), 0..30),
    ) {
        let found = least(buffers.clone(), BUDGET).unwrap();
        prop_assert_eq!(validate(&buffers, &found.solution, None), Ok(()));
        prop_assert!(found.solution.height >= found.lower_bound);
        prop_assert!(found.lower_bound >= lower_bound(&buffers));
    }

    #[test]
    fn what_is_proved_least_is_what_brute_force_finds(
        buffers in proptest::collection::vec(any_buffer(6, 5, 6), 0..7),
    ) {
        let found = least(buffers.clone(), BUDGET).unwrap();
        prop_assert_eq!(found.solution.height, found.lower_bound);
        prop_assert_eq!(Some(found.solution.height.0), brute_force(&buffers, 40));
    }

    #[test]
    fn alignments_gaps_and_regions_are_proved_too(
        buffers in proptest::collection::vec(any_special_buffer(), 0..6),
    ) {
        prop_assume!(check(&buffers).is_ok());
        let expected = brute_force(&buffers, 60);
        match solve(buffers.clone(), Goal::Least, BUDGET).unwrap() {
            Answer::Solved { solution, lower_bound } => {
                prop_assert_eq!(validate(&buffers, &solution, None), Ok(()));
                prop_assert_eq!(solution.height, lower_bound);
                prop_assert_eq!(Some(solution.height.0), expected);
            }
            Answer::Infeasible(_) => prop_assert_eq!(expected, None),
            other => prop_assert!(false, "{other:?}"),
        }
    }

    #[test]
    fn fitting_and_the_least_height_agree(
        buffers in proptest::collection::vec(any_special_buffer(), 1..6),
        capacity in 0u64..24,
    ) {
        prop_assume!(check(&buffers).is_ok());
        let expected = brute_force(&buffers, 60);
        match solve(buffers.clone(), Goal::Fit(Bytes(capacity)), BUDGET).unwrap() {
            Answer::Solved { solution, .. } => {
                prop_assert_eq!(validate(&buffers, &solution, Some(Bytes(capacity))), Ok(()));
            }
            Answer::Infeasible(witness) => {
                prop_assert!(expected.is_none_or(|least| least > capacity), "{witness:?}");
                if let Witness::Live { time, bytes, buffers: live } = witness {
                    let lives = |i: &usize| buffers[*i].uses().any(|(f, e)| f <= time && time < e);
                    prop_assert!(live.iter().all(lives));
                    prop_assert_eq!(live.iter().map(|i| buffers[*i].bytes).sum::<Bytes>(), bytes);
                }
            }
            other => prop_assert!(false, "{other:?}"),
        }
    }

    #[test]
    fn the_validator_rejects_mutated_solutions(
        buffers in proptest::collection::vec(any_buffer(12, 8, 50), 2..20),
        which in any::<prop::sample::Index>(),
        onto in any::<prop::sample::Index>(),
    ) {
        let mut solution = least(buffers.clone(), BUDGET).unwrap().solution;
        let (a, b) = (which.index(buffers.len()), onto.index(buffers.len()));
        prop_assume!(a != b && buffers[a].meets(&buffers[b]));
        solution.offsets[a] = solution.offsets[b] + buffers[b].bytes.0 - 1;
        let solution = Solution::of(&buffers, solution.offsets);
        let rejected = matches!(validate(&buffers, &solution, None), Err(Fault::Overlap { .. }));
        prop_assert!(rejected);
    }

    #[test]
    fn sweeps_place_whatever_suits_them(
        buffers in proptest::collection::vec(any_special_buffer(), 0..30),
    ) {
        prop_assume!(problem::check(&buffers).is_ok());
        let simple: Vec<Buffer> =
            buffers.into_iter().filter(|b| sweep::suits(std::slice::from_ref(b))).collect();
        for way in sweep::SWEEPS {
            let found = sweep::place(&simple, way, &mut 0);
            prop_assert_eq!(validate(&simple, &found, None), Ok(()));
        }
    }

    #[test]
    fn slices_of_work_change_nothing(
        buffers in proptest::collection::vec(any_buffer(30, 20, 1000), 10..40),
        slice in 1u64..5_000,
    ) {
        let whole = solve(buffers.clone(), Goal::Least, 3_000_000).unwrap();
        let mut search = Search::new(buffers, Goal::Least).unwrap();
        while search.units() < 6_000_000 && search.advance(slice) == Progress::Working {}
        if let Answer::Solved { .. } = whole {
            prop_assert_eq!(search.answer(Stop::Spent), whole);
        }
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

#[test]
fn what_cannot_fit_names_who_is_live() {
    let buffers = vec![
        Buffer::new(0, 4, Bytes(10)),
        Buffer::new(2, 6, Bytes(20)),
        Buffer::new(6, 9, Bytes(25)),
    ];
    let answer = solve(buffers, Goal::Fit(Bytes(29)), BUDGET).unwrap();
    let witness = Witness::Live { time: 2, bytes: Bytes(30), buffers: vec![0, 1] };
    assert_eq!(answer, Answer::Infeasible(witness));
}

/// A problem whose least height, 6, is above its largest sum of live bytes, 5.
fn above_its_bound() -> Vec<Buffer> {
    let rows = [(0, 3, 2), (5, 8, 3), (1, 5, 2), (3, 5, 1), (4, 7, 2), (1, 4, 1), (0, 1, 3)];
    rows.map(|(first, end, bytes)| Buffer::new(first, end, Bytes(bytes))).to_vec()
}

#[test]
fn a_height_above_the_live_bytes_is_proved() {
    let buffers = above_its_bound();
    assert_eq!(lower_bound(&buffers), Bytes(5));
    assert_eq!(brute_force(&buffers, 10), Some(6));
    let found = least(buffers.clone(), BUDGET).unwrap();
    assert_eq!((found.solution.height, found.lower_bound), (Bytes(6), Bytes(6)));
    let answer = solve(buffers, Goal::Fit(Bytes(5)), BUDGET).unwrap();
    assert!(matches!(answer, Answer::Infeasible(Witness::Exhausted { .. })), "{answer:?}");
}

#[test]
fn spent_and_cancelled_are_different_answers() {
    let buffers = above_its_bound();
    let search = Search::new(buffers.clone(), Goal::Least).unwrap();
    assert!(matches!(search.answer(Stop::Cancelled), Answer::Cancelled { best: None, .. }));
    let search = Search::new(buffers, Goal::Least).unwrap();
    assert!(matches!(search.answer(Stop::Spent), Answer::Spent { best: None, .. }));
}

#[test]
fn ten_thousand_buffers_are_answered_within_the_budget() {
    let buffers: Vec<Buffer> = (0..10_000u64)
        .map(|i| {
            let (first, length) = (i * 7919 % 10_000, 1 + i * 104_729 % 3_000);
            Buffer::new(first, first + length, Bytes(16 * (1 + i * 31 % 997)))
        })
        .collect();
    let mut search = Search::new(buffers.clone(), Goal::Least).unwrap();
    search.advance(100_000_000);
    assert!(search.units() < 300_000_000);
    let best = search.best().unwrap();
    assert_eq!(validate(&buffers, &best, None), Ok(()));
    let bound = search.lower_bound();
    assert!(best.height.0 < bound.0 * 105 / 100, "{:?} above {bound:?}", best.height);
}

#[test]
fn senseless_problems_are_refused() {
    let fine = Buffer::new(0, 4, Bytes(8));
    let with = |b: Buffer| check(&[fine.clone(), b]).unwrap_err().buffer();
    assert_eq!(with(Buffer::new(3, 2, Bytes(1))), Some(1));
    assert_eq!(with(fine.clone().aligned(0)), Some(1));
    assert_eq!(with(Buffer::new(0, 1, Bytes(u64::MAX))), Some(1));
    assert_eq!(with(fine.clone().at(u64::MAX - 3)), Some(1));
    assert_eq!(with(fine.clone().aligned(16).at(8)), Some(1));
    let gap = |first, end| Buffer { gaps: vec![Gap { first, end }], ..fine.clone() };
    assert_eq!(with(gap(2, 2)), Some(1));
    assert_eq!(with(gap(2, 5)), Some(1));
    assert_eq!(check(&[gap(1, 2), gap(0, 4)]), Ok(()));
}

#[test]
fn files_come_back_as_they_were_written() {
    let text = "id,lower,upper,size,alignment,gaps\na,0,9,4,4,2-3 5-7\nb,3,9,4,1,\n";
    let table = csv::read(text).unwrap();
    assert_eq!(table.buffers[0].gaps, [Gap { first: 2, end: 3 }, Gap { first: 5, end: 7 }]);
    assert_eq!(csv::write(&table, None), text);
    // Where the last point in time of use is given instead of the first without.
    let inclusive = "buffer,start,end,size,gaps\na,0,8,4,2-2 5-6\nb,3,8,4,\n";
    let same = csv::read(inclusive).unwrap();
    assert_eq!(same.buffers[0].gaps, table.buffers[0].gaps);
    assert_eq!(same.buffers[1], table.buffers[1]);
}

#[test]
fn any_text_is_read_or_refused() {
    let pieces =
        ["id", "lower", "upper", "size", ",", "\n", "-1", "0", "7", "x", "gaps", "3-", "@"];
    let mut state = 1u64;
    for _ in 0..20_000 {
        let mut text = String::from("id,lower,upper,size,gaps\n");
        for _ in 0..12 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            text.push_str(pieces[(state >> 33) as usize % pieces.len()]);
        }
        if let Ok(table) = csv::read(&text) {
            assert_eq!(check(&table.buffers), Ok(()));
        }
    }
}
