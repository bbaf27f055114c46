//! What is known of a run, its end, and the image that ran.

use std::convert::Infallible;
use std::sync::Arc;
use tilewright_app::{Blame, Diagnostic, RunResult};
use tilewright_report::sentence;

use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde::Serialize;
use tilewright_image::FirmwareImage;
use utoipa::ToSchema;

use super::Shared;
use super::answer::Refusal;
use crate::runs::{Kept, Phase, Run, RunProgress};

/// Bytes of a file that go on their way together.
const PIECE: usize = 64 << 10;

/// Addresses of a run.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Links {
    /// What is known of it; DELETE cancels it.
    pub run: String,
    /// Server-sent events.
    pub events: String,
    /// Outputs of all layers.
    pub layers: String,
    /// The image that ran, as ELF file.
    pub elf: String,
    /// The same as flash contents.
    pub bin: String,
    /// The same as Intel HEX.
    pub hex: String,
}

impl Links {
    /// The addresses of a run.
    #[must_use]
    pub fn of(id: &str) -> Self {
        let below = |what: &str| format!("/api/runs/{id}/{what}");
        Self {
            run: format!("/api/runs/{id}"),
            events: below("events"),
            layers: below("layers"),
            elf: below("firmware.elf"),
            bin: below("firmware.bin"),
            hex: below("firmware.hex"),
        }
    }
}

/// What is known of a run.
#[derive(Debug, Serialize, ToSchema)]
pub struct RunStatus {
    pub id: String,
    /// Board id.
    pub board: String,
    /// Where it is.
    pub state: Phase,
    /// Its place among those that wait, 1 is next; 0 if it does not wait.
    pub position: usize,
    /// How far it is.
    pub progress: RunProgress,
    /// Executed instructions at which it is stopped.
    pub instruction_limit: u64,
    /// Why it failed or was cancelled.
    pub problem: Option<Diagnostic>,
    /// Its addresses.
    pub links: Links,
    /// How long its result can be had.
    pub kept: String,
    /// Its result; also there if the board had a fault.
    pub result: Option<RunResult>,
}

/// What is known of a run. Its result takes the place of the last field's null as the bytes that are
/// kept, which all who ask for it share.
fn status(code: StatusCode, shared: &Shared, run: &Run) -> Result<Response, Refusal> {
    let now = run.look();
    let status = RunStatus {
        id: run.id().to_owned(),
        board: run.board().to_owned(),
        state: now.phase,
        position: now.position,
        progress: now.progress,
        instruction_limit: shared.config().instructions,
        problem: now.problem,
        links: Links::of(run.id()),
        kept: shared.kept(),
        result: None,
    };
    let mut head = serde_json::to_string(&status)
        .map_err(|error| Diagnostic::ours(format!("{error}."), format!("run {}", run.id())))?;
    let end = head.trim_end_matches("null}").len();
    head.truncate(end);
    let result = now.done.map_or(Bytes::from_static(b"null"), |done| done.result.clone());
    let pieces = [Bytes::from(head), result, Bytes::from_static(b"}")];
    let body = Body::from_stream(stream::iter(pieces.map(Ok::<_, Infallible>)));
    Ok((code, [(header::CONTENT_TYPE, "application/json")], body).into_response())
}

/// What a run left.
///
/// # Errors
/// If there is no such run, or it has no result.
pub async fn finished(shared: &Shared, id: &str) -> Result<Arc<Kept>, Diagnostic> {
    let now = shared.find(id.to_owned()).await?.look();
    now.done.ok_or_else(|| {
        let (error, what_to_do) = if now.phase.is_over() {
            ("The run left no result.", "Its state says why.")
        } else {
            ("The run is not over.", "Follow its events, and ask again when it has finished.")
        };
        Diagnostic::new(Blame::Conflict, error, format!("run {id}"), what_to_do)
    })
}

/// What is known of a run
#[utoipa::path(
    get, path = "/api/runs/{id}", tag = "runs",
    params(("id" = String, Path, description = "The run")),
    responses(
        (status = 200, description = "State and result", body = RunStatus),
        (status = 404, description = "No such run", body = Diagnostic)
    )
)]
pub async fn show(
    State(shared): State<Shared>,
    Path(id): Path<String>,
) -> Result<Response, Refusal> {
    let run = shared.find(id).await?;
    status(StatusCode::OK, &shared, &run)
}

