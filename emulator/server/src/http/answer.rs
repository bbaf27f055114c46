//! Answers that are not results.

use std::any::Any;
use tilewright_app::{Blame, Diagnostic};
use tilewright_report::sentence;

use axum::Json;
use axum::http::{HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};

/// Seconds after which a refused client may try again.
const RETRY_SECONDS: &str = "5";

/// A diagnostic as an answer.
#[derive(Debug)]
pub struct Refusal(pub Diagnostic);

impl From<Diagnostic> for Refusal {
    fn from(diagnostic: Diagnostic) -> Self {
        Self(diagnostic)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let Self(diagnostic) = self;
        let status = StatusCode::from_u16(diagnostic.kind.status());
        let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let busy = diagnostic.kind == Blame::Busy;
        let mut response = (status, Json(diagnostic)).into_response();
        if busy {
            let value = HeaderValue::from_static(RETRY_SECONDS);
            response.headers_mut().insert(header::RETRY_AFTER, value);
        }
        response
    }
}

/// There is no such route.
pub async fn unknown(uri: Uri) -> Refusal {
    Refusal(Diagnostic::new(
        Blame::NotFound,
        "There is nothing at this address.",
        shortened(uri.path()),
        "The description at /api/openapi.json lists all addresses.",
    ))
}

/// The route exists, but not for this method.
pub async fn wrong_method(method: Method, uri: Uri) -> Response {
    let problem = Diagnostic::new(
        Blame::BadInput,
        format!("The method {method} is not known here."),
        shortened(uri.path()),
        "The description at /api/openapi.json lists the methods of all addresses.",
    );
    (StatusCode::METHOD_NOT_ALLOWED, Json(problem)).into_response()
}

/// Longest text of others that becomes an error.
const TEXT: usize = 4096;

/// An answer that tells of an error, as JSON: those who read requests and files write other texts,
/// or none. The page that says how to build the page stays as it is.
pub async fn as_json(method: Method, uri: Uri, response: Response) -> Response {
    let (status, headers) = (response.status(), response.headers());
    let is_error = status.is_client_error() || status.is_server_error();
    let media = headers.get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
    let is_told = media.is_some_and(|media| {
        media.starts_with(b"application/json") || media.starts_with(b"text/html")
    });
    if !is_error || is_told {
        return response;
    }
    let said = axum::body::to_bytes(response.into_body(), TEXT).await.unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let reason = status.canonical_reason().unwrap_or("It failed");
    let error = if said.trim().is_empty() { reason } else { said.trim() };
    let kind = match status {
        StatusCode::NOT_FOUND => Blame::NotFound,
        status if status.is_client_error() => Blame::BadInput,
        _ => Blame::Ours,
    };
    let what_to_do = format!("{method} it as the description at /api/openapi.json says.");
    let problem = Diagnostic::new(kind, sentence(error), shortened(uri.path()), what_to_do);
    (status, Json(problem)).into_response()
}

/// The beginning of a path that may be long.
fn shortened(path: &str) -> String {
    path.chars().take(200).collect()
}

/// A handler panicked.
pub fn panicked(_: Box<dyn Any + Send + 'static>) -> Response {
    Refusal(Diagnostic::ours("The server failed to answer this request.", "server")).into_response()
}
