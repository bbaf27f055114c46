//! What a host sends to the board's console.

use thiserror::Error;
use tilewright_plan::image::CRC;

/// First bytes of an input frame.
pub const FRAME_MAGIC: [u8; 4] = *b"TWIN";

/// A payload that does not fit a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("an input of {0} bytes is longer than a frame can say")]
pub struct FrameTooLong(
    /// Its bytes.
    pub usize,
);

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
