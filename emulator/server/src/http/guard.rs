//! Who may ask. A page of another origin must not start runs here, and a name that some other
//! machine made point here (DNS rebinding) must not reach a server on loopback.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tilewright_app::{Blame, Diagnostic};

use super::answer::Refusal;

/// Longest path, and longest name in it: what is served has far shorter ones.
const LONGEST_PATH: usize = 1024;
const LONGEST_NAME: usize = 255;

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

    fn check(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), Diagnostic> {
        if uri.path().len() > LONGEST_PATH
            || uri.path().split('/').any(|name| name.len() > LONGEST_NAME)
        {
            let error = format!(
                "There is nothing at this address: paths have {LONGEST_PATH} bytes at most, each \
                 part {LONGEST_NAME}."
            );
            let what_to_do = "The page is at /, the API's description at /api/openapi.json.";
            return Err(Diagnostic::new(Blame::NotFound, error, "path", what_to_do));
        }
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let named = uri.authority().map(|authority| authority.as_str());
        let host = text(header::HOST).or(named).unwrap_or("");
        let is_one = headers.get_all(header::HOST).iter().count() < 2
            && named.is_none_or(|named| named.eq_ignore_ascii_case(host));
        let Some(name) = name_of(host).filter(|_| is_one) else {
            return Err(Diagnostic::new(
                Blame::BadInput,
                "The request does not name one host as it must: a name or an address, and perhaps \
                 a port.",
                "Host",
                "Send `Host: 127.0.0.1` with the server's port.",
            ));
        };
        if self.loopback_only && !is_loopback(name) {
            return Err(Diagnostic::new(
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
                let from = origin.strip_prefix("http://").or(origin.strip_prefix("https://"));
                from.is_some_and(|from| from.eq_ignore_ascii_case(host))
            }
            // Browsers say where a request comes from; other programs may say nothing.
            None => text(header::HeaderName::from_static("sec-fetch-site"))
                .is_none_or(|site| site == "same-origin" || site == "none"),
        };
        if same {
            return Ok(());
        }
        Err(Diagnostic::new(
            Blame::Forbidden,
            "Pages of other origins may not start or end runs.",
            "Origin",
            "Use the page that this server itself serves.",
        ))
    }
}

/// The name or the address, without brackets, that a host with or without port is of; nothing if it
/// is no host.
fn name_of(host: &str) -> Option<&str> {
    let (name, port) = match host.strip_prefix('[') {
        Some(rest) => {
            let (name, port) = rest.split_once(']')?;
            name.parse::<Ipv6Addr>().ok()?;
            (name, port)
        }
        None => {
            let (name, port) = host.split_at(host.find(':').unwrap_or(host.len()));
            let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
            (!name.is_empty() && name.len() <= LONGEST_NAME && name.bytes().all(is_letter))
                .then_some((name, port))?
        }
    };
    let is_port =
        |port: &str| port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok();
    (port.is_empty() || port.strip_prefix(':').is_some_and(is_port)).then_some(name)
}

/// Whether a name or an address is this computer's own.
fn is_loopback(name: &str) -> bool {
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Refuses what may not ask.
pub async fn check(State(origins): State<Origins>, request: Request, next: Next) -> Response {
    match origins.check(request.method(), request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(problem) => Refusal(problem).into_response(),
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
    fn what_is_no_host_is_refused_everywhere() {
        let long = "x".repeat(256);
        for host in [
            "",
            ":8080",
            "[::1].evil.example",
            "[::1]evil:8080",
            "[localhost]",
            "[::1",
            "::1",
            "127.0.0.1:",
            "127.0.0.1:80:80",
            "127.0.0.1:+80",
            "127.0.0.1:65536",
            "127.0.0.1:8080@evil.example",
            "evil@127.0.0.1",
            "local host",
            "localhost/..",
            &long,
        ] {
            assert_eq!(name_of(host), None, "{host}");
        }
        assert_eq!(name_of("[::1]:8080"), Some("::1"));
        assert_eq!(name_of("board_7.lab:80"), Some("board_7.lab"));
        let open = Origins::of("0.0.0.0:8080".parse().unwrap());
        assert!(!ask(&open, Method::GET, &[("host", "[::1].evil.example")]));
        let two = [("host", "a.example"), ("host", "b.example")];
        let mut map = HeaderMap::new();
        for (name, value) in two {
            map.append(name, value.parse().unwrap());
        }
        assert!(open.check(&Method::GET, &Uri::from_static("/"), &map).is_err());
        let absolute = Uri::from_static("http://evil.example/api/runs");
        map.remove("host");
        map.append("host", "127.0.0.1:8080".parse().unwrap());
        assert!(open.check(&Method::GET, &absolute, &map).is_err());
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
