//! A plan's memory as it is with 32-bit floats for activations and weights: each byte four times.

use crate::narrow::narrow;
use crate::{Options, Planned, does_not_fit};
use tilewright_board::Board;
use tilewright_model::tiling::Tiled;
use tilewright_model::{DType, Model};
use tilewright_plan::{Bytes, Space};
use tilewright_report::{MemoryMap, Occupancy, Traffic};

/// Bytes of a float.
const FLOAT: u64 = 4;

impl Planned {
    /// The same plan for 32-bit floats: where tensors lie and whether they fit. There is no
    /// program, since kernels compute with int8, and so no time; flash is that of the parameters. What was proved of the int8 plan's places holds of these, four times as far
    /// apart.
    #[must_use]
    pub fn in_floats(mut self, model: &Model, board: &Board, options: &Options) -> Self {
        let tiled = self.tiled.clone();
        let model = Tiled::model_or(tiled.as_deref(), model);
        let plan = &mut self.plan;
        plan.main = None;
        plan.views.clear();
        for tensor in &mut plan.tensors {
            tensor.offset *= FLOAT;
            tensor.pitch =
                tensor.pitch.map(|pitch| pitch.map(|bytes| narrow(u64::from(bytes) * FLOAT)));
            // 32-bit integers are as long as they were.
            if model.tensors.get(tensor.tensor as usize).is_some_and(|t| t.dtype == DType::I8) {
                tensor.bytes = Bytes(tensor.bytes.0 * FLOAT);
            }
        }
        plan.space_bytes[Space::Arena as usize].0 *= FLOAT;
        self.memory = MemoryMap::of(plan);
        self.timeline.slices.clear();
        self.occupancy = Occupancy::default();
        self.traffic = Traffic::default();
        let report = &mut self.report;
        report.runnable = false;
        report.elements = "float32".to_owned();
        report.peak_sram_bytes = self.memory.arena_bytes.into();
        report.lower_bound_bytes.0 *= FLOAT;
        for stage in &mut report.stages {
            stage.bytes.0 *= FLOAT;
        }
        for row in &mut report.layers {
            row.flash_bytes = Bytes(*row.parameters * FLOAT).into();
            row.cycles = 0.into();
        }
        report.flash_bytes = report.layers.iter().map(|row| row.flash_bytes).sum();
        for time in [
            &mut report.latency_us,
            &mut report.compute_us,
            &mut report.transfer_us,
            &mut report.stall_us,
            &mut report.bound_us,
        ] {
            *time = None;
        }
        let sram = options.arena_on(board);
        let flash = [*report.flash_bytes, board.plan_bytes()];
        report.does_not_fit = does_not_fit::does_not_fit(plan, board, sram, flash, &self.memory);
        report.fits = report.does_not_fit.is_none();
        self
    }
}
