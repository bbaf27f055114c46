//! Connections: a bounded number at a time, and none that keeps the server waiting for a request.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::config::Config;

/// How long to wait when the system gives no connection: it is out of descriptors or memory.
const BREATH: Duration = Duration::from_millis(200);

/// Takes connections for ever; each is watched by `closing`, so that it can end well. A client
/// beyond [`Config::connections`] waits until another is gone.
pub async fn accept(
    listener: TcpListener,
    routes: Router,
    config: &Config,
    closing: &GracefulShutdown,
) -> Infallible {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(config.headers);
    let places = Arc::new(Semaphore::new(config.connections));
    loop {
        let place = Arc::clone(&places).acquire_owned().await;
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(BREATH).await;
            continue;
        };
        let service = TowerToHyperService::new(routes.clone());
        let connection = http.serve_connection(TokioIo::new(stream), service);
        let connection = closing.watch(connection);
        tokio::spawn(async move {
            // A client that breaks off is no concern of others.
            let _ = connection.await;
            drop(place);
        });
    }
}
