//! The messages.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tilewright_report::{Counts, Fault, LayerProfile, Mode, StackUse};

use crate::hardware::Hardware;

/// Version of the protocol; runner and worker refuse another.
pub const VERSION: u32 = 18;

/// Bounds of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Executed instructions, boot included.
    pub instructions: u64,
    /// Bytes of console output.
    pub console_bytes: u64,
}

/// A place to read when a step has ended: `rows` runs of `row_bytes` from `address` on, `pitch` apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watch {
    /// Lane of the step: 0 is the core's.
    pub lane: u8,
    /// The step in its lane: a compute step or a copy.
    pub step: u32,
    /// Whether the place is on the card, and `address` counts from its first byte.
    pub on_card: bool,
    /// Address of the first byte.
    pub address: u32,
    /// Number of runs.
    pub rows: u32,
    /// Bytes of a run.
    pub row_bytes: u32,
    /// Bytes from run to run.
    pub pitch: u32,
}

/// A memory whose bytes are recorded where steps of the last frame end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded {
    /// Address of the first byte.
    pub address: u32,
    /// How many.
    pub bytes: u32,
}

/// Bytes of a recorded memory that are others than at the border before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Offset of the first from the memory's first byte.
    pub offset: u32,
    /// What they are now.
    #[serde(with = "crate::bytes")]
    pub bytes: Vec<u8>,
}

/// What a recorded memory holds at a border between steps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Border {
    /// The step of the core's lane that has ended; nothing: the invoke begins, and before it all bytes were 0.
    pub step: Option<u32>,
    /// In order of their offsets.
    pub changes: Vec<Change>,
}

impl Border {
    /// About the bytes that it takes to keep.
    #[must_use]
    pub fn kept_bytes(&self) -> u64 {
        let changes = self.changes.iter().map(|change| size_of::<Change>() + change.bytes.len());
        (size_of::<Self>() + changes.sum::<usize>()) as u64
    }
}

/// What goes wrong with a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CardProblem {
    /// The card is gone from here on.
    Removed,
    /// A block arrives with a wrong checksum.
    Checksum,
    /// A read gets no data; a write is not acknowledged.
    Silent,
    /// After a write the card stays busy for so many nanoseconds more.
    Busy {
        /// How many.
        ns: u64,
    },
    /// A bit in the middle of what a read brings is wrong, this time, and nobody notices.
    Garbled {
        /// Its place in the byte, from the least.
        bit: u8,
    },
    /// A write never reaches the card, which holds what it held before, and nobody notices.
    Lost,
    /// Other sectors are read or written, so many behind, and nobody notices.
    Astray {
        /// How many.
        sectors: u32,
    },
    /// A bit in the middle of what is read, or was written, turns over on the card, and nobody notices.
    Turned {
        /// Its place in the byte, from the least.
        bit: u8,
    },
    /// The card does not hear a command.
    Unheard,
    /// The answer to a command comes with a wrong checksum.
    Answer,
}

/// A transfer of the card with which something goes wrong; of what goes wrong with commands, a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardFault {
    /// Its number since reset: reads and writes of sectors from 0 on, or commands, tries included.
    pub transfer: u64,
    /// How many later it goes wrong again; 0: never.
    pub every: u64,
    /// What goes wrong.
    pub problem: CardProblem,
}

/// The card in the board's slot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardJob {
    /// Id of its class.
    pub class: String,
    /// What it holds from its first byte on; zeros follow. Shared: it may be as large as a network.
    #[serde(with = "crate::bytes")]
    pub image: Arc<Vec<u8>>,
    /// Its size.
    pub bytes: u64,
    /// What goes wrong.
    pub faults: Vec<CardFault>,
}

/// What a worker is to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Board id.
    pub board: String,
    /// The ELF file: firmware and plan, exactly what is downloaded.
    #[serde(with = "crate::bytes")]
    pub elf: Vec<u8>,
    /// What external flash holds, from its first byte on; zeros follow.
    #[serde(with = "crate::bytes")]
    pub external_flash: Vec<u8>,
    /// The card; nothing: the slot is empty.
    pub card: Option<CardJob>,
    /// Bytes that the host sends to the board's console for each frame: one list for each time that the firmware
    /// says it waits for some.
    pub frames: Vec<Vec<Vec<u8>>>,
    /// The board that runs it.
    pub hardware: Hardware,
    /// Whether it is a fault to use a register that no model answers, or whose peripheral's clock is off; else such
    /// uses are counted.
    pub strict: bool,
    /// How much of the steps is executed.
    pub mode: Mode,
    /// Bounds.
    pub limits: Limits,
    /// Places to read after steps, of the last frame.
    pub watches: Vec<Watch>,
    /// The memory to record; nothing: none.
    pub recorded: Option<Recorded>,
}

