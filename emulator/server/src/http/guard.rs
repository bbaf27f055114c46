//! Who may ask. A page of another origin must not start runs here, and a name that some other
//! machine made point here (DNS rebinding) must not reach a server on loopback.

use std::net::{IpAddr, SocketAddr};

use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::problem::{Blame, Problem};

/// Which hosts requests may name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origins {
    loopback_only: bool,
}

impl Origins {
    /// For a server that listens at `address`: on loopback only loopback names are answered;
    /// elsewhere the machine's names are not known here and all are.
    #[must_use]
    pub fn of(address: SocketAddr) -> Self {
        Self { loopback_only: address.ip().is_loopback() }
    }

    fn check(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let host = text(header::HOST).or_else(|| uri.authority().map(|a| a.as_str())).unwrap_or("");
        if self.loopback_only && !is_loopback(host) {
            return Err(Problem::new(
                Blame::Forbidden,
                format!("This server answers on this computer only, not as '{host}'."),
                "Host",
                "Open http://127.0.0.1 with the server's port, or start it with another --addr.",
            ));
        }
        if matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS) {
            return Ok(());
        }
        let same = match text(header::ORIGIN) {
            Some(origin) => {
                origin.split_once("://").is_some_and(|(_, from)| from.eq_ignore_ascii_case(host))
            }
            // Browsers say where a request comes from; other programs may say nothing.
            None => text(header::HeaderName::from_static("sec-fetch-site"))
                .is_none_or(|site| site == "same-origin" || site == "none"),
        };
        if same {
            return Ok(());
        }
        Err(Problem::new(
            Blame::Forbidden,
            "Pages of other origins may not start or end runs.",
            "Origin",
            "Use the page that this server itself serves.",
        ))
    }
}

/// Whether a host, with or without port, names this computer.
fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(""),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Refuses what may not ask.
pub async fn check(State(origins): State<Origins>, request: Request, next: Next) -> Response {
    match origins.check(request.method(), request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(origins: &Origins, method: Method, headers: &[(&'static str, &'static str)]) -> bool {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().unwrap());
        }
        origins.check(&method, &Uri::from_static("/api/runs"), &map).is_ok()
    }

    #[test]
    fn on_loopback_only_loopback_names_are_answered() {
        let local = Origins::of("127.0.0.1:8080".parse().unwrap());
        for host in ["127.0.0.1:8080", "localhost:8080", "LOCALHOST", "[::1]:8080", "127.9.9.9"] {
            assert!(ask(&local, Method::GET, &[("host", host)]), "{host}");
        }
        for host in ["evil.example:8080", "localhost.evil.example", "192.168.1.4", "", "[::2]:1"] {
            assert!(!ask(&local, Method::GET, &[("host", host)]), "{host}");
        }
        let open = Origins::of("0.0.0.0:8080".parse().unwrap());
        assert!(ask(&open, Method::GET, &[("host", "board.lab:8080")]));
    }

    #[test]
    fn other_origins_may_look_but_not_act() {
        let local = Origins::of("127.0.0.1:8080".parse().unwrap());
        let host = ("host", "127.0.0.1:8080");
        let own = ("origin", "http://127.0.0.1:8080");
        let other = ("origin", "https://evil.example");
        assert!(ask(&local, Method::POST, &[host]));
        assert!(ask(&local, Method::POST, &[host, own]));
        assert!(ask(&local, Method::GET, &[host, other]));
        assert!(!ask(&local, Method::POST, &[host, other]));
        assert!(!ask(&local, Method::DELETE, &[host, other]));
        assert!(!ask(&local, Method::POST, &[host, ("origin", "null")]));
        assert!(!ask(&local, Method::POST, &[host, ("origin", "http://127.0.0.1:9090")]));
        assert!(!ask(&local, Method::POST, &[host, ("sec-fetch-site", "cross-site")]));
    }
}
