//! The loops over rows without zeros in assembly.
//!
//! A row is read from `r0` on, activations are at `r1`. A group is a word of columns and two of weights.

use super::{Constants, One, Quad};

#[cfg(not(feature = "dual-issue"))]
#[macro_use]
mod four {
    //! Pairs for a core that issues one instruction at a time: as few as there can be.

    /// A pair for four pixels, whose sums are in `r4` to `r7`: turn of the columns' word, weights, their turn.
    macro_rules! pair {
        ($turn:literal, $weights:literal) => {
            concat!(
                "uxtb.w r12, r2, ror #",
                $turn,
                "\n",
                "add.w r12, r1, r12, lsl #4
                ldm.w r12, {{r8, r9, r10, r11}}\n",
                "sxtb16 r12, ",
                $weights,
                "\n",
                "smlad r4, r12, r8, r4
                smlad r5, r12, r9, r5
                smlad r6, r12, r10, r6
                smlad r7, r12, r11, r7\n"
            )
        };
    }

    /// A group: its columns to `r3`, its weights to `r4` and `r7`.
    macro_rules! group {
        () => {
            "ldm r0!, {{r3, r4, r7}}"
        };
    }

    /// The groups of a row whose word is in `r12`, for four pixels; where they end stands at `sp` + 8. They are entered
    /// at the first pair that is not left out, behind a table of where the four begin.
    macro_rules! groups_of_four {
        () => {
            concat!(
                "lsr.w r12, r12, #16
                ldm r0!, {{r2, r3, lr}}
                tbb [pc, r12]
                10:
                .byte (20f - 10b) / 2, (21f - 10b) / 2, (22f - 10b) / 2, (23f - 10b) / 2
                2:
                ldm r0!, {{r2, r3, lr}}
                20:\n",
                pair!("0", "r3"),
                "21:\n",
                pair!("8", "r3, ror #8"),
                "22:\n",
                pair!("16", "lr"),
                "23:\n",
                pair!("24", "lr, ror #8"),
                "ldr r12, [sp, #8]
                cmp r0, r12
                bne.w 2b\n"
            )
        };
    }
}

#[cfg(feature = "dual-issue")]
#[macro_use]
mod four {
    //! Pairs for a core that issues a load beside a multiplication: while one is multiplied, the next one's activations
    //! are loaded, one behind the other, from the address in `lr`; its own are in `r8` to `r11`, its weights in `r12`.