impl Job {
    /// To run firmware on a board as its file says, in full and strictly, with nothing in its slot or external flash:
    /// no frame is sent, and no place is read.
    #[must_use]
    pub fn new(board: impl Into<String>, elf: Vec<u8>, limits: Limits) -> Self {
        Self {
            board: board.into(),
            elf,
            external_flash: Vec::new(),
            card: None,
            frames: Vec::new(),
            hardware: Hardware::default(),
            strict: true,
            mode: Mode::Full,
            limits,
            watches: Vec::new(),
            recorded: None,
        }
    }
}

/// What the runner sends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Request {
    /// First message: the runner's protocol version.
    Hello {
        /// [`VERSION`].
        version: u32,
    },
    /// Second message.
    Run(Job),
    /// The same, but a host has the board's console: the job's frames are not looked at, and virtual time keeps to the
    /// host's clock while the core sleeps.
    RunWithHost(Job),
    /// Behind that, whenever the host sends something: bytes for the board's console.
    Console(#[serde(with = "crate::bytes")] Vec<u8>),
}

/// What a step of the core lane took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepCount {
    /// Step of the core lane.
    pub step: u32,
    /// Layer.
    pub layer: u16,
    /// Virtual time at entry to the kernel, in core cycles since the invoke began.
    pub start: u64,
    /// Virtual time at its end.
    pub end: u64,
    /// Instructions executed inside the kernel.
    pub instructions: u64,
    /// Cycles of the core inside the kernel, interrupts left out.
    pub cycles: u64,
    /// Of these, cycles that it waited for code from flash.
    pub code_waits: u64,
    /// Of these, cycles that it waited for constants from flash.
    pub constant_waits: u64,
    /// Cycles that the core slept since the step before it: it waited for an engine.
    pub waited: u64,
}

/// What a copy of an engine's lane took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyCount {
    /// Lane of the program.
    pub lane: u8,
    /// Step of the lane.
    pub step: u32,
    /// Layer.
    pub layer: u16,
    /// Virtual time at its start, in core cycles since the invoke began.
    pub start: u64,
    /// Virtual time at its end.
    pub end: u64,
    /// Bytes that were moved.
    pub bytes: u64,
}

/// Where the cycles of a layer's steps in the last frame went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayerCycles {
    /// Layer.
    pub layer: u16,
    /// Causes and hottest blocks.
    pub profile: LayerProfile,
}

/// An invoke that ended; of a frame that was begun again the last one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invoke {
    /// Its program: the number of an entry of the image; nothing if none was chosen.
    pub entry: Option<u32>,
    /// Instructions that choosing it took.
    pub select_instructions: u64,
    /// Its counts.
    pub counts: Counts,
    /// The number of the output at whose exit it ended, if it ended early.
    pub exit: Option<u16>,
    /// Bytes of its outputs, as the board wrote them to its console.
    pub outputs: Vec<Vec<i8>>,
}

/// How a job ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finish {
    /// What went wrong, if something did.
    pub fault: Option<Fault>,
    /// Counts from reset to the start of the last invoke.
    pub boot: Counts,
    /// Of those, counts of boot programs: what is brought into memory once.
    pub load: Counts,
    /// Counts of the last invoke.
    pub invoke: Counts,
    /// All invokes, one for each frame that was answered.
    pub invokes: Vec<Invoke>,
    /// Compute steps of all invokes that were passed over, since one like them had run.
    pub passed_steps: u64,
    /// How deep the firmware's stack grew; nothing if it is not where the board's file says.
    pub stack: Option<StackUse>,
    /// Register accesses that no device answered: address and count.
    pub unknown_registers: Vec<(u32, u64)>,
    /// Wall-clock nanoseconds that emulation took, for benchmarks.
    pub wall_ns: u64,
}

/// What a worker says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Response {
    /// Answer to the hello.
    Hello {
        /// [`VERSION`].
        version: u32,
        /// What emulates: name and version.
        engine: String,
    },
    /// Now and then: executed instructions so far, and the step of the core lane.
    Progress {
        /// Instructions.
        instructions: u64,
        /// Step, if an invoke is under way.
        step: Option<u32>,
    },
    /// Bytes that the board wrote to its console.
    Console(Vec<u8>),
    /// The last frame is begun again: what was said of its steps so far is void.
    Again {
        /// Cycles of the invoke that was given up.
        cycles: u64,
    },
    /// A step of the last frame ended.
    Step(StepCount),
    /// A copy of the last frame ended.
    Copy(CopyCount),
    /// A watched place.
    Watched {
        /// Index into the job's watches.
        watch: u32,
        /// Its bytes, runs one behind the other.
        #[serde(with = "crate::bytes")]
        bytes: Vec<u8>,
    },
    /// What the recorded memory holds; no more of them come once they would take too much time or memory.
    Border(Border),
    /// Where a layer's cycles went: after all steps, of full runs.
    Layer(LayerCycles),
    /// Last message.
    Finished(Finish),
}
