//! Messages between a worker and the one who runs it: frames over the worker's standard input
//! and output. One worker process does one job.

pub mod bytes;
mod frame;
mod hardware;
mod message;
mod outcome;

pub use frame::{FrameError, MAX_FRAME_BYTES, read_frame, write_frame};
pub use hardware::{BrokenUnit, Hardware, LineNoise, SdramFault, SerialFlash};
pub use message::{
    Border, CardFault, CardJob, CardProblem, Change, CopyCount, Finish, Invoke, Job, LayerCycles,
    Limits, Recorded, Request, Response, StepCount, VERSION, Watch,
};
pub use outcome::{Collector, MOST_RECORDED, RunOutcome};
pub use tilewright_report::{Engine, Mode, UnknownMode};
