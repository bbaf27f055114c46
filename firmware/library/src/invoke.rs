//! A run of a program.
#![expect(unsafe_code, reason = "memory and functions of C")]

use core::ffi::c_void;

use tilewright_runtime::{Memory, Observer, Reached, RunError, is_replayable, run_from};

use crate::abi::TilewrightObserver;
use crate::failure::Failure;
use crate::state::Opened;
use crate::transfers::Transfers;

/// How often a program is computed again after something that it wrote to a card was lost.
const REPEATS: u8 = 2;

/// Hands what it hears on to C.
struct Hearer(TilewrightObserver, *mut c_void);

impl Hearer {
    fn say(&self, step: u32, layer: u16, is_end: bool) {
        if let Self(Some(hears), context) = *self {
            // SAFETY: the caller gave both, for this.
            unsafe {
                hears(context, step, layer.into(), is_end.into());
            }
        }
    }
}

impl Observer for Hearer {
    fn step_begin(&mut self, step: u32, layer: u16) {
        self.say(step, layer, false);
    }

    fn step_end(&mut self, step: u32, layer: u16) {
        self.say(step, layer, true);
    }
}

/// Runs a program of the image once; gives the output at whose exit it ended.
pub fn run(
    opened: &Opened,
    entry: usize,
    memory: &mut Memory<'_>,
    transfers: &mut Transfers<'_>,
) -> Result<Option<u16>, RunError> {
    let mut hearer = Hearer(opened.observer.0, opened.observer.1);
    match run_from(&opened.image, (entry, 0), memory, transfers, &mut hearer)? {
        Reached::Exit { output } => Ok(Some(output)),
        // No program has arrivals: it would not have been opened.
        Reached::End | Reached::Arrival(_) => Ok(None),
    }
}

/// Runs the chosen program.
///
/// # Safety
/// Nobody else uses its memories meanwhile.
pub unsafe fn invoke(opened: &Opened) -> Result<Option<u16>, Failure> {
    // SAFETY: as the caller promises.
    let mut memory = unsafe { opened.places.memory() };
    let mut transfers = Transfers::new(opened.image, opened.places.card);
    let mut again = 0;
    loop {
        match run(opened, opened.entry, &mut memory, &mut transfers) {
            Err(error)
                if again < REPEATS
                    && error.is_loss()
                    && is_replayable(&opened.image, &opened.program()) =>
            {
                again += 1;
            }
            result => return result.map_err(Failure::Run),
        }
    }
}
