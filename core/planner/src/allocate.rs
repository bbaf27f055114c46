//! Offsets for blocks of memory with lifetimes: a portfolio of first-fit orders.

use tilewright_plan::Bytes;

/// Bytes to which tensors are aligned: kernels may load words.
pub const TENSOR_ALIGNMENT: u64 = 4;

/// A block to place: it holds its bytes from `first` up to, not including, `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// First point in time at which the block is in use.
    pub first: u32,
    /// First point in time at which it no longer is; a block with `end <= first` is never in use.
    pub end: u32,
    /// Size; offsets are sums of sizes, so equal alignment of all sizes carries over.
    pub bytes: Bytes,
}

impl Block {
    /// Whether both are in use at some point.
    #[must_use]
    pub const fn meets(&self, other: &Self) -> bool {
        self.first < other.end && other.first < self.end
    }
}

/// Where the blocks lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Offset of each block, in the order given.
    pub offsets: Vec<u64>,
    /// One past the last byte used.
    pub height: Bytes,
}

/// Largest sum of bytes in use at one time: no placement is lower.
#[must_use]
pub fn lower_bound(blocks: &[Block]) -> Bytes {
    let mut changes: Vec<(u32, bool, u64)> = Vec::with_capacity(blocks.len() * 2);
    for block in blocks.iter().filter(|block| block.first < block.end) {
        changes.push((block.first, true, block.bytes.0));
        changes.push((block.end, false, block.bytes.0));
    }
    changes.sort_unstable();
    let (mut live, mut most) = (0u64, 0u64);
    for (_, begins, bytes) in changes {
        if begins {
            live += bytes;
            most = most.max(live);
        } else {
            live -= bytes;
        }
    }
    Bytes(most)
}

/// What a first-fit order sorts by, smallest first.
type Key<'k> = &'k dyn Fn(&Block) -> [u64; 3];

/// Places the blocks: the lowest of several first-fit orders, the first of equals.
#[must_use]
pub fn allocate(blocks: &[Block]) -> Placement {
    let bound = lower_bound(blocks);
    let length = |b: &Block| u64::from(b.end.saturating_sub(b.first));
    let orders: [Key; 4] = [
        &|b| [u64::MAX - b.bytes.0, u64::from(b.first), u64::MAX - length(b)],
        &|b| [u64::MAX - b.bytes.0.saturating_mul(length(b)), u64::from(b.first), 0],
        &|b| [u64::MAX - length(b), u64::MAX - b.bytes.0, u64::from(b.first)],
        &|b| [u64::from(b.first), u64::MAX - b.bytes.0, 0],
    ];
    let mut best: Option<Placement> = None;
    for key in orders {
        let mut order: Vec<usize> = (0..blocks.len()).collect();
        order.sort_by_key(|index| (key(&blocks[*index]), *index));
        let placement = first_fit(blocks, &order);
        if best.as_ref().is_none_or(|best| placement.height < best.height) {
            best = Some(placement);
        }
        if best.as_ref().is_some_and(|best| best.height == bound) {
            break;
        }
    }
    best.unwrap_or(Placement { offsets: Vec::new(), height: Bytes(0) })
}

fn first_fit(blocks: &[Block], order: &[usize]) -> Placement {
    let mut offsets = vec![0u64; blocks.len()];
    let mut placed: Vec<usize> = Vec::with_capacity(blocks.len());
    let mut height = 0;
    for index in order {
        let block = &blocks[*index];
        let mut taken: Vec<(u64, u64)> = placed
            .iter()
            .filter(|other| blocks[**other].meets(block))
            .map(|other| (offsets[*other], offsets[*other] + blocks[*other].bytes.0))
            .collect();
        taken.sort_unstable();
        let mut offset = 0;
        for (start, end) in taken {
            if offset + block.bytes.0 <= start {
                break;
            }
            offset = offset.max(end);
        }
        offsets[*index] = offset;
        height = height.max(offset + block.bytes.0);
        placed.push(*index);
    }
    Placement { offsets, height: Bytes(height) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_blocks() -> impl Strategy<Value = Vec<Block>> {
        let block = (0u32..20, 0u32..8, 0u64..100).prop_map(|(first, length, bytes)| Block {
            first,
            end: first + length,
            bytes: Bytes(bytes),
        });
        proptest::collection::vec(block, 0..30)
    }

    proptest! {
        #[test]
        fn blocks_in_use_together_never_overlap(blocks in any_blocks()) {
            let placement = allocate(&blocks);
            let range = |i: usize| placement.offsets[i]..placement.offsets[i] + blocks[i].bytes.0;
            for a in 0..blocks.len() {
                prop_assert!(range(a).end <= placement.height.0);
                for b in 0..a {
                    if blocks[a].meets(&blocks[b]) {
                        let (a, b) = (range(a), range(b));
                        prop_assert!(
                            a.end <= b.start || b.end <= a.start || a.is_empty() || b.is_empty()
                        );
                    }
                }
            }
            prop_assert!(placement.height >= lower_bound(&blocks));
        }
    }

    #[test]
    fn a_chain_needs_its_two_largest_neighbours() {
        let sizes = [1024, 4704, 1176, 1600, 400];
        let blocks: Vec<Block> = sizes
            .iter()
            .zip(0u32..)
            .map(|(bytes, i)| Block {
                first: i.saturating_sub(1),
                end: i + 1,
                bytes: Bytes(*bytes),
            })
            .collect();
        assert_eq!(lower_bound(&blocks), Bytes(4704 + 1176));
        assert_eq!(allocate(&blocks).height, Bytes(4704 + 1176));
    }
}
