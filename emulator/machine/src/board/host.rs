//! A host that talks with the board while it runs: bytes come in as they arrive.

use tilewright_devices::Time;

/// What ended a wait.
#[derive(Debug)]
pub enum Waited {
    /// Bytes arrived, at a virtual time before what was due.
    Arrived {
        /// What arrived.
        bytes: Vec<u8>,
        /// When.
        at: Time,
    },
    /// What was due is.
    Due(Time),
    /// Nobody will send anything any more.
    Gone,
}

/// The host's end of the console.
pub trait Host {
    /// Bytes that have arrived.
    fn arrived(&mut self) -> Option<Vec<u8>>;

    /// Waits, at virtual time `now`, until something is due, if anything ever is, or bytes arrive.
    fn wait(&mut self, now: Time, due: Option<Time>) -> Waited;
}
