//! Tables whose records advance by constant steps: loops of a program take the room of two turns.
//!
//! A table is a sequence of runs. In a run of period p, each of a record's words is that of the record
//! p before it plus a step that stays the same, modulo 2^32: the first p records and their steps say
//! all. A run without a repetition has only records, as many as its period.
//!
//! Planner, validator and simulator see loops written out. A record is computed when it is asked for; the run that held the
//! last record is kept, and what saves little is written out. The number of records is bounded for hostile images.

use core::marker::PhantomData;

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Most records of a table: so many are validated when an image is read, however small it is.
pub const MOST_RECORDS: usize = 1 << 18;
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

impl<'a, T: Copy + FromBytes + IntoBytes> Packed<'a, T> {
    const WORDS: usize = {
        assert!(size_of::<T>().is_multiple_of(4) && align_of::<T>() == 4);
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
    pub fn get(&self, index: u32) -> Option<T> {
        self.cursor().get(index)
    }

    /// Reads records near each other.
    #[must_use]
    pub const fn cursor(&self) -> Cursor<'a, T> {
        Cursor { table: *self, first: 0, end: 0, period: 0, word: 0 }
    }

    /// All records, in order.
    pub fn iter(&self) -> impl Iterator<Item = T> + use<'a, T> {
        let mut cursor = self.cursor();
        (0..self.count).filter_map(move |index| cursor.get(index))
    }
}

/// A table with the run that held the last record: runs are searched only where the next record lies
/// in another one.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a, T> {
    table: Packed<'a, T>,
    /// The run: its first record and the first behind it; none at first.
    first: u32,
    end: u32,
    /// See [`Run`].
    period: u32,
    word: u32,
}

impl<T: Copy + FromBytes + IntoBytes> Cursor<'_, T> {
    const WORDS: usize = Packed::<T>::WORDS;

    /// The record with a number.
    #[must_use]
    pub fn get(&mut self, index: u32) -> Option<T> {
        let mut record = T::new_zeroed();
        self.read(index, &mut record)?;
        Some(record)
    }

    /// Reads the record with a number; what `record` holds is of no meaning if there is none.
    #[inline(never)]
    pub fn read(&mut self, index: u32, record: &mut T) -> Option<()> {
        let (turn, place) = self.find(index)?;
        self.copy(turn, place, record)
    }

    /// Reads the records from a number on; what `records` hold is of no meaning if there are fewer.
    #[inline(never)]
    pub fn read_all(&mut self, first: u32, records: &mut [T]) -> Option<()> {
        // What lies in no run is found anew.
        let (mut index, mut turn, mut place, mut end) = (first, 0, 0, first);
        for record in records {
            if index >= end {
                (turn, place) = self.find(index)?;
                end = self.end;
            } else if place >= self.period {
                (turn, place) = (turn + 1, 0);
            }
            self.copy(turn, place, record)?;
            (index, place) = (index.wrapping_add(1), place + 1);
        }
        Some(())
    }

    /// Turn and place in its period of a record, whose run is held from here on.
    #[inline(always)]
    fn find(&mut self, index: u32) -> Option<(u32, u32)> {
        if index < self.first || self.end <= index {
            self.seek(index)?;
        }
        let inside = index - self.first;
        // Most tables of small plans have no turns.
        Some(match inside < self.period {
            true => (0, inside),
            false => (inside.checked_div(self.period)?, inside.checked_rem(self.period)?),
        })
    }

    /// Computes a record of the run.
    #[inline(always)]
    fn copy(&self, turn: u32, place: u32, record: &mut T) -> Option<()> {
        let record = <[u32]>::mut_from_bytes(record.as_mut_bytes()).ok()?;
        let start = self.word as usize + place as usize * Self::WORDS;
        record.copy_from_slice(self.table.words.get(start..start + Self::WORDS)?);
        if turn > 0 {
            let start = start + self.period as usize * Self::WORDS;
            let steps = self.table.words.get(start..start + Self::WORDS)?;
            let advance = |word: &mut u32, step: &u32| {
                *word = word.wrapping_add(step.wrapping_mul(turn));
            };
            // Four at a time: the firmware is compiled small, and computes records while a network runs.
            let (fours, rest) = record.as_chunks_mut::<4>();
            let (step_fours, step_rest) = steps.as_chunks::<4>();
            for ([a, b, c, d], [e, f, g, h]) in fours.iter_mut().zip(step_fours) {
                advance(a, e);
                advance(b, f);
                advance(c, g);
                advance(d, h);
            }
            for (word, step) in rest.iter_mut().zip(step_rest) {
                advance(word, step);
            }
        }
        Some(())
    }

    /// Finds the run of a record.
    #[inline(never)]
    fn seek(&mut self, index: u32) -> Option<()> {
        let Packed { count, runs, .. } = self.table;
        let behind = runs.partition_point(|run| run.first <= index);
        let run = runs.get(behind.checked_sub(1)?)?;
        let end = runs.get(behind).map_or(count, |next| next.first);
        if end <= index {
            return None;
        }
        Run { first: self.first, word: self.word, period: self.period } = *run;
        self.end = end;
        Some(())
    }
}
