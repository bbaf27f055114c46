//! How the weights of convolutions and fully connected layers lie.

use crate::op::Op;
use crate::spec::Filter;
use crate::view::View;

/// How filters lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packed {
    /// In their natural order.
    Natural,
    /// In pairs of output channels: FORMAT.md, "Weights".
    Pairs,
    /// In pairs of output channels, 32 bytes for nine values: FORMAT.md, "Weights".
    Transformed,
    /// Without their zeros, all together: FORMAT.md, "Weights".
    Sparse,
}

/// Filters of an op with weights: one for each output channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filters {
    /// How they lie.
    pub packed: Packed,
    /// Values of one.
    pub length: u64,
    /// Bytes of one; of sparse ones no number.
    pub bytes: u64,
    /// Output channels that are not cut apart: steps begin at multiples of so many.
    pub together: u64,
}

impl Filters {
    /// Longest filter in a pair: with longer ones sums could leave what the kernels requantise.
    pub const LONGEST_PAIRED: u64 = 28 * 1024;

    /// Longest filter whose weights are transformed: with longer ones four times a sum could leave 32 bits.
    pub const LONGEST_TRANSFORMED: u64 = 9 * 1364;

    /// Values of a sparse row: a filter has one for each so many, and one for what is left.
    pub const SPARSE_COLUMNS: usize = 512;

    /// Most output channels whose sparse rows are together: those of their first values, then of the next.
    pub const SPARSE_BLOCK: usize = 128;

    /// Output channels of sparse filters that are not cut apart though each has one row.
    pub const SPARSE_TOGETHER: u64 = 2;

    /// Whether they lie in pairs of output channels.
    #[must_use]
    pub const fn are_paired(&self) -> bool {
        matches!(self.packed, Packed::Pairs | Packed::Transformed)
    }

    /// Bytes of a sparse row with so many pairs of neighbours that are not both zero.
    #[must_use]
    pub fn sparse_row_bytes(pairs: u64) -> u64 {
        4 + 12 * pairs.max(1).div_ceil(4)
    }

    /// Fewest bytes of the sparse filters of `channels` output channels.
    #[must_use]
    pub fn least_sparse_bytes(&self, channels: u64) -> Option<u64> {
        let rows = channels.checked_mul(self.length.div_ceil(Self::SPARSE_COLUMNS as u64))?;
        rows.checked_mul(Self::sparse_row_bytes(0))
    }

    /// Bytes of the filters of `channels` output channels; an odd last one in pairs has zeros
    /// beside it. Nothing if they are sparse: that depends on their values.
    #[must_use]
    pub fn all_bytes(&self, channels: u64) -> Option<u64> {
        if self.packed == Packed::Sparse {
            return None;
        }
        let channels =
            if self.are_paired() { channels.checked_next_multiple_of(2)? } else { channels };
        self.bytes.checked_mul(channels)
    }

    /// Whether a step may begin at a channel.
    #[must_use]
    pub const fn are_cut_at(&self, channel: u64) -> bool {
        channel.is_multiple_of(self.together)
    }

    /// Where the filters from a channel on begin; nothing in the middle of what is not cut apart, or if they are
    /// sparse, but for the first.
    #[must_use]
    pub fn start(&self, channel: u64) -> Option<u64> {
        if self.packed == Packed::Sparse {
            return (channel == 0).then_some(0);
        }
        self.bytes.checked_mul(channel).filter(|_| self.are_cut_at(channel))
    }
}

impl Op {
    /// Whether a convolution's weights may be transformed if its filters have `length` values.
    #[must_use]
    pub fn may_be_transformed(&self, length: u64) -> bool {
        self.kernel().is_some_and(|kernel| kernel.spec().flags & Self::TRANSFORMED != 0)
            && (self.window, self.stride, self.dilation) == ([3; 2], [1; 2], [1; 2])
            && self.groups == 1
            && self.input_zero[1] == 0
            && length.is_multiple_of(36)
            && (1..=Filters::LONGEST_TRANSFORMED).contains(&length)
    }

    /// Whether an op's weights may be stored without their zeros, in its blocks, if its filters have `length` values.
    #[must_use]
    pub fn may_be_sparse(&self, length: u64) -> bool {
        self.kernel().is_some_and(|kernel| kernel.spec().flags & Self::SPARSE != 0)
            && self.groups == 1
            && self.input_zero[1] == 0
            && (1..=Filters::LONGEST_PAIRED).contains(&length)
            && match u64::from(self.sparse_block) {
                0 => length <= Filters::SPARSE_COLUMNS as u64,
                block => {
                    length > Filters::SPARSE_COLUMNS as u64
                        && block.is_multiple_of(2)
                        && block <= Filters::SPARSE_BLOCK as u64
                }
            }
    }

    /// The filters of an op with weights, each of `length` values.
    #[must_use]
    pub fn filters(&self, length: u64) -> Filters {
        if self.is_sparse() && self.may_be_sparse(length) {
            let together = u64::from(self.sparse_block).max(Filters::SPARSE_TOGETHER);
            return Filters { packed: Packed::Sparse, length, bytes: 0, together };
        }
        if self.is_transformed() && self.may_be_transformed(length) {
            let bytes = length / 9 * 32;
            return Filters { packed: Packed::Transformed, length, bytes, together: 2 };
        }
        let unit = self.kernel().map_or(0, |kernel| kernel.spec().pairs);
        let fits = self.groups == 1
            && self.flags & Self::NATURAL == 0
            && self.input_zero[1] == 0
            && (1..=Filters::LONGEST_PAIRED).contains(&length);
        if unit > 0 && fits {
            let bytes = length.next_multiple_of(unit);
            return Filters { packed: Packed::Pairs, length, bytes, together: 2 };
        }
        Filters { packed: Packed::Natural, length, bytes: length, together: 1 }
    }

