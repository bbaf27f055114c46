//! Tables whose records advance by constant steps: loops of a program take the room of two turns.
//!
//! A table is a sequence of runs. In a run of period p, each of a record's words is that of the record
//! p before it plus a step that stays the same, modulo 2^32: the first p records and their steps say
//! all. A run without a repetition has only records, as many as its period.

use core::marker::PhantomData;

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Most records of a table: so many are validated when an image is read, however small it is.
pub const MOST_RECORDS: usize = 1 << 18;
/// Words of the longest record.
const MOST_WORDS: usize = 8;

/// A run of records.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub(super) struct Run {
    /// Number of its first record.
    pub(super) first: u32,
    /// Where its words begin, in words behind the runs: `period` records, and as many steps if it is
    /// longer than its period.
    pub(super) word: u32,
    /// After how many records it repeats; at most its length.
    pub(super) period: u32,
}

/// A table in an image, its records computed when they are asked for.
#[derive(Clone, Copy, Debug)]
pub struct Packed<'a, T> {
    count: u32,
    runs: &'a [Run],
    words: &'a [u32],
    record: PhantomData<T>,
}

/// Words that a run of so many records takes.
pub(super) const fn words_of(length: usize, period: usize, words: usize) -> usize {
    if length > period { 2 * period * words } else { period * words }
}

impl<'a, T: FromBytes + IntoBytes> Packed<'a, T> {
    const WORDS: usize = {
        assert!(size_of::<T>().is_multiple_of(4) && size_of::<T>() <= 4 * MOST_WORDS);
        size_of::<T>() / 4
    };

    /// Reads a section; nothing if its runs do not follow each other, or it has too many records.
    #[must_use]
    pub fn read(section: &'a [u8]) -> Option<Self> {
        let words = <[u32]>::ref_from_bytes(section).ok()?;
        let ([count, runs], rest) = words.split_first_chunk::<2>()?;
        let runs_words = (*runs as usize).checked_mul(size_of::<Run>() / 4)?;
        let (runs, words) = rest.split_at_checked(runs_words)?;
        let runs = <[Run]>::ref_from_bytes(runs.as_bytes()).ok()?;
        let this = Self { count: *count, runs, words, record: PhantomData };
        if this.len() > MOST_RECORDS {
            return None;
        }
        let (mut record, mut word) = (0, 0);
        for (index, run) in runs.iter().enumerate() {
            let end = runs.get(index + 1).map_or(*count, |next| next.first);
            let length = end.checked_sub(run.first)?;
            if run.first != record
                || run.word as usize != word
                || !(1..=length).contains(&run.period)
            {
                return None;
            }
            record = end;
            word += words_of(length as usize, run.period as usize, Self::WORDS);
        }
        (record == *count && word == words.len()).then_some(this)
    }

    /// Number of records.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The record with a number.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<T> {
        let index = u32::try_from(index).ok().filter(|index| *index < self.count)?;
        let behind = self.runs.partition_point(|run| run.first <= index);
        let run = self.runs.get(behind.checked_sub(1)?)?;
        let inside = index - run.first;
        let (turn, place) = (inside.checked_div(run.period)?, inside.checked_rem(run.period)?);
        let start = run.word as usize + place as usize * Self::WORDS;
        let own = self.words.get(start..start + Self::WORDS)?;
        let mut record = [0u32; MOST_WORDS];
        let record = record.get_mut(..Self::WORDS)?;
        record.copy_from_slice(own);
        if turn > 0 {
            let start = start + run.period as usize * Self::WORDS;
            let steps = self.words.get(start..start + Self::WORDS)?;
            for (word, step) in record.iter_mut().zip(steps) {
                *word = word.wrapping_add(step.wrapping_mul(turn));
            }
        }
        T::read_from_bytes(record.as_bytes()).ok()
    }

    /// All records, in order.
    pub fn iter(&self) -> impl Iterator<Item = T> + use<'a, '_, T> {
        (0..self.len()).filter_map(|index| self.get(index))
    }
}
