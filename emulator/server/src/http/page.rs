//! The page and the boards' firmware, as built.

use std::path::PathBuf;

use axum::Router;
use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get_service;
use tilewright_app::{Blame, Diagnostic};
use tilewright_runner::Dist;
use tower_http::services::ServeDir;
use tower_http::set_header::SetResponseHeaderLayer;

use super::answer::{Refusal, unknown};

const NOT_BUILT: &str = include_str!("page_not_built.html");

/// Routes of static files.
pub fn routes(dist: &Dist) -> Router {
    let page = dist.page();
    let files = ServeDir::new(&page)
        .precompressed_br()
        .precompressed_gzip()
        .append_index_html_on_directories(true)
        .fallback(axum::routing::any(move |uri| missing(page.clone(), uri)));
    let built = dist.clone();
    let firmware = ServeDir::new(dist.firmware_folder())
        .append_index_html_on_directories(false)
        .fallback(axum::routing::any(move |uri| absent(built.clone(), uri)));
    // Names of the page's files change with their bytes, but for the first and the firmware;
    // asking each time costs a round trip on this computer.
    let fresh = SetResponseHeaderLayer::if_not_present(
        header::CACHE_CONTROL,
        HeaderValue::from_static("no-cache"),
    );
    Router::new()
        .nest_service("/firmware", get_service(firmware))
        .fallback_service(get_service(files))
        .layer(fresh)
}

/// Firmware that is not there: of a board, it may be built yet.
async fn absent(dist: Dist, uri: Uri) -> Refusal {
    let id = uri.path().trim_start_matches('/').strip_suffix(".elf");
    let board = id.and_then(|id| tilewright_board::find(id).ok());
    match board.map(|board| dist.firmware(&board.id)) {
        Some(Err(problem)) => Refusal(problem),
        Some(Ok(_)) | None => unknown(uri).await,
    }
}

async fn missing(page: PathBuf, uri: Uri) -> Response {
    if !page.join("index.html").is_file() {
        return (StatusCode::SERVICE_UNAVAILABLE, Html(NOT_BUILT)).into_response();
    }
    Refusal(Diagnostic::new(
        Blame::NotFound,
        "There is nothing at this address.",
        uri.path(),
        "The page is at /, the API's description at /api/openapi.json.",
    ))
    .into_response()
}
