//! The outputs of all layers as bytes.

use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use tilewright_app::{Blame, Diagnostic, LayerBytes};

use super::Shared;
use super::answer::Refusal;
use super::run_routes::finished;

/// Outputs of all layers
///
/// Of a run that was started with `watch` = `layers`. For each layer in the order of execution:
/// its position (32-bit little-endian), the number of the memory that holds it (0: SRAM, 3: external RAM, 5: card),
/// the offset there of the first byte that its steps write, the number of bytes that follow (all the same), and the int8 elements of its output in the order height,
/// width, channels, as they lay in memory when the layer's last step had ended, or the last copy that moved it out
/// of SRAM; on a card whole sectors. Layers that a fault kept from ending are missing.
#[utoipa::path(
    get, path = "/api/runs/{id}/layers", tag = "runs",
    params(("id" = String, Path, description = "The run")),
    responses(
        (status = 200, description = "Layers", content_type = "application/octet-stream",
         body = Vec<u8>),
        (status = 404, description = "No such run, or its layers were not watched",
         body = Diagnostic),
        (status = 409, description = "The run has no result (yet)", body = Diagnostic)
    )
)]
pub async fn layers(
    State(shared): State<Shared>,
    Path(id): Path<String>,
) -> Result<Response, Refusal> {
    let done = finished(&shared, &id).await?;
    let layers = done.layers.as_ref().ok_or_else(|| {
        Diagnostic::new(
            Blame::NotFound,
            "The layers of this run were not watched.",
            format!("run {id}"),
            "Start the run with the part `watch` = `layers`.",
        )
    })?;
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], layers.clone()).into_response())
}

/// The bytes of that file.
pub fn encoded_layers(layers: &[LayerBytes]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for layer in layers {
        let Some(output) = &layer.bytes else { continue };
        bytes.extend_from_slice(&layer.layer.to_le_bytes());
        bytes.extend_from_slice(&(layer.space as u32).to_le_bytes());
        bytes.extend_from_slice(&layer.start.to_le_bytes());
        // Watches are bounded far below 4 GiB.
        bytes.extend_from_slice(&(output.len() as u32).to_le_bytes());
        bytes.extend_from_slice(output);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_plan::Space;

    #[test]
    fn missing_layers_leave_no_trace() {
        let layer = |layer, space, start, bytes| LayerBytes { layer, space, start, bytes };
        let layers = [
            layer(0, Space::Card, 7, Some(vec![1, 2])),
            layer(1, Space::Arena, 0, None),
            layer(2, Space::Arena, 0, Some(vec![])),
        ];
        let words = |words: [u32; 4]| words.map(u32::to_le_bytes).concat();
        let first = words([0, Space::Card as u32, 7, 2]);
        let last = words([2, Space::Arena as u32, 0, 0]);
        assert_eq!(encoded_layers(&layers), [first, vec![1, 2], last].concat());
    }
}
