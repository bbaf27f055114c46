//! Sets of bytes, as half-open ranges.

/// A set of bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranges {
    ranges: Vec<[u64; 2]>,
    /// How many ranges were left when they were last merged.
    merged: usize,
}

impl Ranges {
    /// Adds `bytes` bytes from `start`.
    pub fn add(&mut self, start: u64, bytes: u64) {
        if bytes > 0 {
            self.ranges.push([start, start.saturating_add(bytes)]);
        }
        // Steps touch the same bytes again and again: what is added stays in proportion.
        if self.ranges.len() > 64 && self.ranges.len() > 2 * self.merged {
            self.merge();
        }
    }

    /// Adds another set.
    pub fn extend(&mut self, other: Self) {
        self.ranges.extend(other.ranges);
        self.merged = 0;
    }

    /// Number of bytes.
    #[must_use]
    pub fn total(&mut self) -> u64 {
        self.merged().iter().map(|[start, end]| end - start).sum()
    }

    /// The ranges in order, with gaps between them.
    pub fn merged(&mut self) -> &[[u64; 2]] {
        self.merge();
        &self.ranges
    }

    /// The bytes that both sets have.
    #[must_use]
    pub fn common(&self, other: &Self) -> Self {
        let [mut left, mut right] = [self.clone(), other.clone()];
        left.merge();
        right.merge();
        let (mut both, mut at) = (Self::default(), 0);
        for [start, end] in left.ranges {
            while right.ranges.get(at).is_some_and(|range| range[1] <= start) {
                at += 1;
            }
            for [from, to] in right.ranges[at..].iter().take_while(|range| range[0] < end) {
                let (from, to) = (start.max(*from), end.min(*to));
                both.add(from, to - from);
            }
        }
        both
    }

    /// The bytes that another set, of ranges in order with gaps between them, does not have.
    #[must_use]
    pub fn without(mut self, others: &[[u64; 2]]) -> Self {
        let mut left = Self::default();
        for [start, end] in self.merged() {
            let mut free = *start;
            let first = others.partition_point(|other| other[1] <= *start);
            for [from, to] in others[first..].iter().take_while(|other| other[0] < *end) {
                left.add(free, from.saturating_sub(free));
                free = free.max(*to);
            }
            left.add(free, end.saturating_sub(free));
        }
        left
    }

    fn merge(&mut self) {
        self.ranges.sort_unstable();
        let mut kept: Vec<[u64; 2]> = Vec::with_capacity(self.ranges.len());
        for range in &self.ranges {
            match kept.last_mut() {
                Some(last) if range[0] <= last[1] => last[1] = last[1].max(range[1]),
                _ => kept.push(*range),
            }
        }
        self.merged = kept.len();
        self.ranges = kept;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_counts_once() {
        let mut ranges = Ranges::default();
        for (start, bytes) in [(10, 10), (0, 5), (15, 10), (25, 5), (4, 1), (100, 0)] {
            ranges.add(start, bytes);
        }
        assert_eq!(ranges.total(), 5 + 20);
        let mut other = Ranges::default();
        other.add(4, 7);
        ranges.extend(other);
        assert_eq!(ranges.total(), 30);
    }

    #[test]
    fn what_two_sets_have_in_common_is_cut_at_their_borders() {
        let of = |parts: &[(u64, u64)]| {
            let mut ranges = Ranges::default();
            parts.iter().for_each(|(start, bytes)| ranges.add(*start, *bytes));
            ranges
        };
        let (left, right) = (of(&[(20, 10), (0, 10)]), of(&[(5, 3), (9, 13), (29, 5), (40, 1)]));
        let both = left.common(&right);
        assert_eq!(both, of(&[(5, 3), (9, 1), (20, 2), (29, 1)]));
        assert_eq!(right.common(&left), both);
        assert_eq!(left.common(&Ranges::default()).total(), 0);
        let mut both = both;
        assert_eq!(left.clone().without(both.merged()), of(&[(0, 5), (8, 1), (22, 7)]));
        assert_eq!(right.without(both.merged()), of(&[(10, 10), (30, 4), (40, 1)]));
    }

    #[test]
    fn what_is_added_again_and_again_takes_no_room() {
        let mut ranges = Ranges::default();
        for round in 0..100_000u64 {
            ranges.add(round % 7 * 100, 10);
        }
        assert!(ranges.ranges.len() <= 65);
        assert_eq!(ranges.total(), 70);
    }
}
