//! What a board says on its serial port, and hears.

use super::Bus;
use crate::access::Time;
use crate::serial::Serial;
use crate::usart::Noise;

impl Bus {
    fn console(&mut self) -> Option<&mut dyn Serial> {
        self.slots.get_mut(self.console)?.serial_mut()
    }

    /// Disturbs what arrives at the board's console.
    pub fn disturb_console(&mut self, noise: Noise) {
        if let Some(console) = self.console() {
            console.disturb(noise);
        }
    }

    /// Whether the board wrote to its console since the last [`Bus::take_console`].
    #[must_use]
    pub fn has_console(&self) -> bool {
        self.slots.get(self.console).and_then(|slot| slot.serial()).is_some_and(Serial::has_sent)
    }

    /// Bytes that the board wrote to its console since the last call.
    pub fn take_console(&mut self) -> Vec<u8> {
        self.console().map(Serial::take_sent).unwrap_or_default()
    }

    /// Sends bytes to the board's console at its baud rate, from now on.
    pub fn feed_console(&mut self, bytes: &[u8], now: Time) {
        let at = self.at(now);
        self.wake(self.console);
        if let Some(console) = self.console() {
            console.feed(bytes, at);
        }
    }

    /// Whether bytes sent to the console are still on their way.
    #[must_use]
    pub fn feeds_console(&self) -> bool {
        self.slots.get(self.console).and_then(|slot| slot.serial()).is_some_and(Serial::is_fed)
    }

    /// Bytes sent to the console that firmware lost.
    pub fn lost_console_bytes(&mut self) -> u64 {
        self.console().map_or(0, |console| console.lost())
    }
}
