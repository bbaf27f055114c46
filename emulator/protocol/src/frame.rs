//! Frames: a 32-bit little-endian length, then a message in postcard's encoding.

use std::io::{self, BufWriter, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

/// Longest frame: firmware, plan and a card's worth of inputs fit.
pub const MAX_FRAME_BYTES: u32 = 256 << 20;

/// Bytes that are collected before they are written.
const LARGEST_PIECE: usize = 64 << 10;

/// Why a frame could not be read or written.
#[derive(Debug, Error)]
pub enum FrameError {
    /// The other side closed the stream between frames.
    #[error("the other side closed the connection")]
    Closed,
    /// The stream failed or ended inside a frame.
    #[error("connection failed: {0}")]
    Io(#[from] io::Error),
    /// A frame longer than [`MAX_FRAME_BYTES`].
    #[error("frame of {0} bytes is longer than allowed")]
    TooLong(u64),
    /// Bytes that are no message of this version.
    #[error("malformed message: {0}")]
    Malformed(#[from] postcard::Error),
}

/// Writes a message and flushes.
///
/// # Errors
/// [`FrameError::TooLong`] or what the stream says.
pub fn write_frame(to: &mut impl Write, message: &impl Serialize) -> Result<(), FrameError> {
    let bytes = postcard::experimental::serialized_size(message)?;
    let length = u32::try_from(bytes)
        .ok()
        .filter(|length| *length <= MAX_FRAME_BYTES)
        .ok_or(FrameError::TooLong(bytes as u64))?;
    // Not by way of one more buffer of the whole frame: a card's image may be most of it.
    let mut to = BufWriter::with_capacity(bytes.saturating_add(4).min(LARGEST_PIECE), to);
    to.write_all(&length.to_le_bytes())?;
    postcard::to_io(message, &mut to)?;
    to.flush()?;
    Ok(())
}

/// Reads a message. Memory grows with the bytes that arrive, not with the length announced.
///
/// # Errors
/// [`FrameError::Closed`] at the end of the stream, else what is wrong.
pub fn read_frame<M: DeserializeOwned>(from: &mut impl Read) -> Result<M, FrameError> {
    let mut length = [0u8; 4];
    let mut had = 0;
    while had < 4 {
        match from.read(&mut length[had..])? {
            0 if had == 0 => return Err(FrameError::Closed),
            0 => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
            more => had += more,
        }
    }
    let length = u32::from_le_bytes(length);
    if length > MAX_FRAME_BYTES {
        return Err(FrameError::TooLong(u64::from(length)));
    }
    let mut bytes = Vec::new();
    from.take(u64::from(length)).read_to_end(&mut bytes)?;
    if bytes.len() != length as usize {
        return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
    }
    Ok(postcard::from_bytes(&bytes)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Request, VERSION};

    #[test]
    fn a_message_survives_the_stream() {
        let mut stream = Vec::new();
        write_frame(&mut stream, &Request::Hello { version: VERSION }).unwrap();
        let read: Request = read_frame(&mut stream.as_slice()).unwrap();
        assert_eq!(read, Request::Hello { version: VERSION });
    }

    #[test]
    fn a_cut_frame_and_an_endless_one_are_errors() {
        let mut stream = Vec::new();
        write_frame(&mut stream, &Request::Hello { version: VERSION }).unwrap();
        stream.pop();
        assert!(matches!(read_frame::<Request>(&mut stream.as_slice()), Err(FrameError::Io(_))));
        let endless = u32::MAX.to_le_bytes();
        assert!(matches!(
            read_frame::<Request>(&mut endless.as_slice()),
            Err(FrameError::TooLong(_))
        ));
    }
}
