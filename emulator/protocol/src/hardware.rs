//! What differs between boards of one name, and what is broken on one.

use serde::{Deserialize, Serialize};

/// The serial flash on a board.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum SerialFlash {
    /// Micron's N25Q128A, or its successor MT25QL128.
    #[default]
    N25q128a,
    /// Winbond's W25Q128JV-IQ: on the STM32F746G-DISCO from revision C-03 on.
    W25q128jvIq,
    /// Winbond's W25Q128JV-IM, which has to be told to use four lines.
    W25q128jvIm,
    /// Another, which says that it is this.
    Other([u8; 3]),
}

/// What is wrong with SDRAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SdramFault {
    /// It never answers: what is read are ones.
    Dead,
    /// These bits of each word are read as 0.
    StuckLow(u32),
    /// This bit of addresses counts as 0.
    AddressLine(u32),
}

/// What disturbs bytes on their way to the board's console, at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineNoise {
    /// What chance begins with: runs with the same repeat.
    pub seed: u64,
    /// Of so many bytes one arrives with noise, as it was sent; 0: none.
    pub noisy_in: u32,
    /// Of so many bytes one arrives without its stop bit, as another; 0: none.
    pub broken_in: u32,
}

/// A unit of the board that does not work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BrokenUnit {
    /// A bit of the CRC unit's result is always 1.
    Checksums,
    /// The random number generator gives one number for ever.
    RandomNumbers,
    /// DMA from memory to memory never ends.
    Copies,
    /// Some reads of serial flash bring a bit that is wrong.
    SerialFlash,
}

/// A board as it is, not as its file says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hardware {
    /// Its serial flash.
    pub serial_flash: SerialFlash,
    /// What is wrong with its SDRAM.
    pub sdram: Option<SdramFault>,
    /// Its crystal, or the clock that arrives instead of one, stands still.
    pub crystal_dead: bool,
    /// Above this clock of the card blocks of data fail their checksum.
    pub card_fastest_hertz: Option<u32>,
    /// The card's controller never says that its FIFO is full of what was received.
    pub full_flag_missing: bool,
    /// A unit that does not work.
    pub broken: Option<BrokenUnit>,
    /// A word that lies half in DTCM and half in the SRAM behind it does not come whole, which is a fault; to see that
    /// takes runs half as long again.
    pub torn_words: bool,
    /// Its core reads lines of the data cache ahead while DMA writes them, every second one by chance that begins with
    /// this: the core sees nothing of what came until firmware invalidates them.
    pub reads_ahead: Option<u64>,
    /// What disturbs its console.
    pub line_noise: Option<LineNoise>,
}
