//! The series-parallel merge: sequences of operators by how their bytes rise and fall, and the best way to run two of
//! them at once.
//!
//! Where each operator adds a fixed number of bytes, whatever has run before, the least peak of
//! operators in series-parallel order is known (Liu 1987 for trees; Abdel-Wahab and Kameda 1978,
//! Monma and Sidney 1979): a best sequence of a part is one of the whole too. It is kept as
//! hill-valley *segments*, runs of operators that some best order never interrupts.

use std::collections::VecDeque;

/// Operators that run without interruption.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Most bytes above its beginning; 0 at least.
    pub peak: i64,
    /// Bytes at its end, counted from its beginning.
    pub net: i64,
    /// The operators, in order.
    pub ops: VecDeque<u32>,
}

/// Segments in the order in which a best sequence runs them; their keys never fall.
pub type Segments = VecDeque<Segment>;

impl Segment {
    /// One operator that adds `first` bytes in its first half, and `second` in its second.
    pub fn of(op: u32, first: i64, second: i64) -> Self {
        let net = first + second;
        Self { peak: first.max(net).max(0), net, ops: VecDeque::from([op]) }
    }

    /// What comes first: segments that end lower than they begin, the lowest first; then the others,
    /// those first that fall most from their highest point.
    fn key(&self) -> (bool, i64) {
        if self.net <= 0 { (false, self.peak) } else { (true, self.net - self.peak) }
    }

    /// This one, then `next`.
    fn then(mut self, mut next: Self) -> Self {
        self.peak = self.peak.max(self.net + next.peak);
        self.net += next.net;
        if self.ops.len() >= next.ops.len() {
            self.ops.extend(next.ops);
        } else {
            for op in self.ops.into_iter().rev() {
                next.ops.push_front(op);
            }
            self.ops = next.ops;
        }
        self
    }
}

/// One sequence after the other.
pub fn series(mut first: Segments, mut second: Segments) -> Segments {
    if first.len() >= second.len() {
        while let Some(mut segment) = second.pop_front() {
            while let Some(last) = first.pop_back_if(|last| last.key() > segment.key()) {
                segment = last.then(segment);
            }
            first.push_back(segment);
        }
        return first;
    }
    while let Some(mut segment) = first.pop_back() {
        while let Some(next) = second.pop_front_if(|next| segment.key() > next.key()) {
            segment = segment.then(next);
        }
        second.push_front(segment);
    }
    second
}

/// Sequences at once, none of which waits for another.
pub fn parallel(sequences: impl IntoIterator<Item = Segments>) -> Segments {
    let mut all: Vec<Segment> = sequences.into_iter().flatten().collect();
    all.sort_by_key(Segment::key);
    all.into()
}

/// Most bytes above the beginning of a sequence.
pub fn peak(segments: &Segments) -> i64 {
    let mut level = 0;
    segments.iter().fold(0, |most, segment| {
        let reached = most.max(level + segment.peak);
        level += segment.net;
        reached
    })
}
