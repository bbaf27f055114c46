//! Headers that tell browsers what a page from here may do.

use std::path::PathBuf;

use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use tilewright_app::sha256;

const HEADERS: [(HeaderName, HeaderValue); 3] = [
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
];

/// The page needs its own files, the script in its first file, WebAssembly, workers, styles that it
/// sets itself, and files that it makes. Nobody else's page may show it in a frame.
fn policy(scripts: &str) -> String {
    format!(
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'{scripts}; \
         worker-src 'self' blob:; connect-src 'self' blob: data: https:; img-src 'self' blob: data:; \
         style-src 'self' 'unsafe-inline'; font-src 'self'; manifest-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
}

/// The checksums by which a policy allows the scripts that stand in `page` itself.
fn scripts_in(page: &str) -> String {
    let scripts = page.split("<script").skip(1).filter_map(|script| {
        let (attributes, rest) = script.split_once('>')?;
        let text = rest.split("</script").next()?;
        let stands_here = !attributes.contains("src=") && !text.is_empty();
        stands_here.then(|| format!(" 'sha256-{}'", STANDARD.encode(sha256(text.as_bytes()))))
    });
    scripts.collect()
}

/// The answer with these headers; `start` is the page's first file, which may be built anew at any
/// time.
pub async fn protected(State(start): State<PathBuf>, mut response: Response) -> Response {
    let is_known = response.status() == StatusCode::NOT_MODIFIED;
    let headers = response.headers_mut();
    headers.extend(HEADERS.map(|(name, value)| (Some(name), value)));
    // A browser takes over what is said of a file that it has: here nothing tells whether that is the page.
    if is_known {
        return response;
    }
    let media = headers.get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
    let is_page = media.is_some_and(|media| media.starts_with(b"text/html"));
    let page =
        if is_page { std::fs::read_to_string(start).unwrap_or_default() } else { String::new() };
    if let Ok(policy) = policy(&scripts_in(&page)).parse() {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::response::IntoResponse;

    #[tokio::test]
    async fn a_file_that_the_browser_has_keeps_its_policy() {
        for (status, told) in [(StatusCode::NOT_MODIFIED, false), (StatusCode::OK, true)] {
            let response = (status, ()).into_response();
            let response = protected(State(PathBuf::new()), response).await;
            let policy = response.headers().get(header::CONTENT_SECURITY_POLICY);
            assert_eq!(policy.is_some(), told, "{status}");
            assert!(response.headers().contains_key(header::X_FRAME_OPTIONS));
        }
    }

    #[test]
    fn scripts_that_stand_in_the_page_are_allowed_by_their_bytes() {
        let page = "<script src=\"a.js\"></script><script type=\"module\">let a;</script>\n\
                    <script>let b;\n</script>";
        // `printf 'let a;' | openssl dgst -sha256 -binary | base64`, and of the other.
        assert_eq!(
            scripts_in(page),
            " 'sha256-81WALLbUROF1pWdYjuQYKuIcGgY/+TqVJr8UsV6Tkvo=' \
             'sha256-dXuZxKP6YG9jFhJRaJXSKlUQ9ByBKnOqbE5VNFMwwVg='"
        );
        assert_eq!(scripts_in("<p>"), "");
    }
}
