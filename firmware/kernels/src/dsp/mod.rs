//! Armv7E-M's DSP instructions, each as a function: the instruction itself on Cortex-M4, M7 and M33,
//! the same result in plain Rust elsewhere, so that kernels made of them run and are tested anywhere.
//!
//! Arm, "ARMv7-M Architecture Reference Manual" (DDI 0403), section A7.7. A word is four bytes or
//! two halves, the first in the lowest bits, as they lie in memory.

/// Names the core to the assembler: where LLVM reads assembly for its symbols it knows of the core what the
/// target's name says, which on Armv8-M leaves these instructions out.
#[cfg(armv8_m)]
macro_rules! core_name {
    () => {
        ".cpu cortex-m33"
    };
}
#[cfg(all(armv7e_m, not(armv8_m)))]
macro_rules! core_name {
    () => {
        ""
    };
}

/// `naked_asm!` with these instructions.
#[cfg(armv7e_m)]
macro_rules! assembly {
    ($($part:tt)*) => {
        core::arch::naked_asm!(core_name!(), $($part)*)
    };
}

mod bytes;
// Its macro is for those below.
#[macro_use]
mod requantise;
mod four;
mod halves;
mod largest;
mod looked_up;
mod multiply;
mod pixels;
pub mod planes;
mod rows;
mod saturate;
mod single;
pub mod sparse;
mod windows;
pub mod winograd;
mod word;

pub use bytes::{larger_bytes, smaller_bytes};
pub use four::{
    Constants, EMPTY, PIXELS, PairWeights, Pairs, Quad, Sums, Word, activations, add_products,
};
pub use halves::{add_halves, even_bytes, high_halves, low_halves, odd_bytes};
pub use largest::{Row, keep_largest};
pub use looked_up::LookedUp;
pub use multiply::{
    high_product_sum, product_high_high, product_high_low, product_low_high, product_low_low,
    products, products_crossed,
};
pub use pixels::{SUMMED, add_pixels};
pub use requantise::Fast;
pub use rows::copy_rows;
pub use saturate::{saturate, shift_right};
pub use single::{Eight, EightWeights, add_products_of_one, expand_pairs, outputs_of_one};
pub use windows::{Edges, Windows, expand_four};
pub use word::{are_at_words, store_word, word};

/// A function of one instruction: its text on Armv7E-M, what it computes elsewhere. The result's
/// place is `lateout`; with a second instruction that reads operands, `out`.
macro_rules! instruction {
    (
        $(#[$about:meta])*
        $name:ident($($operand:ident: $type:ty),+) -> $result:ty,
        $place:ident $text:literal $(, $option:ident)*;
        $value:expr
    ) => {
        $(#[$about])*
        #[inline(always)]
        #[must_use]
        pub fn $name($($operand: $type),+) -> $result {
            #[cfg(armv7e_m)]
            {
                let result: $result;
                // SAFETY: the instruction reads and writes registers alone.
                #[expect(unsafe_code, reason = "an instruction that the language has no name for")]
                unsafe {
                    core::arch::asm!(
                        $text,
                        result = $place(reg) result,
                        $($operand = in(reg) $operand,)+
                        options(pure, nomem, nostack $(, $option)*)
                    );
                }
                result
            }
            #[cfg(not(armv7e_m))]
            $value
        }
    };
}
use instruction;
