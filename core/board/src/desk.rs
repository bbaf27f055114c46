//! What a computer sees of a board, and what brings images onto it.

use serde::{Deserialize, Serialize};

/// What a computer sees of a board, and what brings images onto it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Desk {
    /// The microcontroller, as probe-rs names it.
    pub chip: String,
    /// Labels of the drive that the board shows; some systems put a number behind.
    pub drives: Vec<String>,
    /// The files that this drive takes.
    #[serde(default)]
    pub drive_takes: DriveTakes,
    /// The four digits that a code on this drive (MBED.HTM) begins with, if it has one and it is known.
    #[serde(default)]
    pub mbed_code: Option<String>,
    /// STM32CubeProgrammer's external loaders for the board's serial flash, one for each flash that is soldered; none
    /// if there is no serial flash.
    #[serde(default)]
    pub loaders: Vec<String>,
    /// Where this is from.
    pub source: String,
}

/// Files that a board's drive takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DriveTakes {
    /// Bytes of flash, as an ST-LINK takes them.
    #[default]
    Bin,
    /// Intel HEX, as a J-Link takes it.
    Hex,
    /// Blocks with their addresses, as a boot ROM takes them.
    Uf2,
}

impl DriveTakes {
    /// The ending of such files.
    #[must_use]
    pub const fn ending(self) -> &'static str {
        match self {
            Self::Bin => "bin",
            Self::Hex => "hex",
            Self::Uf2 => "uf2",
        }
    }
}

impl Desk {
    /// Whether the microcontroller is one of STMicroelectronics.
    #[must_use]
    pub fn is_stm32(&self) -> bool {
        self.chip.starts_with("STM32")
    }
}
