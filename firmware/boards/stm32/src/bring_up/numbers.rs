//! The units that make checksums and random numbers.

use tilewright_plan::image::CRC;

use super::{Checked, failure, holds};
use crate::{crc, rng};

/// Bytes that are checksummed, so many times.
const BYTES: usize = 64;
const MESSAGES: usize = 16;

/// Whether the unit gives what software gives.
pub fn checksums() -> Checked {
    crc::power_up();
    // Several, since a bit that is stuck is right in half of all.
    for message in 0..MESSAGES {
        let bytes: [u8; BYTES] = core::array::from_fn(|at| (at * 37 + message) as u8);
        let (made, right) = (crc::of(&bytes), CRC.checksum(&bytes));
        holds(made == right, format_args!("{made:08x} instead of {right:08x}"))?;
    }
    Ok(())
}

/// Whether numbers come, and differ.
pub fn random() -> Checked {
    let Some([first, second]) = rng::bytes::<8>().map(|bytes| {
        let (words, _) = bytes.as_chunks::<4>();
        [u32::from_le_bytes(words[0]), u32::from_le_bytes(words[1])]
    }) else {
        return Err(failure(format_args!("none that it finds no fault with")));
    };
    holds(first != second, format_args!("{first:08x} twice"))
}
