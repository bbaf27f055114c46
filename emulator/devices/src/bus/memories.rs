//! What moves bytes, and the memories behind controllers.

use tilewright_board::MemoryKind;

use super::{Bus, Slot};
use crate::access::Time;
use crate::dma::{Dma, DmaEvent};
use crate::quadspi::{QuadSpi, SerialFlash};

impl Bus {
    /// Bytes of an external memory that its controller lets the core address, of `bytes` that are
    /// there; 0 if it is not set up.
    #[must_use]
    pub fn addressable(&self, kind: MemoryKind, bytes: u64) -> u64 {
        let answers = self.slots.iter().map(|slot| match (slot, kind) {
            (Slot::Fmc(device), MemoryKind::Sdram) => device.sdram_bytes(1).min(bytes),
            (Slot::QuadSpi(device), MemoryKind::QspiFlash) => {
                device.mapped_bytes().unwrap_or(0).min(bytes)
            }
            _ => 0,
        });
        answers.max().unwrap_or(0)
    }

    /// Tells the controller of SDRAM what its pins can do.
    pub(super) fn limit_sdram(&mut self, hertz: u64) {
        for slot in &mut self.slots {
            if let Slot::Fmc(device) = slot {
                device.limit_sdram(hertz);
            }
        }
    }

    fn quadspi(&self) -> Option<&QuadSpi> {
        self.slots.iter().find_map(|slot| match slot {
            Slot::QuadSpi(device) => Some(device.as_ref()),
            _ => None,
        })
    }

    /// Puts another serial flash on the pins.
    pub fn solder_flash(&mut self, flash: SerialFlash) {
        for slot in &mut self.slots {
            if let Slot::QuadSpi(device) = slot {
                **device = QuadSpi::with(flash);
            }
        }
    }

    /// Breaks the CRC unit: a bit of its result is always 1.
    pub fn break_checksums(&mut self) {
        for slot in &mut self.slots {
            if let Slot::Crc(device) = slot {
                device.stick(1 << 9);
            }
        }
    }

    /// Breaks the random number generator: it gives one number for ever.
    pub fn break_random_numbers(&mut self) {
        for slot in &mut self.slots {
            if let Slot::Rng(device) = slot {
                device.stick();
            }
        }
    }

    /// Bytes of serial flash that its controller is told of.
    ///
    /// # Errors
    /// Why the core cannot read it.
    pub fn mapped_flash(&self) -> Result<u64, &'static str> {
        self.quadspi().map_or(Err("is not set up"), QuadSpi::mapped_bytes)
    }

    pub(super) fn second_dma(&mut self) -> Option<&mut Dma> {
        match self.slots.get_mut(self.moving?) {
            Some(Slot::Dma(device)) => Some(device.as_mut()),
            _ => None,
        }
    }

    /// What the streams that move from memory to memory did since the last call.
    pub fn take_dma(&mut self) -> Vec<DmaEvent> {
        self.second_dma().map(Dma::take_events).unwrap_or_default()
    }

    /// A stream that began ends at a time; nothing: it cannot move its bytes.
    pub fn dma_takes(&mut self, stream: usize, until: Option<Time>) {
        if let Some(device) = self.second_dma() {
            device.takes(stream, until);
        }
        self.update_lines();
    }
}
