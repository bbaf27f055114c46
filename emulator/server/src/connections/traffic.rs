//! What passes over a connection.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// A client that has read nothing for so long while something waited for it comes first when a
/// connection must go.
const DEAF: Duration = Duration::from_secs(1);

/// What passes over a connection, by when.
#[derive(Debug)]
pub struct Traffic {
    begun: Instant,
    /// Milliseconds from the beginning to the last bytes.
    moved: AtomicU64,
    /// And to when bytes began to wait for the client; [`u64::MAX`]: none do.
    waiting: AtomicU64,
    streams: AtomicUsize,
}

/// A stream of events that is sent.
pub struct Streaming(Arc<Traffic>);

impl Drop for Streaming {
    fn drop(&mut self) {
        self.0.streams.fetch_sub(1, Ordering::Relaxed);
    }
}

/// How much use is made of a connection, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Use {
    /// Its client does not read; since the last bytes, in milliseconds, negative.
    Deaf(i64),
    /// It waits for a request, for more of one, or for what the server does.
    Plain(i64),
    /// Events are sent, now and then.
    Events(i64),
}

impl Default for Traffic {
    fn default() -> Self {
        Self {
            begun: Instant::now(),
            moved: AtomicU64::new(0),
            waiting: AtomicU64::new(u64::MAX),
            streams: AtomicUsize::new(0),
        }
    }
}

impl Traffic {
    fn now(&self) -> u64 {
        self.begun.elapsed().as_millis() as u64
    }

    /// How long bytes have waited for the client.
    fn unread(&self) -> Duration {
        let waiting = self.waiting.load(Ordering::Relaxed);
        Duration::from_millis(self.now().saturating_sub(waiting))
    }

    /// How much use is made of the connection now.
    pub fn use_made(&self) -> Use {
        let rests = self.now().saturating_sub(self.moved.load(Ordering::Relaxed));
        let since = -(rests as i64);
        if self.unread() >= DEAF {
            Use::Deaf(since)
        } else if self.streams.load(Ordering::Relaxed) == 0 {
            Use::Plain(since)
        } else {
            Use::Events(since)
        }
    }

    /// Waits until bytes have waited so long for the client.
    pub async fn unread_for(&self, limit: Duration) {
        while self.unread() < limit {
            tokio::time::sleep(limit / 4).await;
        }
    }

    /// Notes that events are sent, until what is returned is gone.
    pub fn streaming(self: Arc<Self>) -> Streaming {
        self.streams.fetch_add(1, Ordering::Relaxed);
        Streaming(self)
    }

    fn note_moved(&self) {
        self.moved.store(self.now(), Ordering::Relaxed);
    }

    fn note_write(&self, written: &Poll<io::Result<usize>>) {
        match written {
            Poll::Ready(_) => {
                self.note_moved();
                self.waiting.store(u64::MAX, Ordering::Relaxed);
            }
            Poll::Pending => {
                self.waiting.fetch_min(self.now(), Ordering::Relaxed);
            }
        }
    }
}

/// A client's connection whose traffic is noted.
#[derive(Debug)]
pub struct Watched {
    stream: TcpStream,
    traffic: Arc<Traffic>,
}

impl Watched {
    pub const fn new(stream: TcpStream, traffic: Arc<Traffic>) -> Self {
        Self { stream, traffic }
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        to: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.stream).poll_read(context, to);
        if read.is_ready() {
            self.traffic.note_moved();
        }
        read
    }
}

impl AsyncWrite for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        from: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, from);
        self.traffic.note_write(&written);
        written
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        from: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, from);
        self.traffic.note_write(&written);
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
