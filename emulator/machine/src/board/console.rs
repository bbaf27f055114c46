//! The board's console: lines from the firmware, and what is to be passed on.

use tilewright_desk::{Line, Lines};

/// Bytes after which console output is passed on although no line has ended.
const CHUNK: usize = 4096;

/// Cuts output into lines and keeps what is to be passed on.
#[derive(Debug, Default)]
pub struct Console {
    lines: Lines,
    unsent: Vec<u8>,
    total: u64,
}

impl Console {
    /// Takes bytes from the firmware; gives the lines that end in them.
    pub fn take(&mut self, bytes: &[u8]) -> Vec<Line> {
        self.total += bytes.len() as u64;
        self.unsent.extend_from_slice(bytes);
        self.lines.take(bytes)
    }

    /// Bytes in all.
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// Bytes to pass on now: whole lines, or many bytes.
    pub fn chunk(&mut self, all: bool) -> Option<Vec<u8>> {
        let whole = self.unsent.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let until = if all || self.unsent.len() >= CHUNK { self.unsent.len() } else { whole };
        (until > 0).then(|| self.unsent.drain(..until).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_lines_are_passed_on() {
        let mut console = Console::default();
        console.take(b"tilewright 0.1.0 abi 1\r\nrea");
        assert_eq!(console.chunk(false).unwrap(), b"tilewright 0.1.0 abi 1\r\n");
        assert_eq!(console.take(b"dy 1024\r\ndone\r\n"), [Line::Ready(Some(1024)), Line::Done]);
        assert_eq!(console.chunk(false).unwrap(), b"ready 1024\r\ndone\r\n");
        console.take(b"undone");
        assert_eq!(console.chunk(false), None);
        assert_eq!(console.chunk(true).unwrap(), b"undone");
        assert_eq!(console.total(), 24 + 3 + 15 + 6);
    }
}
