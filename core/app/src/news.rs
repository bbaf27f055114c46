//! What a worker says, as news for people.

use tilewright_protocol::Response;

use crate::progress::Progress;

/// Reads what one job's worker says.
#[derive(Debug, Default)]
pub struct News {
    console: Utf8Stream,
}

impl News {
    /// The news in the next message, if it has some.
    pub fn of(&mut self, response: &Response) -> Option<Progress> {
        match response {
            Response::Progress { instructions, step } => {
                Some(Progress::Running { instructions: *instructions, step: *step })
            }
            Response::Console(bytes) => Some(self.console.push(bytes))
                .filter(|text| !text.is_empty())
                .map(Progress::Console),
            Response::Step(step) => Some(Progress::Step(*step)),
            Response::Hello { .. }
            | Response::Again { .. }
            | Response::Copy(_)
            | Response::Border(_)
            | Response::Layer(_)
            | Response::Watched { .. }
            | Response::Finished(_) => None,
        }
    }
}

/// Text that arrives in pieces, cut anywhere.
#[derive(Debug, Default)]
struct Utf8Stream {
    rest: Vec<u8>,
}

impl Utf8Stream {
    /// The text up to the last whole character; bytes that are none become the replacement
    /// character.
    fn push(&mut self, bytes: &[u8]) -> String {
        self.rest.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.rest) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.rest.len(),
        };
        let rest = self.rest.split_off(whole);
        let text = String::from_utf8_lossy(&self.rest).into_owned();
        self.rest = rest;
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cut_inside_a_character_is_put_together() {
        let mut stream = Utf8Stream::default();
        let bytes = "a→b".as_bytes();
        let text: String = bytes.iter().map(|byte| stream.push(&[*byte])).collect();
        assert_eq!(text, "a→b");
        assert_eq!(stream.push(&[0xff, b'x']), "\u{fffd}x");
    }
}
