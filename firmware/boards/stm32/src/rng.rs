//! The random number generator (RM0385 and RM0386, RNG), which both series have: 32 bits at a time, from
//! analogue noise, with the 48 MHz that the card's controller has too.

use embassy_stm32::pac::{RCC, RNG};

use crate::clock_runs;

/// How often its status is asked before it is given up: far longer than the 40 periods of its clock that a number
/// takes.
const ASKED: u32 = 10_000;

/// How often it is started anew behind a fault.
const TRIES: u32 = 3;

/// Random bytes; nothing if the generator finds fault with its clock or its noise, or repeats itself.
pub fn bytes<const BYTES: usize>() -> Option<[u8; BYTES]> {
    critical_section::with(|_| RCC.ahb2enr().modify(|clocks| clocks.set_rngen(true)));
    clock_runs(RCC.ahb2enr());
    (0..TRIES).find_map(|_| try_bytes())
}

/// The same, once. Flags of a fault stay until they are cleared, and the generator has to be off and on again
/// (RM0385 and RM0386, RNG, error management).
fn try_bytes<const BYTES: usize>() -> Option<[u8; BYTES]> {
    RNG.cr().write(|control| control.set_rngen(false));
    RNG.sr().write(|_| {});
    RNG.cr().write(|control| control.set_rngen(true));
    // The first number is only for comparing the next with (FIPS 140-2, 4.9.2).
    let mut last = number();
    let mut bytes = [0; BYTES];
    for place in bytes.as_chunks_mut::<4>().0 {
        let (before, next) = (last?, number()?);
        if before == next {
            return None;
        }
        *place = next.to_le_bytes();
        last = Some(next);
    }
    RNG.cr().write(|control| control.set_rngen(false));
    Some(bytes)
}

fn number() -> Option<u32> {
    for _ in 0..ASKED {
        let status = RNG.sr().read();
        if status.ceis() || status.seis() {
            return None;
        }
        if status.drdy() {
            return Some(RNG.dr().read());
        }
    }
    None
}
