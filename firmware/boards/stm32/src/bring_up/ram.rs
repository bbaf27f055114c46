//! External RAM: every word, twice.

use core::fmt::Write;

use super::{Checked, Line, failure};
use crate::ram_test::RamFault;

/// A march over all words: up with what differs from word to word, up again against its inverse, down.
pub fn check(line: &mut Line, ram: &mut [u8], fault: Option<RamFault>) -> Checked {
    if let Some(fault) = fault {
        return Err(failure(format_args!("{fault}")));
    }
    let _ = write!(line, " {} MiB", ram.len() >> 20);
    // SAFETY: any bytes are words.
    #[expect(unsafe_code, reason = "words of memory that is bytes")]
    let (_, words, _) = unsafe { ram.align_to_mut::<u32>() };
    let word_at = |at: usize| (at as u32).wrapping_mul(0x9e37_79b1);
    for (at, word) in words.iter_mut().enumerate() {
        *word = word_at(at);
    }
    for (at, word) in words.iter_mut().enumerate() {
        expect(at, word_at(at), *word)?;
        *word = !word_at(at);
    }
    for (at, word) in words.iter().enumerate().rev() {
        expect(at, !word_at(at), *word)?;
    }
    Ok(())
}

fn expect(at: usize, written: u32, read: u32) -> Checked {
    if read == written {
        return Ok(());
    }
    Err(failure(format_args!("at {:#x} wrote {written:08x}, read {read:08x}", 4 * at)))
}
