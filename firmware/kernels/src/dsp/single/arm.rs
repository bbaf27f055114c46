//! The loop over eights in assembly.
//!
//! Weights are at `r0`, activations at `r1`, the sums of two channels in `r12` and `lr`.

use super::{Constants, Eight, EightWeights};

#[cfg(not(feature = "dual-issue"))]
#[macro_use]
mod eight {
    //! Eights for a core that issues one instruction at a time: as few as there can be.

    macro_rules! eight_bytes {
        () => {
            "72"
        };
    }

    /// Before the first eight.
    macro_rules! ready {
        () => {
            ""
        };
    }

    /// As many eights, entered at label 2, begun again at label 3.
    macro_rules! eights {
        ($($count:tt)*) => {
            concat!(
                ".balign 4
            3:
            2:
            .rept ",
                $($count)*,
                "
            ldm.w r0!, {{r2, r3, r4, r5}}
            ldm.w r1!, {{r6, r7, r8, r9}}
            sxtb16 r10, r2
            sxtb16 r11, r2, ror #8
            smlad r12, r10, r6, r12
            smlad lr, r11, r6, lr
            sxtb16 r10, r3
            sxtb16 r11, r3, ror #8
            smlad r12, r10, r7, r12
            smlad lr, r11, r7, lr
            sxtb16 r10, r4
            sxtb16 r11, r4, ror #8
            smlad r12, r10, r8, r12
            smlad lr, r11, r8, lr
            sxtb16 r10, r5
            sxtb16 r11, r5, ror #8
            smlad r12, r10, r9, r12
            smlad lr, r11, r9, lr
            .endr"
            )
        };
    }
}

#[cfg(feature = "dual-issue")]
#[macro_use]
mod eight {
    //! Eights for a core that issues a load beside a multiplication: each word is loaded alone, two
    //! cycles before it is used, an eight's first words before it begins.

    macro_rules! eight_bytes {
        () => {
            "88"
        };
    }

    /// Before the first eight.
    macro_rules! ready {
        () => {
            "ldr r2, [r0]
            ldr r6, [r1]"
        };
    }

