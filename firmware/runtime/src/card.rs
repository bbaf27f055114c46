//! What an SD card says of itself, and why a transfer to or from one failed (SD Physical Layer
//! Simplified Specification 6.00, chapter 4). Boards drive the controller.

use core::fmt;

use tilewright_plan::image::StoreError;

/// Bytes of a sector.
pub const SECTOR: u32 = 512;

/// Errors in a card status (4.10.1): all that a read, a write or a question of it can bring.
const ERRORS: u32 = 0xfdf9_8008;
/// States of a card: it waits for a transfer; it writes what it got.
const TRANSFER: u32 = 4;
const PROGRAMMING: u32 = 7;

/// Why something failed on a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CardError {
    /// It does not answer a command.
    Silent {
        /// The command's number.
        command: u8,
    },
    /// An answer came with a wrong checksum.
    Answer {
        /// The command's number.
        command: u8,
    },
    /// It refused a command.
    Refused {
        /// The command's number.
        command: u8,
        /// The card status.
        status: u32,
    },
    /// It never came out of power-up, or is none of high capacity.
    Unsuited,
    /// Data came, or was received, with a wrong checksum.
    Checksum,
    /// Data did not come, or the card took none, within its time.
    NoData,
    /// Memory was not there in time for the data.
    Memory,
    /// It stays busy.
    Busy,
    /// What was read is not what the program wrote.
    Content,
    /// What was read of its image is not what the plan says.
    Image,
    /// The plan asks for what no card can do.
    Transfer,
    /// A driver that is not the runtime's gave up.
    #[cfg(feature = "own-drivers")]
    Driver {
        /// What it said.
        code: i32,
    },
    /// It has fewer sectors than the plan uses.
    TooSmall {
        /// Sectors that the plan uses.
        needed: u32,
        /// Sectors of the card.
        had: u32,
    },
    /// The random number generator gives no key for what is swapped.
    NoKey,
    /// It does not hold what belongs to the plan image.
    Store(StoreError),
}

impl fmt::Display for CardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Silent { command: 8 } => {
                f.write_str("no answer to CMD8: the slot is empty, or the card older than SDHC")
            }
            Self::Silent { command } => write!(f, "no answer to CMD{command}"),
            Self::Answer { command } => write!(f, "garbled answer to CMD{command}"),
            Self::Refused { command, status } => {
                write!(f, "CMD{command} refused with status {status:#010x}")
            }
            Self::Unsuited => f.write_str("it is no SDHC or SDXC card"),
            Self::Checksum => f.write_str("data with a wrong checksum"),
            Self::NoData => f.write_str("no data in time"),
            Self::Memory => f.write_str("memory was too late for the data"),
            Self::Busy => f.write_str("it stays busy"),
            Self::Content => f.write_str("it holds other bytes than were written"),
            Self::Image => f.write_str("its image holds other bytes"),
            Self::Transfer => f.write_str("no whole sectors, or memory that is not aligned"),
            #[cfg(feature = "own-drivers")]
            Self::Driver { code } => write!(f, "its driver gave up with {code}"),
            Self::TooSmall { needed, had } => {
                write!(f, "it has {had} sectors, the plan uses {needed}")
            }
            Self::NoKey => f.write_str("no random numbers for its key"),
            Self::Store(error) => error.fmt(f),
        }
    }
}

/// What a card in the state of transfer may do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CardState {
    /// The next transfer.
    Ready,
    /// Write what it got: ask again.
    Writing,
    /// Something else: it must be stopped.
    Other,
}

/// What a card status that answered a command says.
///
/// # Errors
/// [`CardError::Refused`].
pub const fn card_state(command: u8, status: u32) -> Result<CardState, CardError> {
    if status & ERRORS != 0 {
        return Err(CardError::Refused { command, status });
    }
    Ok(match status >> 9 & 15 {
        TRANSFER if status & 1 << 8 != 0 => CardState::Ready,
        TRANSFER | PROGRAMMING => CardState::Writing,
        _ => CardState::Other,
    })
}

/// Sectors of a card, from its CSD register: four words, the most significant first; nothing if it is
/// none of high capacity (5.3.3).
#[must_use]
pub const fn sectors(csd: [u32; 4]) -> Option<u32> {
    if csd[0] >> 30 != 1 {
        return None;
    }
    let units = (csd[1] & 0x3f) << 16 | csd[2] >> 16;
    Some((units + 1).saturating_mul(1024))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_come_from_the_csd_of_high_capacity() {
        // A card of 32 GB as its CSD reads: C_SIZE 0xed59.
        assert_eq!(sectors([0x400e_0032, 0x5b59_0000, 0xed59_7f80, 0x0a40_4001]), Some(62_220_288));
        assert_eq!(sectors([0x005e_0032, 0x5f59_83d6, 0xffff_ff80, 0x1640_40c1]), None);
    }

    #[test]
    fn a_status_says_what_comes_next() {
        assert_eq!(card_state(13, 0x0000_0900), Ok(CardState::Ready));
        assert_eq!(card_state(13, 0x0000_0e00), Ok(CardState::Writing));
        assert_eq!(card_state(13, 0x0000_0800), Ok(CardState::Writing), "not ready for data");
        assert_eq!(card_state(13, 0x0000_0b00), Ok(CardState::Other), "sends data");
        let refused = CardError::Refused { command: 18, status: 0x8000_0900 };
        assert_eq!(card_state(18, 0x8000_0900), Err(refused));
    }
}
