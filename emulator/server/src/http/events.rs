//! Following a run by server-sent events.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Extension, Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, Stream};
use serde::Deserialize;
use tilewright_app::Diagnostic;

use super::Shared;
use super::answer::Refusal;
use crate::connections::{Streaming, Traffic};
use crate::runs::{Listener, RunEvent};

/// How often a silent stream says that it still lives.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// Where to go on.
#[derive(Debug, Deserialize)]
pub struct Resume {
    after: Option<u64>,
}

struct Follow {
    listener: Listener,
    after: u64,
    ready: std::vec::IntoIter<RunEvent>,
    /// Its connection rests between events, and is not to be taken for one that does nothing.
    _streaming: Option<Streaming>,
}

/// Follow a run
///
/// Server-sent events, in order, from the first on: `queued` {position}, `note` {text} for people,
/// `stage` {stage}, `progress` {instructions, step}, `console` {text}, `step` {step, layer, start, end,
/// instructions, cycles}; then one of `finished` {verified, instructions, cycles, latency_us,
/// top1, top1_label}, `failed` and `cancelled` (both {kind, error, where, what_to_do}), and the
/// stream ends. Numbers grow; superseded positions and progress are left out. A comment keeps
/// the connection alive.
#[utoipa::path(
    get, path = "/api/runs/{id}/events", tag = "runs",
    params(
        ("id" = String, Path, description = "The run"),
        ("after" = Option<u64>, Query, description = "Go on after this event"),
        ("Last-Event-ID" = Option<u64>, Header, description = "The same, as browsers say it")
    ),
    responses(
        (status = 204, description = "The run is over and all its events were given before"),
        (status = 200, description = "Events", content_type = "text/event-stream", body = String),
        (status = 404, description = "No such run", body = Diagnostic)
    )
)]
pub async fn follow(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    Query(resume): Query<Resume>,
    headers: HeaderMap,
    traffic: Option<Extension<Arc<Traffic>>>,
) -> Result<Response, Refusal> {
    let run = shared.find(id).await?;
    let last = headers.get("last-event-id").and_then(|value| value.to_str().ok()?.parse().ok());
    let after = last.or(resume.after).unwrap_or(0);
    // A server that was started again numbers a run's events anew.
    let after = if after > run.last_event() { 0 } else { after };
    if run.has_said_all(after) {
        // What tells a browser not to connect again.
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let streaming = traffic.map(|Extension(traffic)| traffic.streaming());
    let ready = Vec::new().into_iter();
    let follow = Follow { listener: run.listen(), after, ready, _streaming: streaming };
    Ok(sse(follow).into_response())
}

fn sse(follow: Follow) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let events = stream::unfold(follow, |mut follow| async move {
        loop {
            if let Some(event) = follow.ready.next() {
                follow.after = event.id;
                let event = Event::default()
                    .id(event.id.to_string())
                    .event(event.kind.name())
                    .data(&*event.data);
                return Some((Ok(event), follow));
            }
            follow.ready = follow.listener.next(follow.after).await?.into_iter();
        }
    });
    Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE))
}
