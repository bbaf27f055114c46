//! Routes.

mod answer;
mod boards;
mod check;
mod events;
mod guard;
mod layers;
mod pace;
mod page;
mod protection;
mod run_routes;
mod upload;

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::DefaultBodyLimit;
use axum::http::header;
use axum::middleware;
use tilewright_app::{Blame, Diagnostic};
use tilewright_board::Board;
use tilewright_runner::{Dist, Execute};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::config::Config;
use crate::jobs::Doer;
use crate::runs::{Run, Runs, work};

pub use guard::Origins;

/// Uploads that are looked at together before their runs wait: each takes memory.
const LOOKS: usize = 2;

/// What all routes share.
#[derive(Clone)]
pub struct Shared(Arc<Inner>);

struct Inner {
    runs: Arc<Runs>,
    boards: Vec<Board>,
    doer: Arc<Doer>,
    looks: Semaphore,
    downloads: Arc<Semaphore>,
}

impl Shared {
    /// Call within a tokio runtime: as many workers as the limits say begin to do jobs.
    #[must_use]
    pub fn new(doer: Doer, boards: Vec<Board>) -> Self {
        let doer = Arc::new(doer);
        let runs = Runs::new(Arc::clone(&doer));
        work(&runs, doer.config.workers);
        Self(Arc::new(Inner {
            runs,
            boards,
            looks: Semaphore::new(LOOKS),
            downloads: Arc::new(Semaphore::new(doer.config.downloads)),
            doer,
        }))
    }

    #[must_use]
    pub fn runs(&self) -> &Arc<Runs> {
        &self.0.runs
    }

    /// The run with this id.
    async fn find(&self, id: String) -> Result<Arc<Run>, Diagnostic> {
        let runs = Arc::clone(self.runs());
        tokio::task::spawn_blocking(move || runs.find(&id))
            .await
            .unwrap_or_else(|_| Err(Diagnostic::ours("Looking for it ended by a panic.", "run")))
    }

    /// The limits.
    pub(crate) fn config(&self) -> &Config {
        &self.0.doer.config
    }

    /// How long results can be had, for people.
    fn kept(&self) -> String {
        self.config().kept(&self.0.doer.queue)
    }

    fn dist(&self) -> &Dist {
        &self.0.doer.dist
    }

    fn boards(&self) -> &[Board] {
        &self.0.boards
    }

    fn executor(&self) -> &Arc<dyn Execute> {
        &self.0.doer.executor
    }

    /// What emulates, name and version; nothing until a run has said it.
    fn engine(&self) -> Option<String> {
        self.0.doer.engine()
    }

    /// Waits until an upload may be looked at.
    async fn looking(&self) -> Option<tokio::sync::SemaphorePermit<'_>> {
        // The semaphore is never closed.
        self.0.looks.acquire().await.ok()
    }

    /// A place for a file that is made for a client.
    fn download(&self) -> Result<OwnedSemaphorePermit, Diagnostic> {
        Arc::clone(&self.0.downloads).try_acquire_owned().map_err(|_| {
            let error = "Too many files are on their way to clients.";
            Diagnostic::new(Blame::Busy, error, "download", "Try again in a few seconds.")
        })
    }
}

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Tilewright",
        description = "Plans and models in, emulated runs out. Errors are JSON: `kind`, `error`, \
                       `where`, `what_to_do`.",
        license(name = "MIT OR Apache-2.0")
    ),
    tags(
        (name = "runs", description = "Emulated runs of plan images and models"),
        (name = "server", description = "What this server is and can")
    )
)]
struct Description;

/// The routes under `/api` and their description.
fn api() -> (Router<Shared>, utoipa::openapi::OpenApi) {
    OpenApiRouter::with_openapi(Description::openapi())
        .routes(routes!(boards::health))
        .routes(routes!(boards::boards))
        .routes(routes!(boards::zoo))
        .routes(routes!(upload::start))
        .routes(routes!(run_routes::show, run_routes::cancel))
        .routes(routes!(events::follow))
        .routes(routes!(layers::layers))
        .routes(routes!(run_routes::elf))
        .routes(routes!(run_routes::bin))
        .routes(routes!(run_routes::hex))
        .split_for_parts()
}

/// The OpenAPI description.
#[must_use]
pub fn description() -> utoipa::openapi::OpenApi {
    api().1
}

/// All routes: API, page and firmware.
pub fn router(shared: Shared, origins: Origins) -> Router {
    let (api, description) = api();
    let start = shared.dist().page().join("index.html");
    // Written once: whoever asks for it again and again takes no time from others.
    let description = serde_json::to_vec(&description).map(Bytes::from).unwrap_or_default();
    let description = ([(header::CONTENT_TYPE, "application/json")], description);
    Router::new()
        .merge(api)
        .route("/api/openapi.json", axum::routing::get(move || async move { description.clone() }))
        .route("/api/{*rest}", axum::routing::any(answer::unknown))
        .with_state(shared.clone())
        .merge(page::routes(shared.dist()))
        .method_not_allowed_fallback(answer::wrong_method)
        .layer(DefaultBodyLimit::disable())
        .layer(tower_http::catch_panic::CatchPanicLayer::custom(answer::panicked))
        .layer(middleware::from_fn_with_state(origins, guard::check))
        .layer(middleware::map_response(answer::as_json))
        .layer(middleware::map_response_with_state(start, protection::protected))
}
