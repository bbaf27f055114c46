//! Makes [`super::Packed`] tables.

use alloc::vec;
use alloc::vec::Vec;

use super::packed::{Run, words_of};
use zerocopy::{Immutable, IntoBytes};

/// Longest period that is looked for.
const LONGEST_PERIOD: usize = 64;
/// Bytes that a run with turns must save: its records are computed while a network runs, and tables
/// of plans without long loops are small anyway.
const WORTH: usize = 256;

/// The section of a table.
///
/// Records are taken from the first on: of all periods the one that saves most, if that is worth a
/// run of its own.
#[must_use]
pub fn pack<T: IntoBytes + Immutable>(records: &[T]) -> Vec<u8> {
    let width = size_of::<T>() / 4;
    let words: Vec<u32> = records
        .as_bytes()
        .as_chunks::<4>()
        .0
        .iter()
        .map(|bytes| u32::from_le_bytes(*bytes))
        .collect();
    let words = words.as_slice();
    let record = |index: usize| words.get(index * width..(index + 1) * width).unwrap_or(&[]);
    let count = records.len();
    let best = longest(words, width, count);
    let mut runs = Vec::new();
    // First record of what no run has taken.
    let mut plain = 0;
    let mut at = 0;
    while at < count {
        let Some(Loop { saved, period }) = best[at] else {
            at += 1;
            continue;
        };
        if plain < at {
            runs.push((plain, at - plain, at - plain));
        }
        let length = saved + 2 * period;
        runs.push((at, length, period));
        at += length;
        plain = at;
    }
    if plain < count {
        runs.push((plain, count - plain, count - plain));
    }
    let mut out: Vec<u32> = vec![number(count), number(runs.len())];
    let mut word = 0;
    for (first, length, period) in &runs {
        out.extend([*first, word, *period].map(number));
        word += words_of(*length, *period, width);
    }
    for (first, length, period) in runs {
        let own = (first..first + period).flat_map(&record);
        out.extend(own);
        if length > period {
            for index in first..first + period {
                let (own, next) = (record(index), record(index + period));
                out.extend(own.iter().zip(next).map(|(word, next)| next.wrapping_sub(*word)));
            }
        }
    }
    out.as_bytes().to_vec()
}

/// A number of records or words as it stands in a table.
#[expect(
    clippy::cast_possible_truncation,
    reason = "an image's tables have at most MOST_RECORDS records; of longer ones, which no image \
              gets, only the length is asked for"
)]
const fn number(value: usize) -> u32 {
    value as u32
}

/// Records that repeat: from the third turn on their steps are those of the second.
#[derive(Clone, Copy)]
struct Loop {
    /// Records behind the second turn.
    saved: usize,
    /// Records of a turn.
    period: usize,
}

