//! Filters of three by three taps in assembly.

use super::{CHANNELS, Filter};
use crate::channels::CHANNEL_BYTES;

/// What the loops know.
#[repr(C)]
pub(super) struct Run {
    /// Bytes from a tap to the next, and from a row of taps to the next.
    pub tap: usize,
    pub row: usize,
    /// The input's zero point.
    pub zero: i32,
    /// Twice the output's zero point, and one: the rounding of a shift by one.
    pub output_zero: i32,
}

/// The words of two channels for a row of taps, whose weights stand in the low halves of these
/// registers, and in their high halves, to the filters at these offsets from `r0`; spoils `r12`.
macro_rules! pairs {
    ($a:literal, $b:literal, $c:literal, $low:literal, $high:literal) => {
        concat!(
            "pkhbt r12, ",
            $a,
            ", ",
            $b,
            ", lsl #16\n",
            "pkhtb ",
            $a,
            ", ",
            $b,
            ", ",
            $a,
            ", asr #16\n",
            "str r12, [r0, #",
            $low,
            "]\n",
            "pkhtb r12, ",
            $c,
            ", ",
            $b,
            ", asr #16\n",
            "pkhbt ",
            $b,
            ", ",
            $b,
            ", ",
            $c,
            ", lsl #16\n",
            "strd ",
            $a,
            ", r12, [r0, #",
            $high,
            "]\n",
            "str ",
            $b,
            ", [r0, #",
            $low,
            " + 4]\n",
        )
    };
}

/// See [`super::Weights::prepare`]: gives whether biases and factors were all within limits.
///
/// # Safety
/// Four weights of each tap lie in memory that may be read.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn prepare(
    filters: *mut [Filter; CHANNELS],
    weights: *const u8,
    constants: *const [[u8; CHANNEL_BYTES]; CHANNELS],
    run: *const Run,
) -> bool {
    assembly!(
        // Sums of doubled weights stand in r10 (channels 0 and 2) and r11 (1 and 3). The rows of words
        // are written in the order 0, 2, 1: lr says how far ahead the next one is.
        "push {{r2-r11, lr}}
        ldrd r2, r3, [r3]
        adds r0, #16
        mov r10, #0
        mov r11, #0
        mov lr, #16
        2:
        ldr r5, [r1]
        ldr r7, [r1, r2]
        ldr r9, [r1, r2, lsl #1]
        add r1, r3
        sxtb16 r4, r5
        sxtb16 r5, r5, ror #8
        sxtb16 r6, r7
        sxtb16 r7, r7, ror #8
        sxtb16 r8, r9
        sxtb16 r9, r9, ror #8
        sadd16 r4, r4, r4
        sadd16 r5, r5, r5
        sadd16 r6, r6, r6
        sadd16 r7, r7, r7
        sadd16 r8, r8, r8
        sadd16 r9, r9, r9
        sadd16 r10, r10, r4
        sadd16 r11, r11, r5
        sadd16 r10, r10, r6
        sadd16 r11, r11, r7
        sadd16 r10, r10, r8
        sadd16 r11, r11, r9",
        pairs!("r4", "r6", "r8", "0", "{filter} * 2"),
        pairs!("r5", "r7", "r9", "{filter}", "{filter} * 3"),
        "add r0, lr
        sub lr, lr, #24
        cmn lr, #56
        bne 2b
        // Requantisation: r0 is 8 bytes before the first filter.
        pop {{r2, r3}}
        adds r0, #8
        ldrd r9, r3, [r3, #8]
        mov lr, #{channels}
        3:
        ldr r8, [r2], #4
        ldr r4, [r2], #4
        ldr r6, [r2], #4
        sxth r7, r10
        lsr r12, r10, #16
        mov r10, r11
        mov r11, r12
        add r12, r8, #{limit}
        cmp r12, #{limit} * 2
        bhs 4f
        mvns r5, r6
        cmp r5, #22
        bhs 4f
        rsbs r6, r6, #0
        cmp r4, #0
        blt 4f
        lsl r5, r3, r5
        lsl.w r8, r8, #1
        mls r7, r9, r7, r8
        stm r0, {{r4-r7}}
        adds r0, #{filter}
        subs lr, lr, #1
        bne 3b
        movs r0, #1
        pop {{r4-r11, pc}}
        4:
        movs r0, #0
        pop {{r4-r11, pc}}",
        filter = const size_of::<Filter>(),
        channels = const CHANNELS,
        limit = const Filter::BIAS_LIMIT,
    )
}
