//! The serial flash: which it is, and whether it gives the same twice.

use core::fmt::Write;

use super::{Checked, Line, failure, holds};
use crate::crc;
use crate::serial_flash::Answer;

/// Bytes that are read twice: far more than a cache holds.
const BYTES: usize = 1 << 20;

/// Reads the first bytes twice.
pub fn check(line: &mut Line, answer: Answer, flash: &[u8]) -> Checked {
    let _ = write!(line, " {answer}");
    let Some(bytes) = flash.get(..BYTES) else {
        return Err(failure(format_args!("no part that the firmware knows")));
    };
    let (first, second) = (crc::of(bytes), crc::of(bytes));
    let _ = write!(line, ", {} MiB, first checksum {first:08x}", flash.len() >> 20);
    holds(first == second, format_args!("read again {second:08x}"))
}
