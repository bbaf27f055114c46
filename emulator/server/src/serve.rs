//! Listening, and ending well.

use std::future::Future;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::TcpListener;

use crate::http::{Origins, Shared, router};
use crate::problem::{Blame, Problem};

/// How long runs get to end when the server ends.
const CLOSE: Duration = Duration::from_secs(3);
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
///
/// # Errors
/// If listening fails.
pub async fn serve(
    served: Served,
    shared: Shared,
    end: impl Future<Output = ()>,
) -> Result<(), Problem> {
    let routes = router(shared.clone(), Origins::of(served.address));
    let (closed, mut closing) = tokio::sync::watch::channel(false);
    let mut serving = tokio::spawn(
        axum::serve(served.listener, routes)
            .with_graceful_shutdown(async move {
                let _ = closing.wait_for(|closed| *closed).await;
            })
            .into_future(),
    );
    tokio::select! {
        ended = &mut serving => {
            let error = match ended {
                Ok(Ok(())) => "it ended by itself".to_owned(),
                Ok(Err(error)) => error.to_string(),
                Err(error) => error.to_string(),
            };
            shared.runs().close(CLOSE).await;
            return Err(Problem::ours(format!("The server stopped: {error}."), "server"));
        }
        () = end => {}
    }
    // Streams of events end with their runs, so that connections can end.
    let _ = closed.send(true);
    shared.runs().close(CLOSE).await;
    let _ = tokio::time::timeout(LINGER, &mut serving).await;
    serving.abort();
    Ok(())
}
