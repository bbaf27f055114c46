//! Answers that are not results.

use std::any::Any;

use axum::Json;
use axum::http::{HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};

use crate::problem::{Blame, Problem};

/// Seconds after which a refused client may try again.
const RETRY_SECONDS: &str = "5";

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status =
            StatusCode::from_u16(self.kind.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let busy = self.kind == Blame::Busy;
        let mut response = (status, Json(self)).into_response();
        if busy {
            let value = HeaderValue::from_static(RETRY_SECONDS);
            response.headers_mut().insert(header::RETRY_AFTER, value);
        }
        response
    }
}

/// There is no such route.
pub async fn unknown(uri: Uri) -> Problem {
    Problem::new(
        Blame::NotFound,
        "There is nothing at this address.",
        uri.path(),
        "The description at /api/openapi.json lists all addresses.",
    )
}

/// The route exists, but not for this method.
pub async fn wrong_method(method: Method, uri: Uri) -> Response {
    let problem = Problem::new(
        Blame::BadInput,
        format!("The method {method} is not known here."),
        uri.path(),
        "The description at /api/openapi.json lists the methods of all addresses.",
    );
    (StatusCode::METHOD_NOT_ALLOWED, Json(problem)).into_response()
}

/// A handler panicked.
pub fn panicked(_: Box<dyn Any + Send + 'static>) -> Response {
    Problem::ours("The server failed to answer this request.", "server").into_response()
}
