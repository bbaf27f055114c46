//! A record made of what a board said, what was expected of it, and who was there.

use tilewright_plan::{Cycles, Hertz};
use tilewright_report::{LayerCount, PlanReport};

use crate::answer::{LayerTime, Outcome};
use crate::expected::LAYERS_TOLD;
use crate::record::{LayerRecord, MeasuredOn, OutputRecord, Record, RecordKinds, SCHEMA};

/// A run of the same plan on the emulated board.
#[derive(Clone, Copy, Debug)]
pub struct Emulated<'m> {
    /// Cycles of the run (modelled).
    pub cycles: Cycles,
    /// Executed instructions (counted).
    pub instructions: u64,
    /// Layers, each with the mean of all frames.
    pub layers: &'m [LayerCount],
}

/// What a board said of a plan.
#[derive(Clone, Copy, Debug)]
pub struct Measured<'m> {
    /// What was said.
    pub outcome: &'m Outcome,
    /// What may be said of where figures come from.
    pub measured_on: MeasuredOn,
    /// The plan.
    pub report: &'m PlanReport,
    /// The core's clock.
    pub clock: Hertz,
    /// Frames that the program works on.
    pub frames: u16,
    /// The reference interpreter's outputs, of each frame.
    pub reference: &'m [Vec<i8>],
    /// A run of the emulated board, if there was one.
    pub emulated: Option<Emulated<'m>>,
}

/// Who measured what when.
#[derive(Clone, Debug, Default)]
pub struct Circumstances {
    /// What the port is.
    pub port: String,
    /// Day and time, UTC, as ISO 8601 writes them.
    pub date_utc: String,
    /// What the board's sticker says.
    pub board_revision: Option<String>,
    /// Plan id, 64 digits.
    pub plan_id: String,
    /// SHA-256 of the model's file; nothing for a network of the zoo.
    pub model_sha256: Option<String>,
    /// SHA-256 of the input's int8 bytes.
    pub input_sha256: String,
}

impl Measured<'_> {
    /// Cycles of the run that the board said.
    #[must_use]
    pub fn cycles(&self) -> Cycles {
        Cycles(self.outcome.answer.invoke_cycles.unwrap_or(0))
    }

    /// Cycles that the planner predicts for what one program computes.
    #[must_use]
    pub fn predicted(&self) -> Cycles {
        let part = f64::from(self.frames) / f64::from(self.report.frames.max(1));
        let micros = self.report.latency_us.map_or(0.0, |latency| latency.0 * part);
        Cycles((micros * self.clock.0 as f64 / 1e6).round() as u64)
    }

    /// The outputs beside the reference's.
    #[must_use]
    pub fn outputs(&self) -> Vec<OutputRecord> {
        let found = self.outcome.answer.outputs.as_slice();
        let compare = |index: usize| {
            let [found, reference] = [found, self.reference]
                .map(|outputs| outputs.get(index).map_or(&[][..], Vec::as_slice));
            OutputRecord::compare(index as u32, found, reference)
        };
        (0..found.len().max(self.reference.len())).map(compare).collect()
    }

    /// The layers beside prediction and emulated board.
    #[must_use]
    pub fn layers(&self) -> Vec<LayerRecord> {
        let frames = u64::from(self.frames.max(1));
        let predicted = &self.report.layers;
        let several = predicted.len() > LAYERS_TOLD;
        let layer = |time: &LayerTime| {
            let index = time.index as usize;
            // The last one of many stands for all that follow.
            let is_one = !several || index + 1 < LAYERS_TOLD;
            let row = predicted.get(index).filter(|_| is_one);
            let emulated = self.emulated.and_then(|run| run.layers.get(index));
            let emulated = emulated.filter(|_| is_one);
            LayerRecord {
                index: time.index,
                name: time.name.clone(),
                cycles: Cycles(time.cycles),
                predicted_cycles: row.map(|row| Cycles(*row.cycles * frames)),
                emulated_cycles: emulated.map(|layer| Cycles(layer.cycles.0 * frames)),
                emulated_instructions: emulated.map(|layer| *layer.instructions * frames),
            }
        };
        self.outcome.answer.layers.iter().map(layer).collect()
    }

    /// The record.
    #[must_use]
    pub fn record(&self, circumstances: Circumstances) -> Record {
        let Circumstances { port, date_utc, board_revision, plan_id, model_sha256, input_sha256 } =
            circumstances;
        let (outcome, answer, outputs) = (self.outcome, &self.outcome.answer, self.outputs());
        Record {
            schema: SCHEMA.to_owned(),
            measured_on: self.measured_on,
            stand_in: outcome.emulated.clone(),
            port,
            date_utc,
            board: outcome.greeting.board.clone(),
            board_revision,
            board_remarks: outcome.remarks.clone(),
            clock_hz: self.clock.0,
            firmware_version: outcome.greeting.firmware_version.clone(),
            firmware_abi: outcome.greeting.abi,
            tilewright_version: env!("CARGO_PKG_VERSION").to_owned(),
            plan_id,
            model: self.report.model.clone(),
            model_sha256,
            strategy: self.report.strategy.clone(),
            input_sha256,
            frames: self.frames,
            verified: outputs.iter().all(|output| output.differing_values == 0),
            outputs,
            cycles: self.cycles(),
            latency_us: self.cycles().at(self.clock),
            predicted_cycles: self.predicted(),
            emulated_cycles: self.emulated.map(|run| run.cycles),
            emulated_instructions: self.emulated.map(|run| run.instructions),
            loaded_cycles: outcome.loaded_cycles.map(Cycles),
            given_up_cycles: answer.given_up_cycles.iter().copied().map(Cycles).collect(),
            layers: self.layers(),
            sent_again: outcome.sent_again,
            resets: outcome.resets,
            kinds: RecordKinds::of(self.measured_on),
        }
    }
}
