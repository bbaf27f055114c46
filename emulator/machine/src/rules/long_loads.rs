//! Loads of nine and more words from external RAM, of which an STM32F469 brings other words than are there from the
//! ninth on (ES0321, FMC: long bursts of the core).
//!
//! Instructions that can be such are looked for in flash before anything runs: at every halfword, since what is no
//! instruction never runs.

use tilewright_board::{CoreKind, MemoryKind};
use tilewright_report::FaultKind;

use crate::core::block;
use crate::core::registers::NUMBERED;
use crate::engine::Engine;
use crate::machine::Machine;

/// Words that a load brings as they are.
const MOST: u32 = 8;
/// Base registers, by number: those of SP lie where the stack does, which is inside.
const BASES: usize = 13;

/// A load of many words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongLoad {
    base: usize,
    words: u32,
    /// Whether it ends below the base's address.
    is_below: bool,
}

impl LongLoad {
    /// What two halfwords are, if they load more than [`MOST`] words: LDM and LDMDB (DDI 0403E, A7.7.41 and A7.7.42),
    /// VLDM of single and of double registers (A7.7.233).
    fn of(first: u16, second: u16) -> Option<Self> {
        let base = usize::from(first & 15);
        let is_float = matches!(second >> 8 & 15, 10 | 11);
        // Bits of W; of W and D.
        let (words, is_below) = match (first & 0xffd0, first & 0xff90) {
            (0xe890, _) => (second.count_ones(), false),
            (0xe910, _) => (second.count_ones(), true),
            (_, 0xec90) if is_float => (u32::from(second & 0xff), false),
            // Downwards it always writes back, else it is VLDR.
            (_, 0xed10) if is_float && first & 0x20 != 0 => (u32::from(second & 0xff), true),
            _ => return None,
        };
        (words > MOST && base < BASES).then_some(Self { base, words, is_below })
    }
}

/// The firmware's loads of many words by address, on a board that has them wrong: each is to be shown to [`check`]
/// before it executes.
#[must_use]
pub fn watched(machine: &Machine) -> Vec<(u32, LongLoad)> {
    let mut found = Vec::new();
    if machine.core != CoreKind::CortexM4 {
        return found;
    }
    for (start, bytes) in &machine.firmware.segments {
        let halves: Vec<u16> =
            bytes.chunks_exact(2).map(|half| u16::from_le_bytes([half[0], half[1]])).collect();
        let loads = halves.windows(2).zip((*start..).step_by(2));
        found.extend(loads.filter_map(|(pair, at)| Some((at, LongLoad::of(pair[0], pair[1])?))));
    }
    found
}

/// Ends the run if a load goes to external RAM.
pub fn check(engine: &mut impl Engine, at: u32, load: LongLoad) {
    let LongLoad { base, words, is_below } = load;
    let value = engine.read(NUMBERED[base]);
    let first = if is_below { value.wrapping_sub(4 * words) } else { value };
    let is_outside = engine
        .machine()
        .external
        .iter()
        .any(|external| external.memory.kind == MemoryKind::Sdram && external.holds(first));
    if is_outside {
        let place = block::place(engine, at);
        let message = format!(
            "a load of {words} words from 0x{first:08x} {place}: the STM32F469 brings wrong words from the ninth on \
             (ES0321, FMC); load eight at most"
        );
        engine.machine_mut().silent_fault(FaultKind::Firmware, message);
        engine.stop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_of_nine_words_are_known() {
        let load = |base, words, is_below| Some(LongLoad { base, words, is_below });
        for (halves, expected) in [
            // ldm.w r1,{r2-r10}; ldm.w r1!,{r2-r10}; ldmdb r1,{r2-r10}; with eight registers.
            ([0xe891, 0x07fc], load(1, 9, false)),
            ([0xe8b1, 0x07fc], load(1, 9, false)),
            ([0xe911, 0x07fc], load(1, 9, true)),
            ([0xe891, 0x03fc], None),
            // vldmia r3,{s0-s8}; vldmia r3!,{d0-d7}; vldmdb r3!,{s0-s8}; vldmia r3!,{s16-s23}, in D's half too.
            ([0xec93, 0x0a09], load(3, 9, false)),
            ([0xecb3, 0x0b10], load(3, 16, false)),
            ([0xed33, 0x0a09], load(3, 9, true)),
            ([0xecf3, 0x0a08], None),
            ([0xecf3, 0x0a09], load(3, 9, false)),
            // pop.w {r4-r11,pc}; stm.w; vldr; vstmia.
            ([0xe8bd, 0x8ff0], None),
            ([0xe881, 0x07fc], None),
            ([0xed93, 0x0a40], None),
            ([0xec83, 0x0a20], None),
        ] {
            let [first, second]: [u16; 2] = halves;
            assert_eq!(LongLoad::of(first, second), expected, "{first:04x} {second:04x}");
        }
    }
}
