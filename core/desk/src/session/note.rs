//! What a person at the desk is told while a talk goes on.

use core::fmt;

use crate::lines::Greeting;

/// What a person at the desk is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// Nothing was heard, or a board that greeted before anybody listened.
    PressReset {
        /// Whether it talks.
        talks: bool,
    },
    /// Who is there.
    Greeted(Greeting),
    /// What the board found on itself.
    Remark(String),
    /// Its plan was not heard.
    PlanLost,
    /// The input goes out.
    Sends {
        /// In how many frames.
        parts: usize,
        /// Bytes of all of them.
        bytes: u64,
    },
    /// The frame goes out again.
    SendsAgain(String),
    /// The board was reset.
    Reset,
    /// The board begins its work anew.
    GivenUp {
        /// Cycles for nothing.
        cycles: u64,
        /// What was lost, and where.
        why: String,
    },
    /// The board heard bytes that nobody here has sent.
    Stranger(String),
    /// A line that cannot be read.
    Unreadable(String),
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PressReset { talks: false } => {
                f.write_str("nothing was heard yet: press the board's reset button")
            }
            Self::PressReset { talks: true } => f.write_str(
                "the board talks, but it greeted before the port was open: press its reset button",
            ),
            Self::Greeted(Greeting { firmware_version, abi, board }) => {
                write!(f, "{board}, firmware {firmware_version}, ABI {abi}")
            }
            Self::Remark(text) => write!(f, "the board says: {text}"),
            Self::PlanLost => f.write_str(
                "the line with the board's plan was lost: press the board's reset button again",
            ),
            Self::Sends { parts: 1, bytes } => write!(f, "sends the input, {bytes} bytes"),
            Self::Sends { parts, bytes } => {
                write!(
                    f,
                    "sends the input in {parts} parts, as the board asks for them, {bytes} bytes"
                )
            }
            Self::SendsAgain(why) => write!(f, "{why}: sends it again"),
            Self::Reset => f.write_str("the board was reset in the middle: begins again"),
            Self::GivenUp { cycles, why } => {
                write!(f, "the board begins the run again after {cycles} cycles: {why}")
            }
            Self::Stranger(why) => {
                write!(f, "the board heard bytes that another program sent (ModemManager?): {why}")
            }
            Self::Unreadable(line) => write!(f, "a line cannot be read: '{line}'"),
        }
    }
}
