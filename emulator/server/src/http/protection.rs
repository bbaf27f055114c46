//! Headers that tell browsers what a page from here may do.

use axum::http::{HeaderName, HeaderValue, header};
use axum::response::Response;

/// The page needs its own files, WebAssembly, workers, styles that it sets itself and files that it
/// makes. Nobody else's page may show it in a frame.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; \
                      worker-src 'self' blob:; connect-src 'self' blob: data:; \
                      img-src 'self' blob: data:; style-src 'self' 'unsafe-inline'; \
                      font-src 'self'; manifest-src 'self'; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'";

const HEADERS: [(HeaderName, HeaderValue); 4] = [
    (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
];

/// The answer with these headers.
pub async fn protected(mut response: Response) -> Response {
    response.headers_mut().extend(HEADERS.map(|(name, value)| (Some(name), value)));
    response
}
