//! Sum and difference of two tensors.
//!
//! The input with the larger scale is multiplied by one half, which after the shift to the left is
//! exact and needs no multiplication. What the other is multiplied with gives one of 256 values: a
//! table of them is made where there are elements enough to pay for it.

use crate::dsp::{Fast, high_product_sum, saturate, shift_right};
use crate::error::KernelError;
use crate::geometry::{Layout, Source, Target, Tile};
use crate::portable::runs::runs;
use crate::portable::{self, Add};
use crate::requantise::{Factor, Multiplier};

use super::max_pool::clamp;

/// Left shift of both inputs before they are scaled.
const LEFT_SHIFT: u32 = 20;

/// A factor of one half.
const HALF: Multiplier = Multiplier { multiplier: 1 << 30, shift: 0 };

/// Elements that pay for a table.
const MANY: usize = 1024;

/// Adds two boxes, each of the tile's shape or broadcast to it.
///
/// # Errors
/// [`KernelError`] if the operands do not fit the tile.
pub fn add(
    op: &Add,
    tile: &Tile,
    first: &Source<'_>,
    second: &Source<'_>,
    output: &mut Target<'_>,
) -> Result<(), KernelError> {
    match Order::of(op, [first, second], output, [1, 1]) {
        Some(order) => order.run(tile, output),
        None => portable::add(op, tile, first, second, output),
    }
}

/// Takes the second box from the first, each of the tile's shape or broadcast to it.
///
/// # Errors
/// [`KernelError`] if the operands do not fit the tile.
pub fn sub(
    op: &Add,
    tile: &Tile,
    first: &Source<'_>,
    second: &Source<'_>,
    output: &mut Target<'_>,
) -> Result<(), KernelError> {
    match Order::of(op, [first, second], output, [1, -1]) {
        Some(order) => order.run(tile, output),
        None => portable::sub(op, tile, first, second, output),
    }
}

/// The operands, that with the factor one half first.
struct Order<'o, 'a> {
    op: &'o Add,
    halved: &'o Source<'a>,
    other: &'o Source<'a>,
    /// Which of the op's inputs is the other one.
    index: usize,
    /// What the operands are multiplied with besides: 1 or −1.
    signs: [i32; 2],
    sum: Fast,
}

impl<'o, 'a> Order<'o, 'a> {
    #[inline(never)]
    fn of(
        op: &'o Add,
        [first, second]: [&'o Source<'a>; 2],
        output: &Target<'_>,
        signs: [i32; 2],
    ) -> Option<Self> {
        let to = &output.layout;
        let same = |from: &Layout| {
            [from.rows, from.columns, from.channels] == [to.rows, to.columns, to.channels]
        };
        if !same(&first.layout) || !same(&second.layout) {
            return None;
        }
        let sum = Fast::of(op.sum, op.output.zero)?;
        // Halved inputs stay below 2^27: the other's must do so too.
        let small = |factor: Multiplier| factor.shift <= 0 && factor.multiplier >= 0;
        let [a, b] = op.input;
        if a == HALF && small(b) {
            Some(Self { op, halved: first, other: second, index: 1, signs, sum })
        } else if b == HALF && small(a) {
            let signs = [signs[1], signs[0]];
            Some(Self { op, halved: second, other: first, index: 0, signs, sum })
        } else {
            None
        }
    }

    fn run(&self, tile: &Tile, output: &mut Target<'_>) -> Result<(), KernelError> {
        let [rows, columns] = tile.output_size;
        let elements = rows.saturating_mul(columns).saturating_mul(tile.channels);
        let factor = self.op.input.get(self.index).copied().unwrap_or_default().prepare();
        if elements < MANY {
            self.each(tile, output, |byte| self.scaled(byte, &factor))
        } else {
            let table: [i32; 256] = core::array::from_fn(|byte| self.scaled(byte as u8, &factor));
            self.each(tile, output, |byte| table[usize::from(byte)])
        }
    }

    /// Twice what the other operand's byte adds to a sum, the halved one's zero point included.
    #[inline(always)]
    fn scaled(&self, byte: u8, factor: &Factor) -> i32 {
        let zeros = self.op.input_zero.map(i32::from);
        let [own, halved] = if self.index == 0 { zeros } else { [zeros[1], zeros[0]] };
        let value = factor.apply((i32::from(byte as i8) - own) << LEFT_SHIFT);
        2 * (value * self.signs[1]) - self.signs[0] * (halved << LEFT_SHIFT)
    }

    #[inline(always)]
    fn each(
        &self,
        tile: &Tile,
        output: &mut Target<'_>,
        scaled: impl Fn(u8) -> i32,
    ) -> Result<(), KernelError> {
        let Fast { multiplier, right, rounding } = self.sum;
        let sources = [self.halved, self.other];
        let narrow = self.op.output.is_narrow();
        let finish = |sum: i32| {
            let rounding = rounding.wrapping_add(sum >> 31);
            saturate(shift_right(high_product_sum(sum, multiplier, rounding), right)) as u8
        };
        let negative = self.signs[0] < 0;
        runs(tile, sources, output, |[halved, other], output| {
            let bytes = output.iter_mut().zip(halved).zip(other);
            if negative {
                for ((to, halved), other) in bytes {
                    let halved = i32::from(*halved as i8) << LEFT_SHIFT;
                    *to = finish(scaled(*other).wrapping_sub(halved));
                }
            } else {
                for ((to, halved), other) in bytes {
                    let halved = i32::from(*halved as i8) << LEFT_SHIFT;
                    *to = finish(scaled(*other).wrapping_add(halved));
                }
            }
            if narrow {
                clamp(&self.op.output, output);
            }
        })
    }
}
