//! What a board says on its console, line by line (`firmware/runtime/src/console/mod.rs`).

/// Longest line that is looked at as one; firmware prints longer ones only in output lines.
const MAX_LINE: usize = 1 << 20;

/// First line of a board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Greeting {
    /// Version of its firmware.
    pub firmware_version: String,
    /// Version of what firmware and plan image agree on.
    pub abi: u32,
    /// Board id.
    pub board: String,
}

/// Second line: which plan the board holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanLine {
    /// First 16 digits of the plan id.
    pub id: String,
    /// Layers of the plan.
    pub layers: u64,
    /// Bytes of its arena.
    pub arena_bytes: u64,
}

/// A line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// What stands in for a board says so, before the greeting: no board says this.
    Emulated(String),
    /// Who it is.
    Greeting(Greeting),
    /// What it holds.
    Plan(PlanLine),
    /// Cycles of what was done once.
    Loaded(u64),
    /// It waits for a frame: bytes of the payload, if it can be read.
    Ready(Option<u64>),
    /// It refused a frame: why.
    Retry(String),
    /// It begins the frame again.
    Again {
        /// Cycles for nothing.
        cycles: u64,
        /// What was lost, and where.
        why: String,
    },
    /// Cycles of a layer.
    Layer {
        /// Position in the plan.
        index: u32,
        /// Cycles.
        cycles: u64,
        /// Name.
        name: String,
    },
    /// Bytes of an output: int8, NHWC.
    Output {
        /// Position in the program's outputs.
        index: u32,
        /// The values.
        values: Vec<i8>,
    },
    /// A limit of latency chose this program.
    Program {
        /// Its name.
        name: String,
    },
    /// The run ended early.
    Exit {
        /// The number of the output at whose exit it did.
        index: u32,
    },
    /// One of the best classes.
    Score {
        /// Its index.
        class: u32,
        /// Its int8 value.
        value: i8,
        /// Its name.
        label: String,
    },
    /// Cycles of the whole run.
    Invoke(u64),
    /// The frame is answered.
    Done,
    /// It gave up: what, where, what to do.
    Error(String),
    /// A line that means none of these.
    Other(String),
}

impl Line {
    /// The meaning of a line without its end.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let text = text.trim_end_matches('\r');
        meaning(text).unwrap_or_else(|| Self::Other(text.to_owned()))
    }
}

fn meaning(text: &str) -> Option<Line> {
    if text == "done" {
        return Some(Line::Done);
    }
    let mut words = text.split_whitespace();
    let first = words.next()?;
    let rest = || text.trim_start()[first.len()..].trim().to_owned();
    // Words up to the name, which may have spaces and is the rest of the line.
    let name = |from: usize| text.splitn(from + 1, ' ').nth(from).unwrap_or_default().to_owned();
    Some(match first {
        "ready" => Line::Ready(words.next().and_then(|bytes| bytes.parse().ok())),
        "retry:" => Line::Retry(rest()),
        "error:" => Line::Error(rest()),
        "emulated" => Line::Emulated(rest()),
        "tilewright" => Line::Greeting(greeting(words)?),
        "plan" => Line::Plan(plan(words)?),
        "loaded" => Line::Loaded(last(words)?),
        "invoke" => Line::Invoke(last(words)?),
        "again" => {
            let (cycles, why) = text.strip_prefix("again ")?.split_once(": ")?;
            Line::Again { cycles: cycles.parse().ok()?, why: why.to_owned() }
        }
        "layer" => {
            let (index, cycles) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
            Line::Layer { index, cycles, name: name(3) }
        }
        "output" => {
            let index = words.next()?.parse().ok()?;
            Line::Output { index, values: values(words.next().unwrap_or_default())? }
        }
        "program" => {
            // Its entry and its latency.
            for _ in 0..2 {
                words.next()?.parse::<u32>().ok()?;
            }
            Line::Program { name: name(3) }
        }
        "exit" => Line::Exit { index: u32::try_from(last(words)?).ok()? },
        "score" => {
            let (class, value) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
            Line::Score { class, value, label: name(3) }
        }
        _ => return None,
    })
}

/// The only word that is left, as a number.
fn last<'w>(mut words: impl Iterator<Item = &'w str>) -> Option<u64> {
    let number = words.next()?.parse().ok()?;
    words.next().is_none().then_some(number)
}

/// Whether the next word is this one.
fn is<'w>(words: &mut impl Iterator<Item = &'w str>, word: &str) -> Option<()> {
    (words.next()? == word).then_some(())
}

fn greeting<'w>(mut words: impl Iterator<Item = &'w str>) -> Option<Greeting> {
    let firmware_version = words.next()?.to_owned();
    is(&mut words, "abi")?;
    let abi = words.next()?.parse().ok()?;
    is(&mut words, "board")?;
    let board = words.next()?.to_owned();
    words.next().is_none().then_some(Greeting { firmware_version, abi, board })
}