/// The loop that begins with each record: the one that saves most, of equal ones that of the shortest period; nothing
/// if none is worth a run of its own.
fn longest(words: &[u32], width: usize, count: usize) -> Vec<Option<Loop>> {
    // A run of its own costs its record and, often, that of what comes after.
    let costs = 2 * size_of::<Run>() + WORTH;
    let enough = costs / (4 * width.max(1)) + 1;
    let record = |index: usize| &words[index * width..(index + 1) * width];
    let is_alike = |turns: [usize; 3]| {
        let [first, second, third] = turns.map(record);
        let steps = first.iter().zip(second).zip(third);
        steps.into_iter().all(|((first, second), third)| {
            third.wrapping_sub(*second) == second.wrapping_sub(*first)
        })
    };
    // Steps of records that are alike have sums that are, whatever each word is multiplied with.
    let sum = |record: &[u32]| {
        record.iter().fold(0u32, |sum, word| sum.wrapping_mul(0x9e37_79b1).wrapping_add(*word))
    };
    let sums: Vec<u32> = (0..count).map(|index| sum(record(index))).collect();
    let mut longest: Vec<Option<Loop>> = vec![None; count];
    for period in 1..=LONGEST_PERIOD {
        let turns = sums.get(period..).zip(sums.get(2 * period..));
        let Some((second, third)) = turns else { break };
        let mut saved = 0;
        for (at, ((first, second), third)) in sums.iter().zip(second).zip(third).enumerate().rev() {
            let may_be = third.wrapping_sub(*second) == second.wrapping_sub(*first);
            let turns = [at, at + period, at + 2 * period];
            saved = if may_be && is_alike(turns) { saved + 1 } else { 0 };
            if saved >= enough && longest[at].is_none_or(|other| other.saved < saved) {
                longest[at] = Some(Loop { saved, period });
            }
        }
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::AlignedBytes;
    use crate::image::packed::{MOST_RECORDS, Packed};
    use crate::view::Span;
    use proptest::prelude::*;

    fn span(words: [u32; 4], space: u8) -> Span {
        let [offset, rows, row_bytes, pitch] = words;
        Span { offset, rows, row_bytes, pitch, space, reserved: [0; 3] }
    }

    fn unpacked(section: &[u8]) -> Option<Vec<Span>> {
        let aligned = AlignedBytes::copy_of(section);
        let packed = Packed::<Span>::read(aligned.bytes())?;
        Some(packed.iter().collect())
    }

    /// A loop of some records, each with steps of its own, or records without any order.
    fn piece() -> impl Strategy<Value = Vec<Span>> {
        let words = any::<([u32; 4], u8)>();
        let looped = (prop::collection::vec((words, any::<[u32; 4]>()), 1..9), 0usize..60);
        let looped = looped.prop_map(|(body, length)| {
            let turn = |index: usize| {
                let ((words, space), steps) = body[index % body.len()];
                let turns = u32::try_from(index / body.len()).unwrap();
                let at = |i: usize| words[i].wrapping_add(steps[i].wrapping_mul(turns));
                span([at(0), at(1), at(2), at(3)], space)
            };
            (0..length).map(turn).collect()
        });
        let plain = prop::collection::vec(words, 0..12);
        let plain = plain.prop_map(|all| all.into_iter().map(|(w, s)| span(w, s)).collect());
        prop_oneof![looped, plain]
    }

    proptest! {
        #[test]
        fn what_is_packed_is_read_as_it_was(pieces in prop::collection::vec(piece(), 0..6)) {
            let records = pieces.concat();
            prop_assert_eq!(unpacked(&pack(&records)), Some(records));
        }

        #[test]
        fn records_side_by_side_are_those_read_one_by_one(
            pieces in prop::collection::vec(piece(), 1..6),
            places in prop::collection::vec((any::<u32>(), 0usize..9), 1..20),
        ) {
            let section = pack(&pieces.concat());
            let aligned = AlignedBytes::copy_of(&section);
            let table = Packed::<Span>::read(aligned.bytes()).unwrap();
            let (mut one, mut all) = (table.cursor(), table.cursor());
            for (first, count) in places {
                let first = first % (u32::try_from(table.len()).unwrap() + 2);
                let mut records = [Span::default(); 8];
                let records = &mut records[..count.min(8)];
                let are_there = all.read_all(first, records).is_some();
                let wanted: Option<Vec<Span>> =
                    (first..).take(records.len()).map(|index| one.get(index)).collect();
                prop_assert_eq!(are_there.then(|| records.to_vec()), wanted);
            }
        }

        #[test]
        fn a_loop_takes_the_room_of_two_turns(body in prop::collection::vec(any::<[u32; 4]>(), 1..9)) {
            let turn = |index: usize| {
                let [offset, step, rows, pitch] = body[index % body.len()];
                let turns = u32::try_from(index / body.len()).unwrap();
                span([offset.wrapping_add(step.wrapping_mul(turns)), rows, 1, pitch], 0)
            };
            let records: Vec<Span> = (0..10_000).map(turn).collect();
            let room = 8 + 12 + 2 * body.len() * size_of::<Span>();
            prop_assert!(pack(&records).len() <= room);
        }

        #[test]
        fn changed_sections_are_read_or_refused(
            piece in piece(),
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u32>()), 1..4),
        ) {
            let mut section = pack(&piece);
            for (index, value) in changes {
                let at = index.index(section.len() / 4) * 4;
                section[at..at + 4].copy_from_slice(&value.to_le_bytes());
            }
            if let Some(records) = unpacked(&section) {
                prop_assert!(records.len() <= MOST_RECORDS);
            }
        }
    }

    #[test]
    fn more_records_than_can_be_validated_are_refused() {
        let records = vec![Span::default(); MOST_RECORDS + 1];
        assert_eq!(unpacked(&pack(&records)), None);
        assert!(unpacked(&pack(&records[1..])).is_some());
        assert!(unpacked(&pack::<Span>(&[])).is_some_and(|records| records.is_empty()));
    }
}
