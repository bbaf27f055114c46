//! Loops of a few instructions, each of which shows one rule of the core's pipeline, and what a
//! thousand turns of them take by the core's own counter.
//!
//! A loop is its body, `subs r7, #1` and `bne`. It starts at a multiple of 32 bytes. Those of the
//! pipeline are shorter than what the flash's accelerator or the instruction cache holds, so that from the
//! second turn on nothing waits for flash; two show what waits: one is longer, one goes through 64 KiB of
//! flash, a line each turn or every other. Two runs of different length are compared: what surrounds a loop
//! is in both.
//!
//! ```text
//! clock <board>
//! rule <name> <cycles of 1000 turns>   one line for each loop
//! done
//! ```

use core::arch::naked_asm;
use core::fmt::Write as _;

use cortex_m::peripheral::DWT;
use embedded_io_async::Write as _;
use heapless::String;

use crate::console::{Console, Line, PortError};
use crate::{sleep, wait};

/// Turns of the shorter run; the longer one has twice as many.
const TURNS: u32 = 1000;

/// A loop. It gets how often it turns, and an address in RAM, which it has in r5 and r6 and which the
/// word at that address holds.
struct Loop {
    name: &'static str,
    run: extern "C" fn(u32, *mut u32),
}

/// Names the core to the assembler, which else knows what the target's name says.
#[cfg(feature = "armv8-m")]
macro_rules! processor {
    () => {
        ".cpu cortex-m33\n.fpu fpv5-sp-d16"
    };
}
#[cfg(not(feature = "armv8-m"))]
macro_rules! processor {
    () => {
        ".fpu fpv4-sp-d16"
    };
}

macro_rules! loops {
    ($loops:ident: $($function:ident, $name:literal: $($line:literal),*;)*) => {
        $(
            #[allow(unsafe_code, reason = "loops of which every instruction is meant")]
            #[unsafe(naked)]
            extern "C" fn $function(turns: u32, words: *mut u32) {
                naked_asm!(
                    processor!(),
                    "push {{r4-r11, lr}}",
                    "mov r7, r0",
                    "mov r5, r1",
                    "mov r6, r1",
                    "mov r1, #3",
                    "mov r2, #5",
                    ".p2align 5",
                    "2:",
                    $($line,)*
                    "subs r7, #1",
                    "bne 2b",
                    "pop {{r4-r11, pc}}",
                )
            }
        )*
        const $loops: &[Loop] = &[$(Loop { name: $name, run: $function }),*];
    };
}

loops! {
    LOOPS:
    nothing, "nothing":;
    alu_pair, "alu-independent": "adds r0, #1", "adds r3, #1";
    alu_chain, "alu-chain": "adds r0, #1", "adds r0, #1";
    load, "load": "ldr r4, [r5]";
    load_pair, "loads-independent": "ldr r4, [r5]", "ldr r3, [r5, #4]";
    load_use, "load-use": "ldr r4, [r5]", "adds r4, #1";
    load_address, "load-address": "ldr r6, [r6]", "ldr r6, [r6]";
    load_double, "ldrd": "ldrd r0, r3, [r5]";
    load_many, "ldm-4": "ldm r5, {{r0, r3, r4, r8}}";
    load_unaligned, "load-unaligned": "ldr r4, [r5, #1]";
    store_pair, "stores": "str r1, [r5, #8]", "str r2, [r5, #12]";
    smlad_pair, "smlad-independent": "smlad r0, r1, r2, r0", "smlad r3, r1, r2, r3";
    smlad_chain, "smlad-chain": "smlad r0, r1, r2, r0", "smlad r0, r1, r2, r0";
    smlad_use, "smlad-use": "smlad r0, r1, r2, r3", "adds r0, #1";
    smlad_and_load, "smlad-beside-load": "smlad r0, r1, r2, r0", "ldr r4, [r5]";
    dsp_pair, "sxtb16-independent": "sxtb16 r0, r1", "sxtb16 r3, r2";
    branch, "branch-taken": "b 3f", "nop", "3:";
    divide, "udiv": "udiv r0, r2, r1";
    float_pair, "vadd-independent": "vadd.f32 s0, s1, s2", "vadd.f32 s3, s1, s2";
    float_chain, "vadd-chain": "vadd.f32 s0, s0, s1", "vadd.f32 s0, s0, s1";
    float_fused, "vfma-chain": "vfma.f32 s0, s1, s2", "vfma.f32 s0, s1, s2";
    long_code, "code-6k": ".rept 1536", "add.w r0, r0, #1", ".endr";
}

loops! {
    STREAMS:
    flash_stream, "flash-stream": "ldr r4, [r5], #32";
}

/// Cycles of so many turns, with all that surrounds them. Called from one place of its own, so that
/// branches go the same ways each time.
#[inline(never)]
fn cycles(rule: &Loop, turns: u32, words: *mut u32) -> u32 {
    let before = DWT::cycle_count();
    (rule.run)(turns, words);
    DWT::cycle_count().wrapping_sub(before)
}

/// Says what each loop takes, and sleeps. Flash is read at an address behind the firmware, whatever it holds.
pub fn run<L: Line>(port: &mut Console<L>, board: &str, flash: usize) -> ! {
    if let Err(error) = wait::for_ready(measure(port, board, flash)) {
        panic!("{error}");
    }
    sleep::for_ever()
}

/// Runs each loop with interrupts off and says what it took; the cycle counter counts already.
///
/// # Errors
/// What went wrong on the port.
async fn measure<L: Line>(
    port: &mut Console<L>,
    board: &str,
    flash: usize,
) -> Result<(), PortError> {
    say(port, format_args!("clock {board}")).await?;
    let mut words = [0u32; 8];
    let address = words.as_mut_ptr();
    let flash = core::ptr::with_exposed_provenance_mut(flash);
    let loops = LOOPS.iter().map(|rule| (rule, address));
    for (rule, address) in loops.chain(STREAMS.iter().map(|rule| (rule, flash))) {
        words[0] = words.as_ptr().addr() as u32;
        // The first runs fill caches and show the branches to whatever predicts them, which learns by two.
        let [_, _, first, second] = [TURNS, TURNS, TURNS, 2 * TURNS]
            .map(|turns| cortex_m::interrupt::free(|_| cycles(rule, turns, address)));
        let passed = second.wrapping_sub(first);
        say(port, format_args!("rule {} {passed}", rule.name)).await?;
    }
    say(port, format_args!("done")).await?;
    port.sent().await;
    Ok(())
}

/// Sends a line; one that is longer than its buffer is none of those above.
async fn say<L: Line>(
    port: &mut Console<L>,
    text: core::fmt::Arguments<'_>,
) -> Result<(), PortError> {
    let mut line: String<64> = String::new();
    let _ = write!(line, "{text}\r\n");
    port.write_all(line.as_bytes()).await
}
