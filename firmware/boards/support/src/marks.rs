//! Marks of the run, with the core's cycle counter.

use cortex_m::Peripherals;
use cortex_m::peripheral::DWT;
use tilewright_runtime::console::{MarkKind, Marker};

/// A moment of the run: kind 0 the invoke begins, 1 it ends, 2 a step begins, 3 it ends; for
/// steps, `value` is the index in the core lane. Kinds 4 and 5: a copy begins or ends; `value` is the
/// step, with the lane in the upper eight bits. Kinds 6 and 7: a boot program, entry `value` of the
/// image, begins or ends. Kinds 8 to 12: what failed, before it is said (`MarkKind`). Kinds 13 and 14: the run waits
/// for rows of its input, and goes on. Returns the cycle counter. Its symbol stays in the
/// firmware, so that a debugger or an emulator can stop here.
#[expect(unsafe_code, reason = "the symbol's name is a contract; no other function has it")]
#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn tilewright_mark(kind: u32, value: u32) -> u32 {
    // Whoever watches reads both from registers: they must arrive here.
    core::hint::black_box((kind, value));
    DWT::cycle_count()
}

/// The data watchpoint unit's cycle counter.
pub struct CycleCounter(());

impl CycleCounter {
    /// Starts the counter.
    pub fn start(core: &mut Peripherals) -> Self {
        core.DCB.enable_trace();
        DWT::unlock();
        core.DWT.enable_cycle_counter();
        Self(())
    }
}

impl Marker for CycleCounter {
    fn mark(&mut self, kind: MarkKind, value: u32) -> u32 {
        tilewright_mark(kind as u32, value)
    }
}

/// A copy of a lane begins, or ends.
pub fn copy(kind: MarkKind, lane: u8, step: u32) {
    tilewright_mark(kind as u32, u32::from(lane) << 24 | step);
}