    /// A group: its columns to `r3`, its weights to `r4` and `r7`.
    macro_rules! group {
        () => {
            "ldr r3, [r0], #12
            ldr r4, [r0, #-8]
            ldr r7, [r0, #-4]"
        };
    }

    /// The products of a pair, and the loads of the next.
    macro_rules! pair {
        () => {
            "smlad r4, r12, r8, r4
            ldr.w r8, [lr]
            smlad r5, r12, r9, r5
            ldr.w r9, [lr, #4]
            smlad r6, r12, r10, r6
            ldr.w r10, [lr, #8]
            smlad r7, r12, r11, r7
            ldr.w r11, [lr, #12]\n"
        };
    }

    /// The address of a pair's activations: turn of the columns' word.
    macro_rules! address {
        ($turn:literal) => {
            concat!("uxtb.w lr, r2, ror #", $turn, "\nadd.w lr, r1, lr, lsl #4\n")
        };
    }

    /// The first pair of a row: turn of the columns' word, weights; what else comes before its products.
    macro_rules! first {
        ($turn:literal, $weights:literal, $then:expr) => {
            concat!(
                address!($turn),
                "sxtb16 r12, ",
                $weights,
                "\n",
                "ldr.w r8, [lr]
                ldr.w r9, [lr, #4]
                ldr.w r10, [lr, #8]
                ldr.w r11, [lr, #12]\n",
                $then
            )
        };
    }

    /// The groups of a row whose word is in `r12`, for four pixels; where they end stands at `sp` + 8. They are entered
    /// at the first pair that is not left out, behind a table of where what comes before it begins.
    macro_rules! groups_of_four {
        () => {
            concat!(
                "lsr.w r12, r12, #16
                ldr r2, [r0], #12
                ldr r3, [r0, #-8]
                tbb [pc, r12]
                10:
                .byte (30f - 10b) / 2, (31f - 10b) / 2, (32f - 10b) / 2, (33f - 10b) / 2
                31:\n",
                first!("8", "r3, ror #8", concat!("ldr r3, [r0, #-4]\n", address!("16"))),
                "b.w 21f
                32:
                ldr r3, [r0, #-4]\n",
                first!("16", "r3", address!("24")),
                "b.w 22f
                33:
                ldr r3, [r0, #-4]\n",
                first!("24", "r3, ror #8", "b.w 23f\n"),
                "30:\n",
                first!("0", "r3", address!("8")),
                "20:\n",
                pair!(),
                address!("16"),
                "sxtb16 r12, r3, ror #8
                ldr r3, [r0, #-4]
                21:\n",
                pair!(),
                address!("24"),
                "sxtb16 r12, r3
                22:\n",
                pair!(),
                "sxtb16 r12, r3, ror #8
                23:
                ldr lr, [sp, #8]
                cmp r0, lr
                beq.w 24f
                ldr r2, [r0], #12
                ldr r3, [r0, #-8]\n",
                address!("0"),
                pair!(),
                address!("8"),
                "sxtb16 r12, r3
                b.w 20b
                24:
                smlad r4, r12, r8, r4
                smlad r5, r12, r9, r5
                smlad r6, r12, r10, r6
                smlad r7, r12, r11, r7\n"
            )
        };
    }
}

/// See [`super::Rows::add`]: there is at least one sum. Gives the address behind the rows.
#[unsafe(naked)]
pub unsafe extern "C" fn add(
    words: *const [u8; 4],
    activations: *const Quad,
    sums: *mut [i32; 4],
    sums_end: *mut [i32; 4],
) -> *const [u8; 4] {
    // On the stack: sums, their end, the end of the row.
    assembly!(
        "push {{r4-r11, lr}}
        push {{r2, r3, r12}}
        1:
        ldr r12, [r0], #4
        ldr r3, [sp]
        uxtah r2, r0, r12
        str r2, [sp, #8]
        ldm r3, {{r4-r7}}",
        groups_of_four!(),
        "ldrd r12, lr, [sp]
        stm r12!, {{r4-r7}}
        str r12, [sp]
        cmp r12, lr
        bne.w 1b
        add sp, #12
        pop {{r4-r11, pc}}",
    )
}

/// See [`super::Rows::outputs`]; `ends`: one past each pixel's last byte, `channel`: the first channel's place from
/// there. There is at least one channel. Gives the address behind the rows.
#[unsafe(naked)]
pub unsafe extern "C" fn outputs(
    words: *const [u8; 4],
    activations: *const Quad,
    constants: *const Constants,
    channel: isize,
    rounding: i32,
    end_0: *mut u8,
    end_1: *mut u8,
    end_2: *mut u8,
    end_3: *mut u8,
) -> *const [u8; 4] {
    // On the stack: constants, channel, the end of the row; then what was pushed (9 words) and the arguments: rounding
    // at 48, ends from 52 on.
    assembly!(
        "push {{r4-r11, lr}}
        push {{r2, r3, r12}}
        1:
        ldr r12, [r0], #4
        ldr r3, [sp]
        uxtah r2, r0, r12
        ldr r4, [r3]
        str r2, [sp, #8]
        mov r5, r4
        mov r6, r4
        mov r7, r4",
        groups_of_four!(),
        "ldr.w r8, [sp]
        ldrd r2, r3, [r8, #4]
        add.w r8, r8, #12
        ldr.w r12, [sp, #48]
        str.w r8, [sp]
        lsl.w r12, r12, r3",
        requantise!("lsls ", "asrs ", "r4", "r5", "r6", "r7"),
        "ldr.w r8, [sp, #4]
        ldrd r2, r3, [sp, #52]
        strb.w r4, [r2, r8]
        strb.w r5, [r3, r8]
        ldrd r2, r3, [sp, #60]
        strb.w r6, [r2, r8]
        strb.w r7, [r3, r8]
        adds.w r8, r8, #1
        str.w r8, [sp, #4]
        bne.w 1b
        add sp, #12
        pop {{r4-r11, pc}}",
    )
}

/// See [`super::Rows::add_one`]: there is at least one sum. Gives the address behind the rows.
#[unsafe(naked)]
pub unsafe extern "C" fn add_one(
    words: *const [u8; 4],
    activations: *const One,
    sums: *mut i32,
    sums_end: *mut i32,
) -> *const [u8; 4] {
    // Pairs that are left out have weights of zero: all are added. Each of a group has a register.
    assembly!(
        "push {{r4-r11, lr}}
        push {{r3}}
        1:
        ldr r12, [r0], #4
        ldr r5, [r2]
        uxth r12, r12
        add r6, r0, r12
        2:",
        group!(),
        "uxtb r8, r3
        uxtb r9, r3, ror #8
        uxtb r10, r3, ror #16
        ldr.w r8, [r1, r8, lsl #2]
        lsrs r3, r3, #24
        ldr.w r9, [r1, r9, lsl #2]
        sxtb16 r11, r4
        ldr.w r10, [r1, r10, lsl #2]
        sxtb16 r12, r4, ror #8
        smlad r5, r11, r8, r5
        ldr.w r3, [r1, r3, lsl #2]
        sxtb16 r11, r7
        smlad r5, r12, r9, r5
        sxtb16 r12, r7, ror #8
        cmp r0, r6
        smlad r5, r11, r10, r5
        smlad r5, r12, r3, r5
        bne 2b
        str r5, [r2], #4
        ldr r12, [sp]
        cmp r2, r12
        bne 1b
        add sp, #4
        pop {{r4-r11, pc}}",
    )
}

/// See [`super::finish`]; there is at least one sum.
#[unsafe(naked)]
pub unsafe extern "C" fn finish(
    sums: *const i32,
    constants: *const Constants,
    bytes: *mut u8,
    sums_end: *const i32,
    rounding: i32,
) {
    assembly!(
        "push {{r4-r8, lr}}
        ldr r7, [sp, #24]
        1:
        ldr r12, [r0], #4
        ldm r1!, {{r4, r5, r6}}
        cmp r0, r3
        add r12, r4
        lsl.w r8, r7, r6
        lsl.w r4, r12, #1
        add.w r8, r8, r12, asr #31
        smmlar r4, r4, r5, r8
        asr.w r4, r4, r6
        ssat r4, #8, r4, asr #1
        strb r4, [r2], #1
        bne 1b
        pop {{r4-r8, pc}}",
    )
}

/// See [`super::pair_neighbours`]; there is at least one quad.
#[unsafe(naked)]
pub unsafe extern "C" fn pair_neighbours(quads: *mut Quad, end: *mut Quad) {
    assembly!(
        "push {{r4-r11, lr}}
        1:
        ldm r0, {{r4-r11}}
        pkhbt r2, r4, r8, lsl #16
        pkhtb r8, r8, r4, asr #16
        pkhbt r3, r5, r9, lsl #16
        pkhtb r9, r9, r5, asr #16
        pkhbt r4, r6, r10, lsl #16
        pkhtb r10, r10, r6, asr #16
        pkhbt r5, r7, r11, lsl #16
        pkhtb r11, r11, r7, asr #16
        stm r0!, {{r2, r3, r4, r5, r8, r9, r10, r11}}
        cmp r0, r1
        bne 1b
        pop {{r4-r11, pc}}",
    )
}
