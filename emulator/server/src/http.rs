//! Routes.

mod answer;
mod boards;
mod events;
mod guard;
mod layers;
mod page;
mod run_routes;
pub mod schema;
mod upload;
mod work;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware;
use tilewright_board::Board;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::config::Config;
use crate::dist::Dist;
use crate::execute::Execute;
use crate::runs::Runs;

pub use guard::Origins;

/// What all routes share.
#[derive(Clone)]
pub struct Shared(Arc<Inner>);

struct Inner {
    runs: Arc<Runs>,
    config: Config,
    dist: Dist,
    boards: Vec<Board>,
    executor: Arc<dyn Execute>,
}

impl Shared {
    /// Call within a tokio runtime.
    #[must_use]
    pub fn new(config: Config, dist: Dist, boards: Vec<Board>, executor: Arc<dyn Execute>) -> Self {
        let runs = Runs::new(&config);
        Self(Arc::new(Inner { runs, config, dist, boards, executor }))
    }

    /// The runs.
    #[must_use]
    pub fn runs(&self) -> &Arc<Runs> {
        &self.0.runs
    }

    /// The limits.
    pub(crate) fn config(&self) -> &Config {
        &self.0.config
    }

    fn dist(&self) -> &Dist {
        &self.0.dist
    }

    fn boards(&self) -> &[Board] {
        &self.0.boards
    }

    fn executor(&self) -> &Arc<dyn Execute> {
        &self.0.executor
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
    let description = axum::Json(description);
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
}
