//! The frames in which a host sends inputs to the board's console.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use super::{CRC, FRAME_MAGIC, LIMIT_MAGIC, PlanImage};
use crate::step::Instruction;
use crate::view::View;

/// A payload that does not fit a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameTooLong(
    /// Its bytes.
    pub usize,
);

impl fmt::Display for FrameTooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an input of {} bytes is longer than a frame can say", self.0)
    }
}

impl core::error::Error for FrameTooLong {}

/// The frame that brings `payload` (all inputs of a program one behind the other, int8, NHWC) to
/// the board: magic, length, payload, CRC-32 of the payload.
///
/// # Errors
/// [`FrameTooLong`] past 4 GiB.
pub fn input_frame(payload: &[u8]) -> Result<Vec<u8>, FrameTooLong> {
    let length = u32::try_from(payload.len()).map_err(|_| FrameTooLong(payload.len()))?;
    let mut frame = Vec::with_capacity(payload.len() + 12);
    frame.extend(FRAME_MAGIC);
    frame.extend(length.to_le_bytes());
    frame.extend(payload);
    frame.extend(CRC.checksum(payload).to_le_bytes());
    Ok(frame)
}

/// What lets the board choose the program of the frames that follow: the largest whose predicted latency meets a limit
/// in microseconds; 0: the one that is no sub-network.
#[must_use]
pub fn limit_frame(limit_us: u32) -> Vec<u8> {
    let limit = limit_us.to_le_bytes();
    [LIMIT_MAGIC, limit, CRC.checksum(&limit).to_le_bytes()].concat()
}

/// Bytes of the rows of an input that arrives while it is used, one number for each time some do; none if it is there
/// before the program runs.
pub fn arrivals(image: &PlanImage<'_>) -> Vec<u64> {
    let program = image.entries().iter().find(|entry| entry.kind == 0);
    let lanes = program.map_or(&[][..], |program| image.entry_lanes(program));
    let steps = lanes.iter().flat_map(|lane| image.lane_steps(lane));
    let arrived = steps.filter_map(|record| match Instruction::from_record(&record)? {
        Instruction::Arrive { view } => Some(image.view(view)?.elements()),
        _ => None,
    });
    arrived.collect()
}

/// The inputs of an image's program, whole: views whose rows, columns and channels are theirs, also of one that arrives
/// in rows.
#[must_use]
pub fn input_views(image: &PlanImage<'_>) -> Vec<View> {
    let program = image.entries().iter().find(|entry| entry.kind == 0);
    let inputs = program.map_or(&[][..], |program| image.entry_inputs(program));
    let mut views: Vec<View> = inputs.iter().filter_map(|io| image.view(io.view)).collect();
    let arrived: u64 = arrivals(image).iter().sum();
    if let Some(view) = views.first_mut().filter(|_| arrived > 0) {
        let row = u64::from(view.w) * u64::from(view.c);
        view.h = u16::try_from(arrived / row.max(1)).unwrap_or(u16::MAX);
    }
    views
}

/// The frames that bring `payload` to the board, each of which is sent when the board says `ready`: one, or of an input
/// that arrives in rows as many as it does.
///
/// # Errors
/// [`FrameTooLong`] past 4 GiB.
pub fn input_frames(image: &PlanImage<'_>, payload: &[u8]) -> Result<Vec<Vec<u8>>, FrameTooLong> {
    let arrivals = arrivals(image);
    if arrivals.is_empty() {
        return Ok(vec![input_frame(payload)?]);
    }
    let mut left = payload;
    let frame = |bytes: u64| {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX).min(left.len());
        let own = left.split_off(..bytes).unwrap_or_default();
        input_frame(own)
    };
    arrivals.into_iter().map(frame).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_holds_length_payload_and_checksum() {
        let frame = input_frame(b"123456789").unwrap();
        assert_eq!(&frame[..8], b"TWIN\x09\0\0\0");
        // The check value of CRC-32/ISO-HDLC.
        assert_eq!(&frame[17..], 0xcbf4_3926_u32.to_le_bytes());
    }
}
