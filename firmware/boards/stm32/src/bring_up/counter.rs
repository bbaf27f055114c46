//! The cycle counter: whether it counts while the core sleeps too, as figures of layers take for granted.

use core::fmt::Write;

use cortex_m::Peripherals;
use cortex_m::peripheral::syst::SystClkSource;
use cortex_m::peripheral::{DWT, SYST};
use tilewright_board_support::sleep;

use super::{Checked, Line, holds};

/// What is measured: a sixteenth of a second.
const A_SECOND: u32 = 16;

/// Measures the same time awake and asleep.
pub fn check(line: &mut Line, core: &mut Peripherals, clock_hertz: u32) -> Checked {
    core.DCB.enable_trace();
    DWT::unlock();
    core.DWT.enable_cycle_counter();
    let timer = &mut core.SYST;
    timer.set_clock_source(SystClkSource::Core);
    let ticks = clock_hertz / A_SECOND;
    timer.set_reload(ticks - 1);
    let awake = cycles(timer, || {});
    // Masked, so that the handler does not take it: it wakes all the same.
    let asleep = cortex_m::interrupt::free(|_| cycles(timer, sleep::until_interrupt));
    timer.disable_counter();
    let _ = write!(line, " {awake} cycles awake, {asleep} asleep, in 1/{A_SECOND} s");
    let near = |cycles: u32| cycles.abs_diff(ticks) < ticks / 100;
    holds(near(awake), format_args!("{ticks} were to be counted"))?;
    holds(near(asleep), format_args!("it stops asleep: cycles of layers leave waiting out"))
}

/// Cycles until the timer has counted once.
fn cycles(timer: &mut SYST, mut idle: impl FnMut()) -> u32 {
    timer.clear_current();
    timer.enable_interrupt();
    timer.enable_counter();
    let begun = DWT::cycle_count();
    while !timer.has_wrapped() {
        idle();
    }
    let cycles = DWT::cycle_count().wrapping_sub(begun);
    timer.disable_counter();
    timer.disable_interrupt();
    cortex_m::peripheral::SCB::clear_pendst();
    cycles
}
