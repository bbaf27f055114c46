//! What is known of a run, its end, and the image that ran.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use super::Shared;
use crate::pipeline::capitalised;
use crate::problem::{Blame, Problem};
use crate::result::RunResult;
use crate::runs::{Done, Phase, Run, RunProgress};

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
    /// Its id.
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
    /// Its result; also there if the board had a fault.
    pub result: Option<RunResult>,
    /// Why it failed or was cancelled.
    pub problem: Option<Problem>,
    /// Its addresses.
    pub links: Links,
}

fn status(shared: &Shared, run: &Run) -> RunStatus {
    let now = run.look();
    RunStatus {
        id: run.id().to_owned(),
        board: run.board().to_owned(),
        state: now.phase,
        position: now.position,
        progress: now.progress,
        instruction_limit: shared.config().instructions,
        result: now.done.map(|done| done.result.clone()),
        problem: now.problem,
        links: Links::of(run.id()),
    }
}

/// What a run left.
///
/// # Errors
/// If there is no such run, or it has no result.
pub fn finished(shared: &Shared, id: &str) -> Result<Arc<Done>, Problem> {
    let now = shared.runs().find(id)?.look();
    now.done.ok_or_else(|| {
        let (error, what_to_do) = if now.phase.is_over() {
            ("The run left no result.", "Its state says why.")
        } else {
            ("The run is not over.", "Follow its events, and ask again when it has finished.")
        };
        Problem::new(Blame::Conflict, error, format!("run {id}"), what_to_do)
    })
}

/// What is known of a run
#[utoipa::path(
    get, path = "/api/runs/{id}", tag = "runs",
    params(("id" = String, Path, description = "The run")),
    responses(
        (status = 200, description = "State and result", body = RunStatus),
        (status = 404, description = "No such run", body = Problem)
    )
)]
pub async fn show(
    State(shared): State<Shared>,
    Path(id): Path<String>,
) -> Result<Json<RunStatus>, Problem> {
    let run = shared.runs().find(&id)?;
    Ok(Json(status(&shared, &run)))
}

/// Cancel a run
///
/// Its worker is killed; nothing happens if it is over. Its state is `cancelled` soon after.
#[utoipa::path(
    delete, path = "/api/runs/{id}", tag = "runs",
    params(("id" = String, Path, description = "The run")),
    responses(
        (status = 202, description = "It will end", body = RunStatus),
        (status = 404, description = "No such run", body = Problem)
    )
)]
pub async fn cancel(
    State(shared): State<Shared>,
    Path(id): Path<String>,
) -> Result<(StatusCode, Json<RunStatus>), Problem> {
    let run = shared.runs().find(&id)?;
    shared.runs().cancel(&run);
    Ok((StatusCode::ACCEPTED, Json(status(&shared, &run))))
}

/// The image that ran, as ELF file
#[utoipa::path(
    get, path = "/api/runs/{id}/firmware.elf", tag = "runs",
    params(("id" = String, Path, description = "The run")),
    responses(
        (status = 200, description = "ELF", content_type = "application/x-elf", body = Vec<u8>),
        (status = 404, description = "No such run", body = Problem),
        (status = 409, description = "The run has no result (yet)", body = Problem)
    )
)]
pub async fn elf(
    State(shared): State<Shared>,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let done = finished(&shared, &id)?;
    Ok(download(&done, "elf", "application/x-elf", done.package.image()?.elf))
}

/// The image that ran, as flash contents
#[utoipa::path(
    get, path = "/api/runs/{id}/firmware.bin", tag = "runs",
    params(("id" = String, Path, description = "The run")),
    responses(
        (status = 200, description = "Flash contents from the board's flash address on",
         content_type = "application/octet-stream", body = Vec<u8>),
        (status = 404, description = "No such run", body = Problem),
        (status = 409, description = "The run has no result (yet)", body = Problem)
    )
)]
pub async fn bin(
    State(shared): State<Shared>,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let done = finished(&shared, &id)?;
    Ok(download(&done, "bin", "application/octet-stream", done.package.image()?.bin))
}

/// The image that ran, as Intel HEX
#[utoipa::path(
    get, path = "/api/runs/{id}/firmware.hex", tag = "runs",
    params(("id" = String, Path, description = "The run")),
    responses(
        (status = 200, description = "Intel HEX", content_type = "text/plain", body = String),
        (status = 404, description = "No such run", body = Problem),
        (status = 409, description = "The run has no result (yet)", body = Problem)
    )
)]
pub async fn hex(
    State(shared): State<Shared>,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let done = finished(&shared, &id)?;
    let text = done
        .package
        .image()?
        .hex()
        .map_err(|error| Problem::ours(capitalised(&error.to_string()), format!("run {id}")))?;
    Ok(download(&done, "hex", "text/plain; charset=utf-8", text.into_bytes()))
}

fn download(done: &Done, ending: &str, media: &'static str, bytes: Vec<u8>) -> Response {
    let name = format!("attachment; filename=\"{}.{ending}\"", done.result.board);
    let headers = [(header::CONTENT_TYPE, media.to_owned()), (header::CONTENT_DISPOSITION, name)];
    (headers, bytes).into_response()
}