    macro_rules! eight {
        ($weights:literal, $activations:literal) => {
            concat!(
                "sxtb16 r10, r2
                ldr.n r3, [r0, #4]
                sxtb16 r11, r2, ror #8
                ldr.n r7, [r1, #4]
                smlad r12, r10, r6, r12
                ldr.n r4, [r0, #8]
                smlad lr, r11, r6, lr
                ldr.w r8, [r1, #8]
                sxtb16 r10, r3
                ldr.n r5, [r0, #12]
                sxtb16 r11, r3, ror #8
                ldr.w r9, [r1, #12]
                smlad r12, r10, r7, r12
                smlad lr, r11, r7, lr
                sxtb16 r10, r4\n",
                $weights,
                "\nsxtb16 r11, r4, ror #8\n",
                $activations,
                "\nsmlad r12, r10, r8, r12
                smlad lr, r11, r8, lr
                sxtb16 r10, r5
                sxtb16 r11, r5, ror #8
                smlad r12, r10, r9, r12
                smlad lr, r11, r9, lr\n"
            )
        };
    }

    /// As many eights, entered at label 2, begun again at label 3.
    macro_rules! eights {
        ($($count:tt)*) => {
            concat!(
                ".balign 4
                3:
                ldr r2, [r0]
                ldr r6, [r1]
                2:
                .rept ",
                $($count)*,
                " - 1\n",
                eight!("ldr r2, [r0, #16]!", "ldr r6, [r1, #16]!"),
                ".endr\n",
                eight!("adds r0, #16", "adds r1, #16")
            )
        };
    }
}

/// Eights of a turn, and one less.
#[cfg(not(any(feature = "small", feature = "dual-issue")))]
macro_rules! eights_a_turn {
    () => {
        "8"
    };
    (mask) => {
        "7"
    };
}

/// Eights of a turn, and one less: each takes more code there.
#[cfg(all(feature = "dual-issue", not(feature = "small")))]
macro_rules! eights_a_turn {
    () => {
        "4"
    };
    (mask) => {
        "3"
    };
}

/// Eights of a turn, and one less.
#[cfg(feature = "small")]
macro_rules! eights_a_turn {
    () => {
        "1"
    };
    (mask) => {
        "0"
    };
}

/// Adds the products of `activations` with the weights of each pair of channels to where its sums
/// start: the first words of its constants. Puts bytes of them to `to`, as [`super::outputs_of_one`]
/// says, or, if that is null, the sums to where they started.
///
/// `skip`: bytes from a pair's last weights to the next pair's first, if sums are kept. There is at least one pair of
/// channels and one entry of activations.
#[unsafe(naked)]
pub unsafe extern "C" fn pairs(
    weights: *const EightWeights,
    activations: *const Eight,
    constants: *const [Constants; 2],
    to: *mut u8,
    activations_end: *const Eight,
    rounding: i32,
    constants_end: *const [Constants; 2],
    skip: usize,
) {
    // The unrolled loop is entered so that it ends with the last activations. On the stack:
    // activations, constants, `to`, where to enter; then what was pushed (9 words) and the arguments:
    // the activations' end at 52, rounding at 56, the constants' end at 60, `skip` at 64.
    assembly!(
        "push {{r4-r11, lr}}
        ldr r12, [sp, #36]
        sub r12, r12, r1
        lsr r12, r12, #4
        rsb r12, r12, #0",
        concat!("and r12, r12, #", eights_a_turn!(mask)),
        concat!("mov lr, #", eight_bytes!()),
        "mul r12, r12, lr
        adr.w lr, 2f
        add r12, r12, lr
        orr r12, r12, #1
        push {{r1, r2, r3, r12}}
        1:
        ldrd r1, r2, [sp]
        ldr.w r12, [r2]
        ldr.w lr, [r2, #12]",
        ready!(),
        "ldr pc, [sp, #12]",
        eights!(eights_a_turn!()),
        "ldrd r2, r3, [sp, #52]
        cmp r1, r2
        bne.w 3b
        ldrd r1, r6, [sp, #4]
        cbz r6, 5f
        ldrd r4, r5, [r1, #4]
        ldrd r7, r8, [r1, #16]
        lsl.w r12, r12, #1
        lsl.w lr, lr, #1
        lsl.w r9, r3, r5
        lsl.w r10, r3, r8
        add.w r9, r9, r12, asr #31
        add.w r10, r10, lr, asr #31
        smmlar r12, r12, r4, r9
        smmlar lr, lr, r7, r10
        asr.w r12, r12, r5
        asr.w lr, lr, r8
        ssat r12, #8, r12, asr #1
        ssat lr, #8, lr, asr #1
        bfi r12, lr, #8, #8
        strh r12, [r6], #2
        4:
        adds r1, #24
        strd r1, r6, [sp, #4]
        ldr r2, [sp, #60]
        cmp r1, r2
        bne.w 1b
        add sp, #16
        pop {{r4-r11, pc}}
        5:
        str.w r12, [r1]
        str.w lr, [r1, #12]
        ldr r2, [sp, #64]
        add r0, r2
        b 4b",
    )
}

/// See [`super::expand_pairs`]; there is at least one.
#[unsafe(naked)]
pub unsafe extern "C" fn expand_pairs(
    values: *const [u8; 16],
    held: *mut [Eight; 2],
    count: usize,
) {
    assembly!(
        "push {{r4-r11, lr}}
        1:
        ldr r6, [r0, #4]
        ldr r8, [r0, #8]
        ldr r10, [r0, #12]
        ldr r4, [r0], #16
        sxtb16 r5, r4, ror #8
        sxtb16 r4, r4
        sxtb16 r7, r6, ror #8
        sxtb16 r6, r6
        sxtb16 r9, r8, ror #8
        sxtb16 r8, r8
        sxtb16 r11, r10, ror #8
        sxtb16 r10, r10
        stm r1!, {{r4-r11}}
        subs r2, #1
        bne 1b
        pop {{r4-r11, pc}}",
    )
}
