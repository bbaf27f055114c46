//! The loop that expands pixels in assembly: four pixels of four channels at a time, twelve
//! instructions apart from loads and stores.

use super::Run;
use crate::dsp::planes::CHANNEL_WORDS;

/// Two pixels, in `r5` and `r6`, to four words at `r4`.
macro_rules! two_pixels {
    () => {
        "pkhbt r9, r5, r6, lsl #16
        pkhtb r6, r6, r5, asr #16
        sxtb16 r5, r9, ror #8
        sxtb16 r9, r9
        str r5, [r4, #{channel}]
        sxtb16 r5, r6
        sxtb16 r6, r6, ror #8
        str r5, [r4, #{channel} * 2]
        str r6, [r4, #{channel} * 3]
        str r9, [r4], #4"
    };
}

/// Expands the rows of a run.
///
/// # Safety
/// The pixels lie in memory that may be read, their words in planes that may be written.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn expand(from: *const u8, to: *mut u32, run: *const Run) {
    assembly!(
        // On the stack: bytes to the next row of the tensor and of the planes, zero point.
        "push {{r4-r11, lr}}
        mov r4, r1
        ldrd r5, r6, [r2, #20]
        ldr r7, [r2, #28]
        push {{r5-r7}}
        ldm r2, {{r1, r2, r11, r12, lr}}
        2:
        tst lr, #1
        bne.w 8f
        3:
        movs.w r3, r12
        beq 5f
        4:
        ldr r5, [r0]
        ldr r6, [r0, r1]
        ldr r7, [r0, r1, lsl #1]
        ldr r8, [r0, r2]
        pkhbt r9, r5, r6, lsl #16
        pkhtb r6, r6, r5, asr #16
        pkhbt r10, r7, r8, lsl #16
        pkhtb r8, r8, r7, asr #16
        sxtb16 r5, r9
        sxtb16 r7, r10
        sxtb16 r9, r9, ror #8
        sxtb16 r10, r10, ror #8
        strd r9, r10, [r4, #{channel}]
        sxtb16 r9, r6
        sxtb16 r10, r8
        sxtb16 r6, r6, ror #8
        sxtb16 r8, r8, ror #8
        strd r9, r10, [r4, #{channel} * 2]
        strd r6, r8, [r4, #{channel} * 3]
        add r0, r0, r1, lsl #2
        strd r5, r7, [r4], #8
        subs r3, #1
        bne 4b
        5:
        tst lr, #6
        bne 9f
        6:
        ldrd r5, r6, [sp]
        add r0, r5
        add r4, r6
        subs.w r11, r11, #1
        bne 2b
        add sp, #12
        pop {{r4-r11, pc}}
        8:
        ldr r5, [sp, #8]
        ldr r6, [r0]
        add r0, r1",
        two_pixels!(),
        "b 3b
        9:
        tst lr, #4
        beq 7f
        ldr r5, [r0]
        ldr r6, [r0, r1]
        add r0, r0, r1, lsl #1",
        two_pixels!(),
        "tst lr, #2
        beq 6b
        7:
        ldr r5, [r0]
        ldr r6, [sp, #8]
        add r0, r1",
        two_pixels!(),
        "b 6b",
        channel = const CHANNEL_WORDS * 4,
    )
}
