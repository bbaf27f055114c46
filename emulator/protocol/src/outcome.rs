//! What a job left.

use crate::message::{CopyCount, Finish, LayerCycles, StepCount};

/// What a job left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunOutcome {
    /// What emulated: name and version.
    pub engine: String,
    /// How it ended.
    pub finish: Finish,
    /// Steps of the last frame, in order of their ends.
    pub steps: Vec<StepCount>,
    /// Copies of engines' lanes in the last frame, in order of their ends.
    pub copies: Vec<CopyCount>,
    /// Bytes of each of the job's watches; nothing where the step never ended.
    pub watched: Vec<Option<Vec<u8>>>,
    /// Where the cycles of layers went.
    pub layers: Vec<LayerCycles>,
    /// What the board wrote to its console.
    pub console: Vec<u8>,
    /// Cycles of each invoke of the last frame that was given up and begun again.
    pub given_up: Vec<u64>,
}
