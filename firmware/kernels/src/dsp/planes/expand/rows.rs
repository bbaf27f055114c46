//! The loop that expands pixels in assembly: four pixels of four channels at a time, sixteen
//! instructions apart from loads and stores.

use super::Run;
use crate::dsp::planes::{CHANNEL_WORDS, ROW_WORDS};

/// Two pixels, in `r5` and `r6`, to four words at `r4`.
macro_rules! two_pixels {
    () => {
        concat!(
            "sxtb16 r8, r5\n",
            "sxtb16 r5, r5, ror #8\n",
            "sxtb16 r9, r6\n",
            "sxtb16 r6, r6, ror #8\n",
            "pkhbt r10, r8, r9, lsl #16\n",
            "pkhtb r8, r9, r8, asr #16\n",
            "pkhbt r9, r5, r6, lsl #16\n",
            "pkhtb r5, r6, r5, asr #16\n",
            "str r9, [r4, #{channel}]\n",
            "str r8, [r4, #{channel} * 2]\n",
            "str r5, [r4, #{channel} * 3]\n",
            "str r10, [r4], #4\n",
        )
    };
}

/// Expands the rows of a run.
///
/// # Safety
/// The pixels lie in memory that may be read, their words in planes that may be written.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn expand(run: *mut Run) {
    core::arch::naked_asm!(
        "push {{r0, r4-r11, lr}}",
        "2:",
        "mov lr, r0",
        "ldm lr, {{r0-r4, r7, r11}}",
        "cmp r3, #0",
        "beq 4f",
        "cmp r11, #0",
        "bne 8f",
        "3:",
        "ldr r5, [r0]",
        "ldr r6, [r0, r1]",
        "sxtb16 r8, r5",
        "sxtb16 r5, r5, ror #8",
        "sxtb16 r9, r6",
        "sxtb16 r6, r6, ror #8",
        "pkhbt r7, r8, r9, lsl #16",
        "pkhtb r8, r9, r8, asr #16",
        "pkhbt r9, r5, r6, lsl #16",
        "pkhtb r5, r6, r5, asr #16",
        "ldr r6, [r0, r1, lsl #1]",
        "ldr r10, [r0, r2]",
        "add r0, r0, r1, lsl #2",
        "sxtb16 r11, r6",
        "sxtb16 r6, r6, ror #8",
        "sxtb16 r12, r10",
        "sxtb16 r10, r10, ror #8",
        "pkhbt lr, r11, r12, lsl #16",
        "pkhtb r11, r12, r11, asr #16",
        "pkhbt r12, r6, r10, lsl #16",
        "pkhtb r6, r10, r6, asr #16",
        "strd r9, r12, [r4, #{channel}]",
        "strd r8, r11, [r4, #{channel} * 2]",
        "strd r5, r6, [r4, #{channel} * 3]",
        "strd r7, lr, [r4], #8",
        "subs r3, r3, #1",
        "bne 3b",
        "ldr lr, [sp]",
        "ldr r11, [lr, #24]",
        "4:",
        // No group: a head may still come first.
        "ldr r7, [lr, #20]",
        "ldr r2, [lr, #28]",
        "ldr r3, [lr, #12]",
        "cmp r3, #0",
        "bne 5f",
        "cmp r11, #0",
        "beq 5f",
        "mov r5, r7",
        "ldr r6, [r0]",
        "add r0, r0, r1",
        two_pixels!(),
        "5:",
        "cmp r2, #0",
        "beq 7f",
        "tst r2, #2",
        "beq 6f",
        "ldr r5, [r0]",
        "ldr r6, [r0, r1]",
        "add r0, r0, r1, lsl #1",
        two_pixels!(),
        "6:",
        "tst r2, #1",
        "beq 7f",
        "ldr r5, [r0]",
        "mov r6, r7",
        two_pixels!(),
        "7:",
        "ldrd r5, r6, [lr, #32]",
        "subs r6, r6, #1",
        "beq 9f",
        "ldr r4, [lr]",
        "ldr r3, [lr, #16]",
        "add r4, r4, r5",
        "add r3, r3, #{row}",
        "str r4, [lr]",
        "str r3, [lr, #16]",
        "str r6, [lr, #36]",
        "mov r0, lr",
        "b 2b",
        // The first pixel, beside zero point.
        "8:",
        "mov r5, r7",
        "ldr r6, [r0]",
        "add r0, r0, r1",
        two_pixels!(),
        "b 3b",
        "9:",
        "pop {{r0, r4-r11, pc}}",
        channel = const CHANNEL_WORDS * 4,
        row = const ROW_WORDS * 4,
    )
}
