//! Why a talk came to nothing, in words for the person at the desk.

use core::fmt;

/// Why a talk came to nothing. Its text says what; [`Trouble::remedy`] says what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Nothing was heard at all.
    Silent {
        /// For how many seconds.
        seconds: u64,
    },
    /// Bytes that are no text.
    Noise {
        /// How many bytes were heard.
        bytes: u64,
        /// The rate at which they should have been text.
        baud: u32,
    },
    /// Text, but not of this project's firmware.
    OtherProgram {
        /// A line of it.
        line: String,
    },
    /// The board talks, but its greeting was never heard.
    NoGreeting {
        /// For how many seconds.
        seconds: u64,
    },
    /// A greeting of another form.
    OtherProtocol {
        /// The line.
        line: String,
    },
    /// Firmware of another version.
    Abi {
        /// The board's.
        board: u32,
        /// The image's.
        image: u32,
    },
    /// Another board.
    OtherBoard {
        /// Which.
        board: String,
        /// The image's.
        image: String,
    },
    /// The board holds another image.
    OtherPlan {
        /// Its plan id.
        board: String,
        /// The image's.
        image: String,
    },
    /// The port went away.
    WentAway {
        /// Bytes of the frame under way that were sent.
        sent: usize,
        /// Of so many; 0: none was under way.
        of: usize,
        /// What the system says of it.
        error: String,
    },
    /// The board gave up.
    Failed {
        /// What it said.
        error: String,
    },
    /// The line loses bytes again and again.
    LosesBytes {
        /// How often a frame was sent.
        times: u32,
        /// What the board, or who reads it, said last.
        last: String,
    },
    /// The board begins anew again and again.
    KeepsResetting {
        /// How often.
        times: u32,
    },
    /// No answer came.
    NoAnswer {
        /// For how many seconds.
        seconds: u64,
        /// Whether a frame was sent; else the board was not ready for one.
        asked: bool,
    },
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Silent { seconds } => {
                write!(f, "The board said nothing for {seconds} s.")
            }
            Self::Noise { bytes, baud } => write!(
                f,
                "What comes from the port is no text: {bytes} bytes of noise at {baud} baud."
            ),
            Self::OtherProgram { line } => {
                write!(f, "Another program talks on the board: '{}'.", cut(line))
            }
            Self::NoGreeting { seconds } => write!(
                f,
                "The board talks, but its greeting was not heard within {seconds} s: it says it once, at \
                 reset."
            ),
            Self::OtherProtocol { line } => {
                write!(f, "The board greets in a form that is not known here: '{}'.", cut(line))
            }
            Self::Abi { board, image } => {
                write!(f, "The board's firmware has ABI {board}, the image has ABI {image}.")
            }
            Self::OtherBoard { board, image } => {
                write!(f, "The image is for {image}, but this board is a {board}.")
            }
            Self::OtherPlan { board, image } => write!(
                f,
                "The board holds another image: its plan is {board}, that of the image is {image}."
            ),
            Self::WentAway { sent, of, error } => {
                let place = match of {
                    0 => String::new(),
                    of if sent < of => format!(" in the middle of the input, {sent} of {of} bytes"),
                    _ => " behind the input".to_owned(),
                };
                write!(f, "The port went away{place}: {error}.")
            }
            Self::Failed { error } => write!(f, "The board gave up: {error}"),
            Self::LosesBytes { times, last } => {
                write!(f, "The line loses bytes: sent {times} times, and still: {last}.")
            }
            Self::KeepsResetting { times } => {
                write!(f, "The board began anew {times} times in the middle of a run.")
            }
            Self::NoAnswer { seconds, asked: true } => {
                write!(f, "The board was sent the input, but did not answer within {seconds} s.")
            }
            Self::NoAnswer { seconds, asked: false } => {
                write!(f, "The board greeted, but asked for no input within {seconds} s.")
            }
        }
    }
}

impl Trouble {
    /// What to do about it.
    #[must_use]
    pub const fn remedy(&self) -> &'static str {
        match self {
            Self::Silent { .. } => {
                "Press the board's reset button while this waits. If it stays silent, flash the image \
                 (`tilewright board flash`) and look whether this is the board's port (`tilewright board \
                 list`)."
            }
            Self::Noise { .. } => {
                "Look whether this is the board's port, and close other programs that set its rate. A board \
                 whose clock is wrong sounds like this too: flash the image again."
            }
            Self::OtherProgram { .. } => {
                "Flash the image (`tilewright board flash`), or choose another port (--port)."
            }
            Self::NoGreeting { .. } => "Press the board's reset button while this waits.",
            Self::OtherProtocol { .. } | Self::Abi { .. } => {
                "Make the image with this version of Tilewright (`tilewright image`) and flash it: it brings \
                 its firmware along."
            }
            Self::OtherBoard { .. } => {
                "Choose the other board's port (--port), or make an image for this one."
            }
            Self::OtherPlan { .. } => {
                "Flash this image (`tilewright board flash`), or give the one that was flashed."
            }
            Self::WentAway { .. } => {
                "Plug the board in again and start anew. Its port may have another name then: `tilewright board \
                 list`."
            }
            Self::Failed { .. } => "Do what the board says, then press its reset button.",
            Self::LosesBytes { .. } => {
                "Stop programs that talk to the port as well (on Linux: `sudo systemctl stop ModemManager`), \
                 and try another cable or socket."
            }
            Self::KeepsResetting { .. } => {
                "Look at the board's supply: another cable, a socket with more current, no hub."
            }
            Self::NoAnswer { .. } => {
                "Press the board's reset button and try again; the command line waits longer with --answer-within SECONDS."
            }
        }
    }
}

/// The beginning of a line that may be long.
fn cut(line: &str) -> String {
    const LONGEST: usize = 80;
    let mut chars = line.chars().map(|c| if c.is_control() { ' ' } else { c });
    let text: String = chars.by_ref().take(LONGEST).collect();
    if chars.next().is_some() { text + "…" } else { text }
}