fn plan<'w>(mut words: impl Iterator<Item = &'w str>) -> Option<PlanLine> {
    let id = words.next().filter(|id| id.len() == 16 && id.bytes().all(is_digit))?.to_owned();
    is(&mut words, "layers")?;
    let layers = words.next()?.parse().ok()?;
    is(&mut words, "arena")?;
    Some(PlanLine { id, layers, arena_bytes: last(words)? })
}

const fn is_digit(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

/// Values of hexadecimal digits, two each; nothing if a digit is missing or is none.
fn values(digits: &str) -> Option<Vec<i8>> {
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16).filter(|_| is_digit(byte));
    let value = |[high, low]: &[u8; 2]| {
        let byte = digit(*high)? << 4 | digit(*low)?;
        u8::try_from(byte).ok().map(u8::cast_signed)
    };
    pairs.iter().map(value).collect()
}

/// Cuts what a board writes into lines.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    line: Vec<u8>,
    heard: u64,
    noise: u64,
}

impl Lines {
    /// The lines that end in `bytes`. Lines without a character are left out.
    pub fn take(&mut self, bytes: &[u8]) -> Vec<Line> {
        let mut lines = Vec::new();
        for byte in bytes {
            self.heard += 1;
            self.noise += u64::from(!matches!(byte, b'\r' | b'\n' | b'\t' | b' '..=b'~'));
            if *byte != b'\n' {
                if self.line.len() < MAX_LINE {
                    self.line.push(*byte);
                }
                continue;
            }
            let text = String::from_utf8_lossy(&self.line);
            if !text.trim().is_empty() {
                lines.push(Line::of(&text));
            }
            self.line.clear();
        }
        lines
    }

    /// Bytes heard in all.
    #[must_use]
    pub const fn heard(&self) -> u64 {
        self.heard
    }

    /// Of these, bytes that are no plain text. Names of layers may have some; a greeting has none.
    #[must_use]
    pub const fn noise(&self) -> u64 {
        self.noise
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_mean_what_the_contract_says() {
        let mut lines = Lines::default();
        assert_eq!(lines.take(b"tilewright 0.1.0 abi 6 board nucleo-f767zi\r"), []);
        let greeting =
            Greeting { firmware_version: "0.1.0".into(), abi: 6, board: "nucleo-f767zi".into() };
        let id = "6f1c9a0123456789".to_owned();
        assert_eq!(
            lines.take(b"\nplan 6f1c9a0123456789 layers 8 arena 9472\r\n\r\nready 1024\r\nrea"),
            [
                Line::Greeting(greeting),
                Line::Plan(PlanLine { id, layers: 8, arena_bytes: 9472 }),
                Line::Ready(Some(1024)),
            ]
        );
        assert_eq!(lines.take(b"dy\r\ndone\r\n"), [Line::Ready(None), Line::Done]);
        assert_eq!(lines.noise(), 0);
    }

    #[test]
    fn an_answer_is_read_with_names_that_have_spaces() {
        let name = |text: &str| text.to_owned();
        for (text, line) in [
            ("loaded 7", Line::Loaded(7)),
            ("program 2 1600 exit 2", Line::Program { name: name("exit 2") }),
            ("exit 1", Line::Exit { index: 1 }),
            ("layer 3 1269319 c1", Line::Layer { index: 3, cycles: 1_269_319, name: name("c1") }),
            ("layer 3 1 a  b", Line::Layer { index: 3, cycles: 1, name: name("a  b") }),
            ("layer 0 5 ", Line::Layer { index: 0, cycles: 5, name: name("") }),
            ("output 1 80ff7f", Line::Output { index: 1, values: vec![-128, -1, 127] }),
            ("output 2 ", Line::Output { index: 2, values: vec![] }),
            ("score 5 -91 digit 5", Line::Score { class: 5, value: -91, label: name("digit 5") }),
            ("invoke 2478999", Line::Invoke(2_478_999)),
            ("retry: crc", Line::Retry(name("crc"))),
            ("error: no plan", Line::Error(name("no plan"))),
            ("again 17: lost: sector 3", Line::Again { cycles: 17, why: name("lost: sector 3") }),
            ("emulated by worker 1", Line::Emulated(name("by worker 1"))),
        ] {
            assert_eq!(Line::of(text), line);
        }
    }

    #[test]
    fn a_line_that_lost_bytes_is_not_half_read() {
        for text in [
            "undone",
            "layer 3",
            "layer 3 12x c1",
            "output 0 8",
            "output 0 8g",
            "plan 6f1c9a layers 8 arena 9472",
            "plan 6f1c9a0123456789 layers 8",
            "tilewright 0.1.0 abi board b",
            "invoke",
            "invoke 12 13",
        ] {
            assert_eq!(Line::of(text), Line::Other(text.to_owned()));
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_counted_and_end_nothing() {
        let mut lines = Lines::default();
        assert_eq!(lines.take(&[0xff, 0x00, 0x80, b'a']), []);
        assert_eq!((lines.heard(), lines.noise()), (4, 3));
        assert_eq!(lines.take(b"\ndone\n").last(), Some(&Line::Done));
    }
}
