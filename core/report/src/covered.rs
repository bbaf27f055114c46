//! How many bytes of a memory are covered by ranges that come and go.

/// Ranges of bytes, each there so many times: a tree over the places where ranges begin or end.
pub struct Covered {
    edges: Vec<u64>,
    /// Of each node how many ranges cover all of it, but not all of its parent.
    counts: Vec<u32>,
    /// Of each node its bytes that are covered by its own ranges or those of nodes below.
    bytes: Vec<u64>,
}

/// A node, and which of the stretches between edges it is of.
#[derive(Clone, Copy)]
struct Node {
    number: usize,
    first: usize,
    end: usize,
}

impl Node {
    const fn halves(self) -> [Self; 2] {
        let middle = self.first.midpoint(self.end);
        [
            Self { number: 2 * self.number, end: middle, ..self },
            Self { number: 2 * self.number + 1, first: middle, ..self },
        ]
    }
}

impl Covered {
    /// Nothing is covered yet; these ranges may be.
    pub fn new(ranges: impl Iterator<Item = [u64; 2]>) -> Self {
        let mut edges: Vec<u64> = ranges.flatten().collect();
        edges.sort_unstable();
        edges.dedup();
        let nodes = 2 * edges.len().next_power_of_two();
        Self { edges, counts: vec![0; nodes], bytes: vec![0; nodes] }
    }

    const fn root(&self) -> Node {
        Node { number: 1, first: 0, end: self.edges.len().saturating_sub(1) }
    }

    fn range(&self, node: Node) -> [u64; 2] {
        [self.edges[node.first], self.edges[node.end]]
    }

    /// A range of those that may be covered comes, or goes.
    pub fn change(&mut self, [start, end]: [u64; 2], comes: bool) {
        if start < end {
            self.change_below(self.root(), [start, end], comes);
        }
    }

    fn change_below(&mut self, node: Node, [start, end]: [u64; 2], comes: bool) {
        let [from, to] = self.range(node);
        if end <= from || to <= start {
            return;
        }
        let count = &mut self.counts[node.number];
        if start <= from && to <= end {
            *count = if comes { *count + 1 } else { count.saturating_sub(1) };
        } else {
            for half in node.halves() {
                self.change_below(half, [start, end], comes);
            }
        }
        self.bytes[node.number] = if self.counts[node.number] > 0 {
            to - from
        } else if node.end - node.first > 1 {
            node.halves().map(|half| self.bytes[half.number]).into_iter().sum()
        } else {
            0
        };
    }

    /// Bytes that are covered.
    pub fn total(&self) -> u64 {
        self.bytes.get(1).copied().unwrap_or(0)
    }

    /// Those of them that lie in a range, whatever range that is.
    pub fn within(&self, range: [u64; 2]) -> u64 {
        if self.total() == 0 { 0 } else { self.within_below(self.root(), range) }
    }

    fn within_below(&self, node: Node, [start, end]: [u64; 2]) -> u64 {
        let [from, to] = self.range(node);
        let common = to.min(end).saturating_sub(from.max(start));
        if common == 0 || self.bytes[node.number] == 0 {
            0
        } else if self.counts[node.number] > 0 {
            common
        } else if common == to - from {
            self.bytes[node.number]
        } else {
            node.halves().map(|half| self.within_below(half, [start, end])).into_iter().sum()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_count_as_in_a_table_of_them() {
        let mut seed = 1u32;
        let mut drawn = |most: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            u64::from((seed >> 8) % most)
        };
        let ranges: Vec<[u64; 2]> = (0..40)
            .map(|_| {
                let start = drawn(80);
                [start, start + drawn(20)]
            })
            .collect();
        let mut covered = Covered::new(ranges.iter().copied());
        let mut table = [0u32; 100];
        let mut there = [false; 40];
        for _ in 0..500 {
            let chosen = drawn(40) as usize;
            there[chosen] = !there[chosen];
            covered.change(ranges[chosen], there[chosen]);
            for byte in ranges[chosen][0]..ranges[chosen][1] {
                let count = &mut table[byte as usize];
                *count = if there[chosen] { *count + 1 } else { *count - 1 };
            }
            let [from, to] = [drawn(100), drawn(120)];
            let in_table = |from: u64, to: u64| {
                let bytes = (0u64..).zip(table);
                bytes.filter(|(at, count)| *count > 0 && (from..to).contains(at)).count() as u64
            };
            assert_eq!(covered.total(), in_table(0, 100));
            assert_eq!(covered.within([from, to]), in_table(from, to));
        }
        let mut none = Covered::new(std::iter::empty());
        none.change([0, 0], true);
        assert_eq!((none.total(), none.within([0, 9])), (0, 0));
    }
}
