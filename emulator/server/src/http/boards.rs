//! What this server is and can.

use std::sync::OnceLock;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use tilewright_app::{BoardView, Diagnostic};
use tilewright_report::ZooView;
use utoipa::ToSchema;

use super::Shared;
use super::answer::Refusal;

/// What this server is and can.
#[derive(Debug, Serialize, ToSchema)]
pub struct Health {
    /// Version of Tilewright.
    pub version: String,
    /// What emulates, name and version; null until the worker has said it once.
    pub engine: Option<String>,
    /// Whether the emulator's worker program has been built, so that plans can be run.
    pub can_run: bool,
    /// What is missing for that, and what to do; null if nothing is.
    pub missing: Option<Diagnostic>,
    /// Ids of boards whose firmware has been built.
    pub boards_with_firmware: Vec<String>,
    /// Runs under way or waiting.
    pub active_runs: usize,
    /// Workers at a time.
    pub workers: usize,
    /// Runs that may wait.
    pub queue: usize,
    /// Longest model or plan image that is taken.
    pub file_bytes_limit: usize,
    /// Executed instructions of a run at most.
    pub instruction_limit: u64,
    /// How long results can be had, and how large all of them are at most, for people. A model goes when its run is over.
    pub kept: String,
}

/// What this server is and can
#[utoipa::path(
    get, path = "/api/health", tag = "server",
    responses((status = 200, description = "The server answers", body = Health))
)]
pub async fn health(State(shared): State<Shared>) -> Json<Health> {
    let missing = shared.executor().ready().err();
    let with_firmware = shared.boards().iter().filter(|b| shared.dist().has_firmware(&b.id));
    Json(Health {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        engine: shared.engine(),
        can_run: missing.is_none(),
        missing,
        boards_with_firmware: with_firmware.map(|board| board.id.clone()).collect(),
        active_runs: shared.runs().active(),
        workers: shared.config().workers,
        queue: shared.config().queue,
        file_bytes_limit: shared.config().file_bytes,
        instruction_limit: shared.config().instructions,
        kept: shared.kept(),
    })
}

/// The zoo
///
/// Networks by family, with the widths and resolutions that can be chosen.
#[utoipa::path(
    get, path = "/api/zoo", tag = "server",
    responses(
        (status = 200, description = "All networks", body = Vec<ZooView>),
        (status = 500, description = "One cannot be built", body = Diagnostic)
    )
)]
pub async fn zoo() -> Response {
    // Every network is built once for it; they never change.
    static VIEWS: OnceLock<Result<Bytes, String>> = OnceLock::new();
    let written = || {
        let views = tilewright_app::zoo::list().map_err(|problem| problem.what)?;
        serde_json::to_vec(&views).map(Bytes::from).map_err(|error| format!("{error}."))
    };
    let views = match VIEWS.get() {
        Some(views) => Ok(views),
        None => tokio::task::spawn_blocking(move || VIEWS.get_or_init(written)).await,
    };
    match views {
        Ok(Ok(views)) => {
            ([(header::CONTENT_TYPE, "application/json")], views.clone()).into_response()
        }
        Ok(Err(error)) => Refusal(Diagnostic::ours(error.clone(), "zoo")).into_response(),
        Err(_) => Refusal(Diagnostic::ours("Building the networks ended by a panic.", "zoo"))
            .into_response(),
    }
}

/// All boards
#[utoipa::path(
    get, path = "/api/boards", tag = "server",
    responses((status = 200, description = "All boards", body = Vec<BoardView>))
)]
pub async fn boards(State(shared): State<Shared>) -> Json<Vec<BoardView>> {
    let view = |board| BoardView::of(board, shared.dist().has_firmware(&board.id));
    Json(shared.boards().iter().map(view).collect())
}
