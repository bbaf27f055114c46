//! Listening, and ending well.

use std::future::Future;
use std::net::SocketAddr;
use std::time::Duration;

use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;

use crate::connections::accept;
use crate::http::{Origins, Shared, router};
use crate::problem::{Blame, Problem};

/// How long runs get to end when the server ends.
const CLOSE: Duration = Duration::from_secs(3);
/// Files that the server may have open, if the system lets it.
#[cfg(unix)]
const FILES: u64 = 4096;
/// How long open connections get after that.
const LINGER: Duration = Duration::from_secs(1);

/// A server that listens.
#[derive(Debug)]
pub struct Served {
    listener: TcpListener,
    address: SocketAddr,
}

impl Served {
    /// Listens at an address such as `127.0.0.1:8080`.
    ///
    /// # Errors
    /// If the address is none, is in use, or may not be used.
    pub async fn bind(address: &str) -> Result<Self, Problem> {
        let failed = |error: std::io::Error| {
            Problem::new(
                Blame::BadInput,
                format!("The server cannot listen at {address}: {error}."),
                "--addr",
                "Give a free address, such as --addr 127.0.0.1:8081.",
            )
        };
        // Each connection may have a file for what it uploads.
        #[cfg(unix)]
        let _ = rlimit::increase_nofile_limit(FILES);
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address })
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }
}

/// Serves until `end`; then takes no more, cancels all runs, waits for their workers to be gone
/// and for the answers under way to be sent.
pub async fn serve(served: Served, shared: Shared, end: impl Future<Output = ()>) {
    let routes = router(shared.clone(), Origins::of(served.address));
    let closing = GracefulShutdown::new();
    tokio::select! {
        never = accept(served.listener, routes, shared.config(), &closing) => match never {},
        () = end => {}
    }
    // Streams of events end with their runs, so that connections can end.
    shared.runs().close(CLOSE).await;
    let _ = tokio::time::timeout(LINGER, closing.shutdown()).await;
}
