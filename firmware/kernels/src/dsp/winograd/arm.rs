//! The loops over values of tiles in assembly.

use super::{Constants, TileSums, TileWeights, Tiles, Word};

/// What [`transform`] goes through.
#[repr(C)]
pub struct Run {
    /// Bytes from a row to the next, three times as many, and from a column to the next.
    pub down: usize,
    pub three_down: usize,
    pub across: usize,
    /// Words of a pixel.
    pub quads: usize,
    /// Bytes from a position to the next, and from a column of positions to the next and to the last.
    pub position: usize,
    pub four_positions: usize,
    pub twelve_positions: usize,
}

/// A column of inputs at `r0`: its rows are taken together, even halves, then odd ones, in the order 0, 2,
/// 3, 1, and written to `r3`.
macro_rules! column {
    () => {
        "ldr r4, [r0]
        ldr r5, [r0, r1]
        ldr.w r6, [r0, r1, lsl #1]
        ldr r7, [r0, r2]
        sxtb16 r8, r4
        sxtb16 r9, r5
        sxtb16 r10, r6
        sxtb16 r11, r7
        sxtb16 r4, r4, ror #8
        sxtb16 r5, r5, ror #8
        sxtb16 r6, r6, ror #8
        sxtb16 r7, r7, ror #8
        ssub16 r8, r8, r10
        sadd16 r12, r9, r10
        ssub16 r10, r10, r9
        ssub16 r11, r9, r11
        stm r3!, {{r8, r10, r11, r12}}
        ssub16 r4, r4, r6
        sadd16 r12, r5, r6
        ssub16 r6, r6, r5
        ssub16 r7, r5, r7
        stm r3!, {{r4, r6, r7, r12}}
        add r0, lr\n"
    };
}

/// A row of what columns gave: its columns are taken together and written to four columns of positions
/// from `r1` on.
macro_rules! row {
    ($a:literal, $b:literal, $c:literal, $d:literal) => {
        concat!(
            "ssub16 ",
            $a,
            ", ",
            $a,
            ", ",
            $c,
            "\n",
            "sadd16 r12, ",
            $b,
            ", ",
            $c,
            "\n",
            "ssub16 ",
            $c,
            ", ",
            $c,
            ", ",
            $b,
            "\n",
            "ssub16 ",
            $b,
            ", ",
            $b,
            ", ",
            $d,
            "\n",
            "str ",
            $a,
            ", [r1]\n",
            "str r12, [r1, r2]\n",
            "str.w ",
            $c,
            ", [r1, r2, lsl #1]\n",
            "str ",
            $b,
            ", [r1, r3]\n",
        )
    };
}

/// Two rows of halves, `$at` bytes behind the first; `$next` leads from the first one's positions to the
/// second's.
macro_rules! rows {
    ($at:literal, $next:literal) => {
        concat!(
            "ldrd r4, r5, [sp, #",
            $at,
            "]\n",
            "ldrd r6, r7, [sp, #32 + ",
            $at,
            "]\n",
            "ldrd r8, r9, [sp, #64 + ",
            $at,
            "]\n",
            "ldrd r10, r11, [sp, #96 + ",
            $at,
            "]\n",
            row!("r4", "r6", "r8", "r10"),
            $next,
            "\n",
            row!("r5", "r7", "r9", "r11"),
        )
    };
}

/// See [`super::transform`]; there is at least one quad.
#[unsafe(naked)]
pub unsafe extern "C" fn transform(from: *const u8, to: *mut Word, run: *const Run) {
    // On the stack: what columns gave (32 words), where values go, quads that are left, the run.
    assembly!(
        "push {{r4-r11, lr}}
        sub sp, #140
        ldr r3, [r2, #12]
        strd r1, r3, [sp, #128]
        str r2, [sp, #136]
        1:
        ldr r3, [sp, #136]
        ldrd r1, r2, [r3]
        ldr lr, [r3, #8]
        mov r3, sp",
        column!(),
        column!(),
        column!(),
        column!(),
        "sub r0, r0, lr, lsl #2
        adds r0, #4
        ldr r3, [sp, #136]
        ldr r1, [sp, #128]
        ldrd lr, r2, [r3, #16]
        ldr r3, [r3, #24]
        add r1, lr",
        rows!("0", "add r1, lr"),
        "add r1, lr",
        rows!("8", "sub r1, r1, r3, lsr #2"),
        "add r1, lr
        adds r1, #16",
        rows!("16", "add r1, lr"),
        "add r1, lr",
        rows!("24", "sub r1, r1, r3, lsr #2"),
        "adds r1, #16
        ldr r12, [sp, #132]
        subs.w r12, r12, #1
        strd r1, r12, [sp, #128]
        bne.w 1b
        add sp, #140
        pop {{r4-r11, pc}}",
    )
}

#[cfg(not(feature = "dual-issue"))]
#[macro_use]
mod half {
    //! Weights of two channels and values of four tiles for two input channels, for a core that issues one
    //! instruction at a time: as few as there can be.

    /// Bytes of a half.
    macro_rules! half_bytes {
        () => {
            "44"
        };
    }

    /// Before the first half.
    macro_rules! ready {
        () => {
            ""
        };
    }

    /// Eight halves, entered at label 2, begun again at label 3.
    macro_rules! halves {
        () => {
            ".balign 4
            3:
            2:
            .rept 8
            ldrd r2, r3, [r0], #8
            ldrd r12, lr, [r1], #8
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
        };
    }
}

#[cfg(feature = "dual-issue")]
#[macro_use]
mod half {
    //! The same for a core that issues a load beside a multiplication: each word is loaded alone, before it
    //! is used. Weights and the first two words of values are loaded before the half begins.

    /// Bytes of a half that loads for the next.
    macro_rules! half_bytes {
        () => {
            "56"
        };
    }

    /// Before the first half.
    macro_rules! ready {
        () => {
            "ldrd r2, r3, [r0]
            ldrd r12, lr, [r1]"
        };
    }

    /// A half but for what it loads for the next.
    macro_rules! half {
        ($value:literal, $first:literal, $other:literal, $second:literal) => {
            concat!(
                "smlad r4, r2, r12, r4
                smlad r8, r3, r12, r8
                ldr r12, [r1, #8]
                smlad r5, r2, lr, r5
                smlad r9, r3, lr, r9
                ldr lr, [r1, #12]
                smlad r6, r2, r12, r6
                smlad r10, r3, r12, r10\n",
                $value,
                "\nsmlad r7, r2, lr, r7\n",
                $first,
                "\nsmlad r11, r3, lr, r11\n",
                $other,
                "\n",
                $second,
                "\n"
            )
        };
    }

    /// Eight halves, entered at label 2, begun again at label 3.
    macro_rules! halves {
        () => {
            concat!(
                ".balign 4
                3:
                ldrd r2, r3, [r0]
                ldrd r12, lr, [r1]
                2:
                .rept 7\n",
                half!(
                    "ldr r12, [r1, #16]!",
                    "ldr r2, [r0, #8]!",
                    "ldr.w r3, [r0, #4]",
                    "ldr lr, [r1, #4]"
                ),
                ".endr\n",
                half!("adds r1, #16", "adds r0, #8", "", "")
            )
        };
    }
}

/// Four times two outputs of a row of two tiles, `r1` at what positions gave for the first: rows of positions
/// `$first` and `$second` are joined by `$join`. Added to the sums at `r2`.
macro_rules! joined {
    ($first:literal, $second:literal, $join:literal) => {
        concat!(
            "ldrd r4, r5, [r1, #",
            $first,
            "]\n",
            "ldrd r10, r11, [r1, #",
            $second,
            "]\n",
            "ldrd r6, r7, [r1, #128 + ",
            $first,
            "]\n",
            "ldrd r8, r9, [r1, #128 + ",
            $second,
            "]\n",
            $join,
            " r4, r4, r10\n",
            $join,
            " r5, r5, r11\n",
            $join,
            " r6, r6, r8\n",
            $join,
            " r7, r7, r9\n",
            "add r4, r6\n",
            "add r5, r7\n",
            "ldrd r8, r9, [r1, #256 + ",
            $first,
            "]\n",
            "ldrd r10, r11, [r1, #256 + ",
            $second,
            "]\n",
            $join,
            " r8, r8, r10\n",
            $join,
            " r9, r9, r11\n",
            "sub.w r4, r4, r8\n",
            "sub.w r5, r5, r9\n",
            "add r6, r8\n",
            "add r7, r9\n",
            "ldrd r8, r9, [r1, #384 + ",
            $first,
            "]\n",
            "ldrd r10, r11, [r1, #384 + ",
            $second,
            "]\n",
            $join,
            " r8, r8, r10\n",
            $join,
            " r9, r9, r11\n",
            "add r6, r8\n",
            "add r7, r9\n",
            "ldm.w r2, {{r8-r11}}\n",
            "add r4, r8\n",
            "add r5, r9\n",
            "add r6, r10\n",
            "add r7, r11\n",
            "stm r2!, {{r4-r7}}\n",
        )
    };
}

/// See [`super::add_tiles`]; `position`: bytes of a position's values, `skip`: bytes from a pair's last
/// weights to the next pair's first. There is at least one pair of channels and one of values.
#[unsafe(naked)]
pub unsafe extern "C" fn add_tiles(
    weights: *const TileWeights,
    values: *const Tiles,
    sums: *mut TileSums,
    sums_end: *mut TileSums,
    position: usize,
    skip: usize,
) {
    // On the stack, which begins at a multiple of 64: what each position gave (16 times 8 words); from 512
    // on values, sums, their end, bytes of a position, to skip, where halves are entered, the stack before;
    // from 544 on a position's end among the values and where its sums go. Of two positions the
    // first one's place has no bit 32 set.
    assembly!(
        "push {{r4-r11, lr}}
        ldrd r4, r5, [sp, #36]
        mov r7, sp
        sub.w r6, r7, #552
        bic r6, r6, #63
        mov sp, r6
        strd r1, r2, [sp, #512]
        strd r3, r4, [sp, #520]
        lsrs r4, r4, #4
        rsbs r4, r4, #0
        and r4, r4, #7",
        concat!("movs r6, #", half_bytes!()),
        "mul r4, r4, r6
        adr.w r6, 2f
        add r4, r6
        orr r4, r4, #1
        strd r5, r4, [sp, #528]
        str r7, [sp, #536]
        1:
        ldr r1, [sp, #512]
        ldr r2, [sp, #524]
        mov r3, sp
        add r2, r1
        strd r2, r3, [sp, #544]
        4:
        movs r4, #0
        movs r5, #0
        movs r6, #0
        movs r7, #0
        mov r8, r4
        mov r9, r4
        mov r10, r4
        mov r11, r4
        5:",
        ready!(),
        "ldr pc, [sp, #532]",
        halves!(),
        "ldrd r2, r3, [sp, #544]
        cmp r1, r2
        bne.w 3b
        ldr r12, [sp, #524]
        stm r3!, {{r4-r11}}
        add r2, r12
        strd r2, r3, [sp, #544]
        lsls r2, r3, #26
        bmi.w 5b
        add.w r12, sp, #512
        cmp r3, r12
        bne.w 4b
        mov r1, sp
        ldr r2, [sp, #516]
        6:",
        joined!("32", "64", "sub.w"),
        joined!("0", "96", "add.w"),
        "adds r1, #8
        lsls r3, r1, #27
        bne.w 6b
        ldrd r3, r4, [sp, #520]
        ldr r4, [sp, #528]
        str r2, [sp, #516]
        add r0, r4
        cmp r2, r3
        bne.w 1b
        ldr r7, [sp, #536]
        mov sp, r7
        pop {{r4-r11, pc}}",
    )
}

/// Requantises four sums: multiplier in `r2`, shift in `r3`, rounding in `r12`; spoils `lr`. Sums of four
/// times a value are halved where others are doubled.
macro_rules! requantise {
    ($shift:literal, $a:literal, $b:literal, $c:literal, $d:literal) => {
        concat!(
            $shift, $a, ", ", $a, ", #1\n",
            $shift, $b, ", ", $b, ", #1\n",
            $shift, $c, ", ", $c, ", #1\n",
            $shift, $d, ", ", $d, ", #1\n",
            requantise!(@high $a),
            requantise!(@high $b),
            requantise!(@high $c),
            requantise!(@high $d),
            $shift, $a, ", ", $a, ", r3\n",
            $shift, $b, ", ", $b, ", r3\n",
            $shift, $c, ", ", $c, ", r3\n",
            $shift, $d, ", ", $d, ", r3\n",
            requantise!(@saturate $a),
            requantise!(@saturate $b),
            requantise!(@saturate $c),
            requantise!(@saturate $d),
        )
    };
    // A doubled sum has its sign still.
    (@high $register:literal) => {
        concat!(
            "add.w lr, r12, ", $register, ", asr #31\n",
            "smmlar ", $register, ", ", $register, ", r2, lr\n",
        )
    };
    (@saturate $register:literal) => {
        concat!("ssat ", $register, ", #8, ", $register, ", asr #1\n")
    };
}

/// See [`super::outputs_of_tiles`]; `ends`: one past the last byte of each of sixteen pixels, `channel`: the
/// first channel's place from there. There is at least one pair of channels.
#[unsafe(naked)]
pub unsafe extern "C" fn outputs(
    sums: *const TileSums,
    constants: *const [Constants; 2],
    channel: isize,
    rounding: i32,
    ends: *const *mut u8,
) {
    // On the stack: where ends are, the last one's end, channel, rounding; then what was pushed (9 words)
    // and the ends' place at 52. Four pixels at a time: a row of two tiles.
    assembly!(
        "push {{r4-r11, lr}}
        ldr r12, [sp, #36]
        add.w lr, r12, #64
        push {{r2, r3}}
        push {{r12, lr}}
        1:
        ldm r0!, {{r4-r7}}
        add.w r12, r0, #48
        ldm r12, {{r8-r11}}
        ldrd r2, r3, [r1, #4]
        ldr r12, [sp, #12]
        lsl.w r12, r12, r3",
        requantise!("asrs ", "r4", "r5", "r6", "r7"),
        "ldrd r2, r3, [r1, #16]
        ldr r12, [sp, #12]
        lsl.w r12, r12, r3",
        requantise!("asr.w ", "r8", "r9", "r10", "r11"),
        "bfi r4, r8, #8, #8
        bfi r5, r9, #8, #8
        bfi r6, r10, #8, #8
        bfi r7, r11, #8, #8
        ldr r12, [sp]
        ldr r3, [sp, #8]
        ldm r12!, {{r8-r11}}
        strh r4, [r8, r3]
        strh r5, [r9, r3]
        strh r6, [r10, r3]
        strh r7, [r11, r3]
        ldr r2, [sp, #4]
        str r12, [sp]
        cmp r12, r2
        bne.w 1b
        sub.w r12, r12, #64
        str r12, [sp]
        adds r0, #64
        adds r1, #24
        adds r3, #2
        str r3, [sp, #8]
        bne.w 1b
        add sp, #16
        pop {{r4-r11, pc}}",
    )
}
