//! Whether pins are set for what the board wires to them.

use super::{Bus, Slot};
use crate::access::AccessError;
use crate::wiring::Pin;
use crate::{fmc, quadspi, sdmmc};

/// MODER of a pin that a peripheral drives.
const ALTERNATE: u32 = 2;

impl Bus {
    /// Whether a write to a peripheral lets it drive its pins.
    fn drives_pins(&self, index: usize, offset: u32) -> bool {
        match &self.slots[index] {
            Slot::Fmc(_) => offset == fmc::SDCMR,
            Slot::QuadSpi(_) => offset == quadspi::CCR,
            Slot::Sdmmc(_) => offset == sdmmc::CMD,
            Slot::Usart(device) => device.is_on(),
            _ => false,
        }
    }

    /// Of strict devices: whether the pins of a peripheral that was written to are set as the board wires them.
    pub(super) fn check_pins(&self, index: usize, offset: u32) -> Result<(), AccessError> {
        if !self.strict || !self.drives_pins(index, offset) {
            return Ok(());
        }
        let name = self.table[index].name;
        for pin in self.pins.iter().filter(|pin| pin.peripheral == name) {
            let Pin { peripheral, name: pin, port, number, function, signal, speed } = *pin;
            let found = self.settings(port, number);
            if found[..2] != [ALTERNATE, function] || found[2] < speed {
                return Err(AccessError::Pin { peripheral, pin, signal, function, speed, found });
            }
        }
        Ok(())
    }

    /// Mode, function and speed of a pin.
    fn settings(&self, port: u32, number: u32) -> [u32; 3] {
        let found = self.slots.iter().find_map(|slot| match slot {
            Slot::Gpio(device) if device.is_port(port) => Some(device.settings(number)),
            _ => None,
        });
        found.unwrap_or_default()
    }
}
