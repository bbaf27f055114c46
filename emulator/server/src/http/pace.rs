//! The pace of an upload: whoever sends too slowly is not waited for.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::body::{Body, BodyDataStream};
use axum::extract::Request;
use futures_util::{StreamExt, stream};
use tilewright_app::{Blame, Diagnostic};
use tokio::time::{Instant, timeout_at};

use crate::config::Config;

/// Whether an upload kept its pace.
pub struct Pace {
    is_slow: Arc<AtomicBool>,
    rate: usize,
    start: Duration,
}

/// A body that is read.
struct Paced {
    body: BodyDataStream,
    /// When the next bytes must be here.
    until: Instant,
    rate: usize,
    is_slow: Arc<AtomicBool>,
}

impl Pace {
    /// The same request, whose body ends with an error once it comes too slowly.
    pub fn of(request: Request, config: &Config) -> (Self, Request) {
        let is_slow = Arc::new(AtomicBool::new(false));
        let (rate, start) = (config.upload_rate.max(1), config.upload_start);
        let pace = Self { is_slow: Arc::clone(&is_slow), rate, start };
        let request = request.map(|body| {
            let until = Instant::now() + start;
            let body = Paced { body: body.into_data_stream(), until, rate, is_slow };
            Body::from_stream(stream::unfold(body, async |mut paced| {
                let Ok(next) = timeout_at(paced.until, paced.body.next()).await else {
                    paced.is_slow.store(true, Ordering::Relaxed);
                    return Some((Err(axum::Error::new("too slow")), paced));
                };
                let next = next?;
                if let Ok(bytes) = &next {
                    paced.until += Duration::from_secs_f64(bytes.len() as f64 / paced.rate as f64);
                }
                Some((next, paced))
            }))
        });
        (pace, request)
    }

    /// That it came too slowly; nothing if it did not.
    pub fn problem(&self) -> Option<Diagnostic> {
        let what_to_do = "Try again over a faster connection.";
        self.is_slow.load(Ordering::Relaxed).then(|| {
            let (rate, start) = (self.rate, self.start);
            let error = format!(
                "The upload came slower than {rate} bytes a second for more than {start:?}."
            );
            Diagnostic::new(Blame::BadInput, error, "upload", what_to_do)
        })
    }
}
