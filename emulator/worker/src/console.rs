//! The board's console: lines from the firmware, frames to it.

/// Longest line that is looked at as one; firmware prints longer ones only in output lines.
const MAX_LINE: usize = 1 << 20;
/// Bytes after which console output is passed on although no line has ended.
const CHUNK: usize = 4096;

/// What a line of the firmware means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// It waits for a frame.
    Ready,
    /// A frame is answered.
    Done,
    /// It refused a frame: the text.
    Retry(String),
    /// It gave up: the text.
    Error(String),
}

/// Cuts output into lines and keeps what is to be passed on.
#[derive(Debug, Default)]
pub struct Console {
    line: Vec<u8>,
    unsent: Vec<u8>,
    total: u64,
}

impl Console {
    /// Takes bytes from the firmware; gives what their lines mean.
    pub fn take(&mut self, bytes: &[u8]) -> Vec<Said> {
        self.total += bytes.len() as u64;
        self.unsent.extend_from_slice(bytes);
        let mut said = Vec::new();
        for byte in bytes {
            if *byte != b'\n' {
                if self.line.len() < MAX_LINE {
                    self.line.push(*byte);
                }
                continue;
            }
            said.extend(meaning(&String::from_utf8_lossy(&self.line)));
            self.line.clear();
        }
        said
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

fn meaning(line: &str) -> Option<Said> {
    let line = line.trim_end_matches('\r');
    let rest = |prefix: &str| line.strip_prefix(prefix).map(|text| text.trim().to_owned());
    if line == "done" {
        return Some(Said::Done);
    }
    if line.split_whitespace().next() == Some("ready") {
        return Some(Said::Ready);
    }
    rest("error:").map(Said::Error).or_else(|| rest("retry:").map(Said::Retry))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_mean_what_the_contract_says() {
        let mut console = Console::default();
        assert_eq!(console.take(b"tilewright 0.1.0 abi 1\r\nrea"), vec![]);
        assert_eq!(console.chunk(false).unwrap(), b"tilewright 0.1.0 abi 1\r\n");
        assert_eq!(console.take(b"dy 1024\r\ndone\r\n"), vec![Said::Ready, Said::Done]);
        assert_eq!(
            console.take(b"error: no plan\r\nretry: crc\r\nundone\n"),
            vec![Said::Error("no plan".into()), Said::Retry("crc".into())]
        );
        assert_eq!(console.chunk(false).unwrap().len(), 3 + 9 + 6 + 16 + 12 + 7);
        assert_eq!(console.chunk(true), None);
    }
}
