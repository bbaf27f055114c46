//! What a board wires to its microcontroller's pins.

use tilewright_board::Board;

use crate::chip::Chip;

/// OSPEEDR of pins at their highest speed.
const FASTEST: u32 = 3;

/// A pin with the signal that a board wires to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pin {
    /// The peripheral that drives it.
    pub peripheral: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Its port, 0 is A.
    pub port: u32,
    /// Number in the port.
    pub number: u32,
    /// Number of its alternate function.
    pub function: u32,
    /// The signal.
    pub signal: &'static str,
    /// OSPEEDR that the signal needs at least.
    pub speed: u32,
}

/// The pins that a board wires, those of them whose signals its microcontroller knows.
pub fn pins(board: &Board, chip: &'static Chip) -> Vec<Pin> {
    let find = |peripheral: &str, signal: &str, wired: &str| {
        let known = chip.pins.iter().find(|it| it.pin == wired && it.signal == signal)?;
        let device = chip.peripherals.iter().find(|device| device.name == peripheral)?;
        let port = u32::from(known.pin.as_bytes().get(1)?.checked_sub(b'A')?);
        Some(Pin {
            peripheral: device.name,
            name: known.pin,
            port,
            number: known.pin.get(2..)?.parse().ok()?,
            function: known.function,
            signal: known.signal,
            speed: if chip.fast.contains(&device.name) { FASTEST } else { 0 },
        })
    };
    let signals = board.wires.iter().flat_map(|wires| {
        wires.signals().filter_map(|(signal, wired)| find(&wires.peripheral, &signal, wired))
    });
    signals.collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use crate::chip;

    fn wired(id: &str) -> (Board, Vec<Pin>) {
        let board = tilewright_board::find(id).unwrap();
        let pins = pins(&board, chip::find(board.chip.as_ref().unwrap()).unwrap());
        (board, pins)
    }

    #[test]
    fn each_wired_pin_is_known_to_its_microcontroller_and_has_one_signal() {
        for board in tilewright_board::all().iter().filter(|board| board.chip.is_some()) {
            let (board, mut pins) = wired(&board.id);
            let signals = board.wires.iter().flat_map(|wires| wires.signals());
            let missing: Vec<_> =
                signals.filter(|(name, _)| pins.iter().all(|pin| pin.signal != name)).collect();
            assert!(missing.is_empty(), "{}: {missing:?}", board.id);
            assert!(pins.iter().all(|pin| pin.port <= 8 && pin.number < 16), "{}", board.id);
            pins.sort_unstable_by_key(|pin| pin.name);
            assert!(pins.windows(2).all(|pair| pair[0].name != pair[1].name), "{pins:?}");
        }
    }

    #[test]
    fn sdram_has_as_many_pins_as_its_data_lines_ask_for() {
        let count = |id| wired(id).1.iter().filter(|pin| pin.peripheral == "FMC").count();
        // 12 of addresses, 2 of banks, 6 of commands, data and their masks.
        assert_eq!(count("stm32f746g-disco"), 20 + 16 + 2);
        assert_eq!(count("stm32f469i-disco-small"), 20 + 32 + 4);
    }
}
