//! The outputs of all layers as bytes.

use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use tilewright_app::{Blame, Diagnostic};

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
