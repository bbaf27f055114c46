//! What a run gave: read from the server's words, compared with the reference.

use serde::Deserialize;
use tilewright_app::{Comparison, Diagnostic, Host, RunResult, compare, decoded_layers};
use tilewright_check::reference::inputs_of_frames;
use tilewright_model::{Data, Model};

use super::plan::make;
use crate::message::{PlanSettings, trouble};

/// The parts of the server's `RunStatus` that are shown; its OpenAPI description has them all.
#[derive(Deserialize)]
struct Status {
    result: Option<RunResult>,
    problem: Option<Diagnostic>,
}

/// Reads a run's status (JSON) and compares its layers' outputs with the reference on `input`.
///
/// # Errors
/// If the run has no result, or the status cannot be read.
pub fn judge(
    model: &Model,
    settings: &PlanSettings,
    [status, layers, input]: [&[u8]; 3],
    host: &dyn Host,
) -> Result<(RunResult, Option<Comparison>), Diagnostic> {
    let status: Status = serde_json::from_slice(status).map_err(|error| {
        trouble(
            "The server's answer cannot be read",
            format!("{error}."),
            "Page and server must be of one version: build both again with `cargo xtask build`.",
        )
    })?;
    let result = match (status.result, status.problem) {
        (Some(result), _) => result,
        (None, Some(problem)) => return Err(problem),
        (None, None) => {
            let detail = "The server says neither why nor what.";
            return Err(trouble("The run gave no result", detail, "Run it again."));
        }
    };
    if result.fault.is_some() || layers.is_empty() {
        return Ok((result, None));
    }
    let (planned, _) = make(model, settings)?;
    let inputs = inputs_of_frames(&inputs(model, input)?, planned.plan.frames());
    let comparison = compare(&planned, model, &inputs, &decoded_layers(layers), &result, host)?;
    Ok((result, Some(comparison)))
}

/// All inputs of the model, from bytes one behind the other.
fn inputs(model: &Model, bytes: &[u8]) -> Result<Vec<Data>, Diagnostic> {
    let mut rest = bytes;
    let mut inputs = Vec::new();
    for id in &model.inputs {
        let elements = model.tensor(*id).shape.elements().unwrap_or(0);
        let (input, others) = rest
            .split_at_checked(elements)
            .ok_or_else(|| Diagnostic::ours("The input is shorter than the model's.", "input"))?;
        inputs.push(Data::I8(input.iter().map(|byte| byte.cast_signed()).collect()));
        rest = others;
    }
    Ok(inputs)
}
