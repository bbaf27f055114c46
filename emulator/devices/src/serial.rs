//! What the console needs of a serial port, whichever it is, and the far end of its line.

use std::collections::VecDeque;

use crate::access::{Device, Moment, Time};
use crate::usart::Noise;

/// A serial port.
pub trait Serial: Device {
    /// Disturbs what arrives, if the port is modelled so far.
    fn disturb(&mut self, _noise: Noise) {}

    /// Bytes that a host sends, one behind the other, from now on.
    fn feed(&mut self, bytes: &[u8], at: Moment);

    /// Whether bytes of a host are still on their way.
    fn is_fed(&self) -> bool;

    /// Bytes sent since the last call.
    fn take_sent(&mut self) -> Vec<u8>;

    /// Whether bytes were sent since the last [`Serial::take_sent`].
    fn has_sent(&self) -> bool;

    /// Incoming bytes that firmware did not fetch in time or was not ready for.
    fn lost(&self) -> u64;
}

/// The host at the other end.
#[derive(Clone, Debug, Default)]
pub struct Host {
    /// Bytes that it got.
    pub sent: Vec<u8>,
    /// Bytes that it sends.
    incoming: VecDeque<u8>,
    /// When the next of these is complete.
    pub arrives: Option<Time>,
    /// Bytes that nobody took.
    pub lost: u64,
}

impl Host {
    /// It sends bytes, each of which takes so many cycles.
    pub fn feed(&mut self, bytes: &[u8], byte_cycles: u64, at: Moment) {
        self.incoming.extend(bytes);
        if self.arrives.is_none() && !self.incoming.is_empty() {
            self.arrives = Some(at.now.after(byte_cycles));
        }
    }

    /// Whether it still sends.
    pub fn is_fed(&self) -> bool {
        !self.incoming.is_empty()
    }

    /// The byte that is complete by now, if one is.
    pub fn arrived(&mut self, byte_cycles: u64, now: Time) -> Option<u8> {
        let arrived = self.arrives.filter(|time| *time <= now)?;
        let byte = self.incoming.pop_front();
        self.arrives = (!self.incoming.is_empty()).then(|| arrived.after(byte_cycles));
        byte
    }
}