/// Cancel a run
///
/// Its worker is killed; nothing happens if it is over. Its state is `cancelled` soon after.
#[utoipa::path(
    delete, path = "/api/runs/{id}", tag = "runs",
    params(("id" = String, Path, description = "The run")),
    responses(
        (status = 202, description = "It will end", body = RunStatus),
        (status = 404, description = "No such run", body = Diagnostic)
    )
)]
pub async fn cancel(
    State(shared): State<Shared>,
    Path(id): Path<String>,
) -> Result<Response, Refusal> {
    let run = shared.find(id).await?;
    let (runs, ending) = (Arc::clone(shared.runs()), Arc::clone(&run));
    tokio::task::spawn_blocking(move || runs.cancel(&ending))
        .await
        .unwrap_or_else(|_| Err(Diagnostic::ours("Cancelling ended by a panic.", "run")))?;
    status(StatusCode::ACCEPTED, &shared, &run)
}

/// The image that ran, as ELF file
#[utoipa::path(
    get, path = "/api/runs/{id}/firmware.elf", tag = "runs",
    params(("id" = String, Path, description = "The run")),
    responses(
        (status = 200, description = "ELF", content_type = "application/x-elf", body = Vec<u8>),
        (status = 404, description = "No such run", body = Diagnostic),
        (status = 409, description = "The run has no result (yet)", body = Diagnostic),
        (status = 429, description = "Too many files are on their way", body = Diagnostic)
    )
)]
pub async fn elf(
    State(shared): State<Shared>,
    Path(id): Path<String>,
) -> Result<Response, Refusal> {
    download(&shared, &id, "elf", "application/x-elf", |image| Ok(image.elf)).await
}

/// The image that ran, as flash contents
#[utoipa::path(
    get, path = "/api/runs/{id}/firmware.bin", tag = "runs",
    params(("id" = String, Path, description = "The run")),
    responses(
        (status = 200, description = "Flash contents from the board's flash address on",
         content_type = "application/octet-stream", body = Vec<u8>),
        (status = 404, description = "No such run", body = Diagnostic),
        (status = 409, description = "The run has no result (yet)", body = Diagnostic),
        (status = 429, description = "Too many files are on their way", body = Diagnostic)
    )
)]
pub async fn bin(
    State(shared): State<Shared>,
    Path(id): Path<String>,
) -> Result<Response, Refusal> {
    download(&shared, &id, "bin", "application/octet-stream", |image| Ok(image.bin)).await
}

/// The image that ran, as Intel HEX
#[utoipa::path(
    get, path = "/api/runs/{id}/firmware.hex", tag = "runs",
    params(("id" = String, Path, description = "The run")),
    responses(
        (status = 200, description = "Intel HEX", content_type = "text/plain", body = String),
        (status = 404, description = "No such run", body = Diagnostic),
        (status = 409, description = "The run has no result (yet)", body = Diagnostic),
        (status = 429, description = "Too many files are on their way", body = Diagnostic)
    )
)]
pub async fn hex(
    State(shared): State<Shared>,
    Path(id): Path<String>,
) -> Result<Response, Refusal> {
    download(&shared, &id, "hex", "text/plain; charset=utf-8", |image| {
        let text = image.hex().map_err(|error| sentence(&error.to_string()))?;
        Ok(text.into_bytes())
    })
    .await
}

/// A file that is made of a run's image, for one client. So few are made at a time, and a place is
/// taken until the file has been sent or the client is gone.
async fn download(
    shared: &Shared,
    id: &str,
    ending: &str,
    media: &'static str,
    file: impl FnOnce(FirmwareImage) -> Result<Vec<u8>, String>,
) -> Result<Response, Refusal> {
    let done = finished(shared, id).await?;
    let place = shared.download()?;
    let ours = |error: String| Diagnostic::ours(error, format!("run {id}"));
    let bytes = file(done.package.image()?).map_err(ours)?;
    let name = format!("attachment; filename=\"{}.{ending}\"", done.package.board());
    let headers = [(header::CONTENT_TYPE, media.to_owned()), (header::CONTENT_DISPOSITION, name)];
    let rest = (Bytes::from(bytes), place);
    let pieces = stream::unfold(rest, async |(mut rest, place)| {
        let piece = rest.split_to(rest.len().min(PIECE));
        (!piece.is_empty()).then_some((Ok::<_, Infallible>(piece), (rest, place)))
    });
    Ok((headers, Body::from_stream(pieces)).into_response())
}
