//! Text on a port, without an allocator.

use core::fmt::{self, Write as _};

use super::ConsoleError;
use embedded_io_async::Write;

/// A piece of text of at most `N` bytes; what is longer is cut off.
struct Piece<const N: usize> {
    bytes: [u8; N],
    used: usize,
}

impl<const N: usize> fmt::Write for Piece<N> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let rest = self.bytes.get_mut(self.used..).unwrap_or(&mut []);
        for (to, from) in rest.iter_mut().zip(text.bytes()) {
            *to = from;
        }
        self.used = (self.used + text.len()).min(N);
        Ok(())
    }
}

/// Formats into at most `N` bytes and hands them on; what is longer is cut off. For places that
/// cannot wait: panics and faults.
pub fn write_truncated<const N: usize>(text: fmt::Arguments<'_>, mut put: impl FnMut(&[u8])) {
    let mut piece = Piece::<N> { bytes: [0; N], used: 0 };
    // Writing to a piece cannot fail; a failing `Display` leaves what it wrote until then.
    let _ = piece.write_fmt(text);
    put(piece.bytes.get(..piece.used).unwrap_or(&[]));
}

/// A port that takes text.
pub(super) struct Port<'p, P>(pub &'p mut P);

impl<P: Write> Port<'_, P> {
    /// At most 128 bytes of text.
    pub async fn text(&mut self, text: fmt::Arguments<'_>) -> Result<(), ConsoleError<P::Error>> {
        let mut piece = Piece::<128> { bytes: [0; 128], used: 0 };
        // Writing to a piece cannot fail; a failing `Display` leaves what it wrote until then.
        let _ = piece.write_fmt(text);
        self.bytes(piece.bytes.get(..piece.used).unwrap_or(&[])).await
    }

    /// At most 128 bytes of text, and the end of the line.
    pub async fn line(&mut self, text: fmt::Arguments<'_>) -> Result<(), ConsoleError<P::Error>> {
        self.text(text).await?;
        self.bytes(b"\r\n").await
    }

    /// A name from the image, of any length; control characters would break the line.
    pub async fn name(&mut self, name: &str) -> Result<(), ConsoleError<P::Error>> {
        for (index, part) in name.split(char::is_control).enumerate() {
            if index > 0 {
                self.bytes(b" ").await?;
            }
            self.bytes(part.as_bytes()).await?;
        }
        Ok(())
    }

    /// The port is left empty: the buffered port of embassy-stm32 0.6 waits for room without
    /// asking to be woken, so a write into a full buffer would sleep for ever.
    pub async fn bytes(&mut self, bytes: &[u8]) -> Result<(), ConsoleError<P::Error>> {
        self.0.write_all(bytes).await.map_err(ConsoleError::Port)?;
        self.0.flush().await.map_err(ConsoleError::Port)
    }
}
