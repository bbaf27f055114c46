//! Listening, and ending well.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use hyper_util::server::graceful::GracefulShutdown;
use tilewright_app::{Blame, Diagnostic};
use tokio::net::{TcpListener, TcpSocket, lookup_host};

use crate::connections::accept;
use crate::http::{Origins, Shared, router};

/// Bytes that wait in the system for a client to read them.
const SEND_BUFFER: u32 = 256 << 10;
/// Connections that wait in the system to be taken.
const BACKLOG: u32 = 1024;
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
    pub async fn bind(address: &str) -> Result<Self, Diagnostic> {
        let failed = |error: io::Error| {
            Diagnostic::new(
                Blame::BadInput,
                format!("The server cannot listen at {address}: {error}."),
                "--addr",
                "Give a free address, such as --addr 127.0.0.1:8081.",
            )
        };
        // Each connection may have a file for what it uploads.
        #[cfg(unix)]
        let _ = rlimit::increase_nofile_limit(FILES);
        let listener = listen(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address })
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }
}

/// Listens at the first address of this name that can be had.
async fn listen(address: &str) -> io::Result<TcpListener> {
    let mut failed = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for address in lookup_host(address).await? {
        let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        // The system would let each client that does not read hold megabytes of it.
        socket.set_send_buffer_size(SEND_BUFFER)?;
        #[cfg(unix)]
        socket.set_reuseaddr(true)?;
        match socket.bind(address).and_then(|()| socket.listen(BACKLOG)) {
            Ok(listener) => return Ok(listener),
            Err(error) => failed = error,
        }
    }
    Err(failed)
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
