//! What a model takes on the emulated board of a core.

use tilewright_board::{Board, CoreKind};
use tilewright_model::{Data, Model};
use tilewright_planner::{Options, Packing, Strategy};
use tilewright_tests::emulated;

/// Instructions, counted, and cycles, modelled, of a run's kernels with their calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Executed instructions.
    pub instructions: u64,
    /// Cycles of the core's clock.
    pub cycles: u64,
    /// Of these, cycles that the core waited for flash.
    pub waits: u64,
}

/// The cores that are emulated, each with its board.
///
/// # Errors
/// If a board is unknown.
pub fn cores() -> Result<Vec<(CoreKind, Board)>, String> {
    let find = |(core, id): (CoreKind, &str)| {
        tilewright_board::find(id).map(|board| (core, board)).map_err(|e| e.to_string())
    };
    crate::calibrate::BOARDS.into_iter().map(find).collect()
}

/// Runs a model with seeded inputs, every layer compared with the reference.
///
/// # Errors
/// If it does not fit, the board faults, or a layer differs.
pub fn count(model: &Model, board: &Board, packing: Packing) -> Result<Counted, String> {
    let mut rng = fastrand::Rng::with_seed(1);
    let inputs: Vec<Data> = model
        .inputs
        .iter()
        .map(|id| {
            let elements = model.tensor(*id).shape.elements().unwrap_or(0);
            Data::I8((0..elements).map(|_| rng.i8(..)).collect())
        })
        .collect();
    let told = |message: String| format!("{} on {}: {message}", model.name, board.id);
    let options = Options { packing, ..Options::default() };
    let run = emulated::run_frames_with(model, board, Strategy::Resident, &inputs, 1, &options);
    let run = run.map_err(told)?;
    if let Some(fault) = run.outcome.finish.fault {
        return Err(told(fault.message));
    }
    if let Some(mismatch) = run.mismatch {
        return Err(told(format!("layer '{}' differs from the reference", mismatch.layer_name)));
    }
    let steps = &run.outcome.steps;
    Ok(Counted {
        instructions: steps.iter().map(|step| step.instructions).sum(),
        cycles: steps.iter().map(|step| step.cycles).sum(),
        waits: steps.iter().map(|step| step.code_waits + step.constant_waits).sum(),
    })
}
