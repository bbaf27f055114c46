//! What a computer sees of a board, and what brings images onto it.

use serde::{Deserialize, Serialize};

/// What a computer sees of a board, and what brings images onto it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Desk {
    /// The microcontroller, as probe-rs names it.
    pub chip: String,
    /// Labels of the drive that the board's ST-LINK shows; some systems put a number behind.
    pub drives: Vec<String>,
    /// The four digits that a code on this drive (MBED.HTM) begins with.
    pub mbed_code: String,
    /// STM32CubeProgrammer's external loaders for the board's serial flash, one for each flash that is soldered; none
    /// if there is no serial flash.
    #[serde(default)]
    pub loaders: Vec<String>,
    /// Where this is from.
    pub source: String,
}
