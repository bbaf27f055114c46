//! Runs, and what happens during one, wherever it is.

use serde::{Deserialize, Serialize};
use tilewright_protocol::Border;
use tilewright_report::{Diagnostic, Mode};

/// What the emulator is asked: to run a plan on the emulated board and to watch all its layers. Buffers: the
/// firmware's ELF file; the plan image; the input as int8; the store images.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRequest {
    /// Board id.
    pub board: String,
    /// How much of the steps is executed.
    pub mode: Mode,
    /// The limit of latency in microseconds that chooses a sub-network.
    pub limit_us: Option<u32>,
    /// Names of the store images, in the order of their buffers.
    pub stores: Vec<String>,
}

/// What happens during a run. The emulator answers with one after the other; the server tells the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum RunEvent {
    /// It waits; the next has position 1.
    Queued(u32),
    /// Something that people want to know.
    Note(String),
    /// It has come further.
    Progress(RunningOf),
    /// The board wrote this.
    Console(String),
    /// It has ended: its result waits to be read and compared. Buffers: those of
    /// [`ImportRequest::Judge`](super::ImportRequest::Judge) but for the input.
    Ended(Recording),
    /// It came to no result.
    Failed(Diagnostic),
}

/// What SRAM held where steps of the core ended, or the first of them; empty if that was not recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recording {
    /// Bytes of SRAM that the plan uses.
    pub bytes: u32,
    /// The borders, in order.
    pub borders: Vec<Border>,
}

/// How far the board is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunningOf {
    /// Executed instructions so far.
    pub instructions: u64,
    /// Layer that it is at.
    pub layer: Option<usize>,
}
