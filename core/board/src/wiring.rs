//! What a board wires to its microcontroller. Build scripts and the library share this file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tilewright_plan::Hertz;

/// What gives a board its clock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Oscillator {
    /// Its frequency.
    pub hertz: Hertz,
    /// Whether it is a crystal on two pins, or a clock that arrives at one.
    pub is_crystal: bool,
    /// Where this stands.
    pub source: String,
}

/// What a board wires to a peripheral.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wires {
    /// The peripheral's name in the manual.
    pub peripheral: String,
    /// Pins by the signals that they carry, without the peripheral's name. Several pins, separated by spaces, carry
    /// signals that are numbered from 0 on.
    pub pins: BTreeMap<String, String>,
    /// Where this stands.
    pub source: String,
}

impl Wires {
    /// Signals as the manual names them, each with its pin.
    pub fn signals(&self) -> impl Iterator<Item = (String, &str)> {
        self.pins.iter().flat_map(move |(signal, pins)| {
            let is_numbered = pins.contains(' ');
            pins.split_whitespace().enumerate().map(move |(number, pin)| {
                let number = if is_numbered { number.to_string() } else { String::new() };
                (format!("{}_{signal}{number}", self.peripheral), pin)
            })
        })
    }

    /// The pins of a signal that is named as in the board's file.
    pub fn pins_of(&self, signal: &str) -> impl Iterator<Item = &str> {
        self.pins.get(signal).into_iter().flat_map(|pins| pins.split_whitespace())
    }
}
