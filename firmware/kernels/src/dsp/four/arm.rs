//! The loops over quads in assembly.
//!
//! A half of a quad is a word of weights, at `r0`, and a word of activations of each pixel, at `r1`;
//! sums stand in `r4` to `r7` and `r8` to `r11`. Loops over halves are unrolled and entered so that
//! they end with the last one. The last argument's place on the stack is told from the four words
//! that are pushed behind nine registers.

use super::{Constants, PairWeights, Quad, Sums};

#[cfg(not(feature = "dual-issue"))]
#[macro_use]
mod half {
    //! Halves for a core that issues one instruction at a time: as few as there can be.

    /// Bytes of a half.
    macro_rules! half_bytes {
        () => {
            "52"
        };
    }

    /// Halves of a turn that makes outputs, and one less: what a pair of channels executes must fit
    /// the 1 KB of code that flash accelerators keep.
    macro_rules! halves_a_turn {
        () => {
            "8"
        };
        (mask) => {
            "7"
        };
    }

    /// Before the first half.
    macro_rules! ready {
        () => {
            ""
        };
    }

    /// Gives the address at which `r1` is behind the last half from the activations' end in `r12`.
    macro_rules! behind {
        () => {
            ""
        };
    }

    /// A first half whose sums start at `r4` and `r8`; constants are at `r12`.
    macro_rules! first_half {
        () => {
            "ldr r4, [r12]
            ldr.w r8, [r12, #12]
            ldr r2, [r0], #4
            ldrd r12, lr, [r1, #8]
            sxtb16 r3, r2, ror #8
            sxtb16 r2, r2
            smlad r6, r2, r12, r4
            smlad r10, r3, r12, r8
            smlad r7, r2, lr, r4
            smlad r11, r3, lr, r8
            ldrd r12, lr, [r1], #16
            smlad r5, r2, lr, r4
            smlad r9, r3, lr, r8
            smlad r4, r2, r12, r4
            smlad r8, r3, r12, r8"
        };
    }

    /// As many halves, entered at label 2, begun again at label 3.
    macro_rules! halves {
        ($($count:tt)*) => {
            concat!(
                ".balign 4\n3:\n2:\n.rept ",
                $($count)*,
                "
                ldr r2, [r0], #4
                ldrd r12, lr, [r1], #8
                sxtb16 r3, r2, ror #8
                sxtb16 r2, r2
                smlad r4, r2, r12, r4
                smlad r8, r3, r12, r8
                smlad r5, r2, lr, r5
                smlad r9, r3, lr, r9
                ldrd r12, lr, [r1], #8
                smlad r6, r2, r12, r6
                smlad r10, r3, r12, r10
                smlad r7, r2, lr, r7
                smlad r11, r3, lr, r11
                .endr"
            )
        };
    }
}

#[cfg(feature = "dual-issue")]
#[macro_use]
mod half {
    //! Halves for a core that issues a load beside a multiplication: each word is loaded alone, two
    //! cycles before it is used. The word of weights and the first two of activations are loaded
    //! before the half begins, `r1` then being four bytes behind the half's first.

    /// Bytes of a half that loads for the next.
    macro_rules! half_bytes {
        () => {
            "60"
        };
    }

    /// Halves of a turn that makes outputs, and one less.
    macro_rules! halves_a_turn {
        () => {
            "8"
        };
        (mask) => {
            "7"
        };
    }

    /// Before the first half.
    macro_rules! ready {
        () => {
            "ldr r2, [r0], #4
            ldrd r12, lr, [r1], #4"
        };
    }

    /// Gives the address at which `r1` is behind the last half from the activations' end in `r12`.
    macro_rules! behind {
        () => {
            "sub r12, r12, #12
            str r12, [sp, #36]
            add r12, r12, #12"
        };
    }

    /// A first half whose sums start at `r4` and `r8`; constants are at `r12`.
    macro_rules! first_half {
        () => {
            "ldr r2, [r0], #4
            ldr r4, [r12]
            ldr.w r8, [r12, #12]
            ldr r12, [r1, #8]
            ldr lr, [r1, #12]
            sxtb16 r3, r2
            sxtb16 r2, r2, ror #8
            smlad r6, r3, r12, r4
            smlad r10, r2, r12, r8
            ldr r12, [r1, #4]
            smlad r7, r3, lr, r4
            smlad r11, r2, lr, r8
            ldr lr, [r1]
            smlad r9, r2, r12, r8
            smlad r5, r3, r12, r4
            smlad r8, r2, lr, r8
            ldr r2, [r0], #4
            smlad r4, r3, lr, r4
            ldr r12, [r1, #16]
            ldr lr, [r1, #20]!"
        };
    }

    /// A half but for what it loads for the next.
    macro_rules! half {
        ($weights:literal, $first:literal, $second:literal) => {
            concat!(
                "sxtb16 r3, r2
                sxtb16 r2, r2, ror #8
                smlad r4, r3, r12, r4
                smlad r8, r2, r12, r8
                ldr r12, [r1, #4]
                smlad r5, r3, lr, r5
                smlad r9, r2, lr, r9
                ldr lr, [r1, #8]
                smlad r10, r2, r12, r10
                smlad r11, r2, lr, r11\n",
                $weights,
                "\nsmlad r6, r3, r12, r6\n",
                $first,
                "\nsmlad r7, r3, lr, r7\n",
                $second,
                "\n"
            )
        };
    }

    /// As many halves, entered at label 2, begun again at label 3.
    macro_rules! halves {
        ($($count:tt)*) => {
            concat!(
                ".balign 4
                3:
                ldr r2, [r0], #4
                ldr r12, [r1, #12]
                ldr lr, [r1, #16]!
                2:
                .rept ",
                $($count)*,
                " - 1\n",
                half!("ldr r2, [r0], #4", "ldr r12, [r1, #12]", "ldr lr, [r1, #16]!"),
                ".endr\n",
                half!("", "", "")
            )
        };
    }
}

/// Halves of a turn that adds products, and one less.
#[cfg(not(feature = "small"))]
macro_rules! added_a_turn {
    () => {
        "8"
    };
    (mask) => {
        "7"
    };
}

/// Halves of a turn that adds products, and one less.
#[cfg(feature = "small")]
macro_rules! added_a_turn {
    () => {
        "1"
    };
    (mask) => {
        "0"
    };
}

/// Where the unrolled halves at label 2 are entered, into `r12`: `first` of them are done apart, and
/// `mask` is one less than there are in the loop. From `r1` and the activations' end in `r12`; spoils
/// `lr`.
macro_rules! entry {
    (first: $first:literal, mask: $($mask:tt)*) => {
        concat!(
            "sub r12, r12, r1
            lsr r12, r12, #4
            rsb r12, r12, #",
            $first,
            "\nand r12, r12, #",
            $($mask)*,
            "\nmov lr, #",
            half_bytes!(),
            "\nmul r12, r12, lr
            adr.w lr, 2f
            add r12, r12, lr
            orr r12, r12, #1"
        )
    };
}

/// See [`super::add_products`]; `skip`: bytes from a pair's last weights to the next pair's
/// first. There is at least one pair of channels and one quad.
#[unsafe(naked)]
pub unsafe extern "C" fn add_products(
    weights: *const PairWeights,
    activations: *const Quad,
    sums: *mut Sums,
    sums_end: *mut Sums,
    activations_end: *const Quad,
    skip: usize,
) {
    // On the stack: activations, sums, their end, where to enter; then what was pushed (9 words)
    // and the arguments: the activations' end at 52, `skip` at 56.
    assembly!(
        "push {{r4-r11, lr}}
        ldr r12, [sp, #36]",
        behind!(),
        entry!(first: "0", mask: added_a_turn!(mask)),
        "push {{r1, r2, r3, r12}}
        1:
        ldrd r1, r12, [sp]
        ldm r12, {{r4-r11}}",
        ready!(),
        "ldr pc, [sp, #12]",
        halves!(added_a_turn!()),
        "ldrd r12, lr, [sp, #52]
        cmp r1, r12
        bne.w 3b
        add r0, lr
        ldrd r12, lr, [sp, #4]
        stm r12!, {{r4-r11}}
        str r12, [sp, #4]
        cmp r12, lr
        bne.w 1b
        add sp, #16
        pop {{r4-r11, pc}}",
    )
}

/// See [`super::Pairs::outputs`]; `ends`: one past each pixel's last byte, `channel`: the first
/// channel's place from there. There is at least one pair of channels and one quad.
#[unsafe(naked)]
pub unsafe extern "C" fn outputs(
    weights: *const PairWeights,
    activations: *const Quad,
    constants: *const [Constants; 2],
    channel: isize,
    activations_end: *const Quad,
    rounding: i32,
    end_0: *mut u8,
    end_1: *mut u8,
    end_2: *mut u8,
    end_3: *mut u8,
) {
    // On the stack: activations, constants, channel, where to enter; then what was pushed (9
    // words) and the arguments: the activations' end at 52, rounding at 56, ends from 60 on.
    assembly!(
        "push {{r4-r11, lr}}
        ldr r12, [sp, #36]",
        behind!(),
        entry!(first: "1", mask: halves_a_turn!(mask)),
        "push {{r1, r2, r3, r12}}
        1:
        ldrd r1, r12, [sp]",
        first_half!(),
        "ldr pc, [sp, #12]",
        halves!(halves_a_turn!()),
        "ldrd r12, lr, [sp, #52]
        cmp r1, r12
        bne.w 3b
        ldr r1, [sp, #4]
        ldrd r2, r3, [r1, #4]
        lsl.w r12, lr, r3",
        requantise!("lsls ", "asrs ", "r4", "r5", "r6", "r7"),
        "ldr r12, [sp, #56]
        ldrd r2, r3, [r1, #16]
        adds r1, #24
        str r1, [sp, #4]
        lsl.w r12, r12, r3",
        requantise!("lsl.w ", "asr.w ", "r8", "r9", "r10", "r11"),
        "bfi r4, r8, #8, #8
        bfi r5, r9, #8, #8
        bfi r6, r10, #8, #8
        bfi r7, r11, #8, #8
        ldr r1, [sp, #8]
        ldrd r2, r3, [sp, #60]
        strh r4, [r2, r1]
        strh r5, [r3, r1]
        ldrd r2, r3, [sp, #68]
        strh r6, [r2, r1]
        strh r7, [r3, r1]
        adds r1, #2
        str r1, [sp, #8]
        bne.w 1b
        add sp, #16
        pop {{r4-r11, pc}}",
    )
}
