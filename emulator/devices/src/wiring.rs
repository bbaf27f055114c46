//! What boards wire to their microcontroller.

mod pins;

pub use pins::{Pin, Wires, wires};

/// What gives a board its clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Oscillator {
    /// Its frequency.
    pub hertz: u64,
    /// Whether it is a crystal on two pins, or a clock that arrives at one (HSEBYP; RM0385, 5.2.1).
    pub is_crystal: bool,
}

/// Oscillators by board.
const OSCILLATORS: &[(&str, Oscillator)] = &[
    // UM1907, clock sources: X2.
    ("stm32f746g-disco", Oscillator { hertz: 25_000_000, is_crystal: true }),
    // UM1974, OSC clock supply: MCO of the ST-LINK.
    ("nucleo-f767zi", Oscillator { hertz: 8_000_000, is_crystal: false }),
    // UM1932, HSE clock source: X2.
    ("stm32f469i-disco", Oscillator { hertz: 8_000_000, is_crystal: true }),
];

/// The name of a board, whichever firmware it runs.
fn hardware(board: &str) -> &str {
    board.strip_suffix(tilewright_board::SMALL).unwrap_or(board)
}

/// The oscillator of a board, if it has one.
pub fn oscillator(board: &str) -> Option<Oscillator> {
    let found = OSCILLATORS.iter().find(|(id, _)| *id == hardware(board));
    found.map(|(_, oscillator)| *oscillator)
}
