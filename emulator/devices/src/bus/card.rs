//! The card's controller, and the stream of DMA2 that serves it.

use super::{Bus, Slot};
use crate::access::Moment;
use crate::card::SdCard;
use crate::dma::Paced;
use crate::sdmmc::{self, CardEvent, CardQuirks, Sdmmc};

/// Streams of DMA2 that the card's controller can use, with their channels (RM0385, table 28; RM0386,
/// table 35).
const CARD_STREAMS: &[(usize, u32)] = &[(3, 4), (6, 4)];

impl Bus {
    fn card_slot(&mut self) -> Option<(usize, &mut Sdmmc)> {
        let index = self.reader?;
        match self.slots.get_mut(index) {
            Some(Slot::Sdmmc(device)) => Some((index, device.as_mut())),
            _ => None,
        }
    }

    /// Puts a card into the slot; false if the microcontroller has no controller for one.
    pub fn insert_card(&mut self, card: SdCard) -> bool {
        match self.card_slot() {
            Some((_, device)) => {
                device.insert(card);
                true
            }
            None => false,
        }
    }

    /// Says what is not as it should be with the card's controller, besides what its manual's errata say: hardware flow
    /// control spoils data of SDIO (ES0321).
    pub fn spoil_card(&mut self, quirks: CardQuirks) {
        let errata = self.reader.is_some_and(|index| self.table[index].name == "SDIO");
        let flow_control_fails = quirks.flow_control_fails || errata;
        if let Some((_, device)) = self.card_slot() {
            device.set_quirks(CardQuirks { flow_control_fails, ..quirks });
        }
    }

    /// What the data path of the card's controller did since the last call.
    pub fn take_card(&mut self) -> Vec<CardEvent> {
        self.card_slot().map(|(_, device)| device.take_events()).unwrap_or_default()
    }

    /// The stream of DMA2 that serves the card's controller for so many bytes; nothing if none is
    /// set up for it.
    pub fn card_stream(&mut self, write: bool, bytes: u32) -> Option<Paced> {
        let (index, _) = self.card_slot()?;
        let fifo = self.table[index].first + sdmmc::FIFO;
        self.second_dma()?.paced(fifo, CARD_STREAMS, write, bytes)
    }

    /// A read that waits for a stream goes on, if one serves it now.
    pub(super) fn card_goes_on(&mut self, at: Moment) {
        let waiting = self.card_slot().and_then(|(_, device)| device.waits_for_stream());
        let Some(bytes) = waiting else { return };
        if self.card_stream(false, bytes).is_some()
            && let Some((_, device)) = self.card_slot()
        {
            device.goes_on(at);
        }
    }

    /// The stream that serves the card's controller ends after so many bytes, at most all of a transfer.
    pub fn card_takes(&mut self, bytes: u32) {
        let clocks = self.clocks;
        if let Some((_, device)) = self.card_slot() {
            device.takes(bytes, clocks);
        }
    }

    /// A stream that the card's controller paces has moved so many bytes; nothing: memory did not
    /// answer it.
    pub fn card_moved(&mut self, stream: usize, bytes: Option<u32>) {
        if let Some(device) = self.second_dma() {
            device.paced_ends(stream, bytes);
        }
        self.update_lines();
    }

    /// Nobody serves the FIFO of the transfer that began.
    pub fn card_starves(&mut self) {
        if let Some((_, device)) = self.card_slot() {
            device.starves();
        }
        self.update_lines();
    }
}
