//! What a talk gives.

use crate::expected::Expected;
use crate::lines::Greeting;

/// Cycles of a layer, as the board counts them with its core's cycle counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerTime {
    /// Position in the plan.
    pub index: u32,
    /// Cycles.
    pub cycles: u64,
    /// Name.
    pub name: String,
}

/// One of the best classes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Score {
    /// Its index.
    pub class: u32,
    /// Its int8 value.
    pub value: i8,
    /// Its name.
    pub label: String,
}

/// What a board says of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Layers in order.
    pub layers: Vec<LayerTime>,
    /// Values of each output.
    pub outputs: Vec<Vec<i8>>,
    /// Best classes, best first.
    pub scores: Vec<Score>,
    /// Cycles of the run.
    pub invoke_cycles: Option<u64>,
    /// Cycles of each run that was given up, since a card had lost something.
    pub given_up_cycles: Vec<u64>,
    /// The name of the program that a limit of latency chose.
    pub program: Option<String>,
    /// The number of the output at whose exit the run ended.
    pub exit: Option<u32>,
}

impl Answer {
    /// Whether nothing of it was lost on the line.
    #[must_use]
    pub fn is_whole(&self, expected: &Expected) -> bool {
        let layers = (0..expected.layers).eq(self.layers.iter().map(|layer| layer.index));
        let bytes = self.outputs.iter().map(|values| values.len() as u64);
        // No output behind an exit that was taken.
        let made = self.exit.map_or(usize::MAX, |exit| exit as usize + 1);
        let outputs = expected.output_bytes.iter().copied().take(made);
        layers && bytes.eq(outputs) && self.invoke_cycles.is_some()
    }
}

/// What a talk gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Who answered.
    pub greeting: Greeting,
    /// What stands in for a board, if something said so.
    pub emulated: Option<String>,
    /// Lines between greeting and plan: what the board found on itself.
    pub remarks: Vec<String>,
    /// Cycles of what was done once, if there was something.
    pub loaded_cycles: Option<u64>,
    /// The answer.
    pub answer: Answer,
    /// How often frames were sent again, since the line had lost bytes.
    pub sent_again: u32,
    /// How often the board began anew in the middle.
    pub resets: u32,
}