    /// The filters of an op with weights for an input.
    #[must_use]
    pub fn filters_for(&self, input: &View) -> Filters {
        let area = u64::from(self.window[0]) * u64::from(self.window[1]);
        self.filters(match self.kernel().and_then(|kernel| kernel.spec().filter) {
            Some(Filter::Input) => input.elements(),
            Some(Filter::Channel) => area,
            Some(Filter::Group) => area * u64::from(input.c / u32::from(self.groups.max(1))),
            Some(Filter::Channels) | None => area * u64::from(input.c),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Kernel;

    fn op(kernel: Kernel) -> Op {
        Op { kernel: kernel as u16, window: [3, 3], groups: 1, ..Op::default() }
    }

    #[test]
    fn pairs_are_padded_and_cut_between_channels() {
        let filters = op(Kernel::Conv).filters(27);
        assert_eq!(filters, Filters { packed: Packed::Pairs, length: 27, bytes: 28, together: 2 });
        assert_eq!([filters.all_bytes(4), filters.all_bytes(5)], [Some(112), Some(168)]);
        assert_eq!([filters.start(2), filters.start(3)], [Some(56), None]);
        assert_eq!(op(Kernel::FullyConnected).filters(27).bytes, 32);
        assert_eq!(filters.all_bytes(u64::MAX), None);
    }

    #[test]
    fn what_pairs_cannot_hold_lies_in_its_natural_order() {
        let natural = |op: Op, length| {
            let filters = op.filters(length);
            let natural = Filters { packed: Packed::Natural, length, bytes: length, together: 1 };
            assert_eq!(filters, natural);
            assert_eq!([filters.all_bytes(3), filters.start(3)], [Some(3 * length); 2]);
        };
        natural(Op { groups: 2, ..op(Kernel::Conv) }, 27);
        natural(Op { input_zero: [0, 1], ..op(Kernel::FullyConnected) }, 27);
        natural(op(Kernel::Conv), Filters::LONGEST_PAIRED + 1);
        natural(op(Kernel::Depthwise), 9);
        natural(op(Kernel::TransposeConv), 27);
    }

    #[test]
    fn sparse_filters_take_the_bytes_that_their_values_do_and_are_cut_between_blocks() {
        let sparse = |kernel| Op { flags: Op::SPARSE, sparse_block: 16, ..op(kernel) };
        for kernel in [Kernel::Conv, Kernel::FullyConnected] {
            let filters = sparse(kernel).filters(600);
            let expected = Filters { packed: Packed::Sparse, length: 600, bytes: 0, together: 16 };
            assert_eq!(filters, expected);
            assert!(filters.are_cut_at(32) && !filters.are_cut_at(8));
            assert!(!filters.are_paired());
            assert_eq!(filters.all_bytes(4), None);
            assert_eq!([filters.start(0), filters.start(2)], [Some(0), None]);
            assert_eq!(filters.least_sparse_bytes(4), Some(8 * 16));
        }
        assert_eq!([0, 1, 4, 5].map(Filters::sparse_row_bytes), [16, 16, 16, 28]);
        let short = Op { sparse_block: 0, ..sparse(Kernel::Conv) };
        assert_eq!((short.filters(512).packed, short.filters(512).together), (Packed::Sparse, 2));
        assert!(!sparse(Kernel::Conv).may_be_sparse(512));
        let others = [
            short,
            Op { sparse_block: 15, ..sparse(Kernel::Conv) },
            Op { sparse_block: 130, ..sparse(Kernel::Conv) },
            sparse(Kernel::ConvMaxPool),
            Op { groups: 2, ..sparse(Kernel::Conv) },
            Op { input_zero: [0, 1], ..sparse(Kernel::Conv) },
        ];
        assert!(others.iter().all(|op| op.filters(600).packed != Packed::Sparse));
    }

    #[test]
    fn only_dense_windows_of_3x3_over_whole_words_are_transformed() {
        let conv =
            Op { flags: Op::TRANSFORMED, stride: [1; 2], dilation: [1; 2], ..op(Kernel::Conv) };
        let filters = conv.filters(9 * 8);
        let expected = Filters { packed: Packed::Transformed, length: 72, bytes: 256, together: 2 };
        assert_eq!(filters, expected);
        assert_eq!([filters.all_bytes(3), filters.start(3)], [Some(1024), None]);
        assert_eq!(conv.filters(9 * 6).packed, Packed::Pairs);
        let longest = Filters::LONGEST_TRANSFORMED;
        assert!(conv.may_be_transformed(longest) && !conv.may_be_transformed(longest + 36));
        let others = [
            Op { stride: [2, 1], ..conv },
            Op { dilation: [1, 2], ..conv },
            Op { window: [3, 5], ..conv },
            Op { groups: 2, ..conv },
            Op { input_zero: [0, 1], ..conv },
            Op { kernel: Kernel::ConvMaxPool as u16, ..conv },
        ];
        assert!(others.iter().all(|op| !op.may_be_transformed(72)));
    }
}
