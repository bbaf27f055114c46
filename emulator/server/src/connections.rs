//! Connections: a bounded number at a time, of all clients and of each. Where there is no place for
//! another, the one that does least is closed: clients that do not read, do not ask or hardly send
//! keep nobody out.
//!
//! Limits alone would let those who hold connections keep out everybody else, also who asks from the same address.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::task::AbortHandle;

use crate::config::Config;
use crate::peer::Peer;

mod traffic;

use traffic::Watched;
pub use traffic::{Streaming, Traffic};

/// How long to wait when the system gives no connection: it is out of descriptors or memory.
const BREATH: std::time::Duration = std::time::Duration::from_millis(200);
/// Longest head of a request, and most bytes of a body that wait for their reader.
const BUFFER: usize = 64 << 10;

struct Place {
    peer: Peer,
    traffic: Arc<Traffic>,
    end: AbortHandle,
}

/// The open connections, by the order of their beginning.
#[derive(Default)]
struct Places {
    open: Mutex<BTreeMap<u64, Place>>,
}

/// Takes a connection out of the open ones.
struct Leave {
    places: Arc<Places>,
    number: u64,
}

impl Drop for Leave {
    fn drop(&mut self) {
        self.places.open().remove(&self.number);
    }
}

impl Places {
    // A table that was poisoned is still a whole one: nothing can panic under its lock.
    fn open(&self) -> MutexGuard<'_, BTreeMap<u64, Place>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes a connection where there is no place for one more of `peer`: of that peer's, or of
    /// the peer's that has most.
    fn make_room(&self, peer: Peer, config: &Config) {
        let mut open = self.open();
        let mut of_peers: BTreeMap<Peer, usize> = BTreeMap::new();
        open.values().for_each(|place| *of_peers.entry(place.peer).or_default() += 1);
        let own = of_peers.get(&peer).copied().unwrap_or(0);
        let whose = if own >= config.connections_of_peer {
            Some(peer)
        } else if open.len() >= config.connections {
            of_peers.into_iter().max_by_key(|(_, count)| *count).map(|(peer, _)| peer)
        } else {
            None
        };
        let Some(whose) = whose else { return };
        let theirs = open.iter().filter(|(_, place)| place.peer == whose);
        let idlest = theirs.min_by_key(|(_, place)| place.traffic.use_made()).map(|(n, _)| *n);
        if let Some(place) = idlest.and_then(|number| open.remove(&number)) {
            place.end.abort();
        }
    }
}

/// Takes connections for ever; each is watched by `closing`, so that it can end well.
pub async fn accept(
    listener: TcpListener,
    routes: Router,
    config: &Config,
    closing: &GracefulShutdown,
) -> Infallible {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(config.headers).max_buf_size(BUFFER);
    let places = Arc::new(Places::default());
    let mut number = 0;
    loop {
        let Ok((stream, address)) = listener.accept().await else {
            tokio::time::sleep(BREATH).await;
            continue;
        };
        let peer = Peer::from(address.ip());
        places.make_room(peer, config);
        let traffic = Arc::new(Traffic::default());
        let (inner, told) = (TowerToHyperService::new(routes.clone()), Arc::clone(&traffic));
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(peer);
            request.extensions_mut().insert(Arc::clone(&told));
            let answer = inner.call(request);
            async {
                // A client that asks much at once waits for others after each answer.
                tokio::task::yield_now().await;
                answer.await
            }
        });
        let io = TokioIo::new(Watched::new(stream, Arc::clone(&traffic)));
        let connection = closing.watch(http.serve_connection(io, service));
        number += 1;
        let leave = Leave { places: Arc::clone(&places), number };
        let (watched, unread) = (Arc::clone(&traffic), config.unread);
        // It cannot leave before it is here.
        let mut open = places.open();
        let task = tokio::spawn(async move {
            let _leave = leave;
            tokio::select! {
                // A client that breaks off is no concern of others.
                _ = connection => {}
                () = watched.unread_for(unread) => {}
            }
        });
        open.insert(number, Place { peer, traffic, end: task.abort_handle() });
    }
}
